//! Whole requests for `just instructions`, which counts what one of them takes: `instructions CASE TIMES` has the gateway component
//! answer the request of a case so often, over an API that answers at once. Without arguments it says which cases there are.
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

use bytes::Bytes;
use http_body_util::Full;
use kobana_runtime::{Limits, Runtime, Source};
use support::{Api, component, request, scratch};

/// A name, whether it goes in through `wasi:http`, and what is asked.
const CASES: &[(&str, bool, &str)] = &[
    ("ping", false, r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#),
    (
        "tools/call",
        false,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"emails_list","arguments":{}}}"#,
    ),
    ("ping, through wasi:http", true, r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#),
];

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let Some(name) = arguments.next() else {
        CASES.iter().for_each(|(name, ..)| println!("{name}"));
        return;
    };
    let times: u32 = arguments.next().and_then(|times| times.parse().ok()).unwrap_or(1);
    let (_, portable, body) = CASES.iter().find(|case| case.0 == name).unwrap_or_else(|| panic!("no case {name}"));
    let runtime = start(*portable);
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio.block_on(async {
        for _ in 0..times {
            assert_eq!(runtime.handle(ask(body)).await.status(), 200);
        }
    });
}

/// A runtime with one instance and hardly a tick: nothing in it depends on how long anything takes.
fn start(portable: bool) -> Runtime {
    let limits = Limits { portable, instances: 1, pool: Some(1), tick_ms: 60_000, cpu_ms: 60_000, ..Limits::default() };
    let environment =
        [("KOBANA_RESOURCE", "http://localhost/mcp"), ("KOBANA_AUTHORIZATION_SERVERS", "http://localhost/a")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
    let source = Source::Bytes(component("kobana-gateway"));
    let cache = Some(scratch("instructions-cache"));
    Runtime::new(source, limits, environment.into(), Arc::new(Api::default()), cache).unwrap()
}

fn ask(body: &'static str) -> http::Request<Full<Bytes>> {
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
    request
}
