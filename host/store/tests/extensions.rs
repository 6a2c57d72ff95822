//! Which extensions are enabled, and what becomes of the files of components.

#![allow(clippy::unwrap_used)]

use kobana_store::blobs::Staged;
use kobana_store::extensions::{self, Enabled, hexadecimal};
use kobana_store::rows::{
    ExtensionChanges, ExtensionRow, ExtensionTextRow, ExtensionTexts, ExtensionVersionRow, ExtensionVersions,
    Extensions,
};
use kobana_store::sea_orm::Set;
use kobana_store::{InWorkspace, Location, Remembered, Scope as _, Store, demo};
use uuid::Uuid;

const ACME: InWorkspace = InWorkspace(demo::workspaces::ACME);
const GLOBEX: InWorkspace = InWorkspace(demo::workspaces::GLOBEX);

async fn store(location: Location) -> Store {
    let store = Store::open(location).await.unwrap();
    demo::seed(&store).await.unwrap();
    store
}

async fn staged(store: &Store, bytes: &[u8]) -> (Staged, String) {
    let mut staging = store.blobs().stage().await.unwrap();
    staging.write(bytes).await.unwrap();
    let file = staging.end().await.unwrap();
    let digest = hexadecimal(file.digest());
    (file, digest)
}

/// Adds an extension with one version, and enables it if that is wanted. Answers the UUIDs of both.
async fn add(store: &Store, rows: InWorkspace, name: &str, bytes: &[u8], enabled: bool) -> (Uuid, Uuid) {
    let (file, digest) = staged(store, bytes).await;
    let (extension, version) = (Uuid::now_v7(), Uuid::now_v7());
    let tx = store.begin().await.unwrap();
    let row = ExtensionRow {
        id: extension,
        workspace_id: rows.0,
        name: name.to_owned(),
        enabled_id: enabled.then_some(version),
        created_at: 1,
        updated_at: 1,
    };
    rows.insert::<Extensions>(&tx, row).await.unwrap();
    let row = ExtensionVersionRow {
        id: version,
        workspace_id: rows.0,
        extension_id: extension,
        version: "1.0.0".to_owned(),
        digest: digest.clone(),
        size: i64::try_from(file.length()).unwrap(),
        turn: None,
        created_at: 1,
        created_by: None,
    };
    rows.insert::<ExtensionVersions>(&tx, row).await.unwrap();
    let texts = ExtensionTextRow {
        version_id: version,
        workspace_id: rows.0,
        description: format!("description of {name}"),
        definitions: format!("definitions of {name}"),
    };
    rows.insert::<ExtensionTexts>(&tx, texts).await.unwrap();
    extensions::keep(&tx, store.blobs(), file, &digest).await.unwrap();
    tx.commit().await.unwrap();
    (extension, version)
}

fn names(enabled: &[Enabled]) -> Vec<&str> {
    enabled.iter().map(|one| one.extension.as_str()).collect()
}

#[tokio::test]
async fn enabled_ones_are_listed_by_name_each_workspace_for_itself() {
    let store = store(Location::Memory).await;
    add(&store, ACME, "zeta", b"z", true).await;
    let (_, alpha) = add(&store, ACME, "alpha", b"a", true).await;
    add(&store, ACME, "idle", b"i", false).await;
    add(&store, GLOBEX, "other", b"o", true).await;
    let enabled = extensions::enabled(store.reads(), ACME.0).await.unwrap();
    assert_eq!(names(&enabled), ["alpha", "zeta"]);
    let first = enabled.first().unwrap();
    assert_eq!((first.id, first.version.as_str(), first.prefix), (alpha, "1.0.0", true));
    assert_eq!(names(&extensions::enabled(store.reads(), GLOBEX.0).await.unwrap()), ["other"]);

    let texts = extensions::texts(store.reads(), ACME.0, alpha).await.unwrap().unwrap();
    assert_eq!((&*texts.description, &*texts.definitions), ("description of alpha", "definitions of alpha"));
    assert_eq!(extensions::texts(store.reads(), GLOBEX.0, alpha).await.unwrap(), None);
    let bytes = extensions::component(&store, &first.digest).await.unwrap();
    assert_eq!(bytes.as_deref(), Some(&b"a"[..]));
    assert_eq!(extensions::component(&store, &"0".repeat(64)).await.unwrap(), None);
}

#[tokio::test]
async fn the_prefix_is_on_until_a_workspace_says_otherwise() {
    let store = store(Location::Memory).await;
    add(&store, ACME, "alpha", b"a", true).await;
    add(&store, GLOBEX, "other", b"o", true).await;
    let tx = store.begin().await.unwrap();
    extensions::set_prefix(&tx, ACME.0, false).await.unwrap();
    tx.commit().await.unwrap();
    for (rows, prefix) in [(ACME, false), (GLOBEX, true)] {
        assert_eq!(extensions::prefix(store.reads(), rows.0).await.unwrap(), prefix);
        assert_eq!(extensions::enabled(store.reads(), rows.0).await.unwrap().first().unwrap().prefix, prefix);
    }
}

#[tokio::test]
async fn what_another_process_enables_is_seen_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let here = store(Location::Directory(directory.path().to_owned())).await;
    let there = store(Location::Directory(directory.path().to_owned())).await;
    let remembered = Remembered::default();
    let look = async || {
        let read = async |_: &uuid::Uuid| extensions::enabled(here.reads(), ACME.0).await.map(Some);
        remembered.get(&here.moment(), ACME.0, read).await.unwrap().unwrap()
    };
    assert_eq!(names(&look().await), Vec::<&str>::new());
    let (extension, _) = add(&there, ACME, "alpha", b"a", true).await;
    assert_eq!(names(&look().await), ["alpha"]);
    let tx = there.begin().await.unwrap();
    let changes = ExtensionChanges { enabled_id: Set(None), ..ExtensionChanges::default() };
    ACME.change::<Extensions>(&tx, extension, changes).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(names(&look().await), Vec::<&str>::new());
}

#[tokio::test]
async fn a_component_stays_as_long_as_some_version_of_some_workspace_has_it() {
    let store = store(Location::Memory).await;
    let (of_acme, version) = add(&store, ACME, "alpha", b"shared", false).await;
    let (of_globex, _) = add(&store, GLOBEX, "beta", b"shared", false).await;
    let (file, digest) = staged(&store, b"shared").await;
    drop(file);
    let there = async || extensions::component(&store, &digest).await.unwrap().is_some();
    let remove = async |rows, extension| {
        let tx = store.begin().await.unwrap();
        extensions::remove(&tx, rows, extension).await.unwrap();
        tx.commit().await.unwrap();
        extensions::sweep(&store, std::slice::from_ref(&digest)).await.unwrap();
    };
    remove(ACME, of_acme).await;
    assert!(there().await);
    assert_eq!(extensions::texts(store.reads(), ACME.0, version).await.unwrap(), None);
    // Nobody removes what is another workspace's.
    remove(ACME, of_globex).await;
    assert!(there().await && GLOBEX.find_by_id::<Extensions>(of_globex).one(store.reads()).await.unwrap().is_some());
    remove(GLOBEX, of_globex).await;
    assert!(!there().await);
    // The next one brings its file along.
    add(&store, ACME, "alpha", b"shared", false).await;
    assert!(there().await);
}

#[tokio::test]
async fn a_file_that_is_not_what_it_was_is_not_handed_out() {
    let directory = tempfile::tempdir().unwrap();
    let store = store(Location::Directory(directory.path().to_owned())).await;
    add(&store, ACME, "alpha", b"component", false).await;
    let (file, digest) = staged(&store, b"component").await;
    let path = directory.path().join("blobs/extensions").join(format!("{digest}.wasm"));
    std::fs::write(&path, b"comp").unwrap();
    let error = extensions::component(&store, &digest).await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidData);
    // Whoever adds it again puts it right.
    let tx = store.begin().await.unwrap();
    extensions::keep(&tx, store.blobs(), file, &digest).await.unwrap();
    tx.rollback().await.unwrap();
    assert_eq!(extensions::component(&store, &digest).await.unwrap().as_deref(), Some(&b"component"[..]));
}

#[tokio::test]
async fn two_of_one_name_are_not_in_one_workspace() {
    let store = store(Location::Memory).await;
    add(&store, ACME, "alpha", b"a", false).await;
    add(&store, GLOBEX, "alpha", b"a", false).await;
    let tx = store.begin().await.unwrap();
    let row = ExtensionRow {
        id: Uuid::now_v7(),
        workspace_id: ACME.0,
        name: "alpha".to_owned(),
        enabled_id: None,
        created_at: 1,
        updated_at: 1,
    };
    assert!(ACME.insert::<Extensions>(&tx, row).await.is_err());
}
