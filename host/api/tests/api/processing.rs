//! From received to processed, once and again.

use std::time::Duration;

use kobana_api::EngineSettings;
use kobana_contract::operations::emails::EmailStatus;
use serde_json::{Value, json};

use crate::harness::{World, email_id};
use crate::mail::{hand_in, history, message, settled, worker};

#[tokio::test]
async fn an_agent_runs_once_and_everything_is_written_down() {
    let world = World::new().await;
    let ana = world.ana().await;
    let id = hand_in(&world, &ana, "acme-support", message(7)).await.data(202)["id"].as_str().unwrap().to_owned();
    let worker = worker(&world.store, EngineSettings::default());
    let email = settled(&world, &ana, &id, &["processed"]).await;
    let agent = world.get(&ana, "/agents/acme-triage").await.data(200);
    assert_eq!((&email["agent_id"], email["processed_at"].is_string()), (&agent["id"], true));
    assert_eq!(
        (&email["agent_metadata"]["amount"], &email["agent_metadata"]["due_date"]),
        (&json!("7.00"), &json!("2026-08-05"))
    );
    let runs = world.get(&ana, &format!("/agent-runs?email_id={id}")).await.data(200);
    let run = &runs[0];
    assert_eq!(runs.as_array().map(Vec::len), Some(1));
    assert_eq!((&run["status"], &run["llm_model"], &run["error"]), (&json!("success"), &json!("rules"), &Value::Null));
    assert_eq!((&run["input_tokens"], &run["total_cost"], &run["agent_id"]), (&json!(0), &json!(0.0), &agent["id"]));
    assert!(run["started_at"].is_string() && run["finished_at"].is_string() && run["duration_ms"].is_number());
    let steps = ["email.received", "email.approved", "agent_run.started", "agent_run.succeeded", "email.processed"];
    assert_eq!(history(&world, &ana, &id).await, steps);
    worker.stop(Duration::ZERO).await;
}

#[tokio::test]
async fn an_inbox_without_agent_is_read_without_a_run() {
    let world = World::new().await;
    let gil = world.gil().await;
    let id = hand_in(&world, &gil, "globex-main", message(7)).await.data(202)["id"].as_str().unwrap().to_owned();
    let worker = worker(&world.store, EngineSettings::default());
    let email = settled(&world, &gil, &id, &["processed"]).await;
    assert_eq!((&email["agent_id"], &email["agent_metadata"]["amount"]), (&Value::Null, &json!("7.00")));
    assert_eq!(world.get(&gil, &format!("/agent-runs?email_id={id}")).await.data(200), json!([]));
    assert_eq!(history(&world, &gil, &id).await, ["email.received", "email.approved", "email.processed"]);
    worker.stop(Duration::ZERO).await;
}

#[tokio::test]
async fn the_demo_stays_as_it_is() {
    let world = World::new().await;
    let ana = world.ana().await;
    let count = async || {
        let mut counts = Vec::new();
        for status in EmailStatus::ALL {
            let rows = world.get(&ana, &format!("/emails?limit=200&inbox_id=acme-invoices&status={status}")).await;
            counts.push(rows.data(200).as_array().unwrap().len());
        }
        counts
    };
    let before = count().await;
    let worker = worker(&world.store, EngineSettings::default());
    // The queue is worked off in its order: whatever else there was would have been done before this one.
    let id = hand_in(&world, &ana, "acme-support", message(1)).await.data(202)["id"].as_str().unwrap().to_owned();
    settled(&world, &ana, &id, &["processed"]).await;
    assert_eq!(count().await, before);
    worker.stop(Duration::ZERO).await;
}

#[tokio::test]
async fn any_email_can_be_sent_through_again() {
    let world = World::new().await;
    let ana = world.ana().await;
    let worker = worker(&world.store, EngineSettings::default());
    // Of the demo: failed, rejected, processed, approved, processing, received.
    for number in [7, 5, 1, 54, 57, 59] {
        let path = format!("/emails/{}", email_id(number));
        let before = world.get(&ana, &path).await.data(200);
        let answer = world.call(&ana, "POST", &format!("{path}/reprocess"), &json!({})).await.data(202);
        assert_eq!((&answer["status"], &answer["id"]), (&json!("received"), &before["id"]));
        assert!(answer.get("body").is_none() && answer["processed_at"].is_null());
        let after = settled(&world, &ana, &email_id(number), &["processed", "rejected"]).await;
        // The body comes from the original now, and says what the seeded one said.
        assert_eq!(after["body"], before["body"], "{number}");
        let runs = world.get(&ana, &format!("/agent-runs?email_id={}", email_id(number))).await.data(200);
        assert!(runs.as_array().unwrap().iter().all(|run| run["status"] != "running"), "{number}");
    }
    let vera = world.caller(kobana_store::demo::persons::VERA).await;
    let path = format!("/emails/{}/reprocess", email_id(1));
    world.call(&vera, "POST", &path, &json!({})).await.refused(403, "permission_denied");
    world.call(&world.gil().await, "POST", &path, &json!({})).await.refused(404, "not_found");
    worker.stop(Duration::ZERO).await;
}

#[tokio::test]
async fn several_workers_share_a_queue() {
    let world = World::new().await;
    let ana = world.ana().await;
    let workers: Vec<_> = (0..3).map(|_| worker(&world.store, EngineSettings::default())).collect();
    let mut ids = Vec::new();
    for number in 1..=30 {
        let email = hand_in(&world, &ana, "acme-support", message(number)).await.data(202);
        ids.push(email["id"].as_str().unwrap().to_owned());
    }
    for id in &ids {
        settled(&world, &ana, id, &["processed"]).await;
        assert_eq!(history(&world, &ana, id).await.len(), 5, "{id}");
        let runs = world.get(&ana, &format!("/agent-runs?email_id={id}")).await.data(200);
        assert_eq!(runs.as_array().map(Vec::len), Some(1));
    }
    for worker in workers {
        worker.stop(Duration::from_secs(5)).await;
    }
}
