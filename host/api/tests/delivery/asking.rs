//! Tests and replays, which somebody asks for.

use axum::body::Body;
use kobana_store::demo;
use serde_json::{Value, json};

use crate::receiver::{Manner, Receiver};
use crate::world::{World, caller};

#[tokio::test]
async fn a_test_is_answered_with_a_delivery_that_waits() {
    let world = World::new().await;
    let row = world.call("POST", "/webhooks/acme-audit/test", &json!({}), 202).await;
    assert_eq!((&row["status"], &row["attempt"]), (&json!("pending"), &json!(1)));
    assert_eq!(row["request_body"]["event"], json!({ "slug": "webhook.test", "id": row["system_event_id"] }));
    for member in ["response_status", "response_headers", "response_body", "error", "delivered_at", "next_retry_at"] {
        assert_eq!(row[member], Value::Null, "{member}");
    }
    for path in ["/webhooks/nope/test", "/webhooks/acme-hook-gone/test", "/webhooks/globex-hook/test"] {
        world.call("POST", path, &json!({}), 404).await;
    }
}

#[tokio::test]
async fn an_inactive_webhook_gets_tests_and_replays_only() {
    let (world, receiver) = (World::new().await, Receiver::start(Manner::Status(200)).await);
    world.hook("novo", &receiver.url(), json!({ "subscribed_events": ["email.received"] })).await;
    world.call("PATCH", "/webhooks/novo", &json!({ "status": "inactive" }), 200).await;
    let path = world.test("novo").await;
    assert_eq!(world.attempted(&path, 1).await["status"], "success");
    let replay = world.call("POST", &format!("{path}/replay"), &json!({}), 202).await;
    let replay = format!("/webhooks/novo/deliveries/{}", replay["id"].as_str().unwrap());
    assert_eq!(world.attempted(&replay, 1).await["status"], "success");
    assert_eq!(receiver.received().len(), 2);
}

#[tokio::test]
async fn a_replay_sends_the_same_event_with_the_settings_of_today() {
    let (world, before) = (World::new().await, Receiver::start(Manner::Status(500)).await);
    let today = Receiver::start(Manner::Status(200)).await;
    world.hook("novo", &before.url(), json!({})).await;
    let path = world.test("novo").await;
    let earlier = world.attempted(&path, 1).await;
    world.call("PATCH", "/webhooks/novo", &json!({ "url": today.url() }), 200).await;
    let row = world.call("POST", &format!("{path}/replay"), &json!({}), 202).await;
    assert_ne!(row["id"], earlier["id"]);
    assert_eq!(row["system_event_id"], earlier["system_event_id"]);
    let row = world.attempted(&format!("/webhooks/novo/deliveries/{}", row["id"].as_str().unwrap()), 1).await;
    let received = today.received();
    assert_eq!((received.len(), json!(received[0].header("x-kobana-delivery-id"))), (1, row["id"].clone()));
    let (was, is) = (before.received()[0].json(), received[0].json());
    assert_eq!((&was["event"], &was["data"]), (&is["event"], &is["data"]));
    assert_eq!(world.get(&path).await, earlier);
}

#[tokio::test]
async fn a_delivery_of_the_demo_is_replayed_to_its_webhook_only() {
    let (world, receiver) = (World::new().await, Receiver::start(Manner::Status(200)).await);
    world.call("PATCH", "/webhooks/acme-erp", &json!({ "url": receiver.url() }), 200).await;
    let earlier = world.get("/webhooks/acme-erp/deliveries").await[0].clone();
    let id = earlier["id"].as_str().unwrap();
    for hook in ["acme-audit", "nope", "globex-hook"] {
        world.call("POST", &format!("/webhooks/{hook}/deliveries/{id}/replay"), &json!({}), 404).await;
    }
    world.call("POST", "/webhooks/acme-erp/deliveries/x/replay", &json!({}), 404).await;
    let row = world.call("POST", &format!("/webhooks/acme-erp/deliveries/{id}/replay"), &json!({}), 202).await;
    let row = world.attempted(&format!("/webhooks/acme-erp/deliveries/{}", row["id"].as_str().unwrap()), 1).await;
    assert_eq!(row["status"], "success");
    let body = receiver.received()[0].json();
    assert_eq!(body["event"]["id"], earlier["system_event_id"]);
    assert_eq!(body["data"]["email"], earlier["request_body"]["data"]["email"]);
    assert_eq!(body["workspace"], world.get("/workspaces/acme").await);
}

#[tokio::test]
async fn asking_twice_under_one_key_sends_once_and_needs_the_permission() {
    let (world, receiver) = (World::new().await, Receiver::start(Manner::Status(200)).await);
    world.hook("novo", &receiver.url(), json!({})).await;
    let keyed = async || {
        let request = world.request(&world.ana, "POST", "/webhooks/novo/test").header("x-idempotency-key", "chave-1");
        world.raw(request.body(Body::empty()).unwrap()).await
    };
    let (first, again) = (keyed().await, keyed().await);
    assert_eq!((first.0, &first), (202, &again));
    let path = format!("/webhooks/novo/deliveries/{}", first.1["data"]["id"].as_str().unwrap());
    world.attempted(&path, 1).await;
    assert_eq!(world.get("/webhooks/novo/deliveries").await.as_array().unwrap().len(), 1);

    let vera = caller(&world.store, demo::persons::VERA).await;
    for path in ["/webhooks/novo/test".to_owned(), format!("{path}/replay")] {
        let request = world.request(&vera, "POST", &path).body(Body::empty()).unwrap();
        let (status, json) = world.raw(request).await;
        assert_eq!((status, &json["error"]["details"]), (403, &json!({ "required": "webhooks.send" })));
    }
    assert_eq!(receiver.received().len(), 1);
}
