//! Webhooks and their deliveries.

use kobana_contract::Timestamp;
use kobana_contract::fields::ActiveStatus;
use kobana_contract::operations::deliveries::DeliveryStatus;
use kobana_contract::operations::webhooks::WebhookAuth;
use sea_orm::DbErr;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::inboxes::INVOICES;
use super::{DAY, MINUTE, SECOND, START, id, processing, workspaces};
use crate::rows::{Deliveries, DeliveryRow, SystemEventRow, SystemEvents, WebhookRow, Webhooks};
use crate::values::{Folded, Object, Texts, Word};
use crate::{InWorkspace, Scope, Write};

const FIRST_DELIVERY: u128 = 0x13_0000;
/// HTTP statuses of the answers of `acme-erp`; none where there was no answer.
const ANSWERS: [Option<i64>; 5] = [Some(200), Some(503), Some(200), None, Some(204)];

struct Webhook {
    id: Uuid,
    workspace: Uuid,
    external_id: &'static str,
    label: &'static str,
    url: &'static str,
    inbox: Option<Uuid>,
    status: ActiveStatus,
    deleted: bool,
}

const ERP: Webhook = Webhook {
    id: id(0xf001),
    workspace: workspaces::ACME,
    external_id: "acme-erp",
    label: "Lançamentos no ERP",
    url: "https://erp.acme.example/hooks/kobana",
    inbox: Some(INVOICES.id),
    status: ActiveStatus::Active,
    deleted: false,
};
const AUDIT: Webhook = Webhook {
    id: id(0xf002),
    external_id: "acme-audit",
    label: "Auditoria",
    url: "https://audit.acme.example/events",
    inbox: None,
    status: ActiveStatus::Inactive,
    ..ERP
};
const GONE: Webhook = Webhook {
    id: id(0xf003),
    external_id: "acme-hook-gone",
    label: "Integração antiga",
    url: "https://old.acme.example/events",
    deleted: true,
    ..AUDIT
};
const GLOBEX: Webhook = Webhook {
    id: id(0xf004),
    workspace: workspaces::GLOBEX,
    external_id: "globex-hook",
    label: "Fila de pagamentos",
    url: "https://pay.globex.example/inbox",
    status: ActiveStatus::Active,
    ..AUDIT
};

pub(super) async fn fill(tx: &Write) -> Result<(), DbErr> {
    for (position, webhook) in (0_i64..).zip([&GONE, &AUDIT, &ERP, &GLOBEX]) {
        InWorkspace(webhook.workspace).insert::<Webhooks>(tx, row(webhook, position)).await?;
    }
    let acme = InWorkspace(workspaces::ACME);
    for (number, answer) in (1_u128..).zip(ANSWERS) {
        let event = acme.find_by_id::<SystemEvents>(processing::event(number)).one(tx).await?;
        let event = event.ok_or_else(|| DbErr::RecordNotFound("an event of the demo".to_owned()))?;
        acme.insert::<Deliveries>(tx, delivery(number, &event, answer)).await?;
    }
    Ok(())
}

fn row(webhook: &Webhook, position: i64) -> WebhookRow {
    let created_at = START - 30 * DAY + position * DAY;
    WebhookRow {
        id: webhook.id,
        workspace_id: webhook.workspace,
        external_id: webhook.external_id.to_owned(),
        external_id_folded: Folded::default(),
        inbox_id: webhook.inbox,
        status: Word(webhook.status),
        label: webhook.label.to_owned(),
        label_folded: Folded::default(),
        url: webhook.url.to_owned(),
        url_folded: Folded::default(),
        auth: Word(WebhookAuth::None),
        credentials: None,
        signing_secret: None,
        subscribed_events: Texts(vec!["email.processed".to_owned(), "email.failed".to_owned()]),
        consecutive_failures: 0,
        created_at,
        updated_at: created_at,
        deleted_at: webhook.deleted.then_some(created_at + 5 * DAY),
    }
}

fn delivery(number: u128, event: &SystemEventRow, answer: Option<i64>) -> DeliveryRow {
    let sent_at = event.created_at + SECOND;
    let delivered = answer.is_some_and(|status| status < 300);
    DeliveryRow {
        id: id(FIRST_DELIVERY + number),
        workspace_id: ERP.workspace,
        webhook_id: ERP.id,
        system_event_id: event.id,
        attempt: 1,
        status: Word(if delivered { DeliveryStatus::Success } else { DeliveryStatus::Failed }),
        request_headers: Object(headers(event)),
        request_body: Object(body(event, sent_at)),
        response_status: answer,
        response_headers: answer.map(|_| Object(Map::from_iter([("content-length".to_owned(), json!("0"))]))),
        response_body: answer.map(|_| String::new()),
        error: answer.is_none().then(|| "no answer within five seconds".to_owned()),
        duration_ms: Some(if answer.is_none() { 5_000 } else { 84 }),
        delivered_at: delivered.then_some(sent_at),
        next_retry_at: (!delivered).then_some(sent_at + MINUTE),
        created_at: sent_at,
        updated_at: sent_at,
    }
}

fn headers(event: &SystemEventRow) -> Map<String, Value> {
    let headers =
        [("content-type", "application/json"), ("x-kobana-event", &event.slug), ("x-kobana-signature", "***")];
    headers.into_iter().map(|(name, value)| (name.to_owned(), json!(value))).collect()
}

fn body(event: &SystemEventRow, sent_at: i64) -> Map<String, Value> {
    let members = [
        ("event", json!({ "slug": event.slug, "id": event.id })),
        ("delivered_at", json!(Timestamp(sent_at))),
        ("workspace", json!({ "id": event.workspace_id, "external_id": "acme", "label": "Acme Financeiro" })),
        ("data", Value::Object(event.payload.0.clone())),
    ];
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
