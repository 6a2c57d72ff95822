//! Refusals: one enum, and one place where it becomes a status and a body (inbox-api.yaml, `x-error-codes`).

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use kobana_contract::error::{ErrorBody, ErrorCode, ErrorDetail};
use kobana_contract::{Permission, Scope};
use kobana_store::fault;
use sea_orm::DbErr;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::problems::Problems;

/// Seconds after which a request is worth another try when the database was busy.
const RETRY_AFTER: u32 = 1;
/// Seconds after which somebody may have changed the configuration.
const RECONFIGURED_AFTER: u32 = 3_600;

/// What a request is refused with.
///
/// What the caller reads is fixed text and the contract's own names; the causes go to the log, once, when the refusal
/// becomes a response.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// 400 `validation_failed`: body, query or header cannot be taken as they are.
    #[error("the request cannot be taken as it is")]
    Invalid(Problems),
    /// 400 `workspace_required`: several workspaces are in reach, by UUID and label, and none was picked.
    #[error("several workspaces are in reach")]
    WorkspaceRequired(Vec<(Uuid, String)>),
    /// 401 `missing_token`. The challenge header is left to whoever reads the token.
    #[error("no credential")]
    MissingToken,
    /// 401 `invalid_token`: malformed, unknown, expired, revoked, or meant for another audience.
    #[error("the credential is not valid")]
    InvalidToken,
    /// 403 `insufficient_scope`.
    #[error("the credential lacks the scope {required}")]
    InsufficientScope {
        /// The scope that was needed.
        required: Scope,
        /// The scopes held.
        granted: Vec<Scope>,
    },
    /// 403 `permission_denied`.
    #[error("the person lacks the permission {0}")]
    PermissionDenied(Permission),
    /// 404 `not_found`: absent, deleted, of another tenant or out of reach.
    #[error("not found")]
    NotFound,
    /// 405: the path has operations, but none with this method.
    #[error("no such method")]
    MethodNotAllowed,
    /// 409 `conflict`: a unique value is taken.
    #[error("the value of {field} is taken")]
    Conflict {
        /// The field whose value is taken.
        field: &'static str,
    },
    /// 409 `conflict`: what is there stands in the way.
    #[error("{message}")]
    InTheWay {
        /// The field that it is about.
        field: &'static str,
        /// What stands in the way, and what helps.
        message: String,
    },
    /// 409 `idempotency_conflict`: the key was used for another request.
    #[error("the idempotency key was used for another request")]
    IdempotencyConflict,
    /// 409 `idempotency_in_progress`: the same request is still running.
    #[error("the same request is still running")]
    IdempotencyInProgress,
    /// 413 `payload_too_large`.
    #[error("the body is too large")]
    PayloadTooLarge,
    /// 415 `unsupported_media_type`: the operation takes another one.
    #[error("the body is of another media type")]
    UnsupportedMediaType,
    /// 422 `inbox_domain_mismatch`: the address is not on the configured inbox domain.
    #[error("the address is on another domain")]
    InboxDomainMismatch,
    /// 422 `reference_not_found`: it refers to no live row of the workspace.
    #[error("{field} refers to nothing")]
    ReferenceNotFound {
        /// The field that refers to nothing.
        field: &'static str,
    },
    /// 422 `url_not_allowed`: the deployment does not send to this address.
    #[error("the address is not allowed")]
    UrlNotAllowed,
    /// 429 `rate_limited`.
    #[error("the allowance is spent")]
    RateLimited {
        /// Requests allowed in the window.
        limit: u32,
        /// Seconds until the next request is let through.
        retry_after: u32,
    },
    /// 503 `unavailable`: the store is out of reach, or the process is going down.
    #[error("unavailable")]
    Unavailable {
        /// Seconds to wait.
        retry_after: u32,
        /// What happened, for the log.
        #[source]
        cause: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// 503 `unavailable`: this server runs no extensions.
    #[error("this server runs no extensions: `extensions.enabled` is off in its configuration")]
    NoExtensions,
    /// 500 `internal_error`.
    #[error("internal error")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl ApiError {
    /// A failure of our own; the cause goes to the log only.
    pub fn internal(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Internal(cause.into())
    }

    /// One problem of one field.
    #[must_use]
    pub fn invalid_field(field: &str, message: &str) -> Self {
        Self::Invalid(Problems::of_field(field, message))
    }

    /// The contract's code.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::Invalid(_) => ErrorCode::ValidationFailed,
            Self::WorkspaceRequired(_) => ErrorCode::WorkspaceRequired,
            Self::MissingToken => ErrorCode::MissingToken,
            Self::InvalidToken => ErrorCode::InvalidToken,
            Self::InsufficientScope { .. } => ErrorCode::InsufficientScope,
            Self::PermissionDenied(_) => ErrorCode::PermissionDenied,
            // The contract has no code of its own for a method that a path does not know.
            Self::NotFound | Self::MethodNotAllowed => ErrorCode::NotFound,
            Self::Conflict { .. } | Self::InTheWay { .. } => ErrorCode::Conflict,
            Self::IdempotencyConflict => ErrorCode::IdempotencyConflict,
            Self::IdempotencyInProgress => ErrorCode::IdempotencyInProgress,
            Self::PayloadTooLarge => ErrorCode::PayloadTooLarge,
            Self::UnsupportedMediaType => ErrorCode::UnsupportedMediaType,
            Self::InboxDomainMismatch => ErrorCode::InboxDomainMismatch,
            Self::ReferenceNotFound { .. } => ErrorCode::ReferenceNotFound,
            Self::UrlNotAllowed => ErrorCode::UrlNotAllowed,
            Self::RateLimited { .. } => ErrorCode::RateLimited,
            Self::Unavailable { .. } | Self::NoExtensions => ErrorCode::Unavailable,
            Self::Internal(_) => ErrorCode::InternalError,
        }
    }

    /// The HTTP status.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        match self {
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            _ => StatusCode::from_u16(self.code().status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
        }
    }

    /// The body, as the caller reads it.
    #[must_use]
    pub fn body(&self) -> ErrorBody {
        let message = self.message().to_owned();
        ErrorBody { error: ErrorDetail { code: self.code(), message, details: self.details() } }
    }

    fn message(&self) -> &str {
        match self {
            Self::Invalid(_) => "The request has invalid fields; details.field_errors names them.",
            Self::WorkspaceRequired(_) => {
                "Several workspaces are within reach: name one of details.workspaces in the X-Workspace-Id header."
            }
            Self::MissingToken => "A bearer token is needed.",
            Self::InvalidToken => "The bearer token is not valid here.",
            Self::InsufficientScope { .. } => "The token lacks the scope that details.required names.",
            Self::PermissionDenied(_) => "You lack the permission that details.required names.",
            Self::NotFound => "There is nothing here that you can reach.",
            Self::MethodNotAllowed => "This path does not take this method; the Allow header names those it takes.",
            Self::Conflict { .. } => "The value of the field that details.field names is already taken.",
            Self::InTheWay { message, .. } => message,
            Self::IdempotencyConflict => "This X-Idempotency-Key was used for another request.",
            Self::IdempotencyInProgress => "The same request is still running; try again in a moment.",
            Self::PayloadTooLarge => "The body is larger than this operation takes.",
            Self::UnsupportedMediaType => "The body is of another media type than this operation takes.",
            Self::InboxDomainMismatch => "The address must be on the inbox domain of this installation.",
            Self::ReferenceNotFound { .. } => "The field that details.field names refers to nothing in this workspace.",
            Self::UrlNotAllowed => "This installation sends only to public https addresses.",
            Self::RateLimited { .. } => "Too many requests; wait details.retry_after seconds.",
            Self::Unavailable { .. } => "The service cannot answer right now; try again in a moment.",
            Self::NoExtensions => "This server runs no extensions: extensions.enabled is off in its configuration.",
            Self::Internal(_) => "Something went wrong on our side.",
        }
    }

    fn details(&self) -> Option<Value> {
        let field = |name: &str| Some(json!({ "field": name }));
        match self {
            Self::Invalid(problems) => serde_json::to_value(problems).ok(),
            Self::WorkspaceRequired(workspaces) => Some(workspace_details(workspaces)),
            Self::InsufficientScope { required, granted } => Some(json!({ "required": required, "granted": granted })),
            Self::PermissionDenied(required) => Some(json!({ "required": required })),
            Self::Conflict { field: name }
            | Self::InTheWay { field: name, .. }
            | Self::ReferenceNotFound { field: name } => field(name),
            Self::IdempotencyConflict | Self::IdempotencyInProgress => field("X-Idempotency-Key"),
            Self::InboxDomainMismatch => field("email"),
            Self::UrlNotAllowed => field("url"),
            Self::RateLimited { limit, retry_after } => Some(json!({ "limit": limit, "retry_after": retry_after })),
            _ => None,
        }
    }

    pub(crate) const fn retry_after(&self) -> Option<u32> {
        match self {
            Self::RateLimited { retry_after, .. } | Self::Unavailable { retry_after, .. } => Some(*retry_after),
            Self::NoExtensions => Some(RECONFIGURED_AFTER),
            _ => None,
        }
    }

    /// Writes down what the caller is not told.
    pub(crate) fn log(&self) {
        match self {
            Self::Internal(cause) => tracing::error!(error = %Chain(cause.as_ref()), "request failed"),
            Self::Unavailable { cause: Some(cause), .. } => {
                tracing::warn!(error = %Chain(cause.as_ref()), "request could not be answered");
            }
            _ => {}
        }
    }
}

fn workspace_details(workspaces: &[(Uuid, String)]) -> Value {
    let choices: Vec<_> = workspaces.iter().map(|(id, label)| json!({ "id": id, "label": label })).collect();
    let message = "expected the UUID or external_id of one of the workspaces within reach";
    json!({ "field_errors": { "X-Workspace-Id": [message] }, "workspaces": choices })
}

/// An error with its causes.
struct Chain<'a>(&'a (dyn std::error::Error + 'static));

impl std::fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)?;
        let mut next = self.0.source();
        while let Some(cause) = next {
            write!(f, ": {cause}")?;
            next = cause.source();
        }
        Ok(())
    }
}

impl From<kobana_egress::NotAllowed> for ApiError {
    fn from(_: kobana_egress::NotAllowed) -> Self {
        Self::UrlNotAllowed
    }
}

impl From<DbErr> for ApiError {
    /// A unique value that is taken is the caller's to change; a busy database is worth another try.
    fn from(error: DbErr) -> Self {
        match fault::taken(&error) {
            Some(field) => Self::Conflict { field },
            None if fault::is_temporary(&error) => {
                Self::Unavailable { retry_after: RETRY_AFTER, cause: Some(error.into()) }
            }
            None => Self::internal(error),
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        self.log();
        let mut response = (self.status(), Json(self.body())).into_response();
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(seconds) = self.retry_after() {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_database_is_worth_another_try_and_a_broken_one_is_not() {
        let busy = ApiError::from(DbErr::Conn(sea_orm::RuntimeErr::Internal("refused".to_owned())));
        assert_eq!(busy.status(), 503);
        assert_eq!(busy.into_response().headers()[header::RETRY_AFTER], "1");
        let broken = ApiError::from(DbErr::Type("a word that is not in its list".to_owned()));
        assert_eq!(broken.status(), 500);
        assert!(!format!("{:?}", broken.body()).contains("word"));
    }

    #[test]
    fn details_follow_the_contract() {
        let refused = ApiError::InsufficientScope { required: Scope::InboxesWrite, granted: vec![Scope::Emails] };
        let body = serde_json::to_value(refused.body()).unwrap();
        assert_eq!(body["error"]["code"], "insufficient_scope");
        assert_eq!(body["error"]["details"], json!({ "required": "inbox.inboxes.write", "granted": ["inbox.emails"] }));
        let limited = ApiError::RateLimited { limit: 5, retry_after: 60 }.into_response();
        assert_eq!((limited.status().as_u16(), &limited.headers()[header::RETRY_AFTER]), (429, &HeaderValue::from(60)));
    }
}
