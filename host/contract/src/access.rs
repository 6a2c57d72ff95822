//! Who may do what: scopes of a credential, permissions of a person, and the caller that both make.
//!
//! Three gates stand before every operation (inbox-api.yaml, Access): the credential's scope, the workspace, and the
//! person's permission in that workspace. The vocabulary is here; `host/identity` fills it in, `host/api` asks it.

use uuid::Uuid;

use crate::time::Timestamp;

/// Declares an enum of wire names, with conversion both ways and the list of all values.
macro_rules! names {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        $(#[$meta])*
        pub enum $name { $($(#[$vmeta])* #[serde(rename = $text)] $variant),+ }

        impl $name {
            /// Every value, in the contract's order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }

            /// The value of a wire name.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.as_str() == text)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
pub(crate) use names;

names! {
    /// What a credential may be used for (inbox-api.yaml, `bearerAuth`).
    Scope {
        /// Read workspaces.
        Workspaces = "inbox.workspaces",
        /// Create, change and delete workspaces.
        WorkspacesWrite = "inbox.workspaces.write",
        /// Read inboxes.
        Inboxes = "inbox.inboxes",
        /// Create, change and delete inboxes and say who may send to them.
        InboxesWrite = "inbox.inboxes.write",
        /// Read agents.
        Agents = "inbox.agents",
        /// Create, change and delete agents.
        AgentsWrite = "inbox.agents.write",
        /// Read webhooks and their deliveries.
        Webhooks = "inbox.webhooks",
        /// Create, change, delete and test webhooks, renew their secret, replay deliveries.
        WebhooksWrite = "inbox.webhooks.write",
        /// Read e-mails and download the original.
        Emails = "inbox.emails",
        /// Hand in and reprocess e-mails.
        EmailsWrite = "inbox.emails.write",
        /// Read agent runs.
        AgentRuns = "inbox.agent_runs",
        /// Includes reading; no operation asks for it yet.
        AgentRunsWrite = "inbox.agent_runs.write",
        /// Read events.
        SystemEvents = "inbox.system_events",
        /// Includes reading; no operation asks for it yet.
        SystemEventsWrite = "inbox.system_events.write",
    }
}

impl Scope {
    /// Whether holding this scope is enough where `needed` is asked for: `inbox.x.write` includes `inbox.x`.
    #[must_use]
    pub fn satisfies(self, needed: Self) -> bool {
        self == needed || self.as_str().strip_suffix(".write") == Some(needed.as_str())
    }
}

names! {
    /// What a person may do in a workspace (mcp-catalogue.md, Permissions and default roles).
    Permission {
        /// Read workspaces.
        WorkspacesView = "workspaces.view",
        /// Create, change and delete workspaces.
        WorkspacesManage = "workspaces.manage",
        /// Read inboxes.
        InboxesView = "inboxes.view",
        /// Create, change and delete inboxes.
        InboxesManage = "inboxes.manage",
        /// Say who may send to an inbox.
        InboxesRecipients = "inboxes.recipients",
        /// Read agents.
        AgentsView = "agents.view",
        /// Create, change and delete agents.
        AgentsManage = "agents.manage",
        /// Read webhooks and their deliveries.
        WebhooksView = "webhooks.view",
        /// Create, change and delete webhooks.
        WebhooksManage = "webhooks.manage",
        /// Send test events and replay deliveries.
        WebhooksSend = "webhooks.send",
        /// Renew signing secrets.
        WebhooksSecrets = "webhooks.secrets",
        /// Read e-mails.
        EmailsView = "emails.view",
        /// Reprocess e-mails.
        EmailsReprocess = "emails.reprocess",
        /// Hand in raw messages.
        EmailsIngest = "emails.ingest",
        /// Read agent runs.
        AgentRunsView = "agent_runs.view",
        /// Read events.
        SystemEventsView = "system_events.view",
        /// Add, enable and remove the workspace's extensions.
        ExtensionsManage = "extensions.manage",
    }
}

names! {
    /// A named set of permissions that a person has in a workspace.
    Role {
        /// Everything.
        Owner = "owner",
        /// Everything.
        Admin = "admin",
        /// Reads, and runs webhooks.
        Integrator = "integrator",
        /// Reads, and reprocesses e-mails.
        Operator = "operator",
        /// Reads, but no webhooks.
        Viewer = "viewer",
    }
}

impl Role {
    /// The permissions of the role (inbox-api.yaml, `x-roles`).
    #[must_use]
    pub const fn permissions(self) -> &'static [Permission] {
        use Permission as P;
        match self {
            Self::Owner | Self::Admin => Permission::ALL,
            Self::Integrator => &[
                P::WorkspacesView,
                P::InboxesView,
                P::AgentsView,
                P::WebhooksView,
                P::WebhooksManage,
                P::WebhooksSend,
                P::WebhooksSecrets,
                P::EmailsView,
                P::AgentRunsView,
                P::SystemEventsView,
            ],
            Self::Operator => &[
                P::WorkspacesView,
                P::InboxesView,
                P::AgentsView,
                P::WebhooksView,
                P::EmailsView,
                P::EmailsReprocess,
                P::AgentRunsView,
                P::SystemEventsView,
            ],
            Self::Viewer => &[
                P::WorkspacesView,
                P::InboxesView,
                P::AgentsView,
                P::EmailsView,
                P::AgentRunsView,
                P::SystemEventsView,
            ],
        }
    }

    /// Whether the role holds a permission.
    #[must_use]
    pub fn holds(self, permission: Permission) -> bool {
        self.permissions().contains(&permission)
    }
}

/// A workspace that a caller reaches, and what the caller is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    /// The workspace.
    pub workspace_id: Uuid,
    /// The workspace's name of the organization's own choosing.
    pub external_id: String,
    /// The workspace's label.
    pub label: String,
    /// What the caller is in it.
    pub role: Role,
}

/// Which workspace the request is about (inbox-api.yaml, Workspace).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// `X-Workspace-Id` names one in reach, or only one is in reach. The index is into [`Caller::memberships`].
    Picked(usize),
    /// Several are in reach and none was named.
    Open,
    /// `X-Workspace-Id` names none in reach; it looks like a workspace that does not exist.
    OutOfReach,
    /// None is in reach.
    Nothing,
}

/// A verified identity: the person, and the credential that speaks for the person. Only `host/identity` makes one.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The person.
    pub person_id: Uuid,
    /// The person's name.
    pub person_name: String,
    /// The person's e-mail address.
    pub person_email: String,
    /// The organization that the credential is for.
    pub organization_id: Uuid,
    /// The organization's name.
    pub organization_name: String,
    /// A stable name of the credential that is no secret; allowances and idempotency keys hang on it.
    pub credential_id: String,
    /// The program that acts for the person.
    pub client: String,
    /// Scopes as granted.
    pub scopes: Vec<Scope>,
    /// When the credential ends.
    pub expires_at: Option<Timestamp>,
    /// Live workspaces in reach, in the order of their creation.
    pub memberships: Vec<Membership>,
    /// The workspace of this request.
    pub choice: Choice,
}

impl Caller {
    /// Whether the credential covers `needed`.
    #[must_use]
    pub fn has_scope(&self, needed: Scope) -> bool {
        self.scopes.iter().any(|held| held.satisfies(needed))
    }

    /// The membership in the workspace of this request, if there is one.
    #[must_use]
    pub fn workspace(&self) -> Option<&Membership> {
        match self.choice {
            Choice::Picked(index) => self.memberships.get(index),
            Choice::Open | Choice::OutOfReach | Choice::Nothing => None,
        }
    }

    /// Permissions held in the workspace of this request, or, while the choice is open, in at least one in reach.
    #[must_use]
    pub fn permissions(&self) -> Vec<Permission> {
        let considered: &[Membership] = match self.choice {
            Choice::Picked(_) => self.workspace().map_or(&[], std::slice::from_ref),
            Choice::Open => &self.memberships,
            Choice::OutOfReach | Choice::Nothing => &[],
        };
        let held = |permission: &Permission| considered.iter().any(|member| member.role.holds(*permission));
        Permission::ALL.iter().copied().filter(held).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writing_includes_reading_of_the_same_family_only() {
        assert!(Scope::InboxesWrite.satisfies(Scope::Inboxes));
        assert!(!Scope::Inboxes.satisfies(Scope::InboxesWrite));
        assert!(!Scope::EmailsWrite.satisfies(Scope::Inboxes));
        assert!(!Scope::AgentRunsWrite.satisfies(Scope::Agents));
    }

    #[test]
    fn names_parse_back() {
        for scope in Scope::ALL {
            assert_eq!(Scope::parse(scope.as_str()), Some(*scope));
        }
        assert_eq!(Permission::parse("inboxes.everything"), None);
    }

    #[test]
    fn only_owner_and_admin_manage_inboxes() {
        let holders: Vec<_> = Role::ALL.iter().filter(|role| role.holds(Permission::InboxesManage)).collect();
        assert_eq!(holders, [&Role::Owner, &Role::Admin]);
        assert!(!Role::Viewer.holds(Permission::WebhooksView));
    }
}
