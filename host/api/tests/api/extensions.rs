//! Extensions of a workspace, from adding to removing.
//!
//! What looks into components lives above this crate. Here a reader of JSON stands in its place: a component is a JSON object with
//! name, version and names of what it offers, and anything else is refused. The real one is held to these rules by the tests of
//! the binary.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use axum::body::Body;
use kobana_api::extensions::{Fault, Inspected, Inspector, NotInspected};
use kobana_contract::{Caller, Role, Scope};
use kobana_store::rows::{ExtensionTexts, Extensions};
use kobana_store::sea_orm::PaginatorTrait as _;
use kobana_store::{InWorkspace, Scope as _, demo, extensions as stored};
use serde_json::{Value, json};

use crate::harness::{Answer, World, column};

const WASM: &[(&str, &str)] = &[("content-type", "application/wasm")];

/// Counts what it looked into.
#[derive(Debug, Default)]
struct Reader(AtomicUsize);

#[async_trait]
impl Inspector for Reader {
    async fn inspect(&self, component: Vec<u8>) -> Result<Inspected, NotInspected> {
        self.0.fetch_add(1, Ordering::SeqCst);
        let refused = || NotInspected::Refused(vec![Fault::new("imports", "wasi:sockets/tcp is not allowed")]);
        let card: Value = serde_json::from_slice(&component).map_err(|_| refused())?;
        let list = |name: &str, entry: &dyn Fn(&str) -> Value| -> Vec<Value> {
            let names = card[name].as_array().cloned().unwrap_or_default();
            names.iter().map(|name| entry(name.as_str().unwrap())).collect()
        };
        let hints = json!({ "read_only": true, "destructive": false, "idempotent": true, "open_world": false });
        let schema = r#"{"type":"object"}"#;
        let tool = |name: &str| {
            json!({ "name": name, "title": null, "description": "Does it", "input_schema": schema,
                "output_schema": null, "hints": hints })
        };
        let description = json!({
            "name": card["name"], "version": card["version"], "title": "A card", "description": null,
            "scopes": ["inbox.emails"],
            "tools": list("tools", &tool),
            "prompts": list("prompts", &|name| json!({ "name": name, "arguments": [] })),
            "resources": list("uris", &|uri| json!({ "uri": uri, "name": uri })),
            "resource_templates": [],
        });
        let text = |name: &str| card[name].as_str().unwrap_or_default().to_owned();
        Ok(Inspected {
            name: text("name"),
            version: text("version"),
            description: description.to_string(),
            definitions: format!("definitions of {}", text("name")),
        })
    }
}

async fn world() -> (World, Caller) {
    let world = World::inspected(Arc::new(Reader::default())).await;
    let ana = world.ana().await;
    (world, ana)
}

/// A component of this name and version with these tools.
fn card(name: &str, version: &str, tools: &[&str]) -> String {
    json!({ "name": name, "version": version, "tools": tools }).to_string()
}

async fn upload(world: &World, caller: &Caller, component: impl Into<Body>) -> Answer {
    world.raw(caller, "POST", "/extensions", WASM, component).await
}

async fn post(world: &World, caller: &Caller, path: &str) -> Answer {
    world.call(caller, "POST", path, &json!({})).await
}

/// The names of those that callers see, with their versions.
async fn enabled(world: &World, workspace: uuid::Uuid) -> Vec<String> {
    let rows = stored::enabled(world.store.reads(), workspace).await.unwrap();
    rows.into_iter().map(|row| format!("{} {}", row.extension, row.version)).collect()
}

async fn events(world: &World, ana: &Caller) -> Vec<String> {
    let rows = world.get(ana, "/system-events?limit=200").await.data(200);
    let mut slugs = column(&rows, "slug");
    slugs.retain(|slug| slug.starts_with("extension."));
    slugs.reverse();
    slugs
}

#[tokio::test]
async fn a_component_is_looked_into_and_kept_and_nobody_sees_it_yet() {
    let (world, ana) = world().await;
    let described = upload(&world, &ana, card("risk", "1.0.0", &["score", "list"])).await.data(201);
    assert_eq!(
        (&described["name"], &described["version"], &described["enabled"]),
        (&json!("risk"), &json!("1.0.0"), &json!(false))
    );
    assert_eq!(column(&described["tools"], "name"), ["score", "list"]);
    assert_eq!(described["tools"][0]["input_schema"], json!({ "type": "object" }));
    assert_eq!(
        (&described["scopes"], &described["created_by"]),
        (&json!(["inbox.emails"]), &json!(demo::persons::ANA))
    );
    assert_eq!(enabled(&world, demo::workspaces::ACME).await, Vec::<String>::new());

    let row = world.get(&ana, "/extensions/risk").await.data(200);
    assert_eq!((&row["enabled_version"], &row["rollback_version"]), (&Value::Null, &Value::Null));
    assert_eq!(row["versions"][0]["digest"], described["digest"]);
    assert_eq!(world.get(&ana, "/extensions").await.data(200), json!([row]));
    for version in ["1.0.0", described["digest"].as_str().unwrap()] {
        let again = world.get(&ana, &format!("/extensions/risk/versions/{version}")).await.data(200);
        assert_eq!(again, described);
    }
    world.get(&ana, "/extensions/risk/versions/2.0.0").await.refused(404, "not_found");
    world.get(&ana, "/extensions/other").await.refused(404, "not_found");
    let kept = stored::component(&world.store, described["digest"].as_str().unwrap()).await.unwrap().unwrap();
    assert_eq!(kept, card("risk", "1.0.0", &["score", "list"]).as_bytes());
}

#[tokio::test]
async fn the_same_bytes_again_are_the_same_version() {
    let reader = Arc::new(Reader::default());
    let world = World::inspected(reader.clone()).await;
    let ana = world.ana().await;
    let first = upload(&world, &ana, card("risk", "1.0.0", &[])).await.data(201);
    post(&world, &ana, "/extensions/risk/enable").await.data(200);
    let again = upload(&world, &ana, card("risk", "1.0.0", &[])).await.data(200);
    assert_eq!((&again["digest"], &again["enabled"]), (&first["digest"], &json!(true)));
    assert_eq!(reader.0.load(Ordering::SeqCst), 1);
    let row = world.get(&ana, "/extensions/risk").await.data(200);
    assert_eq!(row["versions"].as_array().unwrap().len(), 1);
    assert_eq!(events(&world, &ana).await, ["extension.added", "extension.enabled"]);
}

#[tokio::test]
async fn another_component_of_the_same_version_is_refused() {
    let (world, ana) = world().await;
    upload(&world, &ana, card("risk", "1.0.0", &["a"])).await.data(201);
    let answer = upload(&world, &ana, card("risk", "1.0.0", &["b"])).await;
    let message = answer.json["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("Version 1.0.0 of risk is there with other bytes"), "{message}");
    assert_eq!(answer.refused(409, "conflict"), json!({ "field": "version" }));
    let row = world.get(&ana, "/extensions/risk").await.data(200);
    assert_eq!(row["versions"].as_array().unwrap().len(), 1);
    // In another workspace it is nobody's business.
    upload(&world, &world.gil().await, card("risk", "1.0.0", &["b"])).await.data(201);
}

#[tokio::test]
async fn a_bad_component_is_told_what_is_wrong_and_nothing_is_kept() {
    let (world, ana) = world().await;
    let details = upload(&world, &ana, "no card").await.refused(400, "validation_failed");
    assert_eq!(details["field_errors"], json!({ "imports": ["wasi:sockets/tcp is not allowed"] }));
    assert_eq!(upload(&world, &ana, card("settings", "1.0.0", &[])).await.invalid_fields(), ["name"]);
    world.call(&ana, "POST", "/extensions", &json!({})).await.refused(415, "unsupported_media_type");
    let long = [("content-type", "application/wasm"), ("content-length", "67108865")];
    world.raw(&ana, "POST", "/extensions", &long, "x").await.refused(413, "payload_too_large");
    assert_eq!(world.get(&ana, "/extensions").await.data(200), json!([]));
    assert_eq!(events(&world, &ana).await, Vec::<String>::new());
}

#[tokio::test]
async fn without_an_inspector_it_is_said_that_there_are_no_extensions() {
    let world = World::new().await;
    let answer = upload(&world, &world.ana().await, card("risk", "1.0.0", &[])).await;
    assert!(answer.json["error"]["message"].as_str().unwrap().contains("extensions.enabled"), "{answer:?}");
    assert!(answer.headers.contains_key("retry-after"));
    answer.refused(503, "unavailable");
}

#[tokio::test]
async fn one_version_is_enabled_at_a_time_and_a_rollback_goes_back() {
    let (world, ana) = world().await;
    for version in ["1.0.0", "1.1.0", "2.0.0"] {
        upload(&world, &ana, card("risk", version, &["score"])).await.data(201);
    }
    let enable = async |version: &str| {
        let body = json!({ "version": version });
        world.call(&ana, "POST", "/extensions/risk/enable", &body).await.data(200)
    };
    let seen = async || enabled(&world, demo::workspaces::ACME).await;
    let row = enable("1.0.0").await;
    assert_eq!((&row["enabled_version"], &row["rollback_version"]), (&json!("1.0.0"), &Value::Null));
    let details = post(&world, &ana, "/extensions/risk/rollback").await.refused(409, "conflict");
    assert_eq!(details, json!({ "field": "rollback_version" }));
    // Without a version the last one that was added, whether by no body at all or by an empty one.
    let row = world.raw(&ana, "POST", "/extensions/risk/enable", &[], "").await.data(200);
    assert_eq!((&row["enabled_version"], &row["rollback_version"]), (&json!("2.0.0"), &json!("1.0.0")));
    assert_eq!(seen().await, ["risk 2.0.0"]);
    post(&world, &ana, "/extensions/risk/rollback").await.data(200);
    assert_eq!(seen().await, ["risk 1.0.0"]);
    post(&world, &ana, "/extensions/risk/rollback").await.data(200);
    assert_eq!(seen().await, ["risk 2.0.0"]);
    // What was switched off as bad does not come back by a rollback.
    let row = post(&world, &ana, "/extensions/risk/disable").await.data(200);
    assert_eq!((&row["enabled_version"], &row["rollback_version"]), (&Value::Null, &json!("1.0.0")));
    assert_eq!(seen().await, Vec::<String>::new());
    enable("1.1.0").await;
    assert_eq!(post(&world, &ana, "/extensions/risk/rollback").await.data(200)["enabled_version"], "2.0.0");

    let unknown = json!({ "version": "9.9.9" });
    assert_eq!(world.call(&ana, "POST", "/extensions/risk/enable", &unknown).await.invalid_fields(), ["version"]);
    for action in ["enable", "disable", "rollback"] {
        post(&world, &ana, &format!("/extensions/nope/{action}")).await.refused(404, "not_found");
    }
    assert_eq!(seen().await, ["risk 2.0.0"]);
}

#[tokio::test]
async fn the_same_again_changes_nothing_and_tells_nobody() {
    let (world, ana) = world().await;
    upload(&world, &ana, card("risk", "1.0.0", &[])).await.data(201);
    let row = post(&world, &ana, "/extensions/risk/enable").await.data(200);
    assert_eq!(post(&world, &ana, "/extensions/risk/enable").await.data(200), row);
    let row = post(&world, &ana, "/extensions/risk/disable").await.data(200);
    assert_eq!(post(&world, &ana, "/extensions/risk/disable").await.data(200), row);
    assert_eq!(events(&world, &ana).await, ["extension.added", "extension.enabled", "extension.disabled"]);
    let event = world.get(&ana, "/system-events?slug=extension.enabled").await.data(200)[0].clone();
    let payload = &event["payload"];
    assert_eq!((&payload["extension"]["name"], &payload["extension"]["version"]), (&json!("risk"), &json!("1.0.0")));
    assert_eq!((&payload["person_id"], &payload["previous_version"]), (&json!(demo::persons::ANA), &Value::Null));
}

#[tokio::test]
async fn what_is_enabled_is_not_removed() {
    let (world, ana) = world().await;
    for version in ["1.0.0", "2.0.0", "3.0.0"] {
        upload(&world, &ana, card("risk", version, &[])).await.data(201);
    }
    let digests: Vec<_> = column(&world.get(&ana, "/extensions/risk").await.data(200)["versions"], "digest");
    let kept = async |number: usize| stored::component(&world.store, &digests[number]).await.unwrap().is_some();
    post(&world, &ana, "/extensions/risk/enable").await.data(200);
    for path in ["/extensions/risk", "/extensions/risk?version=3.0.0"] {
        assert_eq!(world.delete(&ana, path).await.refused(409, "conflict"), json!({ "field": "enabled_version" }));
    }
    world.delete(&ana, "/extensions/risk?version=1.0.0").await.expect(204);
    world.delete(&ana, "/extensions/risk?version=1.0.0").await.refused(404, "not_found");
    assert_eq!((kept(0).await, kept(1).await, kept(2).await), (false, true, true));
    post(&world, &ana, "/extensions/risk/disable").await.data(200);
    world.delete(&ana, "/extensions/risk").await.expect(204);
    world.delete(&ana, "/extensions/risk").await.refused(404, "not_found");
    world.get(&ana, "/extensions/risk").await.refused(404, "not_found");
    assert_eq!((kept(1).await, kept(2).await), (false, false));
    // The name is free again, and so are its versions.
    let row = upload(&world, &ana, card("risk", "1.0.0", &["new"])).await.data(201);
    assert_eq!(row["enabled"], false);
    world.delete(&ana, "/extensions/risk?version=1.0.0").await.expect(204);
    world.get(&ana, "/extensions/risk").await.refused(404, "not_found");
}

#[tokio::test]
async fn a_deleted_workspace_takes_its_own_along_and_leaves_what_others_have() {
    let (world, ana) = world().await;
    let gil = world.caller(demo::persons::GIL).await;
    let digest = async |caller: &Caller, component: String| {
        upload(&world, caller, component).await.data(201)["digest"].as_str().unwrap().to_owned()
    };
    let alone = digest(&ana, card("alone", "1.0.0", &[])).await;
    let shared = digest(&ana, card("shared", "1.0.0", &[])).await;
    assert_eq!(digest(&gil, card("shared", "1.0.0", &[])).await, shared);
    post(&world, &ana, "/extensions/shared/enable").await.data(200);
    post(&world, &gil, "/extensions/shared/enable").await.data(200);

    world.delete(&ana, "/workspaces/acme").await.expect(204);
    assert_eq!(enabled(&world, demo::workspaces::ACME).await, Vec::<String>::new());
    let rows = InWorkspace(demo::workspaces::ACME);
    assert_eq!(rows.find::<Extensions>().count(world.store.reads()).await.unwrap(), 0);
    assert_eq!(rows.find::<ExtensionTexts>().count(world.store.reads()).await.unwrap(), 0);
    assert!(stored::component(&world.store, &alone).await.unwrap().is_none());
    assert!(stored::component(&world.store, &shared).await.unwrap().is_some());
    assert_eq!(world.get(&gil, "/extensions/shared").await.data(200)["enabled_version"], "1.0.0");
}

#[tokio::test]
async fn without_prefixes_no_name_passes_for_another() {
    let (world, ana) = world().await;
    for (name, tools) in [("copy", &["emails_list"][..]), ("one", &["score"]), ("two", &["score", "other"])] {
        upload(&world, &ana, card(name, "1.0.0", tools)).await.data(201);
    }
    let prefix = async |on: bool| world.call(&ana, "PATCH", "/extensions/settings", &json!({ "prefix": on })).await;
    let enable = async |name: &str| post(&world, &ana, &format!("/extensions/{name}/enable")).await;
    assert_eq!(world.get(&ana, "/extensions/settings").await.data(200), json!({ "prefix": true }));
    // With prefixes nothing is alike; whoever opts out then is told what would be.
    for name in ["copy", "one", "two"] {
        enable(name).await.data(200);
    }
    let answer = prefix(false).await;
    let message = answer.json["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("emails_list of copy") && message.contains("score of two"), "{message}");
    assert_eq!(answer.refused(409, "conflict"), json!({ "field": "tools" }));
    assert_eq!(world.get(&ana, "/extensions/settings").await.data(200), json!({ "prefix": true }));
    for name in ["copy", "two"] {
        post(&world, &ana, &format!("/extensions/{name}/disable")).await.data(200);
    }
    assert_eq!(prefix(false).await.data(200), json!({ "prefix": false }));
    // And whoever enables is told, too.
    for name in ["copy", "two"] {
        assert_eq!(enable(name).await.refused(409, "conflict"), json!({ "field": "tools" }), "{name}");
    }
    assert_eq!(enabled(&world, demo::workspaces::ACME).await, ["one 1.0.0"]);
    // A rollback is no way around it.
    assert_eq!(prefix(true).await.data(200), json!({ "prefix": true }));
    upload(&world, &ana, card("copy", "2.0.0", &["mine"])).await.data(201);
    enable("copy").await.data(200);
    prefix(false).await.data(200);
    assert_eq!(
        post(&world, &ana, "/extensions/copy/rollback").await.refused(409, "conflict"),
        json!({ "field": "tools" })
    );
    assert_eq!(world.get(&world.gil().await, "/extensions/settings").await.data(200), json!({ "prefix": true }));
    assert_eq!(world.call(&ana, "PATCH", "/extensions/settings", &json!({ "x": 1 })).await.invalid_fields(), ["x"]);
    assert_eq!(
        world.call(&ana, "PATCH", "/extensions/settings", &json!({})).await.data(200),
        json!({ "prefix": false })
    );
}

#[tokio::test]
async fn a_document_is_of_one_extension_whatever_the_prefix() {
    let (world, ana) = world().await;
    for name in ["one", "two"] {
        let card = json!({ "name": name, "version": "1.0.0", "uris": ["risk://policy"] });
        upload(&world, &ana, card.to_string()).await.data(201);
    }
    post(&world, &ana, "/extensions/one/enable").await.data(200);
    let answer = post(&world, &ana, "/extensions/two/enable").await;
    assert!(answer.json["error"]["message"].as_str().unwrap().contains("risk://policy of two"), "{answer:?}");
    assert_eq!(answer.refused(409, "conflict"), json!({ "field": "resources" }));
}

#[tokio::test]
async fn it_takes_scope_and_permission_and_other_workspaces_see_nothing() {
    let (world, ana) = world().await;
    upload(&world, &ana, card("risk", "1.0.0", &[])).await.data(201);
    let mut reads = ana.clone();
    reads.scopes = vec![Scope::Workspaces];
    world.get(&reads, "/extensions/risk").await.data(200);
    let details = post(&world, &reads, "/extensions/risk/enable").await.refused(403, "insufficient_scope");
    assert_eq!(details["required"], "inbox.workspaces.write");
    for role in Role::ALL {
        let mut caller = ana.clone();
        caller.memberships[0].role = *role;
        let answer = world.get(&caller, "/extensions").await;
        match role {
            Role::Owner | Role::Admin => drop(answer.data(200)),
            _ => assert_eq!(answer.refused(403, "permission_denied"), json!({ "required": "extensions.manage" })),
        }
    }
    let gil = world.gil().await;
    assert_eq!(world.get(&gil, "/extensions").await.data(200), json!([]));
    world.get(&gil, "/extensions/risk").await.refused(404, "not_found");
    post(&world, &gil, "/extensions/risk/enable").await.refused(404, "not_found");
    world.delete(&gil, "/extensions/risk").await.refused(404, "not_found");
}

#[tokio::test]
async fn the_list_has_pages() {
    let (world, ana) = world().await;
    for name in ["one", "two", "three"] {
        upload(&world, &ana, card(name, "1.0.0", &[])).await.data(201);
    }
    let first = world.get(&ana, "/extensions?limit=2").await.expect(200).json;
    assert_eq!(column(&first["data"], "name"), ["three", "two"]);
    let cursor = first["meta"]["next_cursor"].as_str().unwrap();
    let second = world.get(&ana, &format!("/extensions?limit=2&cursor={cursor}")).await.expect(200).json;
    assert_eq!(
        (column(&second["data"], "name"), &second["meta"]["next_cursor"]),
        (vec!["one".to_owned()], &Value::Null)
    );
}

#[tokio::test]
async fn of_two_uploads_at_once_one_adds_the_version() {
    let (world, ana) = world().await;
    let one = || upload(&world, &ana, card("risk", "1.0.0", &[]));
    let answers = tokio::join!(one(), one(), one(), one());
    let mut statuses = [answers.0, answers.1, answers.2, answers.3].map(|answer| answer.status.as_u16());
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 200, 200, 201]);
    assert_eq!(events(&world, &ana).await, ["extension.added"]);
}
