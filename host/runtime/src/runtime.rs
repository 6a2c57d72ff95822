//! From an HTTP request to an HTTP answer, by way of a guest.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, EXPECT, HOST};
use http::{HeaderMap, HeaderValue, Request, Response, Version};
use http_body::Body;
use http_body_util::Full;
use tokio::time::{sleep, timeout};
use wasmtime::PoolConcurrencyLimitError;
use wasmtime_wasi_http::WasiBody;
use wasmtime_wasi_http::handler::{InstantiationError, ProxyHandler};

use crate::answer::{self, Answer};
use crate::body::{Room, Taken, Unread, buffer, collect};
use crate::dispatch::Dispatch;
use crate::gate::Gate;
use crate::limits::Limits;
use crate::load::{self, Source, StartError};
use crate::pool::{self, Pool};
use crate::stats::Stats;
use crate::ticker::Ticks;
use crate::ticket::Ticket;

/// How long to wait before asking an exhausted pool again.
const POOL_PAUSE: Duration = Duration::from_millis(5);

/// A component, ready to answer requests. Clones share everything.
#[derive(Clone)]
pub struct Runtime {
    handler: ProxyHandler<Pool>,
    gate: Arc<Gate>,
    room: Arc<Room>,
    limits: Arc<Limits>,
}

impl Runtime {
    /// Compiles and links a component. That takes a moment, seconds even, unless `cache_dir` holds the result of an
    /// earlier start; it blocks, and needs no async runtime.
    ///
    /// `environment` is all that the component gets to see in `wasi:cli/environment`. `cache_dir` is created when it is
    /// missing; nobody but this process may be able to write to it, for code is run from it.
    ///
    /// # Errors
    /// When a limit makes no sense, the component does not fit, or the engine cannot be set up.
    pub fn new(
        source: Source,
        limits: Limits,
        environment: Vec<(String, String)>,
        dispatch: Arc<dyn Dispatch>,
        cache_dir: Option<PathBuf>,
    ) -> Result<Self, StartError> {
        limits.validate()?;
        let engine = load::engine(&limits, cache_dir.as_deref())?;
        let component = pool::pre(load::load(&engine, source)?);
        let ticks = Ticks::start(&engine, limits.tick()).map_err(|problem| StartError::Engine(problem.to_string()))?;
        let limits = Arc::new(limits);
        let gate = Arc::new(Gate::new(&limits));
        let room = Arc::new(Room::new(limits.request_buffers));
        let counters = Arc::default();
        let pool = Pool { engine, component, limits: Arc::clone(&limits), environment, dispatch, ticks, counters };
        Ok(Self { handler: ProxyHandler::new(pool), gate, room, limits })
    }

    /// Answers a request. There is always an answer: the guest's, or one of the host's own where there is none.
    ///
    /// - 408 when the client does not send its body in time, 400 when it breaks off or its `Host` cannot be read, both
    ///   with `Connection: close`;
    /// - 503 with `Retry-After` when no instance becomes free in time;
    /// - 500 with a JSON-RPC internal error when the guest breaks, or needs longer than it may.
    ///
    /// No instance waits for a client: its body is there before, and the guest's answer is whole after. When the returned
    /// future is dropped, which is what happens when the client goes away, the guest's current and later calls of the API
    /// end at once; the guest itself comes to its end within its limits. Work is done in the span that is current here.
    pub async fn handle<B>(&self, request: Request<B>) -> Response<Full<Bytes>>
    where
        B: Body<Data = Bytes> + Unpin + Send + 'static,
    {
        let (mut head, body) = request.into_parts();
        if let Err(problem) = settle_host(&mut head) {
            return answer::malformed(problem);
        }
        let expects = head.headers.contains_key(EXPECT);
        let mut taken = Taken::none(&self.room);
        let body = buffer(body, self.limits.request_buffer, &mut taken);
        let body = match timeout(self.limits.request_body(), body).await {
            Ok(Ok(body)) => body,
            Ok(Err(Unread::Interrupted)) => return answer::malformed("The request body broke off."),
            Ok(Err(Unread::NoRoom)) => return self.refuse("too many request bodies are held"),
            Err(_) => return answer::too_slow(),
        };
        let (body, rest) = body.split();
        let answer = self.run(Request::from_parts(head, body)).await;
        // A client that waits to be told to go on has sent nothing.
        if let Some(rest) = rest.filter(|_| !expects) {
            rest.drain(self.limits.drain, self.limits.drain_time());
        }
        answer
    }

    /// What has become of instances so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.handler.state().counters.read()
    }

    /// Answers a request whose body is at hand.
    async fn run(&self, request: Request<WasiBody>) -> Answer {
        let Some(permit) = self.gate.pass().await else { return self.refuse("the queue is full or too slow") };
        let (ticket, done) = Ticket::new(permit);
        let Some(response) = self.call(ticket, request).await else { return self.refuse("the pool is exhausted") };
        let answer = match response {
            Ok(response) => whole(response, self.limits.response).await,
            Err(problem) => Err(format!("{problem:#}")),
        };
        // An answer counts only when its guest came to the end: one that trapped may have left it half written.
        match (answer, done.await) {
            (Ok(answer), Ok(())) => answer,
            (Ok(_), Err(_)) => broken("the guest failed after it had answered"),
            (Err(problem), _) => broken(&problem),
        }
    }

    /// Has a guest answer; none if the pool has no room. Idle instances leave it some only when they are torn down, so an
    /// exhausted pool is asked again for as long as a request may wait.
    async fn call(&self, ticket: Ticket, request: Request<WasiBody>) -> Option<wasmtime::Result<Response<WasiBody>>> {
        let end = Instant::now() + self.limits.queue_wait();
        let mut next = (ticket, request);
        loop {
            let problem = match self.handler.handle(next.0, next.1).await {
                Ok(response) => return Some(Ok(response)),
                Err(problem) => problem,
            };
            next = match problem.downcast::<InstantiationError<Ticket>>() {
                Ok(failed) if exhausted(&failed.error) => (failed.request_data, failed.request.into_inner().ok()?),
                Ok(failed) => return Some(Err(wasmtime::format_err!("cannot instantiate: {:#}", failed.error))),
                Err(problem) => return Some(Err(problem)),
            };
            if Instant::now() >= end {
                return None;
            }
            sleep(POOL_PAUSE).await;
        }
    }

    fn refuse(&self, reason: &str) -> Answer {
        self.handler.state().counters.refused();
        tracing::warn!(reason, "request turned away");
        answer::busy()
    }
}

fn exhausted(problem: &wasmtime::Error) -> bool {
    problem.chain().any(|cause| cause.is::<PoolConcurrencyLimitError>())
}

fn broken(problem: &str) -> Answer {
    tracing::error!(problem, "no answer of the guest");
    answer::broken()
}

/// The whole of a guest's answer.
async fn whole(response: Response<WasiBody>, limit: usize) -> Result<Answer, String> {
    let (head, body) = response.into_parts();
    let body = collect(body, limit).await.ok_or("the answer of the guest is too long or breaks off")?;
    match promised(&head.headers) {
        Some(length) if length != body.len() as u64 => {
            Err("the answer of the guest is not as long as it says".to_owned())
        }
        _ => Ok(Response::from_parts(head, Full::new(body))),
    }
}

fn promised(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Sees to it that a request says which host it is for: `wasi:http` fails for one that does not, and takes the instance
/// with it.
fn settle_host(head: &mut http::request::Parts) -> Result<(), &'static str> {
    if head.uri.authority().is_some() {
        return Ok(());
    }
    let mut hosts = head.headers.get_all(HOST).iter();
    match (hosts.next(), hosts.next()) {
        (Some(host), None) if host.to_str().is_ok() => Ok(()),
        (None, _) if head.version < Version::HTTP_11 => {
            head.headers.insert(HOST, HeaderValue::from_static("localhost"));
            Ok(())
        }
        (None, _) => Err("The Host header is missing."),
        (Some(_), _) => Err("The Host header cannot be read."),
    }
}
