//! The API's own description, for whoever asks: it says what is public, and nothing of what is kept here.

use std::sync::LazyLock;

use axum::Router;
use axum::body::Bytes;
use axum::middleware::map_response;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use http::{HeaderValue, header};
use kobana_contract::openapi;

use crate::api::no_store;
use crate::error::ApiError;

/// Made once for the process; every answer is these bytes.
static DOCUMENT: LazyLock<Bytes> = LazyLock::new(|| openapi::document().to_string().into());

/// The route of the OpenAPI document, with its path below `/api/v1`. It asks for no caller.
pub fn document() -> Router {
    Router::new()
        .route(openapi::PATH, get(serve))
        .method_not_allowed_fallback(async || ApiError::MethodNotAllowed)
        .layer(map_response(no_store))
}

async fn serve() -> Response {
    let mut response = DOCUMENT.clone().into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
