//! The rules that inboxes keep in `filters`, a small language:
//!
//! ```json
//! {"field": "subject", "op": "contains", "value": ["sorteio", "prêmio"], "action": "reject"}
//! {"field": "header:X-Spam-Flag", "op": "equals", "value": "YES", "action": "reject"}
//! {"field": "attachment", "op": "ends_with", "value": ".pdf", "action": "require"}
//! ```
//!
//! * `field`: `subject`, `from`, `to` (the addresses of To and Cc, and the inbox's own), `body` (plain text, or what the
//!   HTML says, up to 256 KiB), `attachment` (the name of any of them), or `header:NAME`.
//! * `op`: `contains`, `equals`, `starts_with`, `ends_with`, `matches` (a regular expression without look-around, found
//!   anywhere), or `exists`, which takes no value.
//! * `value`: a text, or a list of texts of which one is enough. Letter case does not count.
//! * `action`: `reject` refuses an e-mail that the rule fits; `require` refuses one that it does not fit.
//!
//! Rules only ever refuse. The contract leaves their form open, so one that is not understood, because of a member, word
//! or expression that is not in this list, is left out, and the event of the decision names its place.

use kobana_store::rows::EmailRow;
use kobana_store::text::fold;
use regex::{Regex, RegexBuilder};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::intake::content::Content;

/// The most memory of a compiled expression, in bytes.
const LARGEST_EXPRESSION: usize = 256 * 1024;
/// The longest rule value, in bytes.
const LONGEST_VALUE: usize = 4_096;

/// What rules look at.
struct Facts<'a> {
    subject: Option<&'a str>,
    from: &'a str,
    to: Vec<&'a str>,
    content: &'a Content,
}

/// What the rules say, each by its place from one.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Findings {
    /// The first that refuses the e-mail.
    pub(super) refused_by: Option<usize>,
    /// Those that are not understood.
    pub(super) not_understood: Vec<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    field: String,
    op: Op,
    #[serde(default)]
    value: Option<Values>,
    action: Action,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Op {
    Contains,
    Equals,
    StartsWith,
    EndsWith,
    Matches,
    Exists,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    Reject,
    Require,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Values {
    One(String),
    Several(Vec<String>),
}

/// What an inbox's rules say to an e-mail. There may be many rules, and long texts: it may take some time.
pub(super) fn judge(rules: &[Map<String, Value>], email: &EmailRow, content: &Content) -> Findings {
    let to = [&email.recipients.0, &email.header_to.0, &email.cc.0];
    let facts = Facts {
        subject: email.subject.as_deref(),
        from: &email.sender,
        to: to.into_iter().flatten().map(String::as_str).collect(),
        content,
    };
    apply(rules, &facts)
}

/// Applies the rules in their order.
fn apply(rules: &[Map<String, Value>], facts: &Facts<'_>) -> Findings {
    let mut findings = Findings::default();
    for (place, rule) in (1..).zip(rules) {
        match refuses(rule, facts) {
            None => findings.not_understood.push(place),
            Some(true) if findings.refused_by.is_none() => findings.refused_by = Some(place),
            Some(_) => {}
        }
    }
    findings
}

/// Whether the rule refuses the e-mail; none if it is not understood.
fn refuses(rule: &Map<String, Value>, facts: &Facts<'_>) -> Option<bool> {
    let rule: Rule = serde_json::from_value(Value::Object(rule.clone())).ok()?;
    let found = values_of(&rule.field, facts)?;
    let fits = match (rule.op, rule.value) {
        (Op::Exists, None) => !found.is_empty(),
        (Op::Exists, Some(_)) | (_, None) => return None,
        (op, Some(wanted)) => {
            let tests = tests(op, wanted)?;
            found.iter().any(|text| tests.iter().any(|test| test.fits(text)))
        }
    };
    Some(fits == (rule.action == Action::Reject))
}

fn values_of(field: &str, facts: &Facts<'_>) -> Option<Vec<String>> {
    let all = |texts: &mut dyn Iterator<Item = &str>| Some(texts.map(str::to_owned).collect());
    match field {
        "subject" => all(&mut facts.subject.into_iter()),
        "from" => all(&mut std::iter::once(facts.from)),
        "to" => all(&mut facts.to.iter().copied()),
        "body" => all(&mut facts.content.readable.as_deref().into_iter()),
        "attachment" => all(&mut facts.content.attachments.iter().filter_map(|file| file.name.as_deref())),
        _ => {
            let name = field.strip_prefix("header:").filter(|name| !name.is_empty())?;
            let named = facts.content.headers.iter().filter(|(header, _)| header.eq_ignore_ascii_case(name));
            all(&mut named.map(|(_, value)| value.as_str()))
        }
    }
}

enum Test {
    Contains(String),
    Equals(String),
    StartsWith(String),
    EndsWith(String),
    Matches(Regex),
}

impl Test {
    fn fits(&self, text: &str) -> bool {
        match self {
            Self::Contains(wanted) => fold(text).contains(wanted),
            Self::Equals(wanted) => fold(text.trim()) == *wanted,
            Self::StartsWith(wanted) => fold(text.trim()).starts_with(wanted),
            Self::EndsWith(wanted) => fold(text.trim()).ends_with(wanted),
            Self::Matches(expression) => expression.is_match(text),
        }
    }
}

/// The tests of which one is enough; none if there is nothing to test with.
fn tests(op: Op, wanted: Values) -> Option<Vec<Test>> {
    let wanted = match wanted {
        Values::One(text) => vec![text],
        Values::Several(texts) => texts,
    };
    if wanted.is_empty() || wanted.iter().any(|text| text.is_empty() || text.len() > LONGEST_VALUE) {
        return None;
    }
    wanted.into_iter().map(|text| test(op, &text)).collect()
}

fn test(op: Op, text: &str) -> Option<Test> {
    match op {
        Op::Contains => Some(Test::Contains(fold(text))),
        Op::Equals => Some(Test::Equals(fold(text.trim()))),
        Op::StartsWith => Some(Test::StartsWith(fold(text.trim()))),
        Op::EndsWith => Some(Test::EndsWith(fold(text.trim()))),
        Op::Matches => RegexBuilder::new(text)
            .case_insensitive(true)
            .size_limit(LARGEST_EXPRESSION)
            .build()
            .ok()
            .map(Test::Matches),
        Op::Exists => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::intake::content;

    const MESSAGE: &str = "From: Ana@B.example\r\nSubject: SORTEIO da AÇÃO\r\nX-Spam-Flag: yes\r\n\r\nGanhe agora";

    fn said(rules: Value) -> Findings {
        let content = content::parse(MESSAGE.as_bytes());
        let facts = Facts {
            subject: Some("SORTEIO da AÇÃO"),
            from: "Ana@B.example",
            to: vec!["in@i.example"],
            content: &content,
        };
        let rules: Vec<Map<String, Value>> = serde_json::from_value(rules).unwrap();
        apply(&rules, &facts)
    }

    fn refused(rule: Value) -> bool {
        let findings = said(json!([rule]));
        assert!(findings.not_understood.is_empty());
        findings.refused_by == Some(1)
    }

    #[test]
    fn what_fits_is_rejected_and_what_does_not_was_required() {
        let rule = |field: &str, op: &str, value: Value, action: &str| {
            refused(json!({ "field": field, "op": op, "value": value, "action": action }))
        };
        assert!(rule("subject", "contains", json!("ação"), "reject"));
        assert!(!rule("subject", "contains", json!("ação"), "require"));
        assert!(rule("subject", "starts_with", json!(["x", "sorteio"]), "reject"));
        assert!(rule("from", "equals", json!("ana@b.example"), "reject"));
        assert!(rule("from", "ends_with", json!("@c.example"), "require"));
        assert!(!rule("to", "equals", json!("IN@i.example"), "require"));
        assert!(rule("body", "matches", json!("g.nhe\\s+agora"), "reject"));
        assert!(rule("header:x-spam-flag", "equals", json!("YES"), "reject"));
        assert!(rule("attachment", "ends_with", json!(".pdf"), "require"));
        assert!(refused(json!({ "field": "header:X-Spam-Flag", "op": "exists", "action": "reject" })));
        assert!(!refused(json!({ "field": "attachment", "op": "exists", "action": "reject" })));
    }

    #[test]
    fn what_is_not_understood_is_left_out_and_named() {
        let findings = said(json!([
            { "spam_verdict": "PASS" },
            { "field": "subject", "op": "contains", "value": "sorteio", "action": "reject", "colour": 1 },
            { "field": "subject", "op": "matches", "value": "(", "action": "reject" },
            { "field": "subject", "op": "matches", "value": "(?=x)", "action": "reject" },
            { "field": "subject", "op": "contains", "value": "", "action": "reject" },
            { "field": "subject", "op": "contains", "value": [], "action": "reject" },
            { "field": "header:", "op": "exists", "action": "reject" },
            { "field": "subject", "op": "exists", "value": "x", "action": "reject" },
            { "field": "subject", "op": "contains", "value": "sorteio", "action": "reject" },
        ]));
        assert_eq!(findings, Findings { refused_by: Some(9), not_understood: (1..=8).collect() });
    }
}
