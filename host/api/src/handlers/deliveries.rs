//! Deliveries of events to webhooks.

use kobana_contract::operations::deliveries::{
    ByDelivery, GetDelivery, ListDeliveries, ReplayDelivery, WebhookDelivery,
};
use kobana_contract::{Data, Page, Timestamp};
use kobana_store::rows::{Deliveries, DeliveryColumn, DeliveryRow, WebhookRow, Webhooks};
use kobana_store::suggest::{Suggestions, suggest};
use kobana_store::{InWorkspace, Scope as _, Table};
use sea_orm::{ColumnTrait as _, ConnectionTrait, QueryFilter as _, Select};
use serde_json::{Value, json};

use crate::context::{Context, Input};
use crate::endpoint::Handle;
use crate::error::ApiError;
use crate::gate::{AtWork, Chosen};
use crate::reply::Reply;
use crate::{delivery, lookup};

impl Handle for ListDeliveries {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Page<WebhookDelivery>>, ApiError> {
        let deliveries = of_webhook(&context, &input.path.id).await?;
        input.page.answer::<Deliveries, _>(context.store().reads(), deliveries, show).await
    }

    async fn suggest(context: Context<AtWork>, input: Input<Self>, prefix: &str) -> Result<Suggestions, ApiError> {
        let deliveries = of_webhook(&context, &input.path.id).await?;
        Ok(suggest::<Deliveries>(context.store().reads(), &deliveries, prefix).await?)
    }
}

/// The deliveries of the webhook that a path names.
async fn of_webhook(context: &Context<AtWork>, id: &str) -> Result<Select<<Deliveries as Table>::Entity>, ApiError> {
    let rows = context.place.rows;
    let webhook = lookup::get::<Webhooks>(context.store().reads(), rows, id).await?;
    Ok(rows.find::<Deliveries>().filter(DeliveryColumn::WebhookId.eq(webhook.id)))
}

impl Handle for GetDelivery {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Data<WebhookDelivery>>, ApiError> {
        let (_, row) = find(context.store().reads(), context.place.rows, &input.path).await?;
        Ok(Reply::ok(row).data(show))
    }
}

impl Handle for ReplayDelivery {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Data<WebhookDelivery>>, ApiError> {
        let tx = context.store().begin().await?;
        let (webhook, earlier) = find(&tx, context.place.rows, &input.path).await?;
        let row = delivery::replay(&tx, &webhook, &earlier, context.now).await?;
        tx.commit().await?;
        context.shared.courier.wake();
        Ok(Reply::accepted(row).data(show))
    }

    async fn prepare(context: Context<AtWork>, input: Input<Self>) -> Result<Value, ApiError> {
        let (_, row) = find(context.store().reads(), context.place.rows, &input.path).await?;
        Ok(json!(show(row)))
    }
}

/// A webhook, and a delivery of it.
async fn find(
    connection: &impl ConnectionTrait,
    rows: InWorkspace,
    path: &ByDelivery,
) -> Result<(WebhookRow, DeliveryRow), ApiError> {
    let webhook = lookup::get::<Webhooks>(connection, rows, &path.id).await?;
    let row = lookup::get_by_uuid::<Deliveries>(connection, rows, &path.delivery_id).await?;
    // A delivery of another webhook of the same workspace is not there either.
    if row.webhook_id == webhook.id { Ok((webhook, row)) } else { Err(ApiError::NotFound) }
}

pub(super) fn show(row: DeliveryRow) -> WebhookDelivery {
    WebhookDelivery {
        id: row.id,
        webhook_id: row.webhook_id,
        system_event_id: row.system_event_id,
        attempt: row.attempt,
        status: row.status.0,
        request_headers: row.request_headers.0,
        request_body: row.request_body.0,
        response_status: row.response_status,
        response_headers: row.response_headers.map(|headers| headers.0),
        response_body: row.response_body,
        error: row.error,
        duration_ms: row.duration_ms,
        delivered_at: row.delivered_at.map(Timestamp),
        next_retry_at: row.next_retry_at.map(Timestamp),
        created_at: Timestamp(row.created_at),
        updated_at: Timestamp(row.updated_at),
    }
}
