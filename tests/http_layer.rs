//! What is judged before a message is read (protocol.md §24.1).

use serde_json::json;

use crate::harness::{Call, MODERN, Server, shared};

const LIMIT: usize = 1_048_576;

#[test]
fn only_post_is_served_and_a_refusal_says_so() {
    let server = shared();
    for verb in ["GET", "DELETE", "PUT", "PATCH"] {
        let call = server.http(verb, "/mcp").token("demo-owner").header("Accept", "text/event-stream");
        call.header("Mcp-Session-Id", "x").send().is(405).has("allow", "POST").lacks("mcp-session-id");
    }
    server.http("GET", "/mcp").send().is(405);
    server.http("OPTIONS", "/mcp").send().is(405).has("allow", "POST");
}

#[test]
fn a_foreign_page_learns_nothing_else() {
    let server = shared();
    let foreign = [
        "https://evil.example",
        "null",
        "https://app.example.com.evil.example",
        "https://evil.example/https://app.example.com",
        "http://app.example.com",
        "https://app.example.com:8443",
        "https://sub.app.example.com",
        "file://",
        "",
    ];
    for origin in foreign {
        server.modern("tools/list").header("Origin", origin).send().fails_without_id(403, -32600);
        let stranger = server.modern("tools/list").without("Authorization").header("Origin", origin).send();
        stranger.is(403).lacks("www-authenticate").lacks("access-control-allow-origin");
        server.http("GET", "/mcp").header("Origin", origin).send().is(403);
    }
    let twice = server.modern("tools/list").header("Origin", "https://app.example.com");
    twice.header("Origin", "https://evil.example").send().is(403);
}

#[test]
fn listed_pages_are_served_however_they_are_spelt() {
    let server = shared();
    let own = [format!("http://127.0.0.1:{}", server.port()), format!("http://localhost:{}", server.port())];
    let listed =
        ["https://app.example.com", "HTTPS://App.Example.com:443", "http://127.0.0.1:3028", "http://LOCALHOST:3028"];
    for origin in listed.iter().copied().chain(own.iter().map(String::as_str)) {
        let answer = server.modern("tools/list").header("Origin", origin).send();
        answer.result();
        assert!(answer.header("access-control-allow-origin").is_some(), "{answer}");
        assert!(answer.header("vary").is_some_and(|vary| vary.to_ascii_lowercase().contains("origin")), "{answer}");
    }
    server.modern("tools/list").send().is(200).lacks("access-control-allow-origin");
}

#[test]
fn a_preflight_needs_no_token() {
    let server = shared();
    let ask = server.http("OPTIONS", "/mcp").header("Origin", "https://app.example.com");
    let answer = ask.clone().header("Access-Control-Request-Method", "POST").send();
    answer.is(204).has("access-control-allow-origin", "https://app.example.com");
    assert!(answer.body.is_empty());
    let allowed = answer.header("access-control-allow-headers").unwrap_or_default().to_ascii_lowercase();
    for name in
        ["authorization", "content-type", "accept", "mcp-protocol-version", "mcp-method", "mcp-name", "x-workspace-id"]
    {
        assert!(allowed.split(',').any(|field| field.trim() == name), "{name}: {allowed}");
    }
    ask.send().is(405);
    let foreign = server.http("OPTIONS", "/mcp").header("Origin", "https://evil.example");
    foreign.header("Access-Control-Request-Method", "POST").send().is(403);
}

#[test]
fn pages_may_read_the_headers_that_clients_need() {
    let answer = shared().modern("tools/list").header("Origin", "https://app.example.com").send();
    let exposed = answer.header("access-control-expose-headers").unwrap_or_default().to_ascii_lowercase();
    for name in ["www-authenticate", "mcp-protocol-version", "retry-after", "x-ratelimit-remaining"] {
        assert!(exposed.split(',').any(|field| field.trim() == name), "{name}: {exposed}");
    }
}

#[test]
fn only_json_is_read() {
    let server = shared();
    for media_type in ["text/plain", "application/jsonp", "application/json-rpc", "multipart/form-data", "json", ""] {
        server.modern("tools/list").set("Content-Type", media_type).send().fails_without_id(415, -32600);
    }
    server.modern("tools/list").without("Content-Type").send().fails_without_id(415, -32600);
    for media_type in ["application/json; charset=UTF-8", "APPLICATION/JSON", "application/json;x=\"y;z\""] {
        server.modern("tools/list").set("Content-Type", media_type).send().result();
    }
}

#[test]
fn whatever_a_client_accepts_it_gets_json() {
    let server = shared();
    for accept in ["text/event-stream", "*/*", "application/json, text/event-stream", "image/png", ""] {
        server.modern("tools/list").set("Accept", accept).send().result();
    }
    server.modern("tools/list").without("Accept").send().result();
}

#[test]
fn a_session_is_neither_read_nor_given() {
    let server = shared();
    let call = server.legacy("tools/list").header("Mcp-Session-Id", "abc").header("Last-Event-ID", "9");
    let answer = call.send();
    answer.result();
    answer.lacks("mcp-session-id");
}

/// A request padded with white space to so many bytes.
fn padded(server: &Server, size: usize) -> Call {
    let call = server.modern("server/discover");
    let mut body = call.payload();
    body.resize(size, b' ');
    call.body(body)
}

#[test]
fn a_body_of_exactly_the_limit_is_served_and_one_byte_more_is_not() {
    let server = shared();
    padded(&server, LIMIT).send().result();
    padded(&server, LIMIT + 1).send().fails_without_id(413, -32600);
}

#[test]
fn chunked_bodies_are_counted_while_they_are_read() {
    let server = shared();
    let mut connection = server.connect();
    connection.send(padded(&server, LIMIT).chunked(60_000));
    connection.answer().result();
    connection.send(server.legacy("ping").chunked(1));
    connection.answer().result();
    let mut connection = server.connect();
    // It may answer, and hang up, before it has read all.
    let _ = connection.try_send(padded(&server, LIMIT + 1).chunked(60_000));
    connection.answer().fails_without_id(413, -32600);
}

#[test]
fn other_paths_are_not_there() {
    let server = shared();
    for path in ["/", "/mcp/", "/mcp/x", "/MCP", "/mcpx", "/.well-known/oauth-protected-resource/other", "/api/v1x"] {
        let answer = server.modern("tools/list").path(path).send();
        answer.is(404);
        assert!(
            serde_json::from_slice::<serde_json::Value>(&answer.body)
                .map_or(true, |body| body.get("jsonrpc").is_none())
        );
    }
}

#[test]
fn every_authenticated_answer_says_what_is_left_of_the_allowance() {
    let server = shared();
    let answers = [
        server.modern("tools/list").send(),
        server.legacy("ping").send(),
        server.legacy("notifications/initialized").without_id().send(),
        server.legacy("no/such").send(),
        server.modern("no/such").send(),
        server.legacy("ping").body("not json").send(),
        server.modern("tools/call").name("inboxes_list").token("demo-emails").send(),
    ];
    for answer in &answers {
        assert_eq!(answer.number("x-ratelimit-limit"), 6_000, "{answer}");
        assert!(answer.number("x-ratelimit-remaining") < 6_000, "{answer}");
        assert!(answer.number("x-ratelimit-reset") > 1_700_000_000, "Unix seconds: {answer}");
    }
    server.modern("tools/list").without("Authorization").send().lacks("x-ratelimit-limit");
}

#[test]
fn the_version_in_use_comes_back_where_there_is_one() {
    let server = shared();
    server.modern("no/such").send().is(404).has("mcp-protocol-version", MODERN);
    server.legacy("tools/list").params(json!([])).send().is(200).has("mcp-protocol-version", "2025-06-18");
    for refused in [
        server.modern("tools/list").without("Authorization"),
        server.modern("tools/list").header("Origin", "null"),
        server.modern("tools/list").set("Content-Type", "text/plain"),
        server.modern("tools/list").body("{"),
        server.http("GET", "/mcp"),
    ] {
        refused.send().lacks("mcp-protocol-version");
    }
}

#[test]
fn a_request_says_which_host_it_is_for() {
    let server = shared();
    let mut connection = server.connect();
    connection.send(server.legacy("ping").without("Host").bytes());
    connection.answer().is(400);
    server.legacy("ping").set("Host", "anything.example:99").send().result();
}
