//! The cases file: what is asked, as whom, and what has to come of it.

mod expect;
mod merge;

use std::collections::HashMap;
use std::path::Path;

use kobana_contract::{Role, Scope};
use kobana_wire::extension::{Client, Kind};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use serde_saphyr::Spanned;

pub(super) use expect::{After, EffectCall, Effects, Expect, Expected, Verb};

use super::units::{Bytes, Count};

/// The cases of a file, with its defaults filled in.
#[derive(Debug)]
pub(super) struct Suite {
    pub(super) cases: Vec<Case>,
    /// What a call may cost where its case does not say.
    pub(super) budgets: Budgets,
}

/// One call, and what has to come of it.
#[derive(Debug)]
pub(super) struct Case {
    /// Its name, which no other case of the file has.
    pub(super) name: String,
    /// The line on which it begins.
    pub(super) line: u64,
    pub(super) caller: Persona,
    pub(super) target: Target,
    pub(super) client: Client,
    /// What is answered to the questions of each round, by their keys.
    pub(super) answers: Vec<Map<String, Value>>,
    pub(super) expect: Expect,
    pub(super) effects: Option<Effects>,
    pub(super) after: Vec<After>,
    pub(super) budgets: Budgets,
}

/// What is called.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) kind: Kind,
    /// The name in the extension, or the URI.
    pub(super) name: String,
    /// A JSON object; empty for a resource.
    pub(super) arguments: Map<String, Value>,
}

/// Who calls: a person of this role, with a credential of these scopes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Persona {
    pub(super) role: Role,
    pub(super) scopes: Vec<Scope>,
}

impl Default for Persona {
    fn default() -> Self {
        Self { role: Role::Owner, scopes: Scope::ALL.to_vec() }
    }
}

/// What a client can be asked for when nothing is said: everything.
pub(super) const EVERYTHING: Client = Client { form: true, url: true, sampling: true, roots: true };

/// What a call may cost at most.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Budgets {
    /// Units of fuel, over all rounds.
    pub(super) fuel: Option<Count>,
    /// Milliseconds on the wall, over all rounds.
    pub(super) time_ms: Option<u64>,
    /// Linear memory at its peak.
    pub(super) memory: Option<Bytes>,
    /// Calls of the API and the log, over all rounds.
    pub(super) host_calls: Option<Count>,
    /// What is logged, over all rounds.
    pub(super) log: Option<Bytes>,
}

/// Why a cases file cannot be used: one sentence for each problem, with its line.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.join("\n"))]
pub(super) struct Unusable(pub(super) Vec<String>);

/// The file as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    defaults: Defaults,
    cases: Vec<Spanned<Written>>,
}

/// What holds for every case that says nothing else.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Defaults {
    #[serde(default, rename = "as")]
    caller: WrittenPersona,
    client: Option<Vec<Ability>>,
    #[serde(default)]
    budgets: Budgets,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenPersona {
    role: Option<Role>,
    scopes: Option<Vec<Scope>>,
}

/// A case as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: String,
    #[serde(default, rename = "as")]
    caller: WrittenPersona,
    tool: Option<String>,
    resource: Option<String>,
    prompt: Option<String>,
    arguments: Option<Map<String, Value>>,
    client: Option<Vec<Ability>>,
    #[serde(default)]
    answers: Vec<Map<String, Value>>,
    #[serde(default)]
    expect: Expect,
    effects: Option<Effects>,
    #[serde(default)]
    after: Vec<After>,
    #[serde(default)]
    budgets: Budgets,
}

/// Something that a client can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Ability {
    Form,
    Url,
    Sampling,
    Roots,
}

impl Suite {
    /// Reads a cases file.
    pub(super) fn read(path: &Path) -> Result<Self, Unusable> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| Unusable(vec![format!("{name}: {error}")]))?;
        Self::parse(&name, &text)
    }

    /// Reads the text of a cases file of this name.
    pub(super) fn parse(name: &str, text: &str) -> Result<Self, Unusable> {
        // As YAML 1.2 has it: NO is a country, and 007 a text.
        let options = serde_saphyr::options! { strict_booleans: true, leading_zero_numbers_as_strings: true, with_snippet: false };
        let file: Result<File, _> = serde_saphyr::from_str_with_options(text, options);
        let file = file.map_err(|error| Unusable(vec![format!("{name}: {error}")]))?;
        let mut problems = Vec::new();
        let mut seen = HashMap::new();
        let mut cases = Vec::new();
        for Spanned { value: written, referenced, .. } in file.cases {
            let line = referenced.line();
            let mut problem = |what: String| problems.push(format!("{name}: line {line}: {what}"));
            if let Some(first) = seen.insert(written.name.clone(), line) {
                problem(format!(
                    "name: expected one that no other case has; {:?} stands on line {first}",
                    written.name
                ));
            }
            match written.complete(&file.defaults, line) {
                Ok(case) => cases.push(case),
                Err(wrong) => wrong.into_iter().for_each(&mut problem),
            }
        }
        if cases.is_empty() && problems.is_empty() {
            problems.push(format!("{name}: cases: expected at least one"));
        }
        if problems.is_empty() { Ok(Self { cases, budgets: file.defaults.budgets }) } else { Err(Unusable(problems)) }
    }
}

/// What the client of these abilities can be asked for.
fn client(abilities: &[Ability]) -> Client {
    let has = |ability| abilities.contains(&ability);
    Client {
        form: has(Ability::Form),
        url: has(Ability::Url),
        sampling: has(Ability::Sampling),
        roots: has(Ability::Roots),
    }
}

#[cfg(test)]
mod tests;
