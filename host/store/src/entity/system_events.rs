//! Table `system_events`.

use sea_orm::entity::prelude::*;

use crate::values::Object;

/// Something that happened in a workspace.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "system_events")]
pub struct Model {
    /// UUID.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// UUID of the workspace.
    pub workspace_id: Uuid,
    /// UUID of the inbox, if it is about one.
    pub inbox_id: Option<Uuid>,
    /// UUID of the e-mail, if it is about one.
    pub email_id: Option<Uuid>,
    /// The kind of event.
    pub slug: String,
    /// What happened.
    pub payload: Object,
    /// When it was made.
    pub created_at: i64,
    /// When it last changed.
    pub updated_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
