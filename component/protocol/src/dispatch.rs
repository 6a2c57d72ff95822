//! The API as the protocol sees it: the interface `kobana:api/dispatch` as traits.
//!
//! The gateway implements them over the component's imports, tests and native builds over the API itself. Meaning and
//! units of every field are written down in `wit/dispatch.wit`. The traits are `async` but ask for no runtime: where
//! every call is synchronous, as in `wasi:http` 0.2, no future of this crate is ever pending.

/// What a request brings to prove who is calling. `Debug` is not derived on purpose: it holds a secret.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Credentials {
    /// The value of the `Authorization` header, as it came.
    pub authorization: Option<String>,
    /// The value of the `X-Workspace-Id` header.
    pub workspace: Option<String>,
}

/// What is left of a caller's allowance of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// Requests allowed in the window.
    pub limit: u32,
    /// Requests left in the window.
    pub remaining: u32,
    /// When the window ends, in Unix seconds.
    pub reset: u64,
}

/// A spent allowance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Throttle {
    /// What the allowance is.
    pub allowance: Allowance,
    /// Seconds until the next request is let through.
    pub retry_after: u32,
}

/// What a caller is and may do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Profile {
    /// The person, as a UUID.
    pub subject: String,
    /// The program that acts for the person.
    pub client: String,
    /// The UUID of the workspace acted on, if one is picked.
    pub workspace: Option<String>,
    /// Scopes of the credential, as granted.
    pub scopes: Vec<String>,
    /// Permissions held in the workspace, or in at least one in reach when none was picked.
    pub permissions: Vec<String>,
}

/// Why credentials do not make a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Denial {
    /// There are none, or they are of another scheme.
    Missing,
    /// They are malformed, unknown, revoked, or their person is disabled.
    Invalid,
    /// They have ended.
    Expired,
    /// They were issued for another resource.
    WrongAudience,
    /// The allowance is spent.
    RateLimited(Throttle),
    /// They cannot be checked now; seconds to wait.
    Unavailable(u32),
}

/// HTTP methods of operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    Get,
    /// Creates, or starts something.
    Post,
    /// Creates or updates.
    Put,
    /// Changes what is sent.
    Patch,
    /// Deletes.
    Delete,
}

/// One operation of the API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// HTTP method.
    pub method: Method,
    /// Path below the API's base; each variable is exactly one percent-encoded segment.
    pub path: String,
    /// Query parameters, decoded.
    pub query: Vec<(String, String)>,
    /// A JSON document.
    pub body: Option<Vec<u8>>,
    /// Makes a repeated request safe.
    pub idempotency_key: Option<String>,
}

/// What the API answered, refusals included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// HTTP status.
    pub status: u16,
    /// A JSON document; empty with status 204.
    pub body: Vec<u8>,
    /// Seconds to wait, where the API says so.
    pub retry_after: Option<u32>,
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// No answer in time; whether a write took effect is unknown.
    TimedOut,
    /// The API cannot be reached; seconds to wait.
    Unavailable(u32),
    /// Something broke.
    Internal,
}

/// What a person is asked to confirm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    /// What is to be done, by name.
    pub name: String,
    /// With what, as a JSON object in one canonical form.
    pub arguments: String,
    /// The UUID of the row acted on.
    pub target: String,
    /// The version of that row that the person was asked about.
    pub version: String,
    /// The program that asks, as it names itself; for the record only.
    pub client: Option<String>,
}

/// What a person answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Nothing yet: the state is looked at and not spent.
    None,
    /// Yes.
    Accepted,
    /// No.
    Declined,
}

/// Why a state confirms nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redemption {
    /// It is too old.
    Expired,
    /// The row acted on has changed since the question.
    Changed,
    /// It is tampered with, already used, or of another person, client, workspace or call.
    Invalid,
    /// It cannot be looked at now; seconds to wait.
    Unavailable(u32),
}

/// Proves credentials.
pub trait Dispatch {
    /// The identity that proven credentials give.
    type Caller: Caller;
    /// Proves the credentials and takes one request off the caller's allowance.
    async fn authenticate(&self, credentials: Credentials) -> Result<Self::Caller, Denial>;
}

/// A verified identity, for the time of one request.
pub trait Caller {
    /// What the caller is and may do.
    async fn profile(&self) -> Profile;
    /// What is left of the allowance.
    async fn allowance(&self) -> Allowance;
    /// Calls one operation as this caller.
    async fn call(&self, request: Request) -> Result<Response, Failure>;
    /// Checks whatever `call` would check and changes nothing. Answers the row that the call would act on, or the refusal
    /// that it would give.
    async fn prepare(&self, request: Request) -> Result<Response, Failure>;
    /// Offers rows of the list that the request reads, of which a text begins with the prefix: 200 with
    /// `{"data": {"values": [...], "total": n}}`, or the refusal that `call` would give.
    async fn suggest(&self, request: Request, prefix: String) -> Result<Response, Failure>;
    /// Seals what this caller is about to be asked, so that the answer can be brought back by anyone and used by nobody else.
    async fn issue_confirmation(&self, action: Action) -> Result<String, Failure>;
    /// Opens a sealed state. An answer spends it, whatever the answer is.
    async fn redeem_confirmation(&self, state: String, action: Action, answer: Answer) -> Result<(), Redemption>;
    /// Puts on record that a call was refused because nobody could be asked.
    async fn refuse_confirmation(&self, action: Action);
}
