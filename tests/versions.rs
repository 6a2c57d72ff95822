//! Which era a request belongs to, and which versions are served (protocol.md §24.3).

use serde_json::{Value, json};

use crate::harness::{Answer, ENVELOPE, MODERN, envelope, shared};

const SUPPORTED: [&str; 3] = ["2026-07-28", "2025-06-18", "2025-03-26"];

/// Expects the refusal of a version that nobody here speaks.
#[track_caller]
fn is_unsupported(answer: &Answer, requested: &str) {
    let error = answer.fails(400, -32022);
    assert_eq!(error["data"], json!({ "supported": SUPPORTED, "requested": requested }));
    answer.lacks("mcp-protocol-version");
}

fn claiming(version: impl Into<Value>) -> Value {
    json!({ ENVELOPE[0]: version.into(), ENVELOPE[1]: {} })
}

#[test]
fn the_stateless_header_without_an_envelope_is_no_request_of_the_other_era() {
    let server = shared();
    let call = server.modern("tools/list");
    for meta in [json!({}), json!([]), json!(null), json!("x"), json!({ ENVELOPE[1]: {} })] {
        call.clone().meta(meta).send().fails(400, -32602);
    }
    call.clone().params(json!({})).send().fails(400, -32602);
    call.without_params().send().fails(400, -32602);
    let handshake = server.legacy("initialize").params(json!({ "protocolVersion": "2025-06-18" }));
    handshake.version(MODERN).send().fails(400, -32602);
    server.legacy("server/discover").version(MODERN).send().fails(400, -32602);
}

#[test]
fn the_envelope_needs_the_capabilities() {
    let server = shared();
    let error = server.modern("tools/list").meta(json!({ ENVELOPE[0]: MODERN })).send().fails(400, -32602);
    assert!(error["message"].as_str().unwrap().contains(ENVELOPE[1]), "{error}");
    for capabilities in [json!(null), json!([]), json!("x"), json!(true), json!(1)] {
        let meta = json!({ ENVELOPE[0]: MODERN, ENVELOPE[1]: capabilities });
        server.modern("server/discover").meta(meta).send().fails(400, -32602);
    }
}

#[test]
fn a_claim_that_is_no_text_is_malformed() {
    let server = shared();
    for claim in [json!(20260728), json!(null), json!({}), json!([MODERN])] {
        server.modern("tools/list").meta(claiming(claim.clone())).send().fails(400, -32602);
        server.modern("tools/list").without("MCP-Protocol-Version").meta(claiming(claim)).send().fails(400, -32602);
    }
}

#[test]
fn an_unserved_version_is_refused_with_the_list_of_those_served() {
    let server = shared();
    for version in ["1999-01-01", "v999.0.0", "2025-11-25", "2024-11-05", "2025-06-18"] {
        let call = server.modern("tools/list").meta(claiming(version));
        is_unsupported(&call.clone().version(version).send(), version);
        is_unsupported(&call.without("MCP-Protocol-Version").send(), version);
    }
    for version in ["2025-11-25", "2024-11-05", "1999-01-01", "2025-06-18 2025-03-26", "2025-06-18,", ""] {
        is_unsupported(&server.legacy("tools/list").version(version).send(), version);
    }
    let handshake = server.legacy("initialize").params(json!({ "protocolVersion": "2025-06-18" }));
    is_unsupported(&handshake.version("2025-11-25").send(), "2025-11-25");
}

#[test]
fn a_header_that_differs_from_the_envelope_is_a_mismatch_whatever_they_say() {
    let server = shared();
    let pairs = [
        ("v999.0.0", MODERN),
        (MODERN, "1999-01-01"),
        (MODERN, "2025-06-18"),
        (MODERN, "2025-03-26"),
        (MODERN, ""),
        ("2025-06-18", MODERN),
        ("1999-01-01", "1999-01-02"),
    ];
    for (claim, header) in pairs {
        server.modern("tools/list").meta(claiming(claim)).version(header).send().fails(400, -32020);
    }
    server.modern("tools/list").without("MCP-Protocol-Version").send().fails(400, -32020);
}

#[test]
fn repeated_version_headers_are_one_value_that_nobody_serves() {
    let server = shared();
    let twice = server.legacy("tools/list").version("2025-06-18").header("mcp-protocol-version", "2025-06-18");
    is_unsupported(&twice.send(), "2025-06-18, 2025-06-18");
    server.modern("tools/list").header("mcp-protocol-version", MODERN).send().fails(400, -32020);
}

#[test]
fn without_an_envelope_the_header_picks_the_revision_and_none_means_the_newest_of_2025() {
    let server = shared();
    let cases = [
        (None, "2025-06-18"),
        (Some("2025-06-18"), "2025-06-18"),
        (Some("2025-03-26"), "2025-03-26"),
        (Some("  2025-06-18\t "), "2025-06-18"),
    ];
    for (header, version) in cases {
        let call = server.legacy("tools/list");
        let answer = header.map_or_else(|| call.clone(), |header| call.clone().version(header)).send();
        let result = answer.result();
        assert!(result["tools"].as_array().is_some_and(|tools| !tools.is_empty()));
        assert_eq!(result.as_object().unwrap().len(), 1, "nothing of the other era: {result}");
        answer.has("mcp-protocol-version", version);
    }
}

#[test]
fn other_metadata_does_not_make_a_request_stateless() {
    let server = shared();
    let metas = [
        json!({ "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" }),
        json!({ "io.modelcontextprotocol/clientInfo": { "name": "x", "version": "1" }, "progressToken": 7 }),
        json!({ ENVELOPE[1]: {} }),
    ];
    for meta in metas {
        let answer = server.legacy("tools/list").version("2025-06-18").meta(meta).send();
        assert!(answer.result().get("resultType").is_none());
        answer.has("mcp-protocol-version", "2025-06-18");
    }
}

#[test]
fn each_era_has_its_own_methods() {
    let server = shared();
    let only_old = ["initialize", "ping"];
    let in_neither = ["logging/setLevel", "resources/subscribe", "resources/unsubscribe", "subscriptions/listen"];
    for method in only_old.iter().chain(&in_neither).chain(&["tasks/get", "no/such", "TOOLS/LIST", ""]) {
        server.modern(method).send().fails(404, -32601);
    }
    for method in in_neither.iter().chain(&["server/discover", "tasks/get", "no/such", "TOOLS/LIST", ""]) {
        for version in ["2025-06-18", "2025-03-26"] {
            let answer = server.legacy(method).version(version).send();
            answer.fails(200, -32601);
            answer.has("mcp-protocol-version", version);
        }
    }
}

#[test]
fn the_handshake_era_is_not_held_to_the_headers_of_the_other() {
    let server = shared();
    let call = server.legacy("tools/list").header("Mcp-Method", "WRONG").header("Mcp-Name", "=?base64?!?=");
    call.send().result();
    let call = server.legacy("tools/call").param("name", json!("me_get")).header("Mcp-Name", "wrong");
    call.send().document();
}

#[test]
fn every_result_of_the_stateless_era_is_marked_and_none_of_the_other() {
    let server = shared();
    let cacheable = [
        ("server/discover", true),
        ("tools/list", true),
        ("resources/list", true),
        ("resources/templates/list", true),
        ("prompts/list", true),
    ];
    for (method, hinted) in cacheable {
        is_marked(&server.modern(method).send().result(), hinted);
    }
    is_marked(&server.modern("resources/read").param("uri", json!("kobana://inbox/me")).send().result(), true);
    is_marked(&server.modern("tools/call").name("me_get").send().result(), false);
    for method in ["tools/list", "resources/list", "resources/templates/list", "prompts/list"] {
        is_bare(&server.legacy(method).send().result());
    }
    is_bare(&server.legacy("resources/read").param("uri", json!("kobana://inbox/me")).send().result());
    is_bare(&server.legacy("tools/call").name("me_get").send().result());
}

#[track_caller]
fn is_marked(result: &Value, hinted: bool) {
    assert_eq!(result["resultType"], "complete", "{result}");
    let info = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
    assert_eq!(info["name"], "kobana-autonomous-inbox", "{result}");
    let hints = (result.get("ttlMs"), result.get("cacheScope"));
    let expected = hinted.then(|| (json!(0), json!("private")));
    assert_eq!(hints.0.cloned().zip(hints.1.cloned()), expected, "{result}");
}

#[track_caller]
fn is_bare(result: &Value) {
    for member in ["resultType", "_meta", "ttlMs", "cacheScope"] {
        assert!(result.get(member).is_none(), "{member}: {result}");
    }
}

#[test]
fn further_metadata_is_ignored_and_an_unknown_log_level_is_not() {
    let server = shared();
    let with = |key: &str, value: Value| {
        let mut meta = envelope();
        meta[key] = value;
        server.modern("tools/list").meta(meta).send()
    };
    with("com.example/x", json!({ "any": "thing" })).result();
    with("traceparent", json!("nonsense")).result();
    with("progressToken", json!("p")).result();
    with("io.modelcontextprotocol/logLevel", json!("debug")).result();
    with("io.modelcontextprotocol/logLevel", json!("loud")).fails(400, -32602);
    let mut meta = envelope();
    meta[ENVELOPE[1]] = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    assert_eq!(server.modern("tools/list").meta(meta).send().result()["resultType"], "complete");
}
