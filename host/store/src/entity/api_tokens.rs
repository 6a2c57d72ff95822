//! Table `api_tokens`.

use sea_orm::entity::prelude::*;

/// A token for a script, without its secret.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "api_tokens")]
pub struct Model {
    /// UUID, which stands readable in the token.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// UUID of the person that it speaks for.
    pub person_id: Uuid,
    /// UUID of the one workspace that it is limited to; none where it reaches all of the person's.
    pub workspace_id: Option<Uuid>,
    /// What it is for, in its owner's words.
    pub label: String,
    /// The resource that it was issued for, `mcp` or `rest`.
    pub audience: String,
    /// Scopes, between spaces.
    pub scopes: String,
    /// SHA-256 of its secret.
    pub hash: Vec<u8>,
    /// When it was made.
    pub created_at: i64,
    /// When it ends; never if none.
    pub expires_at: Option<i64>,
    /// When it was revoked.
    pub revoked_at: Option<i64>,
    /// When it was last used, give or take an hour.
    pub used_at: Option<i64>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
