//! Table `oauth_codes`.

use sea_orm::entity::prelude::*;

/// An authorization code. A redeemed one stays, so that it is noticed when it comes again.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "oauth_codes")]
pub struct Model {
    /// SHA-256 of the code.
    #[sea_orm(primary_key, auto_increment = false)]
    pub hash: Vec<u8>,
    /// UUID of the grant.
    pub grant_id: Uuid,
    /// Where the code was sent.
    pub redirect_uri: String,
    /// The PKCE challenge, by S256.
    pub challenge: String,
    /// When it expires.
    pub expires_at: i64,
    /// When it was redeemed, or an attempt to do so failed.
    pub redeemed_at: Option<i64>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
