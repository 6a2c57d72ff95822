//! What a call used, and why it was ended.

use std::fmt;
use std::time::Duration;

use kobana_wire::extension as wire;
use wasmtime::component::ResourceTableError;
use wasmtime::{PoolConcurrencyLimitError, WasmBacktrace};
use wasmtime_wasi::I32Exit;

use super::settings::{Limits, Settings};

/// What a call used, whatever came of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Fuel: about one unit for each instruction of WebAssembly. Of a call that took too long it is what was on record when it was
    /// ended, which a loop that calls nothing does not add to.
    pub fuel: u64,
    /// The largest size of its memories together, in bytes.
    pub memory: usize,
    /// Calls of the host, of whatever kind.
    pub host_calls: u32,
    /// Calls of the API among them.
    pub api_calls: u32,
    /// Bytes written to the log.
    pub log: usize,
    /// Bytes of the answer's texts and documents.
    pub output: usize,
    /// From the moment that it was let in until it had ended, waiting included.
    pub time: Duration,
}

/// Why there is no answer of the extension. `Display` is one sentence for people. It names the limit and its size and has
/// nothing of the extension's own words, but for [`BadAnswer`](Self::BadAnswer), which names the field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stopped {
    /// It needs more memory; the limit in bytes.
    Memory(usize),
    /// Its tables need more elements; the limit.
    Tables(usize),
    /// It computes too much; the limit in units of fuel.
    Fuel(u64),
    /// It takes too long; the limit in milliseconds.
    Time(u64),
    /// It calls the host too often; the limit.
    HostCalls(u32),
    /// It calls the API too often; the limit.
    ApiCalls(u32),
    /// It writes too much to the log; the limit in bytes.
    Log(usize),
    /// It answers, or hands over in one call of the host, too much; the limit in bytes.
    Output(usize),
    /// Its calls are nested too deep; the size of the stack in bytes.
    Stack(usize),
    /// It holds too many host objects; the limit.
    Handles(usize),
    /// It broke.
    Trap(Trap),
    /// It ended itself instead of answering.
    Exit,
    /// What it answered cannot be used: which field of it, and why.
    BadAnswer(String),
    /// It did not run: there was no room for it in time.
    Busy,
}

/// How an extension broke.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trap {
    /// What the engine says, such as `wasm unreachable instruction executed`.
    pub reason: String,
    /// The functions that were being called, innermost first, as far as the component has names for them. For its developer:
    /// they are the extension's own words.
    pub frames: Vec<String>,
}

impl Stopped {
    /// The setting below `extensions.limits` (or, of the engine, below `extensions.sandbox`) that was run into.
    #[must_use]
    pub fn setting(&self) -> Option<&'static str> {
        match self {
            Self::Memory(_) => Some("memory"),
            Self::Tables(_) => Some("table_elements"),
            Self::Fuel(_) => Some("fuel"),
            Self::Time(_) => Some("time_ms"),
            Self::HostCalls(_) => Some("host_calls"),
            Self::ApiCalls(_) => Some("api_calls"),
            Self::Log(_) => Some("log"),
            Self::Output(_) => Some("output"),
            Self::Stack(_) => Some("stack"),
            Self::Handles(_) => Some("handles"),
            Self::Trap(_) | Self::Exit | Self::BadAnswer(_) | Self::Busy => None,
        }
    }

    /// For programs: `extension_limit`, `extension_trap`, `extension_invalid_answer` or `extension_unavailable`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Trap(_) | Self::Exit => "extension_trap",
            Self::BadAnswer(_) => "extension_invalid_answer",
            Self::Busy => "extension_unavailable",
            _ => "extension_limit",
        }
    }
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(limit) => write!(f, "The extension needs more memory than it may have ({limit} bytes)."),
            Self::Tables(limit) => write!(f, "The extension's tables need more than {limit} elements."),
            Self::Fuel(limit) => write!(f, "The extension computed longer than it may ({limit} units of fuel)."),
            Self::Time(limit) => write!(f, "The extension took longer than {limit} ms."),
            Self::HostCalls(limit) => write!(f, "The extension called the host more than {limit} times."),
            Self::ApiCalls(limit) => write!(f, "The extension called the API more than {limit} times."),
            Self::Log(limit) => write!(f, "The extension wrote more than {limit} bytes to its log."),
            Self::Output(limit) => write!(f, "The extension handed over more than {limit} bytes in one piece."),
            Self::Stack(limit) => write!(f, "The extension's calls are nested deeper than its stack of {limit} bytes."),
            Self::Handles(limit) => write!(f, "The extension holds more than {limit} objects of the host."),
            Self::Trap(trap) => write!(f, "The extension broke: {}.", trap.reason),
            Self::Exit => f.write_str("The extension ended itself instead of answering."),
            Self::BadAnswer(problem) => write!(f, "The extension's answer cannot be used: {problem}."),
            Self::Busy => f.write_str("Too many extensions are running. Try again in a moment."),
        }
    }
}

impl std::error::Error for Stopped {}

/// What the engine says when a call hands over too much at once. Its error has no public type.
const TOO_MUCH: &str = "fuel allocated for hostcalls has been exhausted";

/// The most functions of a trap that are kept.
const MOST_FRAMES: usize = 32;

/// Names what ended a call.
pub(super) fn name(problem: &wasmtime::Error, settings: &Settings, limits: &Limits) -> Stopped {
    if let Some(stopped) = problem.chain().find_map(|cause| cause.downcast_ref::<Stopped>()) {
        return stopped.clone();
    }
    if problem.is::<I32Exit>() {
        return Stopped::Exit;
    }
    if problem.is::<PoolConcurrencyLimitError>() {
        return Stopped::Busy;
    }
    if matches!(problem.downcast_ref(), Some(ResourceTableError::Full)) {
        return Stopped::Handles(settings.handles);
    }
    match problem.downcast_ref::<wasmtime::Trap>() {
        Some(wasmtime::Trap::OutOfFuel) => Stopped::Fuel(limits.fuel),
        Some(wasmtime::Trap::StackOverflow) => Stopped::Stack(settings.stack),
        _ if problem.root_cause().to_string().contains(TOO_MUCH) => Stopped::Output(limits.output),
        _ => Stopped::Trap(Trap { reason: reason(problem), frames: frames(problem) }),
    }
}

/// What happened, in the engine's words.
fn reason(problem: &wasmtime::Error) -> String {
    let reason = problem.root_cause().to_string();
    let reason = reason.strip_prefix("wasm trap: ").unwrap_or(&reason);
    reason.replace('\n', " ")
}

fn frames(problem: &wasmtime::Error) -> Vec<String> {
    let backtrace = problem.downcast_ref::<WasmBacktrace>();
    let frames = backtrace.map(WasmBacktrace::frames).unwrap_or_default();
    frames.iter().filter_map(|frame| frame.func_name()).take(MOST_FRAMES).map(str::to_owned).collect()
}

impl From<&Stopped> for wire::Stopped {
    fn from(stopped: &Stopped) -> Self {
        Self {
            code: stopped.code().to_owned(),
            message: stopped.to_string(),
            limit: stopped.setting().map(str::to_owned),
            retry_after: matches!(stopped, Stopped::Busy).then_some(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_named_with_its_size() {
        let stopped = wire::Stopped::from(&Stopped::Time(250));
        assert_eq!(stopped.code, "extension_limit");
        assert_eq!(stopped.limit.as_deref(), Some("time_ms"));
        assert_eq!(stopped.message, "The extension took longer than 250 ms.");
        assert_eq!(stopped.retry_after, None);
    }

    #[test]
    fn who_is_turned_away_may_come_again() {
        let stopped = wire::Stopped::from(&Stopped::Busy);
        assert_eq!((stopped.code.as_str(), stopped.retry_after), ("extension_unavailable", Some(1)));
    }
}
