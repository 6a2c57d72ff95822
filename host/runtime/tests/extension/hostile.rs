//! Whatever an extension does, it ends with its own name, and the next call is as good as the first.

use kobana_runtime::extension::{Limits, Settings, Stopped};

use crate::support::{Case, question, settings, text, tight};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn computing_is_bounded_by_fuel() {
    let case = Case::new().await;
    let (usage, stopped) = case.stopped(&tight(), "spin", "").await;
    assert_eq!(stopped, Stopped::Fuel(tight().fuel));
    assert_eq!(usage.fuel, tight().fuel);
    let (_, stopped) = case.stopped(&tight(), "regex", "").await;
    assert_eq!(stopped, Stopped::Fuel(tight().fuel));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn computing_is_bounded_by_time() {
    let case = Case::new().await;
    let limits = Limits { fuel: u64::MAX / 2, time_ms: 100, ..tight() };
    for tool in ["spin", "regex"] {
        let (usage, stopped) = case.stopped(&limits, tool, "").await;
        assert_eq!(stopped, Stopped::Time(100));
        assert!(usage.time.as_millis() >= 100, "{usage:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn instructions_that_take_long_are_bounded_too() {
    let case = Case::new().await;
    let limits = Limits { fuel: u64::MAX / 2, time_ms: 200, ..tight() };
    let (_, stopped) = case.stopped(&limits, "fill", "").await;
    assert_eq!(stopped, Stopped::Time(200));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_is_bounded_by_time_and_costs_no_fuel() {
    let case = Case::new().await;
    let limits = Limits { time_ms: 200, ..tight() };
    for (tool, argument) in [("sleep", "60000"), ("call", "/wait/60000")] {
        let (usage, stopped) = case.stopped(&limits, tool, argument).await;
        assert_eq!(stopped, Stopped::Time(200));
        assert!(usage.fuel < 1_000_000, "{usage:?}");
    }
    let ended = case.api.ended.lock().unwrap().clone();
    assert_eq!(ended, [""; 0], "what nobody waits for is dropped");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_is_bounded() {
    let case = Case::new().await;
    let (usage, stopped) = case.stopped(&tight(), "hoard", "").await;
    assert_eq!(stopped, Stopped::Memory(16 << 20));
    assert!((12 << 20..=16 << 20).contains(&usage.memory), "{usage:?}");
    // So is what the API hands in.
    let (_, stopped) = case.stopped(&tight(), "call", &format!("/long/{}", 32 << 20)).await;
    assert_eq!(stopped, Stopped::Memory(16 << 20));
    // What it begins with counts, too.
    let (_, stopped) = case.stopped(&Limits { memory: 1 << 16, ..tight() }, "count", "").await;
    assert_eq!(stopped, Stopped::Memory(1 << 16));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tables_are_bounded() {
    let case = Case::new().await;
    let (_, stopped) = case.stopped(&Limits { table_elements: 1, ..tight() }, "count", "").await;
    assert_eq!(stopped, Stopped::Tables(1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_stack_is_bounded() {
    let case = Case::new().await;
    let (_, stopped) = case.stopped(&tight(), "recurse", "").await;
    assert_eq!(stopped, Stopped::Stack(settings().stack));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_are_bounded() {
    let case = Case::new().await;
    let (_, stopped) = case.stopped(&tight(), "flood", &(1 << 20).to_string()).await;
    assert_eq!(stopped, Stopped::Output(1 << 20), "the text fits, what is around it does not");
    let plenty = Limits { memory: 200 << 20, fuel: 1 << 40, ..tight() };
    let (_, stopped) = case.stopped(&plenty, "flood", &(150 << 20).to_string()).await;
    assert_eq!(stopped, Stopped::Output(1 << 20));
    // A gigabyte does not even come together.
    let (_, stopped) = case.stopped(&tight(), "flood", &(1_u64 << 30).to_string()).await;
    assert_eq!(stopped, Stopped::Memory(16 << 20));
    let (usage, outcome) = case.ask(&tight(), question("flood", &((1 << 20) - 64).to_string())).await;
    assert_eq!(text(outcome.unwrap()).len(), (1 << 20) - 64);
    assert!(((1 << 20) - 64..=1 << 20).contains(&usage.output), "{usage:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn so_is_what_is_handed_to_the_api() {
    let case = Case::new().await;
    assert_eq!(case.text("send", &(1 << 20).to_string()).await, "200 /");
    for large in [(1 << 20) + 1, 8 << 20] {
        let (_, stopped) = case.stopped(&tight(), "send", &large.to_string()).await;
        assert_eq!(stopped, Stopped::Output(1 << 20));
    }
    assert_eq!(case.api.begun.lock().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_is_bounded() {
    let case = Case::new().await;
    let limits = Limits { host_calls: 100_000, ..tight() };
    for tool in ["log", "print"] {
        let (usage, stopped) = case.stopped(&limits, tool, "").await;
        assert_eq!(stopped, Stopped::Log(4_096));
        assert!((4_000..=4_096).contains(&usage.log), "{usage:?}");
    }
    let lines = case.api.lines.lock().unwrap();
    assert!(lines.iter().all(|(_, line)| line == "the same again"));
    assert_eq!(lines.len(), 4_096 / 14 + 4_096 / 15);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_of_the_host_are_bounded() {
    let case = Case::new().await;
    let limits = Limits { fuel: u64::MAX / 2, log: usize::MAX / 2, ..tight() };
    for tool in ["pester", "clock", "log", "print"] {
        let (usage, stopped) = case.stopped(&limits, tool, "").await;
        assert_eq!(stopped, Stopped::HostCalls(500), "{tool}");
        assert!(usage.host_calls > 500, "{usage:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_of_the_api_are_bounded() {
    let case = Case::new().await;
    let (usage, stopped) = case.stopped(&tight(), "call_forever", "/emails").await;
    assert_eq!(stopped, Stopped::ApiCalls(20));
    assert_eq!(usage.api_calls, 20);
    assert_eq!(case.api.ended.lock().unwrap().len(), 20);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trap_in_the_middle_leaves_whole_what_was_done_before() {
    let case = Case::new().await;
    let (usage, stopped) = case.stopped(&tight(), "write_and_trap", "").await;
    assert!(matches!(&stopped, Stopped::Trap(trap) if trap.reason.contains("unreachable")), "{stopped:?}");
    assert_eq!(usage.api_calls, 1);
    assert_eq!(*case.api.begun.lock().unwrap(), ["Post /first"]);
    assert_eq!(*case.api.ended.lock().unwrap(), ["Post /first"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trap_and_an_exit_are_told_apart() {
    let case = Case::new().await;
    let (_, stopped) = case.stopped(&tight(), "trap", "").await;
    assert_eq!(stopped.to_string(), "The extension broke: wasm `unreachable` instruction executed.");
    let lines = std::mem::take(&mut *case.api.lines.lock().unwrap());
    assert!(lines.iter().any(|(_, line)| line.contains("as told")), "its last words are in the log: {lines:?}");
    let (_, stopped) = case.stopped(&tight(), "exit", "").await;
    assert_eq!(stopped, Stopped::Exit);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_that_nobody_can_read_name_the_field() {
    let case = Case::new().await;
    for (tool, field) in [
        ("not_json", "structured: it is not JSON: "),
        ("deep_json", "structured: it is not JSON: recursion limit exceeded"),
        ("bad_priority", "content[0].annotations.priority: "),
        ("same_keys", "requests[1].key: "),
        ("bad_form", "requests[0].form.schema: it is not JSON: "),
    ] {
        let (_, stopped) = case.stopped(&tight(), tool, "").await;
        assert!(matches!(&stopped, Stopped::BadAnswer(problem) if problem.starts_with(field)), "{stopped:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_of_the_api_is_a_failure_of_the_api() {
    let case = Case::new().await;
    assert_eq!(case.text("call", "/panic/now").await, "Failure::Internal");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn objects_of_the_host_are_bounded() {
    let case = Case::with(Settings { handles: 32, ..settings() }).await;
    let (_, stopped) = case.stopped(&tight(), "streams", "").await;
    assert_eq!(stopped, Stopped::Handles(32));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_time_of_day_is_nobodys_business() {
    let case = Case::new().await;
    let (_, stopped) = case.stopped(&tight(), "date", "").await;
    let reason = "it asked for the time of day, which an extension does not get";
    assert!(matches!(&stopped, Stopped::Trap(trap) if trap.reason == reason), "{stopped:?}");
}
