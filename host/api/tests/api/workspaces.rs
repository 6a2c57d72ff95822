//! Workspaces.

use kobana_store::demo;
use serde_json::json;

use crate::harness::{World, column};

#[tokio::test]
async fn the_list_holds_those_in_reach_with_the_permission() {
    let world = World::new().await;
    let marcos = world.caller(demo::persons::MARCOS).await;
    let rows = world.get(&marcos, "/workspaces").await.data(200);
    assert_eq!(column(&rows, "external_id"), ["acme-labs", "acme"]);
    let rows = world.get(&world.ana().await, "/workspaces").await.data(200);
    assert_eq!(column(&rows, "external_id"), ["acme"]);
    let mut nobody = world.ana().await;
    nobody.memberships.clear();
    assert_eq!(world.get(&nobody, "/workspaces").await.data(200), json!([]));
}

#[tokio::test]
async fn one_is_read_by_uuid_or_name_if_it_is_in_reach() {
    let world = World::new().await;
    let marcos = world.caller(demo::persons::MARCOS).await;
    for id in ["acme-labs", &demo::workspaces::ACME_LABS.to_string()] {
        let row = world.get(&marcos, &format!("/workspaces/{id}")).await.data(200);
        assert_eq!((&row["id"], &row["external_id"]), (&json!(demo::workspaces::ACME_LABS), &json!("acme-labs")));
        assert_eq!(row["source"], "kobana_autonomous_inbox");
    }
    for id in ["globex", &demo::workspaces::GLOBEX.to_string(), "nope", ".."] {
        world.get(&marcos, &format!("/workspaces/{id}")).await.refused(404, "not_found");
    }
    world.get(&world.ana().await, "/workspaces/acme-labs").await.refused(404, "not_found");
}

#[tokio::test]
async fn usage_counts_the_month_only() {
    let world = World::new().await;
    let row = world.get(&world.ana().await, "/workspaces/acme").await.data(200);
    assert_eq!((&row["monthly_emails_used"], &row["monthly_cost_used"]), (&json!(0), &json!(0.0)));
    let start = kobana_contract::Timestamp::parse("2026-07-01T00:00:00Z").unwrap();
    let used = kobana_store::usage::since(world.store.reads(), &[demo::workspaces::ACME], start.0).await.unwrap();
    // Three of the sixty were refused.
    assert_eq!(used[&demo::workspaces::ACME].emails, 57);
}

#[tokio::test]
async fn pages_of_one_person_do_not_open_for_another() {
    let world = World::new().await;
    let marcos = world.caller(demo::persons::MARCOS).await;
    let page = world.get(&marcos, "/workspaces?limit=1").await.expect(200).json;
    let cursor = page["meta"]["next_cursor"].as_str().unwrap().to_owned();
    let path = format!("/workspaces?limit=1&cursor={cursor}");
    assert_eq!(column(&world.get(&marcos, &path).await.data(200), "external_id"), ["acme"]);
    assert_eq!(world.get(&world.ana().await, &path).await.invalid_fields(), ["cursor"]);
}

#[tokio::test]
async fn a_new_workspace_is_its_makers_own() {
    let world = World::new().await;
    let ana = world.ana().await;
    let sent = json!({
        "source": "kobana_finance", "label": "Cobrança São João", "external_id": "cobranca",
        "monthly_cost_limit": 12.5, "monthly_emails_limit": null, "custom_metadata": { "a": [1, null] },
    });
    let created = world.call(&ana, "POST", "/workspaces", &sent).await.data(201);
    assert_eq!(created["email_prefix"], "cobranca-sao-joao");
    for member in ["source", "label", "external_id", "monthly_cost_limit", "monthly_emails_limit", "custom_metadata"] {
        assert_eq!(created[member], sent[member], "{member}");
    }
    let ana = world.ana().await;
    assert_eq!(ana.memberships.len(), 2);
    assert_eq!(world.get(&ana, "/workspaces/cobranca").await.data(200), created);
    let details = world.call(&ana, "POST", "/workspaces", &sent).await.refused(409, "conflict");
    assert_eq!(details, json!({ "field": "external_id" }));
    // Another organization may use the name, and somebody of the same one does not reach it.
    world.call(&world.gil().await, "POST", "/workspaces", &sent).await.expect(201);
    let lia = world.caller(demo::persons::LIA).await;
    world.get(&lia, "/workspaces/cobranca").await.refused(404, "not_found");
    let vera = world.caller(demo::persons::VERA).await;
    world.call(&vera, "POST", "/workspaces", &sent).await.refused(403, "permission_denied");
}

#[tokio::test]
async fn each_member_of_a_workspace_is_checked() {
    let world = World::new().await;
    let ana = world.ana().await;
    for (member, value) in [
        ("source", json!("kobana")),
        ("label", json!("")),
        ("email_prefix", json!("Ação")),
        ("email_prefix", json!("a--b")),
        ("email_prefix", json!("a".repeat(61))),
        ("monthly_cost_limit", json!(0)),
        ("monthly_cost_limit", json!("1")),
        ("monthly_emails_limit", json!(1.5)),
        ("metadata", json!([])),
        ("colour", json!(1)),
    ] {
        let mut body = json!({ "source": "kobana_app", "label": "x" });
        body[member] = value.clone();
        assert_eq!(world.call(&ana, "POST", "/workspaces", &body).await.invalid_fields(), [member], "{value}");
    }
    assert_eq!(world.call(&ana, "POST", "/workspaces", &json!({})).await.invalid_fields(), ["label", "source"]);
    assert_eq!(
        world.call(&ana, "PATCH", "/workspaces/acme", &json!({ "source": "kobana_app" })).await.invalid_fields(),
        ["source"]
    );
}

#[tokio::test]
async fn a_workspace_changes_only_where_it_is_managed() {
    let world = World::new().await;
    let ana = world.ana().await;
    let before = world.get(&ana, "/workspaces/acme").await.data(200);
    assert_eq!(world.call(&ana, "PATCH", "/workspaces/acme", &json!({})).await.data(200), before);
    let body = json!({ "monthly_cost_limit": null, "email_prefix": "nova" });
    let mut after = world.call(&ana, "PATCH", "/workspaces/acme", &body).await.data(200);
    assert_eq!((&after["monthly_cost_limit"], &after["email_prefix"]), (&json!(null), &json!("nova")));
    for member in ["monthly_cost_limit", "email_prefix", "updated_at"] {
        after[member] = before[member].clone();
    }
    assert_eq!(after, before);
    let created = world.call(&ana, "POST", "/inboxes", &json!({ "label": "x" })).await.data(201);
    assert!(created["email"].as_str().unwrap().starts_with("nova-x-"));
    world.call(&ana, "PATCH", "/workspaces/globex", &json!("bad")).await.refused(404, "not_found");
    let vera = world.caller(demo::persons::VERA).await;
    world.call(&vera, "PATCH", "/workspaces/acme", &json!("bad")).await.refused(403, "permission_denied");
    world.call(&ana, "PATCH", "/workspaces/acme", &json!("bad")).await.refused(400, "validation_failed");
}

#[tokio::test]
async fn everything_in_a_deleted_workspace_stops_answering() {
    let world = World::new().await;
    let stale = world.ana().await;
    world.delete(&stale, "/workspaces/acme").await.expect(204);
    let ana = world.ana().await;
    assert!(ana.memberships.is_empty());
    world.get(&ana, "/workspaces/acme").await.refused(404, "not_found");
    world.get(&ana, "/inboxes").await.refused(403, "permission_denied");
    // Even for a caller that was read before.
    for path in ["/inboxes/acme-old", "/agents/acme-triage", "/webhooks/acme-erp", "/workspaces/acme"] {
        world.get(&stale, path).await.refused(404, "not_found");
    }
    world.delete(&stale, "/workspaces/acme").await.refused(404, "not_found");
    let same_name = json!({ "source": "kobana_app", "label": "x", "external_id": "acme" });
    world.call(&world.caller(demo::persons::MARCOS).await, "POST", "/workspaces", &same_name).await.expect(201);
}
