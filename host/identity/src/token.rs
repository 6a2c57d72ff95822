//! What a token stands for, and whoever knows.

use std::num::NonZeroU32;

use async_trait::async_trait;
use kobana_contract::{Scope, Timestamp};
use uuid::Uuid;

/// The resource that a token was issued for. Tokens of one are refused by the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Audience {
    /// The MCP endpoint.
    Mcp,
    /// `/api/v1`.
    Rest,
    /// Some other resource.
    Other,
}

/// What a token stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// A stable name of the credential that is no secret.
    pub id: String,
    /// The person it speaks for.
    pub person_id: Uuid,
    /// The program that it was issued to.
    pub client: String,
    /// The resource that it was issued for.
    pub audience: Audience,
    /// Scopes as granted.
    pub scopes: Vec<Scope>,
    /// When it ends; never if none.
    pub expires_at: Option<Timestamp>,
    /// Its allowance.
    pub requests_per_minute: NonZeroU32,
}

/// A token could not be looked up. What went wrong is for the log only.
#[derive(Debug, thiserror::Error)]
#[error("tokens cannot be looked up: {0}")]
pub struct SourceError(pub String);

/// Knows tokens.
#[async_trait]
pub trait TokenSource: Send + Sync + 'static {
    /// What the token stands for; none if it is unknown or revoked. Expired ones and those of other audiences are
    /// found, so that a caller can be told what is wrong with them.
    ///
    /// # Errors
    /// [`SourceError`] where nobody can say now.
    async fn find(&self, token: &str) -> Result<Option<Token>, SourceError>;
}
