//! Browsers in which somebody has signed in. What is kept of a session is the hash of its cookie.

use kobana_contract::Timestamp;
use sea_orm::{ColumnTrait, DbErr, EntityTrait, QueryFilter, Set};
use uuid::Uuid;

use crate::entity::login_sessions::{ActiveModel, Column, Entity};
use crate::{Store, Write};

/// Opens a session of the person until `expires_at`. Sessions that are over are cleared away.
///
/// # Errors
/// What the database answers.
pub async fn open(
    store: &Store,
    hash: &[u8],
    person_id: Uuid,
    expires_at: Timestamp,
    now: Timestamp,
) -> Result<(), DbErr> {
    let tx = store.begin().await?;
    Entity::delete_many().filter(Column::ExpiresAt.lte(now.0)).exec(&tx).await?;
    let row = ActiveModel {
        hash: Set(hash.to_vec()),
        person_id: Set(person_id),
        created_at: Set(now.0),
        expires_at: Set(expires_at.0),
    };
    Entity::insert(row).exec_without_returning(&tx).await?;
    tx.commit().await
}

/// UUID of the person whose session this is, while it lasts.
///
/// # Errors
/// What the database answers.
pub async fn find(store: &Store, hash: &[u8], now: Timestamp) -> Result<Option<Uuid>, DbErr> {
    let found = Entity::find_by_id(hash.to_vec()).filter(Column::ExpiresAt.gt(now.0)).one(store.reads()).await?;
    Ok(found.map(|session| session.person_id))
}

/// Ends a session.
///
/// # Errors
/// What the database answers.
pub async fn close(store: &Store, hash: &[u8]) -> Result<(), DbErr> {
    let tx = store.begin().await?;
    Entity::delete_by_id(hash.to_vec()).exec(&tx).await?;
    tx.commit().await
}

/// Ends every session of the person, such as when their password changes.
///
/// # Errors
/// What the database answers.
pub async fn close_all(tx: &Write, person_id: Uuid) -> Result<(), DbErr> {
    Entity::delete_many().filter(Column::PersonId.eq(person_id)).exec(tx).await.map(|_| ())
}
