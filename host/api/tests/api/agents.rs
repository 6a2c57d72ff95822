//! Agents.

use serde_json::{Value, json};

use crate::harness::{World, column};

#[tokio::test]
async fn an_agent_is_made_changed_and_deleted() {
    let world = World::new().await;
    let ana = world.ana().await;
    let sent = json!({
        "external_id": "leitor", "label": "Leitor", "llm_model": "rules", "system_message": "Leia.",
        "skills_repo": "https://git.acme.example/skills",
    });
    let created = world.call(&ana, "POST", "/agents", &sent).await.data(201);
    for member in ["external_id", "label", "llm_model", "system_message", "skills_repo"] {
        assert_eq!(created[member], sent[member], "{member}");
    }
    let rows = world.get(&ana, "/agents").await.data(200);
    assert_eq!(column(&rows, "external_id"), ["leitor", "acme-fiscal", "acme-triage"]);
    // A change may empty the instructions, which creating does not allow.
    let body = json!({ "system_message": "", "skills_repo": null });
    let changed = world.call(&ana, "PATCH", "/agents/leitor", &body).await.data(200);
    assert_eq!((&changed["system_message"], &changed["skills_repo"]), (&json!(""), &Value::Null));
    world.delete(&ana, "/agents/leitor").await.expect(204);
    world.get(&ana, "/agents/leitor").await.refused(404, "not_found");
    world.delete(&ana, "/agents/leitor").await.refused(404, "not_found");
}

#[tokio::test]
async fn inboxes_are_left_without_a_deleted_agent() {
    let world = World::new().await;
    let ana = world.ana().await;
    let agent = world.get(&ana, "/agents/acme-fiscal").await.data(200)["id"].clone();
    let runs = world.get(&ana, "/agent-runs?agent_id=acme-fiscal&limit=200").await.data(200);
    assert!(!runs.as_array().unwrap().is_empty());
    world.delete(&ana, "/agents/acme-fiscal").await.expect(204);
    let inbox = world.get(&ana, "/inboxes/acme-invoices").await.data(200);
    assert_eq!(inbox["agent_id"], Value::Null);
    let support = world.get(&ana, "/inboxes/acme-support").await.data(200);
    assert_ne!(support["agent_id"], Value::Null);
    // Runs of the past stay readable; as a filter the agent names nothing any more.
    let run = world.get(&ana, &format!("/agent-runs/{}", runs[0]["id"].as_str().unwrap())).await.data(200);
    assert_eq!(run["agent_id"], agent);
    assert_eq!(world.get(&ana, "/agent-runs?agent_id=acme-fiscal").await.data(200), json!([]));
    let body = json!({ "label": "x", "agent_id": agent });
    world.call(&ana, "POST", "/inboxes", &body).await.refused(422, "reference_not_found");
}

#[tokio::test]
async fn an_upsert_needs_everything_only_for_a_new_agent() {
    let world = World::new().await;
    let ana = world.ana().await;
    let put = async |body: Value| world.call(&ana, "PUT", "/agents", &body).await;
    let missing = put(json!({ "external_id": "novo" })).await.invalid_fields();
    assert_eq!(missing, ["label", "llm_model", "system_message"]);
    let body = json!({ "external_id": "novo", "label": "N", "llm_model": "rules", "system_message": "x" });
    let created = put(body).await.data(201);
    let changed = put(json!({ "external_id": "novo", "label": "M" })).await.data(200);
    assert_eq!(
        (&changed["id"], &changed["label"], &changed["llm_model"]),
        (&created["id"], &json!("M"), &json!("rules"))
    );
    assert_eq!(put(json!({ "external_id": "novo", "system_message": "" })).await.invalid_fields(), ["system_message"]);
}

#[tokio::test]
async fn each_member_of_an_agent_is_checked() {
    let world = World::new().await;
    let ana = world.ana().await;
    for (member, value) in [
        ("label", json!("")),
        ("llm_model", json!("")),
        ("system_message", json!("")),
        ("skills_repo", json!("not a url")),
        ("skills_repo", json!(1)),
        ("external_id", json!("a/b")),
        ("colour", json!(1)),
    ] {
        let mut body = json!({ "label": "x", "llm_model": "x", "system_message": "x" });
        body[member] = value.clone();
        assert_eq!(world.call(&ana, "POST", "/agents", &body).await.invalid_fields(), [member], "{value}");
    }
    let missing = world.call(&ana, "POST", "/agents", &json!({ "label": "x" })).await.invalid_fields();
    assert_eq!(missing, ["llm_model", "system_message"]);
}
