//! Table `email_bodies`.

use sea_orm::entity::prelude::*;

/// What an e-mail says.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "email_bodies")]
pub struct Model {
    /// UUID of the e-mail.
    #[sea_orm(primary_key, auto_increment = false)]
    pub email_id: Uuid,
    /// UUID of the workspace.
    pub workspace_id: Uuid,
    /// Decoded plain text.
    pub text: Option<String>,
    /// Decoded HTML exactly as sent.
    pub html: Option<String>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
