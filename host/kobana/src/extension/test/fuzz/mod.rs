//! Arguments made of a tool's own schema, looking for what breaks it.
//!
//! Four of five are allowed by the schema: the tool has to take them without a trap, without running into a limit or a budget, and
//! with an answer that its output schema allows. Every fifth is nearly allowed: it has to be refused before the tool sees
//! it. What is found is made smaller and becomes a case for the cases file.

mod generate;
mod merge;
mod mutate;
mod shrink;
mod strings;

use std::sync::PoisonError;

use kobana_extensions::Asked;
use kobana_wire::extension::{Answers, Kind, Outcome, Question, Tool};
use serde_json::{Map, Value, json};

pub(super) use generate::Schema;
pub(super) use strings::Words;

use super::cases::{Budgets, EVERYTHING, Expected, Persona};
use super::judge;
use super::outcome::Answer;
use super::runner::{Log, Spent};
use super::subject::{LogLine, Subject};
use super::world::{NoWorld, World};

/// How often a tool may ask back before it is enough.
const ROUNDS: usize = 4;
/// Every so many arguments are nearly allowed instead of allowed.
const NEAR_MISS: u64 = 5;
/// After so many calls a tool that writes gets fresh data.
const FRESH: u64 = 25;

/// What to try.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    /// How many arguments for each tool.
    pub(super) calls: u64,
    /// What the arguments are made of.
    pub(super) seed: u64,
    /// What a call may cost.
    pub(super) budgets: Budgets,
}

/// What came of it, for one tool.
#[derive(Debug)]
pub(super) struct Fuzzed {
    pub(super) tool: String,
    /// How many calls there were.
    pub(super) calls: u64,
    /// How many of them were refused, as they had to be.
    pub(super) refused: u64,
    /// The most that one call cost.
    pub(super) most: Spent,
    pub(super) faults: Vec<Fault>,
    /// Why nothing, or not all, could be tried.
    pub(super) note: Option<String>,
}

/// Something that must not happen, whatever the arguments.
#[derive(Debug, Clone)]
pub(super) struct Fault {
    /// What must not happen, in a few words; the same for all faults of a kind.
    pub(super) kind: String,
    /// What happened.
    pub(super) detail: String,
    /// How many arguments led to it.
    pub(super) times: u64,
    /// The smallest arguments that were found.
    pub(super) arguments: Map<String, Value>,
    /// What was answered to its questions.
    pub(super) answers: Vec<Map<String, Value>>,
    /// What it logged, and where it broke.
    pub(super) log: Vec<LogLine>,
    /// Whether it happens on fresh data, too.
    pub(super) alone: bool,
}

/// Arguments, and what is to become of them.
#[derive(Debug, Clone)]
struct Attempt {
    arguments: Map<String, Value>,
    /// Whether the schema allows them.
    allowed: bool,
    /// What the answers to questions are made of.
    seed: u64,
}

/// What came of an attempt.
struct Tried {
    spent: Spent,
    refused: bool,
    answers: Vec<Map<String, Value>>,
    log: Vec<LogLine>,
    /// What must not have happened: the kind and the detail.
    fault: Option<(String, String)>,
}

/// Tries every tool that `wanted` picks; `progress` hears of every call.
pub(super) async fn run(
    subject: &Subject,
    plan: &Plan,
    wanted: impl Fn(&str) -> bool,
    mut progress: impl FnMut(&str),
) -> Result<Vec<Fuzzed>, NoWorld> {
    let words = words(&World::open(&Persona::default()).await?).await;
    let mut all = Vec::new();
    for (index, tool) in (0_u64..).zip(&subject.description().tools) {
        if wanted(&tool.name) {
            all.push(Fuzzer { subject, plan, tool, words: &words }.run(index, &mut progress).await?);
        }
    }
    Ok(all)
}

struct Fuzzer<'a> {
    subject: &'a Subject,
    plan: &'a Plan,
    tool: &'a Tool,
    words: &'a Words,
}

impl Fuzzer<'_> {
    async fn run(&self, index: u64, progress: &mut impl FnMut(&str)) -> Result<Fuzzed, NoWorld> {
        let mut fuzzed = Fuzzed {
            tool: self.tool.name.clone(),
            calls: 0,
            refused: 0,
            most: Spent::default(),
            faults: Vec::new(),
            note: None,
        };
        let schema =
            serde_json::from_str(&self.tool.input_schema).map_err(|error| error.to_string()).and_then(Schema::new);
        let schema = match schema {
            Ok(schema) => schema,
            Err(problem) => {
                return Ok(Fuzzed { note: Some(format!("its input schema cannot be used: {problem}")), ..fuzzed });
            }
        };
        let mut world = World::open(&Persona::default()).await?;
        for number in 0..self.plan.calls {
            progress(&self.tool.name);
            let seed = mixed(self.plan.seed, index, number);
            let Some(attempt) = self.attempt(&schema, seed, number) else {
                fuzzed.note = Some("no arguments could be made that its input schema allows".to_owned());
                continue;
            };
            if !self.tool.hints.read_only && number % FRESH == FRESH - 1 {
                world = World::open(&Persona::default()).await?;
            }
            let tried = self.attempted(&world, &attempt).await;
            fuzzed.calls = fuzzed.calls.saturating_add(1);
            fuzzed.refused = fuzzed.refused.saturating_add(u64::from(tried.refused));
            fuzzed.most = most(fuzzed.most, tried.spent);
            if tried.fault.is_some() {
                self.note(&schema, &mut fuzzed.faults, attempt, tried).await?;
            }
        }
        Ok(fuzzed)
    }

    fn attempt(&self, schema: &Schema, seed: u64, number: u64) -> Option<Attempt> {
        let near = (number % NEAR_MISS == NEAR_MISS - 1).then(|| schema.nearly_valid(seed, self.words)).flatten();
        let allowed = near.is_none();
        match near.or_else(|| schema.valid(seed, self.words))? {
            Value::Object(arguments) => Some(Attempt { arguments, allowed, seed }),
            _ => None,
        }
    }

    /// Takes a fault down: one of a kind is made smaller, the others are counted.
    async fn note(
        &self,
        schema: &Schema,
        faults: &mut Vec<Fault>,
        attempt: Attempt,
        tried: Tried,
    ) -> Result<(), NoWorld> {
        let Tried { answers, log, fault: Some((kind, detail)), .. } = tried else { return Ok(()) };
        if let Some(known) = faults.iter_mut().find(|fault| fault.kind == kind) {
            known.times = known.times.saturating_add(1);
            return Ok(());
        }
        let fault = Fault { kind, detail, times: 1, arguments: attempt.arguments.clone(), answers, log, alone: false };
        faults.push(self.smaller(schema, attempt, fault).await?);
        Ok(())
    }

    /// Calls the tool and answers its questions.
    async fn attempted(&self, world: &World, attempt: &Attempt) -> Tried {
        let log = Log::default();
        let mut tried =
            Tried { spent: Spent::default(), refused: false, answers: Vec::new(), log: Vec::new(), fault: None };
        let mut answers = None;
        for round in 0..ROUNDS {
            let request = Asked {
                kind: Kind::Tool,
                name: self.tool.name.clone(),
                arguments: Value::Object(attempt.arguments.clone()).to_string(),
                client: EVERYTHING,
                answers: answers.take(),
            };
            let (spent, outcome) = self.subject.call(world, &log, request).await;
            tried.spent.add(spent);
            let answer = Answer::of(&outcome, EVERYTHING);
            tried.refused = answer.outcome == Expected::Invalid;
            tried.fault = self.fault(attempt, &answer, &tried.spent, round);
            let Outcome::InputRequired(required) = outcome else { break };
            if tried.fault.is_some() {
                break;
            }
            let seed = attempt.seed.wrapping_add(u64::try_from(round).unwrap_or_default());
            let given = self.answered(&required.requests, seed);
            let responses = given.iter().map(|(key, value)| (key.clone(), value.to_string())).collect();
            answers = Some(Answers { state: required.state, responses });
            tried.answers.push(given);
        }
        tried.log = log.lock().unwrap_or_else(PoisonError::into_inner).clone();
        tried
    }

    /// What must not have happened.
    fn fault(&self, attempt: &Attempt, answer: &Answer, spent: &Spent, round: usize) -> Option<(String, String)> {
        let told = super::matcher::clipped(&answer.text);
        let fault = match &answer.outcome {
            Expected::Stopped(_) => Some((answer.outcome.to_string(), told)),
            Expected::Invalid if attempt.allowed => Some(("refused what the schema allows".to_owned(), told)),
            Expected::Missing => Some(("missing".to_owned(), "the tool says that it does not exist".to_owned())),
            outcome if !attempt.allowed && round == 0 && *outcome != Expected::Invalid => {
                Some(("took what the schema does not allow".to_owned(), format!("it ended with {outcome}")))
            }
            _ => None,
        };
        fault.or_else(|| {
            let mut over = Vec::new();
            judge::budgets(self.plan.budgets, spent, &mut over);
            over.into_iter()
                .next()
                .map(|finding| (finding.field, format!("{}, used {}", finding.expected, finding.actual)))
        })
    }

    /// Answers to questions, mostly in good will.
    fn answered(&self, requests: &[(String, Question)], seed: u64) -> Map<String, Value> {
        let answer = |question: &Question, seed: u64| match question {
            Question::Form { schema, .. } => match seed % 4 {
                0 => json!({ "action": "decline" }),
                1 => json!({ "action": "cancel" }),
                _ => {
                    let schema = serde_json::from_str(schema).ok().and_then(|schema| Schema::new(schema).ok());
                    let content = schema.and_then(|schema| schema.valid(seed, self.words));
                    json!({ "action": "accept", "content": content.unwrap_or_else(|| json!({})) })
                }
            },
            Question::Visit { .. } => json!({ "action": if seed.is_multiple_of(3) { "cancel" } else { "accept" } }),
            Question::Sampling(_) => json!({
                "role": "assistant",
                "content": { "type": "text", "text": "It is a bill of R$ 1.234,56, due on 5 August." },
                "model": "model",
                "stopReason": "endTurn",
            }),
            Question::Roots => json!({ "roots": [{ "uri": "file:///home/ana", "name": "ana" }] }),
        };
        let numbered = (0_u64..).zip(requests);
        numbered.map(|(index, (key, question))| (key.clone(), answer(question, mixed(seed, index, 1)))).collect()
    }
}

/// A seed of its own for each call, so that any of them can be made again alone.
fn mixed(seed: u64, tool: u64, number: u64) -> u64 {
    // The steps of splitmix64, which spread small differences over all bits.
    let mut x = seed
        .wrapping_add(tool.wrapping_mul(0x9e37_79b9_7f4a_7c15))
        .wrapping_add(number.wrapping_mul(0xd1b5_4a32_d192_ed03));
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

fn most(left: Spent, right: Spent) -> Spent {
    Spent {
        fuel: left.fuel.max(right.fuel),
        memory: left.memory.max(right.memory),
        host_calls: left.host_calls.max(right.host_calls),
        log: left.log.max(right.log),
        time: left.time.max(right.time),
    }
}

/// Ids and names of what there is in the workspace.
async fn words(world: &World) -> Words {
    let mut words = Vec::new();
    for path in ["/emails?limit=8", "/inboxes?limit=4", "/agents?limit=2", "/webhooks?limit=2", "/agent-runs?limit=2"] {
        let (_, body) = world.look(path).await;
        for row in body.get("data").and_then(Value::as_array).into_iter().flatten() {
            let texts = ["id", "external_id"].into_iter().filter_map(|name| row.get(name)?.as_str());
            words.extend(texts.map(str::to_owned));
        }
    }
    Words(words)
}

impl Fault {
    /// The fault as a case for the cases file, in YAML.
    pub(super) fn case(&self, tool: &str) -> String {
        #[derive(serde::Serialize)]
        struct Case<'a> {
            name: String,
            tool: &'a str,
            arguments: &'a Map<String, Value>,
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            answers: &'a [Map<String, Value>],
            expect: Value,
        }
        let expect = if self.kind == "took what the schema does not allow" { "invalid" } else { "answered" };
        let case = Case {
            name: format!("{tool}: not {}", self.kind),
            tool,
            arguments: &self.arguments,
            answers: &self.answers,
            expect: json!({ "outcome": expect }),
        };
        serde_saphyr::to_string(&[case]).unwrap_or_else(|error| format!("# cannot be written as YAML: {error}\n"))
    }
}

#[cfg(test)]
mod tests;
