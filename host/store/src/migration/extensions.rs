//! Extensions of workspaces, their versions, and whether their names carry a prefix.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, big_integer_null, pk_uuid, string, text, uuid, uuid_null};

pub(super) struct Extensions;

impl MigrationName for Extensions {
    fn name(&self) -> &'static str {
        "m0008_extensions"
    }
}

// The trait's own signature leaves this lifetime out, and async_trait tells the two apart.
#[allow(elided_lifetimes_in_paths)]
#[async_trait::async_trait]
impl MigrationTrait for Extensions {
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

fn tables() -> [TableCreateStatement; 3] {
    [
        Table::create()
            .table("extensions")
            .col(pk_uuid("id"))
            .col(uuid("workspace_id"))
            .col(string("name"))
            // A version points to its extension: a constraint this way, too, would let neither be made first.
            .col(uuid_null("enabled_id"))
            .col(big_integer("created_at"))
            .col(big_integer("updated_at"))
            .foreign_key(&mut to("workspace_id", "workspaces"))
            .take(),
        Table::create()
            .table("extension_versions")
            .col(pk_uuid("id"))
            .col(uuid("workspace_id"))
            .col(uuid("extension_id"))
            .col(text("version"))
            .col(string("digest"))
            .col(big_integer("size"))
            .col(big_integer_null("turn"))
            .col(big_integer("created_at"))
            .col(uuid_null("created_by"))
            .foreign_key(&mut to("workspace_id", "workspaces"))
            .foreign_key(to("extension_id", "extensions").on_delete(ForeignKeyAction::Cascade))
            .take(),
        // Texts are large and lists never show them, so they have a table of their own.
        Table::create()
            .table("extension_texts")
            .col(pk_uuid("version_id"))
            .col(uuid("workspace_id"))
            .col(text("description"))
            .col(text("definitions"))
            .foreign_key(&mut to("workspace_id", "workspaces"))
            .foreign_key(to("version_id", "extension_versions").on_delete(ForeignKeyAction::Cascade))
            .take(),
    ]
}

fn to(column: &'static str, table: &'static str) -> ForeignKeyCreateStatement {
    ForeignKey::create().from_col(column).to(table, "id").take()
}

const STATEMENTS: [&str; 7] = [
    // No row of the API's workspaces shows it: it is a setting of extensions.
    "ALTER TABLE workspaces ADD COLUMN extension_prefix boolean NOT NULL DEFAULT TRUE",
    "CREATE UNIQUE INDEX extensions_by_name ON extensions (workspace_id, name)",
    "CREATE INDEX extensions_by_time ON extensions (workspace_id, created_at, id)",
    // Asked for again whenever anything was committed, and so no dearer where many are installed that nobody enabled.
    "CREATE INDEX extensions_enabled ON extensions (workspace_id, name) WHERE enabled_id IS NOT NULL",
    "CREATE UNIQUE INDEX extension_versions_by_version ON extension_versions (extension_id, version)",
    "CREATE UNIQUE INDEX extension_versions_by_digest ON extension_versions (extension_id, digest)",
    "CREATE INDEX extension_versions_by_component ON extension_versions (digest)",
];
