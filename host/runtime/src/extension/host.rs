//! The host side of `kobana:extension`: from the generated types to the embedder's and back.

use std::sync::Arc;

use tokio::task::JoinHandle;
use tracing::Instrument;
use wasmtime::Result;

use super::api::{ApiFailure, Level, Request, Response, Who};
use super::bindings::kobana::extension::{api as wit, log, types};
use super::state::State;
use crate::dispatch::Method;

impl types::Host for State {}

impl wit::Host for State {
    async fn call(&mut self, request: wit::Request) -> Result<Result<wit::Response, wit::Failure>> {
        self.called_api(request.body.as_ref().map_or(0, Vec::len))?;
        let api = Arc::clone(&self.api);
        let request = Request::from(request);
        let call = async move { api.call(request).await }.instrument(self.span.clone());
        let mut call = Aborting(self.outside.spawn(call));
        // It ends without an answer when it panics, or when the server goes down.
        let answer = (&mut call.0).await.unwrap_or(Err(ApiFailure::Internal));
        Ok(answer.map(wit::Response::from).map_err(wit::Failure::from))
    }

    fn who(&mut self) -> Result<Option<wit::Caller>> {
        self.check()?;
        Ok(self.api.who().map(wit::Caller::from))
    }
}

impl log::Host for State {
    fn write(&mut self, level: log::Level, message: String) -> Result<()> {
        self.check()?;
        let level = match level {
            log::Level::Debug => Level::Debug,
            log::Level::Info => Level::Info,
            log::Level::Warn => Level::Warn,
            log::Level::Error => Level::Error,
        };
        Ok(self.span.in_scope(|| self.journal.write(level, &message))?)
    }
}

/// A task that ends when nobody waits for it any longer.
pub(super) struct Aborting<T>(pub(super) JoinHandle<T>);

impl<T> Drop for Aborting<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl From<wit::Request> for Request {
    fn from(request: wit::Request) -> Self {
        let wit::Request { method, path, query, body, idempotency_key } = request;
        let method = match method {
            wit::Method::Get => Method::Get,
            wit::Method::Post => Method::Post,
            wit::Method::Put => Method::Put,
            wit::Method::Patch => Method::Patch,
            wit::Method::Delete => Method::Delete,
        };
        Self { method, path, query, body, idempotency_key }
    }
}

impl From<Response> for wit::Response {
    fn from(response: Response) -> Self {
        let Response { status, body, retry_after: _ } = response;
        Self { status, body }
    }
}

impl From<ApiFailure> for wit::Failure {
    fn from(failure: ApiFailure) -> Self {
        match failure {
            ApiFailure::TimedOut => Self::TimedOut,
            ApiFailure::Unavailable(seconds) => Self::Unavailable(seconds),
            ApiFailure::Refused => Self::Refused,
            ApiFailure::Internal => Self::Internal,
        }
    }
}

impl From<Who> for wit::Caller {
    fn from(who: Who) -> Self {
        let Who { subject, workspace, scopes, permissions } = who;
        Self { subject, workspace, scopes, permissions }
    }
}
