//! Tools: what is listed, and what calls answer (protocol.md §24.5).

use serde_json::{Value, json};

use crate::harness::{Server, nonce, shared};

const EMAIL: &str = "00000000-0000-7000-8000-000000000001";

fn tools(server: &Server) -> Vec<Value> {
    server.modern("tools/list").send().result()["tools"].as_array().expect("tools are listed").clone()
}

#[test]
fn every_tool_is_fully_described() {
    let tools = tools(&shared());
    assert!(tools.len() >= 10);
    for tool in &tools {
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(tool["annotations"][hint].is_boolean(), "{hint}: {tool}");
        }
        assert_eq!(tool["annotations"]["openWorldHint"], false, "{tool}");
        let schema = &tool["inputSchema"];
        assert_eq!((&schema["type"], &schema["additionalProperties"]), (&json!("object"), &json!(false)), "{tool}");
        assert!(!schema.to_string().contains("$ref"), "a client should not have to resolve anything: {tool}");
        for text in ["name", "title", "description"] {
            assert!(tool[text].as_str().is_some_and(|text| !text.is_empty()), "{text}: {tool}");
        }
        for required in schema["required"].as_array().into_iter().flatten() {
            assert!(schema["properties"].get(required.as_str().unwrap()).is_some(), "{required}: {tool}");
        }
    }
}

#[test]
fn the_list_is_the_same_each_time_and_in_both_eras() {
    let server = shared();
    let first = tools(&server);
    assert_eq!(first, tools(&server));
    assert_eq!(json!(first), server.legacy("tools/list").send().result()["tools"]);
    let mut names: Vec<_> = first.iter().map(|tool| tool["name"].to_string()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), first.len(), "names are unique");
}

#[test]
fn lists_have_one_page_and_no_cursor_is_good() {
    let server = shared();
    for method in ["tools/list", "resources/list", "resources/templates/list", "prompts/list"] {
        for cursor in ["garbage", "", "0"] {
            server.modern(method).param("cursor", json!(cursor)).send().fails(200, -32602);
            server.legacy(method).param("cursor", json!(cursor)).send().fails(200, -32602);
        }
        assert!(server.modern(method).send().result().get("nextCursor").is_none());
    }
}

#[test]
fn an_unknown_tool_is_a_protocol_error() {
    let server = shared();
    for name in ["nope", "Emails_list", "", "emails_list ", "../emails_list"] {
        server.legacy("tools/call").name(name).send().fails(200, -32602);
    }
    let error = server.modern("tools/call").name("nope").send().fails(200, -32602);
    assert!(error["message"].as_str().unwrap().contains("Unknown tool"), "{error}");
}

#[test]
fn arguments_are_an_object_and_may_be_absent() {
    let server = shared();
    for call in [server.modern("tools/call"), server.legacy("tools/call")] {
        let call = call.name("emails_list");
        assert_eq!(call.send().document()["data"].as_array().unwrap().len(), 50);
        for arguments in [json!([]), json!("x"), json!(1), json!(null)] {
            call.clone().arguments(arguments).send().fails(200, -32602);
        }
    }
}

#[test]
fn bad_values_and_unknown_names_are_errors_the_caller_can_act_on() {
    let server = shared();
    let bad = [
        json!({ "limit": 1000 }),
        json!({ "limit": 0 }),
        json!({ "limit": -1 }),
        json!({ "limit": "10" }),
        json!({ "limit": 1.5 }),
        json!({ "status": "nope" }),
        json!({ "received_from": "yesterday" }),
        json!({ "q": "" }),
        json!({ "from": "nobody" }),
        json!({ "cursor": "garbage" }),
    ];
    for arguments in bad {
        for call in [server.modern("tools/call"), server.legacy("tools/call")] {
            let answer = call.name("emails_list").arguments(arguments.clone()).send();
            let error = answer.tool_error("validation_failed");
            let field = arguments.as_object().unwrap().keys().next().unwrap();
            assert!(error.to_string().contains(field.as_str()), "{field} is not named: {error}");
        }
    }
    for unknown in ["nope", "workspace_id", "Limit", "x-workspace-id"] {
        let answer = server.modern("tools/call").name("emails_list").arguments(json!({ unknown: 1 })).send();
        let error = answer.tool_error("validation_failed").to_string();
        assert!(error.contains("unknown argument") && error.contains("received_from"), "{error}");
    }
}

#[test]
fn a_list_is_filtered_and_newest_first() {
    let server = shared();
    let list =
        |arguments: Value| server.modern("tools/call").name("emails_list").arguments(arguments).send().document();
    for status in ["received", "approved", "rejected", "processing", "processed", "failed"] {
        let rows = list(json!({ "status": status, "limit": 200 }))["data"].as_array().unwrap().clone();
        assert!(!rows.is_empty() && rows.iter().all(|row| row["status"] == status), "{status}");
    }
    let all = list(json!({ "limit": 200 }));
    let times: Vec<_> = all["data"].as_array().unwrap().iter().map(|row| row["received_at"].to_string()).collect();
    assert_eq!(times.len(), 60);
    assert!(times.is_sorted_by(|one, next| one >= next), "newest first");
    assert!(all["meta"]["next_cursor"].is_null());
    let of_inbox = list(json!({ "inbox_id": "acme-invoices", "limit": 200 }))["data"].as_array().unwrap().len();
    assert!((1..60).contains(&of_inbox));
    assert!(all["data"].as_array().unwrap().iter().all(|row| row.get("body").is_none()), "lists carry no bodies");
}

#[test]
fn one_row_is_read_by_its_id_and_no_other_route_is_reached() {
    let server = shared();
    let get = |id: &str| server.modern("tools/call").name("emails_get").arguments(json!({ "id": id })).send();
    let email = get(EMAIL).document();
    assert_eq!(email["data"]["id"], EMAIL);
    assert!(email["data"]["body"].is_object(), "{email}");
    get("00000000-0000-7000-8000-00000000dead").tool_error("not_found");
    for id in [".", "..", "", "../inboxes", "%2e%2e", "x/../../me", "x?limit=1", "x#y", &"a".repeat(129)] {
        let answer = server.modern("tools/call").name("inboxes_get").arguments(json!({ "id": id })).send();
        let result = answer.result();
        assert_eq!(result["isError"], true, "{answer}");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("validation_failed") || text.contains("not_found"), "{answer}");
    }
}

#[test]
fn rows_are_made_changed_and_read_back() {
    let server = shared();
    let call = |name: &str, arguments: Value| server.modern("tools/call").name(name).arguments(arguments).send();
    let external_id = nonce("ours");
    let made = call("inboxes_create", json!({ "external_id": external_id, "label": "Ação" })).document();
    let id = made["data"]["id"].as_str().unwrap().to_owned();
    assert_eq!(made["data"]["label"], "Ação");
    call("inboxes_create", json!({ "external_id": external_id, "label": "Twin" })).tool_error("conflict");
    let changed = call("inboxes_upsert", json!({ "external_id": external_id, "status": "inactive" })).document();
    assert_eq!((&changed["data"]["id"], &changed["data"]["status"]), (&json!(id), &json!("inactive")));
    assert_eq!(changed["data"]["label"], "Ação", "what was not sent stays");
    call("inboxes_update", json!({ "id": id, "label": "Nova" })).document();
    for id in [id, external_id] {
        assert_eq!(call("inboxes_get", json!({ "id": id })).document()["data"]["label"], "Nova");
    }
}

#[test]
fn what_belongs_to_a_confirmation_is_ignored_where_nothing_is_to_be_confirmed() {
    let server = shared();
    let call = server.modern("tools/call").name("emails_list").arguments(json!({ "limit": 1 }));
    call.param("requestState", json!("x")).param("inputResponses", json!({ "confirm": 1 })).send().document();
}

#[test]
fn what_was_deleted_is_nowhere() {
    let server = shared();
    let gone = server.modern("tools/call").name("inboxes_get").arguments(json!({ "id": "acme-gone" })).send();
    gone.tool_error("not_found");
    let list = server.modern("tools/call").name("inboxes_list").arguments(json!({ "limit": 200 })).send().text();
    assert!(list.contains("acme-invoices") && !list.contains("acme-gone"));
}
