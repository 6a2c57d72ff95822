//! What whoever runs the installation looks up across tenants: the command line, and the worker. Callers of the API never
//! get here.

use sea_orm::{ColumnTrait, Condition, ConnectionTrait, DbErr, EntityTrait, QueryFilter};
use uuid::Uuid;

use crate::entity::{inboxes, workspaces};
use crate::rows::{InboxRow, WorkspaceRow};
use crate::text::fold;

/// The live workspace with this UUID.
///
/// # Errors
/// What the database answers.
pub async fn workspace(connection: &impl ConnectionTrait, id: Uuid) -> Result<Option<WorkspaceRow>, DbErr> {
    workspaces::Entity::find_by_id(id).filter(workspaces::Column::DeletedAt.is_null()).one(connection).await
}

/// The live workspaces with this UUID or external_id; the names of several organizations may be the same.
///
/// # Errors
/// What the database answers.
pub async fn workspaces(connection: &impl ConnectionTrait, name: &str) -> Result<Vec<WorkspaceRow>, DbErr> {
    let mut wanted = Condition::any().add(workspaces::Column::ExternalId.eq(name));
    if let Ok(id) = Uuid::parse_str(name) {
        wanted = wanted.add(workspaces::Column::Id.eq(id));
    }
    workspaces::Entity::find().filter(workspaces::Column::DeletedAt.is_null()).filter(wanted).all(connection).await
}

/// The live inboxes with this UUID, external_id or address, of one workspace or of all.
///
/// # Errors
/// What the database answers.
pub async fn inboxes(
    connection: &impl ConnectionTrait,
    name: &str,
    workspace: Option<Uuid>,
) -> Result<Vec<InboxRow>, DbErr> {
    let mut wanted =
        Condition::any().add(inboxes::Column::ExternalId.eq(name)).add(inboxes::Column::Email.eq(fold(name)));
    if let Ok(id) = Uuid::parse_str(name) {
        wanted = wanted.add(inboxes::Column::Id.eq(id));
    }
    let mut found = inboxes::Entity::find().filter(inboxes::Column::DeletedAt.is_null()).filter(wanted);
    if let Some(workspace) = workspace {
        found = found.filter(inboxes::Column::WorkspaceId.eq(workspace));
    }
    found.all(connection).await
}
