//! A case as it is written becomes a case that can be run: defaults filled in, and what belongs together checked.

use kobana_contract::Scope;
use kobana_wire::extension::Kind;
use serde_json::{Map, Value};

use super::{Budgets, Case, Defaults, EVERYTHING, Persona, Target, Written, WrittenPersona, client};

impl Written {
    /// Fills in what the case leaves to the defaults.
    ///
    /// # Errors
    /// What is wrong with the case, each problem with the name of its field.
    pub(super) fn complete(self, defaults: &Defaults, line: u64) -> Result<Case, Vec<String>> {
        let mut problems = Vec::new();
        if self.name.trim().is_empty() {
            problems.push("name: expected some text".to_owned());
        }
        let target = target(self.tool, self.resource, self.prompt, self.arguments);
        problems.extend(target.as_ref().err().cloned());
        if let Some(kind) = target.as_ref().ok().map(|target| target.kind) {
            problems.extend(self.expect.unfit_for(kind));
        }
        problems.extend(self.effects.as_ref().and_then(super::Effects::contradiction));
        let Ok(target) = target else { return Err(problems) };
        if !problems.is_empty() {
            return Err(problems);
        }
        let abilities = self.client.as_deref().or(defaults.client.as_deref());
        Ok(Case {
            name: self.name,
            line,
            caller: self.caller.or(&defaults.caller),
            target,
            client: abilities.map_or(EVERYTHING, client),
            answers: self.answers,
            expect: self.expect,
            effects: self.effects,
            after: self.after,
            budgets: self.budgets.or(defaults.budgets),
        })
    }
}

fn target(
    tool: Option<String>,
    resource: Option<String>,
    prompt: Option<String>,
    arguments: Option<Map<String, Value>>,
) -> Result<Target, String> {
    let (kind, name) = match (tool, resource, prompt) {
        (Some(name), None, None) => (Kind::Tool, name),
        (None, Some(uri), None) => (Kind::Resource, uri),
        (None, None, Some(name)) => (Kind::Prompt, name),
        _ => return Err("expected one of tool, resource and prompt".to_owned()),
    };
    if kind == Kind::Resource && arguments.is_some() {
        return Err("arguments: expected none, since a resource takes none".to_owned());
    }
    let arguments = arguments.unwrap_or_default();
    match arguments.iter().find(|(_, value)| kind == Kind::Prompt && !value.is_string()) {
        Some((name, _)) => Err(format!("arguments.{name}: expected text, since arguments of prompts are text")),
        None => Ok(Target { kind, name, arguments }),
    }
}

impl WrittenPersona {
    fn or(self, defaults: &Self) -> Persona {
        let ours = Persona::default();
        let scopes = self.scopes.or_else(|| defaults.scopes.clone());
        Persona {
            role: self.role.or(defaults.role).unwrap_or(ours.role),
            scopes: scopes.map_or(ours.scopes, |scopes| in_order(&scopes)),
        }
    }
}

/// Scopes in the order of the contract, each once.
fn in_order(scopes: &[Scope]) -> Vec<Scope> {
    Scope::ALL.iter().copied().filter(|scope| scopes.contains(scope)).collect()
}

impl Budgets {
    fn or(self, defaults: Self) -> Self {
        Self {
            fuel: self.fuel.or(defaults.fuel),
            time_ms: self.time_ms.or(defaults.time_ms),
            memory: self.memory.or(defaults.memory),
            host_calls: self.host_calls.or(defaults.host_calls),
            log: self.log.or(defaults.log),
        }
    }
}
