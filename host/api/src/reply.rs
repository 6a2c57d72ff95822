//! What a handler answers.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use kobana_contract::Data;
use serde::Serialize;

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

impl<T: Serialize> IntoResponse for Reply<T> {
    fn into_response(self) -> Response {
        (self.status, Json(self.document)).into_response()
    }
}
