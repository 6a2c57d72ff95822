//! Scope, workspace, permission, routes: what comes before an operation looks at anything.

use axum::body::Body;
use http::{Request, header};
use kobana_contract::{Choice, Method, Operation, Role, Scope, operations};
use kobana_store::demo;
use serde_json::json;

use crate::harness::{World, request};

/// The path with a value for each variable.
fn concrete(path: &str) -> String {
    path.split('/').map(|part| if part.starts_with('{') { "acme" } else { part }).collect::<Vec<_>>().join("/")
}

#[tokio::test]
async fn every_operation_of_the_contract_is_mounted_and_nothing_else() {
    let world = World::new().await;
    let specs: Vec<_> = operations::all().into_iter().map(|operation| operation.spec).collect();
    for spec in &specs {
        for method in Method::ALL {
            let known = specs.iter().any(|other| other.path == spec.path && other.method == *method);
            // Without a caller a mounted operation answers 500: the layer that knows tokens is missing.
            let request = Request::builder().method(method.as_str()).uri(concrete(spec.path)).body(Body::empty());
            let answer = world.send(request.unwrap()).await;
            let expected = if known { 500 } else { 405 };
            assert_eq!(answer.status, expected, "{method} {}", spec.path);
            assert_eq!(answer.headers.contains_key(header::ALLOW), !known, "{method} {}", spec.path);
        }
    }
}

#[tokio::test]
async fn a_missing_layer_tells_the_caller_nothing() {
    let world = World::new().await;
    let answer = world.send(Request::get("/me").body(Body::empty()).unwrap()).await;
    assert!(!answer.json.to_string().contains("layer"));
    answer.refused(500, "internal_error");
}

#[tokio::test]
async fn unknown_routes_and_methods_are_refused_in_json() {
    let world = World::new().await;
    let ana = world.ana().await;
    for path in ["/", "/nope", "/me/", "/inboxes/", "/inboxes/acme-old/", "/inboxes//acme-old", "/ME"] {
        world.get(&ana, path).await.refused(404, "not_found");
    }
    let answer = world.call(&ana, "PATCH", "/inboxes", &json!({})).await.expect(405);
    let allow = answer.headers[header::ALLOW].to_str().unwrap();
    assert!(["GET", "POST", "PUT"].iter().all(|method| allow.contains(method)), "{allow}");
    assert_eq!(answer.json["error"]["code"], "not_found");
}

#[tokio::test]
async fn scope_comes_before_workspace_and_permission() {
    let world = World::new().await;
    let mut marcos = world.caller(demo::persons::MARCOS).await;
    marcos.scopes = vec![Scope::Emails];
    let details = world.get(&marcos, "/inboxes").await.refused(403, "insufficient_scope");
    assert_eq!(details, json!({ "required": "inbox.inboxes", "granted": ["inbox.emails"] }));
    marcos.scopes = vec![Scope::InboxesWrite];
    world.get(&marcos, "/inboxes").await.refused(400, "workspace_required");
    world.get(&marcos, "/me").await.expect(200);
}

#[tokio::test]
async fn an_open_choice_names_the_workspaces() {
    let world = World::new().await;
    let marcos = world.caller(demo::persons::MARCOS).await;
    let details = world.call(&marcos, "POST", "/inboxes", &json!("nonsense")).await.refused(400, "workspace_required");
    assert!(details["field_errors"]["X-Workspace-Id"][0].is_string());
    let choices = details["workspaces"].as_array().unwrap();
    assert_eq!(choices[0], json!({ "id": demo::workspaces::ACME, "label": "Acme Financeiro" }));
    assert_eq!(choices.len(), 2);
}

#[tokio::test]
async fn a_workspace_out_of_reach_does_not_exist_and_none_is_no_permission() {
    let world = World::new().await;
    let mut ana = world.ana().await;
    ana.choice = Choice::OutOfReach;
    world.get(&ana, "/inboxes").await.refused(404, "not_found");
    world.get(&ana, "/workspaces").await.expect(200);
    ana.choice = Choice::Nothing;
    ana.memberships.clear();
    let details = world.get(&ana, "/inboxes").await.refused(403, "permission_denied");
    assert_eq!(details, json!({ "required": "inboxes.view" }));
}

#[tokio::test]
async fn permission_comes_before_the_body() {
    let world = World::new().await;
    let vera = world.caller(demo::persons::VERA).await;
    let answer = world.raw(&vera, "POST", "/inboxes", &[("content-type", "text/plain")], "x").await;
    assert_eq!(answer.refused(403, "permission_denied"), json!({ "required": "inboxes.manage" }));
    world.get(&vera, "/inboxes").await.expect(200);
}

#[tokio::test]
async fn roles_reach_what_the_contract_gives_them() {
    let world = World::new().await;
    for role in Role::ALL {
        let mut ana = world.ana().await;
        ana.memberships[0].role = *role;
        for operation in operations::all().iter().filter(|operation| operation.spec.method == Method::Get) {
            let Some(permission) = operation.spec.permission else { continue };
            let answer = world.get(&ana, &concrete(operation.spec.path)).await;
            let lists_what_it_may = operation.spec.path == "/workspaces";
            let refused = !role.holds(permission) && !lists_what_it_may;
            assert_eq!(answer.status == 403, refused, "{role} {}", operation.spec.path);
        }
    }
}

#[tokio::test]
async fn me_is_the_caller() {
    let world = World::new().await;
    let me = world.get(&world.caller(demo::persons::VERA).await, "/me").await.data(200);
    assert_eq!(
        me["person"],
        json!({ "id": demo::persons::VERA, "name": "Vera Lima", "email": "vera.lima@acme.example" })
    );
    assert_eq!(me["organization"]["id"], json!(demo::organizations::ACME));
    assert_eq!(me["credential"]["scopes"].as_array().unwrap().len(), Scope::ALL.len());
    assert_eq!(me["workspaces"][0]["role"], "viewer");
    assert_eq!(me["workspaces"][0]["permissions"].as_array().unwrap().len(), Role::Viewer.permissions().len());
    let details = world.get(&world.ana().await, "/me?x=1").await.refused(400, "validation_failed");
    assert!(details["field_errors"]["x"].is_array());
}

#[tokio::test]
async fn a_head_request_is_a_get_without_body() {
    let world = World::new().await;
    let ana = world.ana().await;
    let answer = world.send(request(&ana, "HEAD", operations::me::GetMe::SPEC.path).body(Body::empty()).unwrap()).await;
    assert!(answer.expect(200).json.is_null());
}

#[tokio::test]
async fn a_broken_database_is_a_500_that_tells_nothing() {
    use kobana_store::sea_orm::ConnectionTrait as _;
    let world = World::new().await;
    let ana = world.ana().await;
    let tx = world.store.begin().await.unwrap();
    tx.execute_unprepared("ALTER TABLE email_bodies RENAME TO gone").await.unwrap();
    tx.commit().await.unwrap();
    let answer = world.get(&ana, "/emails/00000000-0000-7000-8000-000000000001").await;
    assert!(!answer.json.to_string().contains("email_bodies"));
    answer.refused(500, "internal_error");
}
