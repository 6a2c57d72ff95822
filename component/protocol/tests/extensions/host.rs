//! A host with extensions, and a client of it.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use kobana_protocol::extension::{Block, Content, InputRequired, Kind, Offer, Outcome, Question, Use};
use kobana_protocol::{
    Action, Allowance, Answer, Body, BodyError, Caller, Config, Credentials, Denial, Dispatch, Failure, Head, Headers,
    Profile, Redemption, Request, Response, handle,
};
use serde_json::{Value, json};

/// A host whose extensions answer by a script.
#[derive(Default)]
pub(crate) struct Host {
    pub(crate) offers: Vec<(Kind, Offer)>,
    /// What comes of uses, one after the other; nothing left is a fault of the test.
    pub(crate) script: RefCell<VecDeque<Outcome>>,
    /// What a check says that finds something; none finds nothing.
    pub(crate) refusal: RefCell<Option<Outcome>>,
    /// What was used.
    pub(crate) uses: RefCell<Vec<Use>>,
    /// What is sealed, and for what; a confirmation holds nothing.
    sealed: RefCell<BTreeMap<String, Sealed>>,
    pub(crate) refused: RefCell<Vec<Action>>,
    /// Functions that were called, in their order.
    pub(crate) calls: RefCell<Vec<&'static str>>,
    /// What extensions cannot be asked for.
    pub(crate) away: Cell<Option<Failure>>,
    /// Whether every state is too old.
    pub(crate) expired: Cell<bool>,
    /// Whether no workspace is picked.
    pub(crate) unpicked: bool,
}

/// What a state is for, and what it holds.
type Sealed = (Action, Option<Vec<u8>>);

pub(crate) struct Somebody<'a>(&'a Host);

impl<'a> Dispatch for &'a Host {
    type Caller = Somebody<'a>;

    async fn authenticate(&self, _: Credentials) -> Result<Somebody<'a>, Denial> {
        Ok(Somebody(self))
    }
}

impl Somebody<'_> {
    fn note(&self, call: &'static str) {
        self.0.calls.borrow_mut().push(call);
    }

    fn keep(&self, action: Action, content: Option<Vec<u8>>) -> String {
        let mut sealed = self.0.sealed.borrow_mut();
        let state = format!("state-{}", sealed.len());
        sealed.insert(state.clone(), (action, content));
        state
    }

    /// Takes a state apart as the host does: bound to its action, and told apart where only the version is another.
    fn look(&self, state: &str, action: &Action, confirmation: bool) -> Result<Vec<u8>, Redemption> {
        let sealed = self.0.sealed.borrow();
        let (kept, content) = sealed.get(state).ok_or(Redemption::Invalid)?;
        if content.is_none() != confirmation {
            return Err(Redemption::Invalid);
        }
        let version = kept.version.clone();
        if *kept != (Action { version, ..action.clone() }) {
            return Err(Redemption::Invalid);
        }
        if kept.version != action.version {
            return Err(Redemption::Changed);
        }
        if self.0.expired.get() {
            return Err(Redemption::Expired);
        }
        Ok(content.clone().unwrap_or_default())
    }
}

impl Caller for Somebody<'_> {
    async fn profile(&self) -> Profile {
        self.note("profile");
        let workspace = (!self.0.unpicked).then(|| "00000000-0000-7000-8000-000000000001".to_owned());
        Profile { workspace, scopes: "inbox.emails".to_owned(), permissions: "emails.view".to_owned() }
    }

    async fn allowance(&self) -> Allowance {
        Allowance { limit: 5, remaining: 4, reset: 1_785_248_000 }
    }

    async fn call(&self, _: Request) -> Result<Response, Failure> {
        self.note("call");
        Ok(Response { status: 200, body: br#"{"data":[]}"#.to_vec(), retry_after: None })
    }

    async fn prepare(&self, _: Request) -> Result<Response, Failure> {
        self.note("prepare");
        Err(Failure::Internal)
    }

    async fn suggest(&self, _: Request, _: String) -> Result<Response, Failure> {
        self.note("suggest");
        Err(Failure::Internal)
    }

    async fn issue_confirmation(&self, action: Action) -> Result<String, Failure> {
        self.note("issue");
        Ok(self.keep(action, None))
    }

    async fn redeem_confirmation(&self, state: String, action: Action, answer: Answer) -> Result<(), Redemption> {
        self.note("redeem");
        self.look(&state, &action, true)?;
        if answer != Answer::None {
            self.0.sealed.borrow_mut().remove(&state);
        }
        Ok(())
    }

    async fn refuse_confirmation(&self, action: Action) {
        self.note("refuse");
        self.0.refused.borrow_mut().push(action);
    }

    async fn offers(&self, kind: Kind) -> Result<Vec<Offer>, Failure> {
        self.note("offers");
        if let Some(failure) = self.0.away.get() {
            return Err(failure);
        }
        Ok(self.0.offers.iter().filter(|(of, _)| *of == kind).map(|(_, offer)| offer.clone()).collect())
    }

    async fn find_offer(&self, kind: Kind, name: String) -> Result<Option<Offer>, Failure> {
        self.note("find");
        if let Some(failure) = self.0.away.get() {
            return Err(failure);
        }
        Ok(self.0.offers.iter().find(|(of, offer)| *of == kind && offer.name == name).map(|(_, offer)| offer.clone()))
    }

    async fn use_offer(&self, offer: Use) -> Result<Outcome, Failure> {
        if offer.check_only {
            self.note("check");
            return Ok(self.0.refusal.borrow().clone().unwrap_or(Outcome::Checked));
        }
        self.note("use");
        self.0.uses.borrow_mut().push(offer);
        Ok(self.0.script.borrow_mut().pop_front().expect("nothing is to be used"))
    }

    async fn seal(&self, action: Action, content: Vec<u8>) -> Result<String, Failure> {
        self.note("seal");
        Ok(self.keep(action, Some(content)))
    }

    async fn open(&self, state: String, action: Action) -> Result<Vec<u8>, Redemption> {
        self.note("open");
        let content = self.look(&state, &action, false)?;
        self.0.sealed.borrow_mut().remove(&state);
        Ok(content)
    }
}

impl Host {
    /// A host with one tool `ext.risk.score` that only reads, and one `ext.risk.quarantine` that writes.
    pub(crate) fn with_tools(script: impl IntoIterator<Item = Outcome>) -> Self {
        let mut host = Self { script: RefCell::new(script.into_iter().collect()), ..Self::default() };
        host.offers
            .push((Kind::Tool, offer("ext.risk.score", true, r#""title":"Score","inputSchema":{"type":"object"}"#)));
        host.offers.push((
            Kind::Tool,
            offer("ext.risk.quarantine", false, r#""title":"Quarantine\u202e","inputSchema":{"type":"object"}"#),
        ));
        host
    }

    /// The number of calls of a function so far.
    pub(crate) fn count(&self, call: &str) -> usize {
        self.calls.borrow().iter().filter(|one| **one == call).count()
    }
}

pub(crate) fn offer(name: &str, read_only: bool, definition: &str) -> Offer {
    Offer {
        name: name.to_owned(),
        extension: "risk".to_owned(),
        version: "v1".to_owned(),
        read_only,
        missing_scope: None,
        definition: definition.to_owned(),
        suggestions: Vec::new(),
        mirrored: Vec::new(),
    }
}

pub(crate) fn said(text: &str) -> Outcome {
    let block = Block { content: Content::Text(text.to_owned()), annotations: None };
    Outcome::Tool { content: vec![block], structured: None, is_error: false }
}

pub(crate) fn asks(state: Option<&[u8]>) -> Outcome {
    let schema = r#"{"type":"object","properties":{"limit":{"type":"integer"}}}"#;
    let form = Question::Form { message: "How much?".to_owned(), schema: schema.to_owned() };
    Outcome::InputRequired(InputRequired {
        requests: vec![("limit".to_owned(), form)],
        state: state.map(<[u8]>::to_vec),
    })
}

/// A request, as a client of a revision sends it.
pub(crate) struct Ask {
    method: &'static str,
    params: Value,
    version: &'static str,
    capabilities: Value,
    lines: Vec<(String, String)>,
    rewrites: Vec<(&'static str, &'static str)>,
}

/// What came back.
pub(crate) struct Told {
    pub(crate) status: u16,
    pub(crate) body: Value,
    pub(crate) challenge: Option<String>,
}

impl Ask {
    pub(crate) fn new(method: &'static str, params: Value) -> Self {
        let capabilities = json!({"elicitation": {}});
        Self { method, params, version: "2026-07-28", capabilities, lines: Vec::new(), rewrites: Vec::new() }
    }

    pub(crate) fn tool(name: &str, arguments: Value) -> Self {
        Self::new("tools/call", json!({"name": name, "arguments": arguments}))
    }

    pub(crate) fn version(mut self, version: &'static str) -> Self {
        self.version = version;
        self
    }

    pub(crate) fn able(mut self, capabilities: Value) -> Self {
        self.capabilities = capabilities;
        self
    }

    pub(crate) fn with(mut self, member: &str, value: Value) -> Self {
        self.params[member] = value;
        self
    }

    /// The answer to the confirmation.
    pub(crate) fn confirms(self, state: &Value, yes: bool) -> Self {
        self.with("requestState", state.clone())
            .with("inputResponses", json!({"confirm": {"action": "accept", "content": {"confirm": yes}}}))
    }

    pub(crate) fn line(mut self, name: &str, value: &str) -> Self {
        self.lines.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Puts another text into the body, which a `Value` could not hold.
    pub(crate) fn rewrite(mut self, text: &'static str, other: &'static str) -> Self {
        self.rewrites.push((text, other));
        self
    }

    pub(crate) fn send(self, host: &Host) -> Told {
        let Self { method, mut params, version, capabilities, lines, rewrites } = self;
        let mut headers = Headers::new();
        headers.push("authorization", b"Bearer good");
        headers.push("content-type", b"application/json");
        headers.push("mcp-protocol-version", version.as_bytes());
        if version == "2026-07-28" {
            headers.push("mcp-method", method.as_bytes());
            if let Some(name) = params.get("name").and_then(Value::as_str) {
                headers.push("mcp-name", name.as_bytes().to_vec());
            }
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": version,
                "io.modelcontextprotocol/clientCapabilities": capabilities,
            });
        }
        let mut parameters = Headers::new();
        for (name, value) in lines {
            parameters.push(name, value.as_bytes().to_vec());
        }
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let body = rewrites.iter().fold(body, |body, (text, other)| body.replace(text, other));
        let head = Head { method: "POST", path: "/mcp", headers, parameters: &parameters };
        let response = ready(handle(&config(), &host, head, Bytes(body.into_bytes())));
        let challenge =
            response.headers.iter().find(|(name, _)| *name == "www-authenticate").map(|(_, value)| value.to_string());
        Told { status: response.status, body: serde_json::from_slice(&response.body).unwrap(), challenge }
    }
}

impl Told {
    pub(crate) fn result(&self) -> &Value {
        assert_eq!(self.status, 200, "{}", self.body);
        self.body.get("result").unwrap_or_else(|| panic!("{}", self.body))
    }

    /// The text of a tool's result.
    pub(crate) fn text(&self) -> &str {
        self.result()["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{}", self.body))
    }

    /// The code of a tool's error.
    pub(crate) fn failed(&self) -> String {
        assert_eq!(self.result()["isError"], true, "{}", self.body);
        let error: Value = serde_json::from_str(self.text()).unwrap();
        error["error"]["code"].as_str().unwrap().to_owned()
    }

    /// The state of a question, which there must be.
    pub(crate) fn state(&self) -> Value {
        assert_eq!(self.result()["resultType"], "input_required", "{}", self.body);
        assert!(self.result().get("ttlMs").is_none());
        self.result()["requestState"].clone()
    }

    /// Status, code, and code in the data of an error.
    pub(crate) fn error(&self) -> (u16, i64, Option<&str>) {
        let error = &self.body["error"];
        (self.status, error["code"].as_i64().unwrap_or_else(|| panic!("{}", self.body)), error["data"]["code"].as_str())
    }
}

struct Bytes(Vec<u8>);

impl Body for Bytes {
    async fn read(self, limit: usize) -> Result<Vec<u8>, BodyError> {
        if self.0.len() > limit { Err(BodyError::TooLarge) } else { Ok(self.0) }
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
