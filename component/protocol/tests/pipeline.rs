//! The whole pipeline, natively, over an API that only counts what reaches it.

// The whole crate is a test; clippy knows only functions marked as such.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use kobana_protocol::extension::{Kind, Offer, Outcome, Use};
use kobana_protocol::{
    Action, Allowance, Answer, Body, BodyError, Caller, Config, Credentials, Denial, Dispatch, Failure, Head, Headers,
    HttpResponse, Profile, Redemption, Request, Response, Throttle, handle,
};
use proptest::prelude::*;
use serde_json::{Value, json};

/// An API that knows one token and answers every call with an empty page, unless it is told to answer something else.
#[derive(Default)]
struct Counting {
    proofs: Cell<u32>,
    calls: Cell<u32>,
    answer: RefCell<Option<Result<Response, Failure>>>,
    offer: RefCell<Option<Result<Response, Failure>>>,
}

struct Everyone<'a>(&'a Counting);

impl<'a> Dispatch for &'a Counting {
    type Caller = Everyone<'a>;

    async fn authenticate(&self, credentials: Credentials) -> Result<Everyone<'a>, Denial> {
        self.proofs.set(self.proofs.get() + 1);
        match credentials.authorization.as_deref() {
            Some("Bearer good") => Ok(Everyone(self)),
            Some("Bearer spent") => Err(Denial::RateLimited(Throttle { allowance: ALLOWANCE, retry_after: 7 })),
            Some(_) => Err(Denial::Invalid),
            None => Err(Denial::Missing),
        }
    }
}

const ALLOWANCE: Allowance = Allowance { limit: 5, remaining: 4, reset: 1_785_248_000 };

impl Caller for Everyone<'_> {
    async fn profile(&self) -> Profile {
        let scopes = "inbox.emails inbox.inboxes.write".to_owned();
        let permissions = "emails.view inboxes.view inboxes.manage".to_owned();
        Profile { workspace: None, scopes, permissions }
    }

    async fn allowance(&self) -> Allowance {
        ALLOWANCE
    }

    async fn call(&self, _: Request) -> Result<Response, Failure> {
        self.0.calls.set(self.0.calls.get() + 1);
        if let Some(answer) = self.0.answer.borrow().clone() {
            return answer;
        }
        Ok(Response { status: 200, body: br#"{"data":[],"meta":{"next_cursor":null}}"#.to_vec(), retry_after: None })
    }

    async fn prepare(&self, _: Request) -> Result<Response, Failure> {
        let body = br#"{"data":{"id":"1","label":"Caixa","updated_at":"2026-07-28T09:00:00Z"}}"#;
        Ok(Response { status: 200, body: body.to_vec(), retry_after: None })
    }

    async fn suggest(&self, _: Request, prefix: String) -> Result<Response, Failure> {
        if let Some(offer) = self.0.offer.borrow().clone() {
            return offer;
        }
        let body = json!({"data": {"values": [prefix], "total": 1}}).to_string();
        Ok(Response { status: 200, body: body.into_bytes(), retry_after: None })
    }

    async fn issue_confirmation(&self, _: Action) -> Result<String, Failure> {
        Ok("sealed".to_owned())
    }

    async fn redeem_confirmation(&self, _: String, _: Action, _: Answer) -> Result<(), Redemption> {
        Err(Redemption::Invalid)
    }

    async fn refuse_confirmation(&self, _: Action) {}

    async fn offers(&self, _: Kind) -> Result<Vec<Offer>, Failure> {
        Ok(Vec::new())
    }

    async fn find_offer(&self, _: Kind, _: String) -> Result<Option<Offer>, Failure> {
        Ok(None)
    }

    async fn use_offer(&self, _: Use) -> Result<Outcome, Failure> {
        Err(Failure::Internal)
    }

    async fn seal(&self, _: Action, _: Vec<u8>) -> Result<String, Failure> {
        Err(Failure::Internal)
    }

    async fn open(&self, _: String, _: Action) -> Result<Vec<u8>, Redemption> {
        Err(Redemption::Invalid)
    }
}

struct Bytes<'a>(&'a [u8]);

impl Body for Bytes<'_> {
    async fn read(self, limit: usize) -> Result<Vec<u8>, BodyError> {
        if self.0.len() > limit { Err(BodyError::TooLarge) } else { Ok(self.0.to_vec()) }
    }
}

/// No future of this crate waits for anything by itself.
fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the protocol waits for something"),
    }
}

fn config() -> Config {
    Config::from_env(|name| {
        Some(match name {
            "KOBANA_RESOURCE" => "https://inbox.example.com/mcp".to_owned(),
            "KOBANA_AUTHORIZATION_SERVERS" => "https://auth.example.com".to_owned(),
            _ => "https://app.example.com".to_owned(),
        })
    })
    .unwrap()
}

fn send(api: &Counting, method: &str, path: &str, lines: &[(&str, &[u8])], body: &[u8]) -> HttpResponse {
    let mut headers = Headers::new();
    for (name, value) in lines {
        headers.push(*name, *value);
    }
    let none = Headers::new();
    ready(handle(&config(), &api, Head { method, path, headers, parameters: &none }, Bytes(body)))
}

fn header<'a>(response: &'a HttpResponse, name: &str) -> Option<&'a str> {
    response.headers.iter().find(|(line, _)| *line == name).map(|(_, value)| value.as_ref())
}

const GOOD: (&str, &[u8]) = ("authorization", b"Bearer good");
const JSON: (&str, &[u8]) = ("content-type", b"application/json");
const MODERN: (&str, &[u8]) = ("mcp-protocol-version", b"2026-07-28");

fn modern(method: &str, params: Value) -> Vec<u8> {
    let mut params = params;
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    });
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string().into_bytes()
}

fn code(response: &HttpResponse) -> i64 {
    serde_json::from_slice::<Value>(&response.body).unwrap()["error"]["code"].as_i64().unwrap_or(0)
}

/// What is offered for the e-mail of a prompt, if the list answers so.
fn completed(prompt: &str, offer: Option<Result<Response, Failure>>) -> Value {
    let api = Counting { offer: RefCell::new(offer), ..Counting::default() };
    let reference = json!({"type": "ref/prompt", "name": prompt});
    let params = json!({"ref": reference, "argument": {"name": "email_id", "value": "Nota"}});
    let method = ("mcp-method", &b"completion/complete"[..]);
    let response = send(&api, "POST", "/mcp", &[GOOD, JSON, MODERN, method], &modern("completion/complete", params));
    let answer: Value = serde_json::from_slice(&response.body).unwrap();
    answer.get("result").map_or_else(|| answer["error"]["code"].clone(), |result| result["completion"].clone())
}

#[test]
fn what_a_list_offers_is_shown_up_to_a_hundred_and_counted_where_it_is_counted() {
    let rows = |status, data: Value| {
        Some(Ok(Response { status, body: json!({"data": data}).to_string().into_bytes(), retry_after: Some(3) }))
    };
    let typed = json!({"values": ["Nota"], "total": 1, "hasMore": false});
    assert_eq!(completed("summarize_email", None), typed);
    let sixty = vec!["x"; 60];
    let some = completed("summarize_email", rows(200, json!({"values": sixty, "total": 60})));
    assert_eq!(some, json!({"values": sixty, "total": 60, "hasMore": false}));
    // Failed and rejected ones are two readings of the list.
    let both = completed("explain_failure", rows(200, json!({"values": sixty, "total": 60})));
    assert_eq!(both, json!({"values": vec!["x"; 100], "total": 120, "hasMore": true}));
    let uncounted = completed("explain_failure", rows(200, json!({"values": sixty, "total": null})));
    assert_eq!(uncounted, json!({"values": vec!["x"; 100], "hasMore": true}));
    let refused = json!({"values": [], "total": 0, "hasMore": false});
    for status in [400, 403, 404] {
        assert_eq!(completed("summarize_email", rows(status, json!({}))), refused);
    }
    assert_eq!(completed("summarize_email", rows(503, json!({}))), -31503);
    assert_eq!(completed("summarize_email", rows(200, json!([]))), -32603);
    assert_eq!(completed("summarize_email", Some(Err(Failure::Unavailable(1)))), -31503);
}

#[test]
fn the_earlier_check_answers() {
    let api = Counting::default();
    let foreign = ("origin", &b"https://evil.example"[..]);
    let listed = ("origin", &b"https://app.example.com"[..]);
    let text = ("content-type", &b"text/plain"[..]);
    assert_eq!(send(&api, "GET", "/nowhere", &[foreign], b"").status, 403);
    assert_eq!(send(&api, "OPTIONS", "/mcp", &[listed, ("access-control-request-method", b"POST")], b"").status, 204);
    assert_eq!(send(&api, "POST", "/nowhere", &[], b"").status, 404);
    assert_eq!(send(&api, "GET", "/mcp", &[], b"").status, 405);
    assert_eq!(api.proofs.get(), 0, "nobody is asked for a token before");
    assert_eq!(send(&api, "POST", "/mcp", &[text], b"[").status, 401);
    assert_eq!(send(&api, "POST", "/mcp", &[("authorization", b"Bearer spent"), text], b"[").status, 429);
    assert_eq!(send(&api, "POST", "/mcp", &[GOOD, text], &[b' '; 2_000_000]).status, 415);
    assert_eq!(send(&api, "POST", "/mcp", &[GOOD, JSON], &[b' '; 1_048_577]).status, 413);
    assert_eq!(send(&api, "POST", "/mcp", &[GOOD, JSON, ("content-length", b"1048577")], b"{}").status, 413);
    assert_eq!(code(&send(&api, "POST", "/mcp", &[GOOD, JSON], b"[")), -32700);
    assert_eq!(code(&send(&api, "POST", "/mcp", &[GOOD, JSON], b"[]")), -32600);
    assert_eq!(api.calls.get(), 0);
}

#[test]
fn a_refusal_that_can_be_waited_out_has_the_id() {
    let api = Counting::default();
    let lines = [("authorization", &b"Bearer spent"[..]), JSON];
    let response = send(&api, "POST", "/mcp", &lines, br#"{"jsonrpc":"2.0","id":"x","method":"ping"}"#);
    let body: Value = serde_json::from_slice(&response.body).unwrap();
    assert_eq!((body["id"].as_str(), body["error"]["code"].as_i64()), (Some("x"), Some(-31429)));
    assert_eq!(header(&response, "retry-after"), Some("7"));
    assert_eq!(header(&response, "x-ratelimit-limit"), Some("5"));
}

#[test]
fn tools_are_listed_and_called_by_scope_and_permission() {
    let api = Counting::default();
    let list = send(
        &api,
        "POST",
        "/mcp",
        &[GOOD, JSON, MODERN, ("mcp-method", b"tools/list")],
        &modern("tools/list", json!({})),
    );
    let list: Value = serde_json::from_slice(&list.body).unwrap();
    let names: Vec<_> =
        list["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"emails_list") && names.contains(&"inboxes_create") && names.contains(&"me_get"));
    assert!(!names.contains(&"workspaces_list"), "the scope is missing");

    let call = |name: &'static str| {
        let lines = [GOOD, JSON, MODERN, ("mcp-method", &b"tools/call"[..]), ("mcp-name", name.as_bytes())];
        send(&api, "POST", "/mcp", &lines, &modern("tools/call", json!({"name": name, "arguments": {}})))
    };
    assert_eq!(call("emails_list").status, 200);
    assert_eq!(api.calls.get(), 1);
    let refused = call("workspaces_list");
    assert_eq!((refused.status, code(&refused)), (403, -31403));
    assert!(header(&refused, "www-authenticate").unwrap().contains("inbox.workspaces"));
    assert_eq!(code(&call("nope")), -32602);
    assert_eq!(api.calls.get(), 1);
}

#[test]
fn what_breaks_behind_the_endpoint_is_told_by_what_a_client_can_do_about_it() {
    let refused = |status: u16, code: &str| {
        let body = json!({"error": {"code": code, "message": "No."}}).to_string().into_bytes();
        Ok(Response { status, body, retry_after: (status == 503).then_some(9) })
    };
    let table = [
        (refused(503, "unavailable"), 503, -31503),
        (refused(500, "internal_error"), 200, -32603),
        (Err(Failure::Unavailable(9)), 503, -31503),
        (Err(Failure::Internal), 200, -32603),
        (Err(Failure::TimedOut), 200, -32603),
    ];
    let calls = [
        ("tools/call", "emails_list", json!({"name": "emails_list"})),
        ("resources/read", "kobana://inbox/me", json!({"uri": "kobana://inbox/me"})),
    ];
    for (answer, status, expected) in table {
        for (method, name, params) in &calls {
            let api = Counting { answer: RefCell::new(Some(answer.clone())), ..Counting::default() };
            let lines = [GOOD, JSON, MODERN, ("mcp-method", method.as_bytes()), ("mcp-name", name.as_bytes())];
            let response = send(&api, "POST", "/mcp", &lines, &modern(method, params.clone()));
            assert_eq!((response.status, code(&response)), (status, expected), "{method}: {answer:?}");
            assert_eq!(header(&response, "retry-after"), (status == 503).then_some("9"));
            let text = String::from_utf8(response.body).unwrap();
            assert!(!text.contains("No."), "what broke is nobody's business: {text}");
        }
    }
}

/// Bodies near to what the protocol takes: the interesting faults are small ones.
fn bodies() -> impl Strategy<Value = Vec<u8>> {
    let meta = prop_oneof![
        Just(
            json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}})
        ),
        Just(json!({"io.modelcontextprotocol/protocolVersion": "2025-06-18"})),
        Just(json!({"io.modelcontextprotocol/protocolVersion": 7})),
        Just(json!([])),
        Just(Value::Null),
    ];
    let method = prop_oneof![
        Just("tools/call"),
        Just("tools/list"),
        Just("resources/read"),
        Just("prompts/get"),
        Just("completion/complete"),
        Just("initialize"),
        Just("ping"),
        Just("server/discover"),
        Just("no/such")
    ];
    let value = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        Just(json!({})),
        Just(json!([[]]))
    ];
    let member = prop_oneof![
        Just("name"),
        Just("uri"),
        Just("arguments"),
        Just("cursor"),
        Just("ref"),
        Just("argument"),
        Just("requestState"),
        Just("inputResponses"),
        Just("protocolVersion"),
        Just("context")
    ];
    let params = (proptest::collection::vec((member, value.clone()), 0..4), meta);
    let message = (value, method, params).prop_map(|(id, method, (members, meta))| {
        let mut params = serde_json::Map::from_iter(members.into_iter().map(|(name, value)| (name.to_owned(), value)));
        params.insert("_meta".to_owned(), meta);
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string().into_bytes()
    });
    prop_oneof![9 => message, 1 => proptest::collection::vec(any::<u8>(), 0..64)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn every_request_gets_one_well_formed_answer(
        body in bodies(),
        lines in proptest::collection::vec((0_usize..6, prop_oneof![Just(b"2026-07-28".to_vec()), Just(b"tools/call".to_vec()),
            Just(b"emails_list".to_vec()), proptest::collection::vec(any::<u8>(), 0..12)]), 0..5),
        method in prop_oneof![9 => Just("POST"), 1 => Just("PUT")],
    ) {
        let names = ["mcp-protocol-version", "mcp-method", "mcp-name", "x-workspace-id", "origin", "content-length"];
        let mut headers = vec![GOOD, JSON];
        headers.extend(lines.iter().map(|(name, value)| (names[*name], value.as_slice())));
        let api = Counting::default();
        let response = send(&api, method, "/mcp", &headers, &body);
        prop_assert_eq!(header(&response, "cache-control"), Some("no-store"));
        match response.status {
            202 => prop_assert!(response.body.is_empty()),
            _ => {
                let answer: Value = serde_json::from_slice(&response.body).unwrap();
                prop_assert_eq!(&answer["jsonrpc"], "2.0");
                prop_assert!(answer.get("result").is_some() != answer.get("error").is_some());
                prop_assert!(answer.get("id").is_none_or(|id| id.is_string() || id.is_i64()));
                let served = header(&response, "mcp-protocol-version") == Some("2026-07-28");
                if let Some(result) = answer.get("result") {
                    prop_assert_eq!(result.get("resultType").is_some(), served);
                    prop_assert_eq!(result.get("_meta").is_some(), served);
                } else {
                    prop_assert_eq!(api.calls.get(), 0, "refused, yet something ran");
                }
            }
        }
    }
}
