//! All tables of the first version.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{
    big_integer, big_integer_null, blob, blob_null, boolean, double, double_null, json, json_null, pk_uuid, string,
    text, text_null, uuid, uuid_null,
};

pub(super) struct Initial;

impl MigrationName for Initial {
    fn name(&self) -> &'static str {
        "m0001_initial"
    }
}

// The trait's own signature leaves this lifetime out, and async_trait tells the two apart.
#[allow(elided_lifetimes_in_paths)]
#[async_trait::async_trait]
impl MigrationTrait for Initial {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in tables() {
            manager.create_table(table).await?;
        }
        for index in indexes() {
            manager.create_index(index).await?;
        }
        for statement in LIVE_NAMES {
            manager.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}

fn tables() -> Vec<TableCreateStatement> {
    [identity(), inbox(), processing(), webhooks(), bookkeeping()].concat()
}

fn identity() -> Vec<TableCreateStatement> {
    vec![
        table("organizations").col(text("name")).col(big_integer("created_at")).take(),
        table("persons")
            .col(uuid("organization_id"))
            .col(text("name"))
            .col(text("email"))
            .col(boolean("active"))
            .col(big_integer("created_at"))
            .foreign_key(&mut to("organization_id", "organizations"))
            .take(),
        stamped("workspaces")
            .col(uuid("organization_id"))
            .col(string("external_id"))
            .col(string("source"))
            .col(text("label"))
            .col(string("email_prefix"))
            .col(double_null("monthly_cost_limit"))
            .col(big_integer_null("monthly_emails_limit"))
            .col(json("custom_metadata"))
            .col(json("metadata"))
            .col(big_integer_null("deleted_at"))
            .foreign_key(&mut to("organization_id", "organizations"))
            .take(),
        Table::create()
            .table("memberships")
            .col(uuid("person_id"))
            .col(uuid("workspace_id"))
            .col(string("role"))
            .primary_key(Index::create().col("person_id").col("workspace_id"))
            .foreign_key(&mut to("person_id", "persons"))
            .foreign_key(&mut to("workspace_id", "workspaces"))
            .take(),
    ]
}

fn inbox() -> Vec<TableCreateStatement> {
    vec![
        tenant("agents")
            .col(string("external_id"))
            .col(text("label"))
            .col(text("llm_model"))
            .col(text("system_message"))
            .col(text_null("skills_repo"))
            .col(big_integer_null("deleted_at"))
            .take(),
        tenant("inboxes")
            .col(string("external_id"))
            .col(uuid_null("agent_id"))
            .col(text("label"))
            .col(string("email"))
            .col(string("status"))
            .col(json("allowed_recipients"))
            .col(json("filters"))
            .col(boolean("attachments_allow"))
            .col(big_integer("attachments_max_file_number"))
            .col(big_integer("attachments_max_file_size"))
            .col(big_integer("attachments_max_total_size"))
            .col(json("custom_metadata"))
            .col(json("metadata"))
            .col(big_integer_null("deleted_at"))
            .foreign_key(&mut to("agent_id", "agents"))
            .take(),
        emails(),
        // Bodies are large and lists never show them, so they have a table of their own.
        Table::create()
            .table("email_bodies")
            .col(pk_uuid("email_id"))
            .col(uuid("workspace_id"))
            .col(text_null("text"))
            .col(text_null("html"))
            .foreign_key(&mut to("email_id", "emails"))
            .foreign_key(&mut to("workspace_id", "workspaces"))
            .take(),
    ]
}

fn emails() -> TableCreateStatement {
    tenant("emails")
        .col(uuid("inbox_id"))
        .col(uuid_null("agent_id"))
        .col(text("message_id"))
        .col(text("raw_s3_key"))
        .col(text_null("subject"))
        .col(text_null("subject_folded"))
        .col(text("sender"))
        .col(text("sender_folded"))
        .col(json("recipients"))
        .col(json("cc"))
        .col(json("bcc"))
        .col(json("header_to"))
        .col(boolean("forwarded"))
        .col(text_null("forwarded_for"))
        .col(string("status"))
        .col(text_null("rejection_reason"))
        .col(text_null("spam_verdict"))
        .col(text_null("virus_verdict"))
        .col(json("aws_ses_metadata"))
        .col(json("custom_metadata"))
        .col(json("agent_metadata"))
        .col(json("metadata"))
        .col(big_integer_null("sent_at"))
        .col(big_integer_null("processed_at"))
        .col(big_integer("received_at"))
        .foreign_key(&mut to("inbox_id", "inboxes"))
        .foreign_key(&mut to("agent_id", "agents"))
        .take()
}

fn processing() -> Vec<TableCreateStatement> {
    vec![
        tenant("agent_runs")
            .col(uuid("inbox_id"))
            .col(uuid("agent_id"))
            .col(uuid("email_id"))
            .col(text("llm_model"))
            .col(string("status"))
            .col(text_null("error"))
            .col(big_integer("input_tokens"))
            .col(big_integer("output_tokens"))
            .col(big_integer("cache_read"))
            .col(big_integer("cache_write"))
            .col(double("cost_per_token"))
            .col(double("total_cost"))
            .col(big_integer_null("duration_ms"))
            .col(big_integer_null("started_at"))
            .col(big_integer_null("finished_at"))
            .foreign_key(&mut to("inbox_id", "inboxes"))
            .foreign_key(&mut to("agent_id", "agents"))
            .foreign_key(&mut to("email_id", "emails"))
            .take(),
        tenant("system_events")
            .col(uuid_null("inbox_id"))
            .col(uuid_null("email_id"))
            .col(string("slug"))
            .col(json("payload"))
            .foreign_key(&mut to("inbox_id", "inboxes"))
            .foreign_key(&mut to("email_id", "emails"))
            .take(),
    ]
}

fn webhooks() -> Vec<TableCreateStatement> {
    vec![
        tenant("webhooks")
            .col(string("external_id"))
            .col(uuid_null("inbox_id"))
            .col(string("status"))
            .col(text("label"))
            .col(text("url"))
            .col(string("auth"))
            // Both are sealed with the configured key before they come here.
            .col(blob_null("credentials"))
            .col(blob_null("signing_secret"))
            .col(json("subscribed_events"))
            .col(big_integer("consecutive_failures"))
            .col(big_integer_null("deleted_at"))
            .foreign_key(&mut to("inbox_id", "inboxes"))
            .take(),
        tenant("webhook_deliveries")
            .col(uuid("webhook_id"))
            .col(uuid("system_event_id"))
            .col(big_integer("attempt"))
            .col(string("status"))
            .col(json("request_headers"))
            .col(json("request_body"))
            .col(big_integer_null("response_status"))
            .col(json_null("response_headers"))
            .col(text_null("response_body"))
            .col(text_null("error"))
            .col(big_integer_null("duration_ms"))
            .col(big_integer_null("delivered_at"))
            .col(big_integer_null("next_retry_at"))
            .foreign_key(&mut to("webhook_id", "webhooks"))
            .foreign_key(&mut to("system_event_id", "system_events"))
            .take(),
    ]
}

fn bookkeeping() -> Vec<TableCreateStatement> {
    vec![
        Table::create()
            .table("idempotency")
            .col(string("slot").primary_key())
            .col(blob("request"))
            .col(big_integer_null("status"))
            .col(blob_null("answer"))
            .col(big_integer("created_at"))
            .take(),
        Table::create().table("settings").col(string("name").primary_key()).col(blob("value")).take(),
    ]
}

/// A table whose rows have a UUID.
fn table(name: &'static str) -> TableCreateStatement {
    Table::create().table(name).col(pk_uuid("id")).take()
}

/// A table whose rows also know when they were made and last changed.
fn stamped(name: &'static str) -> TableCreateStatement {
    table(name).col(big_integer("created_at")).col(big_integer("updated_at")).take()
}

/// A table whose rows also belong to a workspace.
fn tenant(name: &'static str) -> TableCreateStatement {
    stamped(name).col(uuid("workspace_id")).foreign_key(&mut to("workspace_id", "workspaces")).take()
}

fn to(column: &'static str, table: &'static str) -> ForeignKeyCreateStatement {
    ForeignKey::create().from_col(column).to(table, "id").take()
}

/// Each list and each filter of it finds its rows in one of these, in the order of the list.
fn indexes() -> Vec<IndexCreateStatement> {
    let list = |table, name, columns: &[&'static str]| {
        let mut index = Index::create().table(table).name(name).take();
        for column in columns {
            index.col(*column);
        }
        index
    };
    vec![
        list("memberships", "memberships_by_workspace", &["workspace_id"]),
        list("workspaces", "workspaces_by_time", &["organization_id", "created_at", "id"]),
        list("agents", "agents_by_time", &["workspace_id", "created_at", "id"]),
        list("inboxes", "inboxes_by_time", &["workspace_id", "created_at", "id"]),
        list("inboxes", "inboxes_by_agent", &["agent_id"]),
        // An address stays taken for ever, deleted inboxes included.
        list("inboxes", "inboxes_by_email", &["email"]).unique().take(),
        // The subject is in the index so that looking for a text reads no rows that do not hold it.
        list("emails", "emails_by_time", &["workspace_id", "received_at", "id", "subject_folded"]),
        list("emails", "emails_by_status", &["workspace_id", "status", "received_at", "id"]),
        list("emails", "emails_by_inbox", &["workspace_id", "inbox_id", "received_at", "id"]),
        list("emails", "emails_by_sender", &["workspace_id", "sender_folded", "received_at", "id"]),
        list("emails", "emails_by_message_id", &["inbox_id", "message_id"]).unique().take(),
        list("agent_runs", "agent_runs_by_time", &["workspace_id", "created_at", "id"]),
        list("agent_runs", "agent_runs_by_agent", &["workspace_id", "agent_id", "created_at", "id"]),
        list("agent_runs", "agent_runs_by_inbox", &["workspace_id", "inbox_id", "created_at", "id"]),
        list("agent_runs", "agent_runs_by_email", &["workspace_id", "email_id", "created_at", "id"]),
        list("system_events", "system_events_by_time", &["workspace_id", "created_at", "id"]),
        list("system_events", "system_events_by_slug", &["workspace_id", "slug", "created_at", "id"]),
        list("system_events", "system_events_by_email", &["workspace_id", "email_id", "created_at", "id"]),
        list("webhooks", "webhooks_by_time", &["workspace_id", "created_at", "id"]),
        list("webhook_deliveries", "deliveries_by_webhook", &["workspace_id", "webhook_id", "created_at", "id"]),
        list("idempotency", "idempotency_by_time", &["created_at"]),
    ]
}

/// A caller's own name is unique among live rows only; partial indexes are the same in SQLite and Postgres.
const LIVE_NAMES: [&str; 4] = [
    "CREATE UNIQUE INDEX workspaces_by_external_id ON workspaces (organization_id, external_id) WHERE deleted_at IS NULL",
    "CREATE UNIQUE INDEX agents_by_external_id ON agents (workspace_id, external_id) WHERE deleted_at IS NULL",
    "CREATE UNIQUE INDEX inboxes_by_external_id ON inboxes (workspace_id, external_id) WHERE deleted_at IS NULL",
    "CREATE UNIQUE INDEX webhooks_by_external_id ON webhooks (workspace_id, external_id) WHERE deleted_at IS NULL",
];
