//! From an HTTP request to an HTTP answer, by way of a guest.

use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use bytes::Bytes;
use http::header::{EXPECT, HOST};
use http::{HeaderValue, Request, Response, Version};
use http_body::Body;
use http_body_util::Full;

use crate::answer::{self, Answer};
use crate::body::{Room, Taken, Unread, buffer};
use crate::dispatch::Dispatch;
use crate::door::{Doors, Visit};
use crate::gate::Gate;
use crate::idle::Idle;
use crate::limits::Limits;
use crate::load::{self, Source, StartError};
use crate::pool::{Pool, Trouble};
use crate::stats::{Counters, Stats};
use crate::ticker::Ticks;
use crate::wait::within;

/// A component, ready to answer requests. Clones share everything.
#[derive(Clone)]
pub struct Runtime {
    pool: Arc<Pool>,
    gate: Arc<Gate>,
    room: Arc<Room>,
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
        let component = load::load(&engine, source)?;
        let doors = Doors::of(&component, limits.portable);
        let doors = doors.map_err(|problem| StartError::Mismatch(load::line(&problem)))?;
        let ticks = Ticks::start(&engine, limits.tick()).map_err(|problem| StartError::Engine(problem.to_string()))?;
        let gate = Arc::new(Gate::new(&limits));
        let room = Arc::new(Room::new(limits.request_buffers));
        let (counters, idle, watched) = (Counters::default(), Idle::default(), AtomicBool::default());
        let pool = Pool { engine, component, doors, limits, environment, dispatch, ticks, counters, idle, watched };
        Ok(Self { pool: Arc::new(pool), gate, room })
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
        let limits = &self.pool.limits;
        let expects = head.headers.contains_key(EXPECT);
        let mut taken = Taken::none(&self.room);
        let body = buffer(body, limits.request_buffer, &mut taken);
        let body = match within(limits.request_body(), pin!(body)).await {
            Some(Ok(body)) => body,
            Some(Err(Unread::Interrupted)) => return answer::malformed("The request body broke off."),
            Some(Err(Unread::NoRoom)) => return self.refuse("too many request bodies are held"),
            None => return answer::too_slow(),
        };
        let (body, rest) = match body.into_whole() {
            Ok(body) => return self.run(self.pool.doors.visit(head, body)).await,
            Err(body) => body.split(),
        };
        let answer = self.run(Visit::streamed(head, body)).await;
        // A client that waits to be told to go on has sent nothing.
        if let Some(rest) = rest.filter(|_| !expects) {
            rest.drain(limits.drain, limits.drain_time());
        }
        answer
    }

    /// What has become of instances so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.pool.counters.read()
    }

    async fn run(&self, visit: Visit) -> Answer {
        let Some(permit) = self.gate.pass().await else { return self.refuse("the queue is full or too slow") };
        match self.pool.answer(permit, visit).await {
            Ok(answer) => answer,
            Err(Trouble::Exhausted) => self.refuse("the pool is exhausted"),
            Err(Trouble::Broken(problem)) => {
                tracing::error!(problem, "no answer of the guest");
                answer::broken()
            }
        }
    }

    fn refuse(&self, reason: &str) -> Answer {
        self.pool.counters.refused();
        tracing::warn!(reason, "request turned away");
        answer::busy()
    }
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
