//! Table `oauth_clients`.

use sea_orm::entity::prelude::*;

use crate::values::Texts;

/// A client that registered itself.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "oauth_clients")]
pub struct Model {
    /// Its `client_id`.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    /// What it calls itself.
    pub name: Option<String>,
    /// Where it may have people sent back to.
    pub redirect_uris: Texts,
    /// Whether it asked for refresh tokens.
    pub refreshes: bool,
    /// When it registered.
    pub created_at: i64,
    /// When somebody last let it in.
    pub used_at: Option<i64>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
