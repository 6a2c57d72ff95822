//! The command line of `kobana extension`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::test;
use crate::admin::Place;

/// What stands below the list of commands.
const ABOUT: &str = "Several versions of an extension may be there; callers see the one that is enabled. All commands but \
    `test` and `wit` work on the data directory itself, whether or not a server runs on it, which goes by what was changed from \
    its next request on. Exit code 0: done; 2: not done, and why.";

/// The command.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true, after_help = ABOUT)]
pub(crate) struct Command {
    #[command(subcommand)]
    pub(super) action: Action,
}

#[derive(Debug, Subcommand)]
pub(super) enum Action {
    /// Try a component on throw-away data before it goes live
    Test(test::Test),
    /// Look into a component and keep it as a version of its extension; nobody sees it before it is enabled
    Add(Add),
    /// List the extensions of a workspace
    List(List),
    /// Show what a version offers, and which versions there are
    Show(Show),
    /// Enable a version in place of the one that is; calls under way finish on that one
    Enable(Enable),
    /// Take an extension away from callers; its versions stay
    Disable(Named),
    /// Enable the version that was enabled before the present one
    Rollback(Named),
    /// Remove an extension that is not enabled, or one of its versions
    Remove(Remove),
    /// Say whether callers see names as ext.EXTENSION.NAME; without on or off, tell
    Prefix(Prefix),
    /// Write the interface that extensions implement, in WIT
    Wit,
}

/// Where to work, and for which workspace.
#[derive(Debug, Args)]
pub(super) struct At {
    #[command(flatten)]
    pub(super) place: Place,
    /// The workspace, by external_id or UUID; it may be left out while there is only one
    #[arg(long, value_name = "ID")]
    pub(super) workspace: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct Add {
    /// The component, up to 64 MB
    #[arg(value_name = "FILE.wasm")]
    pub(super) file: PathBuf,
    /// Enable it, too
    #[arg(long)]
    pub(super) enable: bool,
    #[command(flatten)]
    pub(super) at: At,
}

#[derive(Debug, Args)]
pub(super) struct List {
    #[command(flatten)]
    pub(super) at: At,
}

#[derive(Debug, Args)]
pub(super) struct Show {
    /// The extension's name
    pub(super) name: String,
    /// The version, by semantic version or digest [default: the enabled one, else the one that was added last]
    #[arg(long, value_name = "VERSION")]
    pub(super) version: Option<String>,
    #[command(flatten)]
    pub(super) at: At,
}

#[derive(Debug, Args)]
pub(super) struct Enable {
    /// The extension's name
    pub(super) name: String,
    /// The version, by semantic version or digest [default: the one that was added last]
    #[arg(long, value_name = "VERSION")]
    pub(super) version: Option<String>,
    #[command(flatten)]
    pub(super) at: At,
}

#[derive(Debug, Args)]
pub(super) struct Named {
    /// The extension's name
    pub(super) name: String,
    #[command(flatten)]
    pub(super) at: At,
}

#[derive(Debug, Args)]
pub(super) struct Remove {
    /// The extension's name
    pub(super) name: String,
    /// Only this version, by semantic version or digest
    #[arg(long, value_name = "VERSION")]
    pub(super) version: Option<String>,
    #[command(flatten)]
    pub(super) at: At,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Switch {
    /// Names are ext.EXTENSION.NAME, and no two are alike
    On,
    /// Names are as extensions give them; one that another has, built in or not, is refused
    Off,
}

#[derive(Debug, Args)]
pub(super) struct Prefix {
    /// What holds from now on
    pub(super) switch: Option<Switch>,
    #[command(flatten)]
    pub(super) at: At,
}
