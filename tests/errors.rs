//! What a client reads when something behind the endpoint fails: the real thing is made to fail.

use kobana_store::{Location, Store};
use serde_json::json;

use crate::harness::{Server, nonce};

/// Holds the database of a running server so that nobody can write, until it is let go.
pub(crate) struct Held {
    runtime: tokio::runtime::Runtime,
    transaction: Option<kobana_store::Write>,
}

impl Held {
    pub(crate) fn by_another_process(directory: &std::path::Path) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let transaction = runtime.block_on(async {
            let store = Store::open(Location::Directory(directory.to_path_buf())).await.expect("the database opens");
            store.begin().await.expect("nobody else is writing")
        });
        Self { runtime, transaction: Some(transaction) }
    }

    pub(crate) fn let_go(mut self) {
        let transaction = self.transaction.take().expect("it is held");
        self.runtime.block_on(transaction.rollback()).expect("the transaction ends");
    }
}

#[test]
fn a_database_that_cannot_be_written_is_503_with_retry_after_in_both_eras_and_rest() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::demo().directory(directory.path()).arg("--data").arg(directory.path()).start();
    let held = Held::by_another_process(directory.path());
    let arguments = json!({ "label": "Caixa", "external_id": nonce("held") });
    for call in [server.modern("tools/call"), server.legacy("tools/call")] {
        let answer = call.name("inboxes_create").arguments(arguments.clone()).send();
        answer.fails(503, -31503);
        assert!(answer.number("retry-after") >= 1, "{answer}");
    }
    let rest = server.http("POST", "/api/v1/inboxes").token("rest-owner").header("Content-Type", "application/json");
    let rest = rest.body(arguments.to_string()).send();
    assert_eq!(rest.is(503).json()["error"]["code"], "unavailable");
    assert!(rest.number("retry-after") >= 1, "{rest}");
    // Reading goes on meanwhile.
    server.modern("tools/call").name("inboxes_list").send().document();
    held.let_go();
    server.modern("tools/call").name("inboxes_create").arguments(arguments).send().document();
}

#[test]
fn a_call_that_does_not_end_in_time_is_an_internal_error_and_changes_nothing() {
    let directory = tempfile::tempdir().expect("a directory");
    let setup = Server::demo().directory(directory.path()).arg("--data").arg(directory.path());
    let server = setup.env("KOBANA_RUNTIME__DEADLINE_MS", "300").start();
    let held = Held::by_another_process(directory.path());
    let name = nonce("late");
    let arguments = json!({ "label": "Caixa", "external_id": name });
    let answer = server.modern("tools/call").name("inboxes_create").arguments(arguments).send();
    answer.fails_without_id(500, -32603);
    held.let_go();
    server.modern("tools/call").name("inboxes_get").arguments(json!({ "id": name })).send().tool_error("not_found");
}
