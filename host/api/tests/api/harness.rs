//! A world with the demo's rows, and callers in it.

use std::sync::Arc;

use axum::body::Body;
use http::{HeaderMap, Request, StatusCode, header};
use http_body_util::BodyExt as _;
use kobana_api::extensions::Inspector;
use kobana_api::{Api, Local, LocalApi, Settings, WebhookSettings};
use kobana_contract::{Caller, Choice, Scope};
use kobana_store::{Location, Store, demo, people};
use kobana_wire::{Method, Request as Call, Response};
use serde_json::Value;
use tower::ServiceExt as _;
use uuid::Uuid;

pub(crate) const JSON: &str = "application/json";

/// The API over the demo's rows.
pub(crate) struct World {
    pub(crate) store: Store,
    router: axum::Router,
    local: LocalApi,
}

/// An answer, its body read.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) json: Value,
}

impl Answer {
    /// What two readers see alike: a cursor is sealed anew each time.
    fn seen(&self) -> (StatusCode, &Value, &Value) {
        (self.status, &self.json["data"], &self.json["error"])
    }

    /// The answer, if it has this status.
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Self {
        assert_eq!(self.status.as_u16(), status, "{}", self.json);
        self
    }

    /// The `data` of an answer with this status.
    #[track_caller]
    pub(crate) fn data(self, status: u16) -> Value {
        self.expect(status).json["data"].clone()
    }

    /// The refusal with this status and code: its details.
    #[track_caller]
    pub(crate) fn refused(self, status: u16, code: &str) -> Value {
        let answer = self.expect(status);
        assert_eq!(answer.json["error"]["code"], code, "{}", answer.json);
        assert!(answer.json["error"]["message"].as_str().is_some_and(|message| !message.is_empty()));
        answer.json["error"]["details"].clone()
    }

    /// The fields named in a 400.
    #[track_caller]
    pub(crate) fn invalid_fields(self) -> Vec<String> {
        let details = self.refused(400, "validation_failed");
        details["field_errors"].as_object().unwrap().keys().cloned().collect()
    }
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::at(Location::Memory).await
    }

    /// The same world in another place.
    pub(crate) async fn at(location: Location) -> Self {
        Self::with(location, None).await
    }

    /// A world where somebody looks into extensions.
    pub(crate) async fn inspected(inspector: Arc<dyn Inspector>) -> Self {
        Self::with(Location::Memory, Some(inspector)).await
    }

    async fn with(location: Location, inspector: Option<Arc<dyn Inspector>>) -> Self {
        let store = Store::open(location).await.unwrap();
        demo::seed(&store).await.unwrap();
        let settings = Settings { inbox_domain: demo::INBOX_DOMAIN.to_owned() };
        let webhooks = WebhookSettings::default();
        let api = Api::with_extensions(store.clone(), settings, webhooks, inspector).await.unwrap();
        Self { store, router: api.router(), local: api.local() }
    }

    /// A person with all scopes, in the only workspace in reach, or with the choice open.
    pub(crate) async fn caller(&self, person: Uuid) -> Caller {
        let people::Standing { person: row, memberships } =
            people::standing(&self.store, person).await.unwrap().unwrap();
        let choice = match memberships.len() {
            0 => Choice::Nothing,
            1 => Choice::Picked(0),
            _ => Choice::Open,
        };
        Caller {
            person_id: row.id,
            person_name: row.name,
            person_email: row.email,
            organization_id: row.organization_id,
            organization_name: row.organization_name,
            credential_id: format!("test-{person}"),
            client: "tests".to_owned(),
            scopes: Scope::ALL.to_vec(),
            expires_at: None,
            memberships,
            choice,
        }
    }

    pub(crate) async fn ana(&self) -> Caller {
        self.caller(demo::persons::ANA).await
    }

    pub(crate) async fn gil(&self) -> Caller {
        self.caller(demo::persons::GIL).await
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let json = if bytes.is_empty() { Value::Null } else { serde_json::from_slice(&bytes).unwrap() };
        assert_eq!(parts.headers[header::CACHE_CONTROL], "no-store");
        Answer { status: parts.status, headers: parts.headers, json }
    }

    /// What is downloaded, byte for byte.
    pub(crate) async fn download(&self, caller: &Caller, path: &str) -> (HeaderMap, Vec<u8>) {
        let request = request(caller, "GET", path).body(Body::empty()).unwrap();
        let (parts, body) = self.router.clone().oneshot(request).await.unwrap().into_parts();
        assert_eq!(parts.status, StatusCode::OK, "{path}");
        let bytes = body.collect().await.unwrap().to_bytes().to_vec();
        assert_eq!(self.local(caller).call(call("GET", path, None)).await.unwrap().body, bytes, "{path}");
        (parts.headers, bytes)
    }

    /// Reads over HTTP and from this process, which are to see the same unless somebody works meanwhile.
    pub(crate) async fn get(&self, caller: &Caller, path: &str) -> Answer {
        let read = async || self.send(request(caller, "GET", path).body(Body::empty()).unwrap()).await;
        let answer = read().await;
        // A query that is no text cannot be asked for from here.
        if percent_encoding::percent_decode_str(path).decode_utf8().is_ok() {
            let local = self.local(caller).call(call("GET", path, None)).await.map(Answer::from).unwrap();
            if local.seen() != answer.seen() {
                assert_ne!(answer.seen(), read().await.seen(), "{path} from here: {local:?}");
            }
        }
        answer
    }

    /// The API as this process calls it.
    pub(crate) fn local(&self, caller: &Caller) -> Local {
        Local { api: self.local.clone(), caller: Arc::new(caller.clone()) }
    }

    pub(crate) async fn delete(&self, caller: &Caller, path: &str) -> Answer {
        self.send(request(caller, "DELETE", path).body(Body::empty()).unwrap()).await
    }

    pub(crate) async fn call(&self, caller: &Caller, method: &str, path: &str, body: &Value) -> Answer {
        self.raw(caller, method, path, &[(header::CONTENT_TYPE.as_str(), JSON)], body.to_string()).await
    }

    /// The same under an idempotency key.
    pub(crate) async fn keyed(&self, caller: &Caller, key: &str, method: &str, path: &str, body: &Value) -> Answer {
        let headers = [(header::CONTENT_TYPE.as_str(), JSON), ("x-idempotency-key", key)];
        self.raw(caller, method, path, &headers, body.to_string()).await
    }

    pub(crate) async fn raw(
        &self,
        caller: &Caller,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> Answer {
        let mut builder = request(caller, method, path);
        for (name, value) in headers {
            builder = builder.header(*name, *value);
        }
        self.send(builder.body(body.into()).unwrap()).await
    }
}

impl From<Response> for Answer {
    fn from(Response { status, body, .. }: Response) -> Self {
        let json = if body.is_empty() { Value::Null } else { serde_json::from_slice(&body).unwrap() };
        Self { status: StatusCode::from_u16(status).unwrap(), headers: HeaderMap::new(), json }
    }
}

/// A request as this process makes it.
pub(crate) fn call(method: &str, target: &str, body: Option<&Value>) -> Call {
    let method = match method {
        "GET" => Method::Get,
        "POST" => Method::Post,
        "PUT" => Method::Put,
        "PATCH" => Method::Patch,
        "DELETE" => Method::Delete,
        other => panic!("{other} is no method of an operation"),
    };
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    Call {
        method,
        path: path.to_owned(),
        query: form_urlencoded::parse(query.as_bytes()).into_owned().collect(),
        body: body.map(|body| body.to_string().into_bytes()),
        idempotency_key: None,
    }
}

pub(crate) fn request(caller: &Caller, method: &str, path: &str) -> http::request::Builder {
    Request::builder().method(method).uri(path).extension(Arc::new(caller.clone()))
}

/// The values of a member in every row of a list.
#[track_caller]
pub(crate) fn column(rows: &Value, name: &str) -> Vec<String> {
    rows.as_array().unwrap().iter().map(|row| row[name].as_str().unwrap().to_owned()).collect()
}

/// The id of the demo's e-mail with this number.
pub(crate) fn email_id(number: u32) -> String {
    format!("00000000-0000-7000-8000-{number:012x}")
}
