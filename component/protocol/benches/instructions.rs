//! Requests for `just instructions`, which counts what one of them takes: `instructions CASE TIMES` answers the request of a case so
//! often, without I/O, time or chance. Without arguments it says which cases there are.
#![allow(clippy::unwrap_used, clippy::panic, reason = "not in production")]

use std::future::Future;
use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use kobana_protocol::extension::{Kind, Offer, Outcome, Use};
use kobana_protocol::{
    Action, Allowance, Answer, Body, BodyError, Caller, Config, Credentials, Denial, Dispatch, Failure, Head, Headers,
    HttpResponse, Profile, Redemption, Request, Response, handle,
};

/// One request, and the status of its answer.
struct Case {
    name: &'static str,
    lines: &'static [(&'static str, &'static str)],
    body: String,
    status: u16,
}

const LEGACY: &[(&str, &str)] = &[
    ("authorization", "Bearer a-token-of-some-length-as-they-are"),
    ("content-type", "application/json"),
    ("mcp-protocol-version", "2025-06-18"),
];

/// Headers of 2026-07-28 that repeat the body's, of which the name is encoded.
const MIRROR: &[(&str, &str)] = &[
    ("authorization", "Bearer a-token-of-some-length-as-they-are"),
    ("content-type", "application/json"),
    ("mcp-protocol-version", "2026-07-28"),
    ("mcp-method", "tools/call"),
    ("mcp-name", "=?base64?ZW1haWxzX2xpc3Q=?="),
];

fn cases() -> Vec<Case> {
    let call = |name: &str, arguments: &str, meta: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{name}","arguments":{arguments}{meta}}}}}"#
        )
    };
    let meta = r#","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}"#;
    let long = format!(r#"{{"id":"a","instructions":"{}"}}"#, "words ".repeat(16 << 10));
    let case = |name, lines, body: &str, status| Case { name, lines, body: body.to_owned(), status };
    vec![
        case("refused, no token", &[("content-type", "application/json")], "{}", 401),
        case("parse, half a message", LEGACY, r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[1,2,{"#, 400),
        case("ping", LEGACY, r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#, 200),
        case("tools/list", LEGACY, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, 200),
        case("tools/call", LEGACY, &call("emails_list", r#"{"status":"failed","limit":10}"#, ""), 200),
        case("tools/call, 1 KB answer", LEGACY, &call("me_get", "{}", ""), 200),
        case("tools/call, 200 KB answer", LEGACY, &call("emails_get", r#"{"id":"a"}"#, ""), 200),
        case("tools/call, header mirror", MIRROR, &call("emails_list", r#"{"status":"failed"}"#, meta), 200),
        case("tools/call, 98 KB arguments", LEGACY, &call("agents_update", &long, ""), 200),
    ]
}

/// An API that answers with the same rows.
struct Rows;

impl Rows {
    /// Who is asking, one long e-mail, or ten short ones.
    fn answer(path: &str) -> String {
        match path {
            "/me" => {
                let words = |word: &str| vec![format!("\"{word}.write\""); 16].join(",");
                format!(
                    r#"{{"data":{{"person":{{"id":"00000000-0000-7000-8000-00000000b001","name":"Ana Souza"}},"scopes":[{}],"permissions":[{}]}}}}"#,
                    words("inbox.agents"),
                    words("webhooks.secrets")
                )
            }
            "/emails/a" => {
                let lines =
                    r"A nota fiscal eletrônica nº 48477 foi emitida.\n\nAtenciosamente,\nFornecedor\n".repeat(2_500);
                format!(r#"{{"data":{{"id":"a","text":"{lines}"}}}}"#)
            }
            _ => {
                let row = r#"{"id":"00000000-0000-7000-8000-000000000033","subject":"Nota fiscal eletrônica nº 48477 emitida","status":"failed","from":"\"Fornecedor\" <nfe@example.com>"}"#;
                format!(r#"{{"data":[{}],"meta":{{"next_cursor":null}}}}"#, [row; 10].join(","))
            }
        }
    }
}

impl Dispatch for Rows {
    type Caller = Self;

    async fn authenticate(&self, credentials: Credentials) -> Result<Self, Denial> {
        if credentials.authorization.is_some() { Ok(Self) } else { Err(Denial::Missing) }
    }
}

impl Caller for Rows {
    async fn profile(&self) -> Profile {
        Profile {
            workspace: None,
            scopes: "inbox.inboxes inbox.inboxes.write inbox.emails inbox.agents inbox.agents.write".to_owned(),
            permissions: "inboxes.view inboxes.manage emails.view agents.view agents.manage".to_owned(),
        }
    }

    async fn allowance(&self) -> Allowance {
        Allowance { limit: 600, remaining: 599, reset: 1_785_248_000 }
    }

    async fn call(&self, request: Request) -> Result<Response, Failure> {
        let body = Self::answer(&request.path).into_bytes();
        Ok(Response { status: 200, body, retry_after: None })
    }

    async fn prepare(&self, _: Request) -> Result<Response, Failure> {
        Err(Failure::Internal)
    }

    async fn suggest(&self, _: Request, _: String) -> Result<Response, Failure> {
        Err(Failure::Internal)
    }

    async fn issue_confirmation(&self, _: Action) -> Result<String, Failure> {
        Err(Failure::Internal)
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

struct Whole<'a>(&'a str);

impl Body for Whole<'_> {
    async fn read(self, limit: usize) -> Result<Vec<u8>, BodyError> {
        if self.0.len() > limit { Err(BodyError::TooLarge) } else { Ok(self.0.as_bytes().to_vec()) }
    }
}

fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the protocol waits for something"),
    }
}

fn answer(config: &Config, case: &Case) -> HttpResponse {
    let mut headers = Headers::new();
    for (name, value) in case.lines {
        headers.push(*name, value.as_bytes());
    }
    let head = Head { method: "POST", path: "/mcp", headers, parameters: &Headers::new() };
    ready(handle(config, &Rows, head, Whole(&case.body)))
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let Some(name) = arguments.next() else {
        cases().iter().for_each(|case| println!("{}", case.name));
        return;
    };
    let times: u32 = arguments.next().and_then(|times| times.parse().ok()).unwrap_or(1);
    let case = cases().into_iter().find(|case| case.name == name).unwrap_or_else(|| panic!("no case {name}"));
    let config = Config::from_env(|name| {
        Some(match name {
            "KOBANA_RESOURCE" => "https://inbox.example.com/mcp".to_owned(),
            "KOBANA_AUTHORIZATION_SERVERS" => "https://auth.example.com".to_owned(),
            _ => "https://app.example.com".to_owned(),
        })
    });
    let config = config.unwrap();
    for _ in 0..times {
        assert_eq!(black_box(answer(&config, black_box(&case))).status, case.status, "{name}");
    }
}
