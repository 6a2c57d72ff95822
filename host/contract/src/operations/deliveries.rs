//! Deliveries of events to webhooks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::access::names;
use crate::fields::ByIdOrExternalId;
use crate::{
    Data, Described, Hints, Method, Nothing, Operation, Page, PageQuery, Permission, Scope, Spec, Timestamp,
    WorkspaceRule,
};

names! {
    /// How far a delivery has come.
    #[schemars(inline)]
    DeliveryStatus {
        /// Waiting to be sent.
        Pending = "pending",
        /// Delivered.
        Success = "success",
        /// Not delivered.
        Failed = "failed",
    }
}

/// A delivery with what was sent and what came back.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct WebhookDelivery {
    /// UUID.
    pub id: Uuid,
    /// UUID of its webhook.
    pub webhook_id: Uuid,
    /// UUID of the event delivered.
    pub system_event_id: Uuid,
    /// The attempt that the rest tells of, or the one to come while it is pending. Counts from one.
    pub attempt: i64,
    /// How far it has come; a failed one is tried again as long as it has a `next_retry_at`.
    pub status: DeliveryStatus,
    /// Credentials and signatures masked.
    pub request_headers: Map<String, Value>,
    /// The payload, as the contract's WebhookPayload.
    pub request_body: Map<String, Value>,
    /// HTTP status of the answer.
    pub response_status: Option<i64>,
    /// Headers of the answer.
    pub response_headers: Option<Map<String, Value>>,
    /// Body of the answer.
    pub response_body: Option<String>,
    /// Why there is no answer.
    pub error: Option<String>,
    /// Milliseconds.
    pub duration_ms: Option<i64>,
    /// When it was delivered.
    pub delivered_at: Option<Timestamp>,
    /// When it is tried again.
    pub next_retry_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// The path variables of a delivery. A text that is no UUID names no delivery (404, never 400).
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct ByDelivery {
    /// UUID or external_id.
    #[schemars(length(min = 1, max = 128))]
    pub id: String,
    /// UUID of a delivery of this webhook.
    #[schemars(extend("format" = "uuid"))]
    pub delivery_id: String,
}

/// `GET /webhooks/{id}/deliveries`
pub struct ListDeliveries;

impl Operation for ListDeliveries {
    const SPEC: Spec = Spec {
        id: "list-webhook-deliveries",
        method: Method::Get,
        path: "/webhooks/{id}/deliveries",
        tag: "Webhook deliveries",
        summary: "Lists the deliveries attempted for one webhook, newest first.",
        description: None,
        scope: Some(Scope::Webhooks),
        permission: Some(Permission::WebhooksView),
        workspace: WorkspaceRule::One,
        tool: Ok("webhook_deliveries_list"),
        title: "List deliveries",
        hints: Hints::READ,
        success: &[200],
    };
    type Path = ByIdOrExternalId;
    type Query = PageQuery;
    type Body = Nothing;
    type Reply = Page<WebhookDelivery>;
}

/// `GET /webhooks/{id}/deliveries/{delivery_id}`
pub struct GetDelivery;

impl Operation for GetDelivery {
    const SPEC: Spec = Spec {
        id: "get-webhook-delivery",
        method: Method::Get,
        path: "/webhooks/{id}/deliveries/{delivery_id}",
        tag: "Webhook deliveries",
        summary: "Reads one delivery with what was sent and what came back.",
        description: None,
        scope: Some(Scope::Webhooks),
        permission: Some(Permission::WebhooksView),
        workspace: WorkspaceRule::One,
        tool: Ok("webhook_deliveries_get"),
        title: "Get delivery",
        hints: Hints::READ,
        success: &[200],
    };
    type Path = ByDelivery;
    type Query = Nothing;
    type Body = Nothing;
    type Reply = Data<WebhookDelivery>;
}

/// `POST /webhooks/{id}/deliveries/{delivery_id}/replay`
pub struct ReplayDelivery;

impl Operation for ReplayDelivery {
    const SPEC: Spec = Spec {
        id: "replay-a-webhook-delivery",
        method: Method::Post,
        path: "/webhooks/{id}/deliveries/{delivery_id}/replay",
        tag: "Webhook deliveries",
        summary: "Sends the event of an earlier delivery to the webhook again.",
        description: Some(
            "Answers the new delivery, still pending, for the same system event; it uses the webhook's settings of \
             today.",
        ),
        scope: Some(Scope::WebhooksWrite),
        permission: Some(Permission::WebhooksSend),
        workspace: WorkspaceRule::One,
        tool: Ok("webhook_deliveries_replay"),
        title: "Replay delivery",
        hints: Hints::SEND,
        success: &[202],
    };
    type Path = ByDelivery;
    type Query = Nothing;
    type Body = Nothing;
    type Reply = Data<WebhookDelivery>;
}

pub(super) fn all() -> Vec<Described> {
    vec![Described::of::<ListDeliveries>(), Described::of::<GetDelivery>(), Described::of::<ReplayDelivery>()]
}
