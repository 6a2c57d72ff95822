//! Tokens for scripts. Of a token's secret only a hash is kept.

use kobana_contract::Timestamp;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder};
use uuid::Uuid;

use crate::entity::api_tokens::{Column, Entity};
use crate::{Store, Write};

pub use crate::entity::api_tokens::Model as TokenRow;

/// How stale the time of the last use may be: a write for every request would be too many.
const STALE: i64 = 60 * 60;

/// The token with this UUID, revoked and ended ones included.
///
/// # Errors
/// What the database answers.
pub async fn find(connection: &impl ConnectionTrait, id: Uuid) -> Result<Option<TokenRow>, DbErr> {
    Entity::find_by_id(id).one(connection).await
}

/// The tokens of one person or of all, oldest first.
///
/// # Errors
/// What the database answers.
pub async fn list(connection: &impl ConnectionTrait, person: Option<Uuid>) -> Result<Vec<TokenRow>, DbErr> {
    let mut tokens = Entity::find().order_by_asc(Column::CreatedAt).order_by_asc(Column::Id);
    if let Some(person) = person {
        tokens = tokens.filter(Column::PersonId.eq(person));
    }
    tokens.all(connection).await
}

/// Keeps a token.
///
/// # Errors
/// What the database answers.
pub async fn insert(tx: &Write, token: TokenRow) -> Result<(), DbErr> {
    Entity::insert(token.into_active_model()).exec_without_returning(tx).await.map(|_| ())
}

/// Revokes a token. Answers whether it was good for anything until now.
///
/// # Errors
/// What the database answers.
pub async fn revoke(tx: &Write, id: Uuid, now: Timestamp) -> Result<bool, DbErr> {
    let update = Entity::update_many().col_expr(Column::RevokedAt, Expr::value(now.0));
    let update = update.filter(Column::Id.eq(id)).filter(Column::RevokedAt.is_null());
    Ok(update.exec(tx).await?.rows_affected > 0)
}

/// Whether the time of its last use is to be written down again.
#[must_use]
pub fn is_stale(token: &TokenRow, now: Timestamp) -> bool {
    token.used_at.is_none_or(|used| used <= now.plus_seconds(-STALE).0)
}

/// Writes down that a token was used.
///
/// # Errors
/// What the database answers.
pub async fn used(store: &Store, id: Uuid, now: Timestamp) -> Result<(), DbErr> {
    let tx = store.begin().await?;
    let update = Entity::update_many().col_expr(Column::UsedAt, Expr::value(now.0)).filter(Column::Id.eq(id));
    update.exec(&tx).await?;
    tx.commit().await
}
