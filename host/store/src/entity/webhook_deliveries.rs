//! Table `webhook_deliveries`.

use kobana_contract::operations::deliveries::DeliveryStatus;
use sea_orm::entity::prelude::*;

use crate::values::{Object, Word};

/// An attempt to deliver an event to a webhook.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "webhook_deliveries")]
pub struct Model {
    /// UUID.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// UUID of the workspace.
    pub workspace_id: Uuid,
    /// UUID of the webhook.
    pub webhook_id: Uuid,
    /// UUID of the event.
    pub system_event_id: Uuid,
    /// The last one made, or the first one while it is pending; counts from one.
    pub attempt: i64,
    /// How far it has come.
    pub status: Word<DeliveryStatus>,
    /// Headers sent, credentials masked.
    pub request_headers: Object,
    /// What was sent.
    pub request_body: Object,
    /// HTTP status of the answer.
    pub response_status: Option<i64>,
    /// Headers of the answer.
    pub response_headers: Option<Object>,
    /// Body of the answer.
    pub response_body: Option<String>,
    /// Why there is no answer.
    pub error: Option<String>,
    /// Milliseconds.
    pub duration_ms: Option<i64>,
    /// When it was delivered.
    pub delivered_at: Option<i64>,
    /// When it is tried again.
    pub next_retry_at: Option<i64>,
    /// When it was made.
    pub created_at: i64,
    /// When it last changed.
    pub updated_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
