//! Confirmations that were used: each may be once, whichever replica it comes back to.

use kobana_contract::Timestamp;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait, DbErr, EntityTrait, QueryFilter, Set};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::entity::spent_confirmations::{ActiveModel, Column, Entity};
use crate::rows::{SystemEventRow, SystemEvents};
use crate::values::Object;
use crate::{InWorkspace, Scope as _, Store, Write};

/// How a confirmation ended, for the record of the workspace.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    /// The workspace.
    pub workspace: Uuid,
    /// The kind of event, such as `confirmation.accepted`.
    pub slug: &'static str,
    /// What was confirmed, by whom, through which program.
    pub payload: Map<String, Value>,
}

/// Writes down how a confirmation ended that nobody spent.
///
/// # Errors
/// What the database answers.
pub async fn record(store: &Store, ended: Ended, now: Timestamp) -> Result<(), DbErr> {
    let tx = store.begin().await?;
    write(&tx, ended, now).await?;
    tx.commit().await
}

async fn write(tx: &Write, ended: Ended, now: Timestamp) -> Result<(), DbErr> {
    let row = SystemEventRow {
        id: Uuid::now_v7(),
        workspace_id: ended.workspace,
        inbox_id: None,
        email_id: None,
        slug: ended.slug.to_owned(),
        payload: Object(ended.payload),
        created_at: now.0,
        updated_at: now.0,
    };
    InWorkspace(ended.workspace).insert::<SystemEvents>(tx, row).await?;
    Ok(())
}

/// Spends a confirmation and writes down how it ended. Of several at the same moment one alone is told `true`. Rows that
/// have expired are cleared away.
///
/// # Errors
/// What the database answers; the confirmation is not spent then.
pub async fn spend(
    store: &Store,
    nonce: &[u8],
    expires_at: Timestamp,
    ended: Option<Ended>,
    now: Timestamp,
) -> Result<bool, DbErr> {
    let tx = store.begin().await?;
    Entity::delete_many().filter(Column::ExpiresAt.lt(now.0)).exec(&tx).await?;
    let row = ActiveModel { nonce: Set(nonce.to_vec()), expires_at: Set(expires_at.0) };
    let keep_first = OnConflict::column(Column::Nonce).do_nothing().to_owned();
    let inserted = Entity::insert(row).on_conflict(keep_first).exec_without_returning(&tx).await?;
    if let (1, Some(ended)) = (inserted, ended) {
        write(&tx, ended, now).await?;
    }
    tx.commit().await?;
    Ok(inserted == 1)
}

/// Whether a confirmation was spent.
///
/// # Errors
/// What the database answers.
pub async fn is_spent(store: &Store, nonce: &[u8]) -> Result<bool, DbErr> {
    Ok(Entity::find_by_id(nonce.to_vec()).one(store.reads()).await?.is_some())
}
