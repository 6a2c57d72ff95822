//! Client ID Metadata Documents (draft-ietf-oauth-client-id-metadata-document): a client's id is the address of a document
//! about it.
//!
//! The address comes from a stranger, so it is asked through [`kobana_egress`]: public addresses only, no redirect, five seconds,
//! 5 KiB. What was read is kept for as long as the answer says, within bounds; failures are not.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Method;
use http::header::{ACCEPT, AGE, CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderValue};
use kobana_egress::{Answer, Limits, Request};
use tokio::sync::Semaphore;
use url::Url;

use crate::client::{Client, Metadata};

/// The most that reading a document may cost (draft, "Maximum Response Size": 5 kilobytes).
const LIMITS: Limits = Limits { time: Duration::from_secs(5), bytes: 5 * 1024 };
/// The longest id of a client.
const LONGEST_ID: usize = 1_000;
/// How long a document is kept at least, so that one sign-in reads it once, and at most.
const KEPT: (Duration, Duration) = (Duration::from_secs(60), Duration::from_secs(24 * 60 * 60));
/// How long it is kept where the answer says nothing.
const KEPT_BY_DEFAULT: Duration = Duration::from_secs(60 * 60);
/// How many are kept.
const MOST: usize = 1_000;
/// How many are read at the same time.
const AT_ONCE: usize = 8;
/// What we call ourselves.
const USER_AGENT: &str = concat!("kobana-authorization/", env!("CARGO_PKG_VERSION"));

/// Reads documents.
pub(crate) struct Documents {
    client: kobana_egress::Client,
    allow_loopback: bool,
    slots: Semaphore,
    kept: Mutex<HashMap<String, (Instant, Client)>>,
}

/// Why there is no usable document, for the developer of the client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DocumentError {
    #[error("the client_id is no address that a document about a client may have")]
    Address,
    /// Why is for the log only: a stranger would learn what this server reaches.
    #[error("the document about the client cannot be fetched")]
    Unreachable(String),
    #[error("the document about the client is not answered with 200 and JSON of at most 5 KiB")]
    Answer,
    #[error("the document about the client names another client_id")]
    OtherId,
    #[error("the document about the client: {0}")]
    Metadata(&'static str),
}

/// Whether an id is meant to be the address of a document.
pub(crate) fn is_address(client_id: &str) -> bool {
    client_id.starts_with("https://") || client_id.starts_with("http://")
}

impl Documents {
    /// # Errors
    /// When the system's TLS cannot be set up.
    pub(crate) fn new(allow_loopback: bool) -> Result<Self, String> {
        let client = kobana_egress::Client::new(USER_AGENT, allow_loopback).map_err(|error| error.to_string())?;
        Ok(Self { client, allow_loopback, slots: Semaphore::new(AT_ONCE), kept: Mutex::default() })
    }

    /// The client that the document at this address is about.
    pub(crate) async fn find(&self, client_id: &str) -> Result<Client, DocumentError> {
        let host = check(client_id, self.allow_loopback)?;
        if let Some(client) = self.kept(client_id) {
            return Ok(client);
        }
        let _slot = self.slots.acquire().await.map_err(|error| DocumentError::Unreachable(error.to_string()))?;
        let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))]);
        let request = Request { method: Method::GET, url: client_id, headers, body: Bytes::new() };
        let answer = self.client.exchange(request, LIMITS).await;
        let answer = answer.map_err(|failure| DocumentError::Unreachable(failure.to_string()))?;
        let client = read(client_id, host, &answer)?;
        self.keep(client.clone(), lifetime(&answer.headers));
        Ok(client)
    }

    /// The client, if the document about it was read lately.
    pub(crate) fn kept(&self, client_id: &str) -> Option<Client> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(client_id).filter(|(until, _)| *until > Instant::now()).map(|(_, client)| client.clone())
    }

    fn keep(&self, client: Client, lifetime: Duration) {
        let now = Instant::now();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MOST {
            kept.retain(|_, (until, _)| *until > now);
        }
        // Whoever fills the table with documents of their own only has theirs read again.
        if kept.len() < MOST {
            kept.insert(client.id.clone(), (now + lifetime, client));
        }
    }
}

/// The host of an address that a document may have (draft, "Client Identifier"): https, with a path, without dot segments, fragment,
/// credentials or query, and written in the one form that a URL has, since it is compared letter by letter.
fn check(client_id: &str, allow_loopback: bool) -> Result<String, DocumentError> {
    let url = Url::parse(client_id).map_err(|_| DocumentError::Address)?;
    let formed = client_id.len() <= LONGEST_ID
        && url.as_str() == client_id
        && url.path().len() > 1
        && url.fragment().is_none()
        && url.query().is_none();
    if !formed || kobana_egress::check(client_id, allow_loopback).is_err() {
        return Err(DocumentError::Address);
    }
    let host = url.host_str().ok_or(DocumentError::Address)?;
    Ok(url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
}

fn read(client_id: &str, host: String, answer: &Answer) -> Result<Client, DocumentError> {
    if answer.status != 200 || !answer.whole || !is_json(&answer.headers) {
        return Err(DocumentError::Answer);
    }
    let metadata = Metadata::read(&answer.body).ok_or(DocumentError::Answer)?;
    if metadata.client_id.as_deref() != Some(client_id) {
        return Err(DocumentError::OtherId);
    }
    let checked = metadata.check().map_err(|(_, description)| DocumentError::Metadata(description))?;
    Ok(Client {
        id: client_id.to_owned(),
        name: checked.name,
        redirect_uris: checked.redirect_uris,
        refreshes: checked.refreshes,
        publisher: Some(host),
    })
}

/// `application/json`, or something more special that is JSON too.
fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
}

/// How long an answer is fresh (RFC 9111 §4.2.1), within our bounds.
fn lifetime(headers: &HeaderMap) -> Duration {
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok()).unwrap_or_default();
    let control = text(CACHE_CONTROL).to_ascii_lowercase();
    let directives: Vec<_> = control.split(',').map(str::trim).collect();
    if directives.iter().any(|directive| matches!(*directive, "no-store" | "no-cache" | "private")) {
        return KEPT.0;
    }
    let seconds =
        |name: &str| directives.iter().find_map(|directive| directive.strip_prefix(name)?.parse::<u64>().ok());
    let fresh = seconds("s-maxage=").or_else(|| seconds("max-age=")).map_or(KEPT_BY_DEFAULT, Duration::from_secs);
    let age = Duration::from_secs(text(AGE).parse().unwrap_or_default());
    fresh.saturating_sub(age).clamp(KEPT.0, KEPT.1)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const ID: &str = "https://client.example/oauth/metadata.json";

    fn answer(body: &Value) -> Answer {
        let headers =
            HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json; charset=utf-8"))]);
        Answer { status: 200, headers, body: body.to_string().into_bytes(), whole: true }
    }

    fn document() -> Value {
        json!({
            "client_id": ID,
            "client_name": "Example Client",
            "client_uri": "https://client.example",
            "redirect_uris": ["http://127.0.0.1:3000/callback", "http://localhost:3000/callback"],
            "grant_types": ["authorization_code"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
        })
    }

    #[test]
    fn the_address_of_a_document_has_one_form() {
        assert_eq!(check(ID, false), Ok("client.example".to_owned()));
        assert_eq!(check("https://client.example:8443/a", false), Ok("client.example:8443".to_owned()));
        assert_eq!(check("http://127.0.0.1:9/a", true), Ok("127.0.0.1:9".to_owned()));
        for id in [
            "https://client.example",
            "https://client.example/",
            "https://client.example/a/../b",
            "https://client.example/./b",
            "https://client.example/a#b",
            "https://client.example/a?b",
            "https://user@client.example/a",
            "https://CLIENT.example/a",
            "https://client.example:443/a",
            "http://client.example/a",
            "http://127.0.0.1:9/a",
            "https://127.0.0.1/a",
            "https://10.0.0.1/a",
            "https://169.254.169.254/latest",
            "https://localhost/a",
            "https://intranet/a",
            &format!("https://client.example/{}", "a".repeat(1_000)),
        ] {
            assert_eq!(check(id, false), Err(DocumentError::Address), "{id}");
        }
    }

    #[test]
    fn a_document_is_about_the_client_that_it_is_found_at() {
        let client = read(ID, "client.example".into(), &answer(&document())).unwrap();
        assert_eq!(
            (client.name.as_deref(), client.publisher.as_deref()),
            (Some("Example Client"), Some("client.example"))
        );
        let read = |answer: &Answer| read(ID, "client.example".into(), answer).unwrap_err();
        let with = |name: &str, value: Value| {
            let mut document = document();
            document[name] = value;
            answer(&document)
        };
        assert_eq!(read(&with("client_id", json!("https://client.example/other"))), DocumentError::OtherId);
        assert_eq!(read(&with("client_id", json!(null))), DocumentError::OtherId);
        for (name, value) in [
            ("token_endpoint_auth_method", json!("client_secret_post")),
            ("client_secret", json!("s")),
            ("redirect_uris", json!(["http://app.example/cb"])),
        ] {
            assert!(matches!(read(&with(name, value)), DocumentError::Metadata(_)), "{name}");
        }
    }

    #[test]
    fn what_is_no_document_is_not_read() {
        let good = answer(&document());
        let read = |answer: Answer| read(ID, "client.example".into(), &answer).unwrap_err();
        assert_eq!(read(Answer { status: 302, ..good.clone() }), DocumentError::Answer);
        assert_eq!(read(Answer { status: 404, ..good.clone() }), DocumentError::Answer);
        assert_eq!(read(Answer { whole: false, ..good.clone() }), DocumentError::Answer);
        assert_eq!(read(Answer { body: b"[]".to_vec(), ..good.clone() }), DocumentError::Answer);
        let html = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("text/html"))]);
        assert_eq!(read(Answer { headers: html, ..good.clone() }), DocumentError::Answer);
        assert_eq!(read(Answer { headers: HeaderMap::new(), ..good }), DocumentError::Answer);
    }

    #[test]
    fn a_document_is_kept_as_long_as_it_says_within_bounds() {
        let of = |control: &'static str, age: &'static str| {
            let pairs = [(CACHE_CONTROL, HeaderValue::from_static(control)), (AGE, HeaderValue::from_static(age))];
            lifetime(&HeaderMap::from_iter(pairs)).as_secs()
        };
        assert_eq!(lifetime(&HeaderMap::new()).as_secs(), 3_600);
        assert_eq!(of("public, max-age=600", "0"), 600);
        assert_eq!(of("max-age=600, s-maxage=1200", "200"), 1_000);
        assert_eq!(of("max-age=5", "0"), 60);
        assert_eq!(of("max-age=99999999", "0"), 86_400);
        assert_eq!(of("max-age=600, No-Store", "0"), 60);
    }
}
