//! Table `idempotency`.

use sea_orm::entity::prelude::*;

/// The answer kept for an idempotency key.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "idempotency")]
pub struct Model {
    /// Credential, workspace and key in one digest.
    #[sea_orm(primary_key, auto_increment = false)]
    pub slot: String,
    /// Digest of the request.
    pub request: Vec<u8>,
    /// HTTP status of the answer; null while it runs.
    pub status: Option<i64>,
    /// Body of the answer, sealed.
    pub answer: Option<Vec<u8>>,
    /// When it was first used.
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
