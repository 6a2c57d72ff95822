//! Who sees whose rows.

use serde_json::{Value, json};

use crate::harness::{Call, Server, shared};

const ACME_EMAIL: &str = "00000000-0000-7000-8000-000000000001";
const GLOBEX_EMAIL: &str = "00000000-0000-7000-8000-000000000101";

fn call(server: &Server, token: &str, tool: &str, arguments: Value) -> Call {
    server.modern("tools/call").name(tool).arguments(arguments).token(token)
}

fn external_ids(server: &Server, token: &str, workspace: Option<&str>) -> Vec<String> {
    let call = call(server, token, "inboxes_list", json!({ "limit": 200 }));
    let call = workspace.into_iter().fold(call, |call, name| call.set("X-Workspace-Id", name));
    let rows = call.send().document()["data"].as_array().expect("a page").clone();
    rows.iter().filter_map(|row| row["external_id"].as_str()).map(str::to_owned).collect()
}

#[test]
fn each_organization_has_its_own_rows() {
    let server = shared();
    let (acme, globex) = (external_ids(&server, "demo-owner", None), external_ids(&server, "demo-globex", None));
    assert!(acme.contains(&"acme-invoices".to_owned()) && !acme.iter().any(|id| id.starts_with("globex")));
    assert_eq!(globex, ["globex-main"]);
    let rows =
        call(&server, "demo-globex", "emails_list", json!({})).send().document()["data"].as_array().unwrap().len();
    assert_eq!(rows, 3);
}

#[test]
fn rows_of_others_are_not_there_in_every_way() {
    let server = shared();
    for (token, tool, id) in [
        ("demo-globex", "emails_get", ACME_EMAIL),
        ("demo-owner", "emails_get", GLOBEX_EMAIL),
        ("demo-globex", "inboxes_get", "acme-invoices"),
        ("demo-owner", "inboxes_get", "globex-main"),
        ("demo-owner", "workspaces_get", "globex"),
        ("demo-owner", "workspaces_get", "acme-labs"),
    ] {
        let foreign = call(&server, token, tool, json!({ "id": id })).send();
        foreign.tool_error("not_found");
        let missing = if tool == "emails_get" { "00000000-0000-7000-8000-00000000dead" } else { "no-such-row" };
        let absent = call(&server, token, tool, json!({ "id": missing })).send();
        assert_eq!(foreign.text(), absent.text(), "a foreign row and none look alike");
    }
    call(&server, "demo-globex", "inboxes_update", json!({ "id": "acme-old", "label": "Taken" }))
        .send()
        .tool_error("not_found");
    let untouched = call(&server, "demo-owner", "inboxes_get", json!({ "id": "acme-old" })).send().document();
    assert_ne!(untouched["data"]["label"], "Taken");
}

#[test]
fn who_reaches_several_workspaces_has_to_choose() {
    let server = shared();
    call(&server, "demo-multi", "inboxes_list", json!({})).send().tool_error("workspace_required");
    assert!(external_ids(&server, "demo-multi", Some("acme")).contains(&"acme-invoices".to_owned()));
    assert_eq!(external_ids(&server, "demo-multi", Some("acme-labs")), ["labs-main"]);
    let listed = call(&server, "demo-multi", "workspaces_list", json!({})).send().document();
    for row in listed["data"].as_array().unwrap() {
        let id = row["id"].as_str().unwrap();
        assert!(!external_ids(&server, "demo-multi", Some(id)).is_empty());
    }
    assert_eq!(listed["data"].as_array().unwrap().len(), 2);
    for method in ["tools/list", "resources/list", "prompts/list", "server/discover"] {
        server.modern(method).token("demo-multi").send().result();
    }
    call(&server, "demo-multi", "me_get", json!({})).send().document();
}

#[test]
fn a_workspace_out_of_reach_is_not_there() {
    let server = shared();
    for (token, workspace) in
        [("demo-multi", "globex"), ("demo-owner", "acme-labs"), ("demo-owner", "nowhere"), ("demo-owner", "")]
    {
        let answer = call(&server, token, "inboxes_list", json!({})).set("X-Workspace-Id", workspace).send();
        answer.tool_error("not_found");
    }
    let twice = call(&server, "demo-multi", "inboxes_list", json!({}))
        .header("X-Workspace-Id", "acme")
        .header("X-Workspace-Id", "acme");
    twice.send().is(400);
}

#[test]
fn a_connection_does_not_remember_the_workspace() {
    let server = shared();
    let mut connection = server.connect();
    for workspace in ["acme", "acme-labs", "acme"] {
        let first = call(&server, "demo-multi", "inboxes_list", json!({})).set("X-Workspace-Id", workspace);
        let rows = first.send_on(&mut connection).document()["data"].to_string();
        assert_eq!(rows.contains("labs-main"), workspace == "acme-labs");
        call(&server, "demo-multi", "inboxes_list", json!({}))
            .send_on(&mut connection)
            .tool_error("workspace_required");
    }
}

#[test]
fn rest_keeps_the_same_walls() {
    let server = shared();
    let get = |token: &str, path: &str| server.http("GET", path).token(token).send();
    get("rest-globex", &format!("/api/v1/emails/{ACME_EMAIL}")).is(404);
    get("rest-globex", &format!("/api/v1/emails/{GLOBEX_EMAIL}")).is(200);
    get("rest-owner", "/api/v1/inboxes/globex-main").is(404);
    let unchosen = get("rest-multi", "/api/v1/inboxes");
    assert_eq!(unchosen.is(400).json()["error"]["code"], "workspace_required");
    server.http("GET", "/api/v1/inboxes").token("rest-multi").set("X-Workspace-Id", "acme-labs").send().is(200);
    server.http("GET", "/api/v1/inboxes").token("rest-owner").set("X-Workspace-Id", "globex").send().is(404);
}
