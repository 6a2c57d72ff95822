//! What reading, changing and deleting have in common, whatever the kind of row.

use kobana_contract::Nothing;
use kobana_store::{InWorkspace, Listed, Named, Row, Scope as _, SoftDelete, Write};
use sea_orm::ActiveModelTrait as _;

use crate::context::Context;
use crate::error::ApiError;
use crate::gate::AtWork;
use crate::lookup;
use crate::reply::Reply;

/// The row that a path names.
///
/// # Errors
/// [`ApiError::NotFound`], or what the database answers.
pub(crate) async fn read<T: Named<Owner = InWorkspace>>(
    context: &Context<AtWork>,
    id: &str,
) -> Result<Row<T>, ApiError> {
    lookup::get::<T>(context.store().reads(), context.place.rows, id).await
}

/// The row after a change. If nothing is to change, nothing does, the time of the last change included.
///
/// # Errors
/// What the database answers.
pub(crate) async fn save<T: Listed<Owner = InWorkspace> + SoftDelete>(
    context: &Context<AtWork>,
    tx: &Write,
    row: Row<T>,
    mut changes: T::Changes,
) -> Result<Row<T>, ApiError> {
    if !changes.is_changed() {
        return Ok(row);
    }
    changes.set(T::UPDATED, context.now.0.into());
    let (rows, id) = (context.place.rows, T::position(&row).id);
    rows.change::<T>(tx, id, changes).await?;
    rows.find_by_id::<T>(id).one(tx).await?.ok_or(ApiError::NotFound)
}

/// Deletes the row that a path names.
///
/// # Errors
/// [`ApiError::NotFound`], or what the database answers.
pub(crate) async fn delete<T: Named<Owner = InWorkspace> + Listed + SoftDelete>(
    context: &Context<AtWork>,
    id: &str,
) -> Result<Reply<Nothing>, ApiError> {
    let tx = context.store().begin().await?;
    let row = lookup::get::<T>(&tx, context.place.rows, id).await?;
    context.place.rows.delete::<T>(&tx, T::position(&row).id, context.now.0).await?;
    tx.commit().await?;
    Ok(Reply::no_content())
}
