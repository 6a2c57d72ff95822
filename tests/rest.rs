//! A tool cannot differ from the endpoint that it mirrors: the same bytes come back through either door.

use serde_json::{Value, json};

use crate::harness::{Answer, Server, nonce, shared};

/// The text of a tool's answer.
#[track_caller]
fn text(answer: &Answer) -> String {
    answer.result()["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}")).to_owned()
}

#[track_caller]
fn same(server: &Server, who: &str, tool: &str, arguments: Value, path: &str) {
    let rest = server.http("GET", &format!("/api/v1{path}")).token(&format!("rest-{who}")).send();
    for call in
        [server.modern("tools/call"), server.legacy("tools/call"), server.legacy("tools/call").version("2025-03-26")]
    {
        let mcp = call.name(tool).arguments(arguments.clone()).token(&format!("demo-{who}")).send();
        assert_eq!(text(&mcp), rest.text(), "{tool} and {path}");
        assert_eq!(mcp.result()["isError"] == true, rest.status >= 400, "{tool} and {path}");
    }
}

#[test]
fn reading_is_the_same_through_both_doors() {
    let server = Server::demo().start();
    let email = "00000000-0000-7000-8000-000000000001";
    same(&server, "owner", "me_get", json!({}), "/me");
    same(&server, "owner", "workspaces_list", json!({}), "/workspaces");
    same(&server, "owner", "workspaces_get", json!({ "id": "acme" }), "/workspaces/acme");
    same(&server, "owner", "inboxes_list", json!({ "limit": 2 }), "/inboxes?limit=2");
    same(&server, "viewer", "inboxes_get", json!({ "id": "acme-support" }), "/inboxes/acme-support");
    same(&server, "owner", "emails_get", json!({ "id": email }), &format!("/emails/{email}"));
    let filtered = json!({ "status": "processed", "inbox_id": "acme-invoices", "limit": 200, "q": "ç" });
    same(
        &server,
        "owner",
        "emails_list",
        filtered,
        "/emails?status=processed&inbox_id=acme-invoices&limit=200&q=%C3%A7",
    );
    same(&server, "globex", "emails_list", json!({}), "/emails");
}

#[test]
fn a_refusal_is_the_same_through_both_doors() {
    let server = shared();
    same(&server, "owner", "inboxes_get", json!({ "id": "acme-gone" }), "/inboxes/acme-gone");
    same(&server, "owner", "inboxes_get", json!({ "id": "a b/ç" }), "/inboxes/a%20b%2F%C3%A7");
    same(&server, "owner", "emails_get", json!({ "id": "no-uuid" }), "/emails/no-uuid");
    same(&server, "owner", "emails_list", json!({ "limit": 0 }), "/emails?limit=0");
    same(&server, "owner", "emails_list", json!({ "cursor": "garbage" }), "/emails?cursor=garbage");
    same(&server, "multi", "inboxes_list", json!({}), "/inboxes");
}

#[test]
fn what_one_door_writes_the_other_reads() {
    let server = shared();
    let (by_rest, by_mcp) = (nonce("rest"), nonce("mcp"));
    let post = server.http("POST", "/api/v1/inboxes").token("rest-owner").header("Content-Type", "application/json");
    let made = post.clone().body(json!({ "external_id": by_rest, "label": "R" }).to_string()).send();
    made.is(201);
    let call =
        server.modern("tools/call").name("inboxes_create").arguments(json!({ "external_id": by_mcp, "label": "M" }));
    call.send().document();
    for id in [&by_rest, &by_mcp] {
        same(&server, "owner", "inboxes_get", json!({ "id": id }), &format!("/inboxes/{id}"));
    }
    assert_eq!(post.body(json!({ "external_id": by_mcp, "label": "T" }).to_string()).send().status, 409);
}

#[test]
fn rest_refuses_what_it_cannot_read() {
    let server = shared();
    let post = server.http("POST", "/api/v1/inboxes").token("rest-owner").header("Content-Type", "application/json");
    for body in ["", "{", "[]", "\"x\"", "{\"label\":1}", "{\"label\":\"\"}", "{\"nope\":1}"] {
        let answer = post.clone().body(body).send();
        assert!(matches!(answer.status, 400 | 422), "{body}: {answer}");
        assert!(answer.json()["error"]["code"].is_string(), "{answer}");
    }
    post.clone().set("Content-Type", "text/plain").body("{}").send().is(415);
    let answer = server.http("DELETE", "/api/v1/me").token("rest-owner").send();
    answer.is(405);
    server.http("GET", "/api/v1/nope").token("rest-owner").send().is(404);
    server.http("GET", "/api/v1/nope").send().is(401);
}

#[test]
fn the_document_is_for_everyone_and_opens_no_other_door() {
    let server = shared();
    let answer = server.http("GET", "/api/v1/openapi.json").send();
    answer.is(200).has("content-type", "application/json").has("cache-control", "no-store");
    let document = answer.json();
    assert_eq!(document["openapi"], "3.1.0");
    // A token changes nothing, good or bad.
    for token in ["rest-owner", "rest-expired", "demo-owner", "no-token"] {
        assert_eq!(server.http("GET", "/api/v1/openapi.json").token(token).send().is(200).text(), answer.text());
    }
    server.http("POST", "/api/v1/openapi.json").send().is(405).has("allow", "GET,HEAD");
    // Behind every path that it lists stands a route that asks for a token.
    for path in document["paths"].as_object().expect("an object").keys() {
        let path = path.replace("{id}", "x").replace("{delivery_id}", "x");
        server.http("GET", &format!("/api/v1{path}")).send().is(401);
    }
    for path in ["/openapi.json/", "/openapi.json/x", "//openapi.json", "/%6fpenapi.json", "/OpenAPI.json", "/openapi"]
    {
        assert_ne!(server.http("GET", &format!("/api/v1{path}")).send().status, 200, "{path}");
    }
}
