//! Resources, prompts and completions.

use kobana_protocol::extension::{Block, Content, Document, DocumentBody, Kind, Message, Outcome, Role, Stopped};
use serde_json::{Value, json};

use crate::host::{Ask, Host, asks, offer, said};

const POLICY: &str = "risk://policy";
const REVIEW: &str = "ext.risk.review";

fn with(script: impl IntoIterator<Item = Outcome>) -> Host {
    let mut host = Host::with_tools(script);
    host.offers.push((Kind::Resource, offer(POLICY, true, r#""name":"policy""#)));
    host.offers.push((Kind::ResourceTemplate, offer("risk://emails/{id}", true, r#""name":"email""#)));
    let mut review = offer(REVIEW, true, r#""arguments":[]"#);
    review.suggestions = vec![
        ("tone".to_owned(), vec!["Árido".to_owned(), "warm".to_owned(), "ÁCIDO".to_owned()]),
        ("topic".to_owned(), Vec::new()),
    ];
    host.offers.push((Kind::Prompt, review));
    host
}

fn read() -> Ask {
    Ask::new("resources/read", json!({"uri": POLICY}))
}

fn get(arguments: Value) -> Ask {
    Ask::new("prompts/get", json!({"name": REVIEW, "arguments": arguments}))
}

fn policy() -> Outcome {
    let body = DocumentBody::Text("be careful".to_owned());
    Outcome::Documents(vec![Document { uri: POLICY.to_owned(), media_type: None, body }])
}

fn review() -> Outcome {
    let block = Block { content: Content::Text("Look.".to_owned()), annotations: None };
    Outcome::Prompt { description: None, messages: vec![Message { role: Role::User, block }] }
}

fn stopped() -> Outcome {
    let (limit, retry_after) = (Some("time_ms".to_owned()), None);
    Outcome::Stopped(Stopped {
        code: "extension_limit".into(),
        message: "It took longer than 5 s".into(),
        limit,
        retry_after,
    })
}

#[test]
fn documents_are_read_in_every_revision() {
    for version in ["2026-07-28", "2025-06-18", "2025-03-26"] {
        let host = with([policy()]);
        let told = read().version(version).send(&host);
        assert_eq!(told.result()["contents"], json!([{"uri": POLICY, "text": "be careful"}]));
        assert_eq!(told.result().get("ttlMs").is_some(), version == "2026-07-28");
        let used = host.uses.borrow()[0].clone();
        assert_eq!((used.kind, used.name.as_str(), used.arguments.as_str()), (Kind::Resource, POLICY, ""));
    }
}

#[test]
fn what_is_not_there_or_out_of_reach_is_missing() {
    let missing = |told: crate::host::Told, code| {
        assert_eq!(told.error(), (200, code, None));
        assert_eq!(told.body["error"]["message"], "Resource not found");
        assert!(told.body["error"]["data"]["uri"].as_str().unwrap().starts_with("risk:"));
    };
    let mut host = with([Outcome::Missing]);
    missing(Ask::new("resources/read", json!({"uri": "risk://other"})).send(&host), -32602);
    missing(Ask::new("resources/read", json!({"uri": "risk://other"})).version("2025-06-18").send(&host), -32002);
    missing(read().send(&host), -32602);
    host.offers[2].1.missing_scope = Some("inbox.inboxes".to_owned());
    missing(read().send(&host), -32602);
    assert_eq!(host.count("use"), 1);
}

#[test]
fn resources_and_prompts_say_what_stopped_them_in_an_error() {
    let host = with([stopped(), stopped(), Outcome::Documents(Vec::new()), said("x"), said("x")]);
    for ask in [read(), get(json!({}))] {
        let told = ask.send(&host);
        assert_eq!(told.error(), (200, -32603, Some("extension_limit")));
        assert_eq!(told.body["error"]["data"]["limit"], "time_ms");
        assert_eq!(told.body["error"]["message"], "It took longer than 5 s");
    }
    assert_eq!(read().send(&host).error(), (200, -32603, Some("extension_invalid_answer")), "an empty answer");
    assert_eq!(read().send(&host).error(), (200, -32603, None), "an answer of another kind");
    assert_eq!(get(json!({})).send(&host).error(), (200, -32603, None));
}

#[test]
fn resources_and_prompts_may_ask() {
    for (ask, complete) in [(read as fn() -> Ask, policy()), (|| get(json!({"tone": "warm"})), review())] {
        let host = with([asks(Some(b"x")), complete]);
        let state = ask().send(&host).state();
        let responses = json!({"limit": {"action": "cancel"}});
        ask().with("requestState", state.clone()).with("inputResponses", responses).send(&host).result();
        assert_eq!(host.uses.borrow()[1].answers.as_ref().unwrap().state, Some(b"x".to_vec()));
        assert_eq!(ask().with("requestState", state).send(&host).error().2, Some("request_state_invalid"));
        let host = with([asks(None)]);
        assert_eq!(ask().version("2025-06-18").send(&host).error(), (200, -32602, Some("input_required")));
    }
}

#[test]
fn a_prompt_and_a_tool_of_one_name_do_not_share_states() {
    let mut host = with([asks(Some(b"x")), asks(Some(b"x"))]);
    host.offers.push((Kind::Tool, offer(REVIEW, true, "")));
    let tool = || Ask::tool(REVIEW, json!({}));
    let (of_tool, of_prompt) = (tool().send(&host).state(), get(json!({})).send(&host).state());
    let refused = Some("request_state_invalid");
    assert_eq!(tool().with("requestState", of_prompt).send(&host).error().2, refused);
    assert_eq!(get(json!({})).with("requestState", of_tool).send(&host).error().2, refused);
    assert_eq!(host.count("use"), 2);
}

#[test]
fn a_prompt_takes_texts() {
    let host = with([review(), review()]);
    let told = get(json!({"topic": "ção", "tone": "warm"})).send(&host);
    assert_eq!(told.result()["messages"], json!([{"role": "user", "content": {"type": "text", "text": "Look."}}]));
    assert!(told.result().get("ttlMs").is_none());
    assert_eq!(host.uses.borrow()[0].arguments, r#"{"tone":"warm","topic":"ção"}"#);
    Ask::new("prompts/get", json!({"name": REVIEW})).version("2025-03-26").send(&host).result();
    assert_eq!(host.uses.borrow()[1].arguments, "{}");
    for bad in [json!({"tone": 5}), json!({"tone": null}), json!([]), json!("x")] {
        assert_eq!(get(bad).send(&host).error(), (200, -32602, None));
    }
    assert_eq!(Ask::new("prompts/get", json!({"name": "ext.risk.nope"})).send(&host).error(), (200, -32602, None));
    assert_eq!(host.count("use"), 2);
}

#[test]
fn a_prompt_says_what_is_wrong_with_its_arguments() {
    let refusal = |details: Value| {
        Outcome::Invalid(
            json!({"error": {"code": "validation_failed", "message": "m", "details": details}}).to_string(),
        )
    };
    let host = with([
        refusal(json!({"field_errors": {"tone": ["is required"]}, "form_errors": []})),
        refusal(json!({"field_errors": {}, "form_errors": ["no\u{202e} such\nday"]})),
        refusal(json!({})),
        Outcome::Invalid("no JSON".to_owned()),
    ]);
    let told = || get(json!({})).send(&host);
    let first = told();
    assert_eq!(first.error(), (200, -32602, Some("validation_failed")));
    assert_eq!(first.body["error"]["message"], "Invalid params: tone is required");
    assert_eq!(first.body["error"]["data"]["details"]["field_errors"]["tone"][0], "is required");
    assert_eq!(told().body["error"]["message"], "Invalid params: no suchday");
    assert_eq!(told().body["error"]["message"], "Invalid params: m");
    assert_eq!(told().error(), (200, -32603, None));
}

#[test]
fn a_prompt_out_of_reach_shows_the_way() {
    let mut host = with([]);
    host.offers[4].1.missing_scope = Some("inbox.inboxes".to_owned());
    assert_eq!(get(json!({})).send(&host).error(), (403, -31403, None));
}

fn complete(reference: Value, argument: &str, typed: &str) -> Ask {
    Ask::new("completion/complete", json!({"ref": reference, "argument": {"name": argument, "value": typed}}))
}

#[test]
fn values_of_a_prompt_are_offered_by_what_was_typed() {
    let prompt = json!({"type": "ref/prompt", "name": REVIEW});
    let mut host = with([]);
    let values = |host: &Host, argument, typed| {
        complete(prompt.clone(), argument, typed).send(host).result()["completion"].clone()
    };
    assert_eq!(values(&host, "tone", "á"), json!({"values": ["Árido", "ÁCIDO"], "total": 2, "hasMore": false}));
    assert_eq!(values(&host, "tone", "")["total"], 3);
    assert_eq!(values(&host, "topic", "")["values"], json!([]));
    assert_eq!(complete(prompt.clone(), "nope", "").send(&host).error(), (200, -32602, None));
    let unknown = json!({"type": "ref/prompt", "name": "ext.risk.nope"});
    assert_eq!(complete(unknown, "tone", "").send(&host).error(), (200, -32602, None));
    host.offers[4].1.missing_scope = Some("inbox.inboxes".to_owned());
    assert_eq!(values(&host, "tone", "")["values"], json!([]), "nobody without the scope is told");
}

#[test]
fn a_template_has_variables_without_values() {
    let host = with([]);
    let template = json!({"type": "ref/resource", "uri": "risk://emails/{id}"});
    assert_eq!(complete(template.clone(), "id", "").send(&host).result()["completion"]["values"], json!([]));
    assert_eq!(complete(template, "x", "").send(&host).error(), (200, -32602, None));
    let unknown = json!({"type": "ref/resource", "uri": "risk://other/{id}"});
    assert_eq!(complete(unknown, "id", "").send(&host).error(), (200, -32602, None));
    assert_eq!(host.count("find"), 3);
    let ours = json!({"type": "ref/resource", "uri": "kobana://inbox/nope/{id}"});
    assert_eq!(complete(ours, "id", "").send(&host).error(), (200, -32602, None));
    assert_eq!(host.count("find"), 3, "nobody else has documents of this scheme");
}
