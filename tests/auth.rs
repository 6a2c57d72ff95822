//! Who may come in, and what those are told who may not.

use serde_json::json;

use crate::harness::{Answer, Server, shared};

fn metadata_url(server: &Server) -> String {
    format!("http://127.0.0.1:{}/.well-known/oauth-protected-resource/mcp", server.port())
}

/// Expects a challenge that points to the metadata document, and gives it.
#[track_caller]
fn challenge(server: &Server, answer: &Answer, status: u16) -> String {
    answer.is(status).lacks("mcp-protocol-version");
    let challenge = answer.header("www-authenticate").unwrap_or_else(|| panic!("no challenge: {answer}")).to_owned();
    assert!(challenge.starts_with("Bearer "), "{challenge}");
    assert!(challenge.contains(&format!(r#"resource_metadata="{}""#, metadata_url(server))), "{challenge}");
    challenge
}

#[test]
fn whoever_sends_no_token_is_told_where_to_get_one() {
    let server = shared();
    let strangers = [
        server.modern("server/discover"),
        server.legacy("initialize").params(json!({ "protocolVersion": "2025-06-18" })),
        server.legacy("no/such"),
        server.legacy("notifications/initialized").without_id(),
        server.legacy("ping").body("not json"),
        server.legacy("ping").set("Content-Type", "text/plain"),
        server.legacy("ping").path("/mcp?access_token=demo-owner"),
    ];
    for call in strangers {
        let answer = call.clone().without("Authorization").send();
        assert!(!challenge(&server, &answer, 401).contains("error="), "{answer}");
        let other = call.set("Authorization", "Basic ZGVtbzpkZW1v").send();
        assert!(!challenge(&server, &other, 401).contains("error="), "{other}");
    }
}

#[test]
fn a_token_that_is_not_good_is_named_invalid_and_not_repeated() {
    let server = shared();
    for token in ["no-such-token", "demo-expired", "demo-other-audience", "demo-disabled", "rest-owner", "demo-owner2"]
    {
        let answer = server.modern("tools/list").token(token).send();
        assert!(challenge(&server, &answer, 401).contains(r#"error="invalid_token""#), "{answer}");
        assert!(!format!("{answer}").contains(token), "{answer}");
    }
}

#[test]
fn the_scheme_is_read_in_any_case_and_more_than_one_token_is_none() {
    let server = shared();
    for good in ["bearer demo-owner", "BEARER demo-owner", "Bearer   demo-owner"] {
        server.legacy("ping").set("Authorization", good).send().result();
    }
    for bad in
        ["Bearer", "Bearer demo-owner demo-owner", "Bearer demo-owner, Bearer demo-owner", "Bearer \"demo-owner\""]
    {
        challenge(&server, &server.legacy("ping").set("Authorization", bad).send(), 401);
    }
    let twice = server.legacy("ping").header("Authorization", "Bearer demo-owner");
    challenge(&server, &twice.send(), 401);
}

#[test]
fn the_metadata_document_is_open_to_all() {
    let server = shared();
    for path in ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"] {
        let answer = server.http("GET", path).token("no-such-token").send();
        let document = answer.is(200).has("content-type", "application/json").json();
        assert_eq!(document["resource"], format!("http://127.0.0.1:{}/mcp", server.port()));
        assert!(document["authorization_servers"].as_array().is_some_and(|servers| !servers.is_empty()), "{document}");
        assert_eq!(document["bearer_methods_supported"], json!(["header"]));
        let scopes = document["scopes_supported"].as_array().expect("scopes are listed");
        assert!(scopes.contains(&json!("inbox.emails")) && !scopes.contains(&json!("offline_access")), "{document}");
        server.http("POST", path).send().is(405);
    }
}

#[test]
fn the_metadata_is_what_the_configuration_says_whatever_a_request_says() {
    let server = Server::demo().env("KOBANA_RESOURCE", "https://inbox.example.com/mcp").start();
    assert!(server.banner().contains("MCP   https://inbox.example.com/mcp"));
    let answer = server.http("GET", "/.well-known/oauth-protected-resource/mcp").set("Host", "evil.example").send();
    assert_eq!(answer.is(200).json()["resource"], "https://inbox.example.com/mcp");
    assert_eq!(answer.json()["authorization_servers"], json!(["https://inbox.example.com"]));
    let refused = server.legacy("ping").without("Authorization").set("Host", "evil.example").send();
    let url = "https://inbox.example.com/.well-known/oauth-protected-resource/mcp";
    assert!(refused.is(401).header("www-authenticate").is_some_and(|value| value.contains(url)), "{refused}");
}

#[test]
fn a_tool_beyond_the_tokens_scopes_is_answered_by_a_step_up() {
    let server = shared();
    for call in
        [server.modern("tools/call"), server.legacy("tools/call"), server.legacy("tools/call").version("2025-03-26")]
    {
        let answer = call.name("inboxes_list").token("demo-emails").send();
        answer.fails(403, -31403);
        let challenge = answer.header("www-authenticate").unwrap_or_default();
        assert!(challenge.contains(r#"error="insufficient_scope""#), "{answer}");
        assert!(challenge.contains("inbox.inboxes") && challenge.contains(&metadata_url(&server)), "{answer}");
    }
    let within = server.modern("tools/call").name("emails_list").token("demo-emails").send();
    within.document();
    // What does not exist is no matter of scope, and arguments are not looked at before it.
    server.modern("tools/call").name("nope").token("demo-emails").send().fails(200, -32602);
    let bad = server.modern("tools/call").name("inboxes_get").arguments(json!({ "x": 1 })).token("demo-emails");
    bad.send().fails(403, -31403);
}

#[test]
fn tools_beyond_scope_or_permission_are_not_listed() {
    let server = shared();
    let names = |token: &str| -> Vec<String> {
        let result = server.modern("tools/list").token(token).send().result();
        let tools = result["tools"].as_array().expect("tools are listed").iter();
        tools.map(|tool| tool["name"].as_str().expect("a tool has a name").to_owned()).collect()
    };
    let (owner, viewer, emails) = (names("demo-owner"), names("demo-viewer"), names("demo-emails"));
    assert!(owner.contains(&"inboxes_create".to_owned()));
    assert!(!viewer.contains(&"inboxes_create".to_owned()) && viewer.contains(&"inboxes_list".to_owned()));
    assert!(emails.contains(&"emails_list".to_owned()) && emails.contains(&"me_get".to_owned()));
    assert!(!emails.iter().any(|name| name.starts_with("inboxes_") || name.starts_with("workspaces_")), "{emails:?}");
    assert!(viewer.iter().chain(&emails).all(|name| owner.contains(name)));
}

#[test]
fn what_the_person_may_not_do_is_the_endpoints_own_error() {
    let server = shared();
    let call =
        server.modern("tools/call").name("inboxes_create").arguments(json!({ "label": "x" })).token("demo-viewer");
    let answer = call.send();
    answer.tool_error("permission_denied");
    answer.lacks("www-authenticate");
    let rest = server.http("POST", "/api/v1/inboxes").token("rest-viewer").header("Content-Type", "application/json");
    let rest = rest.body(r#"{"label":"x"}"#).send();
    assert_eq!(rest.is(403).json()["error"]["code"], "permission_denied");
}

#[test]
fn tokens_of_one_door_do_not_open_the_other() {
    let server = shared();
    for (token, opens) in [("rest-owner", true), ("demo-owner", false), ("demo-expired", false), ("nobody", false)] {
        let answer = server.http("GET", "/api/v1/me").token(token).send();
        answer.is(if opens { 200 } else { 401 });
        assert_eq!(answer.header("www-authenticate").is_none(), opens, "{answer}");
        server.modern("tools/list").token(token).send().is(if token == "demo-owner" { 200 } else { 401 });
    }
    let answer = server.http("GET", "/api/v1/me").send();
    assert!(answer.is(401).header("www-authenticate").is_some_and(|value| !value.contains("error=")), "{answer}");
    server.http("GET", "/api/v1/me?access_token=rest-owner").send().is(401);
}

#[test]
fn a_connection_remembers_no_one() {
    let server = shared();
    let mut connection = server.connect();
    server.legacy("ping").send_on(&mut connection).is(200);
    server.legacy("ping").without("Authorization").send_on(&mut connection).is(401);
    server.legacy("ping").token("demo-globex").send_on(&mut connection).is(200);
    let me = server.legacy("tools/call").name("me_get").token("demo-viewer").send_on(&mut connection).document();
    assert!(me.to_string().contains("Vera Lima"), "{me}");
}
