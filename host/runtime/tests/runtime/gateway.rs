//! The real gateway, with an API of the test.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use kobana_runtime::{Limits, Runtime};
use tokio::time::sleep;

use super::tight;
use crate::support::{Api, read, request, start};

const ENVIRONMENT: &[(&str, &str)] =
    &[("KOBANA_RESOURCE", "http://localhost/mcp"), ("KOBANA_AUTHORIZATION_SERVERS", "http://localhost/auth")];

const PING: &str = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;

fn gateway(limits: Limits) -> (Runtime, Api) {
    start("kobana-gateway", limits, ENVIRONMENT)
}

async fn post(runtime: &Runtime, token: &'static str, body: impl Into<Bytes>) -> (u16, String) {
    let mut request = request("POST", "/mcp?x=y", Full::new(body.into()));
    let headers = request.headers_mut();
    headers.insert("authorization", http::HeaderValue::from_static(token));
    headers.insert("content-type", http::HeaderValue::from_static("application/json"));
    read(runtime.handle(request).await).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_speaks() {
    let (runtime, api) = gateway(tight());
    assert_eq!(post(&runtime, "Bearer me", PING).await, (200, r#"{"jsonrpc":"2.0","id":7,"result":{}}"#.to_owned()));
    assert_eq!(post(&runtime, "Bearer expired", PING).await.0, 401);
    let (status, list) = post(&runtime, "Bearer me", r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await;
    assert_eq!(status, 200);
    assert!(list.contains("emails_list"), "{list}");
    let call = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"emails_list","arguments":{}}}"#;
    let (status, text) = post(&runtime, "Bearer me", call).await;
    assert_eq!((status, api.begun()), (200, 1), "{text}");
}

/// Answers of more than one write, and of more than the host takes in one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_answers_arrive_whole() {
    let (runtime, _) = gateway(Limits { memory: 64 << 20, response: 8 << 20, ..tight() });
    for rows in [1, 10, 90] {
        let call = format!(
            r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"emails_list","arguments":{{"limit":{rows}}}}}}}"#
        );
        let (status, text) = post(&runtime, "Bearer me", call).await;
        assert_eq!(status, 200);
        assert_eq!(text.matches('x').count() >> 15, rows);
    }
    assert_eq!(runtime.stats().failed, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bad_configuration_is_an_internal_error() {
    let (runtime, _) = start("kobana-gateway", tight(), &[("KOBANA_RESOURCE", "nonsense")]);
    let internal = r#"{"jsonrpc":"2.0","error":{"code":-32603,"message":"Internal error"}}"#;
    assert_eq!(post(&runtime, "Bearer me", PING).await, (500, internal.to_owned()));
}

/// Nothing that a client sends costs an instance.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bad_input_is_survived() {
    let (runtime, _) = gateway(Limits { instances: 1, memory: 64 << 20, ..tight() });
    const MIB: usize = 1 << 20;
    let nested = [vec![b'['; MIB / 2], vec![b']'; MIB / 2]].concat();
    for bad in [nested, vec![b'['; MIB], vec![0xff; MIB], vec![b'"'; MIB], b"{".repeat(MIB), Vec::new()] {
        let (status, body) = post(&runtime, "Bearer me", bad).await;
        assert_eq!(status, 400, "{body}");
    }
    for long in [MIB + 1, 2 * MIB] {
        assert_eq!(post(&runtime, "Bearer me", vec![b' '; long]).await.0, 413);
    }
    let odd = http::Request::builder().method("BREW").uri("*").header("host", "x").header("x-y", &b"\xff\xfe"[..]);
    let status = runtime.handle(odd.body(Full::<Bytes>::default()).unwrap()).await.status().as_u16();
    assert!((400..500).contains(&status), "{status}");
    assert_eq!(post(&runtime, "Bearer me", PING).await.0, 200);
    assert_eq!((runtime.stats().started, runtime.stats().failed), (1, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_requests_leave_nothing_behind() {
    let (runtime, _) = gateway(Limits { instances: 1, reuse: 10_000, ..tight() });
    let call = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"emails_list","arguments":{}}}"#;
    for _ in 0..2_500 {
        assert_eq!(post(&runtime, "Bearer me", PING).await.0, 200);
        assert_eq!(post(&runtime, "Bearer me", call).await.0, 200);
        assert_eq!(post(&runtime, "Bearer me", "[").await.0, 400);
        assert_eq!(post(&runtime, "Bearer expired", PING).await.0, 401);
    }
    sleep(Duration::from_millis(100)).await;
    let stats = runtime.stats();
    assert_eq!((stats.started, stats.ended, stats.leaked, stats.failed), (1, 1, 0, 0));
}
