//! The API as this process calls it: a request of `kobana_wire` in, an answer out. No socket, no token, no second implementation.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http_body_util::BodyExt as _;
use kobana_contract::Caller;
use kobana_wire::{Failure, Method, Request, Response};
use tower::ServiceExt as _;

use crate::endpoint::{Prepare, Suggest};

/// A caller, and the API to call.
#[derive(Debug, Clone)]
pub struct Local {
    /// The router of `/api/v1`.
    pub router: Router,
    /// Who calls.
    pub caller: Arc<Caller>,
}

impl Local {
    /// Calls one operation.
    ///
    /// # Errors
    /// [`Failure::Internal`] where the request is none, or the answer breaks off; refusals of the API are answers.
    pub async fn call(&self, request: Request) -> Result<Response, Failure> {
        self.send(self.http_request(request)?).await
    }

    /// Asks an operation what it would act on ([`Prepare`]).
    ///
    /// # Errors
    /// As [`Local::call`].
    pub async fn prepare(&self, request: Request) -> Result<Response, Failure> {
        let mut request = self.http_request(request)?;
        request.extensions_mut().insert(Prepare);
        self.send(request).await
    }

    /// Asks a list to offer rows ([`Suggest`]).
    ///
    /// # Errors
    /// As [`Local::call`].
    pub async fn suggest(&self, request: Request, prefix: String) -> Result<Response, Failure> {
        let mut request = self.http_request(request)?;
        request.extensions_mut().insert(Suggest { prefix });
        self.send(request).await
    }

    async fn send(&self, request: http::Request<Body>) -> Result<Response, Failure> {
        let response = self.router.clone().oneshot(request).await.unwrap_or_else(|never| match never {});
        let (parts, body) = response.into_parts();
        let retry_after = parts.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
        let body = body.collect().await.map_err(|error| {
            tracing::error!(%error, "the API's answer broke off");
            Failure::Internal
        })?;
        Ok(Response { status: parts.status.as_u16(), body: body.to_bytes().into(), retry_after })
    }

    fn http_request(&self, request: Request) -> Result<http::Request<Body>, Failure> {
        let mut uri = request.path;
        if !request.query.is_empty() {
            uri.push('?');
            uri.push_str(&encode(&request.query));
        }
        let mut builder = http::Request::builder().method(verb(request.method)).uri(uri);
        if let Some(key) = request.idempotency_key {
            builder = builder.header("x-idempotency-key", key);
        }
        if request.body.is_some() {
            builder = builder.header(CONTENT_TYPE, "application/json");
        }
        let body = request.body.map_or_else(Body::empty, Body::from);
        builder.extension(Arc::clone(&self.caller)).body(body).map_err(|error| {
            // Whoever makes the request encodes every part of it; one that cannot be built is a fault of ours.
            tracing::error!(%error, "a call is no HTTP request");
            Failure::Internal
        })
    }
}

const fn verb(method: Method) -> http::Method {
    match method {
        Method::Get => http::Method::GET,
        Method::Post => http::Method::POST,
        Method::Put => http::Method::PUT,
        Method::Patch => http::Method::PATCH,
        Method::Delete => http::Method::DELETE,
    }
}

/// Writes query parameters as `application/x-www-form-urlencoded` does.
fn encode(query: &[(String, String)]) -> String {
    let mut out = form_urlencoded::Serializer::new(String::new());
    out.extend_pairs(query);
    out.finish()
}
