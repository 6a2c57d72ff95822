//! Repeated requests under one key.

use std::sync::Arc;

use kobana_store::demo;
use serde_json::json;

use crate::harness::World;

#[tokio::test]
async fn the_same_request_gets_the_first_answer_again() {
    let world = World::new().await;
    let ana = world.ana().await;
    let body = json!({ "label": "Uma vez" });
    let first = world.keyed(&ana, "k1", "POST", "/inboxes", &body).await.expect(201);
    let again = world.keyed(&ana, "k1", "POST", "/inboxes", &json!({ "label": "Uma vez" })).await.expect(201);
    assert_eq!(first.json, again.json);
    assert_eq!(again.headers["content-type"], "application/json");
    assert_eq!(world.get(&ana, "/inboxes").await.data(200).as_array().unwrap().len(), 4);
    let other = world.keyed(&ana, "k1", "POST", "/inboxes", &json!({ "label": "Outra" })).await;
    assert_eq!(other.refused(409, "idempotency_conflict"), json!({ "field": "X-Idempotency-Key" }));
    world.keyed(&ana, "k1", "POST", "/agents", &body).await.refused(400, "validation_failed");
    world.keyed(&ana, "k2", "POST", "/inboxes", &body).await.expect(201);
}

#[tokio::test]
async fn a_key_is_good_for_one_credential_in_one_workspace() {
    let world = World::new().await;
    let body = json!({ "external_id": "once", "label": "x" });
    let mut marcos = world.caller(demo::persons::MARCOS).await;
    for picked in [0, 1] {
        marcos.choice = kobana_contract::Choice::Picked(picked);
        world.keyed(&marcos, "k", "PUT", "/inboxes", &body).await.expect(201);
    }
    world.keyed(&world.ana().await, "k", "PUT", "/inboxes", &body).await.expect(200);
}

#[tokio::test]
async fn refusals_that_may_pass_later_are_not_kept() {
    let world = World::new().await;
    let ana = world.ana().await;
    world.keyed(&ana, "k", "PUT", "/inboxes", &json!({ "external_id": "x" })).await.refused(400, "validation_failed");
    world.keyed(&ana, "k", "PUT", "/inboxes", &json!({ "external_id": "x", "label": "x" })).await.expect(201);
    // What the request itself is to blame for is.
    let missing = json!({ "label": "x", "agent_id": "novo" });
    world.keyed(&ana, "k3", "POST", "/inboxes", &missing).await.refused(422, "reference_not_found");
    let agent = json!({ "external_id": "novo", "label": "x", "llm_model": "x", "system_message": "x" });
    world.call(&ana, "POST", "/agents", &agent).await.expect(201);
    world.keyed(&ana, "k3", "POST", "/inboxes", &missing).await.refused(422, "reference_not_found");
}

#[tokio::test]
async fn a_secret_is_shown_again_to_the_same_request_and_kept_sealed() {
    let world = World::new().await;
    let ana = world.ana().await;
    let path = "/webhooks/acme-erp/regenerate-secret";
    let first = world.keyed(&ana, "k", "POST", path, &json!({})).await.data(200);
    assert_eq!(world.keyed(&ana, "k", "POST", path, &json!({})).await.data(200), first);
    assert_ne!(world.keyed(&ana, "k2", "POST", path, &json!({})).await.data(200), first);
}

#[tokio::test]
async fn a_key_must_be_one_text_of_a_size() {
    let world = World::new().await;
    let ana = world.ana().await;
    let body = json!({ "label": "x" });
    for key in ["", &"k".repeat(256)] {
        let answer = world.keyed(&ana, key, "POST", "/inboxes", &body).await;
        assert_eq!(answer.invalid_fields(), ["X-Idempotency-Key"]);
    }
    let twice = [("content-type", "application/json"), ("x-idempotency-key", "a"), ("x-idempotency-key", "a")];
    let answer = world.raw(&ana, "POST", "/inboxes", &twice, body.to_string()).await;
    assert_eq!(answer.invalid_fields(), ["X-Idempotency-Key"]);
    world.keyed(&ana, &"k".repeat(255), "POST", "/inboxes", &body).await.expect(201);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twins_make_one_row() {
    let world = Arc::new(World::new().await);
    let ana = world.ana().await;
    let tasks: Vec<_> = (0..10)
        .map(|_| {
            let (world, ana) = (Arc::clone(&world), ana.clone());
            let body = json!({ "label": "Gêmeos" });
            tokio::spawn(async move { world.keyed(&ana, "twin", "POST", "/inboxes", &body).await.status.as_u16() })
        })
        .collect();
    for task in tasks {
        assert!([201, 409].contains(&task.await.unwrap()));
    }
    assert_eq!(world.get(&ana, "/inboxes").await.data(200).as_array().unwrap().len(), 4);
}
