//! The API as this process calls it: a request of `kobana_wire` in, an answer out. No socket, no token, no second implementation: it
//! leads to the endpoints that the router leads to.

use std::any::Any;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::body::Body;
use axum::response::Response as HttpResponse;
use futures::FutureExt as _;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, HeaderName};
use http_body_util::BodyExt as _;
use kobana_contract::Caller;
use kobana_wire::{Failure, Method, Request, Response};

use crate::api::panic_error;
use crate::endpoint::{Asked, Purpose};
use crate::error::ApiError;
use crate::operations::{Found, Table};
use crate::reply::Written;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("x-idempotency-key");

/// Is told of each call, and of the status of its answer.
type Witness = Arc<dyn Fn(&Request, u16) + Send + Sync>;

/// The operations of `/api/v1`, for callers in this process.
#[derive(Clone)]
pub struct LocalApi {
    table: Arc<Table>,
    witness: Option<Witness>,
}

impl LocalApi {
    pub(crate) const fn new(table: Arc<Table>) -> Self {
        Self { table, witness: None }
    }

    /// The same operations; `witness` is told of each call once it is answered.
    #[must_use]
    pub fn witnessed(self, witness: impl Fn(&Request, u16) + Send + Sync + 'static) -> Self {
        Self { witness: Some(Arc::new(witness)), ..self }
    }
}

impl fmt::Debug for LocalApi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalApi").field("table", &self.table).finish_non_exhaustive()
    }
}

/// A caller, and the API to call.
#[derive(Debug, Clone)]
pub struct Local {
    /// The operations.
    pub api: LocalApi,
    /// Who calls.
    pub caller: Arc<Caller>,
}

impl Local {
    /// Calls one operation.
    ///
    /// # Errors
    /// [`Failure::Internal`] where the request is none, or the answer breaks off; refusals of the API are answers.
    pub async fn call(&self, request: Request) -> Result<Response, Failure> {
        self.send(request, Purpose::Act).await
    }

    /// Asks an operation what it would act on: 200 with `{data}`, or the refusal that the operation would give.
    ///
    /// # Errors
    /// As [`Local::call`].
    pub async fn prepare(&self, request: Request) -> Result<Response, Failure> {
        self.send(request, Purpose::Prepare).await
    }

    /// Asks a list to offer rows that complete what was typed: 200 with `{data: {values, total}}`, or the refusal that the list would
    /// give.
    ///
    /// # Errors
    /// As [`Local::call`].
    pub async fn suggest(&self, request: Request, prefix: String) -> Result<Response, Failure> {
        self.send(request, Purpose::Suggest(prefix)).await
    }

    async fn send(&self, mut request: Request, purpose: Purpose) -> Result<Response, Failure> {
        let Some(witness) = &self.api.witness else { return self.answer(&mut request, purpose).await };
        let mut sent = request.clone();
        let answer = self.answer(&mut sent, purpose).await;
        if let Ok(Response { status, .. }) = &answer {
            witness(&request, *status);
        }
        answer
    }

    /// Answers, and takes the body out of the request.
    async fn answer(&self, request: &mut Request, purpose: Purpose) -> Result<Response, Failure> {
        let headers = headers(request).ok_or_else(broken)?;
        let body = request.body.take().map_or_else(Body::empty, Body::from);
        let served = AssertUnwindSafe(self.serve(request, &headers, body, purpose)).catch_unwind();
        match served.await.unwrap_or_else(|panic| Err(panicked(panic))) {
            Ok(written) => response(written).await,
            Err(error) => Ok(refusal(&error)),
        }
    }

    async fn serve(
        &self,
        request: &Request,
        headers: &HeaderMap,
        body: Body,
        purpose: Purpose,
    ) -> Result<Written, ApiError> {
        let Found { endpoint, path } = self.api.table.find(method(request.method), &request.path)?;
        let query = encode(&request.query);
        let caller = Arc::clone(&self.caller);
        endpoint.serve(Asked { caller, path, query: &query, headers, body, purpose }).await
    }
}

fn panicked(panic: Box<dyn Any + Send>) -> ApiError {
    panic_error(panic.as_ref())
}

/// Whoever makes a request sees to it that it is one; another is a fault of ours.
fn broken() -> Failure {
    tracing::error!("a call is no HTTP request");
    Failure::Internal
}

/// The fields that the request would have over HTTP; none if it could not be sent there.
fn headers(request: &Request) -> Option<HeaderMap> {
    let mut headers = HeaderMap::new();
    if let Some(key) = &request.idempotency_key {
        headers.insert(IDEMPOTENCY_KEY, HeaderValue::from_str(key).ok()?);
    }
    if request.body.is_some() {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    let is_path = request.path.starts_with('/') && !request.path.contains(['?', '#']);
    is_path.then_some(headers)
}

const fn method(method: Method) -> kobana_contract::Method {
    match method {
        Method::Get => kobana_contract::Method::Get,
        Method::Post => kobana_contract::Method::Post,
        Method::Put => kobana_contract::Method::Put,
        Method::Patch => kobana_contract::Method::Patch,
        Method::Delete => kobana_contract::Method::Delete,
    }
}

/// Writes query parameters as `application/x-www-form-urlencoded` does.
fn encode(query: &[(String, String)]) -> String {
    let mut out = form_urlencoded::Serializer::new(String::new());
    out.extend_pairs(query);
    out.finish()
}

async fn response(written: Written) -> Result<Response, Failure> {
    if !written.is_file() {
        return Ok(Response { status: written.status.as_u16(), body: written.body, retry_after: None });
    }
    let (parts, body) = HttpResponse::from(written).into_parts();
    let body = body.collect().await.map_err(|error| {
        tracing::error!(%error, "the API's answer broke off");
        Failure::Internal
    })?;
    Ok(Response { status: parts.status.as_u16(), body: body.to_bytes().into(), retry_after: None })
}

fn refusal(error: &ApiError) -> Response {
    error.log();
    let body = serde_json::to_vec(&error.body()).unwrap_or_default();
    Response { status: error.status().as_u16(), body, retry_after: error.retry_after() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(path: &str, key: Option<&str>) -> Request {
        let idempotency_key = key.map(str::to_owned);
        Request { method: Method::Get, path: path.to_owned(), query: Vec::new(), body: None, idempotency_key }
    }

    #[test]
    fn what_could_not_be_sent_over_http_is_no_request() {
        assert!(headers(&request("/me", Some("key"))).is_some());
        for (path, key) in [("me", None), ("", None), ("/me?x=1", None), ("/me#x", None), ("/me", Some("a\nb"))] {
            assert!(headers(&request(path, key)).is_none(), "{path:?} {key:?}");
        }
    }

    #[test]
    fn a_query_is_encoded_once() {
        let pairs = [("q", "cobrança & co"), ("a b", "+")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(encode(&pairs), "q=cobran%C3%A7a+%26+co&a+b=%2B");
    }
}
