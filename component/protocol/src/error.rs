//! Every way in which a request can be refused, and the one place that says how each looks in HTTP and JSON-RPC
//! (protocol.md §7; architecture.md, decisions 1 to 8).

use std::borrow::Cow;

use kobana_wire::extension::Stopped;

use crate::challenge;
use crate::config::Config;
use crate::dispatch::{Denial, Failure, Response, Throttle};
use crate::era::Version;
use crate::http::HttpResponse;
use crate::json;
use crate::jsonrpc::Id;

/// The longest piece of a caller's own text that a message repeats, in characters.
const CLIP: usize = 80;

/// A refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Error {
    /// The page is not on the list of allowed origins.
    ForeignOrigin,
    /// The endpoint takes POST only.
    MethodNotAllowed,
    /// The credentials make no caller: the door to the login.
    Unauthorized(Denial),
    /// The allowance is spent.
    RateLimited(Throttle),
    /// The API, or what proves credentials, cannot be reached; seconds to wait.
    Unavailable(u32),
    /// `X-Workspace-Id` stands more than once.
    RepeatedWorkspace,
    /// The body is not JSON by its media type.
    UnsupportedMediaType,
    /// The body is longer than [`crate::http::MAX_BODY`].
    TooLarge,
    /// The body is no JSON.
    Parse(&'static str),
    /// The body is no JSON-RPC request or notification.
    InvalidRequest(String),
    /// The envelope of a 2026-07-28 request is missing or incomplete.
    Envelope(String),
    /// A header is missing, or differs from the body.
    HeaderMismatch(String),
    /// No such version is served.
    UnsupportedVersion {
        /// The version asked for.
        requested: String,
    },
    /// The method is not in the era's table.
    MethodNotFound(String),
    /// The credential does not cover the operation: a new one would help. The scope to ask for.
    InsufficientScope(Cow<'static, str>),
    /// The parameters cannot be taken as they are.
    InvalidParams(String),
    /// The same, with a code that a program can switch on.
    InvalidParamsCode {
        /// Why, in words.
        message: String,
        /// Why, for programs.
        code: &'static str,
    },
    /// No such resource, or none that this caller may see.
    ResourceNotFound {
        /// The URI asked for.
        uri: String,
    },
    /// The same, with the reasons in the form of the API's `validation_failed`.
    InvalidArguments {
        /// Why, in words.
        message: String,
        /// Why, for programs: the member `error` of the API's refusal, as JSON.
        reasons: String,
    },
    /// A destructive tool, and a client that cannot show the question.
    CannotConfirm,
    /// An extension asks for what the client has not declared: the capabilities that it would need, as JSON.
    MissingCapability(String),
    /// An extension was stopped, outside of a tool, whose result would say so.
    Stopped(Stopped),
    /// Something broke.
    Internal(&'static str),
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::TimedOut => Self::Internal("The operation did not end in time; whether it took effect is unknown"),
            Failure::Unavailable(seconds) => Self::Unavailable(seconds),
            Failure::Internal => Self::Internal("Internal error"),
        }
    }
}

impl From<Denial> for Error {
    fn from(denial: Denial) -> Self {
        match denial {
            Denial::RateLimited(throttle) => Self::RateLimited(throttle),
            Denial::Unavailable(seconds) => Self::Unavailable(seconds),
            other => Self::Unauthorized(other),
        }
    }
}

impl Error {
    /// What an answer of the API means that nobody can act on: it is out of reach, or something in it broke.
    pub(crate) fn of_broken(response: &Response) -> Option<Self> {
        match response.status {
            503 => Some(Self::Unavailable(response.retry_after.unwrap_or(1))),
            500.. => Some(Self::Internal("Internal error")),
            _ => None,
        }
    }

    /// The JSON-RPC error code.
    #[must_use]
    pub(crate) const fn code(&self) -> i32 {
        match self {
            Self::Parse(_) => -32700,
            Self::ForeignOrigin
            | Self::MethodNotAllowed
            | Self::RepeatedWorkspace
            | Self::UnsupportedMediaType
            | Self::TooLarge
            | Self::InvalidRequest(_) => -32600,
            Self::MethodNotFound(_) => -32601,
            Self::Envelope(_)
            | Self::InvalidParams(_)
            | Self::InvalidParamsCode { .. }
            | Self::InvalidArguments { .. }
            | Self::ResourceNotFound { .. } => -32602,
            Self::Internal(_) | Self::Stopped(_) => -32603,
            Self::HeaderMismatch(_) => -32020,
            Self::CannotConfirm | Self::MissingCapability(_) => -32021,
            Self::UnsupportedVersion { .. } => -32022,
            // Our own codes stand outside the block that JSON-RPC reserves.
            Self::Unauthorized(_) => -31401,
            Self::InsufficientScope(_) => -31403,
            Self::RateLimited(_) => -31429,
            Self::Unavailable(_) => -31503,
        }
    }

    /// The code in an answer of the given revision: handshake revisions have one of their own for a missing resource
    /// (protocol.md D15).
    const fn code_for(&self, version: Option<Version>) -> i32 {
        match (self, version) {
            (Self::ResourceNotFound { .. }, Some(version)) if !version.is_modern() => -32002,
            _ => self.code(),
        }
    }

    /// The HTTP status in an answer of the given revision, or before any was agreed.
    #[must_use]
    pub(crate) const fn status(&self, version: Option<Version>) -> u16 {
        match self {
            Self::ForeignOrigin | Self::InsufficientScope(_) => 403,
            Self::MethodNotAllowed => 405,
            Self::Unauthorized(_) => 401,
            Self::RateLimited(_) => 429,
            Self::Unavailable(_) => 503,
            Self::UnsupportedMediaType => 415,
            Self::TooLarge => 413,
            Self::RepeatedWorkspace
            | Self::Parse(_)
            | Self::InvalidRequest(_)
            | Self::Envelope(_)
            | Self::HeaderMismatch(_)
            | Self::UnsupportedVersion { .. }
            | Self::CannotConfirm
            | Self::MissingCapability(_) => 400,
            Self::MethodNotFound(_) => match version {
                Some(version) if version.is_modern() => 404,
                _ => 200,
            },
            // A 400 could make a client of both eras fall back to the handshake over a typo (protocol.md §7.3).
            Self::InvalidParams(_)
            | Self::InvalidParamsCode { .. }
            | Self::InvalidArguments { .. }
            | Self::ResourceNotFound { .. }
            | Self::Stopped(_)
            | Self::Internal(_) => 200,
        }
    }

    /// One short sentence for a person.
    fn message(&self) -> String {
        match self {
            Self::ForeignOrigin => "Origin not allowed".to_owned(),
            Self::MethodNotAllowed => "Method not allowed: this endpoint takes POST".to_owned(),
            Self::Unauthorized(denial) => challenge::reason(*denial).unwrap_or("Authentication required").to_owned(),
            Self::RateLimited(throttle) => format!("Too many requests: try again in {} s", throttle.retry_after),
            Self::Unavailable(seconds) => format!("Temporarily unavailable: try again in {seconds} s"),
            Self::RepeatedWorkspace => "Invalid Request: X-Workspace-Id stands more than once".to_owned(),
            Self::UnsupportedMediaType => "Unsupported media type: Content-Type must be application/json".to_owned(),
            Self::TooLarge => "Request body too large: at most 1048576 bytes".to_owned(),
            Self::Parse(what) => format!("Parse error: {what}"),
            Self::InvalidRequest(what) => format!("Invalid Request: {what}"),
            Self::Envelope(what)
            | Self::InvalidParams(what)
            | Self::InvalidParamsCode { message: what, .. }
            | Self::InvalidArguments { message: what, .. } => format!("Invalid params: {what}"),
            Self::HeaderMismatch(what) => format!("Header mismatch: {what}"),
            Self::UnsupportedVersion { requested } => match Version::legacy(requested) {
                Some(_) => "Unsupported protocol version: this one is served through initialize only".to_owned(),
                None => "Unsupported protocol version".to_owned(),
            },
            Self::MethodNotFound(method) => format!("Method not found: {}", clip(method)),
            Self::InsufficientScope(scope) => format!("Insufficient scope: the access token needs {scope}"),
            Self::ResourceNotFound { .. } => "Resource not found".to_owned(),
            Self::CannotConfirm => {
                "confirmation_required: this tool runs only after a confirmation, which needs a client \
                                    that supports form elicitation; do not retry"
                    .to_owned()
            }
            Self::MissingCapability(required) => {
                format!("This has to ask for something that the client has not declared: it needs {required}")
            }
            Self::Stopped(stopped) => stopped.message.clone(),
            Self::Internal(what) => (*what).to_owned(),
        }
    }

    /// The member `data`, as JSON.
    fn data(&self) -> Option<String> {
        match self {
            Self::UnsupportedVersion { requested } => {
                let supported: Vec<_> = Version::ALL.iter().map(|version| json::quoted(version.as_str())).collect();
                Some(format!(r#"{{"supported":[{}],"requested":{}}}"#, supported.join(","), json::quoted(requested)))
            }
            Self::CannotConfirm => Some(
                r#"{"requiredCapabilities":{"elicitation":{"form":{}}},"code":"confirmation_required"}"#.to_owned(),
            ),
            Self::MissingCapability(required) => {
                Some(format!(r#"{{"requiredCapabilities":{required},"code":"capability_required"}}"#))
            }
            Self::InvalidArguments { reasons, .. } => Some(reasons.clone()),
            Self::Stopped(stopped) => {
                let code = format!(r#""code":{}"#, json::quoted(&stopped.code));
                let members: Vec<_> = std::iter::once(code).chain(stopped_details(stopped)).collect();
                Some(format!("{{{}}}", members.join(",")))
            }
            Self::InvalidParamsCode { code, .. } => Some(format!(r#"{{"code":{}}}"#, json::quoted(code))),
            Self::ResourceNotFound { uri } => Some(format!(r#"{{"uri":{}}}"#, json::quoted(uri))),
            _ => None,
        }
    }

    /// The answer.
    #[must_use]
    pub(crate) fn into_response(self, config: &Config, id: Option<Id<'_>>, version: Option<Version>) -> HttpResponse {
        let mut body = String::from(r#"{"jsonrpc":"2.0","#);
        if let Some(id) = id {
            body.push_str(&format!(r#""id":{},"#, id.as_str()));
        }
        body.push_str(&format!(
            r#""error":{{"code":{},"message":{}"#,
            self.code_for(version),
            json::quoted(&self.message())
        ));
        if let Some(data) = self.data() {
            body.push_str(&format!(r#","data":{data}"#));
        }
        body.push_str("}}");
        self.dress(config, HttpResponse::json(self.status(version), body))
    }

    /// Adds the headers that go with the refusal.
    fn dress(&self, config: &Config, response: HttpResponse) -> HttpResponse {
        match self {
            Self::MethodNotAllowed => response.with("allow", "POST"),
            Self::Unauthorized(denial) => response.with("www-authenticate", challenge::unauthorized(config, *denial)),
            Self::InsufficientScope(scope) => {
                response.with("www-authenticate", challenge::insufficient_scope(config, scope))
            }
            Self::RateLimited(Throttle { retry_after: seconds, .. }) | Self::Unavailable(seconds) => {
                response.with("retry-after", seconds.to_string())
            }
            _ => response,
        }
    }
}

/// What else there is to say of why an extension was stopped, as members of an object.
pub(crate) fn stopped_details(stopped: &Stopped) -> Vec<String> {
    let limit = stopped.limit.as_ref().map(|limit| format!(r#""limit":{}"#, json::quoted(limit)));
    let wait = stopped.retry_after.map(|seconds| format!(r#""retry_after":{seconds}"#));
    limit.into_iter().chain(wait).collect()
}

/// Shortens a caller's own text for a message.
#[must_use]
pub(crate) fn clip(text: &str) -> &str {
    text.char_indices().nth(CLIP).and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::config;

    fn answer(error: Error, version: Option<Version>) -> (u16, String) {
        let response = error.into_response(&config(), None, version);
        (response.status, String::from_utf8(response.body).unwrap())
    }

    #[test]
    fn an_unserved_version_lists_those_that_are() {
        let (status, body) = answer(Error::UnsupportedVersion { requested: "1999-01-01".into() }, None);
        assert_eq!(status, 400);
        assert_eq!(
            body,
            r#"{"jsonrpc":"2.0","error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28","2025-06-18","2025-03-26"],"requested":"1999-01-01"}}}"#
        );
    }

    #[test]
    fn an_unknown_method_is_404_in_the_stateless_era_only() {
        let unknown = || Error::MethodNotFound("ping".into());
        assert_eq!(answer(unknown(), Some(Version::V2026_07_28)).0, 404);
        assert_eq!(answer(unknown(), Some(Version::V2025_06_18)).0, 200);
    }

    #[test]
    fn a_missing_resource_has_the_code_of_its_era() {
        let missing = || Error::ResourceNotFound { uri: "kobana://inbox/x".into() };
        assert!(answer(missing(), Some(Version::V2026_07_28)).1.contains("-32602"));
        assert!(answer(missing(), Some(Version::V2025_03_26)).1.contains("-32002"));
    }

    #[test]
    fn a_long_name_is_clipped_between_characters() {
        assert_eq!(clip(&"é".repeat(200)).chars().count(), CLIP);
        assert_eq!(clip("short"), "short");
    }
}
