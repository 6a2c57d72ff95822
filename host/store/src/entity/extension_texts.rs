//! Table `extension_texts`.

use sea_orm::entity::prelude::*;

/// What a version of an extension says of itself. It never changes.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "extension_texts")]
pub struct Model {
    /// UUID of the version.
    #[sea_orm(primary_key, auto_increment = false)]
    pub version_id: Uuid,
    /// UUID of the workspace.
    pub workspace_id: Uuid,
    /// Its description, the JSON of `kobana_wire::extension::Description`.
    pub description: String,
    /// What the protocol has made of that.
    pub definitions: String,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
