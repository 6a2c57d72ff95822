//! Table `agents`.

use sea_orm::entity::prelude::*;

use crate::values::Folded;

/// An agent, which processes e-mails.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "agents")]
pub struct Model {
    /// UUID.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// UUID of the workspace.
    pub workspace_id: Uuid,
    /// The caller's own name, the id where none was chosen.
    pub external_id: String,
    /// The same, folded for completing.
    pub external_id_folded: Folded,
    /// Label.
    pub label: String,
    /// The same, folded for completing.
    pub label_folded: Folded,
    /// The model it runs on.
    pub llm_model: String,
    /// Its instructions.
    pub system_message: String,
    /// Where its skills are kept.
    pub skills_repo: Option<String>,
    /// When it was made.
    pub created_at: i64,
    /// When it last changed.
    pub updated_at: i64,
    /// When it was deleted.
    pub deleted_at: Option<i64>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
