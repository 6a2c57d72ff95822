//! Table `organizations`.

use sea_orm::entity::prelude::*;

/// An organization, whose workspaces are its tenants.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "organizations")]
pub struct Model {
    /// UUID.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// Name.
    pub name: String,
    /// Whether its persons may use their accounts.
    pub active: bool,
    /// When it was made.
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
