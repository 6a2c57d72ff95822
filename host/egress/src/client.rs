//! One request, one answer.

use std::error::Error;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method};
use reqwest::{ClientBuilder, Response, redirect, retry};
use tokio::time::{Instant, timeout_at};

use crate::address;
use crate::resolver::Resolver;

/// What an exchange may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// From the name's resolution to the end of the answer.
    pub time: Duration,
    /// The most bytes of the answer's body that are read and kept.
    pub bytes: usize,
}

/// A request to be sent.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// The method.
    pub method: Method,
    /// The address, as whoever named it wrote it.
    pub url: &'a str,
    /// The header fields.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status; redirects are answers like others.
    pub status: u16,
    /// The header fields.
    pub headers: HeaderMap,
    /// The body, or its beginning.
    pub body: Vec<u8>,
    /// Whether that is all of it: neither too large, nor too slow, nor broken off.
    pub whole: bool,
}

/// Why there is no answer, in words for whoever named the address. They do not repeat it, since it may hold a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The address may not be asked.
    #[error("this installation sends only to public https addresses")]
    NotAllowed,
    /// Nothing came in time.
    #[error("no answer within {} seconds", .0.as_secs())]
    TimedOut(Duration),
    /// The exchange failed.
    #[error("{0}")]
    Failed(String),
}

/// Sends requests. Clones share what it is made of.
#[derive(Debug, Clone)]
pub struct Client {
    inner: reqwest::Client,
    allow_loopback: bool,
}

impl Client {
    /// Makes a client that calls itself `user_agent`; `allow_loopback` lets it reach this machine, by http too.
    ///
    /// # Errors
    /// When the system's TLS cannot be set up.
    pub fn new(user_agent: &'static str, allow_loopback: bool) -> Result<Self, reqwest::Error> {
        // Another part of the process may have chosen one, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let inner = match builder(user_agent, allow_loopback).build() {
            Ok(client) => client,
            Err(error) => {
                // A container without certificates can still send to itself, and says why it cannot send elsewhere.
                let error = root(&error);
                tracing::warn!(error, user_agent, "no https address can be reached: there are no certificates");
                builder(user_agent, allow_loopback).tls_certs_only([]).build()?
            }
        };
        Ok(Self { inner, allow_loopback })
    }

    /// Sends a request. Any answer is one, whatever its status.
    ///
    /// # Errors
    /// [`Failure`] says why there is none.
    pub async fn exchange(&self, request: Request<'_>, limits: Limits) -> Result<Answer, Failure> {
        let deadline = Instant::now() + limits.time;
        if address::check(request.url, self.allow_loopback).is_err() {
            return Err(Failure::NotAllowed);
        }
        let failed = |error: reqwest::Error| Failure::Failed(root(&error));
        let sent = self.inner.request(request.method, request.url).headers(request.headers).body(request.body).send();
        match timeout_at(deadline, sent).await {
            Ok(Ok(response)) => Ok(read(response, deadline, limits.bytes).await),
            Ok(Err(error)) => Err(failed(error)),
            Err(_) => Err(Failure::TimedOut(limits.time)),
        }
    }
}

fn builder(user_agent: &str, allow_loopback: bool) -> ClientBuilder {
    reqwest::Client::builder()
        .user_agent(user_agent)
        .dns_resolver(Resolver { allow_loopback })
        .no_proxy()
        .redirect(redirect::Policy::none())
        .referer(false)
        // Whoever sends counts attempts; there are no hidden ones.
        .retry(retry::never())
        // A connection that is kept would outlive the check of its address, and may be dead when it is used again.
        .pool_max_idle_per_host(0)
}

/// Reads as much of the body as comes in time and fits.
async fn read(mut response: Response, deadline: Instant, most: usize) -> Answer {
    let (status, headers) = (response.status().as_u16(), std::mem::take(response.headers_mut()));
    let mut body = Vec::new();
    let whole = loop {
        match timeout_at(deadline, response.chunk()).await {
            Ok(Ok(Some(chunk))) => {
                let room = most.saturating_sub(body.len());
                body.extend(chunk.iter().take(room));
                if chunk.len() > room {
                    break false;
                }
            }
            Ok(Ok(None)) => break true,
            Ok(Err(_)) | Err(_) => break false,
        }
    };
    Answer { status, headers, body, whole }
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
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;

    const LIMITS: Limits = Limits { time: Duration::from_secs(30), bytes: 16 };

    fn get(url: &str) -> Request<'_> {
        Request { method: Method::GET, url, headers: HeaderMap::new(), body: Bytes::new() }
    }

    #[tokio::test]
    async fn the_client_itself_connects_to_no_name_of_this_machine() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://localhost:{}/", listener.local_addr().unwrap().port());
        // Past the check of the address, which knows this name.
        let sent = Client::new("test", false).unwrap().inner.post(url).send();
        let error = tokio::select! {
            error = sent => root(&error.unwrap_err()),
            _ = listener.accept() => panic!("it connected"),
        };
        assert_eq!(error, "the name of the host resolves to an address that is not public");
    }

    /// What the client makes of an answer with this body and this announced length.
    async fn exchange(body: &'static str, announced: usize) -> Answer {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let _ = stream.read(&mut [0; 1024]).await.unwrap();
            let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {announced}\r\n\r\n{body}");
            stream.write_all(answer.as_bytes()).await.unwrap();
        });
        Client::new("test", true).unwrap().exchange(get(&url), LIMITS).await.unwrap()
    }

    #[tokio::test]
    async fn an_answer_is_whole_or_said_not_to_be() {
        let fits = exchange("0123456789abcdef", 16).await;
        assert!(fits.whole && fits.body == b"0123456789abcdef", "{fits:?}");
        let large = exchange("0123456789abcdefg", 17).await;
        assert!(!large.whole && large.body == b"0123456789abcdef", "{large:?}");
        let broken = exchange("0123", 16).await;
        assert!(!broken.whole && broken.body == b"0123", "{broken:?}");
    }

    #[tokio::test]
    async fn an_address_that_may_not_be_asked_is_not() {
        let refused = Client::new("test", true).unwrap().exchange(get("http://10.0.0.1/"), LIMITS).await;
        assert_eq!(refused, Err(Failure::NotAllowed));
    }
}
