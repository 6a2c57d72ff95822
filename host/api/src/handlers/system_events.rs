//! What happened in a workspace.

use kobana_contract::operations::system_events::{GetSystemEvent, ListSystemEvents, SystemEvent};
use kobana_contract::{Data, Page, Timestamp};
use kobana_store::Scope as _;
use kobana_store::rows::{SystemEventColumn, SystemEventRow, SystemEvents};
use sea_orm::{ColumnTrait as _, QueryFilter as _};

use crate::context::{Context, Input};
use crate::endpoint::Handle;
use crate::error::ApiError;
use crate::gate::{AtWork, Chosen};
use crate::reply::Reply;
use crate::{lookup, paging};

impl Handle for ListSystemEvents {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Page<SystemEvent>>, ApiError> {
        let mut events = context.place.rows.find::<SystemEvents>();
        if let Some(slug) = &input.query.slug {
            events = events.filter(SystemEventColumn::Slug.eq(slug.as_str()));
        }
        if let Some(email) = &input.query.email_id {
            match lookup::uuid(email) {
                Some(email) => events = events.filter(SystemEventColumn::EmailId.eq(email)),
                None => return Ok(paging::empty()),
            }
        }
        input.page.answer::<SystemEvents, _>(context.store().reads(), events, show).await
    }
}

impl Handle for GetSystemEvent {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Data<SystemEvent>>, ApiError> {
        let reads = context.store().reads();
        let row = lookup::get_by_uuid::<SystemEvents>(reads, context.place.rows, &input.path.id).await?;
        Ok(Reply::ok(row).data(show))
    }
}

fn show(row: SystemEventRow) -> SystemEvent {
    SystemEvent {
        id: row.id,
        workspace_id: row.workspace_id,
        inbox_id: row.inbox_id,
        email_id: row.email_id,
        slug: row.slug,
        payload: row.payload.0,
        created_at: Timestamp(row.created_at),
        updated_at: Timestamp(row.updated_at),
    }
}
