//! Organizations, whose workspaces are the tenants.

use sea_orm::{DbErr, EntityTrait};
use uuid::Uuid;

use crate::Store;
use crate::entity::organizations;

/// An organization.
pub use crate::entity::organizations::Model as OrganizationRow;

/// The organization with this UUID.
///
/// # Errors
/// What the database answers.
pub async fn find(store: &Store, organization_id: Uuid) -> Result<Option<OrganizationRow>, DbErr> {
    organizations::Entity::find_by_id(organization_id).one(store.reads()).await
}
