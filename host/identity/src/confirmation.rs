//! Confirmation states: what a person was asked, sealed so that anyone may carry it and nobody but that person can use it
//! (protocol.md §15.1, rules 5 to 7; architecture.md, decisions 2 and 18).
//!
//! A state is `v1.KEY.PAYLOAD`: the id of the key it is sealed with, and base64url of a random nonce and of what
//! XChaCha20-Poly1305 makes of expiry, call and row. Person, organization, client and workspace are bound as associated data: in other
//! hands the state does not open. The nonce is what is spent, in the database, so that of several replicas one alone wins.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead as _, KeyInit as _, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use kobana_contract::{Caller, Timestamp};
use kobana_store::Store;
use kobana_store::confirmations::{self, Ended};
use kobana_store::sea_orm::DbErr;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::{Action, Answer, Redemption};

/// How long a question stands, in seconds.
pub(crate) const LIFETIME: i64 = 600;
/// The form of states.
const VERSION: &str = "v1";
/// Bytes of a nonce.
const NONCE: usize = 24;
/// Seconds to wait when the store cannot be asked.
const RETRY_AFTER: u32 = 1;

/// What is to be done, to which row: another call needs another confirmation.
pub(crate) fn call(action: &Action) -> [u8; 32] {
    digest(&[&action.name, &action.arguments, &action.target])
}

/// The row as it was: if it changed, the question is asked again.
pub(crate) fn row(action: &Action) -> [u8; 32] {
    digest(&[&action.version])
}

/// A key that states are sealed with.
#[derive(Clone)]
pub struct Key {
    id: String,
    cipher: XChaCha20Poly1305,
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").field("id", &self.id).finish_non_exhaustive()
    }
}

/// A key cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Its id has another form.
    #[error("id: expected 1 to 32 letters, digits, - or _")]
    Id,
    /// Its secret has another length.
    #[error("key: expected 32 bytes in base64")]
    Secret,
    /// There is none, or two have one id.
    #[error("expected at least one key, and a different id for each")]
    Ring,
}

impl Key {
    /// A key under an id, which stands readable in every state.
    ///
    /// # Errors
    /// [`KeyError`].
    pub fn new(id: impl Into<String>, secret: &[u8]) -> Result<Self, KeyError> {
        let id = id.into();
        let fits =
            (1..=32).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        if !fits {
            return Err(KeyError::Id);
        }
        let cipher = XChaCha20Poly1305::new_from_slice(secret).map_err(|_| KeyError::Secret)?;
        Ok(Self { id, cipher })
    }
}

/// Keys by id. The first seals; all open, so that questions asked before a rotation can still be answered.
#[derive(Debug, Clone)]
pub struct KeyRing {
    first: Key,
    others: Vec<Key>,
}

impl KeyRing {
    /// A ring of these keys.
    ///
    /// # Errors
    /// [`KeyError::Ring`].
    pub fn new(keys: Vec<Key>) -> Result<Self, KeyError> {
        let mut ids: Vec<_> = keys.iter().map(|key| key.id.clone()).collect();
        ids.sort();
        ids.dedup();
        if ids.len() != keys.len() {
            return Err(KeyError::Ring);
        }
        let mut keys = keys.into_iter();
        let first = keys.next().ok_or(KeyError::Ring)?;
        Ok(Self { first, others: keys.collect() })
    }

    /// Seals with the first key: `VERSION.KEY.PAYLOAD`. None if the cipher refuses, which it has no reason to. What is
    /// bound has to be the same when it is opened.
    pub(crate) fn seal(&self, version: &str, plain: &[u8], bound: &str) -> Option<String> {
        let nonce = rand::random::<[u8; NONCE]>();
        let payload = Payload { msg: plain, aad: bound.as_bytes() };
        let sealed = self.first.cipher.encrypt(&XNonce::from(nonce), payload).ok()?;
        let payload = URL_SAFE_NO_PAD.encode([&nonce[..], &sealed].concat());
        Some(format!("{version}.{}.{payload}", self.first.id))
    }

    /// Opens what any key of the ring has sealed: its nonce, and what it holds.
    pub(crate) fn open(&self, version: &str, text: &str, bound: &str) -> Option<([u8; NONCE], Vec<u8>)> {
        let (key, payload) = text.strip_prefix(version)?.strip_prefix('.')?.split_once('.')?;
        let payload = URL_SAFE_NO_PAD.decode(payload).ok()?;
        let (nonce, sealed) = payload.split_first_chunk::<NONCE>()?;
        let key = std::iter::once(&self.first).chain(&self.others).find(|known| known.id == key)?;
        let plain = key.cipher.decrypt(&XNonce::from(*nonce), Payload { msg: sealed, aad: bound.as_bytes() }).ok()?;
        Some((*nonce, plain))
    }
}

/// Seals questions and opens answers.
#[derive(Debug, Clone)]
pub struct Confirmations {
    store: Store,
    keys: KeyRing,
}

/// What a state says once it is open.
struct Opened {
    nonce: Vec<u8>,
    expires_at: Timestamp,
    call: [u8; 32],
    target: [u8; 32],
}

impl Confirmations {
    /// Seals with the first key of the ring and remembers in the store what was used.
    #[must_use]
    pub const fn new(store: Store, keys: KeyRing) -> Self {
        Self { store, keys }
    }

    pub(crate) const fn keys(&self) -> &KeyRing {
        &self.keys
    }

    pub(crate) const fn store(&self) -> &Store {
        &self.store
    }

    /// Seals what this caller is about to be asked. None if the cipher refuses, which it has no reason to.
    #[must_use]
    pub fn issue(&self, caller: &Caller, action: &Action) -> Option<String> {
        self.issue_at(caller, action, Timestamp::now())
    }

    fn issue_at(&self, caller: &Caller, action: &Action, now: Timestamp) -> Option<String> {
        let expires_at = now.plus_seconds(LIFETIME);
        let plain = [&expires_at.0.to_be_bytes()[..], &call(action), &row(action)].concat();
        self.keys.seal(VERSION, &plain, &bound(caller))
    }

    /// Opens a state. An answer spends it, whatever the answer is; a look does not, and neither does a foreign hand. How it
    /// ended becomes an event of the workspace.
    ///
    /// # Errors
    /// [`Redemption`].
    pub async fn redeem(
        &self,
        caller: &Caller,
        state: &str,
        action: &Action,
        answer: Answer,
    ) -> Result<(), Redemption> {
        let redeemed = self.redeem_at(caller, state, action, answer, Timestamp::now()).await;
        if redeemed == Err(Redemption::Invalid) {
            self.refuse(caller, action).await;
        }
        redeemed
    }

    /// Puts on record that a call was refused: nobody could be asked, or the state confirms something else.
    pub async fn refuse(&self, caller: &Caller, action: &Action) {
        let Some(ended) = ended(caller, action, "confirmation.refused") else { return };
        if let Err(error) = confirmations::record(&self.store, ended, Timestamp::now()).await {
            // The refusal stands with or without its record.
            tracing::error!(%error, "a refused confirmation cannot be recorded");
        }
    }

    async fn redeem_at(
        &self,
        caller: &Caller,
        state: &str,
        action: &Action,
        answer: Answer,
        now: Timestamp,
    ) -> Result<(), Redemption> {
        let opened = self.read(caller, state).ok_or(Redemption::Invalid)?;
        if opened.call != call(action) {
            return Err(Redemption::Invalid);
        }
        if opened.expires_at <= now {
            return Err(Redemption::Expired);
        }
        let unchanged = opened.target == row(action);
        let slug = match (answer, unchanged) {
            (Answer::None, _) => None,
            (_, false) => Some("confirmation.outdated"),
            (Answer::Accepted, true) => Some("confirmation.accepted"),
            (Answer::Declined, true) => Some("confirmation.declined"),
        };
        let fresh = match slug {
            Some(slug) => {
                let ended = ended(caller, action, slug);
                confirmations::spend(&self.store, &opened.nonce, opened.expires_at, ended, now).await
            }
            None => confirmations::is_spent(&self.store, &opened.nonce).await.map(|spent| !spent),
        };
        let fresh = fresh.map_err(unavailable)?;
        match (fresh, unchanged) {
            (false, _) => Err(Redemption::Invalid),
            (true, false) => Err(Redemption::Changed),
            (true, true) => Ok(()),
        }
    }

    fn read(&self, caller: &Caller, state: &str) -> Option<Opened> {
        let (nonce, plain) = self.keys.open(VERSION, state, &bound(caller))?;
        let (expires_at, rest) = plain.split_first_chunk::<8>()?;
        let (call, rest) = rest.split_first_chunk::<32>()?;
        let (target, rest) = rest.split_first_chunk::<32>()?;
        rest.is_empty().then(|| Opened {
            nonce: nonce.to_vec(),
            expires_at: Timestamp(i64::from_be_bytes(*expires_at)),
            call: *call,
            target: *target,
        })
    }
}

pub(crate) fn unavailable(error: DbErr) -> Redemption {
    tracing::error!(%error, "a confirmation cannot be looked up");
    Redemption::Unavailable(RETRY_AFTER)
}

/// How a confirmation ended, as an event of the workspace that it was about; none if it was about none in reach.
fn ended(caller: &Caller, action: &Action, slug: &'static str) -> Option<Ended> {
    let target = Uuid::try_parse(&action.target).ok();
    let itself = || caller.memberships.iter().find(|member| Some(member.workspace_id) == target);
    let workspace = caller.workspace().or_else(itself)?.workspace_id;
    let payload = serde_json::json!({
        "action": action.name,
        "target_id": target,
        "person_id": caller.person_id,
        "client": caller.client,
        "client_name": action.client,
    });
    let payload = payload.as_object().cloned().unwrap_or_default();
    Some(Ended { workspace, slug, payload })
}

/// Whom a state is for. The client comes last, since it alone may hold any sign.
pub(crate) fn bound(caller: &Caller) -> String {
    let workspace = caller.workspace().map(|member| member.workspace_id.to_string()).unwrap_or_default();
    format!("{}|{}|{workspace}|{}", caller.person_id, caller.organization_id, caller.client)
}

/// A digest of texts; each ends with a sign that UTF-8 does not know, so that no two lists of texts read alike.
fn digest(texts: &[&str]) -> [u8; 32] {
    let mut digest = Sha256::new();
    for text in texts {
        digest.update(text.as_bytes());
        digest.update([0xff]);
    }
    digest.finalize().into()
}

#[cfg(test)]
pub(crate) mod tests {
    use kobana_contract::{Choice, Membership, Role};
    use kobana_store::Location;
    use kobana_store::demo::{self, organizations, persons, workspaces};

    use super::*;

    pub(crate) fn caller() -> Caller {
        let member = |workspace_id: Uuid, name: &str| Membership {
            workspace_id,
            external_id: name.to_owned(),
            label: name.to_owned(),
            role: Role::Owner,
        };
        Caller {
            person_id: persons::MARCOS,
            person_name: "Ana".into(),
            person_email: "ana@acme.example".into(),
            organization_id: organizations::ACME,
            organization_name: "Acme".into(),
            credential_id: "c".into(),
            client: "demo".into(),
            scopes: Vec::new(),
            expires_at: None,
            memberships: vec![member(workspaces::ACME, "acme"), member(workspaces::ACME_LABS, "acme-labs")],
            choice: Choice::Picked(0),
        }
    }

    pub(crate) fn action(call: &str, target: &str) -> Action {
        Action { name: call.into(), arguments: "{}".into(), target: "1".into(), version: target.into(), client: None }
    }

    pub(crate) fn key(id: &str, byte: u8) -> Key {
        Key::new(id, &[byte; 32]).unwrap()
    }

    pub(crate) async fn confirmations(keys: Vec<Key>) -> Confirmations {
        let store = Store::open(Location::Memory).await.unwrap();
        demo::seed(&store).await.unwrap();
        Confirmations::new(store, KeyRing::new(keys).unwrap())
    }

    #[tokio::test]
    async fn a_state_is_good_once() {
        let (seal, ana, delete) = (confirmations(vec![key("a", 1)]).await, caller(), action("delete", "v1"));
        let state = seal.issue(&ana, &delete).unwrap();
        assert_eq!(seal.redeem(&ana, &state, &delete, Answer::None).await, Ok(()));
        assert_eq!(seal.redeem(&ana, &state, &delete, Answer::Accepted).await, Ok(()));
        assert_eq!(seal.redeem(&ana, &state, &delete, Answer::Accepted).await, Err(Redemption::Invalid));
        assert_eq!(seal.redeem(&ana, &state, &delete, Answer::None).await, Err(Redemption::Invalid));
    }

    #[tokio::test]
    async fn of_many_at_once_one_wins() {
        let (seal, ana, delete) = (confirmations(vec![key("a", 1)]).await, caller(), action("delete", "v1"));
        let state = seal.issue(&ana, &delete).unwrap();
        let tries = (0..32).map(|_| {
            let (seal, ana, state, delete) = (seal.clone(), ana.clone(), state.clone(), delete.clone());
            tokio::spawn(async move { seal.redeem(&ana, &state, &delete, Answer::Accepted).await.is_ok() })
        });
        let mut won = 0;
        for tried in tries.collect::<Vec<_>>() {
            won += u32::from(tried.await.unwrap());
        }
        assert_eq!(won, 1);
    }

    #[tokio::test]
    async fn in_other_hands_it_does_not_open_and_is_not_spent() {
        let (seal, ana, delete) = (confirmations(vec![key("a", 1)]).await, caller(), action("delete", "v1"));
        let state = seal.issue(&ana, &delete).unwrap();
        let others = [
            Caller { person_id: Uuid::now_v7(), ..ana.clone() },
            Caller { organization_id: Uuid::now_v7(), ..ana.clone() },
            Caller { client: "other".into(), ..ana.clone() },
            Caller { choice: Choice::Picked(1), ..ana.clone() },
            Caller { choice: Choice::Open, ..ana.clone() },
        ];
        for other in &others {
            assert_eq!(seal.redeem(other, &state, &delete, Answer::Accepted).await, Err(Redemption::Invalid));
        }
        assert_eq!(
            seal.redeem(&ana, &state, &action("update", "v1"), Answer::Accepted).await,
            Err(Redemption::Invalid)
        );
        assert_eq!(seal.redeem(&ana, &state, &delete, Answer::Accepted).await, Ok(()));
    }

    #[tokio::test]
    async fn no_altered_state_opens() {
        let (seal, ana, delete) = (confirmations(vec![key("a", 1)]).await, caller(), action("delete", "v1"));
        let state = seal.issue(&ana, &delete).unwrap();
        for position in 0..state.len() {
            let mut altered = state.clone().into_bytes();
            altered[position] = if altered[position] == b'A' { b'B' } else { b'A' };
            let altered = String::from_utf8(altered).unwrap();
            assert_eq!(
                seal.redeem(&ana, &altered, &delete, Answer::Accepted).await,
                Err(Redemption::Invalid),
                "{position}"
            );
        }
        for cut in ["", "v1", "v1.", "v1.a.", "v1.a.AAAA", &state[..state.len() - 4], &format!("{state}AAAA")] {
            assert_eq!(seal.redeem(&ana, cut, &delete, Answer::Accepted).await, Err(Redemption::Invalid), "{cut}");
        }
    }

    #[tokio::test]
    async fn age_and_change_are_told_apart_from_fraud() {
        let (seal, ana, delete) = (confirmations(vec![key("a", 1)]).await, caller(), action("delete", "v1"));
        let now = Timestamp::now();
        let state = seal.issue_at(&ana, &delete, now).unwrap();
        let later = now.plus_seconds(LIFETIME);
        assert_eq!(seal.redeem_at(&ana, &state, &delete, Answer::Accepted, later).await, Err(Redemption::Expired));
        assert_eq!(seal.redeem(&ana, &state, &action("delete", "v2"), Answer::None).await, Err(Redemption::Changed));
        assert_eq!(
            seal.redeem(&ana, &state, &action("delete", "v2"), Answer::Accepted).await,
            Err(Redemption::Changed)
        );
        assert_eq!(
            seal.redeem(&ana, &state, &delete, Answer::Accepted).await,
            Err(Redemption::Invalid),
            "an answer spends it"
        );
    }

    #[tokio::test]
    async fn a_rotation_leaves_open_questions_answerable() {
        let (ana, delete) = (caller(), action("delete", "v1"));
        let before = confirmations(vec![key("old", 1)]).await;
        let state = before.issue(&ana, &delete).unwrap();
        let after = confirmations(vec![key("new", 2), key("old", 1)]).await;
        assert_eq!(after.redeem(&ana, &state, &delete, Answer::Accepted).await, Ok(()));
        assert!(after.issue(&ana, &delete).unwrap().starts_with("v1.new."));
        let without = confirmations(vec![key("new", 2)]).await;
        assert_eq!(without.redeem(&ana, &state, &delete, Answer::Accepted).await, Err(Redemption::Invalid));
    }

    #[test]
    fn keys_are_checked() {
        assert_eq!(Key::new("", &[0; 32]).unwrap_err(), KeyError::Id);
        assert_eq!(Key::new("a.b", &[0; 32]).unwrap_err(), KeyError::Id);
        assert_eq!(Key::new("a", &[0; 31]).unwrap_err(), KeyError::Secret);
        assert_eq!(KeyRing::new(Vec::new()).unwrap_err(), KeyError::Ring);
        assert_eq!(KeyRing::new(vec![key("a", 1), key("a", 2)]).unwrap_err(), KeyError::Ring);
    }
}
