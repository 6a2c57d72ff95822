//! Nobody is in anybody's way, and nothing is left behind.

use std::sync::Arc;
use std::time::Duration;

use kobana_runtime::extension::{Api, Credit, Limits, Settings, Share, Stopped};
use tokio::time::{sleep, timeout};

use crate::support::{Case, question, settings, text, tight};

/// A call that takes as long as it is let.
fn endless() -> Limits {
    Limits { fuel: u64::MAX / 2, time_ms: 60_000, ..tight() }
}

/// One thread for all extensions, all of it wanted by others: a good call gets its turns.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn extensions_that_compute_step_aside_for_each_other() {
    let case = Arc::new(Case::with(Settings { threads: Some(1), ..settings() }).await);
    let spinning: Vec<_> = (0..3)
        .map(|_| {
            let case = Arc::clone(&case);
            tokio::spawn(async move { case.ask(&endless(), question("spin", "")).await })
        })
        .collect();
    // Without turns this would take a minute, and fail.
    for _ in 0..5 {
        let good = timeout(Duration::from_secs(30), case.text("count", "")).await;
        assert_eq!(good.expect("it gets its turns"), "1");
    }
    assert!(spinning.iter().all(|task| !task.is_finished()));
    for task in spinning {
        task.abort();
        let _ = task.await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_finds_no_place_in_time_is_turned_away() {
    let case = Arc::new(Case::with(Settings { calls: 1, queue_wait_ms: 50, ..settings() }).await);
    let first = tokio::spawn({
        let case = Arc::clone(&case);
        async move { case.ask(&tight(), question("call", "/wait/60000")).await }
    });
    while case.api.begun.lock().unwrap().is_empty() {
        sleep(Duration::from_millis(5)).await;
    }
    let (usage, outcome) = case.ask(&tight(), question("count", "")).await;
    assert_eq!((usage.fuel, outcome), (0, Err(Stopped::Busy)));
    // A call that nobody waits for any longer gives its place back, and its call of the API ends.
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    let (_, outcome) = loop {
        let ended = case.ask(&tight(), question("count", "")).await;
        if ended.1 != Err(Stopped::Busy) {
            break ended;
        }
    };
    assert_eq!(text(outcome.unwrap()), "1");
    assert_eq!(case.api.ended.lock().unwrap().len(), 0);
}

/// One thread, and three calls that wait on it for a minute: it is free for a fourth.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_that_wait_take_no_thread() {
    let case = Arc::new(Case::with(Settings { threads: Some(1), ..settings() }).await);
    let waiting: Vec<_> = [("call", "/wait/60000"), ("call", "/wait/60000"), ("sleep", "60000")]
        .map(|(tool, argument)| {
            let case = Arc::clone(&case);
            tokio::spawn(async move { case.ask(&tight(), question(tool, argument)).await })
        })
        .into();
    let all_wait = async {
        while case.api.begun.lock().unwrap().len() < 2 {
            sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(case.text("count", "").await, "1");
    };
    timeout(Duration::from_secs(30), all_wait).await.expect("nobody waits for the others");
    assert!(waiting.iter().all(|task| !task.is_finished()));
    for task in waiting {
        task.abort();
        let _ = task.await;
    }
    assert_eq!(case.text("sleep", "5").await, "slept");
}

/// More hostile calls, one after another, than there is room for at once: nothing of them stays.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_leaks() {
    let case = Case::new().await;
    let limits = Limits { fuel: 1_000_000, ..tight() };
    for tool in ["spin", "hoard", "recurse", "trap", "streams", "flood", "log", "write_and_trap"] {
        for _ in 0..settings().calls + 1 {
            let (_, outcome) = case.ask(&limits, question(tool, "100000000")).await;
            assert!(!matches!(outcome, Ok(_) | Err(Stopped::Busy)), "{tool}: {outcome:?}");
        }
    }
    assert_eq!(Arc::strong_count(&case.api), 1, "no call is left");
    assert_eq!(case.text("count", "").await, "1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_artifact_outlives_its_sandbox_and_its_clones() {
    let case = Case::new().await;
    let Case { sandbox, artifact, api, credit } = case;
    let clone = artifact.clone();
    drop(artifact);
    let (_, outcome) =
        sandbox.run(&clone, &tight(), &credit, question("count", ""), Arc::clone(&api) as Arc<dyn Api>).await;
    assert_eq!(text(outcome.unwrap()), "1");
    drop(sandbox);
    drop(clone);
}

/// Two calls of the API that take 50 ms each, on an account that then needs 10 s until something is left: the second one is not made.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_has_used_the_api_too_much_waits_and_no_longer_than_its_time() {
    let mut case = Case::new().await;
    let limits = Limits { time_ms: 4_000, ..tight() };
    case.credit = Arc::new(Credit::new(&Share { api_ms: 1, api_saved_ms: 10, ..Share::default() }));
    let (usage, outcome) = case.ask(&limits, question("call_forever", "/wait/50")).await;
    assert_eq!(outcome, Err(Stopped::Time(4_000)));
    assert_eq!((usage.api_calls, case.api.begun.lock().unwrap().len()), (2, 1));
    // What calls nobody does not wait.
    assert_eq!(case.text("count", "").await, "1");
    // Who is let wait long enough gets through: each call costs 5 ms, and they come back within 50.
    case.credit = Arc::new(Credit::new(&Share { api_ms: 100, api_saved_ms: 1, ..Share::default() }));
    let (usage, outcome) = case.ask(&tight(), question("call_forever", "/wait/5")).await;
    assert_eq!((usage.api_calls, outcome), (20, Err(Stopped::ApiCalls(20))));
}

/// Whoever has computed too much computes on, and ends by its own limit.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_has_computed_too_much_still_gets_an_answer() {
    let mut case = Case::with(Settings { threads: Some(1), ..settings() }).await;
    case.credit = Arc::new(Credit::new(&Share { call_ms: 1, compute_ms: 1, compute_saved_ms: 1, ..Share::default() }));
    for _ in 0..2 {
        let (usage, stopped) = case.stopped(&tight(), "spin", "").await;
        assert_eq!((usage.fuel, stopped), (tight().fuel, Stopped::Fuel(tight().fuel)));
    }
    assert_eq!(case.text("call", "/emails").await, "200 /emails");
}
