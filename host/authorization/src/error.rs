//! Errors as the RFCs write them.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, HeaderValue, PRAGMA, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, StatusCode};
use serde_json::json;

/// The code of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    /// RFC 6749 §4.1.2.1.
    AccessDenied,
    /// RFC 6749 §5.2.
    InvalidClient,
    /// RFC 7591 §3.2.2.
    InvalidClientMetadata,
    /// RFC 6749 §5.2.
    InvalidGrant,
    /// RFC 7591 §3.2.2.
    InvalidRedirectUri,
    /// RFC 6749 §4.1.2.1, §5.2.
    InvalidRequest,
    /// RFC 6749 §4.1.2.1, §5.2.
    InvalidScope,
    /// RFC 8707 §2.
    InvalidTarget,
    /// RFC 6749 §4.1.2.1; too many requests are answered with it too.
    TemporarilyUnavailable,
    /// RFC 6749 §5.2.
    UnsupportedGrantType,
    /// RFC 6749 §4.1.2.1.
    UnsupportedResponseType,
}

impl Code {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::AccessDenied => "access_denied",
            Self::InvalidClient => "invalid_client",
            Self::InvalidClientMetadata => "invalid_client_metadata",
            Self::InvalidGrant => "invalid_grant",
            Self::InvalidRedirectUri => "invalid_redirect_uri",
            Self::InvalidRequest => "invalid_request",
            Self::InvalidScope => "invalid_scope",
            Self::InvalidTarget => "invalid_target",
            Self::TemporarilyUnavailable => "temporarily_unavailable",
            Self::UnsupportedGrantType => "unsupported_grant_type",
            Self::UnsupportedResponseType => "unsupported_response_type",
        }
    }
}

/// An error of an endpoint that programs talk to (RFC 6749 §5.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OAuthError {
    pub(crate) code: Code,
    /// For the developer of the client: printable ASCII without `"` and `\`, and nothing that the client sent.
    pub(crate) description: &'static str,
    status: StatusCode,
    /// Whether the client tried a way to prove itself that there is not.
    challenge: bool,
    /// Seconds to wait.
    retry_after: Option<u64>,
}

impl OAuthError {
    pub(crate) const fn new(code: Code, description: &'static str) -> Self {
        Self { code, description, status: StatusCode::BAD_REQUEST, challenge: false, retry_after: None }
    }

    /// A client that sent an `Authorization` field is told of that scheme (RFC 6749 §5.2).
    pub(crate) const fn secret_refused() -> Self {
        Self {
            status: StatusCode::UNAUTHORIZED,
            challenge: true,
            ..Self::new(Code::InvalidClient, "clients are public here and prove themselves by PKCE alone")
        }
    }

    /// Something that the client cannot help.
    pub(crate) fn internal(error: &dyn std::fmt::Display) -> Self {
        tracing::error!(%error, "the authorization server cannot answer");
        Self {
            status: StatusCode::SERVICE_UNAVAILABLE,
            retry_after: Some(1),
            ..Self::new(Code::TemporarilyUnavailable, "the server cannot answer now")
        }
    }

    pub(crate) const fn too_many(retry_after: u64) -> Self {
        Self {
            status: StatusCode::TOO_MANY_REQUESTS,
            retry_after: Some(retry_after),
            ..Self::new(Code::TemporarilyUnavailable, "too many requests from this address")
        }
    }

    pub(crate) const fn with_status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }
}

impl IntoResponse for OAuthError {
    fn into_response(self) -> Response {
        let body = json!({ "error": self.code.as_str(), "error_description": self.description });
        let mut response = (self.status, no_store(), Json(body)).into_response();
        let headers = response.headers_mut();
        if self.challenge {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Basic realm=\"oauth\""));
        }
        if let Some(seconds) = self.retry_after {
            headers.insert(RETRY_AFTER, seconds.into());
        }
        response
    }
}

/// What every answer about tokens carries (RFC 6749 §5.1).
pub(crate) fn no_store() -> HeaderMap {
    let pairs = [(CACHE_CONTROL, HeaderValue::from_static("no-store")), (PRAGMA, HeaderValue::from_static("no-cache"))];
    HeaderMap::from_iter(pairs)
}
