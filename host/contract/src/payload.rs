//! What a webhook's address gets.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::Timestamp;
use crate::operations::{agent_runs::AgentRun, agents::Agent, emails::Email, inboxes::Inbox, workspaces::Workspace};

/// Snapshots look as in this API; which of them are there depends on the event.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct WebhookPayload {
    /// The event.
    pub event: EventReference,
    /// When it was sent.
    pub delivered_at: Timestamp,
    /// The workspace that it happened in.
    pub workspace: Workspace,
    /// The rows that it is about.
    pub data: Snapshots,
}

/// An event in short.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct EventReference {
    /// The kind of event.
    pub slug: String,
    /// UUID.
    pub id: Uuid,
}

/// Rows as they were after the event.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[schemars(inline, extend("additionalProperties" = true))]
pub struct Snapshots {
    /// The organization of the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Map<String, Value>")]
    pub organization: Option<Map<String, Value>>,
    /// The agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Agent")]
    pub agent: Option<Agent>,
    /// The inbox.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Inbox")]
    pub inbox: Option<Inbox>,
    /// The e-mail, without its body.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Email")]
    pub email: Option<Email>,
    /// The run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "AgentRun")]
    pub agent_run: Option<AgentRun>,
}
