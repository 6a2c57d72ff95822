//! Pages: none lost, none twice, whatever happens meanwhile; and cursors that open for their own list only.

use kobana_contract::{Caller, Choice};
use kobana_store::demo;
use serde_json::{Value, json};

use crate::harness::{World, column, email_id};

/// All rows of a list, page by page, with something done after each page.
async fn walk(world: &World, caller: &Caller, path: &str, after_page: impl AsyncFn()) -> Vec<String> {
    let (mut ids, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let next = cursor.map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
        let page = world.get(caller, &format!("{path}{next}")).await.expect(200).json;
        ids.extend(column(&page["data"], "id"));
        after_page().await;
        match page["meta"]["next_cursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => return ids,
        }
    }
}

async fn cursor(world: &World, caller: &Caller, path: &str) -> String {
    let page = world.get(caller, path).await.expect(200).json;
    page["meta"]["next_cursor"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn sixty_emails_come_once_each_newest_first() {
    let world = World::new().await;
    let ana = world.ana().await;
    let expected: Vec<_> = (1..=60).rev().map(email_id).collect();
    for limit in [1, 7, 25, 59, 60, 61, 200] {
        let ids = walk(&world, &ana, &format!("/emails?limit={limit}"), async || ()).await;
        assert_eq!(ids, expected, "{limit}");
    }
    assert_eq!(world.get(&ana, "/emails").await.data(200).as_array().unwrap().len(), 50);
}

#[tokio::test]
async fn rows_that_are_added_move_none() {
    let world = World::new().await;
    let ana = world.ana().await;
    let create = async || {
        world.call(&ana, "POST", "/inboxes", &json!({ "label": "Nova" })).await.expect(201);
    };
    for _ in 0..5 {
        create().await;
    }
    let before = walk(&world, &ana, "/inboxes?limit=200", async || ()).await;
    let meanwhile = walk(&world, &ana, "/inboxes?limit=2", create).await;
    assert_eq!(meanwhile, before);
}

#[tokio::test]
async fn the_page_size_may_change_and_nothing_else() {
    let world = World::new().await;
    let ana = world.ana().await;
    let next = cursor(&world, &ana, "/emails?limit=5&status=processed").await;
    world.get(&ana, &format!("/emails?limit=9&cursor={next}&status=processed")).await.expect(200);
    for query in ["", "&status=failed", "&status=processed&q=a", "&status=processed&inbox_id=acme-invoices"] {
        let answer = world.get(&ana, &format!("/emails?limit=5&cursor={next}{query}")).await;
        assert_eq!(answer.invalid_fields(), ["cursor"], "{query}");
    }
    let inboxes = cursor(&world, &ana, "/inboxes?limit=1").await;
    assert_eq!(world.get(&ana, &format!("/emails?limit=1&cursor={inboxes}")).await.invalid_fields(), ["cursor"]);
}

#[tokio::test]
async fn a_cursor_stays_in_its_workspace() {
    let world = World::new().await;
    let next = cursor(&world, &world.ana().await, "/emails?limit=5").await;
    let mut labs = world.caller(demo::persons::MARCOS).await;
    labs.choice = Choice::Picked(1);
    for caller in [labs, world.gil().await] {
        let answer = world.get(&caller, &format!("/emails?limit=5&cursor={next}")).await;
        assert_eq!(answer.invalid_fields(), ["cursor"]);
    }
    let lia = world.caller(demo::persons::LIA).await;
    world.get(&lia, &format!("/emails?limit=5&cursor={next}")).await.expect(200);
}

#[tokio::test]
async fn a_changed_cursor_is_refused() {
    let world = World::new().await;
    let ana = world.ana().await;
    let next = cursor(&world, &ana, "/emails?limit=5").await;
    for place in (0..next.len()).step_by(5) {
        let mut changed = next.clone().into_bytes();
        changed[place] = if changed[place] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(changed).unwrap();
        let answer = world.get(&ana, &format!("/emails?limit=5&cursor={changed}")).await;
        assert_eq!(answer.invalid_fields(), ["cursor"], "{place}");
    }
}

#[tokio::test]
async fn cursors_survive_a_restart_with_the_same_data() {
    let world = World::new().await;
    let ana = world.ana().await;
    let next = cursor(&world, &ana, "/emails?limit=5").await;
    let settings = kobana_api::Settings { inbox_domain: "inbox.example".to_owned() };
    let again = kobana_api::Api::new(world.store.clone(), settings).await.unwrap().router();
    let request = crate::harness::request(&ana, "GET", &format!("/emails?limit=5&cursor={next}"));
    let response = tower::ServiceExt::oneshot(again, request.body(axum::body::Body::empty()).unwrap()).await.unwrap();
    assert_eq!(response.status(), 200);
}

#[tokio::test]
async fn the_last_page_says_so() {
    let world = World::new().await;
    let page = world.get(&world.ana().await, "/inboxes").await.expect(200).json;
    assert_eq!(page["meta"], json!({ "next_cursor": Value::Null }));
    assert_eq!(column(&page["data"], "external_id"), ["acme-invoices", "acme-support", "acme-old"]);
}
