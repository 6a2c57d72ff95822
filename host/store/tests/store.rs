//! The store on real SQLite, in memory and in a file.

#![allow(clippy::unwrap_used)]

use kobana_contract::Role;
use kobana_store::rows::{Emails, Inboxes, WorkspaceChanges, WorkspaceColumn, Workspaces};
use kobana_store::sea_orm::{ColumnTrait, ConnectionTrait, PaginatorTrait, QueryFilter, Set, Statement};
use kobana_store::{InOrganization, InWorkspace, Location, Scope, Store, demo, fault, organizations, people, settings};

async fn demo_store() -> Store {
    let store = Store::open(Location::Memory).await.unwrap();
    demo::seed(&store).await.unwrap();
    store
}

#[tokio::test]
async fn the_demo_is_seeded_once() {
    let store = demo_store().await;
    demo::seed(&store).await.unwrap();
    let count = async |scope: InWorkspace| scope.find::<Emails>().count(store.reads()).await.unwrap();
    assert_eq!(count(InWorkspace(demo::workspaces::ACME)).await, 60);
    assert_eq!(count(InWorkspace(demo::workspaces::GLOBEX)).await, 3);
    assert_eq!(count(InWorkspace(demo::workspaces::ACME_LABS)).await, 2);
}

#[tokio::test]
async fn deleted_rows_are_not_there() {
    let store = demo_store().await;
    let scope = InWorkspace(demo::workspaces::ACME);
    assert!(scope.find_by_name::<Inboxes>("acme-gone").one(store.reads()).await.unwrap().is_none());
    assert!(scope.find_by_name::<Inboxes>("acme-old").one(store.reads()).await.unwrap().is_some());
}

#[tokio::test]
async fn databases_in_memory_are_separate_and_survive_as_long_as_the_store() {
    let (one, two) = (demo_store().await, Store::open(Location::Memory).await.unwrap());
    let scope = InWorkspace(demo::workspaces::ACME);
    assert_eq!(scope.find::<Emails>().count(one.clone().reads()).await.unwrap(), 60);
    assert_eq!(scope.find::<Emails>().count(two.reads()).await.unwrap(), 0);
}

#[tokio::test]
async fn a_file_keeps_rows_and_secrets() {
    let directory = tempfile::tempdir().unwrap();
    let location = Location::Directory(directory.path().join("a?b#c%20"));
    let store = Store::open(location.clone()).await.unwrap();
    demo::seed(&store).await.unwrap();
    let key = settings::key(&store, "cursor").await.unwrap();
    assert_ne!(key, settings::key(&store, "other").await.unwrap());
    drop(store);
    let store = Store::open(location).await.unwrap();
    assert_eq!(settings::key(&store, "cursor").await.unwrap(), key);
    let person = people::find(&store, demo::persons::ANA).await.unwrap().unwrap();
    assert_eq!((person.name.as_str(), person.active), ("Ana Souza", true));
    let mode = Statement::from_string(store.reads().get_database_backend(), "PRAGMA journal_mode");
    let mode = store.reads().query_one_raw(mode).await.unwrap().unwrap();
    assert_eq!(mode.try_get_by_index::<String>(0).unwrap(), "wal");
}

#[tokio::test]
async fn an_unusable_place_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, "x").unwrap();
    let error = Store::open(Location::Directory(file.clone())).await.unwrap_err().to_string();
    assert!(error.contains(&file.display().to_string()), "{error}");
    std::fs::write(directory.path().join("kobana.sqlite"), "this is no database, however long it may be").unwrap();
    let error = Store::open(Location::Directory(directory.path().to_owned())).await.unwrap_err().to_string();
    assert!(error.contains("kobana.sqlite"), "{error}");
}

#[tokio::test]
async fn reach_holds_live_workspaces_of_the_organization_in_order() {
    let store = demo_store().await;
    let reach = async |person, organization| {
        let reach = people::reach(&store, person, organization).await.unwrap();
        reach.into_iter().map(|membership| (membership.external_id, membership.role)).collect::<Vec<_>>()
    };
    let (acme, labs) = (("acme".to_owned(), Role::Owner), ("acme-labs".to_owned(), Role::Owner));
    assert_eq!(reach(demo::persons::MARCOS, demo::organizations::ACME).await, [acme.clone(), labs]);
    assert_eq!(reach(demo::persons::VERA, demo::organizations::ACME).await, [("acme".to_owned(), Role::Viewer)]);
    assert_eq!(reach(demo::persons::MARCOS, demo::organizations::GLOBEX).await, []);
    let tx = store.begin().await.unwrap();
    let scope = InOrganization(demo::organizations::ACME);
    assert!(scope.delete::<Workspaces>(&tx, demo::workspaces::ACME_LABS, 1).await.unwrap());
    tx.commit().await.unwrap();
    assert_eq!(reach(demo::persons::MARCOS, demo::organizations::ACME).await, [acme]);
    assert!(organizations::find(&store, demo::organizations::GLOBEX).await.unwrap().is_some());
}

#[tokio::test]
async fn a_change_stays_inside_its_tenant() {
    let store = demo_store().await;
    let tx = store.begin().await.unwrap();
    let changes = || WorkspaceChanges { label: Set("Outra".to_owned()), ..Default::default() };
    let foreign = InOrganization(demo::organizations::GLOBEX);
    assert!(!foreign.change::<Workspaces>(&tx, demo::workspaces::ACME, changes()).await.unwrap());
    let own = InOrganization(demo::organizations::ACME);
    assert!(own.change::<Workspaces>(&tx, demo::workspaces::ACME, changes()).await.unwrap());
    let stolen = WorkspaceChanges { organization_id: Set(demo::organizations::GLOBEX), ..changes() };
    assert!(own.change::<Workspaces>(&tx, demo::workspaces::ACME, stolen).await.unwrap());
    let still_there = own.find_by_id::<Workspaces>(demo::workspaces::ACME).one(&tx).await.unwrap().unwrap();
    assert_eq!((still_there.label.as_str(), still_there.organization_id), ("Outra", demo::organizations::ACME));
}

#[tokio::test]
async fn a_taken_name_is_told_by_its_column() {
    let store = demo_store().await;
    let scope = InWorkspace(demo::workspaces::ACME);
    let row = scope.find_by_name::<Inboxes>("acme-old").one(store.reads()).await.unwrap().unwrap();
    let copy =
        |row: &kobana_store::rows::InboxRow| kobana_store::rows::InboxRow { id: uuid::Uuid::now_v7(), ..row.clone() };
    for (column, row) in [
        ("external_id", kobana_store::rows::InboxRow { email: "free@inbox.example".to_owned(), ..copy(&row) }),
        ("email", kobana_store::rows::InboxRow { external_id: "free".to_owned(), ..copy(&row) }),
    ] {
        let tx = store.begin().await.unwrap();
        let error = scope.insert::<Inboxes>(&tx, row).await.unwrap_err();
        assert_eq!(fault::taken(&error), Some(column), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_and_readers_wait_for_each_other() {
    let store = demo_store().await;
    let scope = InOrganization(demo::organizations::ACME);
    let work = (0..40).map(|number| {
        let store = store.clone();
        tokio::spawn(async move {
            let tx = store.begin().await.unwrap();
            let changes = WorkspaceChanges { label: Set(format!("{number}")), ..Default::default() };
            assert!(scope.change::<Workspaces>(&tx, demo::workspaces::ACME, changes).await.unwrap());
            tx.commit().await.unwrap();
            let found = scope.find::<Workspaces>().filter(WorkspaceColumn::ExternalId.eq("acme"));
            assert!(found.one(store.reads()).await.unwrap().is_some());
        })
    });
    for task in work.collect::<Vec<_>>() {
        task.await.unwrap();
    }
}

#[tokio::test]
async fn foreign_keys_hold() {
    let store = demo_store().await;
    let tx = store.begin().await.unwrap();
    let mut row =
        InWorkspace(demo::workspaces::ACME).find_by_name::<Inboxes>("acme-old").one(&tx).await.unwrap().unwrap();
    row.id = uuid::Uuid::now_v7();
    row.external_id = "free".to_owned();
    row.email = "free@inbox.example".to_owned();
    row.agent_id = Some(uuid::Uuid::now_v7());
    assert!(InWorkspace(demo::workspaces::ACME).insert::<Inboxes>(&tx, row).await.is_err());
}

#[tokio::test]
async fn runs_events_and_deliveries_are_seeded() {
    use kobana_store::rows::{AgentRuns, Deliveries, SystemEvents, Webhooks};
    let store = demo_store().await;
    let scope = InWorkspace(demo::workspaces::ACME);
    assert_eq!(scope.find::<AgentRuns>().count(store.reads()).await.unwrap(), 24);
    assert_eq!(scope.find::<SystemEvents>().count(store.reads()).await.unwrap(), 24);
    assert_eq!(scope.find::<Deliveries>().count(store.reads()).await.unwrap(), 5);
    assert_eq!(scope.find::<Webhooks>().count(store.reads()).await.unwrap(), 2);
}

#[tokio::test]
async fn a_slot_is_taken_once_and_keeps_the_answer() {
    use kobana_store::idempotency::{Slot, fill, free, take};
    let store = Store::open(Location::Memory).await.unwrap();
    let take = async |request: &[u8], now| take(&store, "slot", request, now).await.unwrap();
    assert_eq!(take(b"one", 0).await, Slot::Ours);
    assert_eq!((take(b"one", 1).await, take(b"two", 1).await), (Slot::Running, Slot::Other));
    // Work that never ended does not hold the slot for ever.
    assert_eq!(take(b"two", 61_000_000).await, Slot::Ours);
    fill(&store, "slot", 201, b"answer".to_vec()).await.unwrap();
    assert_eq!(take(b"two", 3_600_000_000).await, Slot::Answered(201, b"answer".to_vec()));
    assert_eq!(take(b"one", 3_600_000_000).await, Slot::Other);
    assert_eq!(take(b"one", 90_000_000_000).await, Slot::Ours);
    free(&store, "slot").await.unwrap();
    assert_eq!(take(b"two", 90_000_000_000).await, Slot::Ours);
}

#[tokio::test]
async fn of_two_filters_the_narrower_one_is_looked_up_once_rows_were_counted() {
    use kobana_store::rows::{EmailColumn, Emails};
    use kobana_store::sea_orm::QueryTrait as _;
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(Location::Directory(directory.path().to_owned())).await.unwrap();
    demo::seed(&store).await.unwrap();
    let tx = store.begin().await.unwrap();
    let spread =
        "CREATE TEMP TABLE many AS WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers \
        WHERE n < 5000) SELECT emails.*, n FROM emails, numbers WHERE message_id = (SELECT max(message_id) FROM emails);
        UPDATE many SET id = randomblob(16), message_id = n, sender_folded = n % 500 || '@b.example';
        ALTER TABLE many DROP COLUMN n; INSERT INTO emails SELECT * FROM many;";
    tx.execute_unprepared(spread).await.unwrap();
    tx.commit().await.unwrap();
    drop(store);
    let store = Store::open(Location::Directory(directory.path().to_owned())).await.unwrap();
    let rows = InWorkspace(demo::workspaces::ACME)
        .find::<Emails>()
        .filter(EmailColumn::Status.eq("processed"))
        .filter(EmailColumn::SenderFolded.eq("7@b.example"));
    let query = kobana_store::page::query::<Emails>(rows, None, 50).build(store.reads().get_database_backend());
    let explain = Statement { sql: format!("EXPLAIN QUERY PLAN {}", query.sql), ..query };
    let step = store.reads().query_one_raw(explain).await.unwrap().unwrap();
    let step: String = step.try_get("", "detail").unwrap();
    assert!(step.contains("emails_by_sender"), "{step}");
}
