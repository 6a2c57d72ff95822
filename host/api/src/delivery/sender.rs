//! Sending one request to the address of a webhook, within five seconds, and keeping 64 KiB of the answer. Where it may go
//! is the rule of [`kobana_egress`].

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method};
use kobana_egress::{Answer, Client, Failure, Limits, Request};

/// The most that an attempt may cost.
const LIMITS: Limits = Limits { time: Duration::from_secs(5), bytes: 64 * 1024 };
/// What we call ourselves.
const USER_AGENT: &str = concat!("kobana-webhooks/", env!("CARGO_PKG_VERSION"));

/// Sends requests.
#[derive(Debug, Clone)]
pub(super) struct Sender(Client);

impl Sender {
    /// # Errors
    /// When the system's TLS cannot be set up.
    pub(super) fn new(allow_loopback: bool) -> Result<Self, reqwest::Error> {
        Client::new(USER_AGENT, allow_loopback).map(Self)
    }

    /// Sends an event. Any answer is one, whatever its status; the body is only kept to be looked at.
    ///
    /// # Errors
    /// Why there is no answer, in words for whoever set up the webhook.
    pub(super) async fn send(&self, url: &str, headers: HeaderMap, body: Bytes) -> Result<Answer, String> {
        let request = Request { method: Method::POST, url, headers, body };
        self.0.exchange(request, LIMITS).await.map_err(|failure| match failure {
            Failure::TimedOut(_) => "no answer within five seconds".to_owned(),
            other => other.to_string(),
        })
    }
}
