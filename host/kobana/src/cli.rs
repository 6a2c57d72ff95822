//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

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

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve the MCP endpoint /mcp and the REST API /api/v1
    Serve(Serve),
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
