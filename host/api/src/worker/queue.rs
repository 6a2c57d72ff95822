//! The loop that takes jobs and has them done.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use kobana_contract::Timestamp;
use kobana_store::Store;
use kobana_store::jobs::{self, Ending, JobRow};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, sleep_until};
use uuid::Uuid;

use super::{Failure, Handler, Job, Wake, WorkerSettings};

/// How long jobs that ended are kept to be looked at, in seconds: a week.
const KEPT: i64 = 7 * 24 * 60 * 60;
/// How often what has been kept long enough is cleared away.
const CLEARING: Duration = Duration::from_secs(60 * 60);
/// How soon the rest of it follows where there is more.
const CLEARING_ON: Duration = Duration::from_secs(1);

/// One worker.
pub(super) struct Queue {
    store: Store,
    wake: Wake,
    woken: watch::Receiver<()>,
    settings: WorkerSettings,
    handlers: Vec<Arc<dyn Handler>>,
    /// Who holds the jobs.
    owner: Uuid,
    running: HashMap<Uuid, AbortHandle>,
    tasks: JoinSet<Uuid>,
}

impl Queue {
    pub(super) fn new(store: Store, wake: Wake, settings: WorkerSettings, handlers: Vec<Arc<dyn Handler>>) -> Self {
        let (running, tasks) = (HashMap::new(), JoinSet::new());
        let woken = wake.0.subscribe();
        Self { store, wake, woken, settings, handlers, owner: Uuid::now_v7(), running, tasks }
    }

    /// Works until it is told to stop, then lets what runs end for as long as it is told.
    pub(super) async fn run(mut self, mut stop: watch::Receiver<Option<Duration>>) {
        let mut heartbeat = interval(self.settings.lease / 3);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut clearing = interval(CLEARING);
        let grace = loop {
            self.fill().await;
            let has_room = self.running.len() < self.settings.concurrency;
            tokio::select! {
                grace = stopped(&mut stop) => break grace,
                Some(ended) = self.tasks.join_next() => self.forget(ended),
                _ = heartbeat.tick() => self.renew().await,
                _ = clearing.tick() => if self.clear().await { clearing.reset_after(CLEARING_ON) },
                Ok(()) = self.woken.changed(), if has_room => {}
                () = sleep(self.settings.poll), if has_room => {}
            }
        };
        self.drain(grace, heartbeat).await;
    }

    async fn drain(mut self, grace: Duration, mut heartbeat: tokio::time::Interval) {
        let deadline = Instant::now() + grace;
        while !self.tasks.is_empty() {
            tokio::select! {
                Some(ended) = self.tasks.join_next() => self.forget(ended),
                _ = heartbeat.tick() => self.renew().await,
                () = sleep_until(deadline) => break,
            }
        }
        self.tasks.shutdown().await;
        match jobs::release(&self.store, self.owner).await {
            Ok(0) => {}
            Ok(jobs) => tracing::info!(jobs, "the worker stops; jobs go back into the queue"),
            Err(error) => tracing::warn!(%error, "jobs could not be put back; others get them when the lease ends"),
        }
    }

    /// Takes as many due jobs as there is room for.
    async fn fill(&mut self) {
        let room = self.settings.concurrency.saturating_sub(self.running.len());
        if room == 0 {
            return;
        }
        let kinds: Vec<_> = self.handlers.iter().map(|handler| handler.kind()).collect();
        let (now, until) = (Timestamp::now().0, self.until());
        match jobs::claim(&self.store, &kinds, self.owner, now, until, room as u64).await {
            Ok(rows) => rows.into_iter().for_each(|row| self.begin(row)),
            Err(error) => tracing::warn!(%error, "the queue cannot be read; trying again"),
        }
    }

    fn begin(&mut self, row: JobRow) {
        let Some(handler) = self.handlers.iter().find(|handler| handler.kind() == row.kind) else { return };
        let (id, handler) = (row.id, Arc::clone(handler));
        let job = Job { store: self.store.clone(), row, owner: self.owner };
        let task = self.tasks.spawn(async move {
            attempt(handler.as_ref(), &job).await;
            id
        });
        self.running.insert(id, task);
    }

    fn forget(&mut self, ended: Result<Uuid, tokio::task::JoinError>) {
        match ended {
            Ok(id) => {
                self.running.remove(&id);
            }
            // One that lost its job was stopped.
            Err(_) => self.running.retain(|_, task| !task.is_finished()),
        }
        // A job may have made work for others of this process; this one is about to look anyway.
        self.wake.wake();
        self.woken.mark_unchanged();
    }

    /// Keeps what runs, and stops what somebody else has taken over meanwhile.
    async fn renew(&mut self) {
        let ids: Vec<_> = self.running.keys().copied().collect();
        if ids.is_empty() {
            return;
        }
        match jobs::renew(&self.store, self.owner, &ids, self.until()).await {
            Ok(held) => {
                let lost = self.running.iter().filter(|(id, task)| !held.contains(id) && !task.is_finished());
                for (id, task) in lost {
                    tracing::warn!(job = %id, "a job is no longer ours");
                    task.abort();
                }
            }
            Err(error) => tracing::warn!(%error, "leases could not be renewed; trying again"),
        }
    }

    fn until(&self) -> i64 {
        let lease = i64::try_from(self.settings.lease.as_micros()).unwrap_or(i64::MAX);
        Timestamp::now().0.saturating_add(lease)
    }

    /// Answers whether there may be more to be cleared away.
    async fn clear(&self) -> bool {
        let now = Timestamp::now();
        if let Err(error) = jobs::forget(&self.store, now.plus_seconds(-KEPT).0).await {
            tracing::warn!(%error, "old jobs could not be cleared away");
        }
        let mut more = false;
        for handler in &self.handlers {
            match handler.clear(&self.store, now).await {
                Ok(there_is) => more |= there_is,
                Err(error) => tracing::warn!(%error, kind = handler.kind(), "what is old could not be cleared away"),
            }
        }
        more
    }
}

/// How long what runs may take to end, once the worker is to stop. Whoever started it and forgot it wants it to stop too.
async fn stopped(stop: &mut watch::Receiver<Option<Duration>>) -> Duration {
    stop.wait_for(Option::is_some).await.ok().and_then(|grace| *grace).unwrap_or_default()
}

/// Does a job, or says what became of it.
async fn attempt(handler: &dyn Handler, job: &Job) {
    let attempts = u32::try_from(job.row.attempts).unwrap_or(u32::MAX);
    let outcome = if attempts > handler.backoff().attempts {
        Err(Failure::GiveUp("it was begun too often without coming to an end".to_owned()))
    } else {
        let panicked = |_| Err(Failure::Retry { reason: "the worker failed at it".to_owned(), after: None });
        AssertUnwindSafe(handler.run(job)).catch_unwind().await.unwrap_or_else(panicked)
    };
    let settled = match outcome {
        Ok(()) => Ok(()),
        Err(Failure::Retry { reason, after }) if attempts < handler.backoff().attempts => {
            let delay = after.unwrap_or_default().max(handler.backoff().delay(attempts));
            put_back(job, delay, reason).await
        }
        Err(Failure::Retry { reason, .. } | Failure::GiveUp(reason)) => give_up(handler, job, reason).await,
        Err(Failure::Lost) => Err(Failure::Lost),
    };
    match settled {
        Ok(()) => {}
        Err(Failure::Lost) => tracing::warn!(job = %job.row.id, "a job went to somebody else"),
        // Its lease ends, and somebody tries again.
        Err(Failure::Retry { reason, .. } | Failure::GiveUp(reason)) => {
            tracing::error!(job = %job.row.id, reason, "what became of a job could not be written down");
        }
    }
}

async fn put_back(job: &Job, delay: Duration, reason: String) -> Result<(), Failure> {
    tracing::info!(job = %job.row.id, kind = job.row.kind, reason, ?delay, "a job failed and is tried again");
    let delay = i64::try_from(delay.as_micros()).unwrap_or(i64::MAX);
    let run_at = Timestamp::now().0.saturating_add(delay);
    match jobs::retry(&job.store, job.row.id, job.owner, run_at, reason).await? {
        true => Ok(()),
        false => Err(Failure::Lost),
    }
}

async fn give_up(handler: &dyn Handler, job: &Job, reason: String) -> Result<(), Failure> {
    tracing::warn!(job = %job.row.id, kind = job.row.kind, reason, "a job is given up");
    let tx = job.store.begin().await?;
    handler.give_up(&tx, job, &reason).await?;
    job.end(&tx, Ending::Dead, Some(reason)).await?;
    Ok(tx.commit().await?)
}
