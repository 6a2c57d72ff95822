//! Table `inboxes`.

use kobana_contract::fields::ActiveStatus;
use sea_orm::entity::prelude::*;

use crate::values::{Folded, Object, Objects, Texts, Word};

/// An inbox, which is a receiving address.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "inboxes")]
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
    /// UUID of the agent that processes its e-mails.
    pub agent_id: Option<Uuid>,
    /// Label.
    pub label: String,
    /// The same, folded for completing.
    pub label_folded: Folded,
    /// Its address in lower case, taken for ever.
    pub email: String,
    /// Whether it takes mail in.
    pub status: Word<ActiveStatus>,
    /// Who may send; empty lets anyone send.
    pub allowed_recipients: Texts,
    /// Rules on what it takes in.
    pub filters: Objects,
    /// Whether attachments are taken.
    pub attachments_allow: bool,
    /// Files per message.
    pub attachments_max_file_number: i64,
    /// Bytes.
    pub attachments_max_file_size: i64,
    /// Bytes.
    pub attachments_max_total_size: i64,
    /// The caller's own data.
    pub custom_metadata: Object,
    /// Further data.
    pub metadata: Object,
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
