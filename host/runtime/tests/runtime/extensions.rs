//! What an embedder's extensions offer, through the real gateway.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use kobana_runtime::{Limits, Runtime};
use tokio::time::sleep;

use super::tight;
use crate::support::{read, request, start};

const ENVIRONMENT: &[(&str, &str)] =
    &[("KOBANA_RESOURCE", "http://localhost/mcp"), ("KOBANA_AUTHORIZATION_SERVERS", "http://localhost/auth")];

/// Calls the tool of the extension, as a client of 2026-07-28 that has folders.
async fn call(runtime: &Runtime, regions: &[&str], members: &str) -> (u16, String) {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"ext.echo.say","arguments":{{"region":"br"}}{members},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{"roots":{{}}}}}}}}}}"#
    );
    let mut request = request("POST", "/mcp", Full::new(Bytes::from(body)));
    let headers = request.headers_mut();
    for (name, value) in [
        ("authorization", "Bearer me"),
        ("content-type", "application/json"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "ext.echo.say"),
    ] {
        headers.insert(name, http::HeaderValue::from_static(value));
    }
    for region in regions {
        headers.append("mcp-param-region", http::HeaderValue::from_str(region).unwrap());
    }
    read(runtime.handle(request).await).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_of_an_extension_is_listed_asks_and_answers() {
    let (runtime, api) = start("kobana-gateway", tight(), ENVIRONMENT);
    let mut list = request("POST", "/mcp", Full::new(Bytes::from(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#)));
    list.headers_mut().insert("authorization", http::HeaderValue::from_static("Bearer me"));
    list.headers_mut().insert("content-type", http::HeaderValue::from_static("application/json"));
    let (_, list) = read(runtime.handle(list).await).await;
    assert!(list.contains(r#"{"name":"ext.echo.say","inputSchema":{"type":"object"}}]"#), "{list}");

    let (status, asked) = call(&runtime, &["br"], "").await;
    assert_eq!(status, 200, "{asked}");
    let asked: serde_json::Value = serde_json::from_str(&asked).unwrap();
    assert_eq!(asked["result"]["inputRequests"]["roots"]["method"], "roots/list");
    let state = asked["result"]["requestState"].clone();
    let members = format!(r#","requestState":{state},"inputResponses":{{"roots":{{"roots":[]}}}}"#);
    let (_, answered) = call(&runtime, &["br"], &members).await;
    let answered: serde_json::Value = serde_json::from_str(&answered).unwrap();
    let expected = format!("{} {:?} {:?}", r#"{"region":"br"}"#, Some(b"kept"), [("roots", r#"{"roots":[]}"#)]);
    assert_eq!(answered["result"]["content"][0]["text"], expected);
    assert_eq!(api.begun(), 0, "nothing of the API was called");
}

/// The lines are read from the host when the body is gone already.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn headers_of_parameters_are_read_late_and_leave_nothing_behind() {
    let (runtime, _) = start("kobana-gateway", Limits { instances: 1, reuse: 400, ..tight() }, ENVIRONMENT);
    for _ in 0..100 {
        assert_eq!(call(&runtime, &["br"], "").await.0, 200);
        for wrong in [&["us"][..], &["br", "br"], &[]] {
            let (status, body) = call(&runtime, wrong, "").await;
            assert!(status == 400 && body.contains("-32020"), "{wrong:?}: {body}");
        }
    }
    sleep(Duration::from_millis(100)).await;
    let stats = runtime.stats();
    assert_eq!((stats.started, stats.ended, stats.leaked, stats.failed), (1, 1, 0, 0));
}
