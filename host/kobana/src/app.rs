//! Which part of the server a request is for.

use std::net::Ipv4Addr;
use std::time::Instant;

use axum::Router;
use axum::body::Body as RestBody;
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HOST, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use kobana_contract::openapi::BASE;
use kobana_store::Store;
use tower::ServiceExt as _;
use tracing::Instrument as _;
use uuid::Uuid;

use crate::component::Runtime;
use crate::listener::{Answers, Connected};
use crate::login::Pages;

/// The body of an answer.
pub(crate) type Body = Either<Full<Bytes>, RestBody>;

/// Everything that answers.
pub(crate) struct App {
    /// The component, which answers whatever nobody else does.
    pub(crate) runtime: Runtime,
    /// The REST API, with its paths in full.
    pub(crate) rest: Router,
    /// The embedded authorization server, where it is the one that issues tokens.
    pub(crate) login: Option<Pages>,
    /// The database, to ask whether it is well.
    pub(crate) store: Store,
    /// The path of the MCP endpoint.
    pub(crate) endpoint: String,
}

impl Answers for App {
    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        let started = Instant::now();
        // Paths hold ids only; a query may hold what somebody searches for in mail, and is left out.
        let (method, path) = (request.method(), request.uri().path());
        let span = tracing::info_span!("request", id = %Uuid::now_v7(), %method, path);
        let answered = async {
            let response = self.route(request).await;
            let (status, milliseconds) = (response.status().as_u16(), started.elapsed().as_secs_f64() * 1_000.0);
            match status {
                500.. => tracing::warn!(status, milliseconds, "answered"),
                _ => tracing::debug!(status, milliseconds, "answered"),
            }
            response
        };
        answered.instrument(span).await
    }
}

impl App {
    async fn route(&self, request: Request<Incoming>) -> Response<Body> {
        let path = request.uri().path();
        match path {
            "/healthz" => probe(request.method(), true),
            "/readyz" => probe(request.method(), self.is_ready().await),
            _ if path.strip_prefix(BASE).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')) => {
                let answer = self.rest.clone().oneshot(request.map(RestBody::new)).await;
                answer.unwrap_or_else(|never| match never {}).map(Either::Right)
            }
            _ => match &self.login {
                Some(pages) if kobana_authorization::is_ours(path) => sign_in(pages, request).await,
                _ => self.runtime.handle(request).await.map(Either::Left),
            },
        }
    }

    /// Sends a real request through the component, which must ask for a token, and asks the database.
    pub(crate) async fn is_ready(&self) -> bool {
        let request = Request::post(&self.endpoint).header(HOST, "localhost").body(Full::<Bytes>::default());
        let Ok(request) = request else { return false };
        let gateway = self.runtime.handle(request).await.status() == StatusCode::UNAUTHORIZED;
        let database = self.store.ping().await;
        if let Err(error) = &database {
            tracing::warn!(%error, "the database does not answer");
        }
        gateway && database.is_ok()
    }
}

/// Has the embedded authorization server answer, who is told where the request came from.
async fn sign_in(pages: &Pages, mut request: Request<Incoming>) -> Response<Body> {
    let connected = request.extensions().get::<Connected>().map_or(Ipv4Addr::UNSPECIFIED.into(), |peer| peer.0.ip());
    let peer = pages.proxies.peer(connected, request.headers());
    request.extensions_mut().insert(peer);
    let answer = pages.router.clone().oneshot(request.map(RestBody::new)).await;
    answer.unwrap_or_else(|never| match never {}).map(Either::Right)
}

fn probe(method: &Method, well: bool) -> Response<Body> {
    let (status, body) = match (method == Method::GET || method == Method::HEAD, well) {
        (false, _) => (StatusCode::METHOD_NOT_ALLOWED, ""),
        (true, true) => (StatusCode::OK, "{\"status\":\"ok\"}\n"),
        (true, false) => (StatusCode::SERVICE_UNAVAILABLE, "{\"status\":\"unavailable\"}\n"),
    };
    let mut response = Response::new(Either::Left(Full::from(body)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    match status {
        StatusCode::METHOD_NOT_ALLOWED => headers.insert(http::header::ALLOW, HeaderValue::from_static("GET, HEAD")),
        _ => headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json")),
    };
    response
}
