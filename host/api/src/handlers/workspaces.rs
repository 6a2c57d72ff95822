//! Workspaces, with what they used this month.

use kobana_contract::operations::workspaces::{
    CreateWorkspace, DeleteWorkspace, GetWorkspace, ListWorkspaces, UpdateWorkspace, Workspace, WorkspaceUpdate,
};
use kobana_contract::{Data, Nothing, Page, Permission, Role, Timestamp};
use kobana_store::rows::{Agents, Inboxes, Webhooks, WorkspaceChanges, WorkspaceColumn, WorkspaceRow, Workspaces};
use kobana_store::suggest::{Suggestions, suggest};
use kobana_store::usage::{self, Usage};
use kobana_store::values::{Folded, Object, Word};
use kobana_store::{InWorkspace, Scope as _, Table, extensions, people};
use sea_orm::{ActiveModelTrait as _, ColumnTrait as _, ConnectionTrait, QueryFilter as _, Select, Set};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::context::{Context, Input};
use crate::endpoint::Handle;
use crate::error::ApiError;
use crate::gate::{Anywhere, AtHome, AtWorkspace, Named, Reach};
use crate::reply::Reply;
use crate::upsert::sent;
use crate::{address, lookup};

/// The longest first part of addresses, in characters.
const LONGEST_PREFIX: usize = 60;

impl Handle for ListWorkspaces {
    type Gate = Reach;

    async fn handle(context: Context<AtHome>, input: Input<Self>) -> Result<Reply<Page<Workspace>>, ApiError> {
        let reads = context.store().reads();
        let page = input.page.fetch::<Workspaces>(reads, visible(&context)).await?;
        Ok(Reply::ok(Page { data: with_usage(reads, page.data, context.now).await?, meta: page.meta }))
    }

    async fn suggest(context: Context<AtHome>, _: Input<Self>, prefix: &str) -> Result<Suggestions, ApiError> {
        Ok(suggest::<Workspaces>(context.store().reads(), &visible(&context), prefix).await?)
    }
}

/// The workspaces that the caller may see.
fn visible(context: &Context<AtHome>) -> Select<<Workspaces as Table>::Entity> {
    let visible = context.caller.memberships.iter().filter(|member| member.role.holds(Permission::WorkspacesView));
    let ids = visible.map(|member| member.workspace_id);
    context.place.rows.find::<Workspaces>().filter(WorkspaceColumn::Id.is_in(ids))
}

impl Handle for GetWorkspace {
    type Gate = Named;

    async fn handle(context: Context<AtWorkspace>, _: Input<Self>) -> Result<Reply<Data<Workspace>>, ApiError> {
        Ok(Reply::ok(Data { data: read(&context).await? }))
    }
}

impl Handle for CreateWorkspace {
    type Gate = Anywhere;

    async fn handle(context: Context<AtHome>, input: Input<Self>) -> Result<Reply<Data<Workspace>>, ApiError> {
        let (id, caller, wanted) = (Uuid::now_v7(), &context.caller, input.body);
        let email_prefix = wanted.email_prefix.unwrap_or_else(|| prefix(&wanted.label));
        let row = WorkspaceRow {
            id,
            organization_id: caller.organization_id,
            external_id: lookup::name(wanted.external_id.as_ref(), id),
            external_id_folded: Folded::default(),
            source: Word(wanted.source),
            label: wanted.label,
            label_folded: Folded::default(),
            email_prefix,
            monthly_cost_limit: wanted.allowance.monthly_cost_limit.flatten(),
            monthly_emails_limit: wanted.allowance.monthly_emails_limit.flatten(),
            custom_metadata: Object(wanted.allowance.custom_metadata.unwrap_or_default()),
            metadata: Object(wanted.allowance.metadata.unwrap_or_default()),
            created_at: context.now.0,
            updated_at: context.now.0,
            deleted_at: None,
        };
        let tx = context.store().begin().await?;
        context.place.rows.insert::<Workspaces>(&tx, row.clone()).await?;
        people::join(&tx, caller.person_id, id, Role::Owner).await?;
        tx.commit().await?;
        Ok(Reply::created(Data { data: show(Usage::default(), row) }))
    }
}

impl Handle for UpdateWorkspace {
    type Gate = Named;

    async fn handle(context: Context<AtWorkspace>, input: Input<Self>) -> Result<Reply<Data<Workspace>>, ApiError> {
        let mut changes = changes(input.body);
        if changes.is_changed() {
            changes.updated_at = Set(context.now.0);
            let tx = context.store().begin().await?;
            context.place.rows.change::<Workspaces>(&tx, context.place.id, changes).await?;
            tx.commit().await?;
        }
        Ok(Reply::ok(Data { data: read(&context).await? }))
    }
}

impl Handle for DeleteWorkspace {
    type Gate = Named;

    async fn handle(context: Context<AtWorkspace>, _: Input<Self>) -> Result<Reply<Nothing>, ApiError> {
        let (AtWorkspace { rows, id }, now) = (context.place, context.now.0);
        let tx = context.shared.store.begin().await?;
        if !rows.delete::<Workspaces>(&tx, id, now).await? {
            return Err(ApiError::NotFound);
        }
        // Nobody reaches what is inside any more; it is marked too, so that mail to its addresses finds no inbox.
        let inside = InWorkspace(id);
        inside.delete_all::<Inboxes>(&tx, now).await?;
        inside.delete_all::<Agents>(&tx, now).await?;
        inside.delete_all::<Webhooks>(&tx, now).await?;
        let components = extensions::remove_all(&tx, inside).await?;
        tx.commit().await?;
        if let Err(error) = extensions::sweep(&context.shared.store, &components).await {
            tracing::warn!(%error, workspace = %id, "components of a deleted workspace could not be removed");
        }
        Ok(Reply::no_content())
    }

    async fn prepare(context: Context<AtWorkspace>, _: Input<Self>) -> Result<Value, ApiError> {
        Ok(json!(read(&context).await?))
    }
}

/// The first part of addresses, made from the label.
fn prefix(label: &str) -> String {
    let prefix: String = address::slug(label, "workspace").chars().take(LONGEST_PREFIX).collect();
    prefix.trim_end_matches('-').to_owned()
}

fn changes(wanted: WorkspaceUpdate) -> WorkspaceChanges {
    WorkspaceChanges {
        label: sent(wanted.label),
        email_prefix: sent(wanted.email_prefix),
        monthly_cost_limit: sent(wanted.allowance.monthly_cost_limit),
        monthly_emails_limit: sent(wanted.allowance.monthly_emails_limit),
        custom_metadata: sent(wanted.allowance.custom_metadata.map(Object)),
        metadata: sent(wanted.allowance.metadata.map(Object)),
        ..Default::default()
    }
}

async fn read(context: &Context<AtWorkspace>) -> Result<Workspace, ApiError> {
    let reads = context.store().reads();
    let row = context.place.rows.find_by_id::<Workspaces>(context.place.id).one(reads).await?;
    let row = row.ok_or(ApiError::NotFound)?;
    with_usage(reads, vec![row], context.now).await?.pop().ok_or(ApiError::NotFound)
}

async fn with_usage(
    connection: &impl ConnectionTrait,
    rows: Vec<WorkspaceRow>,
    now: Timestamp,
) -> Result<Vec<Workspace>, ApiError> {
    let ids: Vec<_> = rows.iter().map(|row| row.id).collect();
    let usage = usage::since(connection, &ids, usage::month_of(now).0).await?;
    Ok(rows.into_iter().map(|row| show(usage.get(&row.id).copied().unwrap_or_default(), row)).collect())
}

pub(crate) fn show(usage: Usage, row: WorkspaceRow) -> Workspace {
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
