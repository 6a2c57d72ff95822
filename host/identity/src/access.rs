//! Access tokens of the embedded authorization server as credentials.

use std::sync::Arc;

use async_trait::async_trait;
use kobana_contract::Timestamp;
use kobana_store::{Remembered, Store, grants};
use uuid::Uuid;

use crate::{
    AccessTokenError, AccessTokens, Audience, DEFAULT_REQUESTS_PER_MINUTE, Refusal, Token, TokenSource, token,
};

/// Knows the tokens that the embedded authorization server issued for the MCP endpoint.
#[derive(Debug, Clone)]
pub struct IssuedTokens {
    tokens: AccessTokens,
    store: Store,
    /// When grants end.
    ends: Arc<Remembered<Uuid, Timestamp>>,
}

impl IssuedTokens {
    /// Tokens that these keys verify, on grants of this database.
    #[must_use]
    pub fn new(tokens: AccessTokens, store: Store) -> Self {
        Self { tokens, store, ends: Arc::default() }
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
        // The signature says what was granted; whether it still is, is looked at for every request.
        let read = async || grants::live_until(&self.store, claims.grant).await;
        let end = self.ends.get(&self.store, claims.grant, read).await;
        let end = end.map_err(|error| Refusal::Unavailable(error.to_string()))?;
        if end.is_none_or(|end| end <= Timestamp::now()) {
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

#[cfg(test)]
mod tests {
    use kobana_contract::Scope;
    use kobana_store::demo::{self, persons, workspaces};
    use kobana_store::grants::{CodeRow, GrantRow};
    use kobana_store::{Location, grants};

    use super::*;
    use crate::{AccessClaims, Denial, Identity, SigningKey};

    const RESOURCE: &str = "https://inbox.example.com/mcp";

    /// A grant of Marcos, who reaches two workspaces, and a token on it.
    async fn granted(workspace: Option<Uuid>) -> (Store, IssuedTokens, Uuid, String) {
        let store = Store::open(Location::Memory).await.unwrap();
        demo::seed(&store).await.unwrap();
        let key = SigningKey::from_seed("a", &[1; 32]).unwrap();
        let tokens = AccessTokens::new(vec![key], "https://inbox.example.com", RESOURCE).unwrap();
        let (now, grant) = (Timestamp::now(), Uuid::now_v7());
        let end = now.plus_seconds(60);
        let row = GrantRow {
            id: grant,
            person_id: persons::MARCOS,
            client_id: "client".into(),
            client_name: "Client".into(),
            workspace_id: workspace,
            scopes: "inbox.emails".into(),
            resource: RESOURCE.into(),
            refreshes: false,
            created_at: now.0,
            used_at: now.0,
            expires_at: end.0,
            revoked_at: None,
        };
        let code = CodeRow {
            hash: vec![1; 32],
            grant_id: grant,
            redirect_uri: "http://127.0.0.1/".into(),
            challenge: "c".into(),
            expires_at: end.0,
            redeemed_at: None,
        };
        grants::open(&store, row, code, now).await.unwrap();
        let claims = AccessClaims {
            iss: tokens.issuer().into(),
            sub: persons::MARCOS,
            aud: tokens.resource().into(),
            client_id: "client".into(),
            client_name: "Client".into(),
            scope: "inbox.emails inbox.unheard_of".into(),
            jti: "1".into(),
            iat: now.unix_seconds(),
            exp: now.unix_seconds() + 3_600,
            grant,
            workspace,
        };
        let token = tokens.sign(&claims).unwrap();
        (store.clone(), IssuedTokens::new(tokens, store), grant, token)
    }

    #[tokio::test]
    async fn a_token_speaks_for_its_person_while_its_grant_stands() {
        let (store, source, grant, token) = granted(None).await;
        let found = source.find(&token).await.unwrap().unwrap();
        assert_eq!((found.person_id, found.client.as_str()), (persons::MARCOS, "client"));
        assert_eq!((found.audience, found.scopes), (Audience::Mcp, vec![Scope::Emails]));
        assert_eq!(found.id, grant.to_string());
        let tx = store.begin().await.unwrap();
        grants::revoke(&tx, grant, Timestamp::now()).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(source.find(&token).await, Err(Refusal::Invalid));
    }

    #[tokio::test]
    async fn a_grant_for_one_workspace_reaches_no_other() {
        for (workspace, reach) in [(None, 2), (Some(workspaces::ACME_LABS), 1), (Some(workspaces::GLOBEX), 0)] {
            let (store, source, _, token) = granted(workspace).await;
            let identity = Identity::new(store, source);
            let authorization = format!("Bearer {token}");
            let admission = identity.authenticate(Some(&authorization), None, Audience::Mcp).await.unwrap();
            assert_eq!(admission.caller.memberships.len(), reach);
            let rest = identity.authenticate(Some(&authorization), None, Audience::Rest).await;
            assert_eq!(rest.unwrap_err(), Denial::WrongAudience);
        }
    }
}
