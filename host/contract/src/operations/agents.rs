//! Agents, which process e-mails.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::fields::{ByIdOrExternalId, ExternalId, nullable};
use crate::{
    Data, Described, Hints, Method, Nothing, Operation, Page, PageQuery, Permission, Scope, Spec, Timestamp,
    WorkspaceRule,
};

/// An agent with its model and instructions.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Agent {
    /// UUID.
    pub id: Uuid,
    /// The caller's own name for it.
    pub external_id: Option<String>,
    /// UUID of its workspace.
    pub workspace_id: Uuid,
    /// Label.
    pub label: String,
    /// The model it runs on.
    pub llm_model: String,
    /// Its instructions.
    pub system_message: String,
    /// Where its skills are kept.
    #[schemars(url)]
    pub skills_repo: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// What creates an agent.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct AgentCreate {
    /// The caller's own name for it; the id if left out.
    #[serde(default)]
    #[schemars(with = "ExternalId")]
    pub external_id: Option<ExternalId>,
    /// Label.
    #[schemars(length(min = 1))]
    pub label: String,
    /// The model it runs on.
    #[schemars(length(min = 1))]
    pub llm_model: String,
    /// Its instructions.
    #[schemars(length(min = 1))]
    pub system_message: String,
    /// Where its skills are kept; null for nowhere.
    #[serde(default)]
    #[schemars(url)]
    pub skills_repo: Option<String>,
}

/// What changes an agent; only the members sent change.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct AgentUpdate {
    /// Label.
    #[serde(default)]
    #[schemars(with = "String", length(min = 1))]
    pub label: Option<String>,
    /// The model it runs on.
    #[serde(default)]
    #[schemars(with = "String", length(min = 1))]
    pub llm_model: Option<String>,
    /// Its instructions.
    #[serde(default)]
    #[schemars(with = "String")]
    pub system_message: Option<String>,
    /// Where its skills are kept; null for nowhere.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>", url)]
    pub skills_repo: Option<Option<String>>,
}

/// What creates an agent, or changes the one with this external_id.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct AgentUpsert {
    /// The caller's own name for it.
    pub external_id: ExternalId,
    /// Label.
    #[serde(default)]
    #[schemars(with = "String", length(min = 1))]
    pub label: Option<String>,
    /// The model it runs on.
    #[serde(default)]
    #[schemars(with = "String", length(min = 1))]
    pub llm_model: Option<String>,
    /// Its instructions.
    #[serde(default)]
    #[schemars(with = "String", length(min = 1))]
    pub system_message: Option<String>,
    /// Where its skills are kept; null for nowhere.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>", url)]
    pub skills_repo: Option<Option<String>>,
}

/// `GET /agents`
pub struct ListAgents;

impl Operation for ListAgents {
    const SPEC: Spec = Spec {
        id: "list-agents",
        method: Method::Get,
        path: "/agents",
        tag: "Agents",
        summary: "Lists the agents that can process the workspace's e-mails, newest first.",
        description: None,
        scope: Some(Scope::Agents),
        permission: Some(Permission::AgentsView),
        workspace: WorkspaceRule::One,
        tool: Ok("agents_list"),
        title: "List agents",
        hints: Hints::READ,
        success: &[200],
    };
    type Path = Nothing;
    type Query = PageQuery;
    type Body = Nothing;
    type Reply = Page<Agent>;
}

/// `POST /agents`
pub struct CreateAgent;

impl Operation for CreateAgent {
    const SPEC: Spec = Spec {
        id: "create-agent",
        method: Method::Post,
        path: "/agents",
        tag: "Agents",
        summary: "Creates an agent, which runs only once an inbox points at it.",
        description: None,
        scope: Some(Scope::AgentsWrite),
        permission: Some(Permission::AgentsManage),
        workspace: WorkspaceRule::One,
        tool: Ok("agents_create"),
        title: "Create agent",
        hints: Hints::CREATE,
        success: &[201],
    };
    type Path = Nothing;
    type Query = Nothing;
    type Body = AgentCreate;
    type Reply = Data<Agent>;
}

/// `PUT /agents`
pub struct UpsertAgent;

impl Operation for UpsertAgent {
    const SPEC: Spec = Spec {
        id: "upsert-agent",
        method: Method::Put,
        path: "/agents",
        tag: "Agents",
        summary: "Creates the agent with this external_id, or changes only the fields sent if it exists.",
        description: Some(
            "201 when no live agent of the workspace had the external_id, else 200. Creating also needs `label`, \
             `llm_model` and `system_message` (400 without them).",
        ),
        scope: Some(Scope::AgentsWrite),
        permission: Some(Permission::AgentsManage),
        workspace: WorkspaceRule::One,
        tool: Ok("agents_upsert"),
        title: "Create or update agent",
        hints: Hints::UPDATE,
        success: &[200, 201],
    };
    type Path = Nothing;
    type Query = Nothing;
    type Body = AgentUpsert;
    type Reply = Data<Agent>;
}

/// `GET /agents/{id}`
pub struct GetAgent;

impl Operation for GetAgent {
    const SPEC: Spec = Spec {
        id: "get-agent",
        method: Method::Get,
        path: "/agents/{id}",
        tag: "Agents",
        summary: "Reads one agent with its model and instructions.",
        description: None,
        scope: Some(Scope::Agents),
        permission: Some(Permission::AgentsView),
        workspace: WorkspaceRule::One,
        tool: Ok("agents_get"),
        title: "Get agent",
        hints: Hints::READ,
        success: &[200],
    };
    type Path = ByIdOrExternalId;
    type Query = Nothing;
    type Body = Nothing;
    type Reply = Data<Agent>;
}

/// `PATCH /agents/{id}`
pub struct UpdateAgent;

impl Operation for UpdateAgent {
    const SPEC: Spec = Spec {
        id: "update-agent",
        method: Method::Patch,
        path: "/agents/{id}",
        tag: "Agents",
        summary: "Changes an agent for e-mails processed from then on.",
        description: None,
        scope: Some(Scope::AgentsWrite),
        permission: Some(Permission::AgentsManage),
        workspace: WorkspaceRule::One,
        tool: Ok("agents_update"),
        title: "Update agent",
        hints: Hints::UPDATE,
        success: &[200],
    };
    type Path = ByIdOrExternalId;
    type Query = Nothing;
    type Body = AgentUpdate;
    type Reply = Data<Agent>;
}

/// `DELETE /agents/{id}`
pub struct DeleteAgent;

impl Operation for DeleteAgent {
    const SPEC: Spec = Spec {
        id: "delete-agent",
        method: Method::Delete,
        path: "/agents/{id}",
        tag: "Agents",
        summary: "Deletes an agent; inboxes that used it are left without one.",
        description: Some("Those inboxes answer agent_id null from then on; runs of the past stay readable."),
        scope: Some(Scope::AgentsWrite),
        permission: Some(Permission::AgentsManage),
        workspace: WorkspaceRule::One,
        tool: Ok("agents_delete"),
        title: "Delete agent",
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
        Described::of::<ListAgents>(),
        Described::of::<CreateAgent>(),
        Described::of::<UpsertAgent>(),
        Described::of::<GetAgent>(),
        Described::of::<UpdateAgent>(),
        Described::of::<DeleteAgent>(),
    ]
}
