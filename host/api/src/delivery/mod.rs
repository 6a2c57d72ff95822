//! Events on their way to webhooks.
//!
//! Whoever records an event calls [`fan_out`] in the same transaction: every active webhook that wants the event gets a
//! delivery, and the queue a job for it. A worker of its own sends them ([`Courier::start`]), so that receivers that are
//! slow to answer do not keep e-mails waiting.
//!
//! A delivery is sent at least once: its outcome is written down after the answer came, and a process that dies in between
//! sends it again. Receivers tell repetitions by `X-Kobana-Delivery-Id`. Deliveries of one webhook may overtake each
//! other.
//!
//! An attempt that fails is repeated over about nine hours; each overwrites what the delivery says of the one before.
//! Twenty failed attempts in a row turn the webhook inactive: what still waits for it then fails unsent, but for what
//! somebody asked for, a test or a replay. The worker clears away what ended long enough ago.

mod attempt;
mod mask;
mod payload;
mod schedule;
pub(crate) mod secret;
mod sender;

use std::sync::Arc;
use std::time::Duration;

use kobana_contract::Timestamp;
use kobana_contract::fields::ActiveStatus;
use kobana_contract::operations::deliveries::DeliveryStatus;
use kobana_store::jobs::{self, NewJob};
use kobana_store::rows::{Deliveries, DeliveryRow, SystemEventRow, SystemEvents, WebhookColumn, WebhookRow, Webhooks};
use kobana_store::values::{Object, Word};
use kobana_store::{InWorkspace, Scope as _, Store, Write};
use sea_orm::{ColumnTrait as _, Condition, DbErr, QueryFilter as _};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::WebhookSettings;
use crate::vault::Vault;
use crate::worker::{Wake, Worker, WorkerSettings};
pub(crate) use payload::About;

/// The kind of job that sends a delivery.
const KIND: &str = "webhook.deliver";
/// The event of a test.
const TEST: &str = "webhook.test";
/// The event of a webhook that failed too often.
const DEACTIVATED: &str = "webhook.deactivated";

/// What a job needs to know.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Payload {
    workspace_id: Uuid,
    delivery_id: Uuid,
    /// Somebody asked for this very delivery: it is sent even where the webhook is inactive.
    asked: bool,
}

/// Sends what webhooks are to receive.
#[derive(Clone)]
pub struct Courier {
    store: Store,
    vault: Arc<Vault>,
    allow_loopback: bool,
    keep: Option<Duration>,
    wake: Wake,
}

impl std::fmt::Debug for Courier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Courier").field("allow_loopback", &self.allow_loopback).finish_non_exhaustive()
    }
}

/// Why nothing can be sent.
#[derive(Debug, thiserror::Error)]
#[error("cannot set up the client for webhooks: {0}")]
pub struct CourierError(#[from] reqwest::Error);

impl Courier {
    pub(crate) fn new(store: Store, vault: Vault, settings: &WebhookSettings, wake: Wake) -> Self {
        let WebhookSettings { allow_loopback, keep, .. } = *settings;
        Self { store, vault: Arc::new(vault), allow_loopback, keep, wake }
    }

    /// Starts a worker that sends deliveries, in the runtime that it is called in.
    ///
    /// # Errors
    /// When TLS cannot be set up.
    pub fn start(&self, settings: WorkerSettings) -> Result<Worker, CourierError> {
        let sender = sender::Sender::new(self.allow_loopback)?;
        let handler = attempt::Sending::new(Arc::clone(&self.vault), sender, self.keep);
        Ok(Worker::with_handlers(self.store.clone(), self.wake.clone(), settings, vec![Arc::new(handler)]))
    }

    /// Wakes the workers of this process up: there is something to send.
    pub(crate) fn wake(&self) {
        self.wake.wake();
    }
}

/// Has an event that was just recorded in this transaction delivered to every active webhook that wants it.
///
/// # Errors
/// What the database answers.
pub(crate) async fn fan_out(tx: &Write, event: &SystemEventRow, about: &About) -> Result<(), DbErr> {
    let rows = InWorkspace(event.workspace_id);
    let mut place = Condition::any().add(WebhookColumn::InboxId.is_null());
    if let Some(inbox) = event.inbox_id {
        place = place.add(WebhookColumn::InboxId.eq(inbox));
    }
    let active = rows.find::<Webhooks>().filter(WebhookColumn::Status.eq(ActiveStatus::Active.as_str()));
    let mut webhooks = active.filter(place).all(tx).await?;
    webhooks.retain(|webhook| webhook.subscribed_events.0.contains(&event.slug));
    if webhooks.is_empty() {
        return Ok(());
    }
    let data = payload::snapshots(tx, event, about).await?;
    for webhook in &webhooks {
        create(tx, webhook, event, data.clone(), false, Timestamp(event.created_at)).await?;
    }
    Ok(())
}

/// Records a test event for one webhook; answers its delivery.
///
/// # Errors
/// What the database answers.
pub(crate) async fn test(tx: &Write, webhook: &WebhookRow, now: Timestamp) -> Result<DeliveryRow, DbErr> {
    let event = record(tx, TEST, webhook, Map::new(), now).await?;
    let about = About { webhook: Some(webhook.clone()), ..About::default() };
    let data = payload::snapshots(tx, &event, &about).await?;
    create(tx, webhook, &event, data, true, now).await
}

/// Has the event of an earlier delivery delivered again, with the snapshots that it was delivered with; answers the new
/// delivery.
///
/// # Errors
/// What the database answers.
pub(crate) async fn replay(
    tx: &Write,
    webhook: &WebhookRow,
    earlier: &DeliveryRow,
    now: Timestamp,
) -> Result<DeliveryRow, DbErr> {
    let event = InWorkspace(webhook.workspace_id).find_by_id::<SystemEvents>(earlier.system_event_id).one(tx).await?;
    let event = event.ok_or_else(|| DbErr::RecordNotFound("the event of a delivery".to_owned()))?;
    let data = earlier.request_body.0.get("data").and_then(Value::as_object).cloned().unwrap_or_default();
    create(tx, webhook, &event, data, true, now).await
}

/// Writes down an event about a webhook, without its address, which may hold something secret.
async fn record(
    tx: &Write,
    slug: &str,
    webhook: &WebhookRow,
    more: Map<String, Value>,
    now: Timestamp,
) -> Result<SystemEventRow, DbErr> {
    let short = json!({ "id": webhook.id, "external_id": webhook.external_id, "label": webhook.label });
    let mut payload = Map::from_iter([("webhook".to_owned(), short)]);
    payload.extend(more);
    let row = SystemEventRow {
        id: Uuid::now_v7(),
        workspace_id: webhook.workspace_id,
        inbox_id: webhook.inbox_id,
        email_id: None,
        slug: slug.to_owned(),
        payload: Object(payload),
        created_at: now.0,
        updated_at: now.0,
    };
    InWorkspace(webhook.workspace_id).insert::<SystemEvents>(tx, row.clone()).await?;
    Ok(row)
}

async fn create(
    tx: &Write,
    webhook: &WebhookRow,
    event: &SystemEventRow,
    data: Map<String, Value>,
    asked: bool,
    now: Timestamp,
) -> Result<DeliveryRow, DbErr> {
    let row = DeliveryRow {
        id: Uuid::now_v7(),
        workspace_id: webhook.workspace_id,
        webhook_id: webhook.id,
        system_event_id: event.id,
        attempt: 1,
        status: Word(DeliveryStatus::Pending),
        request_headers: Object(Map::new()),
        request_body: Object(payload::unsent(event, data)),
        response_status: None,
        response_headers: None,
        response_body: None,
        error: None,
        duration_ms: None,
        delivered_at: None,
        next_retry_at: None,
        created_at: now.0,
        updated_at: now.0,
    };
    InWorkspace(webhook.workspace_id).insert::<Deliveries>(tx, row.clone()).await?;
    queue(tx, &row, asked, now.0, now).await?;
    Ok(row)
}

/// Queues the next attempt of a delivery.
async fn queue(tx: &Write, row: &DeliveryRow, asked: bool, run_at: i64, now: Timestamp) -> Result<(), DbErr> {
    let payload = json!(Payload { workspace_id: row.workspace_id, delivery_id: row.id, asked });
    let job = NewJob { kind: KIND, subject: Some(row.id), payload: payload::object(payload), run_at };
    jobs::create(tx, job, now.0).await.map(|_| ())
}
