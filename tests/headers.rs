//! The headers of the stateless era repeat the body (protocol.md §24.4).

use serde_json::json;

use crate::harness::shared;

const EMAILS_LIST: &str = "=?base64?ZW1haWxzX2xpc3Q=?=";

#[test]
fn the_method_has_to_stand_in_its_header_as_it_is() {
    let server = shared();
    let call = server.modern("tools/list");
    call.clone().without("Mcp-Method").send().fails(400, -32020);
    let encoded = "=?base64?dG9vbHMvbGlzdA==?=";
    for wrong in ["prompts/list", "TOOLS/LIST", encoded, "", "tools/list, tools/list", "tools /list"] {
        call.clone().set("Mcp-Method", wrong).send().fails(400, -32020);
    }
    call.clone().header("Mcp-Method", "tools/list").send().fails(400, -32020);
    for name in ["mcp-method", "MCP-METHOD", "mCP-mETHOD"] {
        call.clone().without("Mcp-Method").header(name, "tools/list").send().result();
    }
    call.set("Mcp-Method", " \t tools/list\t ").send().result();
}

#[test]
fn a_header_that_lies_about_an_unknown_method_is_a_mismatch_first() {
    shared().modern("no/such").set("Mcp-Method", "tools/list").send().fails(400, -32020);
}

#[test]
fn the_name_of_a_tool_has_to_stand_in_its_header() {
    let server = shared();
    let call = server.modern("tools/call").name("emails_list").arguments(json!({ "limit": 1 }));
    call.clone().without("Mcp-Name").send().fails(400, -32020);
    for wrong in ["wrong", "Emails_List", "", "emails_list, emails_list", "emails_list\u{a0}"] {
        call.clone().set("Mcp-Name", wrong).send().fails(400, -32020);
    }
    call.clone().header("Mcp-Name", "emails_list").send().fails(400, -32020);
    for right in ["emails_list", "   emails_list  ", "\temails_list", EMAILS_LIST] {
        call.clone().set("Mcp-Name", right).send().document();
    }
}

#[test]
fn an_encoded_name_is_decoded_strictly() {
    let server = shared();
    let call = server.modern("tools/call").name("emails_list").arguments(json!({ "limit": 1 }));
    let wrong = [
        "=?base64?ZW1haWxzX2xpc3Q?=",    // no padding
        "=?base64?ZW1h!!!?=",            // no base64
        "=?BASE64?ZW1haWxzX2xpc3Q=?=",   // no marker, so a literal
        "=?base64?ZW1haWxzX2xpc3Q=",     // no end, so a literal
        "=?base64?/w==?=",               // no UTF-8
        "=?base64?ZW1haWxzX2xpc3R=?=",   // bits left over
        "=?base64? ZW1haWxzX2xpc3Q= ?=", // white space
        "=?base64??=",
        "=?base64?=",
        "=?=",
    ];
    for name in wrong {
        call.clone().set("Mcp-Name", name).send().fails(400, -32020);
    }
}

#[test]
fn a_name_that_looks_encoded_is_no_trap() {
    let server = shared();
    for name in ["=?base64?=", "=?base64??=", "=?=", "=?base64?ZW1haWxzX2xpc3Q=?="] {
        let answer = server.modern("tools/call").name(name).send();
        let code = answer.json()["error"]["code"].clone();
        assert!(code == -32602 || code == -32020, "{answer}");
    }
    server.legacy("ping").send().result();
}

#[test]
fn bytes_beyond_ascii_are_refused() {
    let server = shared();
    let call = server.modern("tools/call").name("emails_list").without("Mcp-Name");
    for bytes in [b"emails_list\xe9".as_slice(), "emails_lišt".as_bytes()] {
        call.clone().header("Mcp-Name", bytes).send().fails(400, -32020);
    }
}

#[test]
fn without_a_name_in_the_body_the_body_is_at_fault() {
    let server = shared();
    let call = server.modern("tools/call").set("Mcp-Name", "emails_list");
    call.clone().send().fails(200, -32602);
    for name in [json!(5), json!(null), json!([])] {
        call.clone().param("name", name).send().fails(200, -32602);
    }
}

#[test]
fn resources_and_prompts_may_leave_their_name_out_but_not_get_it_wrong() {
    let server = shared();
    let read = server.modern("resources/read").param("uri", json!("kobana://inbox/me"));
    read.clone().send().result();
    read.clone().set("Mcp-Name", "kobana://inbox/me").send().result();
    read.clone().set("Mcp-Name", "=?base64?a29iYW5hOi8vaW5ib3gvbWU=?=").send().result();
    read.set("Mcp-Name", "kobana://inbox/inboxes").send().fails(400, -32020);
    let prompt = server.modern("prompts/get").param("name", json!("triage_inbox"));
    let prompt = prompt.arguments(json!({ "inbox_id": "acme-invoices" }));
    prompt.clone().send().result();
    prompt.clone().set("Mcp-Name", "triage_inbox").send().result();
    prompt.set("Mcp-Name", "other").send().fails(400, -32020);
}

#[test]
fn headers_that_mirror_nothing_are_ignored() {
    let server = shared();
    server.modern("tools/list").header("Mcp-Name", "x").send().result();
    let call = server.modern("tools/call").name("me_get").header("Mcp-Param-Region", "x");
    call.send().document();
}
