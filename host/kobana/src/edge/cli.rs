//! What stands behind `kobana edge`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct Command {
    #[command(subcommand)]
    pub(crate) action: Action,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Write the component that runs on Spin, wasmCloud, wasmtime serve and other runtimes of WASI 0.2
    Build(Build),
}

/// The component is the gateway and the edge adapter in one: it answers MCP where it runs, and asks a server that you run,
/// one with `edge.listen` set, for everything else.
#[derive(Debug, Args)]
pub(crate) struct Build {
    /// Where to write it
    #[arg(short, long, value_name = "FILE", default_value = "kobana-edge.wasm")]
    pub(crate) output: PathBuf,
    /// Write its two parts as well, gateway.wasm and adapter.wasm, for runtimes that compose by themselves, as Spin does
    #[arg(long, value_name = "DIR")]
    pub(crate) parts: Option<PathBuf>,
}
