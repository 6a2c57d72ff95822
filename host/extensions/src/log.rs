//! Where the logs of extensions go: to `tracing`, line by line, each with whose it is.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use kobana_runtime::extension::Level;
use kobana_store::extensions::Enabled;
use uuid::Uuid;

use crate::breaker::Change;
use crate::breakers::Changes;
use crate::desk::Log;

/// The target of everything that extensions log, and that is logged about them.
pub(crate) const TARGET: &str = "kobana::extension";
/// The longest line, in characters.
const LONGEST: usize = 1_000;
/// The most lines of one call: short ones would take many times their own length, with what stands before each.
const MOST: usize = 200;

/// The log of one call of a version.
pub(crate) fn of(workspace: Uuid, row: &Enabled) -> Log {
    let (extension, version) = (row.extension.clone(), row.version.clone());
    let lines = AtomicUsize::new(0);
    Arc::new(move |level, message| {
        let line = match lines.fetch_add(1, Ordering::Relaxed) {
            number if number < MOST => line(message),
            MOST => format!("more than {MOST} lines: the rest of this call is left out"),
            _ => return,
        };
        match level {
            Level::Debug => tracing::debug!(target: TARGET, %workspace, extension, version, "{line}"),
            Level::Info => tracing::info!(target: TARGET, %workspace, extension, version, "{line}"),
            Level::Warn => tracing::warn!(target: TARGET, %workspace, extension, version, "{line}"),
            Level::Error => tracing::error!(target: TARGET, %workspace, extension, version, "{line}"),
        }
    })
}

/// Tells whoever runs the server that an extension rests from now on, or works again.
pub(crate) fn changed(workspace: Uuid, row: &Enabled, caller: Uuid, (own, whole): Changes) {
    let Enabled { extension, version, .. } = row;
    match own {
        Change::None => {}
        Change::Tripped => {
            tracing::info!(target: TARGET, %workspace, extension, version, %caller, "it broke too often for one caller and rests for them");
        }
        Change::Recovered => {
            tracing::info!(target: TARGET, %workspace, extension, version, %caller, "it is well again for this caller");
        }
    }
    match whole {
        Change::None => {}
        Change::Tripped => {
            tracing::warn!(target: TARGET, %workspace, extension, version, "it broke for too many callers and rests for a while");
        }
        Change::Recovered => {
            tracing::info!(target: TARGET, %workspace, extension, version, "it is well again");
        }
    }
}

/// One line of text, which can neither pass for another one nor steer a terminal.
fn line(message: &str) -> String {
    let clean = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let mut line: String = message.trim_end().chars().take(LONGEST).map(clean).collect();
    if message.trim_end().chars().nth(LONGEST).is_some() {
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_line() {
        assert_eq!(line("score 7\n"), "score 7");
        assert_eq!(line("a\n2026-01-01 ERROR kobana: b\u{1b}[2J"), "a\u{fffd}2026-01-01 ERROR kobana: b\u{fffd}[2J");
        assert_eq!(line(&"ç".repeat(2_000)).chars().count(), LONGEST + 1);
        assert_eq!(line(&"ç".repeat(LONGEST)).chars().count(), LONGEST);
    }
}
