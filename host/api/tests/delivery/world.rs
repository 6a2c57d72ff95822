//! The demo's rows, the API over them, a worker that sends, and a clock that can be moved.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use http::Request;
use http_body_util::BodyExt as _;
use kobana_api::worker::{Worker, WorkerSettings};
use kobana_api::{Api, EngineSettings, Settings, WebhookSettings};
use kobana_contract::{Caller, Choice, Scope as Scopes};
use kobana_store::sea_orm::{ConnectionTrait as _, Statement};
use kobana_store::{Location, Store, demo, people};
use serde_json::{Value, json};
use tower::ServiceExt as _;

/// How a process is configured.
#[derive(Clone, Copy)]
pub(crate) struct Ways {
    /// Whether webhooks may point at this machine.
    pub(crate) allow_loopback: bool,
    /// For secrets.
    pub(crate) key: [u8; 32],
    /// How long deliveries that have ended are kept.
    pub(crate) keep: Option<Duration>,
    /// How often workers look at the queue when nobody wakes them up.
    pub(crate) poll: Duration,
}

impl Default for Ways {
    fn default() -> Self {
        Self { allow_loopback: true, key: [7; 32], keep: None, poll: Duration::from_millis(10) }
    }
}

impl Ways {
    fn worker(self) -> WorkerSettings {
        WorkerSettings { concurrency: 8, poll: self.poll, ..WorkerSettings::default() }
    }
}

pub(crate) struct World {
    pub(crate) store: Store,
    pub(crate) api: Api,
    pub(crate) ana: Caller,
    /// Sends until it is dropped.
    courier: Worker,
    ways: Ways,
}

impl World {
    /// A world in which webhooks may point at this machine.
    pub(crate) async fn new() -> Self {
        Self::with(true).await
    }

    pub(crate) async fn with(allow_loopback: bool) -> Self {
        let store = Store::open(Location::Memory).await.unwrap();
        demo::seed(&store).await.unwrap();
        Self::over(store, Ways { allow_loopback, ..Ways::default() }).await
    }

    /// The same world in another process.
    pub(crate) async fn again(self, ways: Ways) -> Self {
        self.courier.stop(Duration::ZERO).await;
        Self::over(self.store, ways).await
    }

    async fn over(store: Store, ways: Ways) -> Self {
        let Ways { allow_loopback, key, keep, .. } = ways;
        let settings = Settings { inbox_domain: demo::INBOX_DOMAIN.to_owned() };
        let webhooks = WebhookSettings { secret_key: Some(key), allow_loopback, keep };
        let api = Api::with_webhooks(store.clone(), settings, webhooks).await.unwrap();
        let courier = api.courier().start(ways.worker()).unwrap();
        let ana = caller(&store, demo::persons::ANA).await;
        Self { store, api, ana, courier, ways }
    }

    /// Starts the worker that processes e-mails.
    pub(crate) fn process(&self) -> Worker {
        Worker::start(self.store.clone(), self.api.wake(), self.ways.worker(), EngineSettings::default()).unwrap()
    }

    pub(crate) async fn raw(&self, request: Request<Body>) -> (u16, Value) {
        let (parts, body) = self.api.router().oneshot(request).await.unwrap().into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let json = if bytes.is_empty() { Value::Null } else { serde_json::from_slice(&bytes).unwrap() };
        (parts.status.as_u16(), json)
    }

    pub(crate) fn request(&self, caller: &Caller, method: &str, path: &str) -> http::request::Builder {
        Request::builder().method(method).uri(path).extension(Arc::new(caller.clone()))
    }

    /// What Ana gets; `data` of an answer with this status.
    #[track_caller]
    pub(crate) fn call(
        &self,
        method: &str,
        path: &str,
        body: &Value,
        status: u16,
    ) -> impl Future<Output = Value> + use<'_> {
        let request = self.request(&self.ana, method, path).header("content-type", "application/json");
        let request = request.body(Body::from(body.to_string())).unwrap();
        let place = std::panic::Location::caller();
        async move {
            let (got, json) = self.raw(request).await;
            assert_eq!(got, status, "{place}: {json}");
            json["data"].clone()
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        self.call("GET", path, &json!({}), 200).await
    }

    /// Makes a webhook with this name.
    pub(crate) async fn hook(&self, name: &str, url: &str, more: Value) -> Value {
        let mut body = json!({ "external_id": name, "label": name, "url": url });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.call("POST", "/webhooks", &body, 201).await
    }

    /// Asks for a test of a webhook; answers the delivery's path.
    pub(crate) async fn test(&self, name: &str) -> String {
        let row = self.call("POST", &format!("/webhooks/{name}/test"), &json!({}), 202).await;
        format!("/webhooks/{name}/deliveries/{}", row["id"].as_str().unwrap())
    }

    /// A row once it looks like that.
    pub(crate) async fn until(&self, path: &str, looks: impl Fn(&Value) -> bool) -> Value {
        for _ in 0..3_000 {
            let row = self.get(path).await;
            if looks(&row) {
                return row;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{path} never came to that: {}", self.get(path).await)
    }

    /// The delivery after this attempt.
    pub(crate) async fn attempted(&self, path: &str, attempt: i64) -> Value {
        self.until(path, |row| row["status"] != "pending" && row["attempt"] == attempt).await
    }

    pub(crate) async fn sql(&self, sql: &str) {
        self.store.reads().execute_unprepared(sql).await.unwrap();
    }

    /// Lets time pass until everything that waits is due.
    pub(crate) async fn hours_later(&self) {
        self.sql("UPDATE jobs SET run_at = 0 WHERE finished_at IS NULL").await;
    }

    /// All rows of all tables that hold anything about webhooks, as text.
    pub(crate) async fn everything(&self) -> String {
        let mut text = String::new();
        for table in ["webhooks", "webhook_deliveries", "system_events", "jobs", "idempotency", "settings"] {
            let sql = format!("SELECT * FROM {table}");
            let backend = self.store.reads().get_database_backend();
            for row in self.store.reads().query_all_raw(Statement::from_string(backend, sql)).await.unwrap() {
                for column in row.column_names() {
                    if let Ok(value) = row.try_get::<Option<String>>("", &column) {
                        text.push_str(&value.unwrap_or_default());
                    } else if let Ok(value) = row.try_get::<Vec<u8>>("", &column) {
                        text.push_str(&String::from_utf8_lossy(&value));
                    }
                    text.push('\n');
                }
            }
        }
        text
    }
}

pub(crate) async fn caller(store: &Store, person: uuid::Uuid) -> Caller {
    let people::Standing { person: row, memberships } = people::standing(store, person).await.unwrap().unwrap();
    Caller {
        person_id: row.id,
        person_name: row.name,
        person_email: row.email,
        organization_id: row.organization_id,
        organization_name: row.organization_name,
        credential_id: format!("test-{person}"),
        client: "tests".to_owned(),
        scopes: Scopes::ALL.to_vec(),
        expires_at: None,
        memberships,
        choice: Choice::Picked(0),
    }
}
