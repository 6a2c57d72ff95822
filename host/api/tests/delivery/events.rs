//! Events of mail, from their recording to those who subscribed to them.

use std::time::Duration;

use axum::body::Body;
use serde_json::{Value, json};

use crate::receiver::{Manner, Receiver, fits_the_contract};
use crate::world::{Ways, World};

const MESSAGE: &str = "From: Ana <billing@supplier.example>\r\nTo: x@inbox.example\r\nSubject: Boleto de julho\r\n\
                       Message-ID: <um@supplier.example>\r\n\r\nTotal: R$ 10,00\r\n";

async fn ingest(world: &World, inbox: &str) -> Value {
    let request = world.request(&world.ana, "POST", &format!("/inboxes/{inbox}/emails"));
    let request = request.header("content-type", "message/rfc822").body(Body::from(MESSAGE)).unwrap();
    let (status, json) = world.raw(request).await;
    assert_eq!(status, 202, "{json}");
    json["data"].clone()
}

/// The slugs that a webhook got deliveries for, sorted.
async fn slugs(world: &World, hook: &str) -> Vec<String> {
    let rows = world.get(&format!("/webhooks/{hook}/deliveries")).await;
    let slug = |row: &Value| row["request_body"]["event"]["slug"].as_str().unwrap().to_owned();
    let mut slugs: Vec<_> = rows.as_array().unwrap().iter().map(slug).collect();
    slugs.sort();
    slugs
}

#[tokio::test]
async fn an_event_goes_to_those_who_want_it_with_the_rows_as_they_were() {
    let (world, receiver) = (World::new().await, Receiver::start(Manner::Status(200)).await);
    let wanted = json!(["email.received", "email.approved", "email.processed", "agent_run.succeeded"]);
    let hooks = [
        ("all", json!({ "subscribed_events": wanted })),
        ("this-inbox", json!({ "subscribed_events": ["email.processed"], "inbox_id": "acme-invoices" })),
        ("other-inbox", json!({ "subscribed_events": wanted, "inbox_id": "acme-support" })),
        ("nothing", json!({})),
        ("off", json!({ "subscribed_events": wanted })),
    ];
    for (name, members) in hooks {
        world.hook(name, &receiver.url(), members).await;
    }
    world.call("PATCH", "/webhooks/off", &json!({ "status": "inactive" }), 200).await;
    let worker = world.process();
    let email = ingest(&world, "acme-invoices").await;
    let path = format!("/emails/{}", email["id"].as_str().unwrap());
    let processed = world.until(&path, |email| email["status"] == "processed").await;
    world
        .until("/webhooks/all/deliveries", |rows| {
            let rows = rows.as_array().unwrap();
            rows.len() == 4 && rows.iter().all(|row| row["status"] == "success")
        })
        .await;
    assert_eq!(
        slugs(&world, "all").await,
        ["agent_run.succeeded", "email.approved", "email.processed", "email.received"]
    );
    assert_eq!(slugs(&world, "this-inbox").await, ["email.processed"]);
    for hook in ["other-inbox", "nothing", "off"] {
        assert!(slugs(&world, hook).await.is_empty(), "{hook}");
    }

    for request in receiver.received() {
        let body = request.json();
        fits_the_contract(&body);
        let status = match request.header("x-kobana-event") {
            "email.received" => "received",
            "email.approved" => "approved",
            _ => "processed",
        };
        let data = &body["data"];
        assert_eq!((&data["email"]["id"], &data["email"]["status"]), (&email["id"], &json!(status)));
        assert_eq!(data["inbox"], world.get("/inboxes/acme-invoices").await);
        if status == "processed" {
            assert_eq!(data["agent"], world.get("/agents/acme-fiscal").await);
            let mut shown = processed.clone();
            shown.as_object_mut().unwrap().remove("body");
            assert_eq!(data["email"], shown);
        }
        if request.header("x-kobana-event") == "agent_run.succeeded" {
            let id = data["agent_run"]["id"].as_str().unwrap();
            assert_eq!(data["agent_run"], world.get(&format!("/agent-runs/{id}")).await);
        }
    }
    worker.stop(Duration::from_secs(5)).await;
}

#[tokio::test]
async fn what_waits_for_a_webhook_that_was_switched_off_or_deleted_is_not_sent() {
    let (world, receiver) = (World::new().await, Receiver::start(Manner::Status(500)).await);
    for name in ["off", "gone"] {
        world.hook(name, &receiver.url(), json!({ "subscribed_events": ["email.received"] })).await;
    }
    ingest(&world, "acme-invoices").await;
    for name in ["off", "gone"] {
        world.until(&format!("/webhooks/{name}/deliveries"), |rows| rows[0]["status"] == "failed").await;
    }
    world.call("PATCH", "/webhooks/off", &json!({ "status": "inactive" }), 200).await;
    world.call("DELETE", "/webhooks/gone", &json!({}), 204).await;
    world.hours_later().await;
    let rows = world.until("/webhooks/off/deliveries", |rows| rows[0]["next_retry_at"].is_null()).await;
    assert_eq!((&rows[0]["status"], &rows[0]["error"]), (&json!("failed"), &json!("the webhook is inactive")));
    assert_eq!(receiver.received().len(), 2);
}

/// Nobody looks at the queue by himself here: whoever makes work says so.
#[tokio::test]
async fn what_a_job_makes_is_begun_at_once() {
    let ways = Ways { poll: Duration::from_secs(60 * 60), ..Ways::default() };
    let (world, receiver) = (World::new().await.again(ways).await, Receiver::start(Manner::Status(200)).await);
    world.hook("done", &receiver.url(), json!({ "subscribed_events": ["email.received", "email.processed"] })).await;
    let worker = world.process();
    ingest(&world, "acme-invoices").await;
    let sent = |rows: &Value| rows.as_array().unwrap().iter().filter(|row| row["status"] == "success").count() == 2;
    world.until("/webhooks/done/deliveries", sent).await;
    assert_eq!(slugs(&world, "done").await, ["email.processed", "email.received"]);
    worker.stop(Duration::from_secs(5)).await;
}

#[tokio::test]
async fn deliveries_that_ended_long_ago_go_and_others_stay() {
    let (world, receiver) = (World::new().await, Receiver::start(Manner::Status(200)).await);
    let list = "/webhooks/acme-erp/deliveries?limit=200";
    let before = world.get(list).await.as_array().unwrap().clone();
    let waits = |row: &&Value| row["next_retry_at"].is_string();
    let waiting = before.iter().filter(waits).count();
    assert!(waiting > 0 && waiting < before.len(), "some of the demo's are tried again, some have ended");
    world.hook("new", &receiver.url(), json!({})).await;
    let new = world.test("new").await;
    world.attempted(&new, 1).await;

    // Some that ended are kept for ever, and then for a day.
    let forever = world.again(Ways::default()).await;
    forever.attempted(&forever.test("new").await, 1).await;
    assert_eq!(forever.get(list).await.as_array().unwrap().len(), before.len());
    let world = forever.again(Ways { keep: Some(Duration::from_secs(24 * 60 * 60)), ..Ways::default() }).await;
    let left = world.until(list, |rows| rows.as_array().unwrap().len() <= waiting).await;
    assert_eq!(left.as_array().unwrap().iter().filter(waits).count(), waiting);
    world.get(&new).await;
    // The event that was delivered stays.
    let event = before.iter().find(|row| row["status"] == "success").unwrap()["system_event_id"].as_str().unwrap();
    world.get(&format!("/system-events/{event}")).await;
}
