//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::{admin, edge, extension, ingest, serve};

/// Kobana Autonomous Inbox over MCP.
///
/// An organization's inboxes receive e-mails, agents process them, webhooks carry the outcome away. This server lets
/// assistants work with all that through the Model Context Protocol, and programs through a REST API.
#[derive(Debug, Parser)]
#[command(name = "kobana", version, arg_required_else_help = true, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Does what the command line says.
pub(crate) fn main() -> ExitCode {
    let Cli { command } = Cli::parse();
    let outcome = match command {
        Command::Serve(options) => serve::run(&options).map(|()| ExitCode::SUCCESS),
        Command::Admin(options) => admin::run(&options),
        Command::Token(options) => admin::run_token(&options),
        Command::Ingest(options) => ingest::run(&options),
        Command::Extension(command) => extension::run(&command),
        Command::Edge(command) => edge::run(&command),
    };
    match outcome {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("{}: {failure}", env!("CARGO_BIN_NAME"));
            ExitCode::from(2)
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve the MCP endpoint /mcp and the REST API /api/v1
    Serve(Serve),
    /// Organizations, workspaces, persons and who may do what
    Admin(crate::admin::Admin),
    /// Tokens for scripts
    Token(crate::admin::Token),
    /// Hand in raw messages from files, as if they had arrived at an inbox's address
    Ingest(Ingest),
    /// Tools, resources and prompts of a workspace's own, as WebAssembly components
    Extension(crate::extension::Command),
    /// Make the component that serves MCP on other people's WebAssembly runtimes
    Edge(crate::edge::Command),
}

/// Settings come from the configuration file, then from environment variables such as KOBANA_LISTEN or
/// KOBANA_RUNTIME__INSTANCES, then from these options; the later one wins.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Seed sample data and accept fixed tokens, which the start prints; on a loopback address only
    #[arg(long)]
    pub(crate) demo: bool,
    /// Address to listen on [default: 127.0.0.1:3028]; port 0 takes a free one
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<SocketAddr>,
    /// Directory that holds the database; without it the demo keeps its data in memory
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Configuration file in TOML [default: kobana.toml, if it exists]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Gateway component to run instead of the built-in one
    #[arg(long, value_name = "FILE")]
    pub(crate) component: Option<PathBuf>,
}

/// Works on the data directory itself, whether or not a server runs on it. Exit code 0: the inbox holds all messages now;
/// 1: some were not taken in; 2: nothing was tried.
#[derive(Debug, Args)]
pub(crate) struct Ingest {
    /// Messages in the form of RFC 5322, up to 40 MB each
    #[arg(required = true, value_name = "FILE.eml")]
    pub(crate) files: Vec<PathBuf>,
    /// The inbox, by UUID, external_id or address
    #[arg(long, value_name = "ID")]
    pub(crate) inbox: String,
    /// The workspace, by UUID or external_id, where the name of the inbox is not enough
    #[arg(long, value_name = "ID")]
    pub(crate) workspace: Option<String>,
    /// Directory that holds the database
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Configuration file in TOML [default: kobana.toml, if it exists]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}
