//! Extensions built on the spot, an API that keeps what it was asked, and short ways to ask.

#[allow(dead_code, reason = "shared with the tests of the gateway, which need more of it")]
#[path = "../runtime/support.rs"]
mod gateway;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use kobana_runtime::dispatch::Method;
use kobana_runtime::extension::{
    Api, ApiFailure, Artifact, Context, Credit, Level, Limits, Question, Request, Response, Sandbox, Settings, Stopped,
    Usage, Who,
};
use kobana_wire::extension::{Content, Outcome};
use tokio::time::sleep;

pub(crate) use gateway::{component, scratch};

/// Settings for few calls at once, and no long wait.
pub(crate) fn settings() -> Settings {
    Settings { calls: 4, queue_wait_ms: 5_000, ..Settings::default() }
}

/// Limits that are soon reached, but for time: the machine may be busy.
pub(crate) fn tight() -> Limits {
    Limits {
        memory: 16 << 20,
        table_elements: 10_000,
        fuel: 50_000_000,
        time_ms: 60_000,
        host_calls: 500,
        api_calls: 20,
        log: 4_096,
        output: 1 << 20,
    }
}

pub(crate) fn sandbox() -> Sandbox {
    sandbox_with(settings())
}

pub(crate) fn sandbox_with(settings: Settings) -> Sandbox {
    Sandbox::new(settings, Some(&scratch("extension-cache"))).expect("it starts")
}

/// The hostile extension, in a mode of eight letters.
pub(crate) fn hostile(mode: &str) -> Bytes {
    let mut bytes = component("kobana-hostile-extension").into_owned();
    let marker = b"kobana-hostile-mode=";
    let at = bytes.windows(marker.len()).position(|window| window == marker).expect("the mode is there");
    let word = at + marker.len();
    bytes[word..word + 8].copy_from_slice(mode.as_bytes());
    bytes.into()
}

/// For calls at nobody's expense.
pub(crate) fn free() -> Arc<Credit> {
    Arc::new(Credit::unlimited())
}

/// A sandbox with the hostile extension, which can be asked as often as one likes.
pub(crate) struct Case {
    pub(crate) sandbox: Sandbox,
    pub(crate) artifact: Artifact,
    pub(crate) api: Arc<Kept>,
    pub(crate) credit: Arc<Credit>,
}

impl Case {
    pub(crate) async fn new() -> Self {
        Self::with(settings()).await
    }

    pub(crate) async fn with(settings: Settings) -> Self {
        let sandbox = sandbox_with(settings);
        let artifact = sandbox.compile(hostile("harmless")).await.expect("it compiles");
        Self { sandbox, artifact, api: Arc::default(), credit: free() }
    }

    pub(crate) async fn ask(&self, limits: &Limits, question: Question) -> (Usage, Result<Outcome, Stopped>) {
        let api = Arc::clone(&self.api) as Arc<dyn Api>;
        self.sandbox.run(&self.artifact, limits, &self.credit, question, api).await
    }

    /// Has a tool run into something, and makes sure that a good call works right after.
    pub(crate) async fn stopped(&self, limits: &Limits, tool: &str, argument: &str) -> (Usage, Stopped) {
        let (usage, outcome) = self.ask(limits, question(tool, argument)).await;
        let stopped = outcome.expect_err("it is stopped");
        assert_eq!(self.text("count", "").await, "1", "the sandbox is well after {stopped:?}");
        (usage, stopped)
    }

    /// What a tool answers as its only text.
    pub(crate) async fn text(&self, tool: &str, argument: &str) -> String {
        let (_, outcome) = self.ask(&tight(), question(tool, argument)).await;
        text(outcome.expect("it answers"))
    }
}

/// A call of a tool with one argument.
pub(crate) fn question(tool: &str, argument: &str) -> Question {
    let arguments = format!(r#"{{"argument":"{argument}"}}"#);
    Question::Tool { name: tool.to_owned(), arguments, context: Context::default() }
}

pub(crate) fn text(outcome: Outcome) -> String {
    match outcome {
        Outcome::Tool { mut content, structured: None, is_error: false } if content.len() == 1 => {
            match content.remove(0).content {
                Content::Text(text) => text,
                other => panic!("no text: {other:?}"),
            }
        }
        other => panic!("not one text: {other:?}"),
    }
}

/// Keeps what it was asked and told.
#[derive(Default)]
pub(crate) struct Kept {
    pub(crate) begun: Mutex<Vec<String>>,
    pub(crate) ended: Mutex<Vec<String>>,
    pub(crate) lines: Mutex<Vec<(Level, String)>>,
}

#[async_trait]
impl Api for Kept {
    fn who(&self) -> Option<Who> {
        Some(Who { subject: "somebody".to_owned(), ..Who::default() })
    }

    async fn call(&self, request: Request) -> Result<Response, ApiFailure> {
        let name = format!("{:?} {}", request.method, request.path);
        self.begun.lock().unwrap().push(name.clone());
        let answer = answer(&request).await;
        self.ended.lock().unwrap().push(name);
        answer
    }

    fn log(&self, level: Level, message: &str) {
        self.lines.lock().unwrap().push((level, message.to_owned()));
    }
}

async fn answer(request: &Request) -> Result<Response, ApiFailure> {
    match request.path.trim_start_matches('/').split_once('/') {
        Some(("wait", time)) => sleep(Duration::from_millis(time.parse().unwrap())).await,
        Some(("long", length)) => {
            let body = vec![b'x'; length.parse().unwrap()];
            return Ok(Response { status: 200, body, retry_after: None });
        }
        Some(("panic", _)) => panic!("as told"),
        _ if request.method == Method::Delete => return Err(ApiFailure::Refused),
        _ => (),
    }
    Ok(Response { status: 200, body: request.path.as_bytes().to_vec(), retry_after: None })
}
