//! The extension that is tried, in the sandbox and with the rules of a server.

use std::path::Path;
use std::sync::{Arc, PoisonError};

use bytes::Bytes;
use kobana_api::extensions::NotInspected;
use kobana_contract::Caller;
use kobana_extensions::{Asked, Loaded, Visit};
use kobana_runtime::extension::{Credit, Level, Limits, Sandbox, Stopped, Usage};
use kobana_store::demo::workspaces;
use kobana_wire::extension::{Description, Outcome, Stopped as Told};
use sha2::{Digest as _, Sha256};

use super::report::Component;
use super::runner::{Log, Spent};
use super::world::World;
use crate::failure::Failure;
use crate::serve::cache_dir;
use crate::settings::Settings;

/// Functions of a trap that are shown.
const FRAMES: usize = 8;

/// A line that an extension logged, or of where it broke.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub(super) struct LogLine {
    pub(super) level: &'static str,
    pub(super) message: String,
}

/// Where extensions are loaded.
pub(super) struct Bench {
    sandbox: Sandbox,
    settings: kobana_extensions::Settings,
}

/// A loaded extension.
pub(super) struct Subject {
    component: Component,
    loaded: Loaded,
    sandbox: Sandbox,
    limits: Limits,
}

impl Bench {
    /// Sets up the sandbox of the server that these settings are for.
    pub(super) fn new(settings: &Settings) -> Result<Self, Failure> {
        let sandbox = Sandbox::new(settings.extensions.sandbox.clone(), cache_dir(settings).as_deref())?;
        Ok(Self { sandbox, settings: settings.extensions.clone() })
    }

    /// Looks into a component as a server does before it takes one.
    pub(super) async fn load(&self, bytes: Bytes, path: &Path) -> Result<Subject, Failure> {
        let file = path.display().to_string();
        let digest = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let credit = Arc::new(Credit::unlimited());
        let loaded = Loaded::load(&self.sandbox, &self.settings.limits, &credit, bytes).await;
        let loaded = loaded.map_err(|refused| match refused {
            NotInspected::Refused(faults) => {
                let head = format!("{file}: it is no extension that a server would take");
                let faults = faults.iter().map(|fault| format!("  {}: {}", fault.field, fault.message));
                Failure::Unusable([head].into_iter().chain(faults).collect())
            }
            NotInspected::Unavailable { cause, .. } => Failure::Unusable(vec![format!("{file}: {cause}")]),
        })?;
        let (name, version) = (loaded.description().name.clone(), loaded.description().version.clone());
        let limits = self.settings.limits_of(workspaces::ACME, &name);
        let component = Component { file, name, version, digest, bytes: size };
        Ok(Subject { component, loaded, sandbox: self.sandbox.clone(), limits })
    }
}

impl Subject {
    pub(super) fn component(&self) -> &Component {
        &self.component
    }

    pub(super) fn description(&self) -> &Description {
        self.loaded.description()
    }

    /// The scope to ask for, where a caller has none of those that the extension needs.
    pub(super) fn missing_scope(&self, caller: &Caller) -> Option<String> {
        self.loaded.missing_scope(caller)
    }

    /// Uses it as the world's caller.
    pub(super) async fn call(&self, world: &World, log: &Log, asked: Asked) -> (Spent, Outcome) {
        let lines = Arc::clone(log);
        let log: kobana_extensions::Log = Arc::new(move |level, message| note(&lines, name(level), message));
        let visit = Visit { caller: world.caller(), api: world.api(), log: Arc::clone(&log) };
        let (usage, outcome) = self.loaded.run(&self.sandbox, &self.limits, visit, asked).await;
        let outcome = outcome.unwrap_or_else(|stopped| {
            if let Stopped::Trap(trap) = &stopped {
                trap.frames.iter().take(FRAMES).for_each(|frame| log(Level::Error, &format!("in {frame}")));
            }
            told(&stopped)
        });
        (spent(&usage), outcome)
    }
}

fn note(lines: &Log, level: &'static str, message: &str) {
    let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
    lines.push(LogLine { level, message: message.to_owned() });
}

const fn name(level: Level) -> &'static str {
    match level {
        Level::Debug => "debug",
        Level::Info => "info",
        Level::Warn => "warn",
        Level::Error => "error",
    }
}

/// How a stop is told to callers; one without a limit has the name of its kind.
fn told(stopped: &Stopped) -> Outcome {
    let kind = match stopped {
        Stopped::Exit => "exit",
        Stopped::Busy => "busy",
        other => other.code(),
    };
    let (code, limit) = (kind.to_owned(), stopped.setting().map(str::to_owned));
    Outcome::Stopped(Told { code, message: stopped.to_string(), limit, retry_after: None })
}

fn spent(usage: &Usage) -> Spent {
    let wide = |size: usize| u64::try_from(size).unwrap_or(u64::MAX);
    Spent {
        fuel: usage.fuel,
        memory: wide(usage.memory),
        host_calls: u64::from(usage.host_calls),
        log: wide(usage.log),
        time: usage.time,
    }
}
