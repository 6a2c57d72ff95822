//! Runs of agents over e-mails.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::access::names;
use crate::fields::ById;
use crate::page::default_limit;
use crate::{
    Data, Described, Hints, Method, Nothing, Operation, Page, Permission, Scope, Spec, Timestamp, WorkspaceRule,
};

names! {
    /// How far a run has come.
    #[schemars(inline)]
    RunStatus {
        /// Still running.
        Running = "running",
        /// Done.
        Success = "success",
        /// Failed.
        Failed = "failed",
    }
}

/// A run with its tokens and cost, and its error if it failed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AgentRun {
    /// UUID.
    pub id: Uuid,
    /// UUID of its workspace.
    pub workspace_id: Uuid,
    /// UUID of the inbox.
    pub inbox_id: Uuid,
    /// UUID of the agent.
    pub agent_id: Uuid,
    /// UUID of the e-mail.
    pub email_id: Uuid,
    /// The model it ran on.
    pub llm_model: String,
    /// How far it has come.
    pub status: RunStatus,
    /// Why it failed.
    pub error: Option<String>,
    /// Tokens read.
    pub input_tokens: i64,
    /// Tokens written.
    pub output_tokens: i64,
    /// Tokens read from a cache.
    pub cache_read: i64,
    /// Tokens written to a cache.
    pub cache_write: i64,
    /// Price of one token.
    pub cost_per_token: f64,
    /// Cost of the run.
    pub total_cost: f64,
    /// Milliseconds.
    pub duration_ms: Option<i64>,
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// Which runs are wanted. Filters add up.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct RunFilter {
    /// Rows per page.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 200), transform = crate::page::plain_integer)]
    pub limit: u32,
    /// Opaque value of meta.next_cursor, good only with the same filters.
    #[serde(default)]
    #[schemars(with = "String")]
    pub cursor: Option<String>,
    /// Only rows of this agent, by UUID or external_id.
    #[serde(default)]
    #[schemars(with = "String", length(min = 1, max = 128))]
    pub agent_id: Option<String>,
    /// Only rows of this e-mail.
    #[serde(default)]
    #[schemars(with = "String", extend("format" = "uuid"))]
    pub email_id: Option<String>,
    /// Only rows of this inbox, by UUID or external_id.
    #[serde(default)]
    #[schemars(with = "String", length(min = 1, max = 128))]
    pub inbox_id: Option<String>,
}

/// `GET /agent-runs`
pub struct ListAgentRuns;

impl Operation for ListAgentRuns {
    const SPEC: Spec = Spec {
        id: "list-agent-runs",
        method: Method::Get,
        path: "/agent-runs",
        tag: "Agent runs",
        summary: "Lists agent runs with status, tokens and cost, newest first.",
        description: None,
        scope: Some(Scope::AgentRuns),
        permission: Some(Permission::AgentRunsView),
        workspace: WorkspaceRule::One,
        tool: Ok("agent_runs_list"),
        title: "List agent runs",
        hints: Hints::READ,
        success: &[200],
    };
    type Path = Nothing;
    type Query = RunFilter;
    type Body = Nothing;
    type Reply = Page<AgentRun>;
}

/// `GET /agent-runs/{id}`
pub struct GetAgentRun;

impl Operation for GetAgentRun {
    const SPEC: Spec = Spec {
        id: "get-agent-run",
        method: Method::Get,
        path: "/agent-runs/{id}",
        tag: "Agent runs",
        summary: "Reads one agent run, with its error if it failed.",
        description: None,
        scope: Some(Scope::AgentRuns),
        permission: Some(Permission::AgentRunsView),
        workspace: WorkspaceRule::One,
        tool: Ok("agent_runs_get"),
        title: "Get agent run",
        hints: Hints::READ,
        success: &[200],
    };
    type Path = ById;
    type Query = Nothing;
    type Body = Nothing;
    type Reply = Data<AgentRun>;
}

pub(super) fn all() -> Vec<Described> {
    vec![Described::of::<ListAgentRuns>(), Described::of::<GetAgentRun>()]
}
