//! What whoever runs the installation looks up across tenants: the command line, and the worker. Callers of the API never
//! get here.

use kobana_contract::operations::deliveries::DeliveryStatus;
use sea_orm::{ColumnTrait, Condition, ConnectionTrait, DbErr, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use uuid::Uuid;

use crate::Store;
use crate::entity::{inboxes, webhook_deliveries, workspaces};
use crate::rows::{DeliveryColumn, InboxRow, WorkspaceRow};
use crate::text::fold;

/// The live workspace with this UUID.
///
/// # Errors
/// What the database answers.
pub async fn workspace(connection: &impl ConnectionTrait, id: Uuid) -> Result<Option<WorkspaceRow>, DbErr> {
    workspaces::Entity::find_by_id(id).filter(workspaces::Column::DeletedAt.is_null()).one(connection).await
}

/// The live workspaces with this UUID or external_id; the names of several organizations may be the same.
///
/// # Errors
/// What the database answers.
pub async fn workspaces(connection: &impl ConnectionTrait, name: &str) -> Result<Vec<WorkspaceRow>, DbErr> {
    let mut wanted = Condition::any().add(workspaces::Column::ExternalId.eq(name));
    if let Ok(id) = Uuid::parse_str(name) {
        wanted = wanted.add(workspaces::Column::Id.eq(id));
    }
    workspaces::Entity::find().filter(workspaces::Column::DeletedAt.is_null()).filter(wanted).all(connection).await
}

/// The live inboxes with this UUID, external_id or address, of one workspace or of all.
///
/// # Errors
/// What the database answers.
pub async fn inboxes(
    connection: &impl ConnectionTrait,
    name: &str,
    workspace: Option<Uuid>,
) -> Result<Vec<InboxRow>, DbErr> {
    let mut wanted =
        Condition::any().add(inboxes::Column::ExternalId.eq(name)).add(inboxes::Column::Email.eq(fold(name)));
    if let Ok(id) = Uuid::parse_str(name) {
        wanted = wanted.add(inboxes::Column::Id.eq(id));
    }
    let mut found = inboxes::Entity::find().filter(inboxes::Column::DeletedAt.is_null()).filter(wanted);
    if let Some(workspace) = workspace {
        found = found.filter(inboxes::Column::WorkspaceId.eq(workspace));
    }
    found.all(connection).await
}

/// Removes deliveries of any workspace that ended and did not change after a time in microseconds, up to `limit` of them, the oldest
/// first; answers how many. What is still to be sent stays, however old it is.
///
/// # Errors
/// What the database answers.
pub async fn forget_deliveries(store: &Store, before: i64, limit: u64) -> Result<u64, DbErr> {
    // Ids grow with time, so the table is read from its oldest row to where the first that is too young may be.
    let bound = Uuid::from_u128(u128::try_from(before / 1_000).unwrap_or_default() << 80);
    let old = webhook_deliveries::Entity::find()
        .select_only()
        .column(DeliveryColumn::Id)
        .filter(DeliveryColumn::Id.lt(bound))
        .filter(DeliveryColumn::UpdatedAt.lt(before))
        .filter(DeliveryColumn::Status.ne(DeliveryStatus::Pending.as_str()))
        .filter(DeliveryColumn::NextRetryAt.is_null())
        .order_by_asc(DeliveryColumn::Id)
        .limit(limit);
    let ids: Vec<Uuid> = old.into_tuple().all(store.reads()).await?;
    if ids.is_empty() {
        return Ok(0);
    }
    let tx = store.begin().await?;
    // One that somebody else removed meanwhile counts, too: there may be more.
    let found = ids.len() as u64;
    webhook_deliveries::Entity::delete_many().filter(DeliveryColumn::Id.is_in(ids)).exec(&tx).await?;
    tx.commit().await?;
    Ok(found)
}
