//! The tables of tenants: for each a marker to ask [`crate::Scope`] with, its rows, its columns and its changes.

use crate::entity;
use crate::page::Position;
use crate::scope::{InOrganization, InWorkspace, Listed, Named, Row, SoftDelete, Table};
use crate::suggest::Suggested;

/// Declares a table of tenants.
macro_rules! table {
    (
        $(#[$meta:meta])* $marker:ident, $row:ident, $column:ident, $changes:ident = $module:ident
        of $owner:ident by $owner_column:ident, id $id:ident $(, time $time:ident $time_field:ident)?
        $(, deleted $deleted:ident $deleted_field:ident)? $(, named $name:ident)?
        $(, folded $($text:ident as $folded:ident)+)?
    ) => {
        pub use entity::$module::{ActiveModel as $changes, Column as $column, Model as $row};

        $(#[$meta])*
        #[derive(Debug, Clone, Copy)]
        pub struct $marker;

        impl Table for $marker {
            type Owner = $owner;
            type Entity = entity::$module::Entity;
            type Changes = $changes;
            type Column = $column;

            const ID: $column = $column::$id;
            const OWNER: $column = $column::$owner_column;
            const DELETED: Option<$column> = table!(@deleted $column $($deleted)?);
            const FOLDED: &'static [($column, $column)] = &[$($(($column::$text, $column::$folded)),+)?];
        }

        $(impl Listed for $marker {
            const TIME: $column = $column::$time;

            fn position(row: &Row<Self>) -> Position {
                Position { time: row.$time_field, id: row.id }
            }
        })?

        $(impl SoftDelete for $marker {
            const UPDATED: $column = $column::UpdatedAt;

            fn deletion(at: i64) -> $changes {
                $changes { $deleted_field: sea_orm::Set(Some(at)), updated_at: sea_orm::Set(at), ..Default::default() }
            }
        })?

        $(impl Named for $marker {
            const EXTERNAL_ID: $column = $column::$name;
        })?
    };
    (@deleted $column:ident) => { None };
    (@deleted $column:ident $deleted:ident) => { Some($column::$deleted) };
}

table! {
    /// Workspaces of an organization.
    Workspaces, WorkspaceRow, WorkspaceColumn, WorkspaceChanges = workspaces
    of InOrganization by OrganizationId, id Id, time CreatedAt created_at, deleted DeletedAt deleted_at,
    named ExternalId, folded ExternalId as ExternalIdFolded Label as LabelFolded
}

table! {
    /// Agents, which process e-mails.
    Agents, AgentRow, AgentColumn, AgentChanges = agents
    of InWorkspace by WorkspaceId, id Id, time CreatedAt created_at, deleted DeletedAt deleted_at, named ExternalId,
    folded ExternalId as ExternalIdFolded Label as LabelFolded
}

table! {
    /// Inboxes, which are receiving addresses.
    Inboxes, InboxRow, InboxColumn, InboxChanges = inboxes
    of InWorkspace by WorkspaceId, id Id, time CreatedAt created_at, deleted DeletedAt deleted_at, named ExternalId,
    folded ExternalId as ExternalIdFolded Label as LabelFolded
}

table! {
    /// E-mails without their bodies.
    Emails, EmailRow, EmailColumn, EmailChanges = emails
    of InWorkspace by WorkspaceId, id Id, time ReceivedAt received_at,
    folded Subject as SubjectFolded Sender as SenderFolded
}

table! {
    /// What e-mails say.
    EmailBodies, EmailBodyRow, EmailBodyColumn, EmailBodyChanges = email_bodies
    of InWorkspace by WorkspaceId, id EmailId
}

table! {
    /// Runs of agents over e-mails.
    AgentRuns, AgentRunRow, AgentRunColumn, AgentRunChanges = agent_runs
    of InWorkspace by WorkspaceId, id Id, time CreatedAt created_at
}

table! {
    /// What happened.
    SystemEvents, SystemEventRow, SystemEventColumn, SystemEventChanges = system_events
    of InWorkspace by WorkspaceId, id Id, time CreatedAt created_at
}

table! {
    /// Webhooks, which are addresses that receive events.
    Webhooks, WebhookRow, WebhookColumn, WebhookChanges = webhooks
    of InWorkspace by WorkspaceId, id Id, time CreatedAt created_at, deleted DeletedAt deleted_at, named ExternalId,
    folded ExternalId as ExternalIdFolded Label as LabelFolded Url as UrlFolded
}

table! {
    /// Attempts to deliver events to webhooks.
    Deliveries, DeliveryRow, DeliveryColumn, DeliveryChanges = webhook_deliveries
    of InWorkspace by WorkspaceId, id Id, time CreatedAt created_at
}

table! {
    /// Extensions, whatever their version.
    Extensions, ExtensionRow, ExtensionColumn, ExtensionChanges = extensions
    of InWorkspace by WorkspaceId, id Id, time CreatedAt created_at
}

table! {
    /// Versions of extensions.
    ExtensionVersions, ExtensionVersionRow, ExtensionVersionColumn, ExtensionVersionChanges = extension_versions
    of InWorkspace by WorkspaceId, id Id
}

table! {
    /// What versions of extensions say of themselves.
    ExtensionTexts, ExtensionTextRow, ExtensionTextColumn, ExtensionTextChanges = extension_texts
    of InWorkspace by WorkspaceId, id VersionId
}

/// Declares what rows are offered as, and by which texts they are found.
macro_rules! suggested {
    ($marker:ident by $column:ident: $($text:ident)*, as $name:expr) => {
        impl Suggested for $marker {
            const NAME: Option<$column> = $name;
            const TEXTS: &'static [$column] = &[$($column::$text),*];
        }
    };
}

suggested!(Workspaces by WorkspaceColumn: ExternalIdFolded LabelFolded, as Some(WorkspaceColumn::ExternalId));
suggested!(Agents by AgentColumn: ExternalIdFolded LabelFolded, as Some(AgentColumn::ExternalId));
// Addresses of inboxes and slugs of events are in lower case as they are.
suggested!(Inboxes by InboxColumn: ExternalIdFolded LabelFolded Email, as Some(InboxColumn::ExternalId));
suggested!(Webhooks by WebhookColumn: ExternalIdFolded LabelFolded UrlFolded, as Some(WebhookColumn::ExternalId));
suggested!(Emails by EmailColumn: SubjectFolded SenderFolded, as None);
suggested!(AgentRuns by AgentRunColumn: , as None);
suggested!(SystemEvents by SystemEventColumn: Slug, as None);
suggested!(Deliveries by DeliveryColumn: , as None);
