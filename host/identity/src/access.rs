//! Access tokens of the embedded authorization server as credentials.

use std::sync::Arc;

use async_trait::async_trait;
use kobana_contract::Timestamp;
use kobana_store::{Moment, Remembered, Store, grants};
use quick_cache::sync::Cache;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::{
    AccessClaims, AccessTokenError, AccessTokens, Audience, DEFAULT_REQUESTS_PER_MINUTE, Refusal, Token, TokenSource,
    token,
};

/// How many verified tokens are kept; they are small.
const MOST: usize = 10_000;

/// Knows the tokens that the embedded authorization server issued for the MCP endpoint.
#[derive(Debug, Clone)]
pub struct IssuedTokens {
    tokens: AccessTokens,
    store: Store,
    /// When grants end.
    ends: Arc<Remembered<Uuid, Timestamp>>,
    /// What was verified, by the digest of the whole token: a signature that is right stays right, since the keys of a process do
    /// not change. Whether the token has ended and whether its grant stands is asked each time.
    verified: Arc<Cache<[u8; 32], Arc<Verified>>>,
}

/// What a token of ours says.
#[derive(Debug)]
struct Verified {
    grant: Uuid,
    end: Timestamp,
    token: Token,
}

impl From<AccessClaims> for Verified {
    fn from(claims: AccessClaims) -> Self {
        let end = Timestamp(0).plus_seconds(claims.exp);
        let token = Token {
            // One grant has one allowance, however many tokens it gets.
            id: claims.grant.to_string(),
            person_id: claims.sub,
            client: claims.client_id,
            audience: Audience::Mcp,
            scopes: token::scopes(&claims.scope),
            workspace: claims.workspace,
            expires_at: Some(end),
            requests_per_minute: DEFAULT_REQUESTS_PER_MINUTE,
        };
        Self { grant: claims.grant, end, token }
    }
}

impl IssuedTokens {
    /// Tokens that these keys verify, on grants of this database.
    #[must_use]
    pub fn new(tokens: AccessTokens, store: Store) -> Self {
        Self { tokens, store, ends: Arc::default(), verified: Arc::new(Cache::new(MOST)) }
    }

    /// What a token says that has not ended.
    ///
    /// # Errors
    /// Why it is none of ours, or none any more.
    fn verify(&self, token: &str, now: Timestamp) -> Result<Arc<Verified>, AccessTokenError> {
        let digest: [u8; 32] = Sha256::digest(token).into();
        if let Some(verified) = self.verified.get(&digest).filter(|verified| verified.end > now) {
            return Ok(verified);
        }
        let verified = Arc::new(Verified::from(self.tokens.verify(token)?));
        self.verified.insert(digest, Arc::clone(&verified));
        Ok(verified)
    }
}

#[async_trait]
impl TokenSource for IssuedTokens {
    async fn find(&self, token: &str, moment: &Moment<'_>) -> Result<Option<Token>, Refusal> {
        let now = Timestamp::now();
        let verified = match self.verify(token, now) {
            Ok(verified) => verified,
            // It may be somebody else's.
            Err(AccessTokenError::Invalid) => return Ok(None),
            Err(AccessTokenError::Expired) => return Err(Refusal::Expired),
            Err(AccessTokenError::WrongAudience) => return Err(Refusal::WrongAudience),
        };
        // The signature says what was granted; whether it still is, is looked at for every request.
        let read = async |_: &Uuid| grants::live_until(&self.store, verified.grant).await;
        let end = self.ends.get(moment, verified.grant, read).await;
        let end = end.map_err(|error| Refusal::Unavailable(error.to_string()))?;
        if end.is_none_or(|end| end <= now) {
            return Err(Refusal::Invalid);
        }
        Ok(Some(verified.token.clone()))
    }
}

#[cfg(test)]
mod tests {
    use kobana_contract::Scope;
    use kobana_store::demo::{self, persons, workspaces};
    use kobana_store::grants::{CodeRow, GrantRow};
    use kobana_store::{Location, grants};

    use super::*;
    use crate::{Denial, Identity, SigningKey};

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
        let found = source.find(&token, &store.moment()).await.unwrap().unwrap();
        assert_eq!((found.person_id, found.client.as_str()), (persons::MARCOS, "client"));
        assert_eq!((found.audience, found.scopes), (Audience::Mcp, vec![Scope::Emails]));
        assert_eq!(found.id, grant.to_string());
        let tx = store.begin().await.unwrap();
        grants::revoke(&tx, grant, Timestamp::now()).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(source.find(&token, &store.moment()).await, Err(Refusal::Invalid));
    }

    #[tokio::test]
    async fn what_was_verified_ends_with_its_token_and_says_nothing_of_another_one() {
        let (store, source, _, token) = granted(None).await;
        for _ in 0..2 {
            assert!(source.find(&token, &store.moment()).await.unwrap().is_some());
        }
        let digest: [u8; 32] = Sha256::digest(&token).into();
        let known = source.verified.get(&digest).unwrap();
        assert_eq!(source.verify(&token, known.end.plus_seconds(-1)).map(|found| found.grant), Ok(known.grant));
        // Past its end it is read again, by whoever knows how far clocks may differ.
        let (ended, again) = (known.end, source.verify(&token, known.end).unwrap());
        assert!(!Arc::ptr_eq(&known, &again) && again.end == ended);
        let (signed, signature) = token.rsplit_once('.').unwrap();
        let other = format!("{signed}.{}", signature.chars().rev().collect::<String>());
        assert_eq!(source.find(&other, &store.moment()).await, Ok(None));
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
