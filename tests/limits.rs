//! The allowance, and what follows when it is spent.

use crate::harness::{Answer, Server};

/// Asks until the allowance is spent. It may grow again meanwhile, on a machine that is slow enough.
fn spend(server: &Server) -> (Vec<Answer>, Answer) {
    let call = server.legacy("ping").token("demo-limited");
    let mut served = Vec::new();
    loop {
        let answer = call.send();
        if answer.status == 429 {
            return (served, answer);
        }
        answer.is(200);
        served.push(answer);
        assert!(served.len() < 100, "the allowance never ends");
    }
}

#[test]
fn the_allowance_counts_down_and_then_requests_are_refused() {
    let server = Server::demo().start();
    let (served, refused) = spend(&server);
    assert!(served.len() >= 5);
    assert_eq!(served[0].number("x-ratelimit-limit"), 5);
    assert_eq!(served[0].number("x-ratelimit-remaining"), 4);
    assert!(served.windows(2).all(|two| two[0].number("x-ratelimit-remaining") != 5));
    refused.fails(429, -31429);
    assert_eq!(refused.number("x-ratelimit-remaining"), 0);
    assert!(refused.number("retry-after") >= 1);
    assert!(refused.number("x-ratelimit-reset") > 1_700_000_000);

    is_refused_before_anything_else(&server);
    server.legacy("ping").send().result();
    server.http("GET", "/mcp").token("demo-limited").send().is(405);
}

/// The refusal comes whatever else is wrong, names the id where it can be read, and lasts.
fn is_refused_before_anything_else(server: &Server) {
    let limited = |method: &str| server.legacy(method).token("demo-limited");
    for (call, id) in [
        (server.modern("tools/list").token("demo-limited").id(r#""a-1""#), Some(r#""id":"a-1""#)),
        (limited("no/such").id("77"), Some(r#""id":77"#)),
        (limited("ping").body("not json"), None),
        (limited("ping").set("Content-Type", "text/plain").id("3"), None),
        (limited("notifications/initialized").without_id(), None),
    ] {
        let answer = call.send();
        // A slow machine may have let the allowance grow again; then there is nothing to see here.
        if answer.status == 429 {
            assert_eq!(answer.json()["error"]["code"], -31429, "{answer}");
            assert!(id.is_none_or(|id| answer.text().contains(id)), "{answer}");
        }
    }
}
