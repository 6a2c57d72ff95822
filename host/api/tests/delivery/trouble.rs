//! Receivers that do not answer as they should, and addresses that nothing is sent to.

use kobana_contract::Timestamp;
use kobana_store::sea_orm::{ConnectionTrait as _, Statement};
use serde_json::{Value, json};

use crate::receiver::{Manner, Receiver};
use crate::world::{Ways, World};

/// Seconds until the next attempt.
fn wait(row: &Value) -> i64 {
    let time = |name: &str| Timestamp::parse(row[name].as_str().unwrap()).unwrap().unix_seconds();
    time("next_retry_at") - time("updated_at")
}

#[tokio::test]
async fn what_failed_is_tried_again_until_it_arrives() {
    let (world, receiver) = (World::new().await, Receiver::start(Manner::Status(500)).await);
    world.hook("novo", &receiver.url(), json!({})).await;
    let path = world.test("novo").await;
    let row = world.attempted(&path, 1).await;
    assert_eq!((&row["status"], &row["response_status"], &row["error"]), (&json!("failed"), &json!(500), &Value::Null));
    assert!((50..=70).contains(&wait(&row)) && row["delivered_at"].is_null());
    assert_eq!(world.get("/webhooks/novo").await["consecutive_failures"], 1);
    world.hours_later().await;
    let row = world.attempted(&path, 2).await;
    assert!((270..=330).contains(&wait(&row)));
    receiver.is_now(Manner::Status(201));
    world.hours_later().await;
    let row = world.attempted(&path, 3).await;
    assert_eq!((&row["status"], &row["response_status"]), (&json!("success"), &json!(201)));
    assert!(row["next_retry_at"].is_null() && row["delivered_at"].is_string());
    assert_eq!(world.get("/webhooks/novo").await["consecutive_failures"], 0);
    let received = receiver.received();
    let ids: Vec<_> = received.iter().map(|request| request.header("x-kobana-delivery-id")).collect();
    assert_eq!(ids, vec![row["id"].as_str().unwrap(); 3]);
    let events: Vec<_> = received.iter().map(|request| request.json()["event"].clone()).collect();
    assert!(events.windows(2).all(|two| two[0] == two[1]));
    assert_eq!(world.get("/webhooks/novo/deliveries").await.as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn attempts_come_to_an_end() {
    let (world, receiver) = (World::new().await, Receiver::start(Manner::Status(404)).await);
    world.hook("novo", &receiver.url(), json!({})).await;
    let path = world.test("novo").await;
    for attempt in 1..=8 {
        let row = world.attempted(&path, attempt).await;
        assert_eq!(row["next_retry_at"].is_null(), attempt == 8, "{attempt}");
        world.hours_later().await;
    }
    let sql = "SELECT COUNT(*) AS left_over FROM jobs WHERE finished_at IS NULL";
    let backend = world.store.reads().get_database_backend();
    let count = world.store.reads().query_one_raw(Statement::from_string(backend, sql)).await.unwrap().unwrap();
    assert_eq!(count.try_get::<i64>("", "left_over").unwrap(), 0);
    assert_eq!(receiver.received().len(), 8);
}

#[tokio::test]
async fn silence_ends_an_attempt_and_a_body_that_does_not_end_is_no_harm() {
    let (world, silent) = (World::new().await, Receiver::start(Manner::Silent).await);
    let stuck = Receiver::start(Manner::Stuck).await;
    world.hook("silent", &silent.url(), json!({})).await;
    world.hook("stuck", &stuck.url(), json!({})).await;
    let (silent, stuck) = (world.test("silent").await, world.test("stuck").await);
    let row = world.attempted(&silent, 1).await;
    assert_eq!((&row["status"], &row["error"]), (&json!("failed"), &json!("no answer within five seconds")));
    assert!(row["response_status"].is_null() && row["next_retry_at"].is_string());
    let row = world.attempted(&stuck, 1).await;
    assert_eq!((&row["status"], &row["response_body"]), (&json!("success"), &json!("begun")));
}

#[tokio::test]
async fn a_name_that_does_not_resolve_fails_cleanly() {
    let world = World::new().await;
    let row = world.attempted(&world.test("acme-erp").await, 1).await;
    assert_eq!((&row["status"], &row["attempt"]), (&json!("failed"), &json!(1)));
    assert!(row["error"].is_string() && row["response_status"].is_null() && row["next_retry_at"].is_string());
    assert_eq!(world.get("/webhooks/acme-erp").await["consecutive_failures"], 1);
}

#[tokio::test]
async fn a_port_where_nobody_listens_is_told_without_the_address() {
    let (world, receiver) = (World::new().await, Receiver::start(Manner::Status(200)).await);
    let url = format!("http://127.0.0.1:{}/?token=in-the-address", free_port().await);
    world.hook("novo", &url, json!({})).await;
    let row = world.attempted(&world.test("novo").await, 1).await;
    assert!(row["error"].as_str().unwrap().contains("refused"), "{}", row["error"]);
    assert!(!row.to_string().replace(&row["request_body"].to_string(), "").contains("in-the-address"));
    assert!(receiver.received().is_empty());
}

async fn free_port() -> u16 {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    listener.local_addr().unwrap().port()
}

#[tokio::test]
async fn nothing_is_sent_to_addresses_that_are_not_public() {
    let (world, receiver) = (World::with(false).await, Receiver::start(Manner::Status(200)).await);
    world.hook("novo", "https://erp.supplier.example/", json!({})).await;
    for url in [
        receiver.url(),
        format!("http://localhost:{}/", receiver.port),
        format!("https://localhost:{}/", receiver.port),
        format!("https://[::ffff:127.0.0.1]:{}/", receiver.port),
        "https://169.254.169.254/latest/meta-data/".to_owned(),
        "https://10.0.0.1/".to_owned(),
        "https://[fd00::1]/".to_owned(),
    ] {
        // An address that was allowed when it was stored.
        world.sql(&format!("UPDATE webhooks SET url = '{url}', status = 'active' WHERE external_id = 'novo'")).await;
        let row = world.attempted(&world.test("novo").await, 1).await;
        assert_eq!(row["status"], "failed", "{url}");
        assert!(row["error"].as_str().unwrap().contains("public"), "{url}: {}", row["error"]);
        assert!(row["next_retry_at"].is_string(), "{url}");
    }
    assert!(receiver.received().is_empty());
}

#[tokio::test]
async fn twenty_failures_in_a_row_turn_a_webhook_inactive() {
    let (world, receiver) = (World::new().await, Receiver::start(Manner::Status(500)).await);
    let watcher = Receiver::start(Manner::Status(200)).await;
    world.hook("novo", &receiver.url(), json!({})).await;
    world.hook("watcher", &watcher.url(), json!({ "subscribed_events": ["webhook.deactivated"] })).await;
    for attempt in 1..=19 {
        world.attempted(&world.test("novo").await, 1).await;
        assert_eq!(world.get("/webhooks/novo").await["consecutive_failures"], attempt);
    }
    receiver.is_now(Manner::Status(200));
    world.attempted(&world.test("novo").await, 1).await;
    receiver.is_now(Manner::Status(500));
    for _ in 1..=19 {
        world.attempted(&world.test("novo").await, 1).await;
    }
    assert_eq!(world.get("/webhooks/novo").await["status"], "active");
    let row = world.attempted(&world.test("novo").await, 1).await;
    let hook = world.get("/webhooks/novo").await;
    assert_eq!((&hook["status"], &hook["consecutive_failures"]), (&json!("inactive"), &json!(20)));
    // Somebody asked for it, so it goes on.
    assert!(row["next_retry_at"].is_string());

    let events = world.get("/system-events?slug=webhook.deactivated").await;
    assert_eq!((events.as_array().unwrap().len(), &events[0]["payload"]["webhook"]["id"]), (1, &hook["id"]));
    let told = world.until("/webhooks/watcher/deliveries", |rows| rows[0]["status"] == "success").await;
    assert_eq!(told[0]["system_event_id"], events[0]["id"]);
    assert_eq!(watcher.received()[0].json()["data"]["webhook"], hook);

    let hook = world.call("PATCH", "/webhooks/novo", &json!({ "status": "active" }), 200).await;
    assert_eq!(hook["consecutive_failures"], 0);
}

#[tokio::test]
async fn an_attempt_that_ends_with_its_process_is_made_again() {
    let (world, receiver) = (World::new().await, Receiver::start(Manner::Silent).await);
    world.hook("novo", &receiver.url(), json!({})).await;
    let path = world.test("novo").await;
    while receiver.received().is_empty() {
        tokio::task::yield_now().await;
    }
    receiver.is_now(Manner::Status(200));
    let world = world.again(Ways::default()).await;
    let row = world.attempted(&path, 1).await;
    assert_eq!(row["status"], "success");
    let received = receiver.received();
    let ids: Vec<_> = received.iter().map(|request| request.header("x-kobana-delivery-id")).collect();
    assert_eq!(ids, vec![row["id"].as_str().unwrap(); 2]);
}

#[tokio::test]
async fn secrets_that_do_not_open_are_no_failure_of_the_receiver() {
    let (world, receiver) = (World::new().await, Receiver::start(Manner::Status(200)).await);
    world.hook("novo", &receiver.url(), json!({})).await;
    let world = world.again(Ways { key: [8; 32], ..Ways::default() }).await;
    let path = world.test("novo").await;
    let row = loop {
        world.hours_later().await;
        let row = world.get(&path).await;
        if row["status"] != "pending" {
            break row;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    };
    assert_eq!((&row["status"], &row["attempt"]), (&json!("failed"), &json!(1)));
    assert!(row["error"].as_str().unwrap().contains("could not be prepared") && row["next_retry_at"].is_null());
    assert_eq!(world.get("/webhooks/novo").await["consecutive_failures"], 0);
    assert!(receiver.received().is_empty());
}
