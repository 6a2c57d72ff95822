//! The section `extensions` of the configuration.

use std::collections::BTreeMap;
use std::time::Duration;

use kobana_runtime::extension::{Limits, Settings as SandboxSettings, Share};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::breaker::BreakerSettings;

/// What extensions may use, and how many run at a time. Sizes are in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Whether extensions are offered and can be called at all.
    pub enabled: bool,
    /// What one call may use.
    pub limits: Limits,
    /// What one call of certain extensions may use, where that differs: by the UUID of the workspace and the extension's name, with
    /// a slash between. A name alone would not do, since it is the tenant who chooses it.
    pub named: BTreeMap<String, Overrides>,
    /// Calls that run at once for one workspace. 1 to 1,000.
    pub concurrency: u32,
    /// Calls of one workspace that may wait for their turn; one more is turned away at once.
    pub queue: u32,
    /// How long a call waits for its turn, in milliseconds.
    pub queue_wait_ms: u64,
    /// How much room compiled components may take that are kept in memory for the next call. The least used go first.
    pub compiled: usize,
    /// How much room descriptions of extensions may take that are kept in memory.
    pub descriptions: usize,
    /// What the extensions of one workspace may use at other people's expense.
    pub share: Share,
    /// When an extension that breaks again and again is left alone.
    pub breaker: BreakerSettings,
    /// What the engine reserves.
    pub sandbox: SandboxSettings,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            enabled: true,
            limits: Limits::default(),
            named: BTreeMap::new(),
            concurrency: 4,
            queue: 64,
            queue_wait_ms: 2_000,
            compiled: 256 << 20,
            descriptions: 32 << 20,
            share: Share::default(),
            breaker: BreakerSettings::default(),
            sandbox: SandboxSettings::default(),
        }
    }
}

/// Limits that differ for one extension. What is not named is as for all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields of `Limits`, where they are described")]
pub struct Overrides {
    pub memory: Option<usize>,
    pub table_elements: Option<usize>,
    pub fuel: Option<u64>,
    pub time_ms: Option<u64>,
    pub host_calls: Option<u32>,
    pub api_calls: Option<u32>,
    pub log: Option<usize>,
    pub output: Option<usize>,
}

impl Overrides {
    fn over(&self, limits: &Limits) -> Limits {
        Limits {
            memory: self.memory.unwrap_or(limits.memory),
            table_elements: self.table_elements.unwrap_or(limits.table_elements),
            fuel: self.fuel.unwrap_or(limits.fuel),
            time_ms: self.time_ms.unwrap_or(limits.time_ms),
            host_calls: self.host_calls.unwrap_or(limits.host_calls),
            api_calls: self.api_calls.unwrap_or(limits.api_calls),
            log: self.log.unwrap_or(limits.log),
            output: self.output.unwrap_or(limits.output),
        }
    }
}

/// A setting that makes no sense, by its name below `extensions`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{setting}: {problem}")]
pub struct SettingsError {
    /// Which.
    pub setting: String,
    /// What it must be.
    pub problem: String,
}

impl Settings {
    /// Whether the numbers make sense.
    ///
    /// # Errors
    /// The first setting that does not.
    pub fn validate(&self) -> Result<(), SettingsError> {
        let bad = |setting: String, problem: &str| Err(SettingsError { setting, problem: problem.to_owned() });
        let rules = [
            ("concurrency", "must be 1 to 1000", (1..=1_000).contains(&self.concurrency)),
            ("queue", "must be at most 100000", self.queue <= 100_000),
            ("breaker.trips_after", "must be 0 to 1000", self.breaker.trips_after <= 1_000),
            ("breaker.within_s", "must be 1 to 86400", (1..=86_400).contains(&self.breaker.within_s)),
            ("breaker.rests_s", "must be 1 to 86400", (1..=86_400).contains(&self.breaker.rests_s)),
        ];
        if let Some((setting, problem, _)) = rules.into_iter().find(|(.., holds)| !holds) {
            return bad(setting.to_owned(), problem);
        }
        if let Err(error) = self.share.validate() {
            return bad(format!("share.{}", error.setting), error.problem);
        }
        if let Err(error) = self.sandbox.validate() {
            return bad(format!("sandbox.{}", error.setting), error.problem);
        }
        if let Err(error) = self.limits.validate(&self.sandbox) {
            return bad(format!("limits.{}", error.setting), error.problem);
        }
        for (name, overrides) in &self.named {
            if !names_an_extension(name) {
                let problem =
                    "must be named by the UUID of a workspace and the name of an extension, with a slash between";
                return bad(format!("named.{name}"), problem);
            }
            if let Err(error) = overrides.over(&self.limits).validate(&self.sandbox) {
                return bad(format!("named.{name}.{}", error.setting), error.problem);
            }
        }
        Ok(())
    }

    /// What one call of an extension may use.
    #[must_use]
    pub fn limits_of(&self, workspace: Uuid, extension: &str) -> Limits {
        // Most installations name none, and then no name needs to be put together.
        let own = if self.named.is_empty() { None } else { self.named.get(&format!("{workspace}/{extension}")) };
        own.map_or_else(|| self.limits.clone(), |overrides| overrides.over(&self.limits))
    }

    pub(crate) const fn queue_wait(&self) -> Duration {
        Duration::from_millis(self.queue_wait_ms)
    }
}

fn names_an_extension(text: &str) -> bool {
    let Some((workspace, name)) = text.split_once('/') else { return false };
    // As UUIDs are written elsewhere, since it is compared as text.
    let plain = Uuid::try_parse(workspace).is_ok_and(|id| id.to_string() == workspace);
    plain && !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOMEWHERE: &str = "0198c0de-0000-7000-8000-000000000001";

    fn named(name: &str, overrides: Overrides) -> Settings {
        Settings { named: [(name.to_owned(), overrides)].into(), ..Settings::default() }
    }

    #[test]
    fn the_defaults_hold() {
        assert_eq!(Settings::default().validate(), Ok(()));
    }

    #[test]
    fn a_bad_setting_is_named_in_full() {
        let said = |settings: Settings| settings.validate().unwrap_err().to_string();
        assert_eq!(said(Settings { concurrency: 0, ..Settings::default() }), "concurrency: must be 1 to 1000");
        let limits = Limits { memory: 1, ..Limits::default() };
        assert_eq!(said(Settings { limits, ..Settings::default() }), "limits.memory: must be at least 65536 (64 KiB)");
        let small = Overrides { fuel: Some(0), ..Overrides::default() };
        assert!(
            said(named(&format!("{SOMEWHERE}/risk"), small)).starts_with(&format!("named.{SOMEWHERE}/risk.fuel: "))
        );
        for name in
            ["risk", "x/risk", SOMEWHERE, &format!("{SOMEWHERE}/"), &format!("{}/risk", SOMEWHERE.to_uppercase())]
        {
            assert!(said(named(name, Overrides::default())).contains("must be named by"), "{name}");
        }
    }

    #[test]
    fn limits_differ_for_the_named_extension_of_the_named_workspace_alone() {
        let settings = named(&format!("{SOMEWHERE}/risk"), Overrides { fuel: Some(7), ..Overrides::default() });
        assert_eq!(settings.validate(), Ok(()));
        let here = Uuid::try_parse(SOMEWHERE).unwrap();
        assert_eq!(settings.limits_of(here, "risk"), Limits { fuel: 7, ..Limits::default() });
        assert_eq!(settings.limits_of(here, "other"), Limits::default());
        assert_eq!(settings.limits_of(Uuid::nil(), "risk"), Limits::default());
    }
}
