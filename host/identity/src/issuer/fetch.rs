//! Fetches an issuer's metadata and keys. Its address is the operator's choice, so it may well be on a private network; what
//! it answers is bounded in size and time nevertheless.

use std::error::Error;
use std::time::Duration;

use jsonwebtoken::jwk::JwkSet;
use kobana_egress::is_loopback;
use reqwest::{Client, redirect};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::time::timeout;
use url::Url;

/// Bytes of a document.
const LARGEST: usize = 512 * 1_024;
/// Until the keys are there, with all that is asked for before.
const TIME: Duration = Duration::from_secs(5);

/// Why an issuer's keys cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// An address is neither https nor on this machine.
    #[error("{0}: expected an https URL; plain http is for loopback addresses only")]
    NotAllowed(String),
    /// Nothing came, or something that is no answer.
    #[error("{url}: {cause}")]
    Failed {
        /// What was asked.
        url: String,
        /// What went wrong.
        cause: String,
    },
    /// It calls itself something else (RFC 8414 §3.3).
    #[error("it calls itself {actual}, not {expected}")]
    Mismatch {
        /// What is configured.
        expected: String,
        /// What its metadata says.
        actual: String,
    },
}

impl FetchError {
    /// Whether the same may succeed later.
    #[must_use]
    pub const fn is_temporary(&self) -> bool {
        matches!(self, Self::Failed { .. })
    }
}

/// Its metadata, as far as it is needed (RFC 8414 §2, OpenID Connect Discovery §3).
#[derive(Deserialize)]
struct Metadata {
    issuer: String,
    jwks_uri: String,
}

/// Fetches from one issuer.
pub(super) struct Fetcher {
    client: Client,
    issuer: String,
}

impl Fetcher {
    pub(super) fn new(issuer: &str) -> Result<Self, FetchError> {
        allowed(issuer)?;
        // Another part of the process may have chosen one, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .user_agent("Kobana-Identity/1")
            .redirect(redirect::Policy::none())
            .referer(false)
            .build()
            .map_err(|error| failed(issuer, &error))?;
        Ok(Self { client, issuer: issuer.to_owned() })
    }

    /// The keys that the issuer publishes now.
    pub(super) async fn keys(&self) -> Result<JwkSet, FetchError> {
        let late = |_| FetchError::Failed {
            url: self.issuer.clone(),
            cause: format!("no answer within {} seconds", TIME.as_secs()),
        };
        timeout(TIME, self.fetch()).await.map_err(late)?
    }

    async fn fetch(&self) -> Result<JwkSet, FetchError> {
        let Metadata { issuer, jwks_uri } = self.metadata().await?;
        if issuer != self.issuer {
            return Err(FetchError::Mismatch { expected: self.issuer.clone(), actual: issuer });
        }
        allowed(&jwks_uri)?;
        self.get(&jwks_uri).await
    }

    /// OpenID's discovery first, then that of OAuth, which puts its path elsewhere.
    async fn metadata(&self) -> Result<Metadata, FetchError> {
        let openid = format!("{}/.well-known/openid-configuration", self.issuer.trim_end_matches('/'));
        match self.get(&openid).await {
            Ok(metadata) => Ok(metadata),
            Err(first) => match oauth_metadata(&self.issuer) {
                // What is said is what went wrong first: the second is a guess.
                Some(url) => self.get(&url).await.map_err(|_| first),
                None => Err(first),
            },
        }
    }

    async fn get<T: DeserializeOwned>(&self, url: &str) -> Result<T, FetchError> {
        let wrong = |cause: String| FetchError::Failed { url: url.to_owned(), cause };
        let mut response = self.client.get(url).send().await.map_err(|error| failed(url, &error))?;
        if response.status() != reqwest::StatusCode::OK {
            return Err(wrong(format!("answered {}", response.status())));
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| failed(url, &error))? {
            if body.len() + chunk.len() > LARGEST {
                return Err(wrong(format!("its answer has more than {LARGEST} bytes")));
            }
            body.extend_from_slice(&chunk);
        }
        serde_json::from_slice(&body).map_err(|error| wrong(format!("its answer is not what was expected: {error}")))
    }
}

/// RFC 8414 §3.1: the well-known part stands between host and path.
fn oauth_metadata(issuer: &str) -> Option<String> {
    let url = Url::parse(issuer).ok()?;
    let path = url.path().trim_end_matches('/');
    Some(format!("{}/.well-known/oauth-authorization-server{path}", url.origin().ascii_serialization()))
}

fn allowed(text: &str) -> Result<(), FetchError> {
    let refused = || FetchError::NotAllowed(text.to_owned());
    let url = Url::parse(text).map_err(|_| refused())?;
    match url.scheme() {
        "https" => Ok(()),
        "http" if is_loopback(&url) => Ok(()),
        _ => Err(refused()),
    }
}

/// The cause at the bottom of an error says the most.
fn failed(url: &str, error: &reqwest::Error) -> FetchError {
    let mut cause: &dyn Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    FetchError::Failed { url: url.to_owned(), cause: cause.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_metadata_of_oauth_stands_between_host_and_path() {
        // RFC 8414 §3.1.
        let with_path = oauth_metadata("https://example.com/issuer1").unwrap();
        assert_eq!(with_path, "https://example.com/.well-known/oauth-authorization-server/issuer1");
        let without = oauth_metadata("https://example.com").unwrap();
        assert_eq!(without, "https://example.com/.well-known/oauth-authorization-server");
    }

    #[test]
    fn plain_http_is_for_this_machine() {
        for good in ["https://id.example.com", "http://127.0.0.1:9000", "http://localhost/realm", "http://[::1]:1"] {
            assert_eq!(allowed(good), Ok(()), "{good}");
        }
        for bad in ["http://id.example.com", "http://10.0.0.1", "ftp://127.0.0.1", "id.example.com", ""] {
            assert!(allowed(bad).is_err(), "{bad}");
        }
    }
}
