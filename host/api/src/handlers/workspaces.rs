//! Workspaces, with what they used this month.

use kobana_contract::operations::workspaces::{GetWorkspace, ListWorkspaces, Workspace};
use kobana_contract::{Data, Page, Permission, Timestamp};
use kobana_store::Scope as _;
use kobana_store::rows::{WorkspaceColumn, WorkspaceRow, Workspaces};
use kobana_store::usage::{self, Usage};
use sea_orm::{ColumnTrait as _, ConnectionTrait, QueryFilter as _};
use time::OffsetDateTime;

use crate::context::{Context, Input};
use crate::endpoint::Handle;
use crate::error::ApiError;
use crate::gate::{AtHome, AtWorkspace, Named, Reach};
use crate::reply::Reply;

impl Handle for ListWorkspaces {
    type Gate = Reach;

    async fn handle(context: Context<AtHome>, input: Input<Self>) -> Result<Reply<Page<Workspace>>, ApiError> {
        let visible = context.caller.memberships.iter().filter(|member| member.role.holds(Permission::WorkspacesView));
        let ids = visible.map(|member| member.workspace_id);
        let rows = context.place.rows.find::<Workspaces>().filter(WorkspaceColumn::Id.is_in(ids));
        let reads = context.store().reads();
        let page = input.page.fetch::<Workspaces>(reads, rows).await?;
        Ok(Reply::ok(Page { data: with_usage(reads, page.data, context.now).await?, meta: page.meta }))
    }
}

impl Handle for GetWorkspace {
    type Gate = Named;

    async fn handle(context: Context<AtWorkspace>, _: Input<Self>) -> Result<Reply<Data<Workspace>>, ApiError> {
        let reads = context.store().reads();
        let row = context.place.rows.find_by_id::<Workspaces>(context.place.id).one(reads).await?;
        let row = row.ok_or(ApiError::NotFound)?;
        let data = with_usage(reads, vec![row], context.now).await?.pop().ok_or(ApiError::NotFound)?;
        Ok(Reply::ok(Data { data }))
    }
}

async fn with_usage(
    connection: &impl ConnectionTrait,
    rows: Vec<WorkspaceRow>,
    now: Timestamp,
) -> Result<Vec<Workspace>, ApiError> {
    let ids: Vec<_> = rows.iter().map(|row| row.id).collect();
    let usage = usage::since(connection, &ids, month_of(now).0).await?;
    Ok(rows.into_iter().map(|row| show(usage.get(&row.id).copied().unwrap_or_default(), row)).collect())
}

/// The beginning of the month, in UTC.
fn month_of(now: Timestamp) -> Timestamp {
    let beginning = OffsetDateTime::from_unix_timestamp(now.unix_seconds())
        .ok()
        .and_then(|time| time.replace_day(1).ok())
        .map(|time| time.replace_time(time::Time::MIDNIGHT));
    beginning.map_or(now, Timestamp::from)
}

fn show(usage: Usage, row: WorkspaceRow) -> Workspace {
    Workspace {
        id: row.id,
        external_id: Some(row.external_id),
        source: row.source.0,
        label: row.label,
        email_prefix: row.email_prefix,
        monthly_cost_limit: row.monthly_cost_limit,
        monthly_cost_used: usage.cost,
        monthly_emails_limit: row.monthly_emails_limit,
        monthly_emails_used: usage.emails,
        custom_metadata: row.custom_metadata.0,
        metadata: row.metadata.0,
        created_at: Timestamp(row.created_at),
        updated_at: Timestamp(row.updated_at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_begins_at_midnight_of_its_first_day() {
        let now = Timestamp::parse("2028-02-29T23:59:59.999999Z").unwrap();
        assert_eq!(month_of(now).to_string(), "2028-02-01T00:00:00Z");
    }
}
