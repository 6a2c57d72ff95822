//! A guest that breaks costs one answer, and nobody else anything.

use std::time::Duration;

use http_body_util::Full;
use kobana_runtime::{Limits, Stats};
use tokio::time::sleep;

use super::tight;
use crate::support::{get, hostile, request};

const BROKEN: &str = r#"{"jsonrpc":"2.0","error":{"code":-32603,"message":"Internal error"}}"#;

/// Asks for something that breaks the guest, then whether the next request is served by a fresh instance.
async fn breaks(target: &str) {
    breaks_by(target, tight()).await;
}

async fn breaks_by(target: &str, limits: Limits) {
    let (runtime, _) = hostile(Limits { instances: 1, ..limits });
    assert_eq!(get(&runtime, "/seen").await, (200, "1".to_owned()));
    assert_eq!(get(&runtime, "/seen").await, (200, "2".to_owned()), "instances are used again");
    assert_eq!(get(&runtime, target).await, (500, BROKEN.to_owned()));
    assert_eq!(get(&runtime, "/seen").await, (200, "1".to_owned()), "a broken instance is not used again");
    assert_eq!(runtime.stats(), Stats { started: 2, ended: 1, failed: 1, leaked: 0, refused: 0 });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trap_is_an_internal_error() {
    breaks("/trap").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn so_is_an_exit() {
    breaks("/exit").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_is_bounded() {
    breaks("/bomb").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn handles_are_bounded() {
    breaks("/handles").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_of_the_api_stays_inside() {
    breaks("/call?panic/").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn half_an_answer_is_none() {
    breaks("/half").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn computing_is_bounded() {
    // Nothing but what it may compute ends it.
    breaks_by("/spin", Limits { deadline_ms: 600_000, ..tight() }).await;
}

/// One thread, all of it taken by a guest: its own deadline and everybody else still get their turns.
#[tokio::test(flavor = "current_thread")]
async fn a_computing_guest_steps_aside() {
    let (runtime, _) = hostile(Limits { cpu_ms: 2_000, deadline_ms: 10_000, ..tight() });
    let mut spinning = std::pin::pin!(get(&runtime, "/spin"));
    tokio::select! {
        biased;
        _ = &mut spinning => panic!("nobody else got a turn"),
        () = async {
            sleep(Duration::from_millis(50)).await;
            assert_eq!(get(&runtime, "/seen").await.0, 200);
        } => {}
    }
    assert_eq!(spinning.await.0, 500);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_deadline_ends_what_computing_does_not() {
    let (runtime, _) = hostile(Limits { instances: 1, deadline_ms: 300, ..tight() });
    assert_eq!(get(&runtime, "/call?wait/5000").await, (500, BROKEN.to_owned()));
    let (runtime, _) = hostile(Limits { instances: 1, deadline_ms: 300, cpu_ms: 600_000, ..tight() });
    assert_eq!(get(&runtime, "/spin").await, (500, BROKEN.to_owned()));
    assert_eq!(get(&runtime, "/seen").await, (200, "1".to_owned()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_is_not_computing() {
    let (runtime, _) = hostile(Limits { cpu_ms: 20, ..tight() });
    assert_eq!(get(&runtime, "/call?wait/1000").await, (200, "waited".to_owned()));
    // A guest that computes little and waits often is as good: each wait is longer than a tick.
    let (runtime, api) = hostile(Limits { cpu_ms: 20, deadline_ms: 1_000, ..tight() });
    assert_eq!(get(&runtime, "/pester?wait/10").await.0, 500);
    assert!(api.begun() > 20, "{} calls before the deadline", api.begun());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_answer_is_an_internal_error() {
    let (runtime, _) = hostile(tight());
    assert_eq!(get(&runtime, "/silent").await, (500, BROKEN.to_owned()));
    assert_eq!(get(&runtime, "/short").await, (500, BROKEN.to_owned()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_are_bounded() {
    let (runtime, _) = hostile(tight());
    let (status, body) = get(&runtime, "/large?1048576").await;
    assert_eq!((status, body.len()), (200, 1 << 20));
    assert_eq!(get(&runtime, "/large?1048577").await, (500, BROKEN.to_owned()));
    assert_eq!(get(&runtime, "/call?long/1048577").await.1, "Failure::Internal");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_hosts_answers_say_nothing_and_are_not_stored() {
    let (runtime, _) = hostile(tight());
    let response = runtime.handle(request("GET", "/trap", Full::default())).await;
    assert_eq!(response.headers()["cache-control"], "no-store");
    assert_eq!(response.headers()["content-type"], "application/json");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn instances_are_replaced_after_some_requests_and_some_idleness() {
    let (runtime, _) = hostile(Limits { instances: 1, reuse: 3, idle_ms: 500, ..tight() });
    let mut seen = Vec::new();
    for _ in 0..4 {
        seen.push(get(&runtime, "/seen").await.1);
    }
    assert_eq!(seen, ["1", "2", "3", "1"]);
    sleep(Duration::from_millis(1_000)).await;
    assert_eq!(get(&runtime, "/seen").await.1, "1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kept_handles_are_noticed() {
    let (runtime, _) = hostile(Limits { reuse: 2, ..tight() });
    assert_eq!(get(&runtime, "/forget").await.0, 200);
    assert_eq!(get(&runtime, "/seen").await.0, 200);
    sleep(Duration::from_millis(100)).await;
    assert_eq!(runtime.stats(), Stats { started: 1, ended: 1, failed: 0, leaked: 1, refused: 0 });
}
