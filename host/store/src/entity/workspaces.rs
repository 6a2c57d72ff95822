//! Table `workspaces`.

use kobana_contract::operations::workspaces::WorkspaceSource;
use sea_orm::entity::prelude::*;

use crate::values::{Folded, Object, Word};

/// A workspace.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "workspaces")]
pub struct Model {
    /// UUID.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// UUID of the organization.
    pub organization_id: Uuid,
    /// The caller's own name, the id where none was chosen.
    pub external_id: String,
    /// The same, folded for completing.
    pub external_id_folded: Folded,
    /// The product that opened it.
    pub source: Word<WorkspaceSource>,
    /// Label.
    pub label: String,
    /// The same, folded for completing.
    pub label_folded: Folded,
    /// First part of generated inbox addresses.
    pub email_prefix: String,
    /// No limit when null.
    pub monthly_cost_limit: Option<f64>,
    /// No limit when null.
    pub monthly_emails_limit: Option<i64>,
    /// The caller's own data.
    pub custom_metadata: Object,
    /// Further data.
    pub metadata: Object,
    /// When it was made.
    pub created_at: i64,
    /// When it last changed.
    pub updated_at: i64,
    /// When it was deleted.
    pub deleted_at: Option<i64>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
