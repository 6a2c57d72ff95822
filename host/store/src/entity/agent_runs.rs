//! Table `agent_runs`.

use kobana_contract::operations::agent_runs::RunStatus;
use sea_orm::entity::prelude::*;

use crate::values::Word;

/// A run of an agent over an e-mail.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "agent_runs")]
pub struct Model {
    /// UUID.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// UUID of the workspace.
    pub workspace_id: Uuid,
    /// UUID of the inbox.
    pub inbox_id: Uuid,
    /// UUID of the agent.
    pub agent_id: Uuid,
    /// UUID of the e-mail.
    pub email_id: Uuid,
    /// The model it ran on.
    pub llm_model: String,
    /// How far it has come.
    pub status: Word<RunStatus>,
    /// Why it failed.
    pub error: Option<String>,
    /// Tokens read.
    pub input_tokens: i64,
    /// Tokens written.
    pub output_tokens: i64,
    /// Tokens read from a cache.
    pub cache_read: i64,
    /// Tokens written to a cache.
    pub cache_write: i64,
    /// Price of one token.
    pub cost_per_token: f64,
    /// Cost of the run.
    pub total_cost: f64,
    /// Milliseconds.
    pub duration_ms: Option<i64>,
    /// When it began.
    pub started_at: Option<i64>,
    /// When it ended.
    pub finished_at: Option<i64>,
    /// When it was made.
    pub created_at: i64,
    /// When it last changed.
    pub updated_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
