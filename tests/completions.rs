//! Completions come from the caller's rows, all of them, and say how many there are (protocol.md §12).

use serde_json::{Value, json};

use crate::harness::{Call, Server, shared};

fn template(path: &str) -> Value {
    json!({ "type": "ref/resource", "uri": format!("kobana://inbox/{path}") })
}

fn prompt(name: &str) -> Value {
    json!({ "type": "ref/prompt", "name": name })
}

fn ask(server: &Server, reference: Value, name: &str, typed: &str) -> Call {
    let argument = json!({ "name": name, "value": typed });
    server.modern("completion/complete").param("ref", reference).param("argument", argument)
}

/// The values offered, of which there are no more.
#[track_caller]
fn all(call: &Call) -> Vec<String> {
    let completion = call.send().result()["completion"].clone();
    let values: Vec<String> = serde_json::from_value(completion["values"].clone()).expect("texts");
    assert_eq!((&completion["total"], &completion["hasMore"]), (&json!(values.len()), &json!(false)), "{completion}");
    values
}

#[test]
fn a_hundred_of_a_thousand_are_offered_and_all_are_counted() {
    let server = Server::demo().start();
    let mut connection = server.connect();
    for number in 0..1000 {
        let inbox = json!({ "external_id": format!("Loja-{number:04}"), "label": format!("São João {number:04}") });
        let create =
            server.http("POST", "/api/v1/inboxes").token("rest-owner").header("Content-Type", "application/json");
        create.body(inbox.to_string()).send_on(&mut connection).is(201);
    }
    for (reference, name) in [(template("inboxes/{id}"), "id"), (prompt("triage_inbox"), "inbox_id")] {
        for typed in ["loja-", "LOJA-", "sÃO jOÃO"] {
            let completion = ask(&server, reference.clone(), name, typed).send().result()["completion"].clone();
            let expected: Vec<_> = (0..100).map(|number| format!("Loja-{number:04}")).collect();
            assert_eq!(completion["values"], json!(expected), "{typed}");
            assert_eq!((&completion["total"], &completion["hasMore"]), (&json!(1000), &json!(true)), "{typed}");
        }
        let found = all(&ask(&server, reference.clone(), name, "SÃO JOÃO 000"));
        assert_eq!(found, (0..10).map(|number| format!("Loja-{number:04}")).collect::<Vec<_>>());
        // The oldest of all, which a page of the list would not have shown.
        assert_eq!(all(&ask(&server, reference.clone(), name, "acme-inv")), ["acme-invoices"]);
        let everything = ask(&server, reference, name, "").send().result()["completion"].clone();
        assert_eq!(everything["values"].as_array().map(Vec::len), Some(100));
        assert_eq!((&everything["total"], &everything["hasMore"]), (&json!(1003), &json!(true)));
    }
    // What another organization is offered, and what somebody without the scope is, has not changed.
    let inboxes = |token: &str, typed: &str| all(&ask(&server, template("inboxes/{id}"), "id", typed).token(token));
    assert_eq!(inboxes("demo-globex", ""), ["globex-main"]);
    assert_eq!(inboxes("demo-globex", "loja"), [""; 0]);
    assert_eq!(inboxes("demo-emails", "loja"), [""; 0]);
}

#[test]
fn rows_are_found_by_every_text_of_the_catalogue_and_by_their_ids() {
    let server = shared();
    for (path, typed, expected) in [
        ("inboxes/{id}", "Notas e BOLETOS", "acme-invoices"),
        ("inboxes/{id}", "acme-invoices-", "acme-invoices"),
        ("inboxes/{id}", "00000000-0000-7000-8000-00000000E001", "acme-invoices"),
        ("agents/{id}", "ACME-fis", "acme-fiscal"),
        ("webhooks/{id}", "lançamentos", "acme-erp"),
        ("webhooks/{id}", "HTTPS://audit.", "acme-audit"),
        ("workspaces/{id}", "ACME FIN", "acme"),
        ("emails/{id}", "00000000-0000-7000-8000-000000000001", "00000000-0000-7000-8000-000000000001"),
    ] {
        assert_eq!(all(&ask(&server, template(path), "id", typed)), [expected], "{path} {typed}");
    }
    for (path, typed) in [("inboxes/{id}", "lancamentos"), ("inboxes/{id}", "cme-"), ("agent-runs/{id}", "acme")] {
        assert_eq!(all(&ask(&server, template(path), "id", typed)), [""; 0], "{path} {typed}");
    }
}

#[test]
fn only_what_came_to_nothing_is_offered_to_be_explained() {
    let server = Server::demo().start();
    let failed = all(&ask(&server, prompt("explain_failure"), "email_id", ""));
    let every = all(&ask(&server, prompt("summarize_email"), "email_id", ""));
    assert!(!failed.is_empty() && failed.len() < every.len() && failed.iter().all(|id| every.contains(id)));
    let email =
        |id: &str| server.modern("tools/call").name("emails_get").arguments(json!({ "id": id })).send().document();
    for id in &failed {
        let email = email(id)["data"].clone();
        assert!(["failed", "rejected"].contains(&email["status"].as_str().unwrap()), "{email}");
        let from = email["from"].as_str().unwrap().to_uppercase();
        assert!(all(&ask(&server, prompt("explain_failure"), "email_id", &from)).contains(id), "{email}");
    }
}

#[test]
fn deliveries_are_those_of_the_webhook_in_the_context() {
    let server = shared();
    let deliveries = |context: Value, typed: &str| {
        let call = ask(&server, template("webhooks/{webhook_id}/deliveries/{id}"), "id", typed);
        all(&call.param("context", json!({ "arguments": context })))
    };
    let listed = server.http("GET", "/api/v1/webhooks/acme-erp/deliveries?limit=200").token("rest-owner").send();
    let listed: Vec<_> =
        listed.json()["data"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(deliveries(json!({ "webhook_id": "acme-erp" }), ""), listed);
    assert_eq!(deliveries(json!({ "webhook_id": "acme-erp" }), &listed[1].to_uppercase()), [listed[1].clone()]);
    for other in ["acme-audit", "acme-hook-gone", "globex-hook", "nope", "..", ""] {
        assert_eq!(deliveries(json!({ "webhook_id": other }), ""), [""; 0], "{other}");
    }
    assert_eq!(deliveries(json!({}), ""), [""; 0]);
}

#[test]
fn nobody_is_offered_what_they_may_not_see() {
    let server = shared();
    let offered = |token: &str, path: &str, typed: &str| all(&ask(&server, template(path), "id", typed).token(token));
    assert_eq!(offered("demo-viewer", "webhooks/{id}", ""), [""; 0]);
    assert_eq!(offered("demo-emails", "agents/{id}", "acme"), [""; 0]);
    assert_eq!(offered("demo-owner", "inboxes/{id}", "globex"), [""; 0]);
    // The deleted ones are nobody's.
    assert_eq!(offered("demo-owner", "inboxes/{id}", "acme-gone"), [""; 0]);
    assert_eq!(offered("demo-owner", "webhooks/{id}", "acme-hook-gone"), [""; 0]);
    // Whoever reaches several workspaces picks one first, unless it is the workspaces that are asked for.
    assert_eq!(offered("demo-multi", "inboxes/{id}", ""), [""; 0]);
    let labs = ask(&server, template("inboxes/{id}"), "id", "").token("demo-multi").set("X-Workspace-Id", "acme-labs");
    assert_eq!(all(&labs), ["labs-main"]);
    assert_eq!(offered("demo-multi", "workspaces/{id}", "ACME-"), ["acme-labs"]);
}

#[test]
fn both_eras_are_offered_the_same() {
    let server = shared();
    let argument = json!({ "name": "id", "value": "ACME-inv" });
    let legacy =
        server.legacy("completion/complete").param("ref", template("inboxes/{id}")).param("argument", argument);
    let modern = ask(&server, template("inboxes/{id}"), "id", "ACME-inv");
    assert_eq!(legacy.send().result()["completion"], modern.send().result()["completion"]);
}
