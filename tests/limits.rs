//! The allowance, and what follows when it is spent.

use serde_json::{Value, json};

use crate::harness::{Answer, Call, Server};

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
    assert!(served[1..].iter().all(|answer| answer.number("x-ratelimit-remaining") < 4));
    refused.fails(429, -31429);
    assert_eq!(refused.number("x-ratelimit-remaining"), 0);
    assert!(refused.number("retry-after") >= 1);
    assert!(refused.number("x-ratelimit-reset") > 1_700_000_000, "Unix seconds");

    // Others keep theirs, and what comes before the token comes before the allowance.
    server.legacy("ping").send().result();
    server.http("GET", "/mcp").token("demo-limited").send().is(405);
}

/// Spends the allowance, then sends this; the answer has to be the refusal.
#[track_caller]
fn refused(server: &Server, call: &Call) -> Answer {
    for _ in 0..10 {
        spend(server);
        let answer = call.send();
        // On a machine that is slow enough the allowance has grown again meanwhile.
        if answer.status == 429 {
            assert_eq!(answer.json()["error"]["code"], -31429, "{answer}");
            return answer;
        }
    }
    panic!("a spent allowance does not keep this from being served");
}

#[test]
fn the_refusal_comes_whatever_else_is_wrong_and_names_the_id_where_there_is_one() {
    let server = Server::demo().start();
    let legacy = |method: &str| server.legacy(method).token("demo-limited");
    for (call, id) in [
        (server.modern("tools/list").token("demo-limited").id(r#""a-1""#), json!("a-1")),
        (legacy("no/such").id("77"), json!(77)),
        (legacy("tools/list").version("1999-01-01"), json!(1)),
        (legacy("ping").body("not json"), Value::Null),
        (legacy("ping").body("[]"), Value::Null),
        (legacy("notifications/initialized").without_id(), Value::Null),
    ] {
        assert_eq!(refused(&server, &call).json()["id"], id);
    }
    refused(&server, &legacy("ping").set("Content-Type", "text/plain"));
}
