//! From the bytes of a component to something that can be instantiated in a moment.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, InstancePre, Linker};
use wasmtime::{Cache, CacheConfig, Config, Engine, InstanceAllocationStrategy, PoolingAllocationConfig};
use wasmtime_wasi::cli::{WasiCli, WasiCliView};
use wasmtime_wasi::p2::bindings::cli;
use wasmtime_wasi_http::p2::bindings::{LinkOptions, http};
use wasmtime_wasi_http::{WasiHttp, WasiHttpView};

use crate::limits::{HOST_STACK, Limits, LimitsError};
use crate::state::State;

/// What a component must export.
const EXPORT: &str = "wasi:http/incoming-handler@0.2";

/// Where a component comes from.
#[derive(Debug, Clone)]
pub enum Source {
    /// The bytes of the component.
    Bytes(Cow<'static, [u8]>),
    /// A file that holds them.
    File(PathBuf),
}

/// Why a runtime does not start. Each reads as one line.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A limit makes no sense.
    #[error("limit {0}")]
    Limits(#[from] LimitsError),
    /// The file of the component cannot be read.
    #[error("cannot read the component {}: {problem}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        problem: std::io::Error,
    },
    /// The bytes are something else.
    #[error("the component is not a WebAssembly component: {0}")]
    NotAComponent(&'static str),
    /// The bytes do not make a valid component, or one that needs more than the limits allow.
    #[error("the component cannot be used: {0}")]
    Unusable(String),
    /// It wants what this host does not give.
    #[error("the component imports what this host does not give: {}", .0.join(", "))]
    Imports(Vec<String>),
    /// It does not give what this host wants.
    #[error("the component does not export {0}")]
    Export(&'static str),
    /// It uses an interface of this host in another shape.
    #[error("the component does not fit this host: {0}")]
    Mismatch(String),
    /// The directory for compiled code cannot be used.
    #[error("cannot use the cache directory {}: {problem}", path.display())]
    Cache {
        /// The directory.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The engine cannot be set up; most often the limits ask for more address space than there is.
    #[error("cannot set up the engine: {0}")]
    Engine(String),
}

impl Source {
    fn bytes(self) -> Result<Cow<'static, [u8]>, StartError> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            Self::File(path) => match std::fs::read(&path) {
                Ok(bytes) => Ok(bytes.into()),
                Err(problem) => Err(StartError::Read { path, problem }),
            },
        }
    }
}

/// Sets up an engine. Compiled code is kept in `cache`.
pub(crate) fn engine(limits: &Limits, cache: Option<&Path>) -> Result<Engine, StartError> {
    let mut config = Config::new();
    config
        // Only what exports or imports `async` functions needs it, and each call in either direction would pay for it.
        .concurrency_support(false)
        .epoch_interruption(true)
        .max_wasm_stack(limits.stack)
        .async_stack_size(limits.stack + HOST_STACK)
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool(limits)));
    if let Some(directory) = cache {
        config.cache(Some(open_cache(directory)?));
    }
    Engine::new(&config).map_err(|problem| StartError::Engine(line(&problem)))
}

fn pool(limits: &Limits) -> PoolingAllocationConfig {
    let instances = limits.pool();
    let cores = instances.saturating_mul(limits.core_instances);
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(instances)
        .total_core_instances(cores)
        .max_core_instances_per_component(limits.core_instances)
        // One with the program; the others of a component's core modules are glue.
        .total_memories(instances)
        .max_memories_per_component(1)
        .max_memory_size(limits.memory)
        .total_tables(instances.saturating_mul(limits.tables))
        .max_tables_per_component(limits.tables)
        .table_elements(limits.table_elements)
        .total_stacks(instances.saturating_mul(2));
    pool
}

pub(crate) fn open_cache(directory: &Path) -> Result<Cache, StartError> {
    let refuse = |problem: String| StartError::Cache { path: directory.to_owned(), problem };
    std::fs::create_dir_all(directory).map_err(|problem| refuse(problem.to_string()))?;
    let path = directory.canonicalize().map_err(|problem| refuse(problem.to_string()))?;
    let mut config = CacheConfig::new();
    config.with_directory(path);
    Cache::new(config).map_err(|problem| refuse(line(&problem)))
}

/// Compiles a component, checks that it fits and links it.
pub(crate) fn load(engine: &Engine, source: Source) -> Result<InstancePre<State>, StartError> {
    let bytes = source.bytes()?;
    check_kind(&bytes)?;
    let component = Component::from_binary(engine, &bytes).map_err(|problem| StartError::Unusable(line(&problem)))?;
    check_shape(engine, &component)?;
    let fit = |problem: wasmtime::Error| StartError::Mismatch(line(&problem));
    let linker = linker(engine).map_err(fit)?;
    linker.instantiate_pre(&component).map_err(fit)
}

/// Tells a component from what is taken for one by mistake.
pub(crate) fn check_kind(bytes: &[u8]) -> Result<(), StartError> {
    match (bytes.get(..4), bytes.get(4..8)) {
        (Some(b"\0asm"), Some([0x0d, 0, 1, 0])) => Ok(()),
        (Some(b"\0asm"), Some([1, 0, 0, 0])) => Err(StartError::NotAComponent("it is a core module")),
        (Some(b"\0asm"), Some(_)) => Err(StartError::NotAComponent("it is of an unknown version")),
        _ => Err(StartError::NotAComponent("it is not WebAssembly")),
    }
}

fn check_shape(engine: &Engine, component: &Component) -> Result<(), StartError> {
    let shape = component.component_type();
    let known = |name: &str| LINKED.contains(&unversioned(name));
    let unknown: Vec<String> =
        shape.imports(engine).map(|(name, _)| name).filter(|name| !known(name)).map(str::to_owned).collect();
    if !unknown.is_empty() {
        return Err(StartError::Imports(unknown));
    }
    let handles = |name: &str, item: &ComponentItem| {
        name.starts_with(EXPORT) && matches!(item, ComponentItem::ComponentInstance(_))
    };
    if shape.exports(engine).any(|(name, item)| handles(name, &item.ty)) {
        Ok(())
    } else {
        Err(StartError::Export(EXPORT))
    }
}

/// The name of an interface without what tells compatible versions apart: `wasi:io/poll@0.2.3` is `wasi:io/poll@0.2`.
pub(crate) fn unversioned(name: &str) -> &str {
    match name.split_once('@').map(|(_, version)| version.matches('.').count()) {
        Some(2) => name.rsplit_once('.').map_or(name, |(front, _)| front),
        _ => name,
    }
}

/// What [`linker`] links.
const LINKED: &[&str] = &[
    "kobana:api/dispatch@0.1",
    "wasi:cli/environment@0.2",
    "wasi:cli/exit@0.2",
    "wasi:cli/stderr@0.2",
    "wasi:cli/stdin@0.2",
    "wasi:cli/stdout@0.2",
    "wasi:cli/terminal-input@0.2",
    "wasi:cli/terminal-output@0.2",
    "wasi:cli/terminal-stderr@0.2",
    "wasi:cli/terminal-stdin@0.2",
    "wasi:cli/terminal-stdout@0.2",
    "wasi:clocks/monotonic-clock@0.2",
    "wasi:clocks/wall-clock@0.2",
    "wasi:http/types@0.2",
    "wasi:io/error@0.2",
    "wasi:io/poll@0.2",
    "wasi:io/streams@0.2",
    "wasi:random/random@0.2",
];

/// What a Rust program asks for whether it uses it or not, `wasi:http/types`, and the API. There is no file, no socket
/// and no outgoing request in it.
fn linker(engine: &Engine) -> wasmtime::Result<Linker<State>> {
    let mut linker = Linker::new(engine);
    let l = &mut linker;
    wasmtime_wasi::p2::add_to_linker_proxy_interfaces_async(l)?;
    cli::environment::add_to_linker::<State, WasiCli>(l, State::cli)?;
    cli::exit::add_to_linker::<State, WasiCli>(l, State::cli)?;
    cli::terminal_input::add_to_linker::<State, WasiCli>(l, State::cli)?;
    cli::terminal_output::add_to_linker::<State, WasiCli>(l, State::cli)?;
    cli::terminal_stdin::add_to_linker::<State, WasiCli>(l, State::cli)?;
    cli::terminal_stdout::add_to_linker::<State, WasiCli>(l, State::cli)?;
    cli::terminal_stderr::add_to_linker::<State, WasiCli>(l, State::cli)?;
    http::types::add_to_linker::<State, WasiHttp>(l, &(&LinkOptions::default()).into(), State::http)?;
    crate::bindings::kobana::api::dispatch::add_to_linker::<State, State>(l, |state| state)?;
    Ok(linker)
}

/// An error with its causes, on one line.
pub(crate) fn line(error: &wasmtime::Error) -> String {
    format!("{error:#}").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_cut_to_what_is_compatible() {
        assert_eq!(unversioned("wasi:io/poll@0.2.12"), "wasi:io/poll@0.2");
        assert_eq!(unversioned("wasi:io/poll"), "wasi:io/poll");
    }

    #[test]
    fn what_is_no_component_is_named() {
        let problem = |bytes: &[u8]| check_kind(bytes).unwrap_err().to_string();
        assert!(problem(b"").ends_with("it is not WebAssembly"));
        assert!(problem(b"\0asm\x01\0\0\0").ends_with("it is a core module"));
        assert!(check_kind(b"\0asm\x0d\0\x01\0").is_ok());
    }
}
