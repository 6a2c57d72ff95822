//! Table `webhooks`.

use kobana_contract::fields::ActiveStatus;
use kobana_contract::operations::webhooks::WebhookAuth;
use sea_orm::entity::prelude::*;

use crate::values::{Folded, Texts, Word};

/// An address that receives events.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "webhooks")]
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
    /// All inboxes when null.
    pub inbox_id: Option<Uuid>,
    /// Whether it gets events.
    pub status: Word<ActiveStatus>,
    /// Label.
    pub label: String,
    /// The same, folded for completing.
    pub label_folded: Folded,
    /// The address.
    pub url: String,
    /// The same, folded for completing.
    pub url_folded: Folded,
    /// How we present ourselves to the address.
    pub auth: Word<WebhookAuth>,
    /// What that needs, sealed.
    pub credentials: Option<Vec<u8>>,
    /// What deliveries are signed with, sealed.
    pub signing_secret: Option<Vec<u8>>,
    /// Slugs of the events wanted.
    pub subscribed_events: Texts,
    /// Attempts to deliver that failed since one last succeeded.
    pub consecutive_failures: i64,
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
