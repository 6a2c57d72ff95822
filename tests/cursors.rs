//! Pages of a list, and the cursors between them.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::harness::{Answer, Server, shared};

fn page(server: &Server, token: &str, arguments: Value) -> Answer {
    server.modern("tools/call").name("emails_list").arguments(arguments).token(token).send()
}

fn next(document: &Value) -> Option<String> {
    document["meta"]["next_cursor"].as_str().map(str::to_owned)
}

#[test]
fn pages_hold_every_row_once() {
    let server = shared();
    let (mut seen, mut cursor, mut pages) = (BTreeSet::new(), None, 0);
    loop {
        let arguments = cursor.map_or_else(|| json!({ "limit": 7 }), |cursor| json!({ "limit": 7, "cursor": cursor }));
        let document = page(&server, "demo-owner", arguments).document();
        for row in document["data"].as_array().unwrap() {
            assert!(seen.insert(row["id"].to_string()), "{row} stands on two pages");
        }
        pages += 1;
        cursor = next(&document);
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!((seen.len(), pages), (60, 9));
}

#[test]
fn a_cursor_is_good_for_its_own_list_only() {
    let server = shared();
    let cursor = next(&page(&server, "demo-owner", json!({ "limit": 5 })).document()).expect("there is more");
    page(&server, "demo-owner", json!({ "limit": 9, "cursor": cursor })).document();
    page(&server, "demo-owner", json!({ "limit": 5, "cursor": cursor, "status": "failed" }))
        .tool_error("validation_failed");
    page(&server, "demo-globex", json!({ "limit": 5, "cursor": cursor })).tool_error("validation_failed");
    let inboxes = server.modern("tools/call").name("inboxes_list").arguments(json!({ "cursor": cursor })).send();
    inboxes.tool_error("validation_failed");
    for at in [0, cursor.len() / 2, cursor.len() - 5] {
        let mut tampered = cursor.clone().into_bytes();
        tampered[at] = if tampered[at] == b'A' { b'B' } else { b'A' };
        let tampered = String::from_utf8(tampered).unwrap();
        page(&server, "demo-owner", json!({ "limit": 5, "cursor": tampered })).tool_error("validation_failed");
    }
}

#[test]
fn a_cursor_goes_from_one_door_to_the_other() {
    let server = shared();
    let cursor = next(&page(&server, "demo-owner", json!({ "limit": 5 })).document()).expect("there is more");
    let path = format!("/api/v1/emails?limit=5&cursor={cursor}");
    let rest = server.http("GET", &path).token("rest-owner").send().is(200).json();
    assert_eq!(rest, page(&server, "demo-owner", json!({ "limit": 5, "cursor": cursor })).document());
}

#[test]
fn a_cursor_and_what_was_written_outlive_a_restart() {
    let data = tempfile::tempdir().unwrap();
    let start = || Server::demo().arg("--data").arg(data.path()).start();
    let before = start();
    let cursor = next(&page(&before, "demo-owner", json!({ "limit": 25 })).document()).expect("there is more");
    let second = page(&before, "demo-owner", json!({ "limit": 25, "cursor": cursor })).document();
    let made = json!({ "external_id": "kept", "label": "Kept" });
    before.modern("tools/call").name("inboxes_create").arguments(made).send().document();
    assert_eq!(before.stop().0.code(), Some(0));

    let after = start();
    assert_eq!(page(&after, "demo-owner", json!({ "limit": 25, "cursor": cursor })).document(), second);
    let kept = after.modern("tools/call").name("inboxes_get").arguments(json!({ "id": "kept" })).send().document();
    assert_eq!(kept["data"]["label"], "Kept");
    assert_eq!(page(&after, "demo-owner", json!({ "limit": 200 })).document()["data"].as_array().unwrap().len(), 60);
}
