//! JSON-RPC, message by message (protocol.md §24.2).

use serde_json::{Value, json};

use crate::harness::{MODERN, shared};

/// Sends a body as it stands, in the handshake era.
fn post(body: impl Into<Vec<u8>>) -> crate::harness::Answer {
    shared().legacy("ping").body(body).send()
}

#[test]
fn what_is_no_json_is_a_parse_error_without_id() {
    let broken: [&[u8]; 8] = [
        b"",
        b" ",
        b"{\"jsonrpc\":\"2.0\",",
        b"not json",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}{}",
        b"{\"jsonrpc\":\"2.0\",\"id\":01,\"method\":\"ping\"}",
        b"{'jsonrpc':'2.0'}",
    ];
    for body in broken {
        post(body).fails_without_id(400, -32700);
    }
}

#[test]
fn a_batch_is_refused_in_every_revision() {
    let server = shared();
    for body in ["[]", r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, "[1]", "[[]]"] {
        for version in ["2025-03-26", "2025-06-18", MODERN] {
            server.legacy("ping").version(version).body(body).send().fails_without_id(400, -32600);
        }
    }
}

#[test]
fn what_is_no_request_is_refused_with_the_id_where_it_can_be_read() {
    for body in [r#""hello""#, "42", "null", "true", "{}"] {
        post(body).fails_without_id(400, -32600);
    }
    for rest in [r#""method":"ping""#, r#""jsonrpc":"1.0","method":"ping""#, r#""jsonrpc":2.0,"method":"ping""#] {
        post(format!(r#"{{"id":1,{rest}}}"#)).fails(400, -32600);
    }
    for rest in [r#""method":5"#, r#""method":null"#, r#""result":{}"#, r#""error":{"code":1,"message":"x"}"#] {
        post(format!(r#"{{"jsonrpc":"2.0","id":1,{rest}}}"#)).fails(400, -32600);
    }
    post(r#"{"method":"notifications/initialized"}"#).fails_without_id(400, -32600);
}

#[test]
fn an_id_is_text_or_a_whole_number() {
    let server = shared();
    for id in ["null", "1.5", "1.0", "1e2", "true", "{}", r#"{"a":1}"#, "[]", "[1]"] {
        server.legacy("ping").id(id).send().fails_without_id(400, -32600);
    }
}

#[test]
fn an_id_comes_back_byte_for_byte() {
    let server = shared();
    let ids = [
        "0",
        "-1",
        "7",
        r#""7""#,
        r#""""#,
        "9007199254740993",
        "123456789012345678901234567890",
        r#""a\u0062\/\"""#,
        r#""ação 🎉""#,
        r#""\ud83c\udf89""#,
    ];
    for id in ids {
        let expected = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
        assert_eq!(server.legacy("ping").id(id).send().text(), expected);
        let refused = server.modern("ping").id(id).send();
        refused.is(404);
        assert!(refused.text().contains(&format!(r#""id":{id},"#)), "{refused}");
    }
}

#[test]
fn params_are_an_object() {
    let server = shared();
    for params in [json!([]), json!("x"), json!(1), json!(null)] {
        server.legacy("tools/list").params(params).send().fails(200, -32602);
    }
}

#[test]
fn names_that_stand_twice_are_refused() {
    for body in [
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"me_get","name":"inboxes_list"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{},"params":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","met\u0068od":"tools/list"}"#,
    ] {
        let answer = post(body);
        assert_eq!(answer.is(400).json()["error"]["code"], -32600, "{answer}");
    }
}

#[test]
fn a_notification_is_accepted_and_never_answered() {
    let server = shared();
    for method in ["notifications/initialized", "notifications/whatever", "notifications/cancelled", "no/such"] {
        let call = server.legacy(method).without_id();
        call.clone().send().is_accepted();
        call.clone().params(json!({ "requestId": 99 })).send().is_accepted();
        for version in ["2025-06-18", "2025-03-26", MODERN] {
            call.clone().version(version).send().is_accepted();
        }
    }
    let unserved = server.legacy("notifications/initialized").without_id().version("1999-01-01").send();
    let error: Value = unserved.fails_without_id(400, -32022);
    assert_eq!(error["data"]["requested"], "1999-01-01");
}

#[test]
fn a_call_without_id_is_not_carried_out() {
    let server = shared();
    let external_id = crate::harness::nonce("unasked");
    let arguments = json!({ "external_id": external_id, "label": "Never made" });
    for call in [server.legacy("tools/call"), server.modern("tools/call")] {
        call.name("inboxes_upsert").arguments(arguments.clone()).without_id().send().is_accepted();
    }
    let found = server.legacy("tools/call").name("inboxes_get").arguments(json!({ "id": external_id })).send();
    found.tool_error("not_found");
}
