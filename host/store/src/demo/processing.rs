//! Agent runs and events: what became of the e-mails.

use kobana_contract::operations::agent_runs::RunStatus;
use kobana_contract::operations::emails::EmailStatus;
use sea_orm::{DbErr, QueryOrder};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::{SECOND, id, workspaces};
use crate::rows::{AgentRunRow, AgentRuns, EmailColumn, EmailRow, Emails, SystemEventRow, SystemEvents};
use crate::values::{Object, Word};
use crate::{InWorkspace, Scope, Write};

/// How many e-mails have a run.
const RUNS: usize = 24;
const FIRST_RUN: u128 = 0x11_0000;
const FIRST_EVENT: u128 = 0x12_0000;
const ACME: InWorkspace = InWorkspace(workspaces::ACME);

/// The UUID of the demo's event with this number, counted from one.
pub(super) const fn event(number: u128) -> Uuid {
    id(FIRST_EVENT + number)
}

pub(super) async fn fill(tx: &Write) -> Result<(), DbErr> {
    let emails = ACME.find::<Emails>().order_by_desc(EmailColumn::ReceivedAt).all(tx).await?;
    let with_agent = emails.iter().filter_map(|email| Some((email, email.agent_id?))).take(RUNS).collect::<Vec<_>>();
    for (number, (email, agent)) in (1_u128..).zip(with_agent.iter().rev()) {
        ACME.insert::<AgentRuns>(tx, run(number, email, *agent)).await?;
    }
    for (number, (email, _)) in (1_u128..).zip(with_agent.iter().rev()) {
        ACME.insert::<SystemEvents>(tx, happened(number, email)).await?;
    }
    Ok(())
}

fn run(number: u128, email: &EmailRow, agent_id: Uuid) -> AgentRunRow {
    let started_at = email.received_at + 2 * SECOND;
    let (status, error) = match email.status.0 {
        EmailStatus::Processing => (RunStatus::Running, None),
        EmailStatus::Failed => (RunStatus::Failed, Some("no amount was found in the message".to_owned())),
        _ => (RunStatus::Success, None),
    };
    let finished_at = (status != RunStatus::Running).then_some(started_at + 3 * SECOND);
    AgentRunRow {
        id: id(FIRST_RUN + number),
        workspace_id: email.workspace_id,
        inbox_id: email.inbox_id,
        agent_id,
        email_id: email.id,
        llm_model: "rules".to_owned(),
        status: Word(status),
        error,
        input_tokens: 0,
        output_tokens: 0,
        cache_read: 0,
        cache_write: 0,
        cost_per_token: 0.0,
        total_cost: 0.0,
        duration_ms: finished_at.map(|_| 3_000),
        started_at: Some(started_at),
        finished_at,
        created_at: started_at,
        updated_at: finished_at.unwrap_or(started_at),
    }
}

fn happened(number: u128, email: &EmailRow) -> SystemEventRow {
    let slug = match email.status.0 {
        EmailStatus::Processing => "email.approved",
        EmailStatus::Failed => "email.failed",
        _ => "email.processed",
    };
    let created_at = email.received_at + 6 * SECOND;
    SystemEventRow {
        id: event(number),
        workspace_id: email.workspace_id,
        inbox_id: Some(email.inbox_id),
        email_id: Some(email.id),
        slug: slug.to_owned(),
        payload: Object(payload(email)),
        created_at,
        updated_at: created_at,
    }
}

/// What an event, and the delivery of it, says about an e-mail.
pub(super) fn payload(email: &EmailRow) -> Map<String, Value> {
    let about = json!({
        "id": email.id,
        "inbox_id": email.inbox_id,
        "subject": email.subject,
        "from": email.sender,
        "status": email.status.0,
    });
    Map::from_iter([("email".to_owned(), about)])
}
