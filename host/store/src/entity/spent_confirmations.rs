//! Table `spent_confirmations`.

use sea_orm::entity::prelude::*;

/// A confirmation that was used.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "spent_confirmations")]
pub struct Model {
    /// The nonce that its state was sealed with.
    #[sea_orm(primary_key, auto_increment = false)]
    pub nonce: Vec<u8>,
    /// When its state expires, after which the row is of no use.
    pub expires_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
