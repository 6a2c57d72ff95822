//! Deliveries of events to webhooks.

use kobana_contract::operations::deliveries::{GetDelivery, ListDeliveries, WebhookDelivery};
use kobana_contract::{Data, Page, Timestamp};
use kobana_store::Scope as _;
use kobana_store::rows::{Deliveries, DeliveryColumn, DeliveryRow, Webhooks};
use sea_orm::{ColumnTrait as _, QueryFilter as _};

use crate::context::{Context, Input};
use crate::endpoint::Handle;
use crate::error::ApiError;
use crate::gate::{AtWork, Chosen};
use crate::lookup;
use crate::reply::Reply;

impl Handle for ListDeliveries {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Page<WebhookDelivery>>, ApiError> {
        let (rows, reads) = (context.place.rows, context.store().reads());
        let webhook = lookup::get::<Webhooks>(reads, rows, &input.path.id).await?;
        let deliveries = rows.find::<Deliveries>().filter(DeliveryColumn::WebhookId.eq(webhook.id));
        input.page.answer::<Deliveries, _>(reads, deliveries, show).await
    }
}

impl Handle for GetDelivery {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Data<WebhookDelivery>>, ApiError> {
        let (rows, reads) = (context.place.rows, context.store().reads());
        let webhook = lookup::get::<Webhooks>(reads, rows, &input.path.id).await?;
        let row = lookup::get_by_uuid::<Deliveries>(reads, rows, &input.path.delivery_id).await?;
        // A delivery of another webhook of the same workspace is not there either.
        if row.webhook_id != webhook.id {
            return Err(ApiError::NotFound);
        }
        Ok(Reply::ok(row).data(show))
    }
}

fn show(row: DeliveryRow) -> WebhookDelivery {
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
