//! The numbers: what the engine reserves for everybody, and what one call may use.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::limits::LimitsError;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;
/// Bytes in a page of WebAssembly memory.
const PAGE: usize = 64 * KIB;
/// The largest memory that 32-bit WebAssembly can address.
const LARGEST: usize = 1 << 32;

/// What the engine reserves when it starts. Address space is reserved, memory is not: that comes with use. Sizes are in
/// bytes, durations in milliseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Calls that run at once. 1 to 1,000.
    pub calls: u32,
    /// How long a call waits for one of them to end before it is turned away.
    pub queue_wait_ms: u64,
    /// Threads that extensions compute on, and as many more that go on when nothing else wants a processor. All have a lower priority
    /// than the server's own. Half of the processors unless set. 1 to 256.
    pub threads: Option<u32>,
    /// The largest component that is compiled. At least 64 KiB.
    pub component: usize,
    /// The largest memory that [`Limits::memory`] can grant. 64 KiB to 4 GiB.
    pub memory: usize,
    /// Memories in a component. 1 to 16.
    pub memories: u32,
    /// The most elements that [`Limits::table_elements`] can grant. 1 to 10,000,000.
    pub table_elements: usize,
    /// Tables in a component. 1 to 1,000.
    pub tables: u32,
    /// Core modules in a component. 1 to 1,000.
    pub core_instances: u32,
    /// Stack of an extension. 64 KiB to 16 MiB.
    pub stack: usize,
    /// Host objects, such as streams, that a call may hold at once. At least 32.
    pub handles: usize,
    /// How often a computing extension steps aside for others and is looked at. 1 to 1,000.
    pub tick_ms: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            calls: 32,
            queue_wait_ms: 2_000,
            threads: None,
            component: 32 * MIB,
            memory: 256 * MIB,
            memories: 2,
            table_elements: 100_000,
            tables: 8,
            core_instances: 32,
            stack: MIB / 2,
            handles: 512,
            tick_ms: 2,
        }
    }
}

impl Settings {
    /// Whether the numbers make sense.
    ///
    /// # Errors
    /// The first setting that does not.
    pub fn validate(&self) -> Result<(), LimitsError> {
        first(&[
            ("calls", "must be 1 to 1000", (1..=1_000).contains(&self.calls)),
            ("threads", "must be 1 to 256", self.threads.is_none_or(|threads| (1..=256).contains(&threads))),
            ("component", "must be at least 65536 (64 KiB)", self.component >= PAGE),
            ("memory", "must be 65536 (64 KiB) to 4294967296 (4 GiB)", (PAGE..=LARGEST).contains(&self.memory)),
            ("memories", "must be 1 to 16", (1..=16).contains(&self.memories)),
            ("table_elements", "must be 1 to 10000000", (1..=10_000_000).contains(&self.table_elements)),
            ("tables", "must be 1 to 1000", (1..=1_000).contains(&self.tables)),
            ("core_instances", "must be 1 to 1000", (1..=1_000).contains(&self.core_instances)),
            ("stack", "must be 65536 (64 KiB) to 16777216 (16 MiB)", (PAGE..=16 * MIB).contains(&self.stack)),
            ("handles", "must be at least 32", self.handles >= 32),
            ("tick_ms", "must be 1 to 1000", (1..=1_000).contains(&self.tick_ms)),
        ])
    }

    pub(super) fn queue_wait(&self) -> Duration {
        Duration::from_millis(self.queue_wait_ms)
    }

    pub(super) fn tick(&self) -> Duration {
        Duration::from_millis(self.tick_ms)
    }

    /// `threads`, or its default.
    pub(super) fn threads(&self) -> usize {
        let half = || std::thread::available_parallelism().map_or(1, |cores| cores.get().div_ceil(2));
        self.threads.map_or_else(half, |threads| threads as usize)
    }
}

/// What one call may use. Sizes are in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Memory, of all memories together. At least 64 KiB, at most [`Settings::memory`].
    pub memory: usize,
    /// Elements of all tables together. At most [`Settings::table_elements`].
    pub table_elements: usize,
    /// What it may compute: about one unit for each instruction of WebAssembly. Waiting costs none.
    pub fuel: u64,
    /// How long it may take, waiting included. At least 1.
    pub time_ms: u64,
    /// Calls of the host, of whatever kind. One that only asks for the time, for random bytes or for its environment is
    /// counted as it is made and stopped a little later.
    pub host_calls: u32,
    /// Calls of the API among them.
    pub api_calls: u32,
    /// What it may write to the log, to its standard output and to its standard error together.
    pub log: usize,
    /// The longest answer, and the longest body of a call of the API. At least 1 KiB.
    pub output: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory: 64 * MIB,
            table_elements: 50_000,
            fuel: 1_000_000_000,
            time_ms: 10_000,
            host_calls: 10_000,
            api_calls: 200,
            log: 64 * KIB,
            output: 4 * MIB,
        }
    }
}

impl Limits {
    /// Whether the numbers make sense, and the engine has room for them.
    ///
    /// # Errors
    /// The first limit that does not, or for which there is none.
    pub fn validate(&self, settings: &Settings) -> Result<(), LimitsError> {
        first(&[
            ("memory", "must be at least 65536 (64 KiB)", self.memory >= PAGE),
            ("memory", "must be at most what the sandbox's setting memory says", self.memory <= settings.memory),
            (
                "table_elements",
                "must be at most what the sandbox's setting table_elements says",
                self.table_elements <= settings.table_elements,
            ),
            ("fuel", "must be at least 1", self.fuel >= 1),
            ("time_ms", "must be at least 1", self.time_ms >= 1),
            ("output", "must be at least 1024 (1 KiB)", self.output >= KIB),
        ])
    }

    pub(super) fn time(&self) -> Duration {
        Duration::from_millis(self.time_ms)
    }
}

pub(super) fn first(rules: &[(&'static str, &'static str, bool)]) -> Result<(), LimitsError> {
    match rules.iter().find(|(.., holds)| !holds) {
        None => Ok(()),
        Some((setting, problem, _)) => Err(LimitsError { setting, problem }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_in_order() {
        assert_eq!(Settings::default().validate(), Ok(()));
        assert_eq!(Limits::default().validate(&Settings::default()), Ok(()));
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        let setting = |settings: Settings| settings.validate().unwrap_err().setting;
        assert_eq!(setting(Settings { calls: 0, ..Settings::default() }), "calls");
        assert_eq!(setting(Settings { threads: Some(0), ..Settings::default() }), "threads");
        assert_eq!(setting(Settings { tick_ms: 0, ..Settings::default() }), "tick_ms");
        let limit = |limits: Limits| limits.validate(&Settings::default()).unwrap_err().to_string();
        let small = limit(Limits { memory: 1, ..Limits::default() });
        assert_eq!(small, "memory: must be at least 65536 (64 KiB)");
        let large = limit(Limits { memory: LARGEST, ..Limits::default() });
        assert_eq!(large, "memory: must be at most what the sandbox's setting memory says");
        assert!(limit(Limits { fuel: 0, ..Limits::default() }).starts_with("fuel: "));
    }
}
