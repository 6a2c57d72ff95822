//! `kobana extension`: what a workspace brings of its own.

mod args;
mod lifecycle;
mod show;
mod test;

use std::io::Write as _;
use std::process::ExitCode;

pub(crate) use args::Command;

use crate::failure::Failure;
use args::Action;

/// The interface that extensions implement.
const WIT: &str = include_str!("../../../../wit/extension/extension.wit");

/// Does what stands behind `kobana extension`.
pub(crate) fn run(command: &Command) -> Result<ExitCode, Failure> {
    match &command.action {
        Action::Test(options) => test::run(options),
        Action::Add(options) => lifecycle::add(options),
        Action::List(options) => lifecycle::list(options),
        Action::Show(options) => lifecycle::show(options),
        Action::Enable(options) => lifecycle::enable(options),
        Action::Disable(options) => lifecycle::disable(options),
        Action::Rollback(options) => lifecycle::roll_back(options),
        Action::Remove(options) => lifecycle::remove(options),
        Action::Prefix(options) => lifecycle::prefix(options),
        Action::Wit => {
            // Whoever closed standard output does not want to read it.
            let _ = std::io::stdout().write_all(WIT.as_bytes());
            Ok(ExitCode::SUCCESS)
        }
    }
}
