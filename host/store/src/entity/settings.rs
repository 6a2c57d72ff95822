//! Table `settings`.

use sea_orm::entity::prelude::*;

/// A value that this installation made once.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "settings")]
pub struct Model {
    /// Name.
    #[sea_orm(primary_key, auto_increment = false)]
    pub name: String,
    /// Value.
    pub value: Vec<u8>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
