//! The documents that MCP reads by URI (mcp-catalogue.md, Resources). Each rests on a reading operation, whose scope and
//! permission are its own.

use crate::Spec;
use crate::operations;

/// What every URI begins with.
pub const URI_BASE: &str = "kobana://inbox/";

/// Where the values for one variable of a template, or for one argument of a prompt, come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suggestions {
    /// The rows of a list.
    Rows(RowSource),
    /// One of these words.
    Words(&'static [&'static str]),
    /// Nobody can say.
    None,
}

/// A list whose rows are suggested. By which of their texts they are found is the list's own matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowSource {
    /// The `operationId` of the list.
    pub operation: &'static str,
    /// Filters to read it with, one reading for each; one reading without filters where it is empty.
    pub filters: &'static [(&'static str, &'static str)],
    /// Another argument, whose value fills the list's path variable: the path variable and the argument.
    pub parent: Option<(&'static str, &'static str)>,
}

impl RowSource {
    const fn of(operation: &'static str) -> Suggestions {
        Suggestions::Rows(Self { operation, filters: &[], parent: None })
    }
}

/// Suggestions of e-mails.
pub(crate) const EMAILS: Suggestions = RowSource::of("list-emails");
/// Suggestions of e-mails that went wrong.
pub(crate) const FAILED_EMAILS: Suggestions = Suggestions::Rows(RowSource {
    operation: "list-emails",
    filters: &[("status", "failed"), ("status", "rejected")],
    parent: None,
});
const WORKSPACES: Suggestions = RowSource::of("list-workspaces");
/// Suggestions of inboxes.
pub(crate) const INBOXES: Suggestions = RowSource::of("list-inboxes");
/// Suggestions of agents.
pub(crate) const AGENTS: Suggestions = RowSource::of("list-agents");
const AGENT_RUNS: Suggestions = RowSource::of("list-agent-runs");
/// Suggestions of webhooks.
pub(crate) const WEBHOOKS: Suggestions = RowSource::of("list-webhooks");
const DELIVERIES: Suggestions = Suggestions::Rows(RowSource {
    operation: "list-webhook-deliveries",
    filters: &[],
    parent: Some(("id", "webhook_id")),
});
const SYSTEM_EVENTS: Suggestions = RowSource::of("list-system-events");

/// A document at a fixed URI.
#[derive(Debug, Clone, Copy)]
pub struct Resource {
    /// The URI's path below [`URI_BASE`].
    pub path: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// The `operationId` of the operation behind it.
    pub operation: &'static str,
    /// Whether the operation is a list, which is read with as many rows as it gives.
    pub list: bool,
}

/// Every document at a fixed URI.
pub const RESOURCES: &[Resource] = &[
    Resource { path: "me", name: "me", title: "Signed-in person", operation: "get-me", list: false },
    Resource {
        path: "workspaces",
        name: "workspaces",
        title: "Workspaces and their usage",
        operation: "list-workspaces",
        list: true,
    },
    Resource { path: "inboxes", name: "inboxes", title: "Inboxes", operation: "list-inboxes", list: true },
    Resource { path: "agents", name: "agents", title: "Agents", operation: "list-agents", list: true },
    Resource { path: "webhooks", name: "webhooks", title: "Webhooks", operation: "list-webhooks", list: true },
];

/// A variable of a template.
#[derive(Debug, Clone, Copy)]
pub struct Variable {
    /// Its name in the template.
    pub name: &'static str,
    /// The operation's path variable that it fills.
    pub fills: &'static str,
    /// Where its values come from.
    pub suggestions: Suggestions,
}

/// A family of documents, one for each value of its variables.
#[derive(Debug, Clone, Copy)]
pub struct Template {
    /// The template's path below [`URI_BASE`], variables in braces.
    pub path: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// The `operationId` of the operation behind it.
    pub operation: &'static str,
    /// Its variables.
    pub variables: &'static [Variable],
}

/// A template with one variable, `{id}`, that fills the operation's own `{id}`.
macro_rules! by_id {
    ($path:literal, $name:literal, $title:literal, $operation:literal, $suggestions:expr) => {
        Template {
            path: $path,
            name: $name,
            title: $title,
            operation: $operation,
            variables: &[Variable { name: "id", fills: "id", suggestions: $suggestions }],
        }
    };
}

/// Every family of documents.
pub const TEMPLATES: &[Template] = &[
    by_id!("emails/{id}", "email", "E-mail", "get-email", EMAILS),
    by_id!("workspaces/{id}", "workspace", "Workspace", "get-workspace", WORKSPACES),
    by_id!("inboxes/{id}", "inbox", "Inbox", "get-inbox", INBOXES),
    by_id!("agents/{id}", "agent", "Agent", "get-agent", AGENTS),
    by_id!("agent-runs/{id}", "agent_run", "Agent run", "get-agent-run", AGENT_RUNS),
    by_id!("webhooks/{id}", "webhook", "Webhook", "get-webhook", WEBHOOKS),
    Template {
        path: "webhooks/{webhook_id}/deliveries/{id}",
        name: "webhook_delivery",
        title: "Webhook delivery",
        operation: "get-webhook-delivery",
        variables: &[
            Variable { name: "webhook_id", fills: "id", suggestions: WEBHOOKS },
            Variable { name: "id", fills: "delivery_id", suggestions: DELIVERIES },
        ],
    },
    by_id!("system-events/{id}", "system_event", "Event", "get-system-event", SYSTEM_EVENTS),
];

/// The facts of the operation with this `operationId`, if there is one.
#[must_use]
pub fn operation(id: &str) -> Option<Spec> {
    operations::all().into_iter().map(|operation| operation.spec).find(|spec| spec.id == id)
}
