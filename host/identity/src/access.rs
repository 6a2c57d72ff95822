//! Access tokens of the embedded authorization server as credentials.

use async_trait::async_trait;
use kobana_contract::Timestamp;
use kobana_store::{Store, grants};

use crate::{
    AccessTokenError, AccessTokens, Audience, DEFAULT_REQUESTS_PER_MINUTE, Refusal, Token, TokenSource, token,
};

/// Knows the tokens that the embedded authorization server issued for the MCP endpoint.
#[derive(Debug, Clone)]
pub struct IssuedTokens {
    tokens: AccessTokens,
    store: Store,
}

impl IssuedTokens {
    /// Tokens that these keys verify, on grants of this database.
    #[must_use]
    pub const fn new(tokens: AccessTokens, store: Store) -> Self {
        Self { tokens, store }
    }
}

#[async_trait]
impl TokenSource for IssuedTokens {
    async fn find(&self, token: &str) -> Result<Option<Token>, Refusal> {
        let claims = match self.tokens.verify(token) {
            Ok(claims) => claims,
            // It may be somebody else's.
            Err(AccessTokenError::Invalid) => return Ok(None),
            Err(AccessTokenError::Expired) => return Err(Refusal::Expired),
            Err(AccessTokenError::WrongAudience) => return Err(Refusal::WrongAudience),
        };
        // The signature says what was granted; whether it still is, is read for every request.
        let live = grants::is_live(&self.store, claims.grant, Timestamp::now()).await;
        if !live.map_err(|error| Refusal::Unavailable(error.to_string()))? {
            return Err(Refusal::Invalid);
        }
        Ok(Some(Token {
            // One grant has one allowance, however many tokens it gets.
            id: claims.grant.to_string(),
            person_id: claims.sub,
            client: claims.client_id,
            audience: Audience::Mcp,
            scopes: token::scopes(&claims.scope),
            workspace: claims.workspace,
            expires_at: Some(Timestamp(0).plus_seconds(claims.exp)),
            requests_per_minute: DEFAULT_REQUESTS_PER_MINUTE,
        }))
    }
}
