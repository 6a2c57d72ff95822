//! Rows offered by the beginning of a text, held against going through all rows one by one.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use kobana_contract::fields::ActiveStatus;
use kobana_store::rows::{Emails, InboxChanges, InboxRow, Inboxes, SystemEventColumn, SystemEvents};
use kobana_store::sea_orm::{ConnectionTrait as _, QueryOrder as _, Set};
use kobana_store::suggest::{Suggestions, suggest};
use kobana_store::text::fold;
use kobana_store::values::{Folded, Object, Objects, Texts, Word};
use kobana_store::{InWorkspace, Location, Scope as _, Store, demo};
use proptest::prelude::*;
use uuid::Uuid;

const ACME: InWorkspace = InWorkspace(demo::workspaces::ACME);
const GLOBEX: InWorkspace = InWorkspace(demo::workspaces::GLOBEX);

async fn demo_store() -> Store {
    let store = Store::open(Location::Memory).await.unwrap();
    demo::seed(&store).await.unwrap();
    store
}

fn inbox(id: Uuid, external_id: String, label: String) -> InboxRow {
    InboxRow {
        id,
        workspace_id: Uuid::nil(),
        external_id,
        external_id_folded: Folded::default(),
        agent_id: None,
        label,
        label_folded: Folded::default(),
        email: format!("{id}@inbox.example"),
        status: Word(ActiveStatus::Active),
        allowed_recipients: Texts::default(),
        filters: Objects::default(),
        attachments_allow: true,
        attachments_max_file_number: 1,
        attachments_max_file_size: 1,
        attachments_max_total_size: 1,
        custom_metadata: Object::default(),
        metadata: Object::default(),
        created_at: 1,
        updated_at: 1,
        deleted_at: None,
    }
}

async fn insert(store: &Store, scope: InWorkspace, rows: impl IntoIterator<Item = InboxRow>) {
    let tx = store.begin().await.unwrap();
    for row in rows {
        scope.insert::<Inboxes>(&tx, row).await.unwrap();
    }
    tx.commit().await.unwrap();
}

async fn inboxes(store: &Store, typed: &str) -> Suggestions {
    suggest::<Inboxes>(store.reads(), &ACME.find::<Inboxes>(), typed).await.unwrap()
}

/// Names and labels of few letters, so that what is typed often begins some of them.
fn word() -> impl Strategy<Value = String> {
    let letter = prop::sample::select(vec!['A', 'a', 'Ç', 'ç', 'É', 'İ', 'ß', 'ẞ', '-', '0', '%', '_', '\u{10ffff}']);
    prop::collection::vec(letter, 0..4).prop_map(|letters| letters.into_iter().collect())
}

fn typed() -> impl Strategy<Value = String> {
    prop_oneof![4 => word(), 1 => "[0-9a-f]{1,8}", 1 => "[0-9a-fA-F]{8}-[0-9a-f]{0,4}"]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn what_is_offered_is_what_going_through_all_rows_finds(
        rows in prop::collection::vec((any::<u128>(), word(), word(), 0..4_u8), 0..40),
        asked in prop::collection::vec(typed(), 1..12),
    ) {
        tokio::runtime::Runtime::new().unwrap().block_on(async {
            let store = demo_store().await;
            let tx = store.begin().await.unwrap();
            ACME.delete_all::<Inboxes>(&tx, 1).await.unwrap();
            tx.commit().await.unwrap();
            let (mut mine, mut live) = (Vec::new(), Vec::new());
            for (number, (id, name, label, fate)) in rows.into_iter().enumerate() {
                let row = inbox(Uuid::from_u128(id), format!("{name}{number}"), label);
                match fate {
                    0 => insert(&store, GLOBEX, [row]).await,
                    1 => mine.push(InboxRow { deleted_at: Some(2), ..row }),
                    _ => live.push(row),
                }
            }
            insert(&store, ACME, mine.into_iter().chain(live.clone())).await;
            for typed in asked {
                let prefix = fold(&typed);
                let begins = |text: &str| fold(text).starts_with(&prefix);
                let matches = |row: &&InboxRow| {
                    [&row.external_id, &row.label, &row.email].into_iter().any(|text| begins(text))
                        || row.id.to_string().starts_with(&prefix)
                };
                let mut expected: Vec<_> = live.iter().filter(matches).map(|row| row.external_id.clone()).collect();
                let Suggestions { mut values, total } = inboxes(&store, &typed).await;
                assert_eq!(total, Some(expected.len() as u64), "{typed:?}");
                values.sort();
                expected.sort();
                assert_eq!(values, expected, "{typed:?}");
            }
        });
    }
}

#[tokio::test]
async fn a_hundred_are_offered_and_all_are_counted() {
    let store = demo_store().await;
    let row = |number: u32| inbox(Uuid::now_v7(), format!("Loja-{number:04}"), format!("LOJA São {number:04}"));
    insert(&store, ACME, (0..1000).map(row)).await;
    // Every one of them matches by its name and by its label, and counts once.
    let offered = inboxes(&store, "LOJA").await;
    assert_eq!(offered.total, Some(1000));
    let expected: Vec<_> = (0..100).map(|number| format!("Loja-{number:04}")).collect();
    assert_eq!(offered.values, expected);
    assert_eq!(inboxes(&store, "loja sÃO 09").await.total, Some(100));
    assert_eq!(inboxes(&store, "loja sao").await, Suggestions { values: Vec::new(), total: Some(0) });
    // Nothing typed: the order of the list, which here is that of the UUIDs, as all are of one time.
    let everything = inboxes(&store, "").await;
    assert_eq!((everything.values.len(), everything.total), (100, Some(1003)));
}

#[tokio::test]
async fn what_is_renamed_is_found_by_its_new_name_only() {
    let store = demo_store().await;
    let id = Uuid::now_v7();
    insert(&store, ACME, [inbox(id, "Um".to_owned(), "Ágata".to_owned())]).await;
    let tx = store.begin().await.unwrap();
    let changes = InboxChanges { label: Set("Ônix".to_owned()), ..Default::default() };
    assert!(ACME.change::<Inboxes>(&tx, id, changes).await.unwrap());
    // Nobody writes the folded text by itself.
    let foreign = InboxChanges { label_folded: Set(Folded::default()), updated_at: Set(2), ..Default::default() };
    assert!(ACME.change::<Inboxes>(&tx, id, foreign).await.unwrap());
    tx.commit().await.unwrap();
    assert_eq!(inboxes(&store, "ága").await.total, Some(0));
    assert_eq!(inboxes(&store, "ôNI").await.values, ["Um"]);
}

#[tokio::test]
async fn nobody_counts_for_ever_and_values_are_there_all_the_same() {
    let store = demo_store().await;
    let many = "CREATE TEMP TABLE many AS WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers \
        WHERE n < 10000) SELECT emails.*, n FROM emails, numbers WHERE message_id = (SELECT max(message_id) FROM emails);
        UPDATE many SET id = randomblob(16), message_id = n, subject_folded = 'zebra ' || n, sender_folded = 'zebra@a.example';
        ALTER TABLE many DROP COLUMN n; INSERT INTO emails SELECT * FROM many;";
    let tx = store.begin().await.unwrap();
    tx.execute_unprepared(many).await.unwrap();
    tx.commit().await.unwrap();
    let zebras = async |typed: &str| suggest::<Emails>(store.reads(), &ACME.find::<Emails>(), typed).await.unwrap();
    let offered = zebras("zebra").await;
    assert_eq!((offered.values.len(), offered.total), (100, Some(10_000)));
    let tx = store.begin().await.unwrap();
    tx.execute_unprepared(
        "UPDATE emails SET subject_folded = 'zebra', sender_folded = 'zebra' WHERE subject_folded NOT LIKE 'zebra%'",
    )
    .await
    .unwrap();
    tx.commit().await.unwrap();
    let offered = zebras("zebra").await;
    assert_eq!((offered.values.len(), offered.total), (100, None));
    assert_eq!(zebras("").await.total, None);
    assert_eq!(zebras("zebra 9999").await.total, Some(1));
}

#[tokio::test]
async fn of_many_with_the_same_text_the_newest_come_first() {
    let store = demo_store().await;
    let events = || ACME.find::<SystemEvents>();
    let newest = events().order_by_desc(SystemEventColumn::CreatedAt).order_by_desc(SystemEventColumn::Id);
    let newest = newest.one(store.reads()).await.unwrap().unwrap();
    let offered = suggest::<SystemEvents>(store.reads(), &events(), &newest.slug).await.unwrap();
    assert_eq!(offered.values[0], newest.id.to_string());
    assert!(offered.total.unwrap() > 1);
}
