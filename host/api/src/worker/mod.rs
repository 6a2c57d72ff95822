//! The worker: takes jobs from the queue and does them.
//!
//! A job is held under a lease that is renewed while it runs. It ends in the transaction that holds its effect, which asks
//! whether the job is still held: a worker that was believed dead can no longer end what somebody else has taken over, so
//! every job has its effect once, whatever dies when. A failure puts the job back with a growing delay; after the last
//! attempt its [`Handler`] writes down that it was given up.
//!
//! Several processes may work on one queue. Work made in the same process is begun at once ([`Wake`]), what a job of another
//! worker makes included; work made by others when the queue is next looked at.
//!
//! To add a kind of work: implement [`Handler`] and add it to [`Worker::start`]; make its jobs with
//! [`kobana_store::jobs::create`] in the transaction that makes them necessary, and wake the worker after the commit.

mod backoff;
pub(crate) mod email;
mod filters;
mod limits;
mod policy;
mod queue;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use kobana_contract::Timestamp;
use kobana_store::jobs::{self, Ending, JobRow};
use kobana_store::{Store, Write};
use sea_orm::DbErr;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use uuid::Uuid;

pub use backoff::Backoff;

use crate::engine::{EngineSettings, Engines, SettingsError};

/// How the worker works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerSettings {
    /// Jobs done at the same time.
    pub concurrency: usize,
    /// How long a job stays taken after its worker was last heard of.
    pub lease: Duration,
    /// How often the queue is looked at for work that other processes made or that falls due.
    pub poll: Duration,
    /// How patient it is with e-mails whose processing fails.
    pub backoff: Backoff,
}

impl Default for WorkerSettings {
    fn default() -> Self {
        let (lease, poll) = (Duration::from_secs(60), Duration::from_secs(1));
        Self { concurrency: 4, lease, poll, backoff: Backoff::default() }
    }
}

/// Wakes the workers of this process up: there is work. Clones wake the same ones.
#[derive(Debug, Clone, Default)]
pub struct Wake(watch::Sender<()>);

impl Wake {
    /// Wakes them up, each now or when it is next about to sleep.
    pub fn wake(&self) {
        self.0.send_replace(());
    }
}

/// Does the jobs of one kind.
#[async_trait]
pub(crate) trait Handler: Send + Sync + 'static {
    /// The kind, as it stands in the queue.
    fn kind(&self) -> &'static str;

    /// How often it is tried, and how long to wait in between.
    fn backoff(&self) -> Backoff;

    /// Does the job, and ends it with [`Job::end`] in the transaction that holds its effect.
    async fn run(&self, job: &Job) -> Result<(), Failure>;

    /// Writes down that the job is given up, in the transaction that ends it.
    async fn give_up(&self, tx: &Write, job: &Job, reason: &str) -> Result<(), DbErr>;

    /// Clears some of what has been kept long enough away, and answers whether there may be more of it. It must not take long:
    /// the worker does nothing else meanwhile.
    async fn clear(&self, _store: &Store, _now: Timestamp) -> Result<bool, DbErr> {
        Ok(false)
    }
}

/// Why a job was not done.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Another attempt may succeed, not before this time has passed if one is given.
    Retry {
        /// What happened, in words that a person may read.
        reason: String,
        /// What the other side asked for.
        after: Option<Duration>,
    },
    /// No other attempt will succeed; what happened, in words that a person may read.
    GiveUp(String),
    /// Somebody else holds the job now.
    Lost,
}

impl From<DbErr> for Failure {
    fn from(error: DbErr) -> Self {
        tracing::warn!(%error, "a job could not use the database");
        Self::Retry { reason: "the database could not be used".to_owned(), after: None }
    }
}

/// A job that this worker holds.
pub(crate) struct Job {
    pub(crate) store: Store,
    pub(crate) row: JobRow,
    owner: Uuid,
}

impl Job {
    /// What the job needs to know.
    ///
    /// # Errors
    /// [`Failure::GiveUp`] if it is something else.
    pub(crate) fn payload<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        serde_json::from_value(Value::Object(self.row.payload.0.clone())).map_err(|error| {
            tracing::error!(%error, job = %self.row.id, "a job is not what its handler expects");
            Failure::GiveUp("the job is not what its handler expects".to_owned())
        })
    }

    /// Refuses to go on if somebody else holds the job: the transaction may write part of its effect.
    ///
    /// # Errors
    /// [`Failure::Lost`], or what the database answers.
    pub(crate) async fn check(&self, tx: &Write) -> Result<(), Failure> {
        if jobs::is_held(tx, self.row.id, self.owner).await? { Ok(()) } else { Err(Failure::Lost) }
    }

    /// Ends the job in the transaction that holds its effect.
    ///
    /// # Errors
    /// [`Failure::Lost`] if somebody else holds it: the transaction must be dropped. Or what the database answers.
    pub(crate) async fn end(&self, tx: &Write, ending: Ending, error: Option<String>) -> Result<(), Failure> {
        match jobs::end(tx, self.row.id, self.owner, ending, error, Timestamp::now().0).await? {
            true => Ok(()),
            false => Err(Failure::Lost),
        }
    }
}

/// A worker at work.
#[derive(Debug)]
pub struct Worker {
    stop: watch::Sender<Option<Duration>>,
    task: JoinHandle<()>,
}

impl Worker {
    /// Starts working on all kinds of jobs, in the runtime that it is called in.
    ///
    /// # Errors
    /// When an engine cannot be used as it is configured.
    pub fn start(
        store: Store,
        wake: Wake,
        settings: WorkerSettings,
        engines: EngineSettings,
    ) -> Result<Self, SettingsError> {
        let handlers: Vec<Arc<dyn Handler>> =
            vec![Arc::new(email::Processing::new(Engines::new(engines)?, settings.backoff))];
        Ok(Self::with_handlers(store, wake, settings, handlers))
    }

    pub(crate) fn with_handlers(
        store: Store,
        wake: Wake,
        settings: WorkerSettings,
        handlers: Vec<Arc<dyn Handler>>,
    ) -> Self {
        let (stop, stopped) = watch::channel(None);
        let queue = queue::Queue::new(store, wake, settings, handlers);
        Self { stop, task: tokio::spawn(queue.run(stopped)) }
    }

    /// Takes no more jobs, lets those that run end within `grace`, and puts the others back.
    pub async fn stop(self, grace: Duration) {
        self.stop.send_replace(Some(grace));
        if let Err(error) = self.task.await {
            tracing::error!(%error, "the worker ended badly");
        }
    }
}
