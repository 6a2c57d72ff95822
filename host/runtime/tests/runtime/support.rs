//! Components built on the spot, an API that does as its paths say, and short ways to ask.

#[path = "../../../../tests/harness/built.rs"]
mod built;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use kobana_runtime::dispatch::extension::{
    Block, Content, InputRequired, Kind, Mirrored, Offer, Outcome, Question, Scalar, Use,
};
use kobana_runtime::dispatch::{
    Action, Allowance, Caller, Credentials, Denial, Dispatch, Failure, Profile, Redemption, Request, Response,
};
use kobana_runtime::{Limits, Runtime, Source};
use tokio::time::sleep;

/// The bytes of a component of this workspace.
#[track_caller]
pub(crate) fn component(package: &str) -> Cow<'static, [u8]> {
    Cow::Borrowed(built::built(package))
}

/// A directory that outlives the test run.
pub(crate) fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Limits that are soon reached.
pub(crate) fn tight() -> Limits {
    Limits {
        instances: 4,
        queue: 16,
        queue_wait_ms: 500,
        deadline_ms: 3_000,
        cpu_ms: 300,
        memory: 16 << 20,
        request_body_ms: 300,
        response: 1 << 20,
        ..Limits::default()
    }
}

/// A runtime with the hostile guest.
pub(crate) fn hostile(limits: Limits) -> (Runtime, Api) {
    start("kobana-hostile", limits, &[])
}

/// A runtime with a component of this workspace.
pub(crate) fn start(package: &str, limits: Limits, environment: &[(&str, &str)]) -> (Runtime, Api) {
    let api = Api::default();
    let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let source = Source::Bytes(component(package));
    let dispatch = Arc::new(api.clone());
    let runtime = Runtime::new(source, limits, environment, dispatch, Some(scratch("cache"))).expect("it starts");
    (runtime, api)
}

/// The status and the body of what is answered to a `GET`.
pub(crate) async fn get(runtime: &Runtime, target: &str) -> (u16, String) {
    read(runtime.handle(request("GET", target, Full::default())).await).await
}

pub(crate) fn request<B>(method: &str, target: &str, body: B) -> http::Request<B> {
    http::Request::builder().method(method).uri(target).header("host", "localhost").body(body).unwrap()
}

pub(crate) async fn read(response: http::Response<Full<Bytes>>) -> (u16, String) {
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.into()).unwrap())
}

/// Lets anybody in who has any credentials, and does as paths say.
#[derive(Clone, Default)]
pub(crate) struct Api(Arc<Calls>);

/// Calls so far.
#[derive(Default)]
struct Calls {
    begun: AtomicUsize,
    ended: AtomicUsize,
}

impl Api {
    /// Calls that have begun.
    pub(crate) fn begun(&self) -> usize {
        self.0.begun.load(SeqCst)
    }

    /// Calls that came to their end.
    pub(crate) fn ended(&self) -> usize {
        self.0.ended.load(SeqCst)
    }
}

/// Somebody.
struct Somebody(Arc<Calls>);

#[async_trait]
impl Dispatch for Api {
    async fn authenticate(&self, credentials: Credentials) -> Result<Arc<dyn Caller>, Denial> {
        match credentials.authorization.as_deref() {
            Some("Bearer expired") => Err(Denial::Expired),
            Some(_) => Ok(Arc::new(Somebody(Arc::clone(&self.0)))),
            None => Err(Denial::Missing),
        }
    }
}

#[async_trait]
impl Caller for Somebody {
    fn profile(&self) -> Arc<Profile> {
        Arc::new(Profile {
            workspace: Some("0198c0de-0000-7000-8000-000000000001".to_owned()),
            scopes: "inbox.emails".to_owned(),
            permissions: "emails.view".to_owned(),
        })
    }

    fn allowance(&self) -> Allowance {
        Allowance { limit: 100, remaining: 99, reset: 1_900_000_000 }
    }

    async fn call(&self, request: Request) -> Result<Response, Failure> {
        self.0.begun.fetch_add(1, SeqCst);
        let answer = answer(&request).await;
        self.0.ended.fetch_add(1, SeqCst);
        answer
    }

    async fn offers(&self, kind: Kind) -> Result<Vec<Offer>, Failure> {
        Ok(if kind == Kind::Tool { vec![echo()] } else { Vec::new() })
    }

    async fn find_offer(&self, kind: Kind, name: String) -> Result<Option<Offer>, Failure> {
        Ok((kind == Kind::Tool && name == echo().name).then(echo))
    }

    /// Asks for a name first, and says then whatever it was told.
    async fn use_offer(&self, wanted: Use) -> Result<Outcome, Failure> {
        let Some(answers) = wanted.answers else {
            let requests = vec![("roots".to_owned(), Question::Roots)];
            return Ok(Outcome::InputRequired(InputRequired { requests, state: Some(b"kept".to_vec()) }));
        };
        let text = format!("{} {:?} {:?}", wanted.arguments, answers.state.as_deref(), answers.responses);
        let content = vec![Block { content: Content::Text(text), annotations: None }];
        Ok(Outcome::Tool { content, structured: None, is_error: false })
    }

    async fn seal(&self, action: Action, content: Vec<u8>) -> Result<String, Failure> {
        let content: String = content.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(format!("{}:{content}", action.arguments))
    }

    async fn open(&self, state: String, action: Action) -> Result<Vec<u8>, Redemption> {
        let content = state.strip_prefix(&format!("{}:", action.arguments)).ok_or(Redemption::Invalid)?;
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        content.as_bytes().chunks(2).map(byte).collect::<Option<_>>().ok_or(Redemption::Invalid)
    }
}

/// What an extension offers.
fn echo() -> Offer {
    Offer {
        name: "ext.echo.say".to_owned(),
        extension: "echo".to_owned(),
        version: "1".to_owned(),
        read_only: true,
        missing_scope: None,
        definition: r#""inputSchema":{"type":"object"}"#.to_owned(),
        suggestions: Vec::new(),
        mirrored: vec![Mirrored { name: "Region".to_owned(), path: vec!["region".to_owned()], scalar: Scalar::Text }],
    }
}

async fn answer(request: &Request) -> Result<Response, Failure> {
    let limit =
        request.query.iter().find(|(name, _)| name == "limit").map(|(_, value)| value.parse::<usize>().unwrap());
    let body = match request.path.split_once('/') {
        // The gateway asks for a list; a row has 32 KiB.
        _ if limit.is_some() => format!("\"{}\"", "x".repeat(limit.unwrap() << 15)).into_bytes(),
        // Milliseconds.
        Some(("wait", time)) => {
            sleep(Duration::from_millis(time.parse().unwrap())).await;
            b"waited".to_vec()
        }
        // Bytes.
        Some(("long", length)) => vec![b'x'; length.parse().unwrap()],
        Some(("panic", _)) => panic!("as told"),
        _ => request.path.as_bytes().to_vec(),
    };
    Ok(Response { status: 200, body, retry_after: None })
}
