//! Table `oauth_refresh_tokens`.

use sea_orm::entity::prelude::*;

/// A refresh token. A replaced one stays, so that it is noticed when it comes again.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "oauth_refresh_tokens")]
pub struct Model {
    /// SHA-256 of the token.
    #[sea_orm(primary_key, auto_increment = false)]
    pub hash: Vec<u8>,
    /// UUID of the grant; the tokens of one grant are a family.
    pub grant_id: Uuid,
    /// When it was issued.
    pub created_at: i64,
    /// When it expires.
    pub expires_at: i64,
    /// When its successor was issued.
    pub replaced_at: Option<i64>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
