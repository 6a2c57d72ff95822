//! The gates before an operation: scope, workspace, permission, in this order (inbox-api.yaml, Access).

use kobana_contract::{Caller, Choice, Membership, Permission, Role, Spec, WorkspaceRule};
use kobana_store::{InOrganization, InWorkspace};
use uuid::Uuid;

use crate::error::ApiError;
use crate::lookup;

/// The way in for one kind of operation.
pub(crate) trait Gate {
    /// What the contract says of its operations.
    const RULE: WorkspaceRule;
    /// Where the caller is once let in.
    type Place: Place;

    /// Lets the caller in, or refuses. `id` is the path's variable of this name.
    fn admit(caller: &Caller, spec: &Spec, id: Option<&str>) -> Result<Self::Place, ApiError>;
}

/// Where a caller is.
pub(crate) trait Place: Send + 'static {
    /// What a cursor or an idempotency key made here is good for.
    fn bounds(&self) -> String;
}

/// Refuses credentials without the scope of the operation.
pub(crate) fn check_scope(caller: &Caller, spec: &Spec) -> Result<(), ApiError> {
    match spec.scope {
        Some(required) if !caller.has_scope(required) => {
            Err(ApiError::InsufficientScope { required, granted: caller.scopes.clone() })
        }
        _ => Ok(()),
    }
}

fn check_permission(role: Role, required: Option<Permission>) -> Result<(), ApiError> {
    match required {
        Some(required) if !role.holds(required) => Err(ApiError::PermissionDenied(required)),
        _ => Ok(()),
    }
}

/// In the workspace that the request picked.
pub(crate) struct Chosen;

/// A workspace and what the caller is there.
pub(crate) struct AtWork {
    /// Its rows.
    pub(crate) rows: InWorkspace,
    role: Role,
}

impl AtWork {
    /// Refuses callers without a further permission.
    pub(crate) fn require(&self, permission: Permission) -> Result<(), ApiError> {
        check_permission(self.role, Some(permission))
    }

    fn of(member: &Membership, required: Option<Permission>) -> Result<Self, ApiError> {
        check_permission(member.role, required)?;
        Ok(Self { rows: InWorkspace(member.workspace_id), role: member.role })
    }
}

impl Place for AtWork {
    fn bounds(&self) -> String {
        self.rows.0.to_string()
    }
}

impl Gate for Chosen {
    const RULE: WorkspaceRule = WorkspaceRule::One;
    type Place = AtWork;

    fn admit(caller: &Caller, spec: &Spec, _: Option<&str>) -> Result<AtWork, ApiError> {
        match (caller.workspace(), caller.choice) {
            (Some(member), _) => AtWork::of(member, spec.permission),
            (None, Choice::Open) => {
                let label = |member: &Membership| (member.workspace_id, member.label.clone());
                Err(ApiError::WorkspaceRequired(caller.memberships.iter().map(label).collect()))
            }
            (None, Choice::Nothing) => Err(spec.permission.map_or(ApiError::NotFound, ApiError::PermissionDenied)),
            (None, _) => Err(ApiError::NotFound),
        }
    }
}

/// In the organization, over all workspaces in reach. Where the permission is missing, the handler leaves rows out.
pub(crate) struct Reach;

/// An organization.
pub(crate) struct AtHome {
    /// Its rows.
    pub(crate) rows: InOrganization,
    person: Uuid,
}

impl AtHome {
    fn of(caller: &Caller) -> Self {
        Self { rows: InOrganization(caller.organization_id), person: caller.person_id }
    }
}

impl Place for AtHome {
    fn bounds(&self) -> String {
        // Two persons of one organization reach different workspaces.
        format!("{}/{}", self.rows.0, self.person)
    }
}

impl Gate for Reach {
    const RULE: WorkspaceRule = WorkspaceRule::None;
    type Place = AtHome;

    fn admit(caller: &Caller, _: &Spec, _: Option<&str>) -> Result<AtHome, ApiError> {
        Ok(AtHome::of(caller))
    }
}

/// In the organization, if the permission is held in at least one of its workspaces.
pub(crate) struct Anywhere;

impl Gate for Anywhere {
    const RULE: WorkspaceRule = WorkspaceRule::None;
    type Place = AtHome;

    fn admit(caller: &Caller, spec: &Spec, _: Option<&str>) -> Result<AtHome, ApiError> {
        match spec.permission {
            Some(required) if !caller.memberships.iter().any(|member| member.role.holds(required)) => {
                Err(ApiError::PermissionDenied(required))
            }
            _ => Ok(AtHome::of(caller)),
        }
    }
}

/// In the workspace that the path names, if it is in reach.
pub(crate) struct Named;

/// An organization, and one of its workspaces.
pub(crate) struct AtWorkspace {
    /// The organization's rows.
    pub(crate) rows: InOrganization,
    /// The workspace's UUID.
    pub(crate) id: Uuid,
}

impl Place for AtWorkspace {
    fn bounds(&self) -> String {
        self.id.to_string()
    }
}

impl Gate for Named {
    const RULE: WorkspaceRule = WorkspaceRule::None;
    type Place = AtWorkspace;

    fn admit(caller: &Caller, spec: &Spec, id: Option<&str>) -> Result<AtWorkspace, ApiError> {
        let id = id.ok_or(ApiError::NotFound)?;
        let member = lookup::membership(&caller.memberships, id).ok_or(ApiError::NotFound)?;
        check_permission(member.role, spec.permission)?;
        Ok(AtWorkspace { rows: InOrganization(caller.organization_id), id: member.workspace_id })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_further_permission_is_asked_of_the_role_in_this_workspace() {
        let at = |role| AtWork { rows: InWorkspace(Uuid::nil()), role };
        assert!(at(Role::Owner).require(Permission::InboxesRecipients).is_ok());
        let refused = at(Role::Integrator).require(Permission::InboxesRecipients);
        assert!(matches!(refused, Err(ApiError::PermissionDenied(Permission::InboxesRecipients))));
    }
}
