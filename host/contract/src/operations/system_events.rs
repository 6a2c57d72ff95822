//! What happened in a workspace.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::fields::ById;
use crate::page::default_limit;
use crate::{
    Data, Described, Hints, Method, Nothing, Operation, Page, Permission, Scope, Spec, Timestamp, WorkspaceRule,
};

/// An event with its payload.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SystemEvent {
    /// UUID.
    pub id: Uuid,
    /// UUID of its workspace.
    pub workspace_id: Uuid,
    /// UUID of the inbox, if it is about one.
    pub inbox_id: Option<Uuid>,
    /// UUID of the e-mail, if it is about one.
    pub email_id: Option<Uuid>,
    /// The kind of event.
    pub slug: String,
    /// What happened.
    pub payload: Map<String, Value>,
    /// When it happened.
    pub created_at: Timestamp,
    /// When its row last changed.
    pub updated_at: Timestamp,
}

/// Which events are wanted. Filters add up.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct EventFilter {
    /// Rows per page.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 200), transform = crate::page::plain_integer)]
    pub limit: u32,
    /// Opaque value of meta.next_cursor, good only with the same filters.
    #[serde(default)]
    #[schemars(with = "String")]
    pub cursor: Option<String>,
    /// Only events of this kind.
    #[serde(default)]
    #[schemars(with = "String")]
    pub slug: Option<String>,
    /// Only rows of this e-mail.
    #[serde(default)]
    #[schemars(with = "String", extend("format" = "uuid"))]
    pub email_id: Option<String>,
}

/// `GET /system-events`
pub struct ListSystemEvents;

impl Operation for ListSystemEvents {
    const SPEC: Spec = Spec {
        id: "list-system-events",
        method: Method::Get,
        path: "/system-events",
        tag: "System events",
        summary: "Lists what happened in the workspace, newest first.",
        description: None,
        scope: Some(Scope::SystemEvents),
        permission: Some(Permission::SystemEventsView),
        workspace: WorkspaceRule::One,
        tool: Ok("system_events_list"),
        title: "List events",
        hints: Hints::READ,
        success: &[200],
    };
    type Path = Nothing;
    type Query = EventFilter;
    type Body = Nothing;
    type Reply = Page<SystemEvent>;
}

/// `GET /system-events/{id}`
pub struct GetSystemEvent;

impl Operation for GetSystemEvent {
    const SPEC: Spec = Spec {
        id: "get-system-event",
        method: Method::Get,
        path: "/system-events/{id}",
        tag: "System events",
        summary: "Reads one event with its payload.",
        description: None,
        scope: Some(Scope::SystemEvents),
        permission: Some(Permission::SystemEventsView),
        workspace: WorkspaceRule::One,
        tool: Ok("system_events_get"),
        title: "Get event",
        hints: Hints::READ,
        success: &[200],
    };
    type Path = ById;
    type Query = Nothing;
    type Body = Nothing;
    type Reply = Data<SystemEvent>;
}

pub(super) fn all() -> Vec<Described> {
    vec![Described::of::<ListSystemEvents>(), Described::of::<GetSystemEvent>()]
}
