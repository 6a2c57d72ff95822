//! Tickets: a proven caller, sealed, for whoever asks on from another process (the edge adapter).
//!
//! A token is proven once; what follows for the same request brings the ticket. It is sealed by this host, for two minutes and
//! for one holder, and holds what the credential was found to be. What the person is and may do is read anew each time: a
//! ticket can lose by it and never gain.

use std::sync::Arc;

use kobana_contract::{Caller, Choice, Membership, Scope, Timestamp};
use kobana_store::people::Standing;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Admission, Allowance, Denial, Identity, KeyRing};

/// How long a ticket lasts, in seconds: longer than any request may take.
const LIFETIME: i64 = 120;
/// The form of tickets.
const VERSION: &str = "t1";

/// Seals proven callers.
#[derive(Debug, Clone)]
pub struct Tickets {
    keys: KeyRing,
}

/// What a ticket holds.
#[derive(Serialize, Deserialize)]
struct Claims {
    /// When it ends, in microseconds since the Unix epoch.
    until: i64,
    person: Uuid,
    organization: Uuid,
    credential: String,
    client: String,
    scopes: Vec<Scope>,
    /// When the credential ends, in microseconds since the Unix epoch.
    expires_at: Option<i64>,
    /// The workspaces in reach.
    reach: Vec<Uuid>,
    choice: Chosen,
    /// Limit, what remains, and the end of the window.
    allowance: (u32, u32, u64),
}

/// The choice of the workspace, by its UUID.
#[derive(Serialize, Deserialize)]
enum Chosen {
    Picked(Uuid),
    Open,
    OutOfReach,
    Nothing,
}

impl Tickets {
    /// Seals with the first key of the ring.
    #[must_use]
    pub const fn new(keys: KeyRing) -> Self {
        Self { keys }
    }

    /// A ticket that only `holder` can use, with [`Identity::resume`]. None if the cipher refuses, which it has no reason to.
    #[must_use]
    pub fn issue(&self, admission: &Admission, holder: &str) -> Option<String> {
        self.issue_at(admission, holder, Timestamp::now())
    }

    fn issue_at(
        &self,
        Admission { caller, allowance, .. }: &Admission,
        holder: &str,
        now: Timestamp,
    ) -> Option<String> {
        let choice = match caller.choice {
            Choice::Picked(_) => Chosen::Picked(caller.workspace()?.workspace_id),
            Choice::Open => Chosen::Open,
            Choice::OutOfReach => Chosen::OutOfReach,
            Choice::Nothing => Chosen::Nothing,
        };
        let claims = Claims {
            until: now.plus_seconds(LIFETIME).0,
            person: caller.person_id,
            organization: caller.organization_id,
            credential: caller.credential_id.clone(),
            client: caller.client.clone(),
            scopes: caller.scopes.clone(),
            expires_at: caller.expires_at.map(|end| end.0),
            reach: caller.memberships.iter().map(|member| member.workspace_id).collect(),
            choice,
            allowance: (allowance.limit, allowance.remaining, allowance.reset),
        };
        self.keys.seal(VERSION, &serde_json::to_vec(&claims).ok()?, holder)
    }

    fn open(&self, ticket: &str, holder: &str, now: Timestamp) -> Result<Claims, Denial> {
        let (_, plain) = self.keys.open(VERSION, ticket, holder).ok_or(Denial::Invalid)?;
        let claims: Claims = serde_json::from_slice(&plain).map_err(|_| Denial::Invalid)?;
        let ended = claims.until <= now.0 || claims.expires_at.is_some_and(|end| end <= now.0);
        if ended { Err(Denial::Expired) } else { Ok(claims) }
    }
}

impl Identity {
    /// The caller of a ticket that this `holder` was given. Takes nothing off the allowance: that was done when the
    /// credential was proven.
    ///
    /// # Errors
    /// [`Denial::Invalid`] where the ticket does not open or the person is disabled, [`Denial::Expired`] where it or the
    /// credential has ended, [`Denial::Unavailable`].
    pub async fn resume(&self, tickets: &Tickets, ticket: &str, holder: &str) -> Result<Admission, Denial> {
        self.resume_at(tickets, ticket, holder, Timestamp::now()).await
    }

    async fn resume_at(
        &self,
        tickets: &Tickets,
        ticket: &str,
        holder: &str,
        now: Timestamp,
    ) -> Result<Admission, Denial> {
        let claims = tickets.open(ticket, holder, now)?;
        let standing = self.standing(&self.store.moment(), claims.person).await?;
        let Standing { person, mut memberships } = Arc::unwrap_or_clone(standing);
        if person.organization_id != claims.organization {
            return Err(Denial::Invalid);
        }
        memberships.retain(|member| claims.reach.contains(&member.workspace_id));
        let (limit, remaining, reset) = claims.allowance;
        let caller = Caller {
            person_id: person.id,
            person_name: person.name,
            person_email: person.email,
            organization_id: person.organization_id,
            organization_name: person.organization_name,
            credential_id: claims.credential,
            client: claims.client,
            scopes: claims.scopes,
            expires_at: claims.expires_at.map(Timestamp),
            choice: claims.choice.among(&memberships),
            memberships,
        };
        Ok(Admission::new(caller.into(), Allowance { limit, remaining, reset }))
    }
}

impl Chosen {
    /// The choice as it stands now. A workspace that was picked and went out of reach is not replaced by another.
    fn among(&self, memberships: &[Membership]) -> Choice {
        match self {
            Self::Picked(id) => {
                let found = memberships.iter().position(|member| member.workspace_id == *id);
                found.map_or(Choice::OutOfReach, Choice::Picked)
            }
            Self::Open => Choice::Open,
            Self::OutOfReach => Choice::OutOfReach,
            Self::Nothing => Choice::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use kobana_store::demo::{self, persons, workspaces};
    use kobana_store::{Location, Store};

    use super::*;
    use crate::{Audience, DemoTokens, Key};

    fn tickets(keys: &[(&str, u8)]) -> Tickets {
        let keys = keys.iter().map(|(id, byte)| Key::new(*id, &[*byte; 32]).unwrap());
        Tickets::new(KeyRing::new(keys.collect()).unwrap())
    }

    async fn identity() -> Identity {
        let store = Store::open(Location::Memory).await.unwrap();
        demo::seed(&store).await.unwrap();
        Identity::new(store, DemoTokens::starting_now())
    }

    async fn admitted(identity: &Identity, token: &str, workspace: Option<&str>) -> Admission {
        identity.authenticate(Some(&format!("Bearer {token}")), workspace, Audience::Mcp).await.unwrap()
    }

    #[tokio::test]
    async fn a_ticket_stands_for_the_caller_and_takes_nothing_off_the_allowance() {
        let (identity, tickets) = (identity().await, tickets(&[("a", 1)]));
        for (token, workspace) in [
            ("demo-limited", None),
            ("demo-emails", None),
            ("demo-multi", None),
            ("demo-multi", Some("acme-labs")),
            ("demo-owner", Some("globex")),
        ] {
            let first = admitted(&identity, token, workspace).await;
            let ticket = tickets.issue(&first, "edge-1").unwrap();
            for _ in 0..10 {
                let again = identity.resume(&tickets, &ticket, "edge-1").await.unwrap();
                assert_eq!(again.allowance, first.allowance);
                assert_eq!(format!("{:?}", again.caller), format!("{:?}", first.caller));
            }
        }
    }

    #[tokio::test]
    async fn a_ticket_opens_for_its_holder_untouched_and_in_time_only() {
        let (identity, ring) = (identity().await, tickets(&[("a", 1)]));
        let first = admitted(&identity, "demo-owner", None).await;
        let now = Timestamp::now();
        let ticket = ring.issue_at(&first, "edge-1", now).unwrap();
        assert!(!ticket.contains("demo-owner"));
        let late = now.plus_seconds(LIFETIME);
        assert_eq!(identity.resume_at(&ring, &ticket, "edge-1", late).await.unwrap_err(), Denial::Expired);
        assert!(identity.resume_at(&ring, &ticket, "edge-1", now.plus_seconds(LIFETIME - 1)).await.is_ok());

        assert_eq!(identity.resume(&ring, &ticket, "edge-2").await.unwrap_err(), Denial::Invalid);
        let mut tampered = ticket.clone();
        tampered.replace_range(10..11, if &ticket[10..11] == "A" { "B" } else { "A" });
        for wrong in ["", "t1", "t1.a.", "demo-owner", &ticket[1..], &tampered] {
            assert_eq!(identity.resume(&ring, wrong, "edge-1").await.unwrap_err(), Denial::Invalid, "{wrong}");
        }
        // After a rotation the old key still opens; once it is gone it does not.
        let rotated = tickets(&[("b", 2), ("a", 1)]);
        assert!(identity.resume(&rotated, &ticket, "edge-1").await.is_ok());
        assert_eq!(identity.resume(&tickets(&[("b", 2)]), &ticket, "edge-1").await.unwrap_err(), Denial::Invalid);
    }

    #[tokio::test]
    async fn a_credential_that_ends_takes_its_ticket_along() {
        let (identity, tickets) = (identity().await, tickets(&[("a", 1)]));
        let Admission { caller, allowance, .. } = admitted(&identity, "demo-owner", None).await;
        let now = Timestamp::now();
        let caller = Caller { expires_at: Some(now.plus_seconds(5)), ..(*caller).clone() };
        let ticket = tickets.issue_at(&Admission::new(caller.into(), allowance), "e", now).unwrap();
        assert!(identity.resume_at(&tickets, &ticket, "e", now.plus_seconds(4)).await.is_ok());
        let ended = identity.resume_at(&tickets, &ticket, "e", now.plus_seconds(5)).await;
        assert_eq!(ended.unwrap_err(), Denial::Expired);
    }

    #[tokio::test]
    async fn what_the_person_is_now_counts_and_a_ticket_never_gains() {
        let (identity, tickets) = (identity().await, tickets(&[("a", 1)]));
        let first = admitted(&identity, "demo-multi", Some("acme-labs")).await;
        let with = |change: &dyn Fn(&mut Caller)| {
            let mut caller = (*first.caller).clone();
            change(&mut caller);
            tickets.issue(&Admission::new(caller.into(), first.allowance), "e").unwrap()
        };
        // One that was sealed when the person was somebody else, or belonged elsewhere.
        let gone =
            [with(&|caller| caller.person_id = persons::DISABLED), with(&|caller| caller.person_id = Uuid::now_v7())];
        let moved = with(&|caller| caller.organization_id = Uuid::now_v7());
        for ticket in gone.iter().chain([&moved]) {
            assert_eq!(identity.resume(&tickets, ticket, "e").await.unwrap_err(), Denial::Invalid);
        }
        // A workspace that is in reach now and was not then stays out; one that was picked and is lost is not replaced.
        let narrow = with(&|caller| {
            caller.memberships.retain(|member| member.workspace_id == workspaces::ACME);
            caller.choice = Choice::Picked(0);
        });
        let resumed = identity.resume(&tickets, &narrow, "e").await.unwrap();
        assert_eq!(resumed.caller.memberships.len(), 1);
        let lost = with(&|caller| {
            caller.memberships[0].workspace_id = workspaces::GLOBEX;
            caller.choice = Choice::Picked(0);
        });
        assert_eq!(identity.resume(&tickets, &lost, "e").await.unwrap().caller.choice, Choice::OutOfReach);
    }
}
