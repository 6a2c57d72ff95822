//! Webhooks, their secrets and their deliveries.

use kobana_store::rows::Webhooks;
use kobana_store::{InWorkspace, Scope as _, demo};
use serde_json::{Value, json};

use crate::harness::{World, column};

const HOOK: &str = "https://erp.supplier.example/hook";

#[tokio::test]
async fn a_webhook_is_made_changed_and_deleted() {
    let world = World::new().await;
    let ana = world.ana().await;
    let sent = json!({
        "external_id": "novo", "label": "Gancho", "url": HOOK, "inbox_id": "acme-invoices", "subscribed_events": ["email.failed"],
    });
    let created = world.call(&ana, "POST", "/webhooks", &sent).await.data(201);
    assert_eq!(
        (&created["auth"], &created["status"], &created["url"]),
        (&json!("none"), &json!("active"), &json!(HOOK))
    );
    let invoices = world.get(&ana, "/inboxes/acme-invoices").await.data(200);
    assert_eq!(created["inbox_id"], invoices["id"]);
    let body = json!({ "inbox_id": null, "status": "inactive", "label": "x".repeat(200) });
    let changed = world.call(&ana, "PATCH", "/webhooks/novo", &body).await.data(200);
    assert_eq!((&changed["inbox_id"], &changed["status"]), (&Value::Null, &json!("inactive")));
    assert_eq!(changed["subscribed_events"], json!(["email.failed"]));
    let put = json!({ "external_id": "novo", "status": "active" });
    assert_eq!(world.call(&ana, "PUT", "/webhooks", &put).await.data(200)["id"], created["id"]);
    world.delete(&ana, "/webhooks/novo").await.expect(204);
    world.get(&ana, "/webhooks/novo").await.refused(404, "not_found");
    let missing = world.call(&ana, "PUT", "/webhooks", &json!({ "external_id": "novo" })).await.invalid_fields();
    assert_eq!(missing, ["label", "url"]);
    let rows = world.get(&ana, "/webhooks").await.data(200);
    assert_eq!(column(&rows, "external_id"), ["acme-erp", "acme-audit"]);
    world.get(&ana, "/webhooks/acme-hook-gone").await.refused(404, "not_found");
}

#[tokio::test]
async fn rules_and_members_of_a_webhook_are_checked() {
    let world = World::new().await;
    let ana = world.ana().await;
    let with = |member: &str, value: Value| {
        let mut body = json!({ "label": "x", "url": HOOK });
        body[member] = value;
        body
    };
    for url in ["http://erp.supplier.example/", "https://127.0.0.1/", "https://localhost/x", "https://u:p@a.example/"] {
        let details = world.call(&ana, "POST", "/webhooks", &with("url", json!(url))).await;
        assert_eq!(details.refused(422, "url_not_allowed"), json!({ "field": "url" }));
        let answer = world.call(&ana, "PATCH", "/webhooks/acme-erp", &json!({ "url": url })).await;
        answer.refused(422, "url_not_allowed");
    }
    let inbox = with("inbox_id", json!("globex-main"));
    let details = world.call(&ana, "POST", "/webhooks", &inbox).await.refused(422, "reference_not_found");
    assert_eq!(details, json!({ "field": "inbox_id" }));
    for (member, value) in [
        ("url", json!("nothing")),
        ("label", json!("")),
        ("subscribed_events", json!("email.failed")),
        ("subscribed_events", json!([1])),
        ("auth", json!("digest")),
        ("auth_bearer_token", json!(5)),
        ("status", json!("active")),
        ("signing_secret", json!("x")),
    ] {
        let answer = world.call(&ana, "POST", "/webhooks", &with(member, value.clone())).await;
        assert_eq!(answer.invalid_fields(), [member], "{value}");
    }
    for (auth, fields) in [
        ("basic", vec!["auth_basic_password", "auth_basic_user"]),
        ("bearer", vec!["auth_bearer_token"]),
        ("header", vec!["auth_header_key", "auth_header_value"]),
    ] {
        let answer = world.call(&ana, "POST", "/webhooks", &with("auth", json!(auth))).await;
        assert_eq!(answer.invalid_fields(), fields);
    }
}

#[tokio::test]
async fn secrets_are_sealed_and_shown_once() {
    let world = World::new().await;
    let ana = world.ana().await;
    let body =
        json!({ "external_id": "s", "label": "x", "url": HOOK, "auth": "bearer", "auth_bearer_token": "geheim-token" });
    let created = world.call(&ana, "POST", "/webhooks", &body).await;
    assert!(!created.json.to_string().contains("geheim") && !created.json.to_string().contains("signing"));
    let secret = world.call(&ana, "POST", "/webhooks/s/regenerate-secret", &json!({})).await.data(200);
    let secret = secret["signing_secret"].as_str().unwrap().to_owned();
    let next = world.raw(&ana, "POST", "/webhooks/s/regenerate-secret", &[], "").await.data(200);
    assert_ne!(next["signing_secret"], secret);
    let row = InWorkspace(demo::workspaces::ACME).find_by_name::<Webhooks>("s").one(world.store.reads()).await;
    let row = row.unwrap().unwrap();
    for (sealed, plain) in [(row.credentials.unwrap(), "geheim-token"), (row.signing_secret.unwrap(), &*secret)] {
        assert!(!sealed.windows(plain.len()).any(|part| part == plain.as_bytes()));
    }
    let shown = world.get(&ana, "/webhooks/s").await.json.to_string();
    assert!(!shown.contains("whsec_") && !shown.contains("geheim") && !shown.contains("auth_b"));
    let vera = world.caller(demo::persons::VERA).await;
    let answer = world.call(&vera, "POST", "/webhooks/s/regenerate-secret", &json!({})).await;
    assert_eq!(answer.refused(403, "permission_denied"), json!({ "required": "webhooks.secrets" }));
}

#[tokio::test]
async fn deliveries_belong_to_their_webhook() {
    let world = World::new().await;
    let ana = world.ana().await;
    let rows = world.get(&ana, "/webhooks/acme-erp/deliveries?limit=3").await.expect(200).json;
    assert_eq!(rows["data"].as_array().unwrap().len(), 3);
    let cursor = rows["meta"]["next_cursor"].as_str().unwrap();
    let rest = world.get(&ana, &format!("/webhooks/acme-erp/deliveries?limit=3&cursor={cursor}")).await.data(200);
    assert_eq!(rest.as_array().unwrap().len(), 2);
    let foreign = world.get(&ana, &format!("/webhooks/acme-audit/deliveries?cursor={cursor}")).await;
    assert_eq!(foreign.invalid_fields(), ["cursor"]);
    let id = rows["data"][0]["id"].as_str().unwrap();
    let one = world.get(&ana, &format!("/webhooks/acme-erp/deliveries/{id}")).await.data(200);
    assert_eq!(one, rows["data"][0]);
    assert!(one["request_body"]["event"]["slug"].is_string());
    for path in ["acme-audit", "acme-hook-gone", "nope", ".."] {
        world.get(&ana, &format!("/webhooks/{path}/deliveries/{id}")).await.refused(404, "not_found");
    }
    for delivery in ["x", "..", "%2e%2e", &"x".repeat(200)] {
        world.get(&ana, &format!("/webhooks/acme-erp/deliveries/{delivery}")).await.refused(404, "not_found");
    }
    let gil = world.gil().await;
    for hook in ["acme-erp", "globex-hook"] {
        world.get(&gil, &format!("/webhooks/{hook}/deliveries/{id}")).await.refused(404, "not_found");
    }
    let all = world.get(&ana, "/webhooks/acme-erp/deliveries").await.data(200);
    assert_eq!(column(&all, "status").iter().filter(|status| *status == "failed").count(), 2);
}
