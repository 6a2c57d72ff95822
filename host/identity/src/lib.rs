//! Turns credentials into a verified caller.
//!
//! [`Identity::authenticate`] is the one door: it reads the bearer token, asks a [`TokenSource`] what the token stands for, looks
//! up the person and the workspaces in reach in the store, and takes one request off the allowance. What a token is, a fixed one of
//! the demo profile, one for scripts, one that the embedded authorization server issued, or one of a foreign issuer, is
//! the source's affair alone.

mod access;
mod admission;
mod allowance;
mod bearer;
mod confirmation;
mod demo;
mod issuer;
mod jws;
pub mod password;
mod script;
mod sealing;
mod signing;
mod ticket;
mod token;

use std::num::NonZeroU32;
use std::sync::Arc;

use kobana_contract::Timestamp;
use kobana_store::people::{self, Standing};
use kobana_store::{Moment, Remembered, Store};
use uuid::Uuid;

use admission::{Asked, Known};

pub use access::IssuedTokens;
pub use admission::Admission;
pub use bearer::{Bearer, bearer};
pub use confirmation::{Confirmations, Key, KeyError, KeyRing};
pub use demo::{DemoToken, DemoTokens};
pub use issuer::{FetchError, ForeignIssuer, IssuerSettings, SignatureAlgorithm};
pub use kobana_wire::{Action, Allowance, Answer, Denial, Redemption, Throttle};
pub use password::Passwords;
pub use script::{NewScriptToken, ScriptTokens, mint};
pub use sealing::LONGEST_SEALED;
pub use signing::{AccessClaims, AccessTokenError, AccessTokens, SignError, SigningKey, SigningKeyError};
pub use ticket::Tickets;
pub use token::{Audience, Refusal, Sources, Token, TokenSource};

/// Seconds to wait when the store cannot be asked.
const RETRY_AFTER: u32 = 1;

/// Proves credentials.
pub struct Identity {
    store: Store,
    tokens: Box<dyn TokenSource>,
    standings: Remembered<Uuid, Arc<Standing>>,
    callers: Remembered<Asked, Known>,
    allowances: allowance::Allowances,
}

impl Identity {
    /// Proves credentials that `tokens` knows, for persons of `store`.
    #[must_use]
    pub fn new(store: Store, tokens: impl TokenSource) -> Self {
        Self {
            store,
            tokens: Box::new(tokens),
            standings: Remembered::default(),
            callers: Remembered::default(),
            allowances: allowance::Allowances::default(),
        }
    }

    /// Proves the value of an `Authorization` field for one audience, and picks the workspace that `X-Workspace-Id` names.
    /// Takes one request off the allowance.
    ///
    /// # Errors
    /// [`Denial`]; a workspace that is out of reach is none, since not every operation is about one.
    pub async fn authenticate(
        &self,
        authorization: Option<&str>,
        workspace: Option<&str>,
        audience: Audience,
    ) -> Result<Admission, Denial> {
        let moment = self.store.moment();
        let token = match bearer(authorization) {
            Bearer::Absent => return Err(Denial::Missing),
            Bearer::Malformed => return Err(Denial::Invalid),
            Bearer::Token(token) => self.tokens.find(token, &moment).await.map_err(denial)?.ok_or(Denial::Invalid)?,
        };
        check(&token, audience, Timestamp::now())?;
        let requests_per_minute = token.requests_per_minute;
        let known = self.known(&moment, token, workspace).await?;
        let allowance = self.allowances.take(&known.caller.credential_id, requests_per_minute)?;
        Ok(Admission::new(known, allowance))
    }

    /// The caller that a token makes of its person as they stand now.
    async fn known(&self, moment: &Moment<'_>, token: Token, workspace: Option<&str>) -> Result<Known, Denial> {
        let standing = self.standing(moment, token.person_id).await?;
        let choice = admission::choose(admission::reach(&standing.memberships, token.workspace), workspace);
        let make = async |asked: &Asked| Ok(Some(admission::caller(&standing, &asked.token, choice).into()));
        let known = self.callers.get(moment, Asked { token, choice }, make).await;
        known.map_err(unavailable)?.ok_or(Denial::Invalid)
    }

    /// Whether the person is still active, and what they reach, as it stands at every request.
    async fn standing(&self, moment: &Moment<'_>, person: Uuid) -> Result<Arc<Standing>, Denial> {
        let read = async |_: &Uuid| people::standing(&self.store, person).await.map(|found| found.map(Arc::new));
        let found = self.standings.get(moment, person, read).await;
        found.map_err(unavailable)?.filter(|found| found.person.active).ok_or(Denial::Invalid)
    }
}

fn denial(refusal: Refusal) -> Denial {
    match refusal {
        Refusal::Invalid => Denial::Invalid,
        Refusal::Expired => Denial::Expired,
        Refusal::WrongAudience => Denial::WrongAudience,
        Refusal::Unavailable(cause) => unavailable(cause),
    }
}

fn unavailable(error: impl std::fmt::Display) -> Denial {
    tracing::error!(%error, "credentials cannot be checked");
    Denial::Unavailable(RETRY_AFTER)
}

/// A token counts only for the resource that it was issued for (RFC 8707), and only while it lasts.
fn check(token: &Token, audience: Audience, now: Timestamp) -> Result<(), Denial> {
    if token.audience != audience {
        return Err(Denial::WrongAudience);
    }
    match token.expires_at {
        Some(end) if end <= now => Err(Denial::Expired),
        _ => Ok(()),
    }
}

/// Requests per minute where nothing else is said.
pub const DEFAULT_REQUESTS_PER_MINUTE: NonZeroU32 = NonZeroU32::MIN.saturating_add(5_999);

#[cfg(test)]
mod tests {
    use kobana_contract::Scope;

    use super::*;

    #[test]
    fn a_token_counts_for_its_resource_and_while_it_lasts() {
        let now = Timestamp::now();
        let token = Token {
            id: "t".into(),
            person_id: Uuid::now_v7(),
            client: "c".into(),
            audience: Audience::Mcp,
            scopes: vec![Scope::Emails],
            workspace: None,
            expires_at: Some(now.plus_seconds(1)),
            requests_per_minute: DEFAULT_REQUESTS_PER_MINUTE,
        };
        assert_eq!(check(&token, Audience::Mcp, now), Ok(()));
        assert_eq!(check(&token, Audience::Rest, now), Err(Denial::WrongAudience));
        assert_eq!(check(&token, Audience::Mcp, now.plus_seconds(1)), Err(Denial::Expired));
    }
}
