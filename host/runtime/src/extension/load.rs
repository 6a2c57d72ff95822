//! From the bytes of an extension to something that can be instantiated in a moment.

use std::path::Path;

use wasmtime::component::{Component, HasData, Linker, ResourceTable};
use wasmtime::{Config, Engine, InstanceAllocationStrategy, PoolingAllocationConfig};
use wasmtime_wasi::WasiView;
use wasmtime_wasi::cli::{WasiCli, WasiCliView};
use wasmtime_wasi::clocks::{WasiClocks, WasiClocksView};
use wasmtime_wasi::p2::bindings::{cli, clocks, io, random};
use wasmtime_wasi::random::WasiRandom;

use super::bindings::{ExtensionPre, kobana};
use super::settings::Settings;
use super::shape::{self, Shape};
use super::state::State;
use super::threads;
use crate::limits::HOST_STACK;
use crate::load::{StartError, check_kind, line, open_cache, unversioned};

/// What an extension must export.
const EXPORTS: &[&str] = &["describe", "call-tool", "read-resource", "get-prompt"];

/// What [`linker`] links.
const LINKED: &[&str] = &[
    "kobana:extension/api@0.1",
    "kobana:extension/log@0.1",
    "kobana:extension/types@0.1",
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
    "wasi:io/error@0.2",
    "wasi:io/poll@0.2",
    "wasi:io/streams@0.2",
    "wasi:random/insecure-seed@0.2",
    "wasi:random/insecure@0.2",
    "wasi:random/random@0.2",
];

/// Why bytes are no extension. Each reads as one line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// The bytes are something else.
    #[error("it is not a WebAssembly component: {0}")]
    NotAComponent(String),
    /// There are too many of them.
    #[error("the component has {size} bytes, and {limit} are allowed")]
    TooLarge {
        /// How many there are.
        size: usize,
        /// How many there may be.
        limit: usize,
    },
    /// They do not make a valid component, or one that needs more than the engine has room for.
    #[error("the component cannot be used: {0}")]
    Unusable(String),
    /// It wants what an extension does not get.
    #[error("the component imports what an extension does not get: {}", .0.join(", "))]
    Imports(Vec<String>),
    /// It does not give what an extension has to.
    #[error("the component does not export {}", .0.join(", "))]
    Exports(Vec<String>),
    /// It has an interface in another shape than `wit/extension/extension.wit`.
    #[error("the component does not fit this host: {0}")]
    Mismatch(String),
}

/// A compiled and linked extension. Clones share it; the last one to go frees it.
#[derive(Clone)]
pub struct Artifact(pub(super) ExtensionPre<State>);

impl Artifact {
    /// How many bytes of compiled code and data it keeps in memory, about.
    #[must_use]
    pub fn size(&self) -> usize {
        let image = self.0.instance_pre().component().image_range();
        image.end.addr().saturating_sub(image.start.addr())
    }
}

impl std::fmt::Debug for Artifact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Artifact")
    }
}

/// Sets up an engine. Compiled code is kept in `cache`, by the content of the component and the version of the engine.
pub(super) fn engine(settings: &Settings, cache: Option<&Path>) -> Result<Engine, StartError> {
    let mut config = Config::new();
    config
        .consume_fuel(true)
        .epoch_interruption(true)
        // An extension is called, answers, and that is it. Without the event loop a call is cheaper.
        .wasm_component_model_async(false)
        .concurrency_support(false)
        .max_wasm_stack(settings.stack)
        .async_stack_size(settings.stack + HOST_STACK)
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool(settings)));
    if let Some(directory) = cache {
        config.cache(Some(open_cache(directory)?));
    }
    Engine::new(&config).map_err(|problem| StartError::Engine(line(&problem)))
}

fn pool(settings: &Settings) -> PoolingAllocationConfig {
    let calls = settings.calls;
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(calls)
        .total_core_instances(calls.saturating_mul(settings.core_instances))
        .max_core_instances_per_component(settings.core_instances)
        .total_memories(calls.saturating_mul(settings.memories))
        .max_memories_per_component(settings.memories)
        .max_memory_size(settings.memory)
        .total_tables(calls.saturating_mul(settings.tables))
        .max_tables_per_component(settings.tables)
        .table_elements(settings.table_elements)
        .total_stacks(calls);
    pool
}

/// Compiles a component, checks that it fits and links it.
pub(super) fn load(linker: &Linker<State>, settings: &Settings, bytes: &[u8]) -> Result<Artifact, Unfit> {
    if bytes.len() > settings.component {
        return Err(Unfit::TooLarge { size: bytes.len(), limit: settings.component });
    }
    check_kind(bytes).map_err(|problem| match problem {
        StartError::NotAComponent(what) => Unfit::NotAComponent(what.to_owned()),
        other => Unfit::Unusable(other.to_string()),
    })?;
    check_shape(bytes)?;
    let compile = || Component::from_binary(linker.engine(), bytes).map_err(|problem| Unfit::Unusable(line(&problem)));
    let component = threads::for_compiling().map_err(Unfit::Unusable)?.install(compile)?;
    let fit = |problem: wasmtime::Error| Unfit::Mismatch(line(&problem));
    let linked = linker.instantiate_pre(&component).map_err(fit)?;
    ExtensionPre::new(linked).map(Artifact).map_err(fit)
}

/// Checks what a component imports and exports, by name.
fn check_shape(bytes: &[u8]) -> Result<(), Unfit> {
    let Shape { imports, exports } = shape::read(bytes).map_err(Unfit::Unusable)?;
    let known = |name: &String| LINKED.contains(&unversioned(name));
    let unknown: Vec<String> = imports.into_iter().filter(|name| !known(name)).collect();
    if !unknown.is_empty() {
        return Err(Unfit::Imports(unknown));
    }
    let there = |name: &str| exports.iter().any(|export| export == name);
    let missing: Vec<String> = EXPORTS.iter().filter(|name| !there(name)).map(|name| (*name).to_owned()).collect();
    if missing.is_empty() { Ok(()) } else { Err(Unfit::Exports(missing)) }
}

/// `wasi:io` needs nothing but the table.
struct Io;

impl HasData for Io {
    type Data<'a> = &'a mut ResourceTable;
}

/// The time of day is not for extensions. A program in Rust that measures time imports it along with the clock that it uses, so
/// it is there; whoever asks it is stopped.
struct NoTimeOfDay;

impl HasData for NoTimeOfDay {
    type Data<'a> = Self;
}

impl clocks::wall_clock::Host for NoTimeOfDay {
    fn now(&mut self) -> wasmtime::Result<clocks::wall_clock::Datetime> {
        Err(wasmtime::format_err!("it asked for the time of day, which an extension does not get"))
    }

    fn resolution(&mut self) -> wasmtime::Result<clocks::wall_clock::Datetime> {
        self.now()
    }
}

/// The API, the log, and what a program asks for whether it uses it or not. There is no file, no socket and no request in it.
/// Whatever is called is counted on its way to the host.
pub(super) fn linker(engine: &Engine) -> wasmtime::Result<Linker<State>> {
    let mut linker = Linker::new(engine);
    let l = &mut linker;
    cli::environment::add_to_linker::<State, WasiCli>(l, |state| state.called().cli())?;
    cli::exit::add_to_linker::<State, WasiCli>(l, |state| state.called().cli())?;
    cli::stdin::add_to_linker::<State, WasiCli>(l, |state| state.called().cli())?;
    cli::stdout::add_to_linker::<State, WasiCli>(l, |state| state.called().cli())?;
    cli::stderr::add_to_linker::<State, WasiCli>(l, |state| state.called().cli())?;
    cli::terminal_input::add_to_linker::<State, WasiCli>(l, |state| state.called().cli())?;
    cli::terminal_output::add_to_linker::<State, WasiCli>(l, |state| state.called().cli())?;
    cli::terminal_stdin::add_to_linker::<State, WasiCli>(l, |state| state.called().cli())?;
    cli::terminal_stdout::add_to_linker::<State, WasiCli>(l, |state| state.called().cli())?;
    cli::terminal_stderr::add_to_linker::<State, WasiCli>(l, |state| state.called().cli())?;
    clocks::monotonic_clock::add_to_linker::<State, WasiClocks>(l, |state| state.called().clocks())?;
    clocks::wall_clock::add_to_linker::<State, NoTimeOfDay>(l, |_| NoTimeOfDay)?;
    io::error::add_to_linker::<State, Io>(l, |state| state.called().ctx().table)?;
    io::poll::add_to_linker::<State, Io>(l, |state| state.called().ctx().table)?;
    io::streams::add_to_linker::<State, Io>(l, |state| state.called().ctx().table)?;
    random::insecure::add_to_linker::<State, WasiRandom>(l, |state| state.called().ctx().ctx.random())?;
    random::insecure_seed::add_to_linker::<State, WasiRandom>(l, |state| state.called().ctx().ctx.random())?;
    random::random::add_to_linker::<State, WasiRandom>(l, |state| state.called().ctx().ctx.random())?;
    kobana::extension::api::add_to_linker::<State, State>(l, State::called)?;
    kobana::extension::log::add_to_linker::<State, State>(l, State::called)?;
    Ok(linker)
}
