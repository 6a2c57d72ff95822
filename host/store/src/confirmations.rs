//! Confirmations that were used: each may be once, whichever replica it comes back to.

use kobana_contract::Timestamp;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait, DbErr, EntityTrait, QueryFilter, Set};

use crate::Store;
use crate::entity::spent_confirmations::{ActiveModel, Column, Entity};

/// Spends a confirmation. Of several at the same moment one alone is told `true`. Rows that have expired are cleared away.
///
/// # Errors
/// What the database answers; the confirmation is not spent then.
pub async fn spend(store: &Store, nonce: &[u8], expires_at: Timestamp, now: Timestamp) -> Result<bool, DbErr> {
    let tx = store.begin().await?;
    Entity::delete_many().filter(Column::ExpiresAt.lt(now.0)).exec(&tx).await?;
    let row = ActiveModel { nonce: Set(nonce.to_vec()), expires_at: Set(expires_at.0) };
    let keep_first = OnConflict::column(Column::Nonce).do_nothing().to_owned();
    let inserted = Entity::insert(row).on_conflict(keep_first).exec_without_returning(&tx).await?;
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
