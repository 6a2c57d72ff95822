//! Processing an e-mail: the inbox's checks, then the agent.
//!
//! One job brings one e-mail from `received` to `rejected`, `processed` or `failed`, with at most one run, whose id the job
//! knows from the start. A worker that takes the job over goes on with the same run.

use std::sync::Arc;

use async_trait::async_trait;
use kobana_contract::Timestamp;
use kobana_contract::operations::agent_runs::RunStatus;
use kobana_contract::operations::emails::EmailStatus;
use kobana_store::jobs::{self, Ending, NewJob};
use kobana_store::rows::{
    AgentRow, AgentRunChanges, AgentRunColumn, AgentRunRow, AgentRuns, Agents, EmailBodies, EmailBodyRow, EmailRow,
    Emails, InboxRow, Inboxes, WorkspaceRow,
};
use kobana_store::values::{Object, Word};
use kobana_store::{InWorkspace, Scope as _, Write, operator};
use sea_orm::{ActiveModelTrait as _, ColumnTrait as _, DbErr, IntoActiveModel as _, QueryFilter as _, Set};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::filters::{self, Findings};
use super::policy::{self, Verdict};
use super::{Backoff, Failure, Handler, Job};
use crate::engine::{Assignment, Cost, EngineError, Engines, Mail, Outcome};
use crate::intake::content::{self, Content};
use crate::intake::events;

const KIND: &str = "email.process";

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Payload {
    workspace_id: Uuid,
    email_id: Uuid,
    run_id: Uuid,
}

/// Queues an e-mail that is to be processed from the start.
///
/// # Errors
/// What the database answers.
pub(crate) async fn queue(tx: &Write, email: &EmailRow, now: Timestamp) -> Result<(), DbErr> {
    let payload = Payload { workspace_id: email.workspace_id, email_id: email.id, run_id: Uuid::now_v7() };
    let payload = match json!(payload) {
        Value::Object(members) => members,
        _ => Map::new(),
    };
    jobs::create(tx, NewJob { kind: KIND, subject: Some(email.id), payload, run_at: now.0 }, now.0).await.map(|_| ())
}

/// Brings what still goes on about an e-mail to nothing.
///
/// # Errors
/// What the database answers.
pub(crate) async fn cancel(tx: &Write, email: &EmailRow, now: Timestamp) -> Result<(), DbErr> {
    jobs::cancel(tx, KIND, email.id, now.0).await?;
    let ended = AgentRunChanges {
        status: Set(Word(RunStatus::Failed)),
        error: Set(Some("the e-mail was sent through again before the run ended".to_owned())),
        finished_at: Set(Some(now.0)),
        updated_at: Set(now.0),
        ..Default::default()
    };
    let runs = InWorkspace(email.workspace_id).update_all::<AgentRuns>().set(ended);
    let runs = runs.filter(AgentRunColumn::EmailId.eq(email.id));
    runs.filter(AgentRunColumn::Status.eq(RunStatus::Running.as_str())).exec(tx).await.map(|_| ())
}

/// Writes all columns of an e-mail.
///
/// # Errors
/// What the database answers.
pub(crate) async fn write(tx: &Write, email: &EmailRow) -> Result<(), DbErr> {
    let changes = email.clone().into_active_model().reset_all();
    InWorkspace(email.workspace_id).change::<Emails>(tx, email.id, changes).await.map(|_| ())
}

/// Processes e-mails.
pub(super) struct Processing {
    engines: Engines,
    backoff: Backoff,
}

impl Processing {
    pub(super) const fn new(engines: Engines, backoff: Backoff) -> Self {
        Self { engines, backoff }
    }
}

/// Everything about an e-mail that is to be processed.
struct Case {
    rows: InWorkspace,
    run_id: Uuid,
    workspace: WorkspaceRow,
    inbox: Option<InboxRow>,
    agent: Option<AgentRow>,
    email: EmailRow,
    content: Arc<Content>,
    /// What the inbox's filters say.
    findings: Findings,
}

#[async_trait]
impl Handler for Processing {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn backoff(&self) -> Backoff {
        self.backoff
    }

    async fn run(&self, job: &Job) -> Result<(), Failure> {
        let Some(mut case) = load(job).await? else { return drop_job(job).await };
        let assignment = self.engines.assign(case.agent.as_ref());
        if case.email.status.0 == EmailStatus::Received && !admit(job, &mut case, &assignment).await? {
            return Ok(());
        }
        let mail = Mail::new(&case.email, &case.content);
        match assignment.run(&mail).await {
            Ok(outcome) => succeed(job, case, outcome).await,
            Err(EngineError::Retry { reason, after }) => Err(Failure::Retry { reason, after }),
            Err(EngineError::Failed { reason, cost }) => {
                let tx = job.store.begin().await?;
                fail(&tx, case.rows, case.email, case.run_id, &reason, cost).await?;
                job.end(&tx, Ending::Done, Some(reason)).await?;
                Ok(tx.commit().await?)
            }
        }
    }

    async fn give_up(&self, tx: &Write, job: &Job, reason: &str) -> Result<(), DbErr> {
        let Ok(Payload { workspace_id, email_id, run_id }) = job.payload::<Payload>() else { return Ok(()) };
        let rows = InWorkspace(workspace_id);
        match rows.find_by_id::<Emails>(email_id).one(tx).await? {
            Some(email) if is_open(&email) => fail(tx, rows, email, run_id, reason, Cost::default()).await,
            _ => Ok(()),
        }
    }
}

const fn is_open(email: &EmailRow) -> bool {
    matches!(email.status.0, EmailStatus::Received | EmailStatus::Approved | EmailStatus::Processing)
}

/// Nothing is left to be done: the e-mail or its workspace is gone, or it was dealt with.
async fn drop_job(job: &Job) -> Result<(), Failure> {
    let tx = job.store.begin().await?;
    job.end(&tx, Ending::Cancelled, None).await?;
    Ok(tx.commit().await?)
}

async fn load(job: &Job) -> Result<Option<Case>, Failure> {
    let Payload { workspace_id, email_id, run_id } = job.payload()?;
    let (rows, reads) = (InWorkspace(workspace_id), job.store.reads());
    let Some(workspace) = operator::workspace(reads, workspace_id).await? else { return Ok(None) };
    let email = rows.find_by_id::<Emails>(email_id).one(reads).await?.filter(is_open);
    let Some(email) = email else { return Ok(None) };
    let inbox = rows.find_by_id::<Inboxes>(email.inbox_id).one(reads).await?;
    // An e-mail that a run was begun for keeps its agent; the inbox's may be another one by now.
    let agent_id = match email.status.0 {
        EmailStatus::Received => inbox.as_ref().and_then(|inbox| inbox.agent_id),
        _ => email.agent_id,
    };
    let agent = match agent_id {
        Some(id) => rows.find_by_id::<Agents>(id).one(reads).await?,
        None => None,
    };
    let content = content::read(job.store.blobs(), &email.raw_s3_key).await.map_err(|error| {
        tracing::warn!(%error, email = %email_id, "an original message cannot be read");
        Failure::Retry { reason: "the original message cannot be read".to_owned(), after: None }
    })?;
    let content = Arc::new(content.ok_or_else(|| Failure::GiveUp("the original message is missing".to_owned()))?);
    let findings = filter(inbox.as_ref(), &email, &content).await?;
    Ok(Some(Case { rows, run_id, workspace, inbox, agent, email, content, findings }))
}

/// Asks the inbox's filters, on a thread where they may take their time, and before anybody waits for the database.
async fn filter(inbox: Option<&InboxRow>, email: &EmailRow, content: &Arc<Content>) -> Result<Findings, Failure> {
    let Some(inbox) = inbox.filter(|inbox| !inbox.filters.0.is_empty()) else { return Ok(Findings::default()) };
    let (rules, email, content) = (inbox.filters.0.clone(), email.clone(), Arc::clone(content));
    let judged = tokio::task::spawn_blocking(move || filters::judge(&rules, &email, &content)).await;
    judged.map_err(|error| {
        tracing::error!(%error, "the filters of an inbox could not be applied");
        Failure::Retry { reason: "the filters could not be applied".to_owned(), after: None }
    })
}

/// Applies the inbox's checks, and begins the run if they let the e-mail through. Answers whether they do.
async fn admit(job: &Job, case: &mut Case, assignment: &Assignment<'_>) -> Result<bool, Failure> {
    let now = Timestamp::now();
    let tx = job.store.begin().await?;
    job.check(&tx).await?;
    keep_body(&tx, case).await?;
    let Verdict { reason, not_understood } =
        policy::judge(&tx, &case.workspace, case.inbox.as_ref(), &case.email, &case.content, &case.findings, now)
            .await?;
    let admitted = reason.is_none();
    let email = &mut case.email;
    email.status = Word(if admitted { EmailStatus::Approved } else { EmailStatus::Rejected });
    email.rejection_reason = reason;
    email.agent_id = case.agent.as_ref().filter(|_| admitted).map(|agent| agent.id);
    email.updated_at = now.0;
    let mut event = events::about_email(if admitted { events::APPROVED } else { events::REJECTED }, email);
    if !not_understood.is_empty() {
        event = event.with("filters_not_understood", json!(not_understood));
    }
    events::record(&tx, event, now).await?;
    if admitted {
        email.status = Word(EmailStatus::Processing);
        begin_run(&tx, case, assignment, now).await?;
    } else {
        job.end(&tx, Ending::Done, None).await?;
    }
    write(&tx, &case.email).await?;
    tx.commit().await?;
    Ok(admitted)
}

async fn keep_body(tx: &Write, case: &Case) -> Result<(), DbErr> {
    let Case { rows, email, content, .. } = case;
    let row = EmailBodyRow {
        email_id: email.id,
        workspace_id: email.workspace_id,
        text: content.text.clone(),
        html: content.html.clone(),
    };
    let changes = row.clone().into_active_model().reset_all();
    if !rows.change::<EmailBodies>(tx, email.id, changes).await? {
        rows.insert::<EmailBodies>(tx, row).await?;
    }
    Ok(())
}

/// A run belongs to an agent: without one the e-mail is read all the same, and there is no run.
async fn begin_run(tx: &Write, case: &Case, assignment: &Assignment<'_>, now: Timestamp) -> Result<(), DbErr> {
    let Some(agent) = &case.agent else { return Ok(()) };
    let run = AgentRunRow {
        id: case.run_id,
        workspace_id: case.email.workspace_id,
        inbox_id: case.email.inbox_id,
        agent_id: agent.id,
        email_id: case.email.id,
        llm_model: assignment.model().to_owned(),
        status: Word(RunStatus::Running),
        error: None,
        input_tokens: 0,
        output_tokens: 0,
        cache_read: 0,
        cache_write: 0,
        cost_per_token: 0.0,
        total_cost: 0.0,
        duration_ms: None,
        started_at: Some(now.0),
        finished_at: None,
        created_at: now.0,
        updated_at: now.0,
    };
    events::record(tx, events::about_run(events::RUN_STARTED, &case.email, &run), now).await?;
    case.rows.insert::<AgentRuns>(tx, run).await
}

async fn succeed(job: &Job, case: Case, Outcome { metadata, cost }: Outcome) -> Result<(), Failure> {
    let now = Timestamp::now();
    let Case { rows, run_id, mut email, .. } = case;
    email.status = Word(EmailStatus::Processed);
    email.agent_metadata = Object(metadata);
    (email.processed_at, email.updated_at) = (Some(now.0), now.0);
    let tx = job.store.begin().await?;
    job.end(&tx, Ending::Done, None).await?;
    if let Some(run) = end_run(&tx, rows, run_id, None, cost, now).await? {
        events::record(&tx, events::about_run(events::RUN_SUCCEEDED, &email, &run), now).await?;
    }
    events::record(&tx, events::about_email(events::PROCESSED, &email), now).await?;
    write(&tx, &email).await?;
    Ok(tx.commit().await?)
}

async fn fail(
    tx: &Write,
    rows: InWorkspace,
    mut email: EmailRow,
    run_id: Uuid,
    reason: &str,
    cost: Cost,
) -> Result<(), DbErr> {
    let now = Timestamp::now();
    email.status = Word(EmailStatus::Failed);
    (email.processed_at, email.updated_at) = (Some(now.0), now.0);
    if let Some(run) = end_run(tx, rows, run_id, Some(reason), cost, now).await? {
        events::record(tx, events::about_run(events::RUN_FAILED, &email, &run), now).await?;
    }
    let event = events::about_email(events::FAILED, &email).with("error", json!(reason));
    events::record(tx, event, now).await?;
    write(tx, &email).await
}

/// Ends the run, if there is one; answers it as it is then.
async fn end_run(
    tx: &Write,
    rows: InWorkspace,
    id: Uuid,
    error: Option<&str>,
    cost: Cost,
    now: Timestamp,
) -> Result<Option<AgentRunRow>, DbErr> {
    let Some(mut run) = rows.find_by_id::<AgentRuns>(id).one(tx).await? else { return Ok(None) };
    run.status = Word(if error.is_none() { RunStatus::Success } else { RunStatus::Failed });
    run.error = error.map(str::to_owned);
    (run.input_tokens, run.output_tokens) = (cost.input_tokens, cost.output_tokens);
    (run.cache_read, run.cache_write) = (cost.cache_read, cost.cache_write);
    (run.cost_per_token, run.total_cost) = (cost.per_token, cost.total);
    run.duration_ms = run.started_at.map(|started| now.0.saturating_sub(started).max(0) / 1_000);
    (run.finished_at, run.updated_at) = (Some(now.0), now.0);
    rows.change::<AgentRuns>(tx, id, run.clone().into_active_model().reset_all()).await?;
    Ok(Some(run))
}
