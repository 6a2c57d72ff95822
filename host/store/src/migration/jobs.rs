//! The queue of work that outlives the request and the process that asked for it, and what that work costs.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{
    big_integer, big_integer_null, json, pk_uuid, string, string_null, text_null, uuid_null,
};

pub(super) struct Jobs;

impl MigrationName for Jobs {
    fn name(&self) -> &'static str {
        "m0003_jobs"
    }
}

// The trait's own signature leaves this lifetime out, and async_trait tells the two apart.
#[allow(elided_lifetimes_in_paths)]
#[async_trait::async_trait]
impl MigrationTrait for Jobs {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let table = Table::create()
            .table("jobs")
            .col(pk_uuid("id"))
            .col(string("kind"))
            .col(uuid_null("subject"))
            .col(json("payload"))
            .col(big_integer("run_at"))
            .col(big_integer("attempts"))
            .col(uuid_null("owner"))
            .col(big_integer_null("leased_until"))
            .col(text_null("last_error"))
            .col(string_null("outcome"))
            .col(big_integer_null("finished_at"))
            .col(big_integer("created_at"))
            .take();
        manager.create_table(table).await?;
        for statement in INDEXES {
            manager.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}

/// Work that is done stays out of the way of work that is not; partial indexes are the same in SQLite and Postgres.
const INDEXES: [&str; 4] = [
    "CREATE INDEX jobs_due ON jobs (run_at, id) WHERE finished_at IS NULL",
    "CREATE INDEX jobs_by_subject ON jobs (subject) WHERE finished_at IS NULL",
    "CREATE INDEX jobs_finished ON jobs (finished_at) WHERE finished_at IS NOT NULL",
    // Asked before each run, where there is a limit; most runs cost nothing.
    "CREATE INDEX agent_runs_by_cost ON agent_runs (workspace_id, created_at, total_cost) WHERE total_cost > 0",
];
