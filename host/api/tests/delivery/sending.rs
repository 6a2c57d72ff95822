//! What a receiver gets, and what is written down about it.

use hmac::{Hmac, KeyInit as _, Mac as _};
use kobana_store::rows::Webhooks;
use kobana_store::{InWorkspace, Scope as _, demo};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::receiver::{Manner, Received, Receiver, fits_the_contract};
use crate::world::World;

/// The signature, computed as a receiver would.
fn signature(secret: &str, received: &Received) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(&received.body);
    let hex: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256={hex}")
}

#[tokio::test]
async fn a_test_event_arrives_signed_and_is_written_down() {
    let (world, receiver) = (World::new().await, Receiver::start(Manner::Status(204)).await);
    let hook = world.hook("novo", &receiver.url(), json!({ "inbox_id": "acme-invoices" })).await;
    let secret = world.call("POST", "/webhooks/novo/regenerate-secret", &json!({}), 200).await;
    let path = world.test("novo").await;
    let row = world.attempted(&path, 1).await;
    let received = receiver.received();
    assert_eq!(received.len(), 1);
    let (request, body) = (&received[0], received[0].json());

    assert_eq!(request.path, "/hook?token=in-the-address");
    assert_eq!(request.header("content-type"), "application/json");
    assert_eq!(request.header("x-kobana-event"), "webhook.test");
    assert_eq!(json!(request.header("x-kobana-delivery-id")), row["id"]);
    assert_eq!(request.header("x-kobana-signature"), signature(secret["signing_secret"].as_str().unwrap(), request));
    assert!(!request.headers.contains_key("authorization"));

    fits_the_contract(&body);
    assert_eq!(body["event"], json!({ "slug": "webhook.test", "id": row["system_event_id"] }));
    assert_eq!(body["workspace"], world.get("/workspaces/acme").await);
    assert!(body["delivered_at"].is_string() && body["data"]["organization"]["name"].is_string());
    assert_eq!(body["data"]["inbox"], world.get("/inboxes/acme-invoices").await);
    assert_eq!(body["data"]["webhook"], hook_before(&hook, &body));

    assert_eq!(
        (&row["status"], &row["response_status"], &row["error"]),
        (&json!("success"), &json!(204), &Value::Null)
    );
    assert_eq!(row["request_body"], body);
    assert_eq!(row["request_headers"]["x-kobana-signature"], "***");
    assert_eq!(row["request_headers"]["x-kobana-event"], "webhook.test");
    assert_eq!(
        (&row["response_headers"]["x-answer"], &row["response_headers"]["set-cookie"]),
        (&json!("yes"), &json!("***"))
    );
    assert!(row["delivered_at"].is_string() && row["duration_ms"].is_u64() && row["next_retry_at"].is_null());
    let event = world.get(&format!("/system-events/{}", row["system_event_id"].as_str().unwrap())).await;
    assert_eq!((&event["slug"], &event["payload"]["webhook"]["id"]), (&json!("webhook.test"), &hook["id"]));
}

/// The webhook as it was made; making a new secret changed it since.
fn hook_before(hook: &Value, body: &Value) -> Value {
    let mut hook = hook.clone();
    hook["updated_at"] = body["data"]["webhook"]["updated_at"].clone();
    hook
}

#[tokio::test]
async fn each_kind_of_credentials_is_presented_and_masked() {
    let (world, receiver) = (World::new().await, Receiver::start(Manner::Echo).await);
    let kinds = [
        (
            "basic",
            json!({ "auth_basic_user": "ana", "auth_basic_password": "geheim:ç" }),
            "authorization",
            "Basic YW5hOmdlaGVpbTrDpw==",
        ),
        ("bearer", json!({ "auth_bearer_token": "geheim-token" }), "authorization", "Bearer geheim-token"),
        (
            "header",
            json!({ "auth_header_key": "X-Api-Key", "auth_header_value": "geheim-key" }),
            "x-api-key",
            "geheim-key",
        ),
    ];
    for (kind, mut members, name, value) in kinds {
        members["auth"] = json!(kind);
        world.hook(kind, &receiver.url(), members).await;
        let row = world.attempted(&world.test(kind).await, 1).await;
        let received = receiver.received().pop().unwrap();
        assert_eq!(received.header(name), value, "{kind}");
        assert_eq!((&row["status"], &row["request_headers"][name]), (&json!("success"), &json!("***")), "{kind}");
        // The receiver sent everything back; what was secret in it is not kept.
        assert!(row["response_body"].as_str().unwrap().contains("***"));
        let signature = received.header("x-kobana-signature").to_owned();
        let all = world.everything().await;
        for secret in [value, &signature, "geheim", "YW5hOmdlaGVpbTrDpw==", "whsec_"] {
            assert!(!all.contains(secret), "{kind}: {secret}");
        }
    }
}

#[tokio::test]
async fn a_webhook_without_secret_gets_one_that_stays() {
    let (world, receiver) = (World::new().await, Receiver::start(Manner::Status(200)).await);
    world.call("PATCH", "/webhooks/acme-erp", &json!({ "url": receiver.url() }), 200).await;
    let rows = InWorkspace(demo::workspaces::ACME);
    let row = async || rows.find_by_name::<Webhooks>("acme-erp").one(world.store.reads()).await.unwrap().unwrap();
    assert!(row().await.signing_secret.is_none());
    world.attempted(&world.test("acme-erp").await, 1).await;
    let sealed = row().await.signing_secret;
    assert!(sealed.is_some());
    world.attempted(&world.test("acme-erp").await, 1).await;
    assert_eq!(row().await.signing_secret, sealed);
    assert!(receiver.received()[0].header("x-kobana-signature").starts_with("sha256="));
}

#[tokio::test]
async fn an_answer_is_kept_up_to_a_limit() {
    let (world, receiver) = (World::new().await, Receiver::start(Manner::Endless).await);
    world.hook("novo", &receiver.url(), json!({})).await;
    let row = world.attempted(&world.test("novo").await, 1).await;
    assert_eq!((&row["status"], row["response_body"].as_str().unwrap().len()), (&json!("success"), 64 * 1024));
}

#[tokio::test]
async fn a_redirect_is_an_answer_that_is_not_followed() {
    let (world, target) = (World::new().await, Receiver::start(Manner::Status(200)).await);
    let receiver = Receiver::start(Manner::Redirect(target.url())).await;
    world.hook("novo", &receiver.url(), json!({})).await;
    let row = world.attempted(&world.test("novo").await, 1).await;
    assert_eq!((&row["status"], &row["response_status"]), (&json!("failed"), &json!(302)));
    assert!(row["next_retry_at"].is_string() && target.received().is_empty());
}
