//! Calls of tools that only read.

use kobana_protocol::extension::{Client, Outcome, Stopped};
use serde_json::{Value, json};

use crate::host::{Ask, Host, asks, said};

#[test]
fn a_tool_gets_its_arguments_as_they_were_sent() {
    let host = Host::with_tools([said("0.7")]);
    let told = Ask::tool("ext.risk.score", json!({"id": 9_007_199_254_740_993_u64, "deep": {"x": [1.50]}})).send(&host);
    assert_eq!(told.text(), "0.7");
    assert_eq!(told.result()["resultType"], "complete");
    assert!(told.result().get("ttlMs").is_none());
    let used = host.uses.borrow()[0].clone();
    assert_eq!((used.name.as_str(), used.version.as_str(), used.answers), ("ext.risk.score", "v1", None));
    assert_eq!(used.arguments, r#"{"deep":{"x":[1.5]},"id":9007199254740993}"#);
    assert_eq!(used.client, Client { form: true, ..Client::default() });
    assert_eq!(*host.calls.borrow(), ["find", "use"]);
}

#[test]
fn without_arguments_there_are_none() {
    let host = Host::with_tools([said("x")]);
    Ask::new("tools/call", json!({"name": "ext.risk.score"})).send(&host).result();
    assert_eq!(host.uses.borrow()[0].arguments, "{}");
    let wrong = Ask::tool("ext.risk.score", json!([])).send(&host);
    assert_eq!(wrong.error(), (200, -32602, None));
    assert_eq!(host.count("use"), 1);
}

#[test]
fn arguments_mean_the_same_to_everybody() {
    let host = Host::with_tools([]);
    for name in ["ext.risk.score", "ext.risk.quarantine"] {
        let told = Ask::tool(name, json!({"page": {"size": 1, "TWIN": 2}})).rewrite("TWIN", "size").send(&host);
        assert_eq!(told.error(), (200, -32602, None));
    }
    assert_eq!(*host.calls.borrow(), ["find", "find"]);
}

#[test]
fn capabilities_are_passed_on_as_they_were_declared() {
    let table = [
        (json!({}), Client::default()),
        (json!({"elicitation": {"url": {}}}), Client { url: true, ..Client::default() }),
        (json!({"elicitation": null, "sampling": true, "roots": []}), Client::default()),
        (
            json!({"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {"listChanged": true}}),
            Client { form: true, url: true, sampling: true, roots: true },
        ),
    ];
    for (capabilities, expected) in table {
        let host = Host::with_tools([said("x")]);
        Ask::tool("ext.risk.score", json!({})).able(capabilities.clone()).send(&host).result();
        assert_eq!(host.uses.borrow()[0].client, expected, "{capabilities}");
    }
    let host = Host::with_tools([said("x")]);
    Ask::tool("ext.risk.score", json!({})).version("2025-06-18").send(&host).result();
    assert_eq!(host.uses.borrow()[0].client, Client::default());
}

#[test]
fn what_nobody_offers_is_unknown() {
    for version in ["2026-07-28", "2025-06-18"] {
        let host = Host::with_tools([Outcome::Missing]);
        let unknown = Ask::tool("ext.risk.nope", json!({})).version(version).send(&host);
        assert_eq!(unknown.error(), (200, -32602, None));
        assert_eq!(unknown.body["error"]["message"], "Invalid params: Unknown tool: ext.risk.nope");
        // It was taken away between two calls of the host.
        assert_eq!(Ask::tool("ext.risk.score", json!({})).version(version).send(&host).error(), (200, -32602, None));
    }
}

#[test]
fn a_missing_scope_shows_the_way_to_it() {
    let mut host = Host::with_tools([]);
    host.offers[0].1.missing_scope = Some("inbox.inboxes".to_owned());
    let told = Ask::tool("ext.risk.score", json!({})).send(&host);
    assert_eq!(told.error(), (403, -31403, None));
    assert!(told.challenge.unwrap().contains(r#"scope="inbox.inboxes""#));
    assert_eq!(host.count("use"), 0);
}

#[test]
fn whatever_stops_an_extension_is_told_by_name() {
    let limit = Stopped {
        code: "extension_limit".into(),
        message: "The extension used more than 10 million units of fuel".into(),
        limit: Some("fuel".into()),
        retry_after: None,
    };
    let resting = Stopped {
        code: "extension_unavailable".into(),
        message: "The extension failed too often and rests".into(),
        limit: None,
        retry_after: Some(30),
    };
    for version in ["2026-07-28", "2025-06-18", "2025-03-26"] {
        let host = Host::with_tools([Outcome::Stopped(limit.clone()), Outcome::Stopped(resting.clone())]);
        let ask = || Ask::tool("ext.risk.score", json!({})).version(version).send(&host);
        let (told, later) = (ask(), ask());
        assert_eq!(told.failed(), "extension_limit");
        let error: Value = serde_json::from_str(told.text()).unwrap();
        assert_eq!(error["error"]["details"], json!({"limit": "fuel"}));
        assert_eq!(error["error"]["message"], limit.message);
        assert_eq!(later.failed(), "extension_unavailable");
        assert_eq!(serde_json::from_str::<Value>(later.text()).unwrap()["error"]["details"]["retry_after"], 30);
    }
}

#[test]
fn wrong_arguments_and_answers_of_the_wrong_kind() {
    let refusal = r#"{"error":{"code":"validation_failed","message":"m","details":{"field_errors":{"a":["x"]},"form_errors":[]}}}"#;
    let host = Host::with_tools([Outcome::Invalid(refusal.to_owned()), Outcome::Documents(Vec::new())]);
    let told = Ask::tool("ext.risk.score", json!({})).send(&host);
    assert_eq!((told.failed().as_str(), told.text()), ("validation_failed", refusal));
    assert_eq!(Ask::tool("ext.risk.score", json!({})).send(&host).error(), (200, -32603, None));
}

#[test]
fn a_revision_without_questions_says_so() {
    for version in ["2025-06-18", "2025-03-26"] {
        let host = Host::with_tools([asks(Some(b"x"))]);
        let told = Ask::tool("ext.risk.score", json!({}))
            .version(version)
            // Members of another revision mean nothing here.
            .with("requestState", json!(7))
            .with("inputResponses", json!({"limit": {}}))
            .send(&host);
        assert_eq!(told.failed(), "input_required");
        assert_eq!(host.uses.borrow()[0].answers, None);
        assert_eq!(host.count("seal"), 0);
    }
}
