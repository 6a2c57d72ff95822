//! What happened in a workspace.

use kobana_contract::operations::system_events::{EventFilter, GetSystemEvent, ListSystemEvents, SystemEvent};
use kobana_contract::{Data, Page, Timestamp};
use kobana_store::rows::{SystemEventColumn, SystemEventRow, SystemEvents};
use kobana_store::suggest::{Suggestions, suggest};
use kobana_store::{Scope as _, Table};
use sea_orm::{ColumnTrait as _, QueryFilter as _, Select};

use crate::context::{Context, Input};
use crate::endpoint::Handle;
use crate::error::ApiError;
use crate::gate::{AtWork, Chosen};
use crate::reply::Reply;
use crate::{lookup, paging};

impl Handle for ListSystemEvents {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Page<SystemEvent>>, ApiError> {
        match wanted(&context, &input.query) {
            Some(events) => input.page.answer::<SystemEvents, _>(context.store().reads(), events, show).await,
            None => Ok(paging::empty()),
        }
    }

    async fn suggest(context: Context<AtWork>, input: Input<Self>, prefix: &str) -> Result<Suggestions, ApiError> {
        match wanted(&context, &input.query) {
            Some(events) => Ok(suggest::<SystemEvents>(context.store().reads(), &events, prefix).await?),
            None => Ok(Suggestions::none()),
        }
    }
}

/// The events that pass all filters; none where a filter names nothing.
fn wanted(context: &Context<AtWork>, filter: &EventFilter) -> Option<Select<<SystemEvents as Table>::Entity>> {
    let mut events = context.place.rows.find::<SystemEvents>();
    if let Some(slug) = &filter.slug {
        events = events.filter(SystemEventColumn::Slug.eq(slug.as_str()));
    }
    if let Some(email) = &filter.email_id {
        events = events.filter(SystemEventColumn::EmailId.eq(lookup::uuid(email)?));
    }
    Some(events)
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
