//! Table `extension_versions`.

use sea_orm::entity::prelude::*;

/// A version of an extension. Only its turn changes.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "extension_versions")]
pub struct Model {
    /// UUID.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// UUID of the workspace.
    pub workspace_id: Uuid,
    /// UUID of the extension.
    pub extension_id: Uuid,
    /// The semantic version that it gives itself, unique in the extension.
    pub version: String,
    /// SHA-256 of the component in lower-case hexadecimal, unique in the extension.
    pub digest: String,
    /// Bytes of the component.
    pub size: i64,
    /// Counts, within the extension, the times that a version was enabled: which one this was last. None while it never was.
    pub turn: Option<i64>,
    /// When it was added.
    pub created_at: i64,
    /// UUID of the person who added it; none where it was whoever runs the installation.
    pub created_by: Option<Uuid>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
