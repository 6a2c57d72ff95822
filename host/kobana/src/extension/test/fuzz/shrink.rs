//! Makes arguments smaller for as long as they lead to the same fault.

use serde_json::{Map, Value};

use super::{Attempt, Fault, Fuzzer, Schema};
use crate::extension::test::cases::Persona;
use crate::extension::test::world::{NoWorld, World};

/// Calls that one fault is worth.
const CALLS: usize = 60;

impl Fuzzer<'_> {
    /// The fault with smaller arguments, and whether it happens on fresh data at all.
    pub(super) async fn smaller(
        &self,
        schema: &Schema,
        mut attempt: Attempt,
        mut fault: Fault,
    ) -> Result<Fault, NoWorld> {
        fault.alone = self.again(&attempt, &mut fault).await?;
        if !fault.alone {
            return Ok(fault);
        }
        let mut left = CALLS;
        'smaller: while left > 0 {
            for arguments in candidates(&attempt.arguments) {
                let value = Value::Object(arguments);
                if schema.allows(&value) != attempt.allowed {
                    continue;
                }
                let Some(rest) = left.checked_sub(1) else { break 'smaller };
                left = rest;
                let Value::Object(arguments) = value else { continue };
                let candidate = Attempt { arguments, ..attempt.clone() };
                if self.again(&candidate, &mut fault).await? {
                    attempt = candidate;
                    continue 'smaller;
                }
            }
            break;
        }
        Ok(fault)
    }

    /// Whether these arguments lead to the fault on fresh data; they become the fault's then.
    async fn again(&self, attempt: &Attempt, fault: &mut Fault) -> Result<bool, NoWorld> {
        let world = World::open(&Persona::default()).await?;
        let tried = self.attempted(&world, attempt).await;
        let Some((_, detail)) = tried.fault.filter(|(kind, _)| *kind == fault.kind) else { return Ok(false) };
        fault.arguments.clone_from(&attempt.arguments);
        fault.answers = tried.answers;
        fault.log = tried.log;
        fault.detail = detail;
        Ok(true)
    }
}

/// Arguments that are a little smaller, the smallest first.
pub(super) fn candidates(arguments: &Map<String, Value>) -> Vec<Map<String, Value>> {
    let object = |value| match value {
        Value::Object(members) => Some(members),
        _ => None,
    };
    let mut all: Vec<_> = smaller(&Value::Object(arguments.clone())).into_iter().filter_map(object).collect();
    all.sort_by_cached_key(|members| Value::Object(members.clone()).to_string().len());
    all
}

fn smaller(value: &Value) -> Vec<Value> {
    match value {
        Value::Object(members) => {
            let without = members
                .keys()
                .map(|gone| Value::Object(members.iter().filter(|(name, _)| *name != gone).map(owned).collect()));
            let with = members.iter().flat_map(|(name, value)| {
                smaller(value).into_iter().map(move |value| {
                    let mut members = members.clone();
                    members.insert(name.clone(), value);
                    Value::Object(members)
                })
            });
            without.chain(with).collect()
        }
        Value::Array(elements) => {
            let half = elements.len() / 2;
            let mut all = Vec::new();
            if half > 0 {
                all.push(elements.iter().take(half).cloned().collect());
            }
            for (gone, element) in elements.iter().enumerate().take(8) {
                let others = || elements.iter().enumerate().filter(move |(index, _)| *index != gone);
                all.push(others().map(|(_, element)| element.clone()).collect());
                for smaller in smaller(element) {
                    let replaced = |(index, element): (usize, &Value)| {
                        if index == gone { smaller.clone() } else { element.clone() }
                    };
                    all.push(elements.iter().enumerate().map(replaced).collect());
                }
            }
            all
        }
        Value::String(text) => {
            let length = text.chars().count();
            let parts = [0, length / 2, length.saturating_sub(1)].into_iter().filter(|part| *part < length);
            parts.map(|part| Value::from(text.chars().take(part).collect::<String>())).collect()
        }
        Value::Number(number) => match number.as_i64() {
            Some(0) => Vec::new(),
            Some(whole) => vec![Value::from(0), Value::from(whole / 2)],
            None => vec![Value::from(0)],
        },
        Value::Bool(_) | Value::Null => Vec::new(),
    }
}

fn owned((name, value): (&String, &Value)) -> (String, Value) {
    (name.clone(), value.clone())
}
