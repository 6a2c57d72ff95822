//! Values that an installation makes once and keeps.

use sea_orm::sea_query::OnConflict;
use sea_orm::{DbErr, EntityTrait, Set};

use crate::Store;
use crate::entity::settings;

/// A secret of 32 random bytes under this name: made at the first call, the same ever after for the same database.
///
/// # Errors
/// What the database answers, or [`DbErr::Type`] if what is stored is no such secret.
pub async fn key(store: &Store, name: &str) -> Result<[u8; 32], DbErr> {
    let tx = store.begin().await?;
    let fresh = settings::ActiveModel { name: Set(name.to_owned()), value: Set(rand::random::<[u8; 32]>().to_vec()) };
    let keep_first = OnConflict::column(settings::Column::Name).do_nothing().to_owned();
    settings::Entity::insert(fresh).on_conflict(keep_first).exec_without_returning(&tx).await?;
    let stored = settings::Entity::find_by_id(name.to_owned()).one(&tx).await?;
    tx.commit().await?;
    let bytes = stored.and_then(|row| <[u8; 32]>::try_from(row.value).ok());
    bytes.ok_or_else(|| DbErr::Type("the stored secret is not 32 bytes long".to_owned()))
}
