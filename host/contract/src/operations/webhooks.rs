//! Webhooks: addresses that receive events.

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::access::names;
use crate::fields::{ActiveStatus, ByIdOrExternalId, ExternalId, IdOrExternalId, nullable};
use crate::operations::deliveries::WebhookDelivery;
use crate::{
    Data, Described, Hints, Method, Nothing, Operation, Page, PageQuery, Permission, Scope, Spec, Timestamp,
    WorkspaceRule,
};

names! {
    /// How we present ourselves to the address; every kind but none needs its own auth fields (400 without them).
    WebhookAuth {
        /// Not at all.
        None = "none",
        /// With a user name and a password.
        Basic = "basic",
        /// With a bearer token.
        Bearer = "bearer",
        /// With a header of the caller's choosing.
        Header = "header",
    }
}

/// Signing secret and credentials are never part of it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Webhook {
    /// UUID.
    pub id: Uuid,
    /// The caller's own name for it.
    pub external_id: Option<String>,
    /// UUID of its workspace.
    pub workspace_id: Uuid,
    /// All inboxes when null.
    pub inbox_id: Option<Uuid>,
    /// Whether it gets events.
    pub status: ActiveStatus,
    /// Label.
    pub label: String,
    /// The address.
    #[schemars(url)]
    pub url: String,
    /// How we present ourselves to the address.
    pub auth: WebhookAuth,
    /// Event slugs wanted; with none, only webhook.test arrives.
    #[schemars(with = "SubscribedEvents")]
    pub subscribed_events: Vec<String>,
    /// Attempts to deliver that failed since one last succeeded; twenty turn it inactive.
    pub consecutive_failures: i64,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// How we present ourselves to a webhook's address: the members that create and upsert share.
#[derive(Clone, Default, Deserialize, JsonSchema)]
pub struct Credentials {
    /// How we present ourselves to the address; every kind but none needs its own auth fields (400 without them).
    #[serde(default)]
    #[schemars(with = "WebhookAuth", extend("x-mcp-hidden" = true))]
    pub auth: Option<WebhookAuth>,
    /// User name, with auth basic.
    #[serde(default)]
    #[schemars(with = "String", extend("x-mcp-hidden" = true, "writeOnly" = true))]
    pub auth_basic_user: Option<String>,
    /// Password, with auth basic.
    #[serde(default)]
    #[schemars(with = "String", extend("x-mcp-hidden" = true, "writeOnly" = true))]
    pub auth_basic_password: Option<String>,
    /// Token, with auth bearer.
    #[serde(default)]
    #[schemars(with = "String", extend("x-mcp-hidden" = true, "writeOnly" = true))]
    pub auth_bearer_token: Option<String>,
    /// Header name, with auth header.
    #[serde(default)]
    #[schemars(with = "String", extend("x-mcp-hidden" = true, "writeOnly" = true))]
    pub auth_header_key: Option<String>,
    /// Header value, with auth header.
    #[serde(default)]
    #[schemars(with = "String", extend("x-mcp-hidden" = true, "writeOnly" = true))]
    pub auth_header_value: Option<String>,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The rest is secret.
        f.debug_struct("Credentials").field("auth", &self.auth).finish_non_exhaustive()
    }
}

/// The shape of a list of slugs.
#[derive(JsonSchema)]
struct SubscribedEvents(#[expect(dead_code, reason = "a shape")] Vec<String>);

/// What registers a webhook.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(transform = anonymous_at_first)]
pub struct WebhookCreate {
    /// The caller's own name for it; the id if left out.
    #[serde(default)]
    #[schemars(with = "ExternalId")]
    pub external_id: Option<ExternalId>,
    /// Label.
    #[schemars(length(min = 1, max = 120))]
    pub label: String,
    /// One the deployment does not allow answers 422 url_not_allowed.
    #[schemars(url)]
    pub url: String,
    /// The inbox whose events are wanted, by UUID or external_id; null for all.
    #[serde(default)]
    pub inbox_id: Option<IdOrExternalId>,
    /// Event slugs wanted; with none, only webhook.test arrives.
    #[serde(default)]
    #[schemars(with = "SubscribedEvents")]
    pub subscribed_events: Option<Vec<String>>,
    /// How we present ourselves to the address.
    #[serde(flatten)]
    pub credentials: Credentials,
}

/// Says how we present ourselves where a new webhook leaves it open; an upsert then leaves it as it was.
fn anonymous_at_first(schema: &mut Schema) {
    if let Some(auth) = schema.pointer_mut("/properties/auth").and_then(Value::as_object_mut) {
        auth.insert("default".to_owned(), Value::from(WebhookAuth::None.as_str()));
    }
}

/// What changes a webhook; only the members sent change.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct WebhookUpdate {
    /// Label.
    #[serde(default)]
    #[schemars(with = "String", length(min = 1))]
    pub label: Option<String>,
    /// The members that an upsert takes too.
    #[serde(flatten)]
    pub wanted: Wanted,
}

/// What a webhook gets, and where: the members that update and upsert share.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct Wanted {
    /// One the deployment does not allow answers 422 url_not_allowed.
    #[serde(default)]
    #[schemars(with = "String", url)]
    pub url: Option<String>,
    /// The inbox whose events are wanted, by UUID or external_id; null for all.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<IdOrExternalId>")]
    pub inbox_id: Option<Option<IdOrExternalId>>,
    /// Event slugs wanted; with none, only webhook.test arrives.
    #[serde(default)]
    #[schemars(with = "SubscribedEvents")]
    pub subscribed_events: Option<Vec<String>>,
    /// Whether it gets events.
    #[serde(default)]
    #[schemars(with = "ActiveStatus")]
    pub status: Option<ActiveStatus>,
}

/// What registers a webhook, or changes the one with this external_id.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct WebhookUpsert {
    /// The caller's own name for it.
    pub external_id: ExternalId,
    /// Label.
    #[serde(default)]
    #[schemars(with = "String", length(min = 1, max = 120))]
    pub label: Option<String>,
    /// The members that an update takes too.
    #[serde(flatten)]
    pub wanted: Wanted,
    /// How we present ourselves to the address.
    #[serde(flatten)]
    pub credentials: Credentials,
}

/// A signing secret, shown this once.
#[derive(Clone, Serialize, JsonSchema)]
pub struct SigningSecret {
    /// The secret.
    #[schemars(extend("readOnly" = true))]
    pub signing_secret: String,
}

/// `GET /webhooks`
pub struct ListWebhooks;

impl Operation for ListWebhooks {
    const SPEC: Spec = Spec {
        id: "list-webhooks",
        method: Method::Get,
        path: "/webhooks",
        tag: "Webhooks",
        summary: "Lists the workspace's webhooks, newest first and never with their secrets.",
        description: None,
        scope: Some(Scope::Webhooks),
        permission: Some(Permission::WebhooksView),
        workspace: WorkspaceRule::One,
        tool: Ok("webhooks_list"),
        title: "List webhooks",
        hints: Hints::READ,
        success: &[200],
    };
    type Path = Nothing;
    type Query = PageQuery;
    type Body = Nothing;
    type Reply = Page<Webhook>;
}

/// `POST /webhooks`
pub struct CreateWebhook;

impl Operation for CreateWebhook {
    const SPEC: Spec = Spec {
        id: "create-webhook",
        method: Method::Post,
        path: "/webhooks",
        tag: "Webhooks",
        summary: "Registers an address that receives the events it subscribes to.",
        description: Some("The answer holds no secret: call regenerate-secret to learn the first one."),
        scope: Some(Scope::WebhooksWrite),
        permission: Some(Permission::WebhooksManage),
        workspace: WorkspaceRule::One,
        tool: Ok("webhooks_create"),
        title: "Create webhook",
        hints: Hints::CREATE,
        success: &[201],
    };
    type Path = Nothing;
    type Query = Nothing;
    type Body = WebhookCreate;
    type Reply = Data<Webhook>;
}

/// `PUT /webhooks`
pub struct UpsertWebhook;

impl Operation for UpsertWebhook {
    const SPEC: Spec = Spec {
        id: "upsert-webhook",
        method: Method::Put,
        path: "/webhooks",
        tag: "Webhooks",
        summary: "Creates the webhook with this external_id, or changes only the fields sent if it exists.",
        description: Some(
            "201 when no live webhook of the workspace had the external_id, else 200. Creating also needs `label` and \
             `url` (400 without them).",
        ),
        scope: Some(Scope::WebhooksWrite),
        permission: Some(Permission::WebhooksManage),
        workspace: WorkspaceRule::One,
        tool: Ok("webhooks_upsert"),
        title: "Create or update webhook",
        hints: Hints::UPDATE,
        success: &[200, 201],
    };
    type Path = Nothing;
    type Query = Nothing;
    type Body = WebhookUpsert;
    type Reply = Data<Webhook>;
}

/// `GET /webhooks/{id}`
pub struct GetWebhook;

impl Operation for GetWebhook {
    const SPEC: Spec = Spec {
        id: "get-webhook",
        method: Method::Get,
        path: "/webhooks/{id}",
        tag: "Webhooks",
        summary: "Reads one webhook, never with its secrets.",
        description: None,
        scope: Some(Scope::Webhooks),
        permission: Some(Permission::WebhooksView),
        workspace: WorkspaceRule::One,
        tool: Ok("webhooks_get"),
        title: "Get webhook",
        hints: Hints::READ,
        success: &[200],
    };
    type Path = ByIdOrExternalId;
    type Query = Nothing;
    type Body = Nothing;
    type Reply = Data<Webhook>;
}

/// `PATCH /webhooks/{id}`
pub struct UpdateWebhook;

impl Operation for UpdateWebhook {
    const SPEC: Spec = Spec {
        id: "update-webhook",
        method: Method::Patch,
        path: "/webhooks/{id}",
        tag: "Webhooks",
        summary: "Changes label, address, inbox, subscribed events or status of a webhook.",
        description: None,
        scope: Some(Scope::WebhooksWrite),
        permission: Some(Permission::WebhooksManage),
        workspace: WorkspaceRule::One,
        tool: Ok("webhooks_update"),
        title: "Update webhook",
        hints: Hints::UPDATE,
        success: &[200],
    };
    type Path = ByIdOrExternalId;
    type Query = Nothing;
    type Body = WebhookUpdate;
    type Reply = Data<Webhook>;
}

/// `DELETE /webhooks/{id}`
pub struct DeleteWebhook;

impl Operation for DeleteWebhook {
    const SPEC: Spec = Spec {
        id: "delete-webhook",
        method: Method::Delete,
        path: "/webhooks/{id}",
        tag: "Webhooks",
        summary: "Deletes a webhook, which receives nothing more.",
        description: None,
        scope: Some(Scope::WebhooksWrite),
        permission: Some(Permission::WebhooksManage),
        workspace: WorkspaceRule::One,
        tool: Ok("webhooks_delete"),
        title: "Delete webhook",
        hints: Hints::REMOVE,
        success: &[204],
    };
    type Path = ByIdOrExternalId;
    type Query = Nothing;
    type Body = Nothing;
    type Reply = Nothing;
}

/// `POST /webhooks/{id}/test`
pub struct SendTestEvent;

impl Operation for SendTestEvent {
    const SPEC: Spec = Spec {
        id: "send-a-webhook-test-event",
        method: Method::Post,
        path: "/webhooks/{id}/test",
        tag: "Webhooks",
        summary: "Sends a webhook.test event to the webhook's address.",
        description: Some(
            "Records the event and answers its delivery, still pending; a worker sends it, even where the webhook is \
             inactive.",
        ),
        scope: Some(Scope::WebhooksWrite),
        permission: Some(Permission::WebhooksSend),
        workspace: WorkspaceRule::One,
        tool: Ok("webhooks_test"),
        title: "Send a test event",
        hints: Hints::SEND,
        success: &[202],
    };
    type Path = ByIdOrExternalId;
    type Query = Nothing;
    type Body = Nothing;
    type Reply = Data<WebhookDelivery>;
}

/// `POST /webhooks/{id}/regenerate-secret`
pub struct RegenerateSecret;

impl Operation for RegenerateSecret {
    const SPEC: Spec = Spec {
        id: "regenerate-the-signing-secret",
        method: Method::Post,
        path: "/webhooks/{id}/regenerate-secret",
        tag: "Webhooks",
        summary: "Replaces the signing secret and shows the new one once.",
        description: Some(
            "The former secret is void at once. What the idempotency store keeps of this answer must be encrypted.",
        ),
        scope: Some(Scope::WebhooksWrite),
        permission: Some(Permission::WebhooksSecrets),
        workspace: WorkspaceRule::One,
        tool: Ok("webhooks_regenerate_secret"),
        title: "Regenerate signing secret",
        hints: Hints::SEND,
        success: &[200],
    };
    type Path = ByIdOrExternalId;
    type Query = Nothing;
    type Body = Nothing;
    type Reply = Data<SigningSecret>;
}

pub(super) fn all() -> Vec<Described> {
    vec![
        Described::of::<ListWebhooks>(),
        Described::of::<CreateWebhook>(),
        Described::of::<UpsertWebhook>(),
        Described::of::<GetWebhook>(),
        Described::of::<UpdateWebhook>(),
        Described::of::<DeleteWebhook>(),
        Described::of::<SendTestEvent>(),
        Described::of::<RegenerateSecret>(),
    ]
}
