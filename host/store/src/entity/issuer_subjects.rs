//! Table `issuer_subjects`.

use sea_orm::entity::prelude::*;

/// Whom a foreign issuer means by a subject.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "issuer_subjects")]
pub struct Model {
    /// The issuer, exactly as it calls itself.
    #[sea_orm(primary_key, auto_increment = false)]
    pub issuer: String,
    /// Its name for the person.
    #[sea_orm(primary_key, auto_increment = false)]
    pub subject: String,
    /// UUID of the person.
    pub person_id: Uuid,
    /// When it was said.
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
