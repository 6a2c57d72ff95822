//! What completions are found by: texts in a form without letter case, and an index for each text that is matched.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::text_null;
use sea_orm_migration::sea_orm::ConnectionTrait;
use uuid::Uuid;

use crate::text::fold;

pub(super) struct Suggestions;

impl MigrationName for Suggestions {
    fn name(&self) -> &'static str {
        "m0004_suggestions"
    }
}

/// Tables with the texts that get a folded column beside them. The texts of e-mails have had theirs from the beginning.
const TEXTS: [(&str, &[(&str, &str)]); 4] = [
    ("workspaces", &[EXTERNAL_ID, LABEL]),
    ("agents", &[EXTERNAL_ID, LABEL]),
    ("inboxes", &[EXTERNAL_ID, LABEL]),
    ("webhooks", &[EXTERNAL_ID, LABEL, ("url", "url_folded")]),
];
const EXTERNAL_ID: (&str, &str) = ("external_id", "external_id_folded");
const LABEL: (&str, &str) = ("label", "label_folded");

// The trait's own signature leaves this lifetime out, and async_trait tells the two apart.
#[allow(elided_lifetimes_in_paths)]
#[async_trait::async_trait]
impl MigrationTrait for Suggestions {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for (table, texts) in TEXTS {
            for (text, folded) in texts {
                manager.alter_table(Table::alter().table(table).add_column(text_null(*folded)).take()).await?;
                fill(manager, table, text, folded).await?;
            }
        }
        for name in REPLACED {
            manager.drop_index(Index::drop().name(name).to_owned()).await?;
        }
        for index in INDEXES {
            manager.get_connection().execute_unprepared(&statement(index)).await?;
        }
        Ok(())
    }

    /// Half of it would stand in the way of the next attempt.
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}

/// Folds what is there. The database itself knows letter case of ASCII only.
async fn fill(manager: &SchemaManager<'_>, table: &'static str, text: &str, folded: &str) -> Result<(), DbErr> {
    let connection = manager.get_connection();
    let (text, folded) = (Alias::new(text), Alias::new(folded));
    let all = Query::select().columns([Alias::new("id"), text]).from(table).take();
    for row in connection.query_all(&all).await? {
        let (id, text): (Uuid, String) = (row.try_get_by_index(0)?, row.try_get_by_index(1)?);
        let update =
            Query::update().table(table).value(folded.clone(), fold(&text)).and_where(Expr::col("id").eq(id)).take();
        connection.execute(&update).await?;
    }
    Ok(())
}

/// The only rows that are offered, where rows are only marked as deleted.
const LIVE: &str = "deleted_at IS NULL";
/// E-mails that came to nothing are the only ones that are offered by their status.
const FAILED: &str = "status IN ('failed', 'rejected')";
/// Behind each text stands the order of the rows that share it: the newest first.
const NEWEST: &str = "created_at DESC, id DESC";
const NEWEST_MAIL: &str = "received_at DESC, id DESC";

/// For each text that is matched, and for the UUID, an index of the rows that can be offered: table, name, columns after the
/// workspace, order, condition.
const INDEXES: [(&str, &str, &str, &str, &str); 21] = [
    ("agents", "offered_by_id", "id", "", LIVE),
    ("agents", "offered_by_name", "external_id_folded", NEWEST, LIVE),
    ("agents", "offered_by_label", "label_folded", NEWEST, LIVE),
    ("inboxes", "offered_by_id", "id", "", LIVE),
    ("inboxes", "offered_by_name", "external_id_folded", NEWEST, LIVE),
    ("inboxes", "offered_by_label", "label_folded", NEWEST, LIVE),
    ("inboxes", "offered_by_email", "email", NEWEST, LIVE),
    ("webhooks", "offered_by_id", "id", "", LIVE),
    ("webhooks", "offered_by_name", "external_id_folded", NEWEST, LIVE),
    ("webhooks", "offered_by_label", "label_folded", NEWEST, LIVE),
    ("webhooks", "offered_by_url", "url_folded", NEWEST, LIVE),
    ("emails", "offered_by_id", "id", "", ""),
    ("emails", "offered_by_subject", "subject_folded", NEWEST_MAIL, ""),
    ("emails", "by_sender", "sender_folded", NEWEST_MAIL, ""),
    ("emails", "failed_by_id", "status, id", "", FAILED),
    ("emails", "failed_by_subject", "status, subject_folded", NEWEST_MAIL, FAILED),
    ("emails", "failed_by_sender", "status, sender_folded", NEWEST_MAIL, FAILED),
    ("agent_runs", "offered_by_id", "id", "", ""),
    ("webhook_deliveries", "offered_by_id", "webhook_id, id", "", ""),
    ("system_events", "offered_by_id", "id", "", ""),
    ("system_events", "by_slug", "slug", NEWEST, ""),
];
/// Made before, for lists only. In the new order they serve both.
const REPLACED: [&str; 2] = ["emails_by_sender", "system_events_by_slug"];

/// Partial indexes and orders of columns are written alike in SQLite and Postgres.
fn statement((table, name, columns, order, condition): (&str, &str, &str, &str, &str)) -> String {
    let comma = if order.is_empty() { "" } else { ", " };
    let condition = if condition.is_empty() { String::new() } else { format!(" WHERE {condition}") };
    format!("CREATE INDEX {table}_{name} ON {table} (workspace_id, {columns}{comma}{order}){condition}")
}

#[cfg(test)]
mod tests {
    use sea_orm_migration::MigratorTrait as _;
    use sea_orm_migration::sea_orm::{ConnectionTrait as _, Database, Statement};

    use crate::migration::Migrator;

    #[tokio::test]
    async fn what_was_written_before_is_found_by_its_folded_texts_too() {
        let connection = Database::connect("sqlite::memory:").await.unwrap();
        Migrator::up(&connection, Some(3)).await.unwrap();
        let rows = "
            INSERT INTO organizations VALUES (x'01', 'Ação', 1);
            INSERT INTO workspaces (id, created_at, updated_at, organization_id, external_id, source, label, email_prefix,
                custom_metadata, metadata) VALUES (x'00000000000070008000000000000001', 1, 1, x'01', 'ACME', 'api', 'São João', 'a', '{}', '{}');
            INSERT INTO webhooks (id, created_at, updated_at, workspace_id, external_id, status, label, url, auth,
                subscribed_events, consecutive_failures)
                VALUES (x'00000000000070008000000000000002', 1, 1, x'00000000000070008000000000000001', 'ERP', 'active', 'ÉRP', 'https://ERP.example/A',
                'none', '[]', 0);";
        connection.execute_unprepared("PRAGMA foreign_keys = OFF").await.unwrap();
        connection.execute_unprepared(rows).await.unwrap();
        Migrator::up(&connection, None).await.unwrap();
        for (table, texts) in
            [("workspaces", vec!["acme", "são joão"]), ("webhooks", vec!["erp", "érp", "https://erp.example/a"])]
        {
            let sql = format!("SELECT * FROM {table}");
            let query = Statement::from_string(connection.get_database_backend(), sql);
            let row = connection.query_one_raw(query).await.unwrap().unwrap();
            let columns = ["external_id_folded", "label_folded", "url_folded"];
            let found: Vec<String> =
                columns[..texts.len()].iter().map(|column| row.try_get("", column).unwrap()).collect();
            assert_eq!(found, texts, "{table}");
        }
    }
}
