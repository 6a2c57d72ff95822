//! Tokens for scripts, persons of a foreign issuer, and organizations and workspaces that can be switched off.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, big_integer_null, blob, pk_uuid, string, text, uuid, uuid_null};

pub(super) struct Tokens;

impl MigrationName for Tokens {
    fn name(&self) -> &'static str {
        "m0007_tokens"
    }
}

// The trait's own signature leaves this lifetime out, and async_trait tells the two apart.
#[allow(elided_lifetimes_in_paths)]
#[async_trait::async_trait]
impl MigrationTrait for Tokens {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in tables() {
            manager.create_table(table).await?;
        }
        for statement in STATEMENTS {
            manager.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}

fn tables() -> [TableCreateStatement; 2] {
    [
        // The secret comes here as its SHA-256 hash only: it is random, so no slower hash is needed.
        Table::create()
            .table("api_tokens")
            .col(pk_uuid("id"))
            .col(uuid("person_id"))
            .col(uuid_null("workspace_id"))
            .col(text("label"))
            .col(string("audience"))
            .col(text("scopes"))
            .col(blob("hash"))
            .col(big_integer("created_at"))
            .col(big_integer_null("expires_at"))
            .col(big_integer_null("revoked_at"))
            .col(big_integer_null("used_at"))
            .foreign_key(&mut to("person_id", "persons"))
            .foreign_key(&mut to("workspace_id", "workspaces"))
            .take(),
        Table::create()
            .table("issuer_subjects")
            .col(text("issuer"))
            .col(text("subject"))
            .col(uuid("person_id"))
            .col(big_integer("created_at"))
            .primary_key(Index::create().col("issuer").col("subject"))
            .foreign_key(&mut to("person_id", "persons"))
            .take(),
    ]
}

fn to(column: &'static str, table: &'static str) -> ForeignKeyCreateStatement {
    ForeignKey::create().from_col(column).to(table, "id").take()
}

const STATEMENTS: [&str; 3] = [
    "ALTER TABLE organizations ADD COLUMN active boolean NOT NULL DEFAULT TRUE",
    // No row of the API shows it, so the rows of workspaces do without; what is switched off is out of everybody's reach.
    "ALTER TABLE workspaces ADD COLUMN active boolean NOT NULL DEFAULT TRUE",
    "CREATE INDEX api_tokens_by_person ON api_tokens (person_id, created_at)",
];
