//! Table `oauth_grants`.

use sea_orm::entity::prelude::*;

/// What a person granted to a client.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "oauth_grants")]
pub struct Model {
    /// UUID.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// UUID of the person.
    pub person_id: Uuid,
    /// The client.
    pub client_id: String,
    /// What the client called itself.
    pub client_name: String,
    /// UUID of the one workspace it is limited to.
    pub workspace_id: Option<Uuid>,
    /// The scopes, between spaces.
    pub scopes: String,
    /// URL of the resource.
    pub resource: String,
    /// Whether there are refresh tokens.
    pub refreshes: bool,
    /// When it was granted.
    pub created_at: i64,
    /// When tokens were last issued on it.
    pub used_at: i64,
    /// When it ends, whatever is done.
    pub expires_at: i64,
    /// When it was revoked.
    pub revoked_at: Option<i64>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
