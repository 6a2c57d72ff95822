//! OAuth clients that registered themselves (RFC 7591).

use kobana_contract::Timestamp;
use sea_orm::sea_query::Query;
use sea_orm::{ColumnTrait, Condition, DbErr, EntityTrait, IntoActiveModel, PaginatorTrait, QueryFilter};

use crate::entity::oauth_clients::{Column, Entity};
use crate::entity::oauth_grants as grants;
use crate::{Store, Write};

pub use crate::entity::oauth_clients::Model as ClientRow;

/// How long a client that nobody lets in, or that nobody uses any more, is kept; in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    /// From its registration until somebody lets it in.
    pub unused: i64,
    /// From the last time that somebody let it in, where no grant of it stands.
    pub idle: i64,
}

/// Registers a client, after clearing away those whose time is over. Answers `false`, and registers nothing, where there are
/// already `most`.
///
/// # Errors
/// What the database answers.
pub async fn insert(store: &Store, client: ClientRow, most: u64, keep: Keep, now: Timestamp) -> Result<bool, DbErr> {
    let tx = store.begin().await?;
    clear(&tx, keep, now).await?;
    let room = Entity::find().count(&tx).await? < most;
    if room {
        Entity::insert(client.into_active_model()).exec_without_returning(&tx).await?;
    }
    tx.commit().await?;
    Ok(room)
}

async fn clear(tx: &Write, keep: Keep, now: Timestamp) -> Result<(), DbErr> {
    let live = Query::select()
        .column(grants::Column::ClientId)
        .from(grants::Entity)
        .and_where(grants::Column::ExpiresAt.gt(now.0))
        .to_owned();
    let unused =
        Condition::all().add(Column::UsedAt.is_null()).add(Column::CreatedAt.lt(now.plus_seconds(-keep.unused).0));
    let idle =
        Condition::all().add(Column::UsedAt.lt(now.plus_seconds(-keep.idle).0)).add(Column::Id.not_in_subquery(live));
    Entity::delete_many().filter(Condition::any().add(unused).add(idle)).exec(tx).await.map(|_| ())
}

/// The client with this id.
///
/// # Errors
/// What the database answers.
pub async fn find(store: &Store, id: &str) -> Result<Option<ClientRow>, DbErr> {
    Entity::find_by_id(id.to_owned()).one(store.reads()).await
}
