//! Inboxes: creating, changing, upserting.

use kobana_store::demo;
use serde_json::{Value, json};

use crate::harness::{World, column};

#[tokio::test]
async fn a_created_inbox_has_defaults_and_an_address_of_the_workspace() {
    let world = World::new().await;
    let ana = world.ana().await;
    let created = world.call(&ana, "POST", "/inboxes", &json!({ "label": "Cobrança São João" })).await.data(201);
    let email = created["email"].as_str().unwrap();
    assert!(email.starts_with("acme-cobranca-sao-joao-") && email.ends_with("@inbox.example"), "{email}");
    assert_eq!(created["external_id"], created["id"]);
    assert_eq!((&created["status"], &created["allowed_recipients"]), (&json!("active"), &json!([])));
    assert_eq!(created["agent_id"], Value::Null);
    assert_eq!(created["workspace_id"], json!(demo::workspaces::ACME));
    let read = world.get(&ana, &format!("/inboxes/{}", created["id"].as_str().unwrap())).await.data(200);
    assert_eq!(read, created);
}

#[tokio::test]
async fn everything_that_is_sent_is_kept() {
    let world = World::new().await;
    let ana = world.ana().await;
    let sent = json!({
        "external_id": "caixa:1@x_y.z", "label": "Fatura – ção 漢字 😀 \"\\/", "email": "Fatura@INBOX.example",
        "agent_id": "acme-fiscal", "allowed_recipients": ["B@x.example", "a@x.example", "b@X.example"],
        "filters": [{ "subject": ["a", 1.5, null] }], "attachments_allow": false, "attachments_max_file_number": 3.0,
        "attachments_max_file_size": 4, "attachments_max_total_size": 9_007_199_254_740_993_i64,
    });
    let created = world.call(&ana, "POST", "/inboxes", &sent).await.data(201);
    for member in ["external_id", "label", "filters", "attachments_allow", "attachments_max_total_size"] {
        assert_eq!(created[member], sent[member], "{member}");
    }
    assert_eq!(created["email"], "fatura@inbox.example");
    assert_eq!(created["allowed_recipients"], json!(["B@x.example", "a@x.example"]));
    assert_eq!(created["attachments_max_file_number"], 3);
    let agent = created["agent_id"].as_str().unwrap();
    let by_id = json!({ "label": "x", "agent_id": agent });
    assert_eq!(world.call(&ana, "POST", "/inboxes", &by_id).await.data(201)["agent_id"], agent);
}

#[tokio::test]
async fn each_member_is_checked() {
    let world = World::new().await;
    let ana = world.ana().await;
    let long = "x".repeat(121);
    for (member, value) in [
        ("external_id", json!("")),
        ("external_id", json!("a b")),
        ("external_id", json!("x".repeat(129))),
        ("external_id", Value::Null),
        ("label", json!("")),
        ("label", json!(long)),
        ("label", json!(1)),
        ("email", json!("no-address")),
        ("email", json!("Ana <a@inbox.example>")),
        ("agent_id", json!("")),
        ("agent_id", json!(5)),
        ("allowed_recipients", json!(["x"])),
        ("allowed_recipients", json!("a@b.example")),
        ("filters", json!([1])),
        ("filters", json!({})),
        ("attachments_allow", json!("yes")),
        ("attachments_max_file_number", json!(0)),
        ("attachments_max_file_size", json!(-1)),
        ("attachments_max_total_size", json!(1.5)),
        ("attachments_max_total_size", json!(1e30)),
        ("status", json!("active")),
        ("colour", json!("red")),
    ] {
        let mut body = json!({ "label": "x" });
        body[member] = value.clone();
        let answer = world.call(&ana, "POST", "/inboxes", &body).await;
        assert_eq!(answer.invalid_fields(), [member], "{value}");
    }
    assert_eq!(world.get(&ana, "/inboxes").await.data(200).as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn labels_are_counted_in_characters() {
    let world = World::new().await;
    let ana = world.ana().await;
    world.call(&ana, "POST", "/inboxes", &json!({ "label": "ç".repeat(120) })).await.expect(201);
    let answer = world.call(&ana, "POST", "/inboxes", &json!({ "label": "😀".repeat(121) })).await;
    assert_eq!(answer.invalid_fields(), ["label"]);
}

#[tokio::test]
async fn unknown_names_that_could_do_harm_are_not_repeated() {
    let world = World::new().await;
    let body = json!({ "label": "x", "<script>": 1, "ação": 2 });
    let answer = world.call(&world.ana().await, "POST", "/inboxes", &body).await;
    assert!(!answer.json.to_string().contains("script"));
    let details = answer.refused(400, "validation_failed");
    assert_eq!((details["field_errors"].clone(), details["form_errors"].as_array().unwrap().len()), (json!({}), 1));
}

#[tokio::test]
async fn what_is_taken_is_a_conflict_named_by_its_field() {
    let world = World::new().await;
    let ana = world.ana().await;
    let old = world.get(&ana, "/inboxes/acme-old").await.data(200)["email"].clone();
    let conflict = |field: &str| json!({ "field": field });
    let body = json!({ "label": "x", "external_id": "acme-old" });
    assert_eq!(world.call(&ana, "POST", "/inboxes", &body).await.refused(409, "conflict"), conflict("external_id"));
    for email in [old.as_str().unwrap().to_owned(), old.as_str().unwrap().to_uppercase()] {
        let body = json!({ "label": "x", "email": email });
        assert_eq!(world.call(&ana, "POST", "/inboxes", &body).await.refused(409, "conflict"), conflict("email"));
        // Another tenant learns no more than that it is taken.
        let answer = world.call(&world.gil().await, "POST", "/inboxes", &body).await;
        assert_eq!(answer.refused(409, "conflict"), conflict("email"));
    }
    // A deleted inbox frees its name, but its address stays taken.
    world.call(&ana, "POST", "/inboxes", &json!({ "label": "x", "external_id": "acme-gone" })).await.expect(201);
    let gone = json!({ "label": "x", "email": "acme-gone-x4n6r8ts3g@inbox.example" });
    assert_eq!(world.call(&ana, "POST", "/inboxes", &gone).await.refused(409, "conflict"), conflict("email"));
    // The same name in another workspace is another name.
    world
        .call(&world.gil().await, "POST", "/inboxes", &json!({ "label": "x", "external_id": "acme-old" }))
        .await
        .expect(201);
}

#[tokio::test]
async fn rules_that_need_the_server_answer_422() {
    let world = World::new().await;
    let ana = world.ana().await;
    let body = json!({ "label": "x", "email": "x@other.example" });
    let details = world.call(&ana, "POST", "/inboxes", &body).await.refused(422, "inbox_domain_mismatch");
    assert_eq!(details, json!({ "field": "email" }));
    for agent in ["nope", "../x", "00000000-0000-7000-8000-000000000001"] {
        for (method, path) in [("POST", "/inboxes"), ("PUT", "/inboxes"), ("PATCH", "/inboxes/acme-old")] {
            let mut body = json!({ "label": "x", "agent_id": agent });
            if method == "PUT" {
                body["external_id"] = json!("fresh");
            }
            let details = world.call(&ana, method, path, &body).await.refused(422, "reference_not_found");
            assert_eq!(details, json!({ "field": "agent_id" }));
        }
    }
    let foreign = json!({ "label": "x", "agent_id": "acme-triage" });
    world.call(&world.gil().await, "POST", "/inboxes", &foreign).await.refused(422, "reference_not_found");
}

#[tokio::test]
async fn a_change_touches_only_what_was_sent() {
    let world = World::new().await;
    let ana = world.ana().await;
    let before = world.get(&ana, "/inboxes/acme-invoices").await.data(200);
    let same = world.call(&ana, "PATCH", "/inboxes/acme-invoices", &json!({})).await.data(200);
    assert_eq!(same, before);
    let body = json!({ "status": "inactive", "agent_id": null });
    let mut after = world.call(&ana, "PATCH", "/inboxes/acme-invoices", &body).await.data(200);
    assert_ne!(after["updated_at"], before["updated_at"]);
    for member in ["status", "agent_id", "updated_at"] {
        after[member] = before[member].clone();
    }
    assert_eq!(after, before);
    for member in ["email", "external_id", "metadata"] {
        let answer = world.call(&ana, "PATCH", "/inboxes/acme-invoices", &json!({ member: "x" })).await;
        assert_eq!(answer.invalid_fields(), [member]);
    }
    world.call(&ana, "PATCH", "/inboxes/acme-invoices", &json!({ "allowed_recipients": [] })).await.expect(200);
    let opened = world.get(&ana, "/inboxes/acme-invoices").await.data(200);
    assert_eq!(opened["allowed_recipients"], json!([]));
}

#[tokio::test]
async fn rows_out_of_reach_are_not_changed() {
    let world = World::new().await;
    let (ana, gil) = (world.ana().await, world.gil().await);
    let id = world.get(&ana, "/inboxes/acme-old").await.data(200)["id"].as_str().unwrap().to_owned();
    for name in ["acme-old", &id, "acme-gone", "nope"] {
        world.get(&gil, &format!("/inboxes/{name}")).await.refused(404, "not_found");
        let answer = world.call(&gil, "PATCH", &format!("/inboxes/{name}"), &json!({ "label": "Outra" })).await;
        answer.refused(404, "not_found");
    }
    // A bad body is told before the row is looked for.
    world.call(&gil, "PATCH", "/inboxes/nope", &json!({ "label": "" })).await.refused(400, "validation_failed");
    assert_eq!(world.get(&ana, "/inboxes/acme-old").await.data(200)["label"], "Endereço antigo");
}

#[tokio::test]
async fn a_uuid_is_tried_as_such_before_it_is_a_name() {
    let world = World::new().await;
    let ana = world.ana().await;
    let old = world.get(&ana, "/inboxes/acme-old").await.data(200)["id"].clone();
    let free = "11111111-1111-7111-8111-111111111111";
    for name in [old.as_str().unwrap(), free] {
        world.call(&ana, "POST", "/inboxes", &json!({ "label": "x", "external_id": name })).await.expect(201);
    }
    let read = async |id: &str| world.get(&ana, &format!("/inboxes/{id}")).await.data(200);
    assert_eq!(read(old.as_str().unwrap()).await["external_id"], "acme-old");
    assert_eq!(read(free).await["external_id"], free);
}

#[tokio::test]
async fn an_upsert_creates_and_then_changes() {
    let world = World::new().await;
    let ana = world.ana().await;
    let put = async |body: Value| world.call(&ana, "PUT", "/inboxes", &body).await;
    assert_eq!(put(json!({ "external_id": "u" })).await.invalid_fields(), ["label"]);
    assert_eq!(put(json!({ "label": "x" })).await.invalid_fields(), ["external_id"]);
    let created = put(json!({ "external_id": "u", "label": "Um", "status": "inactive" })).await.data(201);
    assert_eq!((&created["status"], &created["label"]), (&json!("inactive"), &json!("Um")));
    let changed = put(json!({ "external_id": "u", "status": "active" })).await.data(200);
    assert_eq!((&changed["id"], &changed["label"]), (&created["id"], &json!("Um")));
    // An inbox keeps its address.
    let email = created["email"].as_str().unwrap();
    put(json!({ "external_id": "u", "email": email.to_uppercase() })).await.expect(200);
    let details = put(json!({ "external_id": "u", "email": "other@inbox.example" })).await.refused(409, "conflict");
    assert_eq!(details, json!({ "field": "email" }));
    // A UUID matches as a name only.
    let answer = put(json!({ "external_id": created["id"], "label": "Dois" })).await;
    assert_ne!(answer.data(201)["id"], created["id"]);
    put(json!({ "external_id": "acme-gone", "label": "Volta" })).await.expect(201);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn upserts_at_the_same_moment_make_one_row() {
    let world = std::sync::Arc::new(World::new().await);
    let ana = world.ana().await;
    let tasks: Vec<_> = (0..20)
        .map(|number| {
            let (world, ana) = (std::sync::Arc::clone(&world), ana.clone());
            tokio::spawn(async move {
                let body = json!({ "external_id": "race", "label": format!("Corrida {number}") });
                world.call(&ana, "PUT", "/inboxes", &body).await.status.as_u16()
            })
        })
        .collect();
    let mut statuses = Vec::new();
    for task in tasks {
        statuses.push(task.await.unwrap());
    }
    statuses.sort_unstable();
    assert_eq!(statuses, [vec![200; 19], vec![201]].concat());
    let rows = world.get(&ana, "/inboxes?limit=200").await.data(200);
    assert_eq!(column(&rows, "external_id").iter().filter(|name| *name == "race").count(), 1);
}

#[tokio::test]
async fn a_deleted_inbox_frees_its_name_and_keeps_its_address() {
    let world = World::new().await;
    let ana = world.ana().await;
    let row = world.get(&ana, "/inboxes/acme-support").await.data(200);
    let id = row["id"].as_str().unwrap();
    let answer = world.delete(&ana, "/inboxes/acme-support").await.expect(204);
    assert!(answer.json.is_null() && !answer.headers.contains_key("content-type"));
    for name in ["acme-support", id] {
        world.delete(&ana, &format!("/inboxes/{name}")).await.refused(404, "not_found");
        world.get(&ana, &format!("/inboxes/{name}")).await.refused(404, "not_found");
        world.call(&ana, "PATCH", &format!("/inboxes/{name}"), &json!({})).await.refused(404, "not_found");
        assert_eq!(world.get(&ana, &format!("/emails?inbox_id={name}")).await.data(200), json!([]));
    }
    let again = world.call(&ana, "PUT", "/inboxes", &json!({ "external_id": "acme-support", "label": "x" })).await;
    assert_ne!(again.data(201)["id"], row["id"]);
    let taken = json!({ "label": "x", "email": row["email"] });
    world.call(&ana, "POST", "/inboxes", &taken).await.refused(409, "conflict");
    // Its mail stays readable.
    let rows = world.get(&ana, "/emails?limit=200").await.data(200);
    assert_eq!(rows.as_array().unwrap().len(), 60);
}

#[tokio::test]
async fn senders_are_added_and_taken_off_in_any_letter_case() {
    let world = World::new().await;
    let ana = world.ana().await;
    let path = "/inboxes/acme-invoices/recipients";
    let list = |answer: Value| answer["allowed_recipients"].as_array().unwrap().len();
    let email = json!({ "email": "Nova@Supplier.example" });
    assert_eq!(list(world.call(&ana, "POST", path, &email).await.data(201)), 3);
    assert_eq!(list(world.call(&ana, "POST", path, &json!({ "email": "nova@supplier.EXAMPLE" })).await.data(200)), 3);
    assert_eq!(list(world.call(&ana, "DELETE", path, &json!({ "email": "NOVA@supplier.example" })).await.data(200)), 2);
    assert_eq!(list(world.delete(&ana, &format!("{path}?email=nova@supplier.example")).await.data(200)), 2);
    let both = format!("{path}?email=BILLING@supplier.example");
    assert_eq!(
        list(world.call(&ana, "DELETE", &both, &json!({ "email": "billing@supplier.example" })).await.data(200)),
        1
    );
    let shown = world.get(&ana, "/inboxes/acme-invoices").await.data(200);
    assert_eq!(shown["allowed_recipients"], json!(["nfe@supplier.example"]));
}

#[tokio::test]
async fn a_sender_must_be_named_once_and_rightly() {
    let world = World::new().await;
    let ana = world.ana().await;
    let path = "/inboxes/acme-invoices/recipients";
    for (method, query, body) in [
        ("POST", "", json!({})),
        ("POST", "", json!({ "email": "x" })),
        ("DELETE", "", json!({})),
        ("DELETE", "?email=x", json!({})),
        ("DELETE", "?email=a@b.example", json!({ "email": "c@b.example" })),
    ] {
        let answer = world.call(&ana, method, &format!("{path}{query}"), &body).await;
        assert_eq!(answer.invalid_fields(), ["email"], "{method} {query} {body}");
    }
    assert_eq!(world.delete(&ana, path).await.invalid_fields(), ["email"]);
    assert_eq!(world.delete(&ana, &format!("{path}?email=x")).await.invalid_fields(), ["email"]);
    // No body at all may be; null is a body, and no address.
    let null = world.call(&ana, "DELETE", &format!("{path}?email=a@b.example"), &Value::Null).await;
    assert_eq!(null.refused(400, "validation_failed")["form_errors"], json!(["the body: expected an object"]));
    let answer =
        world.call(&ana, "POST", &format!("{path}?email=a@b.example"), &json!({ "email": "a@b.example" })).await;
    assert_eq!(answer.invalid_fields(), ["email"]);
    let email = json!({ "email": "a@b.example" });
    world.call(&ana, "POST", "/inboxes/nope/recipients", &email).await.refused(404, "not_found");
    world.call(&world.gil().await, "POST", path, &email).await.refused(404, "not_found");
    let vera = world.caller(demo::persons::VERA).await;
    let details = world.call(&vera, "POST", path, &email).await.refused(403, "permission_denied");
    assert_eq!(details, json!({ "required": "inboxes.recipients" }));
}
