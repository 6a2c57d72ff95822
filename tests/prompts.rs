//! Prompts and completions (protocol.md §24.5).

use serde_json::{Value, json};

use crate::harness::{Answer, shared};

/// The row of `acme-invoices`.
const ACME_INVOICES: &str = "00000000-0000-7000-8000-00000000e001";

#[test]
fn a_prompt_is_rendered_with_its_arguments() {
    let server = shared();
    let get = |arguments: Value| server.modern("prompts/get").name("triage_inbox").arguments(arguments).send();
    let result = get(json!({ "inbox_id": "acme-invoices" })).result();
    let message = &result["messages"][0];
    assert!(message["content"]["text"].as_str().is_some_and(|text| text.contains(ACME_INVOICES)), "{result}");
    assert!(result.get("ttlMs").is_none() && result.get("cacheScope").is_none(), "{result}");
    get(json!({})).fails(200, -32602);
    get(json!({ "inbox_id": 5 })).fails(200, -32602);
    get(json!([])).fails(200, -32602);
    get(json!({ "inbox_id": "acme-invoices", "nope": "x" })).fails(200, -32602);
}

#[test]
fn an_unknown_prompt_is_a_protocol_error() {
    let server = shared();
    server.modern("prompts/get").name("nope").send().fails(200, -32602);
    server.legacy("prompts/get").name("nope").send().fails(200, -32602);
    server.modern("prompts/get").send().fails(200, -32602);
}

#[test]
fn prompts_are_listed_with_their_arguments() {
    let server = shared();
    let listed = server.modern("prompts/list").send().result()["prompts"].clone();
    assert!(listed.as_array().is_some_and(|prompts| prompts.len() >= 4), "{listed}");
    for prompt in listed.as_array().unwrap() {
        for argument in prompt["arguments"].as_array().into_iter().flatten() {
            assert!(argument["name"].is_string() && argument["required"].is_boolean(), "{prompt}");
        }
    }
    assert_eq!(listed, server.legacy("prompts/list").send().result()["prompts"]);
}

fn complete(reference: Value, argument: Value) -> Answer {
    shared().modern("completion/complete").param("ref", reference).param("argument", argument).send()
}

#[test]
fn arguments_are_completed_from_the_callers_own_rows() {
    let prompt = json!({ "type": "ref/prompt", "name": "triage_inbox" });
    let template = json!({ "type": "ref/resource", "uri": "kobana://inbox/inboxes/{id}" });
    for reference in [prompt.clone(), template] {
        let name = if reference["type"] == "ref/prompt" { "inbox_id" } else { "id" };
        let result = complete(reference, json!({ "name": name, "value": "acme-inv" })).result();
        assert_eq!(result["completion"]["values"], json!(["acme-invoices"]), "{result}");
        assert!(result.get("ttlMs").is_none(), "{result}");
    }
    let statuses = complete(prompt, json!({ "name": "status", "value": "pro" })).result();
    let mut values = statuses["completion"]["values"].as_array().expect("values").clone();
    values.sort_by_key(Value::to_string);
    assert_eq!(values, ["processed", "processing"]);
}

#[test]
fn what_cannot_be_completed_is_malformed() {
    let prompt = json!({ "type": "ref/prompt", "name": "triage_inbox" });
    let value = json!({ "name": "inbox_id", "value": "" });
    complete(json!({ "type": "ref/prompt", "name": "nope" }), value.clone()).fails(200, -32602);
    complete(json!({ "type": "ref/nope", "name": "triage_inbox" }), value.clone()).fails(200, -32602);
    complete(json!("triage_inbox"), value).fails(200, -32602);
    complete(prompt.clone(), json!({ "name": "inbox_id", "value": 1 })).fails(200, -32602);
    complete(prompt, json!({ "name": "nope", "value": "" })).fails(200, -32602);
}
