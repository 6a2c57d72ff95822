//! The command line of `kobana extension test`.

use std::path::PathBuf;

use clap::Args;
use regex::Regex;

use super::matcher;

/// Each case gets a workspace of its own, with the demo's data, and runs in the sandbox that the server runs extensions in. Nothing
/// is kept, and no server is needed. Exit code 0: everything is as expected; 1: something is not; 2: nothing was tried.
#[derive(Debug, Args)]
pub(crate) struct Test {
    /// The component
    #[arg(value_name = "FILE.wasm")]
    pub(super) component: PathBuf,
    /// What to ask, and what has to come of it
    #[arg(long, value_name = "CASES.yaml", required_unless_present = "fuzz")]
    pub(super) cases: Option<PathBuf>,
    /// Run only the cases, and try only the tools, whose names this finds
    #[arg(long, value_name = "REGEX", value_parser = matcher::regex)]
    pub(super) filter: Option<Regex>,
    /// Try N arguments made of its schema on each tool, looking for traps, limits that are hit and budgets that are overrun
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(super) fuzz: Option<u64>,
    /// What the arguments are made of; the same number makes the same ones [default: another one every time]
    #[arg(long, value_name = "N", requires = "fuzz")]
    pub(super) seed: Option<u64>,
    /// Write the results in JUnit's form, too
    #[arg(long, value_name = "FILE.xml")]
    pub(super) junit: Option<PathBuf>,
    /// Write one JSON document instead of the table
    #[arg(long)]
    pub(super) json: bool,
    /// Run again whenever one of the files changes, until Ctrl-C
    #[arg(long, conflicts_with = "json")]
    pub(super) watch: bool,
    /// Configuration file in TOML, for the limits [default: kobana.toml, if it exists]
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
}
