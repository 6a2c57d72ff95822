//! Runs a case: asks, answers questions, asks again, and takes down what it cost.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kobana_extensions::Asked;
use kobana_wire::extension::{Answers, InputRequired, Outcome};
use serde_json::{Map, Value};

use super::cases::{Case, Expected};
use super::judge::{Finding, judge};
use super::outcome::Answer;
use super::subject::{LogLine, Subject};
use super::world::{Call, NoWorld, World};

/// What calls cost.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Spent {
    pub(super) fuel: u64,
    /// The peak, in bytes.
    pub(super) memory: u64,
    pub(super) host_calls: u64,
    /// In bytes.
    pub(super) log: u64,
    pub(super) time: Duration,
}

impl Spent {
    /// Adds what another round cost; each has a memory of its own.
    pub(super) fn add(&mut self, round: Self) {
        self.fuel = self.fuel.saturating_add(round.fuel);
        self.memory = self.memory.max(round.memory);
        self.host_calls = self.host_calls.saturating_add(round.host_calls);
        self.log = self.log.saturating_add(round.log);
        self.time = self.time.saturating_add(round.time);
    }
}

/// What happened in a case.
pub(super) struct Ran {
    pub(super) answer: Answer,
    pub(super) spent: Spent,
    pub(super) calls: Vec<Call>,
    pub(super) log: Vec<LogLine>,
    /// Answers of the case that nobody asked for.
    pub(super) unused: Option<Finding>,
}

/// A case that was run, and whether it is as expected.
pub(super) struct Judged {
    pub(super) ran: Ran,
    pub(super) findings: Vec<Finding>,
}

/// Runs a case in a workspace of its own.
pub(super) async fn run(subject: &Subject, case: &Case) -> Result<Judged, NoWorld> {
    let world = World::open(&case.caller).await?;
    let ran = rounds(subject, case, &world).await;
    let findings = judge(case, &ran, &world).await;
    Ok(Judged { ran, findings })
}

/// Where log lines are kept.
pub(super) type Log = Arc<Mutex<Vec<LogLine>>>;

/// Asks until there is an answer, or the case knows no answer to a question.
async fn rounds(subject: &Subject, case: &Case, world: &World) -> Ran {
    let (log, mut spent) = (Log::default(), Spent::default());
    let mut left = case.answers.iter();
    let mut answers = None;
    let (answer, unused) = loop {
        let (round, outcome) = match subject.missing_scope(&world.caller()) {
            Some(scope) => break (Answer::plain(Expected::MissingScope, &scope), None),
            None => subject.call(world, &log, request(case, answers.take())).await,
        };
        spent.add(round);
        let answer = Answer::of(&outcome, case.client);
        let Outcome::InputRequired(required) = outcome else { break (answer, None) };
        if answer.outcome != Expected::InputRequired {
            break (answer, None);
        }
        let Some(given) = left.next() else { break (answer, None) };
        if let Some(stray) = stray(given, &required) {
            break (answer, Some(stray));
        }
        answers = Some(answered(given, required));
    };
    let rest = left.len();
    let unused = unused.or_else(|| (rest > 0).then(|| never_asked(case, rest)));
    let log = log.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Ran { answer, spent, calls: world.calls(), log, unused }
}

fn request(case: &Case, answers: Option<Answers>) -> Asked {
    Asked {
        kind: case.target.kind,
        name: case.target.name.clone(),
        arguments: Value::Object(case.target.arguments.clone()).to_string(),
        client: case.client,
        answers,
    }
}

fn answered(given: &Map<String, Value>, required: InputRequired) -> Answers {
    let responses = given.iter().map(|(key, value)| (key.clone(), value.to_string())).collect();
    Answers { state: required.state, responses }
}

/// An answer to something that was not asked.
fn stray(given: &Map<String, Value>, required: &InputRequired) -> Option<Finding> {
    let asked: Vec<_> = required.requests.iter().map(|(key, _)| key.as_str()).collect();
    let stray = given.keys().find(|key| !asked.contains(&key.as_str()))?;
    Some(Finding::new("answers", format!("a question {stray:?}"), format!("questions {}", asked.join(", "))))
}

fn never_asked(case: &Case, rest: usize) -> Finding {
    let rounds = case.answers.len();
    let asked = rounds.saturating_sub(rest);
    Finding::new("answers", format!("questions in {rounds} rounds"), format!("questions in {asked}"))
}
