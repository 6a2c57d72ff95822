//! Bodies of refusals: `{error: {code, message, details}}` (inbox-api.yaml, `Error`).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::access::names;

names! {
    /// Stable codes; callers switch on them.
    ErrorCode {
        /// 400: body, query or header cannot be taken as they are.
        ValidationFailed = "validation_failed",
        /// 400: several workspaces are in reach and none was picked.
        WorkspaceRequired = "workspace_required",
        /// 401: no credential.
        MissingToken = "missing_token",
        /// 401: the credential is malformed, unknown, expired, revoked or meant for another audience.
        InvalidToken = "invalid_token",
        /// 403: the credential lacks the scope.
        InsufficientScope = "insufficient_scope",
        /// 403: the person lacks the permission.
        PermissionDenied = "permission_denied",
        /// 404: absent, deleted, of another tenant or out of reach; the four look the same.
        NotFound = "not_found",
        /// 409: a unique value is taken.
        Conflict = "conflict",
        /// 409: the idempotency key was used for another request.
        IdempotencyConflict = "idempotency_conflict",
        /// 409: the same request is still running.
        IdempotencyInProgress = "idempotency_in_progress",
        /// 413: the body is too large.
        PayloadTooLarge = "payload_too_large",
        /// 415: the body is of another media type.
        UnsupportedMediaType = "unsupported_media_type",
        /// 422: the address is not on the configured inbox domain.
        InboxDomainMismatch = "inbox_domain_mismatch",
        /// 422: it refers to no live row of the workspace.
        ReferenceNotFound = "reference_not_found",
        /// 422: the deployment does not allow this address.
        UrlNotAllowed = "url_not_allowed",
        /// 429: the allowance is spent.
        RateLimited = "rate_limited",
        /// 500: something broke.
        InternalError = "internal_error",
        /// 503: the store is out of reach, or the process is going down.
        Unavailable = "unavailable",
    }
}

impl ErrorCode {
    /// The HTTP status that goes with the code (inbox-api.yaml, `x-error-codes`).
    #[must_use]
    pub const fn status(self) -> u16 {
        match self {
            Self::ValidationFailed | Self::WorkspaceRequired => 400,
            Self::MissingToken | Self::InvalidToken => 401,
            Self::InsufficientScope | Self::PermissionDenied => 403,
            Self::NotFound => 404,
            Self::Conflict | Self::IdempotencyConflict | Self::IdempotencyInProgress => 409,
            Self::PayloadTooLarge => 413,
            Self::UnsupportedMediaType => 415,
            Self::InboxDomainMismatch | Self::ReferenceNotFound | Self::UrlNotAllowed => 422,
            Self::RateLimited => 429,
            Self::InternalError => 500,
            Self::Unavailable => 503,
        }
    }
}

/// The body of every refusal.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Error")]
pub struct ErrorBody {
    /// What went wrong.
    pub error: ErrorDetail,
}

/// What went wrong.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ErrorDetail {
    /// Stable; switch on it.
    // A text and no list of words, so that a further code breaks nobody.
    #[schemars(with = "String", extend("examples" = ["validation_failed"]))]
    pub code: ErrorCode,
    /// Plain English; never repeats what a caller or a sender wrote.
    pub message: String,
    /// What depends on the code: field errors, the missing scope, the clashing field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Value")]
    pub details: Option<Value>,
}

/// `details` of 400.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ValidationDetails {
    /// Field, parameter or header name to the problems found.
    pub field_errors: BTreeMap<String, Vec<String>>,
    /// Problems of the body as a whole.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub form_errors: Vec<String>,
    /// Only with workspace_required.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub workspaces: Vec<WorkspaceChoice>,
}

/// A workspace that may be picked.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct WorkspaceChoice {
    /// UUID.
    pub id: Uuid,
    /// Label.
    pub label: String,
}

/// `details` of 403.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ForbiddenDetails {
    /// Scope or permission that was needed.
    pub required: String,
    /// Scopes held; only with insufficient_scope.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub granted: Vec<String>,
}

/// `details` of 409 and 422.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FieldDetails {
    /// What clashed or broke the rule, such as external_id, email or X-Idempotency-Key.
    pub field: String,
}

/// `details` of 429.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RateDetails {
    /// Requests allowed in the window.
    pub limit: i64,
    /// Seconds.
    pub retry_after: i64,
}
