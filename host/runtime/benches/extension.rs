//! What a call of an extension costs: a fresh instance each, an API that answers at once.
//!
//! `cargo bench -p kobana-runtime --bench extension`, with the path of a component in `KOBANA_BENCH_EXTENSION` to measure what
//! another one needs to describe itself.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "not in production"
)]

#[allow(dead_code, reason = "shared with the tests, which need more of it")]
#[path = "../tests/extension/support.rs"]
mod support;

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use kobana_runtime::extension::{Api, Artifact, Credit, Limits, Sandbox, Settings};
use support::{Kept, hostile, question, scratch};

/// Calls at once, as many as a load generator has connections.
const CALLS: usize = 32;
const TIME: Duration = Duration::from_secs(3);

fn main() {
    let _ = std::fs::remove_dir_all(scratch("bench-extension-cache"));
    let tokio = tokio::runtime::Runtime::new().unwrap();
    tokio.block_on(async {
        let begin = Instant::now();
        let sandbox = sandbox();
        print("sandbox", begin.elapsed());
        resident("sandbox");
        let artifact = twice(&sandbox, hostile("harmless")).await;
        alone("a call, alone", &sandbox, &artifact, "echo").await;
        alone("one that calls the API", &sandbox, &artifact, "call").await;
        crowd("calls", &sandbox, &artifact, "echo").await;
        resident("calls");
        if let Some(path) = std::env::var_os("KOBANA_BENCH_EXTENSION") {
            other(&sandbox, std::fs::read(path).unwrap().into()).await;
        }
    });
}

fn sandbox() -> Sandbox {
    Sandbox::new(Settings::default(), Some(&scratch("bench-extension-cache"))).unwrap()
}

/// Compiles a component, and once more from the cache.
async fn twice(sandbox: &Sandbox, bytes: Bytes) -> Artifact {
    println!("component               {:>8} bytes", bytes.len());
    let begin = Instant::now();
    sandbox.compile(bytes.clone()).await.unwrap();
    print("compiled", begin.elapsed());
    let begin = Instant::now();
    let artifact = sandbox.compile(bytes).await.unwrap();
    print("from the cache", begin.elapsed());
    artifact
}

async fn other(sandbox: &Sandbox, bytes: Bytes) {
    let artifact = twice(sandbox, bytes).await;
    let mut times = Vec::new();
    for _ in 0..100 {
        let (usage, description) = sandbox.describe(&artifact, &Limits::default(), &free()).await;
        description.unwrap();
        times.push((usage.time, usage.time));
        if times.len() == 100 {
            println!("describe                {usage:?}");
        }
    }
    report("describe", times, 0.0);
    resident("describe");
}

/// At nobody's expense.
fn free() -> Arc<Credit> {
    Arc::new(Credit::unlimited())
}

/// How long a call took for its caller, and how long from the store's beginning to its end.
async fn ask(sandbox: &Sandbox, artifact: &Artifact, tool: &str, api: &Arc<dyn Api>) -> (Duration, Duration) {
    let begin = Instant::now();
    let question = question(tool, "/emails");
    let (usage, outcome) = sandbox.run(artifact, &Limits::default(), &free(), question, Arc::clone(api)).await;
    outcome.unwrap();
    (begin.elapsed(), usage.time)
}

async fn measure(sandbox: Sandbox, artifact: Artifact, tool: &'static str, end: Instant) -> Vec<(Duration, Duration)> {
    let api: Arc<dyn Api> = Arc::<Kept>::default();
    let mut times = Vec::new();
    while Instant::now() < end {
        times.push(ask(&sandbox, &artifact, tool, &api).await);
    }
    times
}

async fn alone(name: &str, sandbox: &Sandbox, artifact: &Artifact, tool: &'static str) {
    let used = cpu();
    let times = measure(sandbox.clone(), artifact.clone(), tool, Instant::now() + TIME).await;
    report(name, times, cpu() - used);
}

async fn crowd(name: &str, sandbox: &Sandbox, artifact: &Artifact, tool: &'static str) {
    let used = cpu();
    let end = Instant::now() + TIME;
    let tasks: Vec<_> =
        (0..CALLS).map(|_| tokio::spawn(measure(sandbox.clone(), artifact.clone(), tool, end))).collect();
    let mut times = Vec::new();
    for task in tasks {
        times.extend(task.await.unwrap());
    }
    report(name, times, cpu() - used);
}

/// Seconds of CPU that this process has used. Linux only.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The 14th and 15th fields, in hundredths; the second is the name, in parentheses.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// Memory of this process, the times of the measurements included. Linux only.
fn resident(name: &str) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    println!("resident, {name:<13} {:>11}", line.trim());
}

fn print(name: &str, time: Duration) {
    println!("{name:<23} {:>8.1} ms", time.as_secs_f64() * 1e3);
}

fn report(name: &str, times: Vec<(Duration, Duration)>, cpu: f64) {
    let (mut whole, mut inside): (Vec<_>, Vec<_>) = times.into_iter().unzip();
    whole.sort();
    inside.sort();
    let at = |times: &[Duration], share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e6;
    let each = cpu * 1e6 / whole.len() as f64;
    println!(
        "{name:<23} {:>8} calls {each:>7.1} µs CPU   p50 {:>6.0} µs   p99 {:>6.0} µs   inside p50 {:>6.0} µs   p99 {:>6.0} µs",
        whole.len(),
        at(&whole, 0.5),
        at(&whole, 0.99),
        at(&inside, 0.5),
        at(&inside, 0.99),
    );
}
