//! What the host keeps for a call, and counts.

use std::sync::Arc;

use tokio::runtime::Handle;
use tracing::Span;
use wasmtime::component::{HasData, ResourceTable};
use wasmtime::{ResourceLimiter, Result};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use super::api::{Api, Level};
use super::credit::Credit;
use super::output::{Journal, Output};
use super::settings::{Limits, Settings};
use super::stopped::Stopped;

/// The data of a store.
pub(super) struct State {
    pub(super) api: Arc<dyn Api>,
    /// What calls of it are charged to.
    pub(super) credit: Arc<Credit>,
    /// Where calls of the API run.
    pub(super) outside: Handle,
    /// Under which they are logged.
    pub(super) span: Span,
    pub(super) journal: Arc<Journal>,
    pub(super) room: Room,
    pub(super) host_calls: u32,
    pub(super) api_calls: u32,
    limits: Limits,
    table: ResourceTable,
    wasi: WasiCtx,
}

impl State {
    /// The data for a call that is made on the present async runtime and in the present span.
    pub(super) fn new(settings: &Settings, limits: &Limits, api: Arc<dyn Api>, credit: Arc<Credit>) -> Self {
        let (outside, span) = (Handle::current(), Span::current());
        let journal = Arc::new(Journal::new(Arc::clone(&api), limits.log));
        let mut table = ResourceTable::new();
        table.set_max_capacity(settings.handles);
        let wasi = WasiCtx::builder()
            .stdout(Output::new(&journal, Level::Info))
            .stderr(Output::new(&journal, Level::Warn))
            .max_random_size(limits.output as u64)
            .build();
        let room = Room::new(limits);
        let limits = limits.clone();
        Self { api, credit, outside, span, journal, room, host_calls: 0, api_calls: 0, limits, table, wasi }
    }

    /// What the call may compute.
    pub(super) fn fuel(&self) -> u64 {
        self.limits.fuel
    }

    /// Counts a call of the host, on its way there. Too many are found by [`check`](Self::check).
    pub(super) fn called(&mut self) -> &mut Self {
        self.host_calls = self.host_calls.saturating_add(1);
        self
    }

    /// Whether there have been no more calls of the host than there may be.
    pub(super) fn check(&self) -> Result<()> {
        if self.host_calls > self.limits.host_calls {
            return Err(Stopped::HostCalls(self.limits.host_calls).into());
        }
        Ok(())
    }

    /// Counts a call of the API that brings so many bytes.
    pub(super) fn called_api(&mut self, bytes: usize) -> Result<()> {
        self.check()?;
        if bytes > self.limits.output {
            return Err(Stopped::Output(self.limits.output).into());
        }
        if self.api_calls == self.limits.api_calls {
            return Err(Stopped::ApiCalls(self.limits.api_calls).into());
        }
        self.api_calls += 1;
        Ok(())
    }
}

impl HasData for State {
    type Data<'a> = &'a mut Self;
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

/// What memories and tables take and may take.
pub(super) struct Room {
    memory: usize,
    table_elements: usize,
    most_memory: usize,
    most_elements: usize,
}

impl Room {
    fn new(limits: &Limits) -> Self {
        let Limits { memory, table_elements, .. } = *limits;
        Self { memory: 0, table_elements: 0, most_memory: memory, most_elements: table_elements }
    }

    /// What all memories take, in bytes. They do not shrink.
    pub(super) fn memory(&self) -> usize {
        self.memory
    }
}

/// Growing past a limit does not fail but ends the call: a program that is refused memory breaks anyway, and does not say
/// why.
impl ResourceLimiter for Room {
    fn memory_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> Result<bool> {
        let total = self.memory.saturating_add(desired.saturating_sub(current));
        if total > self.most_memory {
            return Err(Stopped::Memory(self.most_memory).into());
        }
        self.memory = total;
        Ok(true)
    }

    fn table_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> Result<bool> {
        let total = self.table_elements.saturating_add(desired.saturating_sub(current));
        if total > self.most_elements {
            return Err(Stopped::Tables(self.most_elements).into());
        }
        self.table_elements = total;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room() -> Room {
        Room::new(&Limits { memory: 1000, table_elements: 10, ..Limits::default() })
    }

    #[test]
    fn all_memories_count_together() {
        let mut room = room();
        assert!(room.memory_growing(0, 600, None).unwrap());
        assert!(room.memory_growing(0, 300, None).unwrap());
        assert!(room.memory_growing(300, 400, None).unwrap());
        assert_eq!(room.memory(), 1000);
        let problem = room.memory_growing(600, 601, None).unwrap_err();
        assert_eq!(problem.downcast::<Stopped>().unwrap(), Stopped::Memory(1000));
        assert_eq!(room.memory(), 1000, "what was refused is not counted");
    }

    #[test]
    fn all_tables_count_together() {
        let mut room = room();
        assert!(room.table_growing(0, 10, None).unwrap());
        let problem = room.table_growing(0, 1, None).unwrap_err();
        assert_eq!(problem.downcast::<Stopped>().unwrap(), Stopped::Tables(10));
    }
}
