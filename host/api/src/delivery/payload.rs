//! What is sent: the contract's WebhookPayload.
//!
//! `data` is put together in the transaction that records the event, so that it shows the rows as they were when it
//! happened. The envelope around it, with the workspace, the organization and the time, is made anew for each attempt: it
//! says nothing about the event, and what the workspace used this month is too much to count while others wait to write.

use kobana_contract::Timestamp;
use kobana_contract::payload::{EventReference, Snapshots};
use kobana_store::organizations::OrganizationRow;
use kobana_store::rows::{AgentRunRow, Agents, EmailRow, Inboxes, SystemEventRow, WebhookRow, WorkspaceRow};
use kobana_store::usage::Usage;
use kobana_store::{InWorkspace, Scope as _, Write};
use sea_orm::DbErr;
use serde_json::{Map, Value, json};

use crate::handlers::{agent_runs, agents, emails, inboxes, webhooks, workspaces};

/// The rows that an event is about, as they are after it.
#[derive(Debug, Clone, Default)]
pub(crate) struct About {
    pub(crate) email: Option<EmailRow>,
    pub(crate) run: Option<AgentRunRow>,
    pub(crate) webhook: Option<WebhookRow>,
}

/// What is known when the event happens. Mail bodies stay out: third parties wrote them, and they may be large.
///
/// # Errors
/// What the database answers.
pub(super) async fn snapshots(tx: &Write, event: &SystemEventRow, about: &About) -> Result<Map<String, Value>, DbErr> {
    let rows = InWorkspace(event.workspace_id);
    let mut data = Snapshots {
        email: about.email.clone().map(|row| emails::show(row, None)),
        agent_run: about.run.clone().map(agent_runs::show),
        ..Snapshots::default()
    };
    let ran = about.run.as_ref().map(|run| run.agent_id);
    if let Some(id) = ran.or_else(|| about.email.as_ref()?.agent_id) {
        data.agent = rows.find_by_id::<Agents>(id).one(tx).await?.map(agents::show);
    }
    if let Some(id) = event.inbox_id {
        data.inbox = rows.find_by_id::<Inboxes>(id).one(tx).await?.map(inboxes::show);
    }
    let mut data = object(json!(data));
    let webhook = about.webhook.clone().map(|row| json!(webhooks::show(row)));
    data.extend(webhook.map(|row| ("webhook".to_owned(), row)));
    Ok(data)
}

/// What a delivery holds before it is sent.
pub(super) fn unsent(event: &SystemEventRow, data: Map<String, Value>) -> Map<String, Value> {
    object(json!({ "event": reference(event), "data": data }))
}

/// What goes out.
pub(super) fn envelope(
    event: &SystemEventRow,
    unsent: &Map<String, Value>,
    organization: &OrganizationRow,
    workspace: WorkspaceRow,
    usage: Usage,
    now: Timestamp,
) -> Map<String, Value> {
    let mut data = unsent.get("data").and_then(Value::as_object).cloned().unwrap_or_default();
    data.insert("organization".to_owned(), json!({ "id": organization.id, "name": organization.name }));
    object(json!({
        "event": reference(event),
        "delivered_at": now,
        "workspace": workspaces::show(usage, workspace),
        "data": data,
    }))
}

fn reference(event: &SystemEventRow) -> EventReference {
    EventReference { slug: event.slug.clone(), id: event.id }
}

pub(super) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}
