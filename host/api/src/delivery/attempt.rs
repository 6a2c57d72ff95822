//! One attempt to deliver an event, and what becomes of it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, SET_COOKIE};
use kobana_contract::Timestamp;
use kobana_contract::fields::ActiveStatus;
use kobana_contract::operations::deliveries::DeliveryStatus;
use kobana_egress::Answer;
use kobana_store::jobs::Ending;
use kobana_store::organizations::{self, OrganizationRow};
use kobana_store::rows::{
    Deliveries, DeliveryChanges, DeliveryRow, SystemEventRow, SystemEvents, WebhookChanges, WebhookRow, Webhooks,
    WorkspaceRow,
};
use kobana_store::values::{Object, Word};
use kobana_store::{InWorkspace, Scope as _, Store, Write, operator, usage};
use sea_orm::{ActiveModelTrait as _, DbErr, IntoActiveModel as _, Set};
use serde_json::{Map, Value, json};

use super::mask::{MASK, Secrets};
use super::sender::Sender;
use super::{About, DEACTIVATED, KIND, Payload, fan_out, payload, queue, record, schedule, secret};
use crate::credentials::{self, Stored};
use crate::error::ApiError;
use crate::vault::Vault;
use crate::worker::{Backoff, Failure, Handler, Job};

/// So many attempts that failed in a row turn a webhook inactive.
const MOST_FAILURES: i64 = 20;
/// Deliveries that are cleared away in one transaction.
const CLEARED_AT_ONCE: u64 = 500;
/// The longest header value that is kept of an answer, in characters.
const LONGEST_HEADER: usize = 1_024;

const EVENT: HeaderName = HeaderName::from_static("x-kobana-event");
const DELIVERY_ID: HeaderName = HeaderName::from_static("x-kobana-delivery-id");
const SIGNATURE: HeaderName = HeaderName::from_static("x-kobana-signature");

/// Sends deliveries.
pub(super) struct Sending {
    vault: Arc<Vault>,
    sender: Sender,
    keep: Option<Duration>,
}

impl Sending {
    /// Deliveries that have ended are kept for this long, or for ever.
    pub(super) const fn new(vault: Arc<Vault>, sender: Sender, keep: Option<Duration>) -> Self {
        Self { vault, sender, keep }
    }
}

/// Everything about a delivery that is to be sent.
struct Case {
    workspace: WorkspaceRow,
    organization: OrganizationRow,
    /// None if it was deleted.
    webhook: Option<WebhookRow>,
    event: SystemEventRow,
    delivery: DeliveryRow,
    asked: bool,
}

/// What an attempt sends.
struct Prepared {
    headers: HeaderMap,
    document: Map<String, Value>,
    body: Bytes,
    secrets: Secrets,
}

#[async_trait]
impl Handler for Sending {
    fn kind(&self) -> &'static str {
        KIND
    }

    /// For what goes wrong here; what goes wrong over there is repeated by other jobs.
    fn backoff(&self) -> Backoff {
        Backoff::default()
    }

    async fn run(&self, job: &Job) -> Result<(), Failure> {
        let Some(mut case) = load(job).await? else { return drop_job(job).await };
        let webhook = match wanted(&case) {
            Ok(webhook) => webhook.clone(),
            Err(reason) => return refuse(job, &mut case.delivery, reason).await,
        };
        let prepared = self.prepare(job, &case, &webhook).await.map_err(|error| {
            tracing::error!(%error, webhook = %webhook.id, "a delivery could not be prepared");
            Failure::Retry { reason: "the delivery could not be prepared".to_owned(), after: None }
        })?;
        let (headers, body) = (prepared.headers.clone(), prepared.body.clone());
        let begun = Instant::now();
        let answer = self.sender.send(&webhook.url, headers, body).await;
        describe(&mut case.delivery, &prepared, answer, begun.elapsed());
        settle(job, case).await
    }

    async fn give_up(&self, tx: &Write, job: &Job, reason: &str) -> Result<(), DbErr> {
        let Ok(Payload { workspace_id, delivery_id, .. }) = job.payload::<Payload>() else { return Ok(()) };
        let rows = InWorkspace(workspace_id);
        match rows.find_by_id::<Deliveries>(delivery_id).one(tx).await? {
            Some(mut row) if row.status.0 != DeliveryStatus::Success => {
                fail_unsent(&mut row, reason);
                write(tx, row).await
            }
            _ => Ok(()),
        }
    }

    async fn clear(&self, store: &Store, now: Timestamp) -> Result<bool, DbErr> {
        let Some(keep) = self.keep else { return Ok(false) };
        let before = now.plus_seconds(-i64::try_from(keep.as_secs()).unwrap_or(i64::MAX));
        Ok(operator::forget_deliveries(store, before.0, CLEARED_AT_ONCE).await? == CLEARED_AT_ONCE)
    }
}

async fn load(job: &Job) -> Result<Option<Case>, Failure> {
    let Payload { workspace_id, delivery_id, asked } = job.payload()?;
    let (rows, reads) = (InWorkspace(workspace_id), job.store.reads());
    let Some(workspace) = operator::workspace(reads, workspace_id).await? else { return Ok(None) };
    let Some(organization) = organizations::find(&job.store, workspace.organization_id).await? else { return Ok(None) };
    let Some(delivery) = rows.find_by_id::<Deliveries>(delivery_id).one(reads).await? else { return Ok(None) };
    let Some(event) = rows.find_by_id::<SystemEvents>(delivery.system_event_id).one(reads).await? else {
        return Ok(None);
    };
    let webhook = rows.find_by_id::<Webhooks>(delivery.webhook_id).one(reads).await?;
    Ok(Some(Case { workspace, organization, webhook, event, delivery, asked }))
}

/// The workspace is gone, and everything in it.
async fn drop_job(job: &Job) -> Result<(), Failure> {
    let tx = job.store.begin().await?;
    job.end(&tx, Ending::Cancelled, None).await?;
    Ok(tx.commit().await?)
}

/// The webhook, if it is to receive the delivery, or why not.
fn wanted(case: &Case) -> Result<&WebhookRow, &'static str> {
    let webhook = case.webhook.as_ref().ok_or("the webhook was deleted")?;
    let is_active = webhook.status.0 == ActiveStatus::Active;
    if is_active || case.asked { Ok(webhook) } else { Err("the webhook is inactive") }
}

/// Fails a delivery that is not sent any more.
async fn refuse(job: &Job, row: &mut DeliveryRow, reason: &str) -> Result<(), Failure> {
    fail_unsent(row, reason);
    let tx = job.store.begin().await?;
    job.end(&tx, Ending::Done, Some(reason.to_owned())).await?;
    write(&tx, row.clone()).await?;
    Ok(tx.commit().await?)
}

fn fail_unsent(row: &mut DeliveryRow, reason: &str) {
    row.status = Word(DeliveryStatus::Failed);
    row.error = Some(reason.to_owned());
    (row.next_retry_at, row.updated_at) = (None, Timestamp::now().0);
}

async fn write(tx: &Write, row: DeliveryRow) -> Result<(), DbErr> {
    let (rows, id) = (InWorkspace(row.workspace_id), row.id);
    let changes: DeliveryChanges = row.into_active_model().reset_all();
    rows.change::<Deliveries>(tx, id, changes).await.map(|_| ())
}

impl Sending {
    async fn prepare(&self, job: &Job, case: &Case, webhook: &WebhookRow) -> Result<Prepared, ApiError> {
        let now = Timestamp::now();
        let usage = usage::since(job.store.reads(), &[case.workspace.id], usage::month_of(now).0).await?;
        let usage = usage.get(&case.workspace.id).copied().unwrap_or_default();
        let unsent = &case.delivery.request_body.0;
        let document = payload::envelope(&case.event, unsent, &case.organization, case.workspace.clone(), usage, now);
        let body = Bytes::from(serde_json::to_vec(&document).map_err(ApiError::internal)?);
        let signing = secret::of(&job.store, &self.vault, webhook).await?;
        let signature = secret::signature(&signing, &body)?;

        let (mut headers, mut secrets) = (HeaderMap::new(), Secrets::default());
        let stored = Stored { auth: webhook.auth.0, sealed: webhook.credentials.clone() };
        if let Some(presented) = credentials::present(&self.vault, webhook.id, &stored)? {
            headers.insert(presented.name, presented.value);
            presented.secrets.iter().for_each(|secret| secrets.add(secret));
        }
        secrets.add(&signing);
        secrets.add(&signature);
        let mut signature = HeaderValue::try_from(signature).map_err(ApiError::internal)?;
        signature.set_sensitive(true);
        headers.insert(SIGNATURE, signature);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(EVENT, HeaderValue::try_from(&case.event.slug).map_err(ApiError::internal)?);
        let id = case.delivery.id.to_string();
        headers.insert(DELIVERY_ID, HeaderValue::try_from(id).map_err(ApiError::internal)?);
        Ok(Prepared { headers, document, body, secrets })
    }
}

/// Writes into the row what was sent and what came back.
fn describe(row: &mut DeliveryRow, prepared: &Prepared, answer: Result<Answer, String>, took: Duration) {
    let (now, secrets) = (Timestamp::now(), &prepared.secrets);
    if row.status.0 != DeliveryStatus::Pending {
        row.attempt = row.attempt.saturating_add(1);
    }
    let (answer, error) = match answer {
        Ok(answer) => (Some(answer), None),
        Err(error) => (None, Some(secrets.mask(&error))),
    };
    let delivered = answer.as_ref().is_some_and(|answer| (200..300).contains(&answer.status));
    row.status = Word(if delivered { DeliveryStatus::Success } else { DeliveryStatus::Failed });
    row.request_headers = Object(shown(&prepared.headers, |value| secrets.mask(value)));
    row.request_body = Object(prepared.document.clone());
    row.response_status = answer.as_ref().map(|answer| i64::from(answer.status));
    let kept = |value: &str| secrets.mask(value).chars().take(LONGEST_HEADER).collect();
    row.response_headers = answer.as_ref().map(|answer| Object(shown(&answer.headers, kept)));
    row.response_body = answer.map(|answer| secrets.mask(&text(&answer.body)));
    row.error = error;
    row.duration_ms = i64::try_from(took.as_millis()).ok();
    row.delivered_at = delivered.then_some(now.0);
    (row.next_retry_at, row.updated_at) = (None, now.0);
}

/// Headers as they are kept, those of the same name joined.
fn shown(headers: &HeaderMap, keep: impl Fn(&str) -> String) -> Map<String, Value> {
    let show = |name: &HeaderName, value: &HeaderValue| match value.is_sensitive() || *name == SET_COOKIE {
        true => MASK.to_owned(),
        false => keep(&text(value.as_bytes())),
    };
    let of = |name: &HeaderName| headers.get_all(name).iter().map(|value| show(name, value)).collect::<Vec<_>>();
    headers.keys().map(|name| (name.to_string(), json!(of(name).join(", ")))).collect()
}

/// Text for the database, which takes no NUL everywhere.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace('\0', "\u{fffd}")
}

/// Writes down what became of an attempt, for the delivery and for the webhook, and queues the next one if there is one.
async fn settle(job: &Job, case: Case) -> Result<(), Failure> {
    let Case { mut delivery, asked, .. } = case;
    let (delivered, now) = (delivery.status.0 == DeliveryStatus::Success, Timestamp(delivery.updated_at));
    let tx = job.store.begin().await?;
    job.end(&tx, Ending::Done, delivery.error.clone()).await?;
    let webhook = InWorkspace(delivery.workspace_id).find_by_id::<Webhooks>(delivery.webhook_id).one(&tx).await?;
    let goes_on = match webhook {
        Some(webhook) => count(&tx, webhook, delivered, now).await? || asked,
        None => false,
    };
    if let Some(delay) = schedule::delay(delivery.attempt).filter(|_| goes_on && !delivered) {
        let delay = i64::try_from(delay.as_micros()).unwrap_or(i64::MAX);
        let run_at = now.0.saturating_add(delay);
        delivery.next_retry_at = Some(run_at);
        queue(&tx, &delivery, asked, run_at, now).await?;
    }
    write(&tx, delivery).await?;
    Ok(tx.commit().await?)
}

/// Counts failures in a row, and turns the webhook inactive if they are too many. Answers whether it is active.
async fn count(tx: &Write, mut webhook: WebhookRow, delivered: bool, now: Timestamp) -> Result<bool, DbErr> {
    let (rows, before) = (InWorkspace(webhook.workspace_id), webhook.consecutive_failures);
    webhook.consecutive_failures = if delivered { 0 } else { before.saturating_add(1) };
    let was_active = webhook.status.0 == ActiveStatus::Active;
    let is_active = was_active && webhook.consecutive_failures < MOST_FAILURES;
    if webhook.consecutive_failures == before {
        return Ok(is_active);
    }
    // The count alone is no change of the webhook: a question that somebody is about to answer stays valid.
    let mut changes = WebhookChanges { consecutive_failures: Set(webhook.consecutive_failures), ..Default::default() };
    if was_active && !is_active {
        webhook.status = Word(ActiveStatus::Inactive);
        webhook.updated_at = now.0;
        (changes.status, changes.updated_at) = (Set(webhook.status), Set(now.0));
    }
    rows.change::<Webhooks>(tx, webhook.id, changes).await?;
    if was_active && !is_active {
        let failures = Map::from_iter([("consecutive_failures".to_owned(), json!(webhook.consecutive_failures))]);
        let event = record(tx, DEACTIVATED, &webhook, failures, now).await?;
        fan_out(tx, &event, &About { webhook: Some(webhook), ..About::default() }).await?;
    }
    Ok(is_active)
}
