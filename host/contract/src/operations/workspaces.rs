//! Workspaces: the tenants inside an organization.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::access::names;
use crate::fields::{ByIdOrExternalId, ExternalId, nullable};
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

/// What opens a workspace.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct WorkspaceCreate {
    /// The product that opens it.
    pub source: WorkspaceSource,
    /// Label.
    #[schemars(length(min = 1, max = 120))]
    pub label: String,
    /// The caller's own name for it, unique in the organization; the id if left out.
    #[serde(default)]
    #[schemars(with = "ExternalId")]
    pub external_id: Option<ExternalId>,
    /// First part of generated inbox addresses; made from the label when left out.
    #[serde(default)]
    #[schemars(with = "String", length(min = 1, max = 60), regex(pattern = r"^[a-z0-9]+(?:-[a-z0-9]+)*$"))]
    pub email_prefix: Option<String>,
    /// The members that an update takes too.
    #[serde(flatten)]
    pub allowance: Allowance,
}

/// What changes a workspace; only the members sent change.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct WorkspaceUpdate {
    /// Label.
    #[serde(default)]
    #[schemars(with = "String", length(min = 1, max = 120))]
    pub label: Option<String>,
    /// First part of generated inbox addresses.
    #[serde(default)]
    #[schemars(with = "String", length(min = 1, max = 60), regex(pattern = r"^[a-z0-9]+(?:-[a-z0-9]+)*$"))]
    pub email_prefix: Option<String>,
    /// The members that creating takes too.
    #[serde(flatten)]
    pub allowance: Allowance,
}

/// Monthly limits and data of a workspace: the members that create and update share.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct Allowance {
    /// No limit when null.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<f64>", extend("exclusiveMinimum" = 0), transform = crate::page::plain_integer)]
    pub monthly_cost_limit: Option<Option<f64>>,
    /// No limit when null.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<i64>", extend("exclusiveMinimum" = 0), transform = crate::page::plain_integer)]
    pub monthly_emails_limit: Option<Option<i64>>,
    /// The caller's own data.
    #[serde(default)]
    #[schemars(with = "Map<String, Value>")]
    pub custom_metadata: Option<Map<String, Value>>,
    /// Further data.
    #[serde(default)]
    #[schemars(with = "Map<String, Value>")]
    pub metadata: Option<Map<String, Value>>,
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

/// `POST /workspaces`
pub struct CreateWorkspace;

impl Operation for CreateWorkspace {
    const SPEC: Spec = Spec {
        id: "create-workspace",
        method: Method::Post,
        path: "/workspaces",
        tag: "Workspaces",
        summary: "Opens a new workspace in the caller's organization.",
        description: Some(
            "The permission must be held in at least one workspace of the organization. The caller becomes owner of \
             the new one.",
        ),
        scope: Some(Scope::WorkspacesWrite),
        permission: Some(Permission::WorkspacesManage),
        workspace: WorkspaceRule::None,
        tool: Ok("workspaces_create"),
        title: "Create workspace",
        hints: Hints::CREATE,
        success: &[201],
    };
    type Path = Nothing;
    type Query = Nothing;
    type Body = WorkspaceCreate;
    type Reply = Data<Workspace>;
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

/// `PATCH /workspaces/{id}`
pub struct UpdateWorkspace;

impl Operation for UpdateWorkspace {
    const SPEC: Spec = Spec {
        id: "update-workspace",
        method: Method::Patch,
        path: "/workspaces/{id}",
        tag: "Workspaces",
        summary: "Changes label, address prefix, monthly limits or metadata of a workspace.",
        description: Some("Addresses that inboxes already have stay as they are."),
        scope: Some(Scope::WorkspacesWrite),
        permission: Some(Permission::WorkspacesManage),
        workspace: WorkspaceRule::None,
        tool: Ok("workspaces_update"),
        title: "Update workspace",
        hints: Hints::UPDATE,
        success: &[200],
    };
    type Path = ByIdOrExternalId;
    type Query = Nothing;
    type Body = WorkspaceUpdate;
    type Reply = Data<Workspace>;
}

/// `DELETE /workspaces/{id}`
pub struct DeleteWorkspace;

impl Operation for DeleteWorkspace {
    const SPEC: Spec = Spec {
        id: "delete-workspace",
        method: Method::Delete,
        path: "/workspaces/{id}",
        tag: "Workspaces",
        summary: "Deletes a workspace; everything inside it stops answering.",
        description: None,
        scope: Some(Scope::WorkspacesWrite),
        permission: Some(Permission::WorkspacesManage),
        workspace: WorkspaceRule::None,
        tool: Ok("workspaces_delete"),
        title: "Delete workspace",
        hints: Hints::REMOVE,
        success: &[204],
    };
    type Path = ByIdOrExternalId;
    type Query = Nothing;
    type Body = Nothing;
    type Reply = Nothing;
}

pub(super) fn all() -> Vec<Described> {
    vec![
        Described::of::<ListWorkspaces>(),
        Described::of::<CreateWorkspace>(),
        Described::of::<GetWorkspace>(),
        Described::of::<UpdateWorkspace>(),
        Described::of::<DeleteWorkspace>(),
    ]
}
