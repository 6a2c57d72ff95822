//! Bodies of refusals: `{error: {code, message, details}}` (inbox-api.yaml, `Error`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

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
pub struct ErrorBody {
    /// What went wrong.
    pub error: ErrorDetail,
}

/// What went wrong.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ErrorDetail {
    /// Stable; switch on it.
    pub code: ErrorCode,
    /// Plain English; never repeats what a caller or a sender wrote.
    pub message: String,
    /// What depends on the code: field errors, the missing scope, the clashing field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}
