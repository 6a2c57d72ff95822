//! The store on real SQLite, in memory and in a file.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::io::Read as _;
use std::path::Path;

use kobana_contract::Role;
use kobana_store::jobs::{self, Ending, NewJob};
use kobana_store::rows::{Emails, Inboxes, WorkspaceChanges, WorkspaceColumn, Workspaces};
use kobana_store::sea_orm::{ColumnTrait, ConnectionTrait, PaginatorTrait, QueryFilter, Set, Statement};
use kobana_store::{
    InOrganization, InWorkspace, Location, Scope, Store, demo, directory, fault, organizations, people, settings,
};
use uuid::Uuid;

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
async fn a_person_reaches_live_workspaces_of_their_organization_in_order() {
    let store = demo_store().await;
    let reach = async |person| {
        let standing = people::standing(&store, person).await.unwrap().unwrap();
        standing.memberships.into_iter().map(|member| (member.external_id, member.role)).collect::<Vec<_>>()
    };
    let (acme, labs) = (("acme".to_owned(), Role::Owner), ("acme-labs".to_owned(), Role::Owner));
    assert_eq!(reach(demo::persons::MARCOS).await, [acme.clone(), labs.clone()]);
    assert_eq!(reach(demo::persons::VERA).await, [("acme".to_owned(), Role::Viewer)]);
    // A membership in a workspace of another organization gives nothing.
    let tx = store.begin().await.unwrap();
    people::join(&tx, demo::persons::VERA, demo::workspaces::GLOBEX, Role::Owner).await.unwrap();
    directory::set_workspace_active(&tx, demo::workspaces::ACME, false).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(reach(demo::persons::VERA).await, []);
    assert_eq!(reach(demo::persons::MARCOS).await, [labs]);
    let tx = store.begin().await.unwrap();
    let scope = InOrganization(demo::organizations::ACME);
    directory::set_workspace_active(&tx, demo::workspaces::ACME, true).await.unwrap();
    assert!(scope.delete::<Workspaces>(&tx, demo::workspaces::ACME_LABS, 1).await.unwrap());
    tx.commit().await.unwrap();
    assert_eq!(reach(demo::persons::MARCOS).await, [acme]);
    assert!(organizations::find(&store, demo::organizations::GLOBEX).await.unwrap().is_some());
}

#[tokio::test]
async fn an_account_counts_while_neither_it_nor_its_organization_is_switched_off() {
    let store = demo_store().await;
    let active = async |person| people::standing(&store, person).await.unwrap().unwrap().person.active;
    assert!(active(demo::persons::ANA).await && !active(demo::persons::DISABLED).await);
    assert!(people::standing(&store, uuid::Uuid::now_v7()).await.unwrap().is_none());
    let tx = store.begin().await.unwrap();
    directory::set_organization_active(&tx, demo::organizations::ACME, false).await.unwrap();
    directory::set_person_active(&tx, demo::persons::DISABLED, true).await.unwrap();
    tx.commit().await.unwrap();
    for person in [demo::persons::ANA, demo::persons::DISABLED] {
        assert!(!active(person).await);
        assert!(!people::find(&store, person).await.unwrap().unwrap().active);
    }
    assert!(active(demo::persons::GIL).await);
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

fn job(kind: &'static str, subject: u128, run_at: i64) -> NewJob {
    NewJob { kind, subject: Some(Uuid::from_u128(subject)), payload: serde_json::Map::new(), run_at }
}

async fn create(store: &Store, job: NewJob) -> Uuid {
    let tx = store.begin().await.unwrap();
    let id = jobs::create(&tx, job, 0).await.unwrap();
    tx.commit().await.unwrap();
    id
}

async fn end(store: &Store, id: Uuid, owner: Uuid) -> bool {
    let tx = store.begin().await.unwrap();
    let ended = jobs::end(&tx, id, owner, Ending::Done, None, 50).await.unwrap();
    if ended {
        tx.commit().await.unwrap();
    }
    ended
}

#[tokio::test]
async fn a_job_is_there_with_its_transaction_and_gone_without() {
    let store = Store::open(Location::Memory).await.unwrap();
    let tx = store.begin().await.unwrap();
    jobs::create(&tx, job("a", 1, 10), 0).await.unwrap();
    drop(tx);
    assert!(jobs::claim(&store, &["a"], Uuid::now_v7(), 100, 200, 9).await.unwrap().is_empty());
}

#[tokio::test]
async fn jobs_are_taken_when_due_in_order_and_by_one_worker() {
    let store = Store::open(Location::Memory).await.unwrap();
    let (later, first, other) = (
        create(&store, job("a", 1, 20)).await,
        create(&store, job("a", 2, 10)).await,
        create(&store, job("b", 3, 5)).await,
    );
    create(&store, job("a", 4, 1_000)).await;
    let (one, two) = (Uuid::now_v7(), Uuid::now_v7());
    let claim = async |kinds: &[&str], owner, now, limit| {
        let rows = jobs::claim(&store, kinds, owner, now, now + 100, limit).await.unwrap();
        rows.iter().map(|row| (row.id, row.attempts)).collect::<Vec<_>>()
    };
    assert_eq!(claim(&["a"], one, 100, 1).await, [(first, 1)]);
    assert_eq!(claim(&["a"], two, 100, 9).await, [(later, 1)]);
    assert_eq!(claim(&["a", "b"], two, 100, 9).await, [(other, 1)]);
    assert_eq!(claim(&["a", "b"], one, 200, 9).await, []);
    // The lease ran out: somebody else takes over, and the first can end nothing any more.
    assert_eq!(claim(&["a"], two, 201, 1).await, [(first, 2)]);
    assert!(!end(&store, first, one).await);
    assert!(end(&store, first, two).await);
    assert!(!end(&store, first, two).await);
    assert_eq!(jobs::renew(&store, two, &[first, later], 500).await.unwrap(), [later]);
}

#[tokio::test]
async fn jobs_go_back_with_a_delay_or_as_if_never_begun() {
    let store = Store::open(Location::Memory).await.unwrap();
    let (id, owner) = (create(&store, job("a", 1, 10)).await, Uuid::now_v7());
    let claim = async |now| jobs::claim(&store, &["a"], owner, now, now + 100, 9).await.unwrap();
    assert_eq!(claim(10).await.len(), 1);
    assert!(jobs::retry(&store, id, owner, 50, "no luck".to_owned()).await.unwrap());
    assert!(!jobs::retry(&store, id, owner, 50, "again".to_owned()).await.unwrap());
    assert!(claim(49).await.is_empty());
    let again = claim(50).await;
    assert_eq!((again[0].attempts, again[0].last_error.as_deref()), (2, Some("no luck")));
    assert_eq!(jobs::release(&store, owner).await.unwrap(), 1);
    assert_eq!(claim(50).await[0].attempts, 2);
}

#[tokio::test]
async fn cancelled_jobs_are_nobodys() {
    let store = Store::open(Location::Memory).await.unwrap();
    let (id, owner) = (create(&store, job("a", 1, 10)).await, Uuid::now_v7());
    create(&store, job("b", 1, 10)).await;
    jobs::claim(&store, &["a"], owner, 10, 100, 9).await.unwrap();
    let tx = store.begin().await.unwrap();
    let cancelled = jobs::cancel(&tx, "a", Uuid::from_u128(1), 20).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(cancelled.iter().map(|row| row.id).collect::<Vec<_>>(), [id]);
    assert!(!end(&store, id, owner).await);
    assert_eq!(jobs::forget(&store, 20).await.unwrap(), 0);
    assert_eq!(jobs::forget(&store, 21).await.unwrap(), 1);
    assert_eq!(jobs::about(store.reads(), Uuid::from_u128(1)).await.unwrap().len(), 1);
}

fn files(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { files(&path) } else { 1 }).sum()
}

#[tokio::test]
async fn a_file_is_kept_whole_or_not_at_all() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(Location::Directory(directory.path().to_owned())).await.unwrap();
    let (blobs, folder) = (store.blobs(), directory.path().join("blobs"));
    let long = vec![7; 700_000];
    let mut staging = blobs.stage().await.unwrap();
    for piece in long.chunks(100_001) {
        staging.write(piece).await.unwrap();
    }
    let staged = staging.end().await.unwrap();
    assert_eq!((staged.length(), files(&folder)), (700_000, 1));
    blobs.keep(staged, "raw/a/b.eml").await.unwrap();
    let (mut file, length) = blobs.open_file("raw/a/b.eml").await.unwrap().unwrap();
    let mut read = Vec::new();
    file.read_to_end(&mut read).unwrap();
    assert!(read == long && length == 700_000);
    let mut forgotten = blobs.stage().await.unwrap();
    forgotten.write(b"half").await.unwrap();
    drop(forgotten);
    drop(blobs.stage().await.unwrap().end().await.unwrap());
    assert_eq!(files(&folder), 1);
    blobs.remove("raw/a/b.eml").await.unwrap();
    blobs.remove("raw/a/b.eml").await.unwrap();
    assert_eq!((blobs.open_file("raw/a/b.eml").await.unwrap().is_none(), files(&folder)), (true, 0));
}

#[tokio::test]
async fn what_a_dead_process_staged_is_cleared_away_and_what_is_being_staged_is_not() {
    let directory = tempfile::tempdir().unwrap();
    let location = Location::Directory(directory.path().to_owned());
    let store = Store::open(location.clone()).await.unwrap();
    let folder = directory.path().join("blobs/staging");
    let old = std::fs::File::create(folder.join("old")).unwrap();
    old.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(90_000)).unwrap();
    let staging = store.blobs().stage().await.unwrap();
    drop(Store::open(location).await.unwrap());
    assert_eq!(files(&folder), 1);
    staging.end().await.unwrap();
}

#[tokio::test]
async fn no_name_leads_out_of_the_directory() {
    let store = Store::open(Location::Memory).await.unwrap();
    for key in ["", "/", "..", "../x", "raw/../../x", "raw//x", "/etc/passwd", "raw/.x", "staging/x", "a b", "ä", "a\0"]
    {
        assert!(store.blobs().open_file(key).await.is_err(), "{key}");
    }
    assert!(store.blobs().open_file(&"x".repeat(256)).await.is_err());
}
