//! Handing messages in and waiting for what becomes of them.

use std::future::Future;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use kobana_api::EngineSettings;
use kobana_api::worker::{Backoff, Wake, Worker, WorkerSettings};
use kobana_contract::Caller;
use kobana_store::Store;
use serde_json::Value;

use crate::harness::{Answer, World};

pub(crate) const MESSAGE: &str = "message/rfc822";

/// The sample message of this name.
pub(crate) fn sample(name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/mail").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The names of all samples.
pub(crate) fn samples() -> Vec<String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/mail");
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name.ends_with(".eml")).collect();
    names.sort();
    names
}

pub(crate) async fn hand_in(world: &World, caller: &Caller, inbox: &str, message: impl Into<Vec<u8>>) -> Answer {
    let path = format!("/inboxes/{inbox}/emails");
    world.raw(caller, "POST", &path, &[("content-type", MESSAGE)], message.into()).await
}

/// A plain message that is like no other.
pub(crate) fn message(number: usize) -> Vec<u8> {
    let text = format!(
        "From: billing@supplier.example\r\nTo: x@inbox.example\r\nSubject: Fatura {number}\r\n\
         Message-ID: <plain.{number}@supplier.example>\r\n\r\nTotal de R$ {number},00 com vencimento em 05/08/2026.\r\n"
    );
    text.into_bytes()
}

/// A worker that looks often and is soon at its end with its patience.
pub(crate) fn worker(store: &Store, engines: EngineSettings) -> Worker {
    Worker::start(store.clone(), Wake::default(), quick(), engines).unwrap()
}

pub(crate) fn quick() -> WorkerSettings {
    let (first, longest) = (Duration::from_millis(20), Duration::from_millis(100));
    let backoff = Backoff { attempts: 3, first, longest };
    WorkerSettings { poll: Duration::from_millis(20), backoff, ..WorkerSettings::default() }
}

/// Waits for something that happens sooner or later; how long it takes is nobody's business here.
pub(crate) async fn until<F: Future<Output = Option<T>>, T>(what: &str, look: impl Fn() -> F) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(begun.elapsed() < Duration::from_secs(120), "never came: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// The e-mail once it is in one of these states.
pub(crate) async fn settled(world: &World, caller: &Caller, id: &str, states: &[&str]) -> Value {
    until(&format!("{states:?} of {id}"), || async {
        let email = world.get(caller, &format!("/emails/{id}")).await.data(200);
        states.contains(&email["status"].as_str().unwrap()).then_some(email)
    })
    .await
}

/// The slugs of what happened to an e-mail, the first first.
pub(crate) async fn history(world: &World, caller: &Caller, id: &str) -> Vec<String> {
    let events = world.get(caller, &format!("/system-events?limit=200&email_id={id}")).await.data(200);
    let slugs = events.as_array().unwrap().iter().rev().map(|event| event["slug"].as_str().unwrap().to_owned());
    slugs.collect()
}
