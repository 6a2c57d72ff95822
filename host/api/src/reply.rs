//! What a handler answers.

use axum::body::Body;
use axum::response::Response;
use http::{HeaderValue, StatusCode, header};
use kobana_contract::{Data, Nothing};
use serde::Serialize;

use crate::error::ApiError;

/// A status of success with the document that goes with it.
pub(crate) struct Reply<T> {
    status: StatusCode,
    document: T,
}

impl<T> Reply<T> {
    /// 200.
    pub(crate) const fn ok(document: T) -> Self {
        Self { status: StatusCode::OK, document }
    }

    /// 201.
    pub(crate) const fn created(document: T) -> Self {
        Self { status: StatusCode::CREATED, document }
    }

    /// The same status with another document.
    pub(crate) fn map<U>(self, change: impl FnOnce(T) -> U) -> Reply<U> {
        Reply { status: self.status, document: change(self.document) }
    }

    /// The same status, the document as `{data}`.
    pub(crate) fn data<U>(self, show: impl FnOnce(T) -> U) -> Reply<Data<U>> {
        self.map(|document| Data { data: show(document) })
    }
}

impl Reply<Nothing> {
    /// 204.
    pub(crate) const fn no_content() -> Self {
        Self { status: StatusCode::NO_CONTENT, document: Nothing {} }
    }
}

impl<T: Serialize> Reply<T> {
    /// Writes the document down.
    ///
    /// # Errors
    /// When the document is no JSON, which is our own fault.
    pub(crate) fn write(self) -> Result<Written, ApiError> {
        let body = match self.status {
            StatusCode::NO_CONTENT => Vec::new(),
            _ => serde_json::to_vec(&self.document).map_err(ApiError::internal)?,
        };
        Ok(Written::json(self.status, body))
    }
}

/// An answer as it goes out: a status, and a JSON document or nothing.
pub(crate) struct Written {
    pub(crate) status: StatusCode,
    pub(crate) body: Vec<u8>,
}

impl Written {
    /// A JSON document, or nothing if it is empty.
    pub(crate) const fn json(status: StatusCode, body: Vec<u8>) -> Self {
        Self { status, body }
    }
}

impl From<Written> for Response {
    fn from(Written { status, body }: Written) -> Self {
        let is_empty = body.is_empty();
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = status;
        if !is_empty {
            let json = HeaderValue::from_static("application/json");
            response.headers_mut().insert(header::CONTENT_TYPE, json);
        }
        response
    }
}
