//! Table `persons`.

use sea_orm::entity::prelude::*;

/// A person of an organization.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "persons")]
pub struct Model {
    /// UUID.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// UUID of the organization.
    pub organization_id: Uuid,
    /// Name.
    pub name: String,
    /// E-mail address.
    pub email: String,
    /// The address as it is compared: no two persons have the same.
    pub email_folded: String,
    /// The hash of the password in PHC form; none where nobody signs in with one.
    pub password_hash: Option<String>,
    /// Whether the account may be used.
    pub active: bool,
    /// When it was made.
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
