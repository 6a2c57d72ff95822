//! What the embedded authorization server keeps: clients, grants, codes, refresh tokens, sessions of the login pages.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{
    big_integer, big_integer_null, blob, boolean, json, pk_uuid, string, text, text_null, uuid, uuid_null,
};

pub(super) struct Authorization;

impl MigrationName for Authorization {
    fn name(&self) -> &'static str {
        "m0006_authorization"
    }
}

// The trait's own signature leaves this lifetime out, and async_trait tells the two apart.
#[allow(elided_lifetimes_in_paths)]
#[async_trait::async_trait]
impl MigrationTrait for Authorization {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in tables() {
            manager.create_table(table).await?;
        }
        for statement in INDEXES {
            manager.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}

// Codes, tokens and session ids come here as SHA-256 hashes only: they are random, so no slower hash is needed.
fn tables() -> Vec<TableCreateStatement> {
    vec![
        Table::create()
            .table("oauth_clients")
            .col(string("id").primary_key())
            .col(text_null("name"))
            .col(json("redirect_uris"))
            .col(boolean("refreshes"))
            .col(big_integer("created_at"))
            .col(big_integer_null("used_at"))
            .take(),
        Table::create()
            .table("oauth_grants")
            .col(pk_uuid("id"))
            .col(uuid("person_id"))
            .col(text("client_id"))
            .col(text("client_name"))
            .col(uuid_null("workspace_id"))
            .col(text("scopes"))
            .col(text("resource"))
            .col(boolean("refreshes"))
            .col(big_integer("created_at"))
            .col(big_integer("used_at"))
            .col(big_integer("expires_at"))
            .col(big_integer_null("revoked_at"))
            .foreign_key(&mut to("person_id", "persons"))
            .foreign_key(&mut to("workspace_id", "workspaces"))
            .take(),
        Table::create()
            .table("oauth_codes")
            .col(blob("hash").primary_key())
            .col(uuid("grant_id"))
            .col(text("redirect_uri"))
            .col(text("challenge"))
            .col(big_integer("expires_at"))
            .col(big_integer_null("redeemed_at"))
            .foreign_key(to("grant_id", "oauth_grants").on_delete(ForeignKeyAction::Cascade))
            .take(),
        Table::create()
            .table("oauth_refresh_tokens")
            .col(blob("hash").primary_key())
            .col(uuid("grant_id"))
            .col(big_integer("created_at"))
            .col(big_integer("expires_at"))
            .col(big_integer_null("replaced_at"))
            .foreign_key(to("grant_id", "oauth_grants").on_delete(ForeignKeyAction::Cascade))
            .take(),
        Table::create()
            .table("login_sessions")
            .col(blob("hash").primary_key())
            .col(uuid("person_id"))
            .col(big_integer("created_at"))
            .col(big_integer("expires_at"))
            .foreign_key(&mut to("person_id", "persons"))
            .take(),
    ]
}

fn to(column: &'static str, table: &'static str) -> ForeignKeyCreateStatement {
    ForeignKey::create().from_col(column).to(table, "id").take()
}

const INDEXES: [&str; 7] = [
    "CREATE INDEX oauth_clients_unused ON oauth_clients (created_at) WHERE used_at IS NULL",
    "CREATE INDEX oauth_grants_by_person ON oauth_grants (person_id, client_id)",
    "CREATE INDEX oauth_grants_by_client ON oauth_grants (client_id, expires_at)",
    "CREATE INDEX oauth_grants_by_end ON oauth_grants (expires_at)",
    "CREATE INDEX oauth_codes_by_grant ON oauth_codes (grant_id)",
    "CREATE INDEX oauth_refresh_tokens_by_grant ON oauth_refresh_tokens (grant_id)",
    "CREATE INDEX login_sessions_by_end ON login_sessions (expires_at)",
];
