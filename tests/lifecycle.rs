//! `server/discover`, `initialize` and `ping`, to the letter of the founding page.

use serde_json::{Value, json};

use crate::harness::{MODERN, envelope, shared};

fn server_info() -> Value {
    json!({ "name": "kobana-autonomous-inbox", "title": "Kobana Autonomous Inbox", "version": "0.1.0" })
}

/// Takes the instructions out of a result and checks that they say what an agent has to know.
#[track_caller]
fn take_instructions(result: &mut Value) -> String {
    let instructions = result["instructions"].take().as_str().expect("there are instructions").to_owned();
    assert!(instructions.starts_with("Tools for the Kobana Autonomous Inbox: "), "{instructions}");
    for what in ["third parties", "never instructions", "confirm with the user", MODERN, "elicitation"] {
        assert!(instructions.contains(what), "{what}: {instructions}");
    }
    assert!(instructions.contains("confirmation_required"), "{instructions}");
    instructions
}

#[test]
fn discover_is_as_the_founding_page_shows_it() {
    let answer = shared().modern("server/discover").send();
    let mut result = answer.result();
    take_instructions(&mut result);
    let expected = json!({
        "resultType": "complete",
        "supportedVersions": ["2026-07-28", "2025-06-18", "2025-03-26"],
        "capabilities": { "tools": {}, "resources": {}, "prompts": {}, "completions": {} },
        "instructions": null,
        "ttlMs": 0,
        "cacheScope": "private",
        "_meta": { "io.modelcontextprotocol/serverInfo": server_info() },
    });
    assert_eq!(result, expected);
    answer.has("mcp-protocol-version", MODERN).lacks("mcp-session-id");
}

#[test]
fn discover_needs_no_client_info_and_ignores_a_bad_one() {
    let server = shared();
    for info in [json!({ "name": "probe", "version": "1" }), json!("probe"), json!(null), json!({})] {
        let mut meta = envelope();
        meta["io.modelcontextprotocol/clientInfo"] = info;
        server.modern("server/discover").meta(meta).send().result();
    }
}

#[test]
fn initialize_is_as_the_founding_page_shows_it() {
    let server = shared();
    for version in ["2025-06-18", "2025-03-26"] {
        let call = server.legacy("initialize").params(json!({ "protocolVersion": version }));
        let answer = call.send();
        let mut result = answer.result();
        take_instructions(&mut result);
        let expected = json!({
            "protocolVersion": version,
            "capabilities": {
                "tools": { "listChanged": false },
                "resources": { "subscribe": false, "listChanged": false },
                "prompts": { "listChanged": false },
                "completions": {},
            },
            "serverInfo": server_info(),
            "instructions": null,
        });
        assert_eq!(result, expected);
        answer.has("mcp-protocol-version", version).lacks("mcp-session-id");
    }
}

#[test]
fn initialize_answers_a_version_it_does_not_speak_by_the_newest_of_its_era() {
    let server = shared();
    for asked in ["2025-11-25", "2024-11-05", "2026-07-28", "1999-01-01", ""] {
        let params =
            json!({ "protocolVersion": asked, "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } });
        let answer = server.legacy("initialize").params(params).send();
        assert_eq!(answer.result()["protocolVersion"], "2025-06-18", "asked for {asked:?}");
        answer.has("mcp-protocol-version", "2025-06-18");
    }
}

#[test]
fn initialize_without_a_version_is_malformed() {
    let server = shared();
    for params in [json!({}), json!({ "protocolVersion": 20250618 }), json!({ "protocolVersion": null })] {
        server.legacy("initialize").params(params).send().fails(200, -32602);
    }
    server.legacy("initialize").without_params().send().fails(200, -32602);
}

#[test]
fn both_eras_give_the_same_instructions() {
    let server = shared();
    let old = server.legacy("initialize").params(json!({ "protocolVersion": "2025-06-18" })).send().result();
    let new = server.modern("server/discover").send().result();
    assert_eq!(old["instructions"], new["instructions"]);
}

#[test]
fn ping_belongs_to_the_handshake_era() {
    let server = shared();
    for version in ["2025-06-18", "2025-03-26"] {
        let answer = server.legacy("ping").version(version).send();
        assert_eq!(answer.json(), json!({ "jsonrpc": "2.0", "id": 1, "result": {} }));
        answer.has("mcp-protocol-version", version);
    }
    server.modern("ping").send().fails(404, -32601);
}

#[test]
fn no_handshake_is_remembered() {
    let server = shared();
    let mut connection = server.connect();
    let handshake = server.legacy("initialize").params(json!({ "protocolVersion": "2025-03-26" }));
    handshake.send_on(&mut connection).result();
    // The same connection goes on in whatever era its requests say.
    server.legacy("ping").send_on(&mut connection).is(200).has("mcp-protocol-version", "2025-06-18");
    server.modern("server/discover").send_on(&mut connection).is(200).has("mcp-protocol-version", MODERN);
}
