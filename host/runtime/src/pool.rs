//! Instances: how they are made, what ends them, and what they tell when they end.
//!
//! `ProxyHandler` runs each in a task of its own. A guest's export is synchronous, so while a call is running the store's
//! event loop stands still, and whatever is to happen meanwhile must happen outside of it: [`Lifetime`] is polled there
//! and enforces the deadline, and the epoch callback makes a computing guest yield so that it can.

use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::time::{Sleep, sleep_until, timeout};
use wasmtime::component::GuestTaskId;
use wasmtime::{AsContextMut, Engine, Store, StoreContextMut, UpdateDeadline};
use wasmtime_wasi_http::WasiHttpView;
use wasmtime_wasi_http::handler::{
    HandlerState, Instance, ProxyPre, ShouldAccept, WorkerExpiration, WorkerState, WorkerStatus,
};
use wasmtime_wasi_http::p2::bindings::ProxyPre as Linked;

use crate::dispatch::Dispatch;
use crate::limits::Limits;
use crate::state::State;
use crate::stats::Counters;
use crate::ticker::Ticks;
use crate::ticket::{Slot, Ticket};

/// The component, and what every instance of it gets.
pub(crate) struct Pool {
    pub(crate) engine: Engine,
    pub(crate) component: ProxyPre<State>,
    pub(crate) limits: Arc<Limits>,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) dispatch: Arc<dyn Dispatch>,
    pub(crate) ticks: Ticks,
    pub(crate) counters: Arc<Counters>,
}

impl Pool {
    fn store(&self) -> Store<State> {
        let state = State::new(&self.limits, &self.environment, Arc::clone(&self.dispatch), self.ticks.clone());
        let mut store = Store::new(&self.engine, state);
        store.set_hostcall_fuel(self.limits.host_call);
        store.set_max_component_handles(self.limits.resources);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|mut store| Ok(charge(store.data_mut())));
        store
    }
}

/// Charges a tick to the guest that runs into it. It steps aside for a moment in any case, so that other tasks get on and
/// its deadline is looked at.
fn charge(state: &mut State) -> UpdateDeadline {
    if state.cpu.charge() { UpdateDeadline::Yield(1) } else { UpdateDeadline::Interrupt }
}

impl HandlerState for Pool {
    type StoreData = State;
    type WorkerExpiration = Lifetime;
    type WorkerState = Worker;

    async fn instantiate(&self) -> wasmtime::Result<Instance<State, Lifetime, Worker>> {
        let mut store = self.store();
        let instantiated = timeout(self.limits.deadline(), self.component.instantiate_async(&mut store)).await;
        let proxy = instantiated.map_err(|_| wasmtime::format_err!("the instance took too long to start"))??;
        let slot = store.data().slot.clone();
        self.counters.started();
        Ok(Instance {
            store,
            proxy,
            view: State::http,
            expiration: Lifetime::new(slot.clone(), &self.limits),
            state: Worker { slot, limits: Arc::clone(&self.limits), counters: Arc::clone(&self.counters) },
        })
    }
}

/// The part of an instance that accepts requests.
pub(crate) struct Worker {
    slot: Slot,
    limits: Arc<Limits>,
    counters: Arc<Counters>,
}

impl WorkerState for Worker {
    type StoreData = State;
    type RequestData = Ticket;

    fn should_accept_request(&self, concurrent: usize, total: usize) -> ShouldAccept {
        match (concurrent, total < self.limits.reuse) {
            (0, true) => ShouldAccept::Yes,
            (0, false) => ShouldAccept::Never,
            _ => ShouldAccept::No,
        }
    }

    /// The future would be polled inside the event loop, where it can do nothing that [`Lifetime`] cannot.
    fn on_request_start(
        &self,
        mut store: StoreContextMut<'_, State>,
        ticket: Ticket,
        _task: GuestTaskId,
    ) -> Pin<Box<dyn Future<Output = ()> + 'static + Send + Sync>> {
        self.slot.begin(ticket);
        store.data_mut().cpu.refill(self.limits.cpu_ticks());
        store.as_context_mut().set_epoch_deadline(1);
        Box::pin(pending())
    }

    fn drop(&self, store: Store<State>, result: wasmtime::Result<()>) {
        let leaked = !store.data().table.is_empty();
        self.counters.ended(result.is_err(), leaked);
        let idle = self.slot.is_empty();
        self.slot.span().in_scope(|| match &result {
            // An instance without work is torn down together with the process.
            Err(_) if idle => tracing::debug!("instance dropped"),
            Err(problem) => tracing::error!(problem = format!("{problem:#}"), "guest stopped"),
            Ok(()) if leaked => tracing::warn!("guest kept handles of requests that have ended"),
            Ok(()) => tracing::debug!("instance retired"),
        });
        // Its place in the pool first, then the permit of the ticket: whoever gets the one is to find the other.
        drop(store);
        if result.is_ok() { self.slot.finish() } else { self.slot.fail() }
    }
}

/// How long an instance lives in the state that it is in.
pub(crate) struct Lifetime {
    slot: Slot,
    deadline: Duration,
    idle: Duration,
    alarm: Pin<Box<Sleep>>,
}

impl Lifetime {
    fn new(slot: Slot, limits: &Limits) -> Self {
        let (deadline, idle) = (limits.deadline(), limits.idle());
        let alarm = Box::pin(sleep_until((Instant::now() + deadline.min(idle)).into()));
        Self { slot, deadline, idle, alarm }
    }
}

impl WorkerExpiration for Lifetime {
    /// Polled whenever the instance has nothing to do but wait. One that is idle has come to the end of its request and is
    /// in line for the next; telling so any earlier would have that one find no instance, and make another.
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>, status: WorkerStatus, start: Instant) -> Poll<()> {
        let time = if status == WorkerStatus::Idle {
            self.slot.finish();
            self.idle
        } else {
            self.deadline
        };
        let end = (start + time).into();
        // Setting an alarm costs more than being woken too early once in a while, so it is moved back only when it rings.
        if self.alarm.deadline() > end {
            self.alarm.as_mut().reset(end);
        }
        while self.alarm.as_mut().poll(cx).is_ready() {
            if self.alarm.deadline() >= end {
                return Poll::Ready(());
            }
            self.alarm.as_mut().reset(end);
        }
        Poll::Pending
    }
}

/// The handler's name for a linked component of this kind.
pub(crate) fn pre(component: Linked<State>) -> ProxyPre<State> {
    ProxyPre::P2(component)
}
