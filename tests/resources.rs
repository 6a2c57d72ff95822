//! Resources: what is listed, and what reading answers (protocol.md §24.5).

use serde_json::{Value, json};

use crate::harness::shared;

const EMAIL: &str = "kobana://inbox/emails/00000000-0000-7000-8000-000000000001";

#[test]
fn a_resource_is_the_document_of_its_route() {
    let server = shared();
    for (uri, tool, arguments) in [
        ("kobana://inbox/inboxes", "inboxes_list", json!({ "limit": 200 })),
        ("kobana://inbox/inboxes/acme-support", "inboxes_get", json!({ "id": "acme-support" })),
        (EMAIL, "emails_get", json!({ "id": &EMAIL["kobana://inbox/emails/".len()..] })),
    ] {
        let result = server.modern("resources/read").param("uri", json!(uri)).send().result();
        let contents = &result["contents"][0];
        assert_eq!((&contents["uri"], &contents["mimeType"]), (&json!(uri), &json!("application/json")));
        let called = server.modern("tools/call").name(tool).arguments(arguments).send().result();
        assert_eq!(contents["text"], called["content"][0]["text"], "{uri}");
    }
}

#[test]
fn what_is_listed_can_be_read() {
    let server = shared();
    let listed = server.modern("resources/list").send().result();
    let resources = listed["resources"].as_array().expect("resources are listed");
    assert!(resources.len() >= 3);
    for resource in resources {
        let read = server.legacy("resources/read").param("uri", resource["uri"].clone()).send().result();
        let text = read["contents"][0]["text"].as_str().expect("a resource is text");
        assert!(
            serde_json::from_str::<Value>(text).unwrap()["data"].is_array() || text.contains("Ana Souza"),
            "{text}"
        );
    }
    let templates = server.modern("resources/templates/list").send().result();
    for template in templates["resourceTemplates"].as_array().expect("templates are listed") {
        assert!(template["uriTemplate"].as_str().is_some_and(|uri| uri.contains("{id}")), "{template}");
    }
}

#[test]
fn what_is_not_there_or_not_yours_looks_the_same() {
    let server = shared();
    let odd = [
        "kobana://inbox/emails/00000000-0000-7000-8000-00000000dead",
        "kobana://inbox/emails/00000000-0000-7000-8000-000000000101",
        "kobana://inbox/inboxes/acme-gone",
        "kobana://inbox/inboxes/globex-main",
        "kobana://inbox/emails/../inboxes/acme-support",
        "kobana://inbox/emails/..%2finboxes",
        "kobana://inbox/inboxes/acme-support?x=1",
        "kobana://inbox/inboxes/acme-support#x",
        "kobana://inbox/inboxes/",
        "kobana://inbox/nope",
        "file:///etc/passwd",
        "",
    ];
    for uri in odd {
        let modern = server.modern("resources/read").param("uri", json!(uri)).send().fails(200, -32602);
        let legacy = server.legacy("resources/read").param("uri", json!(uri)).send().fails(200, -32002);
        for error in [modern, legacy] {
            assert_eq!((&error["message"], &error["data"]["uri"]), (&json!("Resource not found"), &json!(uri)));
        }
    }
    let beyond = json!("kobana://inbox/inboxes/acme-support");
    server.modern("resources/read").param("uri", beyond).token("demo-emails").send().fails(200, -32602);
}

#[test]
fn an_address_is_a_text() {
    let server = shared();
    server.modern("resources/read").send().fails(200, -32602);
    for uri in [json!(1), json!(null), json!(["kobana://inbox/me"])] {
        server.modern("resources/read").param("uri", uri.clone()).send().fails(200, -32602);
        server.legacy("resources/read").param("uri", uri).send().fails(200, -32602);
    }
}
