//! Who was let in: a caller, what its profile says, and what is left of its allowance.

use std::hash::{Hash, Hasher};
use std::slice;
use std::sync::Arc;

use kobana_contract::{Caller, Choice, Membership};
use kobana_store::people::Standing;
use kobana_wire::{Allowance, Profile};
use uuid::Uuid;

use crate::Token;

/// A verified caller, and what is left of the allowance.
#[derive(Debug, Clone)]
pub struct Admission {
    /// The caller.
    pub caller: Arc<Caller>,
    /// What the caller may do, as it is told to whoever speaks a protocol.
    pub profile: Arc<Profile>,
    /// What is left.
    pub allowance: Allowance,
}

impl Admission {
    pub(crate) fn new(Known { caller, profile }: Known, allowance: Allowance) -> Self {
        Self { caller, profile, allowance }
    }
}

/// A caller as it is until something is committed.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    pub(crate) caller: Arc<Caller>,
    pub(crate) profile: Arc<Profile>,
}

impl From<Caller> for Known {
    fn from(caller: Caller) -> Self {
        Self { profile: Arc::new(profile(&caller)), caller: Arc::new(caller) }
    }
}

/// What decides who the caller is as long as nothing is committed: the credential, and the workspace that was chosen with it.
#[derive(PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) token: Token,
    pub(crate) choice: Choice,
}

impl Hash for Asked {
    /// The name of the credential tells nearly all apart; to hash the rest takes longer than to compare it.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.token.id.hash(state);
    }
}

/// The caller that a credential makes of a person.
pub(crate) fn caller(standing: &Standing, token: &Token, choice: Choice) -> Caller {
    let Standing { person, memberships } = standing;
    Caller {
        person_id: person.id,
        person_name: person.name.clone(),
        person_email: person.email.clone(),
        organization_id: person.organization_id,
        organization_name: person.organization_name.clone(),
        credential_id: token.id.clone(),
        client: token.client.clone(),
        scopes: token.scopes.clone(),
        expires_at: token.expires_at,
        memberships: reach(memberships, token.workspace).to_vec(),
        choice,
    }
}

/// The workspaces that are left of a person's where the credential is limited to one.
pub(crate) fn reach(memberships: &[Membership], only: Option<Uuid>) -> &[Membership] {
    match only {
        None => memberships,
        Some(only) => memberships.iter().find(|member| member.workspace_id == only).map_or(&[], slice::from_ref),
    }
}

/// Picks the workspace of a request: the one named, by UUID first, else the only one (inbox-api.yaml, Workspace).
pub(crate) fn choose(memberships: &[Membership], named: Option<&str>) -> Choice {
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

fn profile(caller: &Caller) -> Profile {
    let words = |words: &mut dyn Iterator<Item = &'static str>| words.collect::<Vec<_>>().join(" ");
    Profile {
        workspace: caller.workspace().map(|member| member.workspace_id.to_string()),
        scopes: words(&mut caller.scopes.iter().map(|scope| scope.as_str())),
        permissions: words(&mut caller.permissions().iter().map(|permission| permission.as_str())),
    }
}

#[cfg(test)]
mod tests {
    use kobana_contract::Role;
    use kobana_contract::Scope;
    use kobana_store::people::PersonRow;

    use super::*;
    use crate::{Audience, DEFAULT_REQUESTS_PER_MINUTE};

    fn member(external_id: &str) -> Membership {
        Membership {
            workspace_id: Uuid::now_v7(),
            external_id: external_id.to_owned(),
            label: external_id.to_owned(),
            role: Role::Viewer,
        }
    }

    #[test]
    fn the_only_workspace_needs_no_choice_and_several_do() {
        let (one, two) = (member("acme"), member("acme-labs"));
        assert_eq!(choose(&[], None), Choice::Nothing);
        assert_eq!(choose(slice::from_ref(&one), None), Choice::Picked(0));
        let both = [one, two];
        assert_eq!(choose(&both, None), Choice::Open);
        assert_eq!(choose(&both, Some("acme-labs")), Choice::Picked(1));
        assert_eq!(choose(&both, Some(&both[1].workspace_id.to_string())), Choice::Picked(1));
        assert_eq!(choose(&both, Some("globex")), Choice::OutOfReach);
        assert_eq!(choose(&both, Some("")), Choice::OutOfReach);
    }

    #[test]
    fn a_credential_for_one_workspace_reaches_that_one_or_none() {
        let both = [member("acme"), member("acme-labs")];
        assert_eq!(reach(&both, None), both);
        assert_eq!(reach(&both, Some(both[1].workspace_id)), &both[1..]);
        assert_eq!(reach(&both, Some(Uuid::now_v7())), []);
    }

    #[test]
    fn a_profile_says_what_is_held_where_the_caller_is() {
        let mut lead = member("acme-labs");
        lead.role = Role::Owner;
        let person = PersonRow {
            id: Uuid::now_v7(),
            name: "Ana".into(),
            email: "ana@example.com".into(),
            organization_id: Uuid::now_v7(),
            organization_name: "Acme".into(),
            active: true,
        };
        let standing = Standing { person, memberships: vec![member("acme"), lead] };
        let token = Token {
            id: "t".into(),
            person_id: standing.person.id,
            client: "c".into(),
            audience: Audience::Mcp,
            scopes: vec![Scope::Emails, Scope::InboxesWrite],
            workspace: None,
            expires_at: None,
            requests_per_minute: DEFAULT_REQUESTS_PER_MINUTE,
        };
        let at = |choice| profile(&caller(&standing, &token, choice));
        let first = at(Choice::Picked(0));
        assert_eq!(first.workspace, Some(standing.memberships[0].workspace_id.to_string()));
        assert_eq!(first.scopes, "inbox.emails inbox.inboxes.write");
        assert!(first.permissions.starts_with("workspaces.view inboxes.view "));
        assert!(!first.permissions.contains("inboxes.manage"));
        assert!(at(Choice::Picked(1)).permissions.contains("inboxes.manage"));
        let open = at(Choice::Open);
        assert!(open.workspace.is_none() && open.permissions.contains("inboxes.manage"));
        assert_eq!((at(Choice::OutOfReach).workspace, at(Choice::OutOfReach).permissions), (None, String::new()));
    }
}
