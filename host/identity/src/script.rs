//! Tokens for scripts: long-lived, made on the command line, revocable at any moment.
//!
//! A token is `kbn_ID_SECRET`: the UUID under which it is looked up, and 256 random bits in base64url. The database keeps SHA-256 of the
//! secret alone; what is random needs no slow hash.

use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use kobana_contract::{Scope, Timestamp};
use kobana_store::tokens::{self, TokenRow};
use kobana_store::{Moment, Remembered, Store, Write, sea_orm::DbErr};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use uuid::Uuid;

use crate::{Audience, DEFAULT_REQUESTS_PER_MINUTE, Refusal, Token, TokenSource, token};

/// What every such token begins with, so that a search for leaked secrets finds it.
const PREFIX: &str = "kbn_";
/// Bytes of a secret.
const SECRET: usize = 32;

/// A token to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewScriptToken {
    /// UUID of the person that it speaks for.
    pub person: Uuid,
    /// UUID of the one workspace that it is limited to.
    pub workspace: Option<Uuid>,
    /// What it is for, in its owner's words.
    pub label: String,
    /// The name of the resource that it is for (see [`Audience::named`]).
    pub audience: &'static str,
    /// Scopes.
    pub scopes: Vec<Scope>,
    /// When it ends; never if none.
    pub expires_at: Option<Timestamp>,
}

/// Makes a token and keeps what is needed to know it again. The answer is its UUID and the token itself, which nobody can be
/// shown a second time.
///
/// # Errors
/// What the database answers.
pub async fn mint(tx: &Write, new: NewScriptToken, now: Timestamp) -> Result<(Uuid, String), DbErr> {
    let (id, secret) = (Uuid::now_v7(), rand::random::<[u8; SECRET]>());
    let scopes: Vec<_> = new.scopes.iter().map(|scope| scope.as_str()).collect();
    let row = TokenRow {
        id,
        person_id: new.person,
        workspace_id: new.workspace,
        label: new.label,
        audience: new.audience.to_owned(),
        scopes: scopes.join(" "),
        hash: Sha256::digest(secret).to_vec(),
        created_at: now.0,
        expires_at: new.expires_at.map(|end| end.0),
        revoked_at: None,
        used_at: None,
    };
    tokens::insert(tx, row).await?;
    Ok((id, format!("{PREFIX}{}_{}", id.simple(), URL_SAFE_NO_PAD.encode(secret))))
}

/// Knows the tokens of scripts.
#[derive(Debug, Clone)]
pub struct ScriptTokens {
    store: Store,
    rows: Arc<Remembered<Uuid, Arc<TokenRow>>>,
}

impl ScriptTokens {
    /// The tokens that this database keeps.
    #[must_use]
    pub fn new(store: Store) -> Self {
        Self { store, rows: Arc::default() }
    }

    /// Writes down that it was used, without keeping the request waiting.
    fn note(&self, row: &TokenRow, now: Timestamp) {
        if tokens::is_stale(row, now) {
            let (store, id) = (self.store.clone(), row.id);
            tokio::spawn(async move {
                if let Err(error) = tokens::used(&store, id, now).await {
                    tracing::warn!(%error, token = %id, "the last use of a token cannot be written down");
                }
            });
        }
    }
}

/// The parts of a token; none where the text has another form.
fn parts(token: &str) -> Option<(Uuid, Vec<u8>)> {
    let (id, secret) = token.strip_prefix(PREFIX)?.split_once('_')?;
    let id = Uuid::try_parse(id).ok().filter(|_| id.len() == uuid::fmt::Simple::LENGTH)?;
    let secret = URL_SAFE_NO_PAD.decode(secret).ok().filter(|secret| secret.len() == SECRET)?;
    Some((id, secret))
}

#[async_trait]
impl TokenSource for ScriptTokens {
    async fn find(&self, token: &str, moment: &Moment<'_>) -> Result<Option<Token>, Refusal> {
        let Some((id, secret)) = parts(token) else { return Ok(None) };
        let read = async |_: &Uuid| tokens::find(self.store.reads(), id).await.map(|row| row.map(Arc::new));
        let row = self
            .rows
            .get(moment, id, read)
            .await
            .map_err(|error| Refusal::Unavailable(error.to_string()))?
            .ok_or(Refusal::Invalid)?;
        let hash = Sha256::digest(secret);
        if !bool::from(hash.as_slice().ct_eq(&row.hash)) || row.revoked_at.is_some() {
            return Err(Refusal::Invalid);
        }
        let now = Timestamp::now();
        let expires_at = row.expires_at.map(Timestamp);
        if expires_at.is_none_or(|end| end > now) {
            self.note(&row, now);
        }
        Ok(Some(Token {
            id: row.id.to_string(),
            person_id: row.person_id,
            client: row.label.clone(),
            audience: Audience::named(&row.audience),
            scopes: token::scopes(&row.scopes),
            workspace: row.workspace_id,
            expires_at,
            requests_per_minute: DEFAULT_REQUESTS_PER_MINUTE,
        }))
    }
}

#[cfg(test)]
mod tests {
    use kobana_store::demo::{self, persons, workspaces};
    use kobana_store::{Location, tokens};

    use super::*;

    async fn minted(expires_at: Option<Timestamp>) -> (Store, Uuid, String) {
        let store = Store::open(Location::Memory).await.unwrap();
        demo::seed(&store).await.unwrap();
        let new = NewScriptToken {
            person: persons::MARCOS,
            workspace: Some(workspaces::ACME_LABS),
            label: "nightly".into(),
            audience: "rest",
            scopes: vec![Scope::Emails, Scope::EmailsWrite],
            expires_at,
        };
        let tx = store.begin().await.unwrap();
        let (id, token) = mint(&tx, new, Timestamp::now()).await.unwrap();
        tx.commit().await.unwrap();
        (store, id, token)
    }

    /// What stands before the secret, and the secret, which may hold `_` itself.
    fn halves(token: &str) -> (&str, &str) {
        let (head, rest) = token.split_at(PREFIX.len() + uuid::fmt::Simple::LENGTH);
        (head, rest.strip_prefix('_').unwrap())
    }

    #[tokio::test]
    async fn a_token_says_whom_it_speaks_for_and_with_what() {
        let (store, id, token) = minted(None).await;
        let found = ScriptTokens::new(store.clone()).find(&token, &store.moment()).await.unwrap().unwrap();
        assert_eq!((found.id.as_str(), found.client.as_str()), (id.to_string().as_str(), "nightly"));
        assert_eq!((found.person_id, found.workspace), (persons::MARCOS, Some(workspaces::ACME_LABS)));
        assert_eq!((found.audience, found.expires_at), (Audience::Rest, None));
        assert_eq!(found.scopes, [Scope::Emails, Scope::EmailsWrite]);
    }

    #[tokio::test]
    async fn another_secret_and_a_revoked_token_are_one_and_the_same_refusal() {
        let (store, id, token) = minted(None).await;
        let source = ScriptTokens::new(store.clone());
        let (head, _) = halves(&token);
        let other = format!("{head}_{}", URL_SAFE_NO_PAD.encode([7; SECRET]));
        assert_eq!(source.find(&other, &store.moment()).await, Err(Refusal::Invalid));
        let unknown = format!("{PREFIX}{}_{}", Uuid::now_v7().simple(), URL_SAFE_NO_PAD.encode([7; SECRET]));
        assert_eq!(source.find(&unknown, &store.moment()).await, Err(Refusal::Invalid));
        let tx = store.begin().await.unwrap();
        assert!(tokens::revoke(&tx, id, Timestamp::now()).await.unwrap());
        assert!(!tokens::revoke(&tx, id, Timestamp::now()).await.unwrap());
        tx.commit().await.unwrap();
        assert_eq!(source.find(&token, &store.moment()).await, Err(Refusal::Invalid));
    }

    #[tokio::test]
    async fn the_secret_is_not_kept() {
        let (store, id, token) = minted(None).await;
        let row = tokens::find(store.reads(), id).await.unwrap().unwrap();
        let (_, secret) = halves(&token);
        let secret = URL_SAFE_NO_PAD.decode(secret).unwrap();
        assert_ne!(row.hash, secret);
        assert_eq!(row.hash, Sha256::digest(&secret).to_vec());
    }

    #[tokio::test]
    async fn an_ended_token_is_still_known_so_that_it_can_be_said() {
        let end = Timestamp::now().plus_seconds(-1);
        let (store, _, token) = minted(Some(end)).await;
        assert_eq!(
            ScriptTokens::new(store.clone()).find(&token, &store.moment()).await.unwrap().unwrap().expires_at,
            Some(end)
        );
    }

    #[tokio::test]
    async fn other_texts_are_somebody_elses() {
        let (store, _, token) = minted(None).await;
        let source = ScriptTokens::new(store.clone());
        let (head, secret) = halves(&token);
        let hyphenated = Uuid::now_v7().to_string();
        for text in [
            "",
            "kbn_",
            "kbn__",
            "demo-owner",
            head,
            &token[1..],
            &format!("{token}x"),
            &format!("{head}_x{secret}"),
            &format!("{PREFIX}{hyphenated}_{secret}"),
            "a.b.c",
        ] {
            assert_eq!(source.find(text, &store.moment()).await, Ok(None), "{text}");
        }
    }
}
