//! Answers of the host itself, for when there is none of a guest. They say nothing about what happened inside.

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use http::{Response, StatusCode};
use http_body_util::Full;

/// A whole answer.
pub(crate) type Answer = Response<Full<Bytes>>;

/// 503: no instance became free in time.
pub(crate) fn busy() -> Answer {
    let body = r#"{"error":{"code":"unavailable","message":"The server is busy. Try again in a second."}}"#;
    with(json(StatusCode::SERVICE_UNAVAILABLE, body), RETRY_AFTER, "1")
}

/// 500: the guest broke, or ran out of time.
pub(crate) fn broken() -> Answer {
    let body = r#"{"jsonrpc":"2.0","error":{"code":-32603,"message":"Internal error"}}"#;
    json(StatusCode::INTERNAL_SERVER_ERROR, body)
}

/// 408: the client did not send its body in time.
pub(crate) fn too_slow() -> Answer {
    let body = r#"{"error":{"code":"request_timeout","message":"The request body did not arrive in time."}}"#;
    with(json(StatusCode::REQUEST_TIMEOUT, body), CONNECTION, "close")
}

/// 400: the request breaks the rules of HTTP; what follows on its connection is not to be trusted.
pub(crate) fn malformed(message: &str) -> Answer {
    let body = format!(r#"{{"error":{{"code":"validation_failed","message":"{message}"}}}}"#);
    with(json(StatusCode::BAD_REQUEST, body), CONNECTION, "close")
}

fn json(status: StatusCode, body: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Full::new(body.into()));
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

fn with(mut answer: Answer, name: http::HeaderName, value: &'static str) -> Answer {
    answer.headers_mut().insert(name, HeaderValue::from_static(value));
    answer
}
