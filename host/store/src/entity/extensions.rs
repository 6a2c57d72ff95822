//! Table `extensions`.

use sea_orm::entity::prelude::*;

/// An extension of a workspace, whatever its version.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "extensions")]
pub struct Model {
    /// UUID.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// UUID of the workspace.
    pub workspace_id: Uuid,
    /// The name that it gives itself, unique in the workspace.
    pub name: String,
    /// UUID of the version that is enabled.
    pub enabled_id: Option<Uuid>,
    /// When its first version was added.
    pub created_at: i64,
    /// When it last changed.
    pub updated_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
