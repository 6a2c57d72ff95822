//! Instances: how they are made, who has them, what ends them, and what they tell when they end.
//!
//! A guest runs on the task of its connection, as a part of the future that answers the request: nothing is handed from thread to
//! thread.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{sleep, timeout};
use tracing::{Instrument, Span};
use wasmtime::component::InstancePre;
use wasmtime::{Engine, PoolConcurrencyLimitError, Store, UpdateDeadline};

use crate::answer::Answer;
use crate::dispatch::Dispatch;
use crate::door::{Doors, Open, Outcome, Visit};
use crate::idle::Idle;
use crate::limits::Limits;
use crate::state::State;
use crate::stats::Counters;
use crate::ticker::Ticks;
use crate::wait::within;

/// How long to wait before asking an exhausted pool again.
const POOL_PAUSE: Duration = Duration::from_millis(5);

/// The component, and what every instance of it gets.
pub(crate) struct Pool {
    pub(crate) engine: Engine,
    pub(crate) component: InstancePre<State>,
    pub(crate) doors: Doors,
    pub(crate) limits: Limits,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) dispatch: Arc<dyn Dispatch>,
    pub(crate) ticks: Ticks,
    pub(crate) counters: Counters,
    pub(crate) idle: Idle<Instance>,
    /// Whether somebody looks after those that are idle.
    pub(crate) watched: AtomicBool,
}

/// Why there is no answer of a guest.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The pool had no room for as long as a request may wait.
    Exhausted,
    /// The guest broke, or what it answered is none.
    Broken(String),
}

impl Pool {
    /// Has a guest answer. When the future is dropped the guest comes to its end by itself, without an API: in most cases its instance
    /// can be used again.
    pub(crate) async fn answer(
        self: &Arc<Self>,
        permit: OwnedSemaphorePermit,
        visit: Visit,
    ) -> Result<Answer, Trouble> {
        let gone = Arc::<AtomicBool>::default();
        let work = Box::pin(Arc::clone(self).work(permit, visit, Arc::clone(&gone)));
        Supervised { work: Some(work), gone }.await
    }

    async fn work(
        self: Arc<Self>,
        permit: OwnedSemaphorePermit,
        visit: Visit,
        gone: Arc<AtomicBool>,
    ) -> Result<Answer, Trouble> {
        let instance = match self.idle.pop() {
            Some(instance) => instance,
            // In a box, so that who finds an instance does not carry the room for making one about.
            None => Box::pin(self.take()).await?,
        };
        let mut lease = Lease { instance: Some(instance), pool: &self, _permit: permit };
        if gone.load(Relaxed) {
            lease.give_back();
            return Err(Trouble::Broken("nobody waits for it".to_owned()));
        }
        let answer = within(self.limits.deadline(), pin!(lease.answer(visit, gone))).await;
        match answer {
            Some(Ok(answer)) => {
                lease.give_back();
                answer.map_err(Trouble::Broken)
            }
            Some(Err(problem)) => Err(Trouble::Broken(format!("{problem:#}"))),
            None => Err(Trouble::Broken("the guest ran out of time".to_owned())),
        }
    }

    /// A new instance, or one that has become idle meanwhile. Idle ones leave an exhausted pool room only when they are given back, so
    /// it is asked again for as long as a request may wait.
    async fn take(&self) -> Result<Instance, Trouble> {
        let mut end = None;
        loop {
            if let Some(instance) = self.idle.pop() {
                return Ok(instance);
            }
            match self.instantiate().await {
                Ok(instance) => return Ok(instance),
                Err(problem) if exhausted(&problem) => {}
                Err(problem) => return Err(Trouble::Broken(format!("cannot instantiate: {problem:#}"))),
            }
            if Instant::now() >= *end.get_or_insert_with(|| Instant::now() + self.limits.queue_wait()) {
                return Err(Trouble::Exhausted);
            }
            sleep(POOL_PAUSE).await;
        }
    }

    async fn instantiate(&self) -> wasmtime::Result<Instance> {
        let mut store = self.store();
        let instance = timeout(self.limits.deadline(), self.component.instantiate_async(&mut store)).await;
        let instance = instance.map_err(|_| wasmtime::format_err!("the instance took too long to start"))??;
        let doors = self.doors.open(&mut store, &instance)?;
        self.counters.started();
        Ok(Instance { store, doors, served: 0, since: 0 })
    }

    fn store(&self) -> Store<State> {
        let state = State::new(&self.limits, &self.environment, Arc::clone(&self.dispatch), self.ticks.clone());
        let mut store = Store::new(&self.engine, state);
        store.set_hostcall_fuel(self.limits.one_call());
        store.set_max_component_handles(self.limits.resources);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|mut store| Ok(charge(store.data_mut())));
        store
    }

    /// Ends an instance.
    fn end(&self, instance: Instance, failed: bool) {
        let leaked = !instance.store.data().table.is_empty();
        self.counters.ended(failed, leaked);
        if leaked && !failed {
            tracing::warn!("guest kept handles of requests that have ended");
        }
    }

    /// Ends the instances that have been idle for too long; whether some are left.
    fn retire(&self) -> bool {
        let before = self.ticks.milliseconds().saturating_sub(self.limits.idle_ms);
        let (old, left) = self.idle.take_while(|instance| instance.since < before);
        for instance in old {
            self.end(instance, false);
        }
        left
    }

    /// Sees to it that somebody looks after those that are idle, for as long as there are some.
    fn look_after_idle(self: &Arc<Self>) {
        if self.watched.load(Relaxed) || self.watched.swap(true, SeqCst) {
            return;
        }
        let (pool, pause) = (Arc::downgrade(self), self.limits.idle() / 4);
        let watch = Watch(pool.clone());
        tokio::spawn(async move {
            let _watch = watch;
            loop {
                sleep(pause.max(POOL_PAUSE)).await;
                let Some(pool) = pool.upgrade() else { return };
                if pool.retire() {
                    continue;
                }
                // One may have come between the look and the word that nobody looks any longer.
                pool.watched.store(false, SeqCst);
                if pool.idle.is_empty() || pool.watched.swap(true, SeqCst) {
                    return;
                }
            }
        });
    }
}

/// Charges a tick to the guest that runs into it. It steps aside for a moment in any case, so that other tasks get on and
/// its deadline is looked at.
fn charge(state: &mut State) -> UpdateDeadline {
    if state.cpu.charge() { UpdateDeadline::Yield(1) } else { UpdateDeadline::Interrupt }
}

fn exhausted(problem: &wasmtime::Error) -> bool {
    problem.chain().any(|cause| cause.is::<PoolConcurrencyLimitError>())
}

/// An instance of the component.
pub(crate) struct Instance {
    store: Store<State>,
    doors: Open,
    /// Requests that it has answered.
    served: usize,
    /// When it became idle, in [`Ticks::milliseconds`].
    pub(crate) since: u64,
}

/// Says, when it is dropped, that nobody looks after idle instances any longer.
struct Watch(Weak<Pool>);

impl Drop for Watch {
    fn drop(&mut self) {
        let Some(pool) = self.0.upgrade() else { return };
        pool.watched.store(false, SeqCst);
    }
}

/// An instance, and the right to use it. One that is not given back has failed.
struct Lease<'a> {
    pool: &'a Arc<Pool>,
    instance: Option<Instance>,
    // Last, so that its place in the pool is free before the permit is: whoever gets the one is to find the other.
    _permit: OwnedSemaphorePermit,
}

impl Lease<'_> {
    async fn answer(&mut self, visit: Visit, gone: Arc<AtomicBool>) -> Outcome {
        let Some(Instance { store, doors, .. }) = &mut self.instance else {
            return Ok(Err("the instance is gone".to_owned()));
        };
        let limits = &self.pool.limits;
        let state = store.data_mut();
        state.gone = gone;
        state.cpu.refill(limits.cpu_ticks());
        store.set_epoch_deadline(1);
        doors.answer(store, visit, limits.response).await
    }

    /// Gives the instance back, after a request that came to its end.
    fn give_back(&mut self) {
        let Some(mut instance) = self.instance.take() else { return };
        instance.served += 1;
        if instance.served >= self.pool.limits.reuse {
            return self.pool.end(instance, false);
        }
        instance.since = self.pool.ticks.milliseconds();
        self.pool.idle.push(instance);
        self.pool.look_after_idle();
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        if let Some(instance) = self.instance.take() {
            self.pool.end(instance, true);
        }
    }
}

/// Work that is not lost when nobody waits for it any longer, and whose panics stay inside.
struct Supervised<F: Future + Send + 'static> {
    work: Option<Pin<Box<F>>>,
    /// Tells the work that nobody waits for it.
    gone: Arc<AtomicBool>,
}

impl<F: Future<Output = Result<Answer, Trouble>> + Send + 'static> Future for Supervised<F> {
    type Output = Result<Answer, Trouble>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(work) = &mut self.work else { return Poll::Pending };
        // What panicked is dropped, so that nobody sees the state that it left.
        let polled = catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx)));
        let output = match polled {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(output)) => output,
            Err(_) => Err(Trouble::Broken("what the guest called panicked".to_owned())),
        };
        self.work = None;
        Poll::Ready(output)
    }
}

impl<F: Future + Send + 'static> Drop for Supervised<F> {
    fn drop(&mut self) {
        let Some(work) = self.work.take() else { return };
        self.gone.store(true, Relaxed);
        // Where no runtime is left there is nothing to come to an end for.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move { drop(work.await) }.instrument(Span::current()));
        }
    }
}
