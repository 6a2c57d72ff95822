//! Sending one request to the address of a webhook.
//!
//! Whoever sets up a webhook makes this server send something somewhere, so the request goes to public addresses only
//! ([`Resolver`]), through no proxy that would resolve names for itself, follows no redirect, and takes no more than five
//! seconds and 64 KiB of answer.

use std::error::Error;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use reqwest::{Client, ClientBuilder, Response, redirect, retry};
use tokio::time::{Instant, timeout_at};

use super::resolver::Resolver;
use crate::egress;

/// How long an attempt may take, from the name's resolution to the end of the answer.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The most bytes of an answer that are read and kept.
const LARGEST_ANSWER: usize = 64 * 1024;
/// What we call ourselves.
const USER_AGENT: &str = concat!("kobana-webhooks/", env!("CARGO_PKG_VERSION"));

/// Sends requests.
#[derive(Debug, Clone)]
pub(super) struct Sender {
    client: Client,
    allow_loopback: bool,
}

/// A request to be sent.
pub(super) struct Request<'a> {
    pub(super) url: &'a str,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// What came back.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    /// The body, or its beginning.
    pub(super) body: Vec<u8>,
}

impl Sender {
    /// # Errors
    /// When the system's TLS cannot be set up.
    pub(super) fn new(allow_loopback: bool) -> Result<Self, reqwest::Error> {
        // Another part of the process may have chosen one, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = match builder(allow_loopback).build() {
            Ok(client) => client,
            Err(error) => {
                // A container without certificates can still send to itself, and says why it cannot send elsewhere.
                tracing::warn!(error = root(&error), "no https webhook can be reached: there are no certificates");
                builder(allow_loopback).tls_certs_only([]).build()?
            }
        };
        Ok(Self { client, allow_loopback })
    }

    /// Sends a request. Any answer is one, whatever its status.
    ///
    /// # Errors
    /// Why there is no answer, in words for whoever set up the webhook.
    pub(super) async fn send(&self, request: Request<'_>) -> Result<Answer, String> {
        let deadline = Instant::now() + TIMEOUT;
        if egress::check(request.url, self.allow_loopback).is_err() {
            return Err("this installation sends only to public https addresses".to_owned());
        }
        let sent = self.client.post(request.url).headers(request.headers).body(request.body).send();
        match timeout_at(deadline, sent).await {
            Ok(Ok(response)) => Ok(read(response, deadline).await),
            Ok(Err(error)) => Err(root(&error)),
            Err(_) => Err("no answer within five seconds".to_owned()),
        }
    }
}

fn builder(allow_loopback: bool) -> ClientBuilder {
    Client::builder()
        .user_agent(USER_AGENT)
        .dns_resolver(Resolver { allow_loopback })
        .no_proxy()
        .redirect(redirect::Policy::none())
        .referer(false)
        // Our own attempts are counted and written down; there are no others.
        .retry(retry::never())
        // A connection that is kept would outlive the check of its address, and may be dead when it is used again.
        .pool_max_idle_per_host(0)
}

/// Reads as much of the body as comes in time. The status says whether the event was taken; the body is only kept to be
/// looked at.
async fn read(mut response: Response, deadline: Instant) -> Answer {
    let (status, headers) = (response.status().as_u16(), std::mem::take(response.headers_mut()));
    let mut body = Vec::new();
    while let Ok(Ok(Some(chunk))) = timeout_at(deadline, response.chunk()).await {
        let room = LARGEST_ANSWER.saturating_sub(body.len());
        body.extend(chunk.iter().take(room));
        if body.len() >= LARGEST_ANSWER {
            break;
        }
    }
    Answer { status, headers, body }
}

/// The cause at the bottom of an error: the others repeat the address, which may hold something secret.
fn root(error: &reqwest::Error) -> String {
    let mut cause: &dyn Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    if std::ptr::addr_eq(cause, error) { "the request could not be made".to_owned() } else { cause.to_string() }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn the_client_itself_connects_to_no_name_of_this_machine() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://localhost:{}/", listener.local_addr().unwrap().port());
        // Past the check of the address, which knows this name.
        let sent = Sender::new(false).unwrap().client.post(url).send();
        let error = tokio::select! {
            error = sent => root(&error.unwrap_err()),
            _ = listener.accept() => panic!("it connected"),
        };
        assert_eq!(error, "the name of the host resolves to an address that is not public");
    }
}
