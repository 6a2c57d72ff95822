//! Workspaces: the tenants inside an organization.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::access::names;
use crate::fields::ByIdOrExternalId;
use crate::{
    Data, Described, Hints, Method, Nothing, Operation, Page, PageQuery, Permission, Scope, Spec, Timestamp,
    WorkspaceRule,
};

names! {
    /// The product that opened a workspace.
    WorkspaceSource {
        /// Kobana App.
        App = "kobana_app",
        /// Kobana Billing.
        Billing = "kobana_billing",
        /// Kobana Autonomous Inbox.
        AutonomousInbox = "kobana_autonomous_inbox",
        /// Kobana Agent.
        Agent = "kobana_agent",
        /// Kobana Finance.
        Finance = "kobana_finance",
        /// Kobana Legal.
        Legal = "kobana_legal",
        /// Kobana Team.
        Team = "kobana_team",
    }
}

/// A workspace with its limits and its usage of the month.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Workspace {
    /// UUID.
    pub id: Uuid,
    /// The caller's own name for it.
    pub external_id: Option<String>,
    /// The product that opened it.
    pub source: WorkspaceSource,
    /// Label.
    pub label: String,
    /// First part of generated inbox addresses, as in `{email_prefix}-{slug}-{token}@domain`.
    pub email_prefix: String,
    /// No limit when null.
    pub monthly_cost_limit: Option<f64>,
    /// Cost of the month.
    pub monthly_cost_used: f64,
    /// No limit when null.
    pub monthly_emails_limit: Option<i64>,
    /// E-mails taken in this month.
    pub monthly_emails_used: i64,
    /// The caller's own data.
    pub custom_metadata: Map<String, Value>,
    /// Further data.
    pub metadata: Map<String, Value>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// `GET /workspaces`
pub struct ListWorkspaces;

impl Operation for ListWorkspaces {
    const SPEC: Spec = Spec {
        id: "list-workspaces",
        method: Method::Get,
        path: "/workspaces",
        tag: "Workspaces",
        summary: "Lists the workspaces the caller can reach, with limits and usage of the month.",
        description: Some("Workspaces where the person lacks the permission are left out."),
        scope: Some(Scope::Workspaces),
        permission: Some(Permission::WorkspacesView),
        workspace: WorkspaceRule::None,
        tool: Ok("workspaces_list"),
        title: "List workspaces",
        hints: Hints::READ,
        success: &[200],
    };
    type Path = Nothing;
    type Query = PageQuery;
    type Body = Nothing;
    type Reply = Page<Workspace>;
}

/// `GET /workspaces/{id}`
pub struct GetWorkspace;

impl Operation for GetWorkspace {
    const SPEC: Spec = Spec {
        id: "get-workspace",
        method: Method::Get,
        path: "/workspaces/{id}",
        tag: "Workspaces",
        summary: "Reads one workspace with its limits and usage of the month.",
        description: None,
        scope: Some(Scope::Workspaces),
        permission: Some(Permission::WorkspacesView),
        workspace: WorkspaceRule::None,
        tool: Ok("workspaces_get"),
        title: "Get workspace",
        hints: Hints::READ,
        success: &[200],
    };
    type Path = ByIdOrExternalId;
    type Query = Nothing;
    type Body = Nothing;
    type Reply = Data<Workspace>;
}

pub(super) fn all() -> Vec<Described> {
    vec![Described::of::<ListWorkspaces>(), Described::of::<GetWorkspace>()]
}
