use std::collections::HashSet;

use serde_json::json;

use super::*;

fn parse(text: &str) -> Suite {
    Suite::parse("cases.yaml", text).unwrap_or_else(|unusable| panic!("{unusable}"))
}

#[track_caller]
fn refused(text: &str, problems: &[&str]) {
    let told = Suite::parse("cases.yaml", text).unwrap_err().to_string();
    for problem in problems {
        assert!(told.contains(problem), "{problem:?} is not in: {told}");
    }
}

#[test]
fn a_case_says_what_is_asked_and_what_comes_of_it() {
    let suite = parse(
        "
defaults:
  as: {role: operator, scopes: [inbox.emails]}
  client: [form]
  budgets: {fuel: 5 M, memory: 8 MiB}
cases:
  - name: everything
    as: {role: viewer}
    tool: score
    arguments: {id: abc, deep: {list: [1, 2.5, yes, null, 'no', 007]}}
    client: []
    answers:
      - threshold: {action: accept, content: {value: 7}}
      - {}
    expect:
      outcome: {stopped: fuel}
      text: {contains: [a, b], regex: '^x'}
      structured: {score: {$gte: 1}}
      content: [text, image]
      result: {isError: false}
    effects:
      calls:
        - {method: GET, path: /emails/*, status: 200, count: 1}
      only: true
    after:
      - get: /inboxes/acme-support
        body: {data: {label: {$any: true}}}
    budgets: {fuel: 100 k, host_calls: 3, log: 1 KiB, time_ms: 50}
  - name: bare
    resource: risk://policy
",
    );
    let [everything, bare] = suite.cases.as_slice() else { panic!("two cases") };
    assert_eq!((everything.line, bare.line), (7, 29));
    assert_eq!(everything.caller, Persona { role: Role::Viewer, scopes: vec![Scope::Emails] });
    assert_eq!(bare.caller, Persona { role: Role::Operator, scopes: vec![Scope::Emails] });
    assert_eq!(everything.target.kind, Kind::Tool);
    assert_eq!(everything.target.arguments["deep"], json!({"list": [1, 2.5, "yes", null, "no", "007"]}));
    assert_eq!(everything.client, Client::default());
    assert_eq!(bare.client, Client { form: true, ..Client::default() });
    assert_eq!(everything.answers[0]["threshold"], json!({"action": "accept", "content": {"value": 7}}));
    assert_eq!(everything.expect.outcome, Expected::Stopped(Some("fuel".into())));
    assert_eq!(bare.expect.outcome, Expected::Complete);
    let budgets = everything.budgets;
    assert_eq!((budgets.fuel, budgets.memory), (Some(Count(100_000)), Some(Bytes(8 << 20))));
    assert_eq!(bare.budgets.fuel, Some(Count(5_000_000)));
    assert_eq!((bare.target.kind, bare.target.name.as_str()), (Kind::Resource, "risk://policy"));
}

#[test]
fn without_defaults_the_owner_calls_with_every_scope_and_can_be_asked_anything() {
    let suite = parse("cases: [{name: a, prompt: reply, arguments: {tone: kind}}]");
    assert_eq!(suite.cases[0].caller, Persona { role: Role::Owner, scopes: Scope::ALL.to_vec() });
    assert_eq!(suite.cases[0].client, EVERYTHING);
}

#[test]
fn what_is_unknown_is_refused_with_line_and_name() {
    refused("cases:\n  - name: a\n    tool: t\n    expects: {}\n", &["cases.yaml", "line 4", "expects"]);
    refused("cases:\n  - name: a\n    tool: t\n    as: {role: boss}\n", &["line 4", "boss", "integrator"]);
    refused("cases:\n  - name: a\n    tool: t\n    as: {scopes: [inbox.mail]}\n", &["line 4", "inbox.mail"]);
    refused("cases:\n  - name: a\n    tool: t\n    client: [phone]\n", &["line 4", "phone", "sampling"]);
    refused("cases:\n  - name: a\n    tool: t\n    budgets: {memory: 8 MB}\n", &["line 4", "8 MB", "8 MiB"]);
    refused("cases:\n  - name: a\n    tool: t\n    expect: {outcome: fine}\n", &["line 4", "fine", "input_required"]);
    refused("cases:\n  - name: a\n    tool: t\n    expect:\n      structured: {a: {$near: 1}}\n", &["line 5", "$near"]);
    refused("cases:\n  - name: a\n    tool: t\n    expect: {text: {regex: '('}}\n", &["line 4", "regular expression"]);
    refused("cases:\n  - name: a\n    tool: t\n    name: b\n", &["line 4", "name"]);
    refused("cases: [", &["line 1"]);
    refused("cases: []", &["cases: expected at least one"]);
}

#[test]
fn what_does_not_belong_together_is_refused_with_line_and_name() {
    refused("cases:\n  - name: a\n", &["line 2: expected one of tool, resource and prompt"]);
    refused("cases:\n  - {name: a, tool: t, prompt: p}\n", &["line 2: expected one of tool, resource and prompt"]);
    refused("cases:\n  - {name: a, tool: t}\n  - {name: a, tool: t}\n", &["line 3: name", "stands on line 2"]);
    refused("cases:\n  - {name: ' ', tool: t}\n", &["line 2: name: expected some text"]);
    refused("cases:\n  - {name: a, resource: 'a:b', arguments: {x: 1}}\n", &["line 2: arguments: expected none"]);
    refused("cases:\n  - {name: a, prompt: p, arguments: {x: 1}}\n", &["line 2: arguments.x: expected text"]);
    refused("cases:\n  - {name: a, prompt: p, expect: {structured: {}}}\n", &["expect.structured", "tools only"]);
    refused(
        "cases:\n  - {name: a, tool: p, expect: {content: [movie]}}\n",
        &["expect.content", "movie", "resource_link"],
    );
    refused(
        "cases:\n  - {name: a, resource: 'a:b', expect: {outcome: error}}\n",
        &["expect.outcome: error is for tools"],
    );
    refused(
        "cases:\n  - {name: a, tool: t, effects: {none: true, calls: [{method: GET, path: /me}]}}\n",
        &["line 2: effects: expected none, or calls"],
    );
    refused("cases:\n  - {name: a, tool: t, effects: {only: true}}\n", &["effects.only: expected calls"]);
}

#[test]
fn every_problem_is_named_at_once() {
    refused("cases:\n  - {name: a}\n  - {name: b, resource: x, arguments: {a: b}}\n", &["line 2", "line 3"]);
}

#[test]
fn text_has_to_be_all_that_it_has_to_be() {
    let check = |yaml: &str, text: &str| -> Vec<String> {
        let matcher: expect::TextMatcher = serde_saphyr::from_str(yaml).unwrap();
        matcher.check(text).into_iter().map(|mismatch| format!("{}{}", mismatch.path, mismatch.expected)).collect()
    };
    let good = "{contains: [risk, '7'], excludes: secret, regex: '^risk: \\d$'}";
    assert_eq!(check(good, "risk: 7"), Vec::<String>::new());
    assert_eq!(
        check(good, "secret"),
        [
            "text that contains \"risk\"",
            "text that contains \"7\"",
            "text without \"secret\"",
            "text that matches /^risk: \\d$/",
        ]
    );
    assert_eq!(check("{equals: a}", "a\n"), ["\"a\""]);
    assert_eq!(check("{json: {a: {b: 2}}}", "{\"a\":{\"b\":1}}"), [".a.b2"]);
    assert_eq!(check("{json: {a: 1}}", "no JSON"), ["a JSON document: {\"a\": 1}"]);
}

#[test]
fn an_outcome_admits_itself_and_the_wide_ones_admit_more() {
    let all = [
        Expected::Complete,
        Expected::Error,
        Expected::InputRequired,
        Expected::Unanswerable,
        Expected::Missing,
        Expected::Invalid,
        Expected::MissingScope,
        Expected::Stopped(Some("fuel".into())),
        Expected::Stopped(Some("trap".into())),
    ];
    let names: HashSet<_> = all.iter().map(ToString::to_string).collect();
    assert_eq!(names.len(), all.len());
    for one in &all {
        for other in &all {
            assert_eq!(one.admits(other), one == other, "{one} {other}");
        }
        let own = matches!(one, Expected::Complete | Expected::Error | Expected::InputRequired);
        assert_eq!(Expected::Answered.admits(one), own, "{one}");
        assert_eq!(Expected::Stopped(None).admits(one), matches!(one, Expected::Stopped(_)), "{one}");
    }
}
