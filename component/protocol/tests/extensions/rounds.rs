//! Questions, states and confirmations.

use kobana_protocol::extension::{Answers, InputRequired, Outcome, Question};
use serde_json::{Value, json};

use crate::host::{Ask, Host, asks, said};

const READS: &str = "ext.risk.score";
const WRITES: &str = "ext.risk.quarantine";

fn ask(name: &str) -> Ask {
    Ask::tool(name, json!({"id": "1"}))
}

fn answered() -> Value {
    json!({"limit": {"action": "accept", "content": {"limit": 5}}})
}

#[test]
fn a_question_comes_back_with_its_state() {
    let host = Host::with_tools([asks(Some(b"\x00\xff")), said("done")]);
    let first = ask(READS).send(&host);
    let request = &first.result()["inputRequests"]["limit"];
    assert_eq!(request["method"], "elicitation/create");
    assert_eq!(request["params"]["message"], "How much?");
    let told = ask(READS).with("requestState", first.state()).with("inputResponses", answered()).send(&host);
    assert_eq!(told.text(), "done");
    let responses = vec![("limit".to_owned(), answered()["limit"].to_string())];
    assert_eq!(host.uses.borrow()[1].answers, Some(Answers { state: Some(b"\x00\xff".to_vec()), responses }));
}

#[test]
fn what_only_reads_needs_no_state_of_its_own() {
    let host = Host::with_tools([asks(None), said("done")]);
    let first = ask(READS).send(&host);
    assert_eq!(first.state(), Value::Null);
    assert_eq!(host.count("seal"), 0);
    assert_eq!(ask(READS).with("inputResponses", answered()).send(&host).text(), "done");
    let answers = host.uses.borrow()[1].answers.clone().unwrap();
    assert_eq!((answers.state, answers.responses.len()), (None, 1));
}

#[test]
fn a_state_alone_can_be_handed_out() {
    let host = Host::with_tools([
        Outcome::InputRequired(InputRequired { requests: Vec::new(), state: Some(Vec::new()) }),
        said("done"),
    ]);
    let first = ask(READS).send(&host);
    assert!(first.result().get("inputRequests").is_none());
    ask(READS).with("requestState", first.state()).send(&host).result();
    assert_eq!(host.uses.borrow()[1].answers, Some(Answers { state: Some(Vec::new()), responses: Vec::new() }));
}

#[test]
fn a_state_is_good_for_one_call_once() {
    let host = Host::with_tools([asks(Some(b"x")), said("done")]);
    let state = ask(READS).send(&host).state();
    let with = |ask: Ask, state: &Value| ask.with("requestState", state.clone()).send(&host);
    let tampered = json!(format!("{}-TAMPERED", state.as_str().unwrap()));
    let unsealed = json!(state.as_str().unwrap().strip_prefix("s.").unwrap());
    let refused = (200, -32602, Some("request_state_invalid"));
    for bad in [&tampered, &unsealed, &json!(""), &json!("s."), &json!("é")] {
        assert_eq!(with(ask(READS), bad).error(), refused, "{bad}");
    }
    assert_eq!(with(Ask::tool(READS, json!({"id": "2"})), &state).error(), refused, "of other arguments");
    assert_eq!(with(ask(WRITES), &state).error(), refused, "of another tool");
    assert_eq!(host.count("use"), 1);
    assert_eq!(with(Ask::tool(READS, json!({"id": "\u{31}"})), &state).text(), "done");
    assert_eq!(with(ask(READS), &state).error(), refused, "spent");
    assert_eq!(host.count("use"), 2);
}

#[test]
fn malformed_rounds_are_refused_before_anything_runs() {
    let host = Host::with_tools([]);
    for (member, value) in [
        ("requestState", json!(7)),
        ("requestState", Value::Null),
        ("inputResponses", Value::Null),
        ("inputResponses", json!([])),
        ("inputResponses", json!("x")),
    ] {
        for name in [READS, WRITES] {
            assert_eq!(
                ask(name).with(member, value.clone()).send(&host).error(),
                (200, -32602, None),
                "{member} {value}"
            );
        }
    }
    assert_eq!((host.count("use"), host.count("issue")), (0, 0));
}

#[test]
fn an_old_state_and_one_of_another_version_start_over() {
    let mut host = Host::with_tools([asks(Some(b"x")), said("anew"), asks(Some(b"x")), said("anew")]);
    let state = ask(READS).send(&host).state();
    host.expired.set(true);
    let told = ask(READS).with("requestState", state).with("inputResponses", answered()).send(&host);
    assert_eq!((told.text(), &host.uses.borrow()[1].answers), ("anew", &None));
    host.expired.set(false);
    let state = ask(READS).send(&host).state();
    host.offers[0].1.version = "v2".to_owned();
    let told = ask(READS).with("requestState", state).with("inputResponses", answered()).send(&host);
    assert_eq!(told.text(), "anew");
    let used = host.uses.borrow()[3].clone();
    assert_eq!((used.version.as_str(), used.answers), ("v2", None));
}

#[test]
fn questions_that_a_client_has_not_declared_are_not_asked() {
    let visit = Question::Visit { message: "m".into(), url: "https://example.com".into(), id: "1".into() };
    let sampling = Question::Sampling(r#"{"messages":[],"maxTokens":1}"#.into());
    let all = vec![("a".to_owned(), visit), ("b".to_owned(), sampling), ("c".to_owned(), Question::Roots)];
    let required = || Outcome::InputRequired(InputRequired { requests: all.clone(), state: None });
    let host = Host::with_tools([required(), required()]);
    let told = ask(READS).send(&host);
    assert_eq!(told.error(), (400, -32021, Some("capability_required")));
    assert_eq!(
        told.body["error"]["data"]["requiredCapabilities"],
        json!({"elicitation": {"url": {}}, "sampling": {}, "roots": {}})
    );
    let able = json!({"elicitation": {"url": {}}, "sampling": {}, "roots": {}});
    let told = ask(READS).able(able).send(&host);
    assert_eq!(told.result()["inputRequests"].as_object().unwrap().len(), 3);
}

#[test]
fn questions_that_no_client_could_read_are_a_flaw_of_the_extension() {
    let form = Question::Form { message: "m".into(), schema: "{}".into() };
    for requests in [vec![("a".to_owned(), form)], vec![("".to_owned(), Question::Roots)], Vec::new()] {
        let host = Host::with_tools([Outcome::InputRequired(InputRequired { requests, state: None })]);
        let able = json!({"elicitation": {}, "roots": {}});
        assert_eq!(ask(READS).able(able).send(&host).failed(), "extension_invalid_answer");
    }
    let state = Some(vec![0; 32_769]);
    let host = Host::with_tools([Outcome::InputRequired(InputRequired { requests: Vec::new(), state })]);
    assert_eq!(ask(READS).send(&host).failed(), "extension_invalid_answer");
    assert_eq!(host.count("seal"), 0);
}

#[test]
fn nobody_is_asked_for_what_would_be_refused() {
    let host = Host::with_tools([]);
    *host.refusal.borrow_mut() = Some(Outcome::Invalid(r#"{"error":{"code":"validation_failed"}}"#.to_owned()));
    let told = Ask::tool(WRITES, json!({"id": 1})).send(&host);
    assert_eq!(told.text(), r#"{"error":{"code":"validation_failed"}}"#);
    *host.refusal.borrow_mut() = Some(Outcome::Missing);
    assert_eq!(Ask::tool(WRITES, json!({"id": "1"})).send(&host).error(), (200, -32602, None));
    assert_eq!((host.count("issue"), host.count("use")), (0, 0));
}

#[test]
fn what_writes_is_confirmed_first() {
    let host = Host::with_tools([said("gone")]);
    let first = Ask::tool(WRITES, json!({"note": "a\u{202e}b", "id": "1"})).send(&host);
    let question = &first.result()["inputRequests"]["confirm"]["params"];
    assert_eq!(
        question["message"],
        "Run the tool “Quarantine” (ext.risk.quarantine) of the extension “risk” with {\"id\":\"1\",\"note\":\"ab\"}? \
         It may change, delete or send data."
    );
    assert_eq!(question["requestedSchema"]["properties"]["confirm"]["type"], "boolean");
    assert_eq!(*host.calls.borrow(), ["find", "check", "issue"]);
    // Another order of the members is the same call.
    let told = Ask::tool(WRITES, json!({"id": "1", "note": "a\u{202e}b"})).confirms(&first.state(), true).send(&host);
    assert_eq!(told.text(), "gone");
    assert_eq!(host.uses.borrow()[0].answers, None, "the confirmation is not the extension's");
    let again = Ask::tool(WRITES, json!({"id": "1", "note": "a\u{202e}b"})).confirms(&first.state(), true).send(&host);
    assert_eq!(again.error(), (200, -32602, Some("confirmation_invalid")));
    assert_eq!(host.count("use"), 1);
}

#[test]
fn only_a_yes_to_this_very_call_runs_it() {
    let mut host = Host::with_tools([]);
    // An answer without a state, and a state without an answer.
    let bare =
        ask(WRITES).with("inputResponses", json!({"confirm": {"action": "accept", "content": {"confirm": true}}}));
    let state = bare.send(&host).state();
    let state = {
        assert_ne!(ask(WRITES).with("requestState", state.clone()).send(&host).state(), Value::Null);
        state
    };
    assert_eq!(
        Ask::tool(WRITES, json!({"id": "2"})).confirms(&state, true).send(&host).error().2,
        Some("confirmation_invalid")
    );
    assert_eq!(ask(READS).confirms(&state, true).send(&host).error().2, Some("request_state_invalid"));
    assert_eq!(ask(WRITES).confirms(&state, false).send(&host).failed(), "confirmation_declined");
    // Expired, and of another version: the question is put anew.
    let state = ask(WRITES).send(&host).state();
    host.expired.set(true);
    ask(WRITES).confirms(&state, true).send(&host).state();
    host.expired.set(false);
    host.offers[1].1.version = "v2".to_owned();
    ask(WRITES).confirms(&state, true).send(&host).state();
    assert_eq!(host.count("use"), 0);
}

#[test]
fn who_cannot_be_asked_runs_nothing_that_writes() {
    let host = Host::with_tools([]);
    for capabilities in [json!({}), json!({"elicitation": {"url": {}}}), json!({"elicitation": null})] {
        let told = ask(WRITES).able(capabilities).send(&host);
        assert_eq!(told.error(), (400, -32021, Some("confirmation_required")));
        assert_eq!(told.body["error"]["data"]["requiredCapabilities"], json!({"elicitation": {"form": {}}}));
    }
    for version in ["2025-06-18", "2025-03-26"] {
        assert_eq!(ask(WRITES).version(version).send(&host).failed(), "confirmation_required");
    }
    let refused = host.refused.borrow();
    assert_eq!(refused.len(), 5);
    assert_eq!((refused[0].name.as_str(), refused[0].arguments.as_str()), (WRITES, r#"{"id":"1"}"#));
    assert_eq!((host.count("use"), host.count("issue")), (0, 0));
}

#[test]
fn what_writes_may_ask_once_it_is_confirmed() {
    let host = Host::with_tools([asks(None), asks(Some(b"2")), said("gone")]);
    let confirmation = ask(WRITES).send(&host).state();
    let first = ask(WRITES).confirms(&confirmation, true).send(&host).state();
    assert!(first.is_string(), "even without a state of the extension: it holds the confirmation");
    let second = ask(WRITES).with("requestState", first).with("inputResponses", answered()).send(&host).state();
    let told = ask(WRITES).with("requestState", second.clone()).with("inputResponses", answered()).send(&host);
    assert_eq!(told.text(), "gone");
    let states: Vec<_> = host.uses.borrow().iter().map(|one| one.answers.as_ref().map(|it| it.state.clone())).collect();
    assert_eq!(states, [None, Some(None), Some(Some(b"2".to_vec()))]);
    assert_eq!(host.count("issue"), 1, "it is confirmed once");
    let again = ask(WRITES).with("requestState", second).with("inputResponses", answered()).send(&host);
    assert_eq!(again.error().2, Some("request_state_invalid"));
    assert_eq!(host.count("use"), 3);
}

#[test]
fn a_state_without_a_confirmation_runs_nothing_that_writes() {
    // The same call was one that only reads when its state was made, though its version is the same.
    let mut host = Host::with_tools([asks(Some(b"x"))]);
    host.offers[1].1.read_only = true;
    let state = ask(WRITES).send(&host).state();
    host.offers[1].1.read_only = false;
    let told = ask(WRITES).with("requestState", state).with("inputResponses", answered()).send(&host);
    assert!(told.result()["inputRequests"]["confirm"].is_object(), "{}", told.body);
    assert_eq!(host.count("use"), 1);
}

#[test]
fn a_sealed_state_confirms_nothing_and_a_confirmation_unseals_nothing() {
    let host = Host::with_tools([asks(Some(b"x"))]);
    let confirmation = ask(WRITES).send(&host).state();
    let sealed = ask(WRITES).confirms(&confirmation, true).send(&host).state();
    let stripped = json!(sealed.as_str().unwrap().strip_prefix("s.").unwrap());
    assert_eq!(ask(WRITES).confirms(&stripped, true).send(&host).error().2, Some("confirmation_invalid"));
    let fresh = ask(WRITES).send(&host).state();
    let marked = json!(format!("s.{}", fresh.as_str().unwrap()));
    assert_eq!(ask(WRITES).confirms(&marked, true).send(&host).error().2, Some("request_state_invalid"));
    assert_eq!(host.count("use"), 1);
}
