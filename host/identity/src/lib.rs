//! Turns credentials into a verified caller.
//!
//! [`Identity::authenticate`] is the one door: it reads the bearer token, asks a [`TokenSource`] what the token stands for, looks
//! up the person and the workspaces in reach in the store, and takes one request off the allowance. What a token is, a fixed one of
//! the demo profile, one for scripts, one that the embedded authorization server issued, or one of a foreign issuer, is
//! the source's affair alone.

mod access;
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

use kobana_contract::{Caller, Choice, Membership, Timestamp};
use kobana_store::people::{self, Standing};
use kobana_store::{Remembered, Store};
use uuid::Uuid;

pub use access::IssuedTokens;
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

/// A verified caller, and what is left of the allowance.
#[derive(Debug, Clone)]
pub struct Admission {
    /// The caller.
    pub caller: Arc<Caller>,
    /// What is left.
    pub allowance: Allowance,
}

/// Proves credentials.
pub struct Identity {
    store: Store,
    tokens: Box<dyn TokenSource>,
    standings: Remembered<Uuid, Standing>,
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
        let token = match bearer(authorization) {
            Bearer::Absent => return Err(Denial::Missing),
            Bearer::Malformed => return Err(Denial::Invalid),
            Bearer::Token(token) => self.tokens.find(token).await.map_err(denial)?.ok_or(Denial::Invalid)?,
        };
        check(&token, audience, Timestamp::now())?;
        let Standing { person, memberships } = self.person(&token).await?;
        let allowance = self.allowances.take(&token.id, token.requests_per_minute)?;
        let choice = choose(&memberships, workspace);
        let caller = Caller {
            person_id: person.id,
            person_name: person.name,
            person_email: person.email,
            organization_id: person.organization_id,
            organization_name: person.organization_name,
            credential_id: token.id,
            client: token.client,
            scopes: token.scopes,
            expires_at: token.expires_at,
            memberships,
            choice,
        };
        Ok(Admission { caller: Arc::new(caller), allowance })
    }

    async fn person(&self, token: &Token) -> Result<Standing, Denial> {
        let mut standing = self.standing(token.person_id).await?;
        if let Some(only) = token.workspace {
            standing.memberships.retain(|member| member.workspace_id == only);
        }
        Ok(standing)
    }

    /// Whether the person is still active, and what they reach, as it stands at every request.
    async fn standing(&self, person: Uuid) -> Result<Standing, Denial> {
        let found = self.standings.get(&self.store, person, async || people::standing(&self.store, person).await).await;
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

/// Picks the workspace of a request: the one named, by UUID first, else the only one (inbox-api.yaml, Workspace).
fn choose(memberships: &[Membership], named: Option<&str>) -> Choice {
    let Some(name) = named else {
        return match memberships {
            [] => Choice::Nothing,
            [_] => Choice::Picked(0),
            _ => Choice::Open,
        };
    };
    let by_id =
        Uuid::try_parse(name).ok().and_then(|id| memberships.iter().position(|member| member.workspace_id == id));
    let found = by_id.or_else(|| memberships.iter().position(|member| member.external_id == name));
    found.map_or(Choice::OutOfReach, Choice::Picked)
}

/// Requests per minute where nothing else is said.
pub const DEFAULT_REQUESTS_PER_MINUTE: NonZeroU32 = NonZeroU32::MIN.saturating_add(5_999);

#[cfg(test)]
mod tests {
    use kobana_contract::{Role, Scope};

    use super::*;

    fn member(external_id: &str) -> Membership {
        Membership {
            workspace_id: Uuid::now_v7(),
            external_id: external_id.to_owned(),
            label: external_id.to_owned(),
            role: Role::Owner,
        }
    }

    #[test]
    fn the_only_workspace_needs_no_choice_and_several_do() {
        let (one, two) = (member("acme"), member("acme-labs"));
        assert_eq!(choose(&[], None), Choice::Nothing);
        assert_eq!(choose(std::slice::from_ref(&one), None), Choice::Picked(0));
        let both = [one, two];
        assert_eq!(choose(&both, None), Choice::Open);
        assert_eq!(choose(&both, Some("acme-labs")), Choice::Picked(1));
        assert_eq!(choose(&both, Some(&both[1].workspace_id.to_string())), Choice::Picked(1));
        assert_eq!(choose(&both, Some("globex")), Choice::OutOfReach);
        assert_eq!(choose(&both, Some("")), Choice::OutOfReach);
    }

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
