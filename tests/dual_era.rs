//! Both eras at once: every answer is its own request's, in its own era's shape.
//!
//! Each request carries a word that no other has, in its id and in an argument that the answer shows again.

use std::sync::Barrier;
use std::thread;

use serde_json::{Value, json};

use crate::harness::{Answer, Call, MODERN, Server, nonce};

const CONNECTIONS: usize = 48;
const ROUNDS: usize = 6;
/// Requests on the way at the same time on one connection.
const PIPELINED: usize = 8;

/// Tokens, and whose they are.
const PERSONS: [(&str, &str); 4] = [
    ("demo-bench", "Ana Souza"),
    ("demo-globex", "Gil Prado"),
    ("demo-viewer", "Vera Lima"),
    ("demo-multi", "Marcos Reis"),
];

/// A request, and what shows that an answer is its own.
struct Errand {
    call: Call,
    word: String,
    modern: bool,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    /// An address that is not there; the error repeats it, with a code of the era.
    Resource,
    /// A tool that is not there; the error names it.
    UnknownTool,
    /// A row that is made; the answer shows its label.
    Write,
    /// A row by its id.
    Email(usize),
    /// Who is calling: one of several persons, in turn.
    Person(&'static str),
    /// A version that nobody speaks; the error repeats it.
    Version,
}

/// The `n`th errand; neighbours differ in era and kind.
fn errand(server: &Server, n: usize) -> Errand {
    let (word, modern) = (nonce("w"), n.is_multiple_of(2));
    let call = |method: &str| if modern { server.modern(method) } else { server.legacy(method) };
    let (token, person) = PERSONS[n % PERSONS.len()];
    let kind = match (n / 2) % 6 {
        0 => Kind::Resource,
        1 => Kind::UnknownTool,
        2 => Kind::Write,
        3 => Kind::Email(n % 60 + 1),
        4 => Kind::Person(person),
        _ => Kind::Version,
    };
    let call = match kind {
        Kind::Resource => call("resources/read").param("uri", json!(format!("kobana://inbox/inboxes/{word}"))),
        Kind::UnknownTool => call("tools/call").name(&word),
        Kind::Write => {
            call("tools/call").name("inboxes_upsert").arguments(json!({ "external_id": word, "label": word }))
        }
        Kind::Email(row) => call("tools/call").name("emails_get").arguments(json!({ "id": email(row) })),
        Kind::Person(_) => call("tools/call").name("me_get"),
        Kind::Version => server.legacy("tools/list").version(&word),
    };
    let token = if matches!(kind, Kind::Person(_)) { token } else { "demo-bench" };
    let call = call.token(token).id(&format!("\"{word}\""));
    Errand { call, word, modern, kind }
}

fn email(row: usize) -> String {
    format!("00000000-0000-7000-8000-{row:012x}")
}

#[track_caller]
fn is_own(errand: &Errand, answer: &Answer) {
    let message = answer.json();
    assert_eq!(message["id"], errand.word, "the answer of another: {answer}");
    if let Kind::Version = errand.kind {
        assert_eq!(message["error"]["data"]["requested"], errand.word, "{answer}");
        return;
    }
    let version = if errand.modern { MODERN } else { "2025-06-18" };
    assert_eq!(answer.version(), Some(version), "{answer}");
    match errand.kind {
        Kind::Resource => {
            let code = if errand.modern { -32602 } else { -32002 };
            assert_eq!(message["error"]["code"], code, "{answer}");
            assert_eq!(message["error"]["data"]["uri"], format!("kobana://inbox/inboxes/{}", errand.word), "{answer}");
        }
        Kind::UnknownTool => {
            assert_eq!(message["error"]["message"], format!("Invalid params: Unknown tool: {}", errand.word))
        }
        Kind::Write => assert_eq!(document(errand, &message)["data"]["label"], errand.word, "{answer}"),
        Kind::Email(row) => assert_eq!(document(errand, &message)["data"]["id"], email(row), "{answer}"),
        Kind::Person(name) => assert_eq!(document(errand, &message)["data"]["person"]["name"], name, "{answer}"),
        Kind::Version => {}
    }
}

#[track_caller]
fn document(errand: &Errand, message: &Value) -> Value {
    assert_eq!(message["result"].get("resultType").is_some(), errand.modern, "the wrong era: {message}");
    let text = message["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no document: {message}"));
    serde_json::from_str(text).unwrap()
}

/// Lets many clients begin at the same moment.
fn together(clients: usize, client: impl Fn(usize) + Sync) {
    let start = Barrier::new(clients);
    thread::scope(|scope| {
        for number in 0..clients {
            let (start, client) = (&start, &client);
            scope.spawn(move || {
                start.wait();
                client(number);
            });
        }
    });
}

#[test]
fn answers_are_not_mixed_up_on_shared_connections() {
    let server = Server::demo().start();
    together(CONNECTIONS, |client| {
        let mut connection = server.connect();
        for round in 0..ROUNDS {
            let errands: Vec<_> = (0..PIPELINED).map(|n| errand(&server, client + round + n)).collect();
            connection.send(errands.iter().flat_map(|errand| errand.call.bytes()).collect::<Vec<_>>());
            for errand in &errands {
                is_own(errand, &connection.answer());
            }
        }
    });
}

#[test]
fn answers_are_not_mixed_up_between_connections() {
    let server = Server::demo().start();
    together(CONNECTIONS, |client| {
        for round in 0..ROUNDS {
            let errand = errand(&server, client + round);
            is_own(&errand, &errand.call.send());
        }
    });
}

#[test]
fn few_instances_serve_many_clients() {
    let server = Server::demo().env("KOBANA_RUNTIME__INSTANCES", "2").env("KOBANA_RUNTIME__REUSE", "3").start();
    together(CONNECTIONS, |client| {
        let mut connection = server.connect();
        for round in 0..ROUNDS {
            let errand = errand(&server, client + round);
            is_own(&errand, &errand.call.send_on(&mut connection));
        }
    });
}
