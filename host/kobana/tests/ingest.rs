//! `kobana ingest` as a person runs it.

#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::{Command, Output};

use kobana_store::rows::{EmailColumn, Emails};
use kobana_store::sea_orm::{ColumnTrait as _, PaginatorTrait as _, QueryFilter as _};
use kobana_store::{InWorkspace, Location, Scope as _, Store, demo};

fn ingest(data: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kobana"));
    // No configuration of whoever runs the test gets in.
    command.current_dir(data).env_clear().arg("ingest").arg("--data").arg(data);
    command.args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[tokio::test]
async fn files_come_in_while_somebody_else_has_the_database() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path();
    let store = Store::open(Location::Directory(data.to_owned())).await.unwrap();
    demo::seed(&store).await.unwrap();
    let good = "From: billing@supplier.example\r\nSubject: Fatura\r\nMessage-ID: <one@x.example>\r\n\r\nR$ 1,00\r\n";
    std::fs::write(data.join("good.eml"), good).unwrap();
    std::fs::write(data.join("bad.eml"), "this is no message").unwrap();

    let output = ingest(data, &["--inbox", "acme-invoices", "good.eml"]);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
    let said = text(&output.stdout);
    assert!(said.starts_with("good.eml: taken in as ") && said.ends_with(" <one@x.example>\n"), "{said}");

    let output = ingest(data, &["--inbox", "acme-invoices", "--workspace", "acme", "good.eml", "bad.eml", "none.eml"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).starts_with("good.eml: already there"));
    let said = text(&output.stderr);
    assert!(said.contains("bad.eml: not taken in") && said.contains("none.eml: not taken in"), "{said}");
    assert!(said.contains("2 of 3 files"), "{said}");

    let found = InWorkspace(demo::workspaces::ACME).find::<Emails>();
    let found = found.filter(EmailColumn::MessageId.eq("<one@x.example>")).count(store.reads()).await.unwrap();
    assert_eq!(found, 1);
}

#[tokio::test]
async fn what_is_not_clear_is_not_tried() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path();
    let store = Store::open(Location::Directory(data.to_owned())).await.unwrap();
    demo::seed(&store).await.unwrap();
    for arguments in [
        &["--inbox", "nope", "x.eml"][..],
        &["--inbox", "acme-gone", "x.eml"],
        &["--inbox", "acme-invoices", "--workspace", "globex", "x.eml"],
        &["--inbox", "acme-invoices", "--workspace", "nope", "x.eml"],
        &["x.eml"],
        &["--inbox", "acme-invoices"],
    ] {
        assert_eq!(ingest(data, arguments).status.code(), Some(2), "{arguments:?}");
    }
}
