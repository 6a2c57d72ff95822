//! What inboxes refuse, and why.

use std::time::Duration;

use kobana_api::EngineSettings;
use kobana_contract::Caller;
use serde_json::{Value, json};

use crate::harness::World;
use crate::mail::{hand_in, history, message, sample, settled, worker};

/// Sets an inbox up, hands a message in, and answers the e-mail in the end.
async fn judge(world: &World, caller: &Caller, inbox: &Value, raw: Vec<u8>) -> Value {
    let path = "/inboxes/acme-support";
    world.call(caller, "PATCH", path, inbox).await.expect(200);
    let email = hand_in(world, caller, "acme-support", raw).await.data(202);
    settled(world, caller, email["id"].as_str().unwrap(), &["processed", "rejected", "failed"]).await
}

async fn refusal(inbox: Value, raw: Vec<u8>) -> Option<String> {
    let world = World::new().await;
    let ana = world.ana().await;
    let worker = worker(&world.store, EngineSettings::default());
    let email = judge(&world, &ana, &inbox, raw).await;
    let rejected = email["status"] == "rejected";
    let slugs = history(&world, &ana, email["id"].as_str().unwrap()).await;
    if rejected {
        assert_eq!(slugs, ["email.received", "email.rejected"]);
        assert!(email["agent_id"].is_null() && email["processed_at"].is_null());
    }
    worker.stop(Duration::ZERO).await;
    email["rejection_reason"].as_str().map(str::to_owned)
}

#[tokio::test]
async fn an_inactive_inbox_takes_nothing() {
    assert_eq!(refusal(json!({ "status": "inactive" }), message(1)).await.as_deref(), Some("the inbox is inactive"));
}

#[tokio::test]
async fn only_listed_senders_may_send_in_any_letter_case() {
    let allow = |address: &str| json!({ "allowed_recipients": [address] });
    assert_eq!(refusal(allow("ana@supplier.example"), message(1)).await.as_deref(), Some("sender is not allowed"));
    assert_eq!(refusal(allow("BILLING@Supplier.example"), message(1)).await, None);
    assert_eq!(refusal(json!({ "allowed_recipients": [] }), message(1)).await, None);
}

#[tokio::test]
async fn attachments_have_limits() {
    let raw = || sample("mixed-attachments.eml");
    let reason = async |inbox| refusal(inbox, raw()).await.unwrap_or_default();
    assert_eq!(reason(json!({ "attachments_allow": false })).await, "attachments are not allowed");
    assert!(reason(json!({ "attachments_max_file_number": 1 })).await.contains("more than 1 attachments"));
    assert!(reason(json!({ "attachments_max_file_size": 1_199 })).await.contains("more than 1199 bytes"));
    assert!(reason(json!({ "attachments_max_total_size": 1_200 })).await.contains("1200 bytes together"));
    let enough = json!({ "attachments_max_file_number": 2, "attachments_max_file_size": 1_200 });
    assert_eq!(refusal(enough, raw()).await, None);
    let picture = json!({ "attachments_allow": false, "attachments_max_file_number": 1 });
    assert_eq!(refusal(picture, sample("related-picture.eml")).await, None);
}

#[tokio::test]
async fn filters_refuse_and_what_they_do_not_say_clearly_is_noted() {
    let world = World::new().await;
    let ana = world.ana().await;
    let worker = worker(&world.store, EngineSettings::default());
    let filters = json!({ "filters": [
        { "spam_verdict": "PASS" },
        { "field": "subject", "op": "contains", "value": "FATURA 2", "action": "reject" },
    ] });
    let refused = judge(&world, &ana, &filters, message(2)).await;
    assert_eq!(refused["rejection_reason"], "filter 2 refused it");
    let approved = judge(&world, &ana, &filters, message(3)).await;
    assert_eq!(approved["status"], "processed");
    let path = format!("/system-events?slug=email.approved&email_id={}", approved["id"].as_str().unwrap());
    let events = world.get(&ana, &path).await.data(200);
    assert_eq!(events[0]["payload"]["filters_not_understood"], json!([1]));
    worker.stop(Duration::ZERO).await;
}

#[tokio::test]
async fn a_month_has_limits() {
    let world = World::new().await;
    let ana = world.ana().await;
    world.call(&ana, "PATCH", "/workspaces/acme", &json!({ "monthly_emails_limit": 2 })).await.expect(200);
    let worker = worker(&world.store, EngineSettings::default());
    let mut emails = Vec::new();
    for number in 1..=3 {
        emails.push(judge(&world, &ana, &json!({}), message(number)).await);
    }
    let statuses: Vec<_> = emails.iter().map(|email| email["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["processed", "processed", "rejected"]);
    assert!(emails[2]["rejection_reason"].as_str().unwrap().contains("its 2 e-mails of the month"));
    let used = world.get(&ana, "/workspaces/acme").await.data(200);
    assert_eq!((&used["monthly_emails_used"], &used["monthly_cost_used"]), (&json!(2), &json!(0.0)));
    // The first was within the limit and stays so, however often it is looked at.
    let first = emails[0]["id"].as_str().unwrap();
    world.call(&ana, "POST", &format!("/emails/{first}/reprocess"), &json!({})).await.expect(202);
    assert_eq!(settled(&world, &ana, first, &["processed", "rejected"]).await["status"], "processed");
    worker.stop(Duration::ZERO).await;
}
