//! Table `login_sessions`.

use sea_orm::entity::prelude::*;

/// A browser in which somebody has signed in.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "login_sessions")]
pub struct Model {
    /// SHA-256 of the cookie's value.
    #[sea_orm(primary_key, auto_increment = false)]
    pub hash: Vec<u8>,
    /// UUID of the person.
    pub person_id: Uuid,
    /// When they signed in.
    pub created_at: i64,
    /// When it ends.
    pub expires_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
