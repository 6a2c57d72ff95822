//! What a token stands for, and whoever knows.

use std::num::NonZeroU32;

use async_trait::async_trait;
use kobana_contract::{Scope, Timestamp};
use kobana_store::Moment;
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

impl Audience {
    /// What it is called on the command line and in the database; none where there is no such resource here.
    #[must_use]
    pub const fn as_str(self) -> Option<&'static str> {
        match self {
            Self::Mcp => Some("mcp"),
            Self::Rest => Some("rest"),
            Self::Other => None,
        }
    }

    /// The resource of this name; [`Audience::Other`] for every other name.
    #[must_use]
    pub fn named(name: &str) -> Self {
        [Self::Mcp, Self::Rest].into_iter().find(|known| known.as_str() == Some(name)).unwrap_or(Self::Other)
    }
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
    /// The one workspace that it is limited to; none where it reaches all that the person reaches.
    pub workspace: Option<Uuid>,
    /// When it ends; never if none.
    pub expires_at: Option<Timestamp>,
    /// Its allowance.
    pub requests_per_minute: NonZeroU32,
}

/// Why a token that a source knows to be its own stands for nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is forged, revoked, or speaks for nobody.
    #[error("it is not valid")]
    Invalid,
    /// It has ended.
    #[error("it has ended")]
    Expired,
    /// It was issued for another resource.
    #[error("it was issued for another resource")]
    WrongAudience,
    /// Nobody can say now. What went wrong is for the log only.
    #[error("tokens cannot be looked up: {0}")]
    Unavailable(String),
}

/// Knows tokens.
#[async_trait]
pub trait TokenSource: Send + Sync + 'static {
    /// What the token stands for at this moment of the database; none if it is not one of this source's.
    ///
    /// # Errors
    /// [`Refusal`].
    async fn find(&self, token: &str, moment: &Moment<'_>) -> Result<Option<Token>, Refusal>;
}

/// Several sources: the first that knows a token decides.
#[derive(Default)]
pub struct Sources(Vec<Box<dyn TokenSource>>);

impl Sources {
    /// Asks this source too, after those that are there.
    #[must_use]
    pub fn and(mut self, source: impl TokenSource) -> Self {
        self.0.push(Box::new(source));
        self
    }
}

#[async_trait]
impl TokenSource for Sources {
    async fn find(&self, token: &str, moment: &Moment<'_>) -> Result<Option<Token>, Refusal> {
        for source in &self.0 {
            if let Some(found) = source.find(token, moment).await? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

/// The scopes in a list between spaces. Unknown ones are left out: a foreign issuer may know more than we do.
#[must_use]
pub(crate) fn scopes(list: &str) -> Vec<Scope> {
    list.split(' ').filter_map(Scope::parse).collect()
}
