//! What a request costs between the listener and the API: the gateway component, an API that answers at once.
//!
//! `cargo bench -p kobana-runtime`
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "not in production"
)]

#[allow(dead_code, reason = "shared with the tests, which need more of it")]
#[path = "../tests/runtime/support.rs"]
mod support;

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::Full;
use kobana_runtime::{Limits, Runtime, Source};
use support::{Api, component, request, scratch};

/// Requests at once, as many as a load generator has connections.
const CONNECTIONS: usize = 32;
const TIME: Duration = Duration::from_secs(3);

const PING: &str = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
const CALL: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"emails_list","arguments":{}}}"#;

fn main() {
    let wasm = component("kobana-gateway");
    println!("component            {:>8} bytes", wasm.len());
    let cache = scratch("bench-cache");
    let _ = std::fs::remove_dir_all(&cache);
    for start in ["cold start", "warm start"] {
        let begin = Instant::now();
        drop(runtime(Limits::default()));
        println!("{start:<20} {:>8.1} ms", begin.elapsed().as_secs_f64() * 1e3);
    }
    let tokio = tokio::runtime::Runtime::new().unwrap();
    tokio.block_on(async {
        let reused = runtime(Limits::default());
        alone("ping, alone", &reused, PING).await;
        crowd("ping", &reused, PING).await;
        crowd("tools/list", &reused, LIST).await;
        crowd("tools/call", &reused, CALL).await;
        resident();
        crowd("ping, once more", &reused, PING).await;
        crowd("ping, once more", &reused, PING).await;
        resident();
        let fresh = runtime(Limits { reuse: 1, ..Limits::default() });
        alone("ping, fresh, alone", &fresh, PING).await;
        crowd("ping, fresh", &fresh, PING).await;
    });
}

fn runtime(limits: Limits) -> Runtime {
    let environment =
        [("KOBANA_RESOURCE", "http://localhost/mcp"), ("KOBANA_AUTHORIZATION_SERVERS", "http://localhost/a")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
    let source = Source::Bytes(component("kobana-gateway"));
    let cache = Some(scratch("bench-cache"));
    Runtime::new(source, limits, environment.into(), Arc::new(Api::default()), cache).unwrap()
}

async fn ask(runtime: &Runtime, body: &'static str) {
    let mut request = request("POST", "/mcp", Full::new(Bytes::from_static(body.as_bytes())));
    let headers = request.headers_mut();
    for (name, value) in [
        ("accept", "application/json, text/event-stream"),
        ("authorization", "Bearer a-token-of-some-length-as-they-are"),
        ("content-type", "application/json"),
        ("mcp-protocol-version", "2025-06-18"),
        ("user-agent", "a client"),
    ] {
        headers.insert(name, http::HeaderValue::from_static(value));
    }
    assert_eq!(runtime.handle(request).await.status(), 200);
}

async fn alone(name: &str, runtime: &Runtime, body: &'static str) {
    let used = cpu();
    let times = measure(runtime.clone(), body, Instant::now() + TIME).await;
    report(name, times, cpu() - used);
}

async fn crowd(name: &str, runtime: &Runtime, body: &'static str) {
    let used = cpu();
    let end = Instant::now() + TIME;
    let tasks: Vec<_> = (0..CONNECTIONS).map(|_| tokio::spawn(measure(runtime.clone(), body, end))).collect();
    let mut times = Vec::new();
    for task in tasks {
        times.extend(task.await.unwrap());
    }
    report(name, times, cpu() - used);
}

/// Seconds of CPU that this process has used; says more than the rate where others use the machine too. Linux only.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The 14th and 15th fields, in hundredths; the second is the name, in parentheses.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

async fn measure(runtime: Runtime, body: &'static str, end: Instant) -> Vec<Duration> {
    let mut times = Vec::new();
    while Instant::now() < end {
        let start = Instant::now();
        ask(&runtime, body).await;
        times.push(start.elapsed());
    }
    times
}

/// Memory of this process, the times of the measurements included. Linux only.
fn resident() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    println!("resident             {:>11}", line.trim());
}

fn report(name: &str, mut times: Vec<Duration>, cpu: f64) {
    times.sort();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e6;
    let rate = times.len() as f64 / TIME.as_secs_f64();
    let each = cpu * 1e6 / times.len() as f64;
    println!("{name:<20} {rate:>8.0} req/s {each:>7.1} µs CPU   p50 {:>6.0} µs   p99 {:>6.0} µs", at(0.5), at(0.99));
}
