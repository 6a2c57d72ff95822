//! The host's side, asked without the component: who is let in, and what is told to whom.

use kobana_wire::{
    Admitted, As, Authenticate, Call as CallFunction, Credentials, Function, IssueConfirmation, Method, PREFIX, Request,
};

use crate::edge::{KEY, OTHER_KEY, host, setup};
use crate::harness::{Answer, Call, Server};

/// A question to the edge endpoint.
fn ask<F: Function>(server: &Server, key: &str, question: &F::Question) -> Call {
    let body = kobana_wire::write(question).unwrap();
    let call = server.http("POST", &format!("{PREFIX}{}", F::NAME));
    call.header("Authorization", format!("Bearer {key}")).body(body)
}

#[track_caller]
fn send(server: &Server, call: &Call) -> Answer {
    let address = super::runtime::endpoint(server).trim_start_matches("http://").parse().unwrap();
    let answer = call.send_to(address);
    answer.has("kobana-edge-version", "2");
    answer
}

fn owner() -> Credentials {
    Credentials { authorization: Some("Bearer demo-owner".to_owned()), workspace: None }
}

fn admitted(server: &Server, key: &str) -> Admitted {
    let answer = send(server, &ask::<Authenticate>(server, key, &owner()));
    let reply: <Authenticate as Function>::Reply = kobana_wire::read(&answer.is(200).body).unwrap();
    reply.unwrap_or_else(|denial| panic!("the token is refused: {denial:?}"))
}

fn me(ticket: &str) -> As<Request> {
    let request =
        Request { method: Method::Get, path: "/me".to_owned(), query: Vec::new(), body: None, idempotency_key: None };
    As { ticket: ticket.to_owned(), question: request }
}

#[test]
fn it_is_off_unless_it_has_an_address() {
    let server = Server::demo().start();
    assert!(!server.banner().contains("Edge"), "{}", server.banner());
    server.http("POST", "/edge/v2/authenticate").body("").send().is(404);
    let ended = Server::demo().env("KOBANA_EDGE__LISTEN", "127.0.0.1:0").run();
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.stderr.contains("edge.keys: expected at least one key, since edge.listen is set"),
        "{}",
        ended.stderr
    );
    let ended = Server::demo().env("KOBANA_EDGE__KEYS", r#"[{id = "a", key = "c2hvcnQ="}]"#).run();
    assert!(ended.stderr.contains("edge.keys.0.key: expected 32 random bytes in base64"), "{}", ended.stderr);
}

#[test]
fn without_a_right_key_nothing_is_asked_and_nothing_is_told() {
    let server = host();
    let call = ask::<Authenticate>(&server, KEY, &owner());
    for wrong in [
        call.clone().without("Authorization"),
        call.clone().set("Authorization", &format!("Bearer {OTHER_KEY}")),
        call.clone().token("demo-owner"),
        call.clone().header("Authorization", format!("Bearer {KEY}")),
        // Whether something is there is told to those with a key only.
        call.clone().without("Authorization").path("/edge/v2/nothing"),
        call.clone().without("Authorization").path("/"),
    ] {
        let answer = send(&server, &wrong);
        answer.is(401).has("www-authenticate", "Bearer");
        assert_eq!(answer.text(), "expected one of edge.keys as the bearer token\n");
    }
}

#[test]
fn what_is_no_question_is_refused() {
    let server = host();
    let call = ask::<Authenticate>(&server, KEY, &owner());
    send(&server, &call.clone().path("/edge/v2/nothing")).is(404);
    for other in ["/edge/v1/authenticate", "/edge/v3/authenticate"] {
        send(&server, &call.clone().path(other)).is(404);
    }
    send(&server, &call.clone().path("/edge/v2/call")).is(400);
    send(&server, &call.clone().body(Vec::new())).is(400);
    send(&server, &call.body(vec![0; (4 << 20) + 1])).is(413);
    let get = server.http("GET", "/edge/v2/authenticate").header("Authorization", format!("Bearer {KEY}"));
    send(&server, &get).is(405).has("allow", "POST");
}

#[test]
fn a_ticket_is_good_with_its_key_alone_and_is_no_token() {
    let server = setup(&[KEY, OTHER_KEY]).start();
    let Admitted { ticket, .. } = admitted(&server, KEY);
    let answer = send(&server, &ask::<CallFunction>(&server, KEY, &me(&ticket)));
    let reply: <CallFunction as Function>::Reply = kobana_wire::read(&answer.is(200).body).unwrap();
    let response = reply.unwrap();
    assert_eq!(response.status, 200);
    assert!(String::from_utf8(response.body).unwrap().contains("ana.souza@acme.example"));

    send(&server, &ask::<CallFunction>(&server, OTHER_KEY, &me(&ticket))).is(403);
    for wrong in ["", "demo-owner", &ticket[1..], &format!("{ticket}A")] {
        send(&server, &ask::<CallFunction>(&server, KEY, &me(wrong))).is(403);
    }
    server.modern("tools/list").token(&ticket).send().fails_without_id(401, -31401);
    server.http("GET", "/api/v1/me").token(&ticket).send().is(401);
}

#[test]
fn questions_that_follow_take_nothing_off_the_allowance() {
    let server = setup(&[KEY]).start();
    let credentials = Credentials { authorization: Some("Bearer demo-limited".to_owned()), workspace: None };
    let authenticate = || {
        let answer = send(&server, &ask::<Authenticate>(&server, KEY, &credentials));
        let reply: <Authenticate as Function>::Reply = kobana_wire::read(&answer.is(200).body).unwrap();
        reply.unwrap_or_else(|denial| panic!("the token is refused: {denial:?}"))
    };
    let first = authenticate();
    assert_eq!((first.allowance.limit, first.allowance.remaining), (5, 4));
    for _ in 0..20 {
        send(&server, &ask::<CallFunction>(&server, KEY, &me(&first.ticket))).is(200);
    }
    assert_eq!(authenticate().allowance.remaining, 3);
}

#[test]
fn the_token_is_for_mcp_and_the_log_holds_no_secret() {
    let server = setup(&[KEY]).env("KOBANA_LOG__LEVEL", "debug").start();
    let rest = Credentials { authorization: Some("Bearer rest-owner".to_owned()), workspace: None };
    let answer = send(&server, &ask::<Authenticate>(&server, KEY, &rest));
    let reply: <Authenticate as Function>::Reply = kobana_wire::read(&answer.is(200).body).unwrap();
    assert_eq!(reply.err(), Some(kobana_wire::Denial::WrongAudience));
    let Admitted { ticket, .. } = admitted(&server, KEY);
    let action = kobana_wire::Action {
        name: "inboxes_delete".to_owned(),
        arguments: "{}".to_owned(),
        target: String::new(),
        version: String::new(),
        client: None,
    };
    let issue = As { ticket: ticket.clone(), question: action };
    let answer = send(&server, &ask::<IssueConfirmation>(&server, KEY, &issue));
    let state: <IssueConfirmation as Function>::Reply = kobana_wire::read(&answer.is(200).body).unwrap();
    server.wait_for_log("/edge/v2/issue-confirmation");
    for secret in [KEY, &ticket, &state.unwrap(), "demo-owner", "rest-owner"] {
        assert!(!server.log().contains(secret), "{secret}");
    }
}
