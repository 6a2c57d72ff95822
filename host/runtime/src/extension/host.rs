//! The host side of `kobana:extension`: from the generated types to the embedder's and back.

use std::sync::Arc;
use std::time::Instant;

use tokio::task::{JoinError, JoinHandle};
use tokio::time::sleep;
use tracing::Instrument;
use wasmtime::Result;

use super::api::{ApiFailure, Level, Request, Response, Who};
use super::bindings::kobana::extension::{api as wit, log, types};
use super::credit::Credit;
use super::state::State;
use crate::dispatch::Method;

impl types::Host for State {}

impl wit::Host for State {
    async fn call(&mut self, request: wit::Request) -> Result<Result<wit::Response, wit::Failure>> {
        self.called_api(request.body.as_ref().map_or(0, Vec::len))?;
        its_turn(&self.credit).await;
        let api = Arc::clone(&self.api);
        let request = Request::from(request);
        let asking = Asking { credit: Arc::clone(&self.credit), since: Instant::now() };
        let call = async move {
            let _asking = asking;
            api.call(request).await
        };
        let call = Aborting(self.outside.spawn(call.instrument(self.span.clone())));
        // It ends without an answer when it panics, or when the server goes down.
        let answer = call.join().await.unwrap_or(Err(ApiFailure::Internal));
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

/// Waits until a workspace may call the API: it does so at the expense of everybody else who does.
async fn its_turn(credit: &Credit) {
    loop {
        let wait = credit.wait();
        if wait.is_zero() {
            return;
        }
        sleep(wait).await;
    }
}

/// A call of the API under way, however it ends.
struct Asking {
    credit: Arc<Credit>,
    since: Instant,
}

impl Drop for Asking {
    fn drop(&mut self) {
        self.credit.asked(self.since.elapsed());
    }
}

/// A task that ends when nobody waits for it any longer.
pub(super) struct Aborting<T>(pub(super) JoinHandle<T>);

impl<T> Aborting<T> {
    pub(super) async fn join(mut self) -> Result<T, JoinError> {
        (&mut self.0).await
    }
}

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
