//! Table `memberships`.

use kobana_contract::Role;
use sea_orm::entity::prelude::*;

use crate::values::Word;

/// What a person is in a workspace.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "memberships")]
pub struct Model {
    /// UUID of the person.
    #[sea_orm(primary_key, auto_increment = false)]
    pub person_id: Uuid,
    /// UUID of the workspace.
    #[sea_orm(primary_key, auto_increment = false)]
    pub workspace_id: Uuid,
    /// The role.
    pub role: Word<Role>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
