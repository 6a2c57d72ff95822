//! What is said: the types of `wit/dispatch.wit`.

use serde::{Deserialize, Serialize};

/// What a request brings to prove who is calling. `Debug` is not derived on purpose: it holds a secret.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credentials {
    /// The value of the `Authorization` header, as it came.
    pub authorization: Option<String>,
    /// The value of the `X-Workspace-Id` header.
    pub workspace: Option<String>,
}

/// What is left of a caller's allowance of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowance {
    /// Requests allowed in the window.
    pub limit: u32,
    /// Requests left in the window.
    pub remaining: u32,
    /// When the window ends, in Unix seconds.
    pub reset: u64,
}

/// A spent allowance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Throttle {
    /// What the allowance is.
    pub allowance: Allowance,
    /// Seconds until the next request is let through; at least 1.
    pub retry_after: u32,
}

/// Where a caller acts and what it may do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// The UUID of the workspace acted on, if one is picked.
    pub workspace: Option<String>,
    /// Scopes of the credential, as granted, with a space between two.
    pub scopes: String,
    /// Permissions held in the workspace, or in at least one in reach when none was picked; with a space between two.
    pub permissions: String,
}

/// A proven caller. `Debug` is not derived on purpose: the ticket is a secret.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Admitted {
    /// What the questions that follow have to bring: sealed by the host, good for two minutes and with one edge key.
    pub ticket: String,
    /// What the caller is and may do.
    pub profile: Profile,
    /// What is left of the allowance.
    pub allowance: Allowance,
}

/// A question of a caller that is proven already. `Debug` is not derived on purpose: the ticket is a secret.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct As<T> {
    /// What proves the caller, from [`Admitted`].
    pub ticket: String,
    /// The question.
    pub question: T,
}

/// Why credentials do not make a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// HTTP method.
    pub method: Method,
    /// Path below the API's base; each variable is exactly one percent-encoded segment.
    pub path: String,
    /// Query parameters, decoded.
    pub query: Vec<(String, String)>,
    /// A JSON document.
    #[serde(with = "serde_bytes")]
    pub body: Option<Vec<u8>>,
    /// Makes a repeated request safe.
    pub idempotency_key: Option<String>,
}

/// What the API answered, refusals included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Response {
    /// HTTP status.
    pub status: u16,
    /// A JSON document; empty with status 204.
    #[serde(with = "serde_bytes")]
    pub body: Vec<u8>,
    /// Seconds to wait, where the API says so.
    pub retry_after: Option<u32>,
}

impl Response {
    /// The document as a text. What is no UTF-8 in it, which the API never writes, is replaced (U+FFFD).
    #[must_use]
    pub fn into_text(self) -> String {
        String::from_utf8(self.body).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Failure {
    /// No answer in time; whether a write took effect is unknown.
    TimedOut,
    /// The API cannot be reached; seconds to wait.
    Unavailable(u32),
    /// Something broke.
    Internal,
}

/// What a person is asked to confirm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// Nothing yet: the state is looked at and not spent.
    None,
    /// Yes.
    Accepted,
    /// No.
    Declined,
}

/// Why a state confirms nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
