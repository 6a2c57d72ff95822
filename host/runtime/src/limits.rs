//! Every number of the runtime.

use std::time::Duration;

use serde::Deserialize;

/// Bytes in a mebibyte.
const MIB: usize = 1 << 20;
/// Bytes in a page of WebAssembly memory.
const PAGE: usize = 1 << 16;
/// What wasmtime reserves of the address space for each memory, so that the code needs no bounds checks.
const RESERVATION: usize = 1 << 32;
/// What the fibers' stacks need beyond the guest's part: the host functions that a guest calls run on them too.
pub(crate) const HOST_STACK: usize = MIB;

/// How much guests may use, and how long anybody waits for anything. Durations are in milliseconds, sizes in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Requests that guests work on at once, each in an instance of its own. At least 1, at most 10,000.
    pub instances: u32,
    /// Instances that there is memory for, in use or being torn down. A quarter more than `instances` unless set; with
    /// fewer, requests wait for memory, too. At most 20,000.
    pub pool: Option<u32>,
    /// Requests that may wait for an instance; one more is turned away at once with 503.
    pub queue: u32,
    /// How long a request waits for an instance before it is turned away with 503.
    pub queue_wait_ms: u64,
    /// Requests that one instance serves before it is replaced. At least 1; 1 means a fresh instance for each.
    pub reuse: usize,
    /// How long an instance without work is kept.
    pub idle_ms: u64,

    /// Memory of an instance. At least one page of 64 KiB, at most 4 GiB.
    pub memory: usize,
    /// Core modules in a component, each with a memory and tables of its own at most. At least 1, at most 1,000.
    pub core_instances: u32,
    /// Tables in an instance. At least 1.
    pub tables: u32,
    /// Elements in a table.
    pub table_elements: usize,
    /// Stack of a guest. At least 64 KiB, at most 16 MiB.
    pub stack: usize,
    /// Host objects that an instance may hold: requests, bodies, streams, callers. At least 32.
    pub resources: usize,
    /// What a guest may hand over in one call of the host. At least 64 KiB; an answer may always be as long as `response`.
    pub host_call: usize,
    /// Whether every request goes in through `wasi:http`, as it does elsewhere, even where a component has the shorter way of
    /// `kobana:api/exchange`. For comparisons and tests.
    pub portable: bool,

    /// How long a request may take from the moment that an instance has it.
    pub deadline_ms: u64,
    /// How long a guest may compute for one request; waiting for the API does not count.
    pub cpu_ms: u64,
    /// How often a computing guest is looked at, and made to step aside for others. At most `cpu_ms`.
    pub tick_ms: u64,

    /// The longest body of a request that is taken from the client before an instance is. Of a longer one the instance
    /// gets the beginning, enough to see that it is longer; the rest follows as the guest asks for it.
    pub request_buffer: usize,
    /// What all bodies together may take that are being read or wait for an instance; past it, 503. At least
    /// `request_buffer`.
    pub request_buffers: usize,
    /// How long a client may take to send `request_buffer` bytes or its whole body; then 408.
    pub request_body_ms: u64,
    /// How much of a body that no guest wanted is still taken from the client, so that it gets to read the answer.
    pub drain: usize,
    /// How long that may last.
    pub drain_ms: u64,
    /// The longest answer, of a guest to a client as of the API to a guest.
    pub response: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            instances: 64,
            pool: None,
            queue: 1024,
            queue_wait_ms: 2_000,
            reuse: 10_000,
            idle_ms: 60_000,
            memory: 64 * MIB,
            core_instances: 16,
            tables: 8,
            table_elements: 20_000,
            stack: MIB / 2,
            resources: 512,
            host_call: 4 * MIB,
            portable: false,
            deadline_ms: 30_000,
            cpu_ms: 1_000,
            tick_ms: 5,
            request_buffer: MIB,
            request_buffers: 256 * MIB,
            request_body_ms: 20_000,
            drain: 4 * MIB,
            drain_ms: 2_000,
            response: 8 * MIB,
        }
    }
}

/// A limit that makes no sense, by the name of its setting.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{setting}: {problem}")]
pub struct LimitsError {
    /// The field of [`Limits`].
    pub setting: &'static str,
    /// What it must be.
    pub problem: &'static str,
}

impl Limits {
    /// Whether the numbers make sense.
    ///
    /// # Errors
    /// The first setting that does not.
    pub fn validate(&self) -> Result<(), LimitsError> {
        let rules = [
            ("instances", "must be 1 to 10000", (1..=10_000).contains(&self.instances)),
            ("pool", "must be 1 to 20000", (1..=20_000).contains(&self.pool())),
            ("reuse", "must be at least 1", self.reuse >= 1),
            ("memory", "must be 65536 (64 KiB) to 4294967296 (4 GiB)", (PAGE..=RESERVATION).contains(&self.memory)),
            ("core_instances", "must be 1 to 1000", (1..=1_000).contains(&self.core_instances)),
            ("tables", "must be 1 to 1000", (1..=1_000).contains(&self.tables)),
            ("table_elements", "must be 1 to 10000000", (1..=10_000_000).contains(&self.table_elements)),
            ("stack", "must be 65536 (64 KiB) to 16777216 (16 MiB)", (PAGE..=16 * MIB).contains(&self.stack)),
            ("resources", "must be at least 32", self.resources >= 32),
            ("host_call", "must be at least 65536 (64 KiB)", self.host_call >= PAGE),
            ("deadline_ms", "must be at least 1", self.deadline_ms >= 1),
            ("tick_ms", "must be at least 1", self.tick_ms >= 1),
            ("cpu_ms", "must be at least tick_ms", self.cpu_ms >= self.tick_ms),
            ("request_buffers", "must be at least request_buffer", self.request_buffers >= self.request_buffer),
            ("request_body_ms", "must be at least 1", self.request_body_ms >= 1),
            ("response", "must be at least 65536 (64 KiB)", self.response >= PAGE),
        ];
        match rules.into_iter().find(|(.., holds)| !holds) {
            None => Ok(()),
            Some((setting, problem, _)) => Err(LimitsError { setting, problem }),
        }
    }

    /// `pool`, or its default.
    pub(crate) fn pool(&self) -> u32 {
        self.pool.unwrap_or_else(|| self.instances.saturating_add(self.instances / 4).saturating_add(4))
    }

    /// The most that a guest hands over at once, be it in a call or as an answer with its header lines.
    pub(crate) fn one_call(&self) -> usize {
        self.host_call.max(self.response.saturating_add(PAGE))
    }

    pub(crate) fn queue_wait(&self) -> Duration {
        Duration::from_millis(self.queue_wait_ms)
    }

    pub(crate) fn idle(&self) -> Duration {
        Duration::from_millis(self.idle_ms)
    }

    pub(crate) fn deadline(&self) -> Duration {
        Duration::from_millis(self.deadline_ms)
    }

    pub(crate) fn tick(&self) -> Duration {
        Duration::from_millis(self.tick_ms)
    }

    /// `cpu_ms` in ticks.
    pub(crate) fn cpu_ticks(&self) -> u64 {
        self.cpu_ms.div_ceil(self.tick_ms)
    }

    pub(crate) fn request_body(&self) -> Duration {
        Duration::from_millis(self.request_body_ms)
    }

    pub(crate) fn drain_time(&self) -> Duration {
        Duration::from_millis(self.drain_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_hold() {
        assert_eq!(Limits::default().validate(), Ok(()));
    }

    #[test]
    fn a_bad_setting_is_named() {
        let limits = Limits { instances: 0, ..Limits::default() };
        assert_eq!(limits.validate().unwrap_err().to_string(), "instances: must be 1 to 10000");
        let limits = Limits { cpu_ms: 1, ..Limits::default() };
        assert_eq!(limits.validate().unwrap_err().to_string(), "cpu_ms: must be at least tick_ms");
    }

    #[test]
    fn ticks_are_rounded_up() {
        assert_eq!(Limits { cpu_ms: 11, tick_ms: 5, ..Limits::default() }.cpu_ticks(), 3);
    }
}
