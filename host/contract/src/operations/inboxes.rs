//! Inboxes: receiving addresses.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::fields::{ActiveStatus, ByIdOrExternalId, ExternalId, IdOrExternalId, nullable};
use crate::{
    Data, Described, Hints, Method, Nothing, Operation, Page, PageQuery, Permission, Scope, Spec, Timestamp,
    WorkspaceRule,
};

/// An inbox with its filters, attachment limits and allowed addresses.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Inbox {
    /// UUID.
    pub id: Uuid,
    /// The caller's own name for it.
    pub external_id: Option<String>,
    /// UUID of its workspace.
    pub workspace_id: Uuid,
    /// UUID of the agent that processes its e-mails.
    pub agent_id: Option<Uuid>,
    /// Label.
    pub label: String,
    /// Its address.
    #[schemars(email)]
    pub email: String,
    /// Whether it takes mail in.
    pub status: ActiveStatus,
    /// Addresses that may send to the inbox, whatever the name suggests; empty lets anyone send.
    #[schemars(with = "AllowedRecipientList")]
    pub allowed_recipients: Vec<String>,
    /// Free-form rules on what the inbox takes in; they narrow what the allowed addresses let through and never widen it.
    #[schemars(with = "Filters")]
    pub filters: Vec<Map<String, Value>>,
    /// Whether attachments are taken.
    pub attachments_allow: bool,
    /// Files per message.
    pub attachments_max_file_number: i64,
    /// Bytes.
    pub attachments_max_file_size: i64,
    /// Bytes.
    pub attachments_max_total_size: i64,
    /// The caller's own data.
    pub custom_metadata: Map<String, Value>,
    /// Further data.
    pub metadata: Map<String, Value>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// The shape of a list of addresses.
#[derive(JsonSchema)]
struct AllowedRecipientList(
    #[schemars(inner(email))]
    #[expect(dead_code, reason = "a shape")]
    Vec<String>,
);

/// The shape of a list of rules.
#[derive(JsonSchema)]
struct Filters(#[expect(dead_code, reason = "a shape")] Vec<Map<String, Value>>);

/// What creates an inbox.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct InboxCreate {
    /// The caller's own name for it; the id if left out.
    #[serde(default)]
    #[schemars(with = "ExternalId")]
    pub external_id: Option<ExternalId>,
    /// Label.
    #[schemars(length(min = 1, max = 120))]
    pub label: String,
    /// On the configured inbox domain (422 otherwise) and not yet taken (409 otherwise).
    #[serde(default)]
    #[schemars(with = "String", email)]
    pub email: Option<String>,
    /// The agent that processes its e-mails, by UUID or external_id.
    #[serde(default)]
    pub agent_id: Option<IdOrExternalId>,
    /// The members that create and update share.
    #[serde(flatten)]
    pub limits: Limits,
}

/// What an inbox takes in: the members that create, update and upsert share.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct Limits {
    /// Addresses that may send to the inbox, whatever the name suggests; empty lets anyone send.
    #[serde(default)]
    #[schemars(with = "AllowedRecipientList", extend("x-mcp-hidden" = true, "x-permission" = "inboxes.recipients"))]
    pub allowed_recipients: Option<Vec<String>>,
    /// Free-form rules on what the inbox takes in; they narrow what the allowed addresses let through and never widen it.
    #[serde(default)]
    #[schemars(with = "Filters")]
    pub filters: Option<Vec<Map<String, Value>>>,
    /// Whether attachments are taken.
    #[serde(default)]
    #[schemars(with = "bool")]
    pub attachments_allow: Option<bool>,
    /// Files per message.
    #[serde(default)]
    #[schemars(with = "i64", extend("exclusiveMinimum" = 0), transform = crate::page::plain_integer)]
    pub attachments_max_file_number: Option<i64>,
    /// Bytes.
    #[serde(default)]
    #[schemars(with = "i64", extend("exclusiveMinimum" = 0), transform = crate::page::plain_integer)]
    pub attachments_max_file_size: Option<i64>,
    /// Bytes.
    #[serde(default)]
    #[schemars(with = "i64", extend("exclusiveMinimum" = 0), transform = crate::page::plain_integer)]
    pub attachments_max_total_size: Option<i64>,
}

/// What changes an inbox; only the members sent change.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct InboxUpdate {
    /// Label.
    #[serde(default)]
    #[schemars(with = "String", length(min = 1, max = 120))]
    pub label: Option<String>,
    /// The agent that processes its e-mails, by UUID or external_id; null for none.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<IdOrExternalId>")]
    pub agent_id: Option<Option<IdOrExternalId>>,
    /// Whether it takes mail in.
    #[serde(default)]
    #[schemars(with = "ActiveStatus")]
    pub status: Option<ActiveStatus>,
    /// The members that create and update share.
    #[serde(flatten)]
    pub limits: Limits,
}

/// What creates an inbox, or changes the one with this external_id.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct InboxUpsert {
    /// The caller's own name for it.
    pub external_id: ExternalId,
    /// On the configured inbox domain (422 otherwise) and not yet taken (409 otherwise); cannot be changed later.
    #[serde(default)]
    #[schemars(with = "String", email)]
    pub email: Option<String>,
    /// The members that an update takes too.
    #[serde(flatten)]
    pub update: InboxUpdate,
}

/// Who may send to an inbox.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AllowedRecipients {
    /// Addresses that may send to the inbox, whatever the name suggests; empty lets anyone send.
    #[schemars(with = "AllowedRecipientList")]
    pub allowed_recipients: Vec<String>,
}

/// One address.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct Recipient {
    /// The address.
    #[schemars(email)]
    pub email: String,
}

/// One address, where the body does not carry it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct RecipientQuery {
    /// The address, where the body does not carry it.
    #[serde(default)]
    #[schemars(with = "String", email)]
    pub email: Option<String>,
}

/// `GET /inboxes`
pub struct ListInboxes;

impl Operation for ListInboxes {
    const SPEC: Spec = Spec {
        id: "list-inboxes",
        method: Method::Get,
        path: "/inboxes",
        tag: "Inboxes",
        summary: "Lists the receiving addresses of the workspace, newest first.",
        description: None,
        scope: Some(Scope::Inboxes),
        permission: Some(Permission::InboxesView),
        workspace: WorkspaceRule::One,
        tool: Ok("inboxes_list"),
        title: "List inboxes",
        hints: Hints::READ,
        success: &[200],
    };
    type Path = Nothing;
    type Query = PageQuery;
    type Body = Nothing;
    type Reply = Page<Inbox>;
}

/// `POST /inboxes`
pub struct CreateInbox;

impl Operation for CreateInbox {
    const SPEC: Spec = Spec {
        id: "create-inbox",
        method: Method::Post,
        path: "/inboxes",
        tag: "Inboxes",
        summary: "Creates a receiving address, open to anyone until an address is allowed for it.",
        description: Some("The address is made from the workspace's email_prefix unless `email` is given."),
        scope: Some(Scope::InboxesWrite),
        permission: Some(Permission::InboxesManage),
        workspace: WorkspaceRule::One,
        tool: Ok("inboxes_create"),
        title: "Create inbox",
        hints: Hints::CREATE,
        success: &[201],
    };
    type Path = Nothing;
    type Query = Nothing;
    type Body = InboxCreate;
    type Reply = Data<Inbox>;
}

/// `PUT /inboxes`
pub struct UpsertInbox;

impl Operation for UpsertInbox {
    const SPEC: Spec = Spec {
        id: "upsert-inbox",
        method: Method::Put,
        path: "/inboxes",
        tag: "Inboxes",
        summary: "Creates the inbox with this external_id, or changes only the fields sent if it exists.",
        description: Some(
            "201 when no live inbox of the workspace had the external_id, else 200. Creating also needs `label` \
             (400 without it). An existing inbox keeps its address: another `email` answers 409 with field email.",
        ),
        scope: Some(Scope::InboxesWrite),
        permission: Some(Permission::InboxesManage),
        workspace: WorkspaceRule::One,
        tool: Ok("inboxes_upsert"),
        title: "Create or update inbox",
        hints: Hints::UPDATE,
        success: &[200, 201],
    };
    type Path = Nothing;
    type Query = Nothing;
    type Body = InboxUpsert;
    type Reply = Data<Inbox>;
}

/// `GET /inboxes/{id}`
pub struct GetInbox;

impl Operation for GetInbox {
    const SPEC: Spec = Spec {
        id: "get-inbox",
        method: Method::Get,
        path: "/inboxes/{id}",
        tag: "Inboxes",
        summary: "Reads one inbox with its filters, attachment limits and allowed addresses.",
        description: None,
        scope: Some(Scope::Inboxes),
        permission: Some(Permission::InboxesView),
        workspace: WorkspaceRule::One,
        tool: Ok("inboxes_get"),
        title: "Get inbox",
        hints: Hints::READ,
        success: &[200],
    };
    type Path = ByIdOrExternalId;
    type Query = Nothing;
    type Body = Nothing;
    type Reply = Data<Inbox>;
}

/// `PATCH /inboxes/{id}`
pub struct UpdateInbox;

impl Operation for UpdateInbox {
    const SPEC: Spec = Spec {
        id: "update-inbox",
        method: Method::Patch,
        path: "/inboxes/{id}",
        tag: "Inboxes",
        summary: "Changes label, agent, status, filters or attachment limits of an inbox.",
        description: Some("Over REST it can also replace the whole list of allowed addresses."),
        scope: Some(Scope::InboxesWrite),
        permission: Some(Permission::InboxesManage),
        workspace: WorkspaceRule::One,
        tool: Ok("inboxes_update"),
        title: "Update inbox",
        hints: Hints::UPDATE,
        success: &[200],
    };
    type Path = ByIdOrExternalId;
    type Query = Nothing;
    type Body = InboxUpdate;
    type Reply = Data<Inbox>;
}

/// `DELETE /inboxes/{id}`
pub struct DeleteInbox;

impl Operation for DeleteInbox {
    const SPEC: Spec = Spec {
        id: "delete-inbox",
        method: Method::Delete,
        path: "/inboxes/{id}",
        tag: "Inboxes",
        summary: "Deletes an inbox, whose address stops receiving mail.",
        description: None,
        scope: Some(Scope::InboxesWrite),
        permission: Some(Permission::InboxesManage),
        workspace: WorkspaceRule::One,
        tool: Ok("inboxes_delete"),
        title: "Delete inbox",
        hints: Hints::REMOVE,
        success: &[204],
    };
    type Path = ByIdOrExternalId;
    type Query = Nothing;
    type Body = Nothing;
    type Reply = Nothing;
}

/// `POST /inboxes/{id}/recipients`
pub struct AddAllowedRecipient;

impl Operation for AddAllowedRecipient {
    const SPEC: Spec = Spec {
        id: "add-allowed-recipient",
        method: Method::Post,
        path: "/inboxes/{id}/recipients",
        tag: "Inboxes",
        summary: "Adds one address to the list of those that may send to the inbox.",
        description: Some(
            "201 when the address is new, 200 when it was listed before; both carry the list as it now stands. Case \
             does not count. The first entry closes an inbox that was open to anyone.",
        ),
        scope: Some(Scope::InboxesWrite),
        permission: Some(Permission::InboxesRecipients),
        workspace: WorkspaceRule::One,
        tool: Ok("inboxes_recipients_add"),
        title: "Allow an address",
        hints: Hints::REMOVE,
        success: &[200, 201],
    };
    type Path = ByIdOrExternalId;
    type Query = Nothing;
    type Body = Recipient;
    type Reply = Data<AllowedRecipients>;
}

/// `DELETE /inboxes/{id}/recipients`
pub struct RemoveAllowedRecipient;

impl Operation for RemoveAllowedRecipient {
    const SPEC: Spec = Spec {
        id: "remove-allowed-recipient",
        method: Method::Delete,
        path: "/inboxes/{id}/recipients",
        tag: "Inboxes",
        summary: "Takes one address off the list of those that may send to the inbox.",
        description: Some(
            "The address comes in the body or in the query; neither, or two that differ, answer 400. An address that \
             was not listed answers 200 too. Taking off the last one opens the inbox to anyone. The tool takes `email` \
             as a required argument.",
        ),
        scope: Some(Scope::InboxesWrite),
        permission: Some(Permission::InboxesRecipients),
        workspace: WorkspaceRule::One,
        tool: Ok("inboxes_recipients_remove"),
        title: "Stop allowing an address",
        hints: Hints::REMOVE,
        success: &[200],
    };
    type Path = ByIdOrExternalId;
    type Query = RecipientQuery;
    type Body = Option<Recipient>;
    type Reply = Data<AllowedRecipients>;
}

pub(super) fn all() -> Vec<Described> {
    vec![
        Described::of::<ListInboxes>(),
        Described::of::<CreateInbox>(),
        Described::of::<UpsertInbox>(),
        Described::of::<GetInbox>(),
        Described::of::<UpdateInbox>(),
        Described::of::<DeleteInbox>(),
        Described::of::<AddAllowedRecipient>(),
        Described::of::<RemoveAllowedRecipient>(),
    ]
}
