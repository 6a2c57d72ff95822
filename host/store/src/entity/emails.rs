//! Table `emails`.

use kobana_contract::operations::emails::EmailStatus;
use sea_orm::entity::prelude::*;

use crate::values::{Folded, Object, Texts, Word};

/// An e-mail without its body.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "emails")]
pub struct Model {
    /// UUID.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// UUID of the workspace.
    pub workspace_id: Uuid,
    /// UUID of the inbox that received it.
    pub inbox_id: Uuid,
    /// UUID of the agent that processes it.
    pub agent_id: Option<Uuid>,
    /// The Message-ID header, unique within the inbox.
    pub message_id: String,
    /// Opaque name of the stored original.
    pub raw_s3_key: String,
    /// The Subject header.
    pub subject: Option<String>,
    /// The same, folded for searching.
    pub subject_folded: Option<Folded>,
    /// The address of the From header.
    pub sender: String,
    /// The same, folded for comparing.
    pub sender_folded: Folded,
    /// Envelope recipients.
    pub recipients: Texts,
    /// Addresses of the Cc header.
    pub cc: Texts,
    /// Addresses of the Bcc header.
    pub bcc: Texts,
    /// Addresses of the To header.
    pub header_to: Texts,
    /// Whether it was forwarded to the inbox.
    pub forwarded: bool,
    /// First To address missing from the envelope.
    pub forwarded_for: Option<String>,
    /// How far it has come.
    pub status: Word<EmailStatus>,
    /// Why the inbox's rules refused it.
    pub rejection_reason: Option<String>,
    /// What the spam filter said.
    pub spam_verdict: Option<String>,
    /// What the virus scanner said.
    pub virus_verdict: Option<String>,
    /// What the receiving service noted.
    pub aws_ses_metadata: Object,
    /// The caller's own data.
    pub custom_metadata: Object,
    /// What the agent extracted.
    pub agent_metadata: Object,
    /// Further data.
    pub metadata: Object,
    /// The Date header.
    pub sent_at: Option<i64>,
    /// When its processing ended.
    pub processed_at: Option<i64>,
    /// When it arrived; lists go by it.
    pub received_at: i64,
    /// When it was made.
    pub created_at: i64,
    /// When it last changed.
    pub updated_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
