//! The way of a call: into an instance of its own, and out with an answer or the name of what ended it.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use bytes::Bytes;
use kobana_wire::extension::{Answers, Client, Description, Outcome};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use wasmtime::component::Linker;
use wasmtime::{Store, UpdateDeadline};

use super::answer;
use super::api::{Api, Nobody};
use super::bindings::Extension;
use super::credit::Credit;
use super::load::{self, Artifact, Unfit};
use super::settings::{Limits, Settings};
use super::state::State;
use super::stopped::{self, Stopped, Trap, Usage};
use super::threads::Threads;
use crate::load::{StartError, line};
use crate::ticker::Ticks;

/// What a call may hand over to the host in one go beyond its output, for what is around it.
const PIECE: usize = 64 << 10;

/// What comes with every question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Context {
    /// What the client can be asked for.
    pub client: Client,
    /// Where the call goes on after questions.
    pub answers: Option<Answers>,
}

/// What an extension is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// To run a tool.
    Tool {
        /// Its own name.
        name: String,
        /// A JSON object.
        arguments: String,
        /// What comes with it.
        context: Context,
    },
    /// To read a document.
    Resource {
        /// Where it is.
        uri: String,
        /// What comes with it.
        context: Context,
    },
    /// To fill in a prompt.
    Prompt {
        /// Its own name.
        name: String,
        /// What goes into its gaps, by their names.
        arguments: Vec<(String, String)>,
        /// What comes with it.
        context: Context,
    },
}

/// Where extensions run. Clones share everything.
#[derive(Clone)]
pub struct Sandbox(Arc<Inner>);

struct Inner {
    settings: Arc<Settings>,
    linker: Linker<State>,
    running: Arc<Semaphore>,
    engaged: OnceLock<Result<Engaged, String>>,
}

/// What is there from the first call on: a server without extensions is to have no threads for them.
struct Engaged {
    threads: Threads,
    _ticks: Ticks,
}

impl std::fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sandbox").field("settings", &self.0.settings).finish_non_exhaustive()
    }
}

impl Sandbox {
    /// Sets up an engine. It blocks for a moment and needs no async runtime; its threads start with the first call.
    ///
    /// `cache_dir` keeps compiled code, by the content of the component and the version of the engine. It is created when it
    /// is missing; nobody but this process may be able to write to it, for code is run from it.
    ///
    /// # Errors
    /// When a setting makes no sense, or the engine cannot be set up.
    pub fn new(settings: Settings, cache_dir: Option<&Path>) -> Result<Self, StartError> {
        settings.validate()?;
        let engine = load::engine(&settings, cache_dir)?;
        let linker = load::linker(&engine).map_err(|problem| StartError::Engine(line(&problem)))?;
        let running = Arc::new(Semaphore::new(settings.calls as usize));
        let settings = Arc::new(settings);
        Ok(Self(Arc::new(Inner { settings, linker, running, engaged: OnceLock::new() })))
    }

    /// The settings that it was made with.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// Compiles a component, checks that it fits and links it, on threads of low priority. Two are compiled at a time.
    ///
    /// # Errors
    /// Why it is no extension.
    pub async fn compile(&self, bytes: Bytes) -> Result<Artifact, Unfit> {
        let inner = Arc::clone(&self.0);
        let work = move || load::load(&inner.linker, &inner.settings, &bytes);
        let threads = self.0.threads().map_err(Unfit::Unusable)?;
        match threads.block(work).await {
            Ok(artifact) => artifact,
            Err(_) => Err(Unfit::Unusable("the compiler broke".to_owned())),
        }
    }

    /// Does other work that a tenant can make long, such as checking what somebody sends against a tenant's schema, on the threads
    /// that extensions compute on: with little priority, and at the expense of the tenant's account. It must end by itself, and soon.
    /// None if it cannot be done, or panicked.
    pub async fn aside<T: Send + 'static>(
        &self,
        credit: &Arc<Credit>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        self.0.threads().ok()?.compute(Arc::clone(credit), async move { work() }).await.ok()
    }

    /// Asks an extension what it is. Nobody calls: the API refuses, and what it logs goes to `tracing` at level debug.
    pub async fn describe(
        &self,
        artifact: &Artifact,
        limits: &Limits,
        credit: &Arc<Credit>,
    ) -> (Usage, Result<Description, Stopped>) {
        self.describe_as(artifact, limits, credit, Arc::new(Nobody)).await
    }

    /// Asks an extension what it is, with a log of the caller's choice.
    pub async fn describe_as(
        &self,
        artifact: &Artifact,
        limits: &Limits,
        credit: &Arc<Credit>,
        api: Arc<dyn Api>,
    ) -> (Usage, Result<Description, Stopped>) {
        let (usage, answer) = self.call(artifact, limits, credit, Ask::Describe, api).await;
        let description = answer.and_then(|answer| match answer {
            Answer::Description(description) => Ok(description),
            Answer::Outcome(_) => Err(Stopped::BadAnswer("it is no description".to_owned())),
        });
        (usage, description)
    }

    /// Puts a question to an extension.
    ///
    /// It runs in an instance of its own that begins with nothing and is thrown away, on threads of low priority, and at the expense
    /// of an account: without credit it computes when nothing else does, and waits before it calls the API. Calls of the API
    /// run on the present async runtime and in the present span. When the returned future is dropped, the call ends
    /// within a tick, and all that it has is freed.
    pub async fn run(
        &self,
        artifact: &Artifact,
        limits: &Limits,
        credit: &Arc<Credit>,
        question: Question,
        api: Arc<dyn Api>,
    ) -> (Usage, Result<Outcome, Stopped>) {
        let (usage, answer) = self.call(artifact, limits, credit, Ask::Question(question), api).await;
        let outcome = answer.and_then(|answer| match answer {
            Answer::Outcome(outcome) => Ok(outcome),
            Answer::Description(_) => Err(Stopped::BadAnswer("it is a description".to_owned())),
        });
        (usage, outcome)
    }

    async fn call(
        &self,
        artifact: &Artifact,
        limits: &Limits,
        credit: &Arc<Credit>,
        ask: Ask,
        api: Arc<dyn Api>,
    ) -> (Usage, Result<Answer, Stopped>) {
        let Some(permit) = self.0.admit().await else { return (Usage::default(), Err(Stopped::Busy)) };
        let threads = match self.0.threads() {
            Ok(threads) => threads,
            Err(problem) => {
                tracing::error!(problem, "extensions have no threads to run on");
                return (Usage::default(), Err(Stopped::Busy));
            }
        };
        let state = State::new(&self.0.settings, limits, api, Arc::clone(credit));
        let settings = Arc::clone(&self.0.settings);
        let call = Call { artifact: artifact.clone(), settings, limits: limits.clone(), state, permit };
        match threads.compute(Arc::clone(credit), call.run(ask)).await {
            Ok(ended) => ended,
            Err(problem) => {
                tracing::error!(%problem, "a call of an extension did not come to its end");
                (Usage::default(), Err(Stopped::Trap(Trap { reason: "the host broke".to_owned(), frames: Vec::new() })))
            }
        }
    }
}

impl Inner {
    /// Waits for a place among the calls that run at once; none if that takes too long.
    async fn admit(&self) -> Option<OwnedSemaphorePermit> {
        let running = Arc::clone(&self.running);
        timeout(self.settings.queue_wait(), running.acquire_owned()).await.ok()?.ok()
    }

    fn threads(&self) -> Result<&Threads, String> {
        let engage = || self.engage().map_err(|problem| problem.to_string());
        self.engaged.get_or_init(engage).as_ref().map(|engaged| &engaged.threads).map_err(Clone::clone)
    }

    fn engage(&self) -> std::io::Result<Engaged> {
        let threads = Threads::start(self.settings.threads())?;
        let ticks = Ticks::start(self.linker.engine(), self.settings.tick())?;
        Ok(Engaged { threads, _ticks: ticks })
    }
}

/// What is asked.
enum Ask {
    Describe,
    Question(Question),
}

/// What is answered.
enum Answer {
    Description(Description),
    Outcome(Outcome),
}

impl Answer {
    /// How long it is when it is written down, in bytes.
    fn size(&self) -> usize {
        let written = match self {
            Self::Description(description) => kobana_wire::write(description),
            Self::Outcome(outcome) => kobana_wire::write(outcome),
        };
        written.map_or(usize::MAX, |bytes| bytes.len())
    }
}

/// A call that was let in.
struct Call {
    artifact: Artifact,
    settings: Arc<Settings>,
    limits: Limits,
    state: State,
    permit: OwnedSemaphorePermit,
}

impl Call {
    async fn run(self, ask: Ask) -> (Usage, Result<Answer, Stopped>) {
        let Self { artifact, settings, limits, state, permit } = self;
        let start = Instant::now();
        let mut store = store(&artifact, &settings, &limits, state);
        let answer = match timeout(limits.time(), put(&artifact, &mut store, ask)).await {
            Ok(answer) => answer.unwrap_or_else(|problem| Err(stopped::name(&problem, &settings, &limits))),
            Err(_) => Err(Stopped::Time(limits.time_ms)),
        };
        let mut usage = usage(&store, &limits);
        // Its place in the pool first, then the permit: whoever gets the one is to find the other.
        drop(store);
        drop(permit);
        let answer = answer.and_then(|answer| {
            usage.output = answer.size();
            if usage.output > limits.output { Err(Stopped::Output(limits.output)) } else { Ok(answer) }
        });
        usage.time = start.elapsed();
        (usage, answer)
    }
}

fn store(artifact: &Artifact, settings: &Settings, limits: &Limits, state: State) -> Store<State> {
    let mut store = Store::new(artifact.0.engine(), state);
    store.limiter(|state| &mut state.room);
    store.set_hostcall_fuel(limits.output.saturating_mul(2).saturating_add(PIECE));
    store.set_max_component_handles(settings.handles);
    store.set_epoch_deadline(1);
    // A call that computes steps aside with every tick, so that other tasks get on and its own end is looked at.
    store.epoch_deadline_callback(|store| store.data().check().map(|()| UpdateDeadline::Yield(1)));
    store
}

/// Puts a question to a fresh instance. The outer error is that of the engine, the inner one that of a bad answer.
async fn put(artifact: &Artifact, store: &mut Store<State>, ask: Ask) -> wasmtime::Result<Result<Answer, Stopped>> {
    store.set_fuel(store.data().fuel())?;
    let extension = artifact.0.instantiate_async(&mut *store).await?;
    let answer = match ask {
        Ask::Describe => answer::description(extension.call_describe(store).await?).map(Answer::Description),
        Ask::Question(question) => question.put(&extension, store).await?.map(Answer::Outcome),
    };
    Ok(answer.map_err(Stopped::BadAnswer))
}

impl Question {
    async fn put(self, extension: &Extension, store: &mut Store<State>) -> wasmtime::Result<Result<Outcome, String>> {
        Ok(match self {
            Self::Tool { name, arguments, context } => {
                let context = answer::context(context);
                answer::tool_outcome(extension.call_call_tool(store, &name, &arguments, &context).await?)
            }
            Self::Resource { uri, context } => {
                let context = answer::context(context);
                answer::resource_outcome(extension.call_read_resource(store, &uri, &context).await?)
            }
            Self::Prompt { name, arguments, context } => {
                let context = answer::context(context);
                answer::prompt_outcome(extension.call_get_prompt(store, &name, &arguments, &context).await?)
            }
        })
    }
}

fn usage(store: &Store<State>, limits: &Limits) -> Usage {
    let state = store.data();
    Usage {
        fuel: limits.fuel.saturating_sub(store.get_fuel().unwrap_or_default()),
        memory: state.room.memory(),
        host_calls: state.host_calls,
        api_calls: state.api_calls,
        log: state.journal.written(),
        output: 0,
        time: Duration::ZERO,
    }
}
