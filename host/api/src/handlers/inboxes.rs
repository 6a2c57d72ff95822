//! Inboxes: receiving addresses.

use kobana_contract::fields::{ActiveStatus, IdOrExternalId};
use kobana_contract::operations::inboxes::{
    CreateInbox, DeleteInbox, GetInbox, Inbox, InboxCreate, InboxUpdate, InboxUpsert, Limits, ListInboxes, UpdateInbox,
    UpsertInbox,
};
use kobana_contract::{Data, Nothing, Page, Permission, Timestamp};
use kobana_store::rows::{Agents, InboxChanges, InboxRow, Inboxes, Workspaces};
use kobana_store::suggest::{Suggestions, suggest};
use kobana_store::values::{Folded, Object, Objects, Texts, Word};
use kobana_store::{InOrganization, InWorkspace, Scope as _, Write};
use sea_orm::Set;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::context::{Context, Input};
use crate::endpoint::Handle;
use crate::error::ApiError;
use crate::gate::{AtWork, Chosen};
use crate::reply::Reply;
use crate::upsert::{Upsert, sent, upsert};
use crate::{address, common, lookup};

/// What an inbox takes in unless it is told otherwise.
const DEFAULT_FILE_NUMBER: i64 = 10;
const DEFAULT_FILE_SIZE: i64 = 10 * 1024 * 1024;
const DEFAULT_TOTAL_SIZE: i64 = 25 * 1024 * 1024;

impl Handle for ListInboxes {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Page<Inbox>>, ApiError> {
        let rows = context.place.rows.find::<Inboxes>();
        input.page.answer::<Inboxes, _>(context.store().reads(), rows, show).await
    }

    async fn suggest(context: Context<AtWork>, _: Input<Self>, prefix: &str) -> Result<Suggestions, ApiError> {
        let rows = context.place.rows.find::<Inboxes>();
        Ok(suggest::<Inboxes>(context.store().reads(), &rows, prefix).await?)
    }
}

impl Handle for GetInbox {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Data<Inbox>>, ApiError> {
        let row = common::read::<Inboxes>(&context, &input.path.id).await?;
        Ok(Reply::ok(row).data(show))
    }
}

impl Handle for CreateInbox {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Data<Inbox>>, ApiError> {
        check_recipients(&context, &input.body.limits)?;
        let tx = context.store().begin().await?;
        let row = create(&context, &tx, &input.body, ActiveStatus::Active).await?;
        tx.commit().await?;
        Ok(Reply::created(row).data(show))
    }
}

impl Handle for UpdateInbox {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Data<Inbox>>, ApiError> {
        check_recipients(&context, &input.body.limits)?;
        let tx = context.store().begin().await?;
        let row = lookup::get::<Inboxes>(&tx, context.place.rows, &input.path.id).await?;
        let row = update(&context, &tx, row, &input.body).await?;
        tx.commit().await?;
        Ok(Reply::ok(row).data(show))
    }
}

impl Handle for UpsertInbox {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Data<Inbox>>, ApiError> {
        check_recipients(&context, &input.body.update.limits)?;
        let reply = upsert(context.store(), &Wanted { context: &context, inbox: &input.body }).await?;
        Ok(reply.data(show))
    }
}

impl Handle for DeleteInbox {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Nothing>, ApiError> {
        common::delete::<Inboxes>(&context, &input.path.id).await
    }

    async fn prepare(context: Context<AtWork>, input: Input<Self>) -> Result<Value, ApiError> {
        prepare(&context, &input.path.id).await
    }
}

/// The inbox that something is about to happen to.
///
/// # Errors
/// [`ApiError::NotFound`], or what the database answers.
pub(super) async fn prepare(context: &Context<AtWork>, id: &str) -> Result<Value, ApiError> {
    let row = common::read::<Inboxes>(context, id).await?;
    Ok(json!(show(row)))
}

/// An upsert that is under way.
struct Wanted<'a> {
    context: &'a Context<AtWork>,
    inbox: &'a InboxUpsert,
}

impl Upsert for Wanted<'_> {
    type Table = Inboxes;

    fn rows(&self) -> InWorkspace {
        self.context.place.rows
    }

    fn external_id(&self) -> &str {
        &self.inbox.external_id.0
    }

    async fn create(&self, tx: &Write) -> Result<InboxRow, ApiError> {
        let InboxUpsert { external_id, email, update } = self.inbox;
        let label = update.label.clone();
        let wanted = InboxCreate {
            external_id: Some(external_id.clone()),
            label: label.ok_or_else(|| ApiError::invalid_field("label", "is required to create it"))?,
            email: email.clone(),
            agent_id: update.agent_id.clone().flatten(),
            limits: update.limits.clone(),
        };
        create(self.context, tx, &wanted, update.status.unwrap_or(ActiveStatus::Active)).await
    }

    async fn update(&self, tx: &Write, row: InboxRow) -> Result<InboxRow, ApiError> {
        if let Some(email) = &self.inbox.email
            && address::given(email, &self.context.shared.settings.inbox_domain)? != row.email
        {
            return Err(ApiError::Conflict { field: "email" });
        }
        update(self.context, tx, row, &self.inbox.update).await
    }
}

/// Who may send to an inbox is a permission of its own.
fn check_recipients(context: &Context<AtWork>, limits: &Limits) -> Result<(), ApiError> {
    match limits.allowed_recipients {
        Some(_) => context.place.require(Permission::InboxesRecipients),
        None => Ok(()),
    }
}

async fn create(
    context: &Context<AtWork>,
    tx: &Write,
    wanted: &InboxCreate,
    status: ActiveStatus,
) -> Result<InboxRow, ApiError> {
    let (id, rows, limits) = (Uuid::now_v7(), context.place.rows, &wanted.limits);
    let row = InboxRow {
        id,
        workspace_id: rows.0,
        external_id: lookup::name(wanted.external_id.as_ref(), id),
        external_id_folded: Folded::default(),
        agent_id: agent(tx, rows, wanted.agent_id.as_ref()).await?,
        label: wanted.label.clone(),
        label_folded: Folded::default(),
        email: email(context, tx, wanted).await?,
        status: Word(status),
        allowed_recipients: Texts(address::unique(limits.allowed_recipients.as_deref().unwrap_or_default())),
        filters: Objects(limits.filters.clone().unwrap_or_default()),
        attachments_allow: limits.attachments_allow.unwrap_or(true),
        attachments_max_file_number: limits.attachments_max_file_number.unwrap_or(DEFAULT_FILE_NUMBER),
        attachments_max_file_size: limits.attachments_max_file_size.unwrap_or(DEFAULT_FILE_SIZE),
        attachments_max_total_size: limits.attachments_max_total_size.unwrap_or(DEFAULT_TOTAL_SIZE),
        custom_metadata: Object::default(),
        metadata: Object::default(),
        created_at: context.now.0,
        updated_at: context.now.0,
        deleted_at: None,
    };
    rows.insert::<Inboxes>(tx, row.clone()).await?;
    Ok(row)
}

/// The given address, or a fresh one after the workspace's prefix.
async fn email(context: &Context<AtWork>, tx: &Write, wanted: &InboxCreate) -> Result<String, ApiError> {
    let domain = &context.shared.settings.inbox_domain;
    if let Some(email) = &wanted.email {
        return address::given(email, domain);
    }
    let workspaces = InOrganization(context.caller.organization_id);
    let workspace = workspaces.find_by_id::<Workspaces>(context.place.rows.0).one(tx).await?;
    let prefix = workspace.ok_or(ApiError::NotFound)?.email_prefix;
    Ok(address::fresh(&prefix, &wanted.label, domain))
}

async fn agent(tx: &Write, rows: InWorkspace, agent: Option<&IdOrExternalId>) -> Result<Option<Uuid>, ApiError> {
    match agent {
        Some(agent) => Ok(Some(lookup::reference::<Agents>(tx, rows, agent, "agent_id").await?.id)),
        None => Ok(None),
    }
}

async fn update(
    context: &Context<AtWork>,
    tx: &Write,
    row: InboxRow,
    wanted: &InboxUpdate,
) -> Result<InboxRow, ApiError> {
    let rows = context.place.rows;
    let mut changes = changes(wanted);
    if let Some(wanted) = &wanted.agent_id {
        changes.agent_id = Set(agent(tx, rows, wanted.as_ref()).await?);
    }
    common::save::<Inboxes>(context, tx, row, changes).await
}

/// The fields that were sent, without those that refer to other rows.
fn changes(wanted: &InboxUpdate) -> InboxChanges {
    let limits = &wanted.limits;
    InboxChanges {
        label: sent(wanted.label.clone()),
        status: sent(wanted.status.map(Word)),
        allowed_recipients: sent(limits.allowed_recipients.as_deref().map(address::unique).map(Texts)),
        filters: sent(limits.filters.clone().map(Objects)),
        attachments_allow: sent(limits.attachments_allow),
        attachments_max_file_number: sent(limits.attachments_max_file_number),
        attachments_max_file_size: sent(limits.attachments_max_file_size),
        attachments_max_total_size: sent(limits.attachments_max_total_size),
        ..Default::default()
    }
}

pub(crate) fn show(row: InboxRow) -> Inbox {
    Inbox {
        id: row.id,
        external_id: Some(row.external_id),
        workspace_id: row.workspace_id,
        agent_id: row.agent_id,
        label: row.label,
        email: row.email,
        status: row.status.0,
        allowed_recipients: row.allowed_recipients.0,
        filters: row.filters.0,
        attachments_allow: row.attachments_allow,
        attachments_max_file_number: row.attachments_max_file_number,
        attachments_max_file_size: row.attachments_max_file_size,
        attachments_max_total_size: row.attachments_max_total_size,
        custom_metadata: row.custom_metadata.0,
        metadata: row.metadata.0,
        created_at: Timestamp(row.created_at),
        updated_at: Timestamp(row.updated_at),
    }
}
