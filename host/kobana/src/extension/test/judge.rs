//! Whether what happened is what a case expects.

use std::fmt::Display;

use kobana_contract::openapi::BASE;
use serde_json::Value;

use super::cases::{Budgets, Case, EffectCall, Effects, Expect, Verb};
use super::matcher::Mismatch;
use super::outcome::Answer;
use super::runner::{Ran, Spent};
use super::units::{self, Bytes, Count};
use super::world::{Call, World};

/// Something that is not as it was expected.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub(super) struct Finding {
    /// The field of the case that says so.
    pub(super) field: String,
    /// What it expects.
    pub(super) expected: String,
    /// What happened.
    pub(super) actual: String,
}

impl Finding {
    pub(super) fn new(field: impl Into<String>, expected: impl Display, actual: impl Display) -> Self {
        Self { field: field.into(), expected: expected.to_string(), actual: actual.to_string() }
    }
}

/// Everything that is not as the case expects.
pub(super) async fn judge(case: &Case, ran: &Ran, world: &World) -> Vec<Finding> {
    let mut found = Vec::new();
    answer(&case.expect, &ran.answer, &mut found);
    found.extend(ran.unused.clone());
    if let Some(effects) = &case.effects {
        self::effects(effects, &ran.calls, &mut found);
    }
    budgets(case.budgets, &ran.spent, &mut found);
    for (index, after) in case.after.iter().enumerate() {
        let path = after.get.strip_prefix(BASE).unwrap_or(&after.get);
        let (status, body) = world.look(path).await;
        let field = format!("after[{index}]");
        if status != after.status {
            let problem = body.pointer("/error/message").and_then(Value::as_str).unwrap_or_default();
            let actual = format!("{status} {problem}");
            let expected = format!("GET {path} to answer {}", after.status);
            found.push(Finding::new(format!("{field}.status"), expected, actual.trim_end()));
        } else if let Some(matcher) = &after.body {
            found.extend(at(&format!("{field}.body"), matcher.check(Some(&body))));
        }
    }
    found
}

fn answer(expect: &Expect, answer: &Answer, found: &mut Vec<Finding>) {
    if !expect.outcome.admits(&answer.outcome) {
        let told = super::matcher::clipped(&answer.text);
        let actual =
            if told.is_empty() { answer.outcome.to_string() } else { format!("{} – {told}", answer.outcome) };
        found.push(Finding::new("expect.outcome", &expect.outcome, actual));
        // Whatever else is expected is about another outcome.
        return;
    }
    if let Some(matcher) = &expect.text {
        found.extend(at("expect.text", matcher.check(&answer.text)));
    }
    if let Some(matcher) = &expect.structured {
        found.extend(at("expect.structured", matcher.check(answer.structured.as_ref())));
    }
    if let Some(types) = expect.content.as_ref().filter(|types| **types != answer.types) {
        found.push(Finding::new("expect.content", list(types), list(&answer.types)));
    }
    if let Some(matcher) = &expect.result {
        found.extend(at("expect.result", matcher.check(Some(&answer.result))));
    }
}

fn at(field: &str, mismatches: Vec<Mismatch>) -> impl Iterator<Item = Finding> {
    mismatches.into_iter().map(move |Mismatch { path, expected, actual }| Finding {
        field: format!("{field}{path}"),
        expected,
        actual,
    })
}

fn list(words: &[String]) -> String {
    if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
}

fn effects(effects: &Effects, calls: &[Call], found: &mut Vec<Finding>) {
    if effects.none && !calls.is_empty() {
        found.push(Finding::new("effects.none", "no call", told(calls)));
    }
    let writes: Vec<_> = calls.iter().filter(|call| call.method != Verb::Get.as_str()).cloned().collect();
    if effects.reads_only && !writes.is_empty() {
        found.push(Finding::new("effects.reads_only", "no call but by GET", told(&writes)));
    }
    let mut from = 0;
    for (index, expected) in effects.calls.iter().enumerate() {
        let field = format!("effects.calls[{index}]");
        let fitting: Vec<_> = calls.iter().enumerate().filter(|(_, call)| fits(expected, call)).collect();
        match expected.count {
            Some(count) if count != fitting.len() => {
                let actual = format!("{} of them in {}", fitting.len(), told(calls));
                found.push(Finding::new(field, format!("{count} × {}", wanted(expected)), actual));
            }
            Some(0) => {}
            _ => match fitting.iter().find(|(at, _)| *at >= from) {
                Some((at, _)) => from = at.saturating_add(1),
                None if fitting.is_empty() => found.push(Finding::new(field, wanted(expected), told(calls))),
                None => {
                    found.push(Finding::new(field, format!("{} after the one before", wanted(expected)), told(calls)))
                }
            },
        }
    }
    let stray: Vec<_> =
        calls.iter().filter(|call| !effects.calls.iter().any(|known| fits(known, call))).cloned().collect();
    if effects.only && !stray.is_empty() {
        found.push(Finding::new("effects.only", "no other call", told(&stray)));
    }
}

fn fits(expected: &EffectCall, call: &Call) -> bool {
    let path = expected.path.strip_prefix(BASE).unwrap_or(&expected.path);
    let query = || Value::Object(call.query.clone());
    call.method == expected.method.as_str()
        && expected.status.is_none_or(|status| status == call.status)
        && leads_to(path, &call.path)
        && expected.query.as_ref().is_none_or(|matcher| matcher.check(Some(&query())).is_empty())
        && expected.body.as_ref().is_none_or(|matcher| matcher.check(call.body.as_ref()).is_empty())
}

/// Whether a pattern stands for a path: `*` or `{name}` for one segment, `**` at the end for any number.
fn leads_to(pattern: &str, path: &str) -> bool {
    let mut segments = path.split('/');
    for part in pattern.split('/') {
        if part == "**" {
            return true;
        }
        let any = part == "*" || part.starts_with('{') && part.ends_with('}');
        match segments.next() {
            Some(segment) if segment == part || any && !segment.is_empty() => {}
            _ => return false,
        }
    }
    segments.next().is_none()
}

fn wanted(expected: &EffectCall) -> String {
    let mut text = format!("{} {}", expected.method.as_str(), expected.path);
    if let Some(query) = &expected.query {
        text.push_str(&format!(" with the query {query}"));
    }
    if let Some(body) = &expected.body {
        text.push_str(&format!(" with the body {body}"));
    }
    if let Some(status) = expected.status {
        text.push_str(&format!(" answered with {status}"));
    }
    text
}

/// Calls in one line; equal ones that follow each other stand there once, with their number.
pub(super) fn told(calls: &[Call]) -> String {
    let mut lines: Vec<(String, usize)> = Vec::new();
    for call in calls {
        let text = format!("{} {} → {}", call.method, call.path, call.status);
        match lines.last_mut().filter(|(last, _)| *last == text) {
            Some((_, count)) => *count = count.saturating_add(1),
            None => lines.push((text, 1)),
        }
    }
    if lines.is_empty() {
        return "no call".to_owned();
    }
    let counted = lines.into_iter().map(|(text, count)| if count == 1 { text } else { format!("{count} × {text}") });
    counted.collect::<Vec<_>>().join(", ")
}

/// Adds every budget that was overrun.
pub(super) fn budgets(budgets: Budgets, spent: &Spent, found: &mut Vec<Finding>) {
    let mut compare = |name: &str, over: bool, most: String, actual: String| {
        if over {
            found.push(Finding::new(format!("budgets.{name}"), format!("at most {most}"), actual));
        }
    };
    let count = |count: u64| Count(count).to_string();
    let bytes = |bytes: u64| Bytes(bytes).to_string();
    if let Some(Count(most)) = budgets.fuel {
        compare("fuel", spent.fuel > most, count(most), count(spent.fuel));
    }
    if let Some(most) = budgets.time_ms {
        let over = spent.time > std::time::Duration::from_millis(most);
        compare("time_ms", over, format!("{most} ms"), units::time(spent.time));
    }
    if let Some(Bytes(most)) = budgets.memory {
        compare("memory", spent.memory > most, bytes(most), bytes(spent.memory));
    }
    if let Some(Count(most)) = budgets.host_calls {
        compare("host_calls", spent.host_calls > most, count(most), count(spent.host_calls));
    }
    if let Some(Bytes(most)) = budgets.log {
        compare("log", spent.log > most, bytes(most), bytes(spent.log));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(method: &str, path: &str, status: u16) -> Call {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let query =
            form_urlencoded::parse(query.as_bytes()).map(|(name, value)| (name.into_owned(), value.into())).collect();
        Call { method: method.into(), path: path.into(), query, body: None, status }
    }

    fn check(effects: Value, calls: &[Call]) -> Vec<(String, String, String)> {
        let effects: Effects = serde_saphyr::from_str(&effects.to_string()).unwrap();
        let mut found = Vec::new();
        super::effects(&effects, calls, &mut found);
        found.into_iter().map(|Finding { field, expected, actual }| (field, expected, actual)).collect()
    }

    #[track_caller]
    fn fields(effects: Value, calls: &[Call], expected: &[&str]) {
        let found: Vec<_> = check(effects, calls).into_iter().map(|(field, ..)| field).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn patterns_of_paths_stand_for_whole_segments() {
        for (pattern, path, fits) in [
            ("/emails", "/emails", true),
            ("/emails", "/emails/1", false),
            ("/emails/*", "/emails/1", true),
            ("/emails/{id}", "/emails/1", true),
            ("/emails/*", "/emails/", false),
            ("/emails/*", "/emails/1/raw", false),
            ("/emails/*/raw", "/emails/1/raw", true),
            ("/emails/**", "/emails/1/raw", true),
            ("/**", "/inboxes", true),
            ("/inboxes/**", "/emails", false),
        ] {
            assert_eq!(leads_to(pattern, path), fits, "{pattern} {path}");
        }
    }

    #[test]
    fn calls_are_looked_for_in_their_order() {
        let calls = [
            call("GET", "/emails?limit=5", 200),
            call("GET", "/emails/1", 200),
            call("POST", "/emails/1/reprocess", 202),
        ];
        let (list, one, write) = (
            json!({"method": "GET", "path": "/emails", "query": {"limit": "5"}, "count": 1}),
            json!({"method": "GET", "path": "/api/v1/emails/*", "status": 200}),
            json!({"method": "POST", "path": "/emails/{id}/reprocess"}),
        );
        fields(json!({"calls": [list, one, write], "only": true}), &calls, &[]);
        fields(json!({"calls": [write, one]}), &calls, &["effects.calls[1]"]);
        fields(json!({"calls": [list], "only": true}), &calls, &["effects.only"]);
        fields(json!({"reads_only": true}), &calls, &["effects.reads_only"]);
        fields(json!({"none": true}), &calls, &["effects.none"]);
        fields(json!({"none": true, "reads_only": true}), &[], &[]);
        fields(json!({"calls": [{"method": "DELETE", "path": "/**", "count": 0}]}), &calls, &[]);
        fields(json!({"calls": [{"method": "GET", "path": "/emails/*", "count": 2}]}), &calls, &["effects.calls[0]"]);
        fields(
            json!({"calls": [{"method": "GET", "path": "/emails", "query": {"limit": "6"}}]}),
            &calls,
            &["effects.calls[0]"],
        );
    }

    #[test]
    fn what_happened_is_told_in_one_line() {
        let calls =
            [call("GET", "/emails/1", 200), call("GET", "/emails/1", 200), call("POST", "/emails/1/reprocess", 403)];
        let found = check(json!({"calls": [{"method": "GET", "path": "/inboxes", "status": 200}]}), &calls);
        let expected = "GET /inboxes answered with 200".to_owned();
        let actual = "2 × GET /emails/1 → 200, POST /emails/1/reprocess → 403".to_owned();
        assert_eq!(found, [("effects.calls[0]".to_owned(), expected, actual)]);
    }

    #[test]
    fn a_budget_may_be_used_up_and_no_more() {
        let spent = Spent { fuel: 1_000, memory: 2 << 20, host_calls: 3, log: 10, ..Spent::default() };
        let read = |yaml: &str| serde_saphyr::from_str::<Budgets>(yaml).unwrap();
        let mut found = Vec::new();
        budgets(read("{fuel: 1 k, memory: 2 MiB, host_calls: 3, log: 10, time_ms: 0}"), &spent, &mut found);
        assert_eq!(found, []);
        budgets(read("{fuel: 999, memory: 1.9 MiB, host_calls: 2, log: 9 B}"), &spent, &mut found);
        let fields: Vec<_> = found.iter().map(|finding| finding.field.as_str()).collect();
        assert_eq!(fields, ["budgets.fuel", "budgets.memory", "budgets.host_calls", "budgets.log"]);
        assert_eq!((found[0].expected.as_str(), found[0].actual.as_str()), ("at most 999", "1.0 k"));
    }
}
