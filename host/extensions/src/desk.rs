//! What one call of an extension can reach: the API as its caller, narrowed, and a log.

use std::sync::Arc;

use async_trait::async_trait;
use kobana_api::{ApiError, Local, LocalApi};
use kobana_contract::{Caller, Scope};
use kobana_runtime::extension::{Api, ApiFailure, Level, Request, Response, Who};
use kobana_wire::{Failure, Method};

/// The longest answer of the API that an extension gets, in bytes.
const LONGEST_ANSWER: usize = 8 << 20;
/// The longest path that is looked at, in bytes.
const LONGEST_PATH: usize = 2_048;

/// Takes lines of an extension's log. It must not block.
pub type Log = Arc<dyn Fn(Level, &str) + Send + Sync>;

/// Who uses an extension, and what the extension reaches by that.
#[derive(Clone)]
pub struct Visit {
    /// The caller. An extension never has more than that.
    pub caller: Arc<Caller>,
    /// The operations of `/api/v1`.
    pub api: LocalApi,
    /// Where its log goes.
    pub log: Log,
}

impl std::fmt::Debug for Visit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Visit").field("caller", &self.caller.person_id).finish_non_exhaustive()
    }
}

/// The API for one call.
pub(crate) struct Desk {
    api: Local,
    read_only: bool,
    log: Log,
}

impl Desk {
    /// The API as the visitor, with those scopes only that the extension has declared, too.
    pub(crate) fn new(visit: Visit, declared: &[Scope], read_only: bool) -> Self {
        let Visit { caller, api, log } = visit;
        let scopes = both(&caller.scopes, declared);
        let caller = Arc::new(Caller { scopes, ..Caller::clone(&caller) });
        Self { api: Local { api, caller }, read_only, log }
    }

    fn refuse(&self, why: &str) -> ApiFailure {
        (self.log)(Level::Warn, why);
        ApiFailure::Refused
    }
}

/// The scopes that two sets have in common; writing includes reading.
pub(crate) fn both(held: &[Scope], declared: &[Scope]) -> Vec<Scope> {
    let covers = |scopes: &[Scope], wanted: Scope| scopes.iter().any(|scope| scope.satisfies(wanted));
    Scope::ALL.iter().copied().filter(|scope| covers(held, *scope) && covers(declared, *scope)).collect()
}

#[async_trait]
impl Api for Desk {
    fn who(&self) -> Option<Who> {
        let caller = &self.api.caller;
        Some(Who {
            subject: caller.person_id.to_string(),
            workspace: caller.workspace()?.workspace_id.to_string(),
            scopes: caller.scopes.iter().map(ToString::to_string).collect(),
            permissions: caller.permissions().iter().map(ToString::to_string).collect(),
        })
    }

    async fn call(&self, request: Request) -> Result<Response, ApiFailure> {
        if self.read_only && request.method != Method::Get {
            return Err(self.refuse("a call of the API was refused: what only reads can only get"));
        }
        if first_segment(&request.path) == Some("extensions") {
            return Err(self.refuse("a call of the API was refused: no extension manages extensions"));
        }
        if !is_path(&request.path) {
            return Ok(refusal(&ApiError::NotFound));
        }
        let key = request.idempotency_key.as_deref();
        if key.is_some_and(|key| !key.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')) {
            return Ok(refusal(&ApiError::invalid_field("X-Idempotency-Key", "expected printable ASCII")));
        }
        match self.api.call(request).await {
            Ok(response) if response.body.len() <= LONGEST_ANSWER => Ok(response),
            Ok(response) => {
                tracing::warn!(bytes = response.body.len(), "an answer of the API is too long for an extension");
                Err(ApiFailure::Internal)
            }
            Err(Failure::TimedOut) => Err(ApiFailure::TimedOut),
            Err(Failure::Unavailable(seconds)) => Err(ApiFailure::Unavailable(seconds)),
            Err(Failure::Internal) => Err(ApiFailure::Internal),
        }
    }

    fn log(&self, level: Level, message: &str) {
        (self.log)(level, message);
    }
}

fn first_segment(path: &str) -> Option<&str> {
    path.trim_start_matches('/').split(['/', '?', '#']).next()
}

/// Whether it is a path and nothing else, whose first segment means what it says.
fn is_path(path: &str) -> bool {
    let plain = first_segment(path).is_some_and(|segment| segment.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'));
    let fits = path.len() <= LONGEST_PATH && path.starts_with('/') && !path.contains(['?', '#']);
    plain && fits && path.bytes().all(|byte| byte.is_ascii_graphic()) && path.parse::<http::Uri>().is_ok()
}

/// What the API would answer.
fn refusal(error: &ApiError) -> Response {
    let body = serde_json::to_vec(&error.body()).unwrap_or_default();
    Response { status: error.status().as_u16(), body, retry_after: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_those_that_both_have() {
        use Scope as S;
        assert_eq!(both(&[S::InboxesWrite, S::Emails], &[S::Inboxes, S::EmailsWrite]), [S::Inboxes, S::Emails]);
        assert_eq!(both(&[S::InboxesWrite], &[S::InboxesWrite]), [S::Inboxes, S::InboxesWrite]);
        assert_eq!(both(&[S::Agents], &[]), []);
        assert_eq!(both(&[], S::ALL), []);
    }

    #[test]
    fn paths_are_paths() {
        for good in ["/me", "/emails", "/emails/a%2Fb", "/agent_runs/1"] {
            assert!(is_path(good), "{good}");
        }
        let long = format!("/emails/{}", "x".repeat(LONGEST_PATH));
        for bad in [
            "",
            "me",
            "/%65mails",
            "/emails?x=1",
            "/emails#x",
            "/emails/a b",
            "/emails/ç",
            "/EMAILS",
            "http://a/b",
            &long,
        ] {
            assert!(!is_path(bad), "{bad}");
        }
    }

    #[test]
    fn extensions_are_seen_however_they_are_written() {
        for path in ["/extensions", "//extensions/a", "/extensions?x", "extensions"] {
            assert_eq!(first_segment(path), Some("extensions"), "{path}");
        }
        assert!(!is_path("/%65xtensions"));
    }
}
