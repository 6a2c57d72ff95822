//! What happens to e-mails and extensions, written down as events in the transaction in which it happens.

use kobana_contract::Timestamp;
use kobana_store::rows::{AgentRunRow, EmailRow, SystemEventRow, SystemEvents};
use kobana_store::values::Object;
use kobana_store::{InWorkspace, Scope as _, Write};
use sea_orm::DbErr;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::delivery::{self, About};

pub(crate) const RECEIVED: &str = "email.received";
pub(crate) const REPROCESSING: &str = "email.reprocess_requested";
pub(crate) const APPROVED: &str = "email.approved";
pub(crate) const REJECTED: &str = "email.rejected";
pub(crate) const PROCESSED: &str = "email.processed";
pub(crate) const FAILED: &str = "email.failed";
pub(crate) const RUN_STARTED: &str = "agent_run.started";
pub(crate) const RUN_SUCCEEDED: &str = "agent_run.succeeded";
pub(crate) const RUN_FAILED: &str = "agent_run.failed";
pub(crate) const EXTENSION_ADDED: &str = "extension.added";
pub(crate) const EXTENSION_ENABLED: &str = "extension.enabled";
pub(crate) const EXTENSION_DISABLED: &str = "extension.disabled";
pub(crate) const EXTENSION_REMOVED: &str = "extension.removed";
pub(crate) const EXTENSION_SETTINGS: &str = "extension.settings_changed";

/// Something that happened.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) slug: &'static str,
    workspace: Uuid,
    inbox: Option<Uuid>,
    email: Option<Uuid>,
    payload: Map<String, Value>,
    about: About,
}

impl Event {
    /// The same with one more member of the payload.
    pub(crate) fn with(mut self, name: &str, value: Value) -> Self {
        self.payload.insert(name.to_owned(), value);
        self
    }
}

/// Something that happened to an e-mail, with the e-mail in short.
pub(crate) fn about_email(slug: &'static str, email: &EmailRow) -> Event {
    let short = json!({
        "id": email.id,
        "inbox_id": email.inbox_id,
        "subject": email.subject,
        "from": email.sender,
        "status": email.status.0,
    });
    let event = Event {
        slug,
        workspace: email.workspace_id,
        inbox: Some(email.inbox_id),
        email: Some(email.id),
        payload: Map::from_iter([("email".to_owned(), short)]),
        about: About { email: Some(email.clone()), ..About::default() },
    };
    match &email.rejection_reason {
        Some(reason) => event.with("rejection_reason", json!(reason)),
        None => event,
    }
}

/// Something that happened to a run, with run and e-mail in short.
pub(crate) fn about_run(slug: &'static str, email: &EmailRow, run: &AgentRunRow) -> Event {
    let short = json!({
        "id": run.id,
        "agent_id": run.agent_id,
        "llm_model": run.llm_model,
        "status": run.status.0,
        "error": run.error,
    });
    let mut event = about_email(slug, email).with("agent_run", short);
    event.about.run = Some(run.clone());
    event
}

/// Something that a person did with a workspace's extensions; whoever runs the installation is no person.
pub(crate) fn about_extensions(slug: &'static str, workspace: Uuid, person: Option<Uuid>) -> Event {
    let payload = Map::from_iter([("person_id".to_owned(), json!(person))]);
    Event { slug, workspace, inbox: None, email: None, payload, about: About::default() }
}

/// Writes an event down, and has it delivered to the webhooks that want it; answers its UUID.
///
/// # Errors
/// What the database answers.
pub(crate) async fn record(tx: &Write, event: Event, now: Timestamp) -> Result<Uuid, DbErr> {
    let id = Uuid::now_v7();
    let row = SystemEventRow {
        id,
        workspace_id: event.workspace,
        inbox_id: event.inbox,
        email_id: event.email,
        slug: event.slug.to_owned(),
        payload: Object(event.payload),
        created_at: now.0,
        updated_at: now.0,
    };
    InWorkspace(event.workspace).insert::<SystemEvents>(tx, row.clone()).await?;
    delivery::fan_out(tx, &row, &event.about).await?;
    Ok(id)
}
