//! Table `jobs`.

use sea_orm::entity::prelude::*;

use crate::values::Object;

/// A piece of work.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "jobs")]
pub struct Model {
    /// UUID.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// Which handler does it.
    pub kind: String,
    /// UUID of the row that it is about, to find it by.
    pub subject: Option<Uuid>,
    /// What the handler needs to know.
    pub payload: Object,
    /// When it is due.
    pub run_at: i64,
    /// How often it was begun.
    pub attempts: i64,
    /// UUID of the worker that holds it.
    pub owner: Option<Uuid>,
    /// Until when the worker holds it.
    pub leased_until: Option<i64>,
    /// Why the last attempt failed.
    pub last_error: Option<String>,
    /// How it ended.
    pub outcome: Option<String>,
    /// When it ended.
    pub finished_at: Option<i64>,
    /// When it was made.
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
