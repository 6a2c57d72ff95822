//! How the database finds the rows of each list: by an index, in the order of the list, whatever the filters.

use kobana_contract::operations::emails::{EmailFilter, EmailStatus};
use kobana_contract::{PageQuery, Timestamp};
use kobana_store::page::{self, Position};
use kobana_store::rows::{
    AgentRunColumn, AgentRuns, Agents, Deliveries, DeliveryColumn, EmailColumn, Emails, Inboxes, SystemEventColumn,
    SystemEvents, Webhooks, WorkspaceColumn, Workspaces,
};
use kobana_store::{InOrganization, InWorkspace, Listed, Location, Scope as _, Store, demo};
use sea_orm::{ColumnTrait as _, ConnectionTrait as _, QueryFilter as _, QueryTrait as _, Select, Statement};
use uuid::Uuid;

use crate::handlers::emails::filtered;

const ACME: InWorkspace = InWorkspace(demo::workspaces::ACME);
const SOME: Uuid = Uuid::from_u128(1);

async fn check<T: Listed>(store: &Store, what: &str, rows: Select<T::Entity>) {
    for after in [None, Some(Position { time: 1, id: SOME })] {
        let query = page::query::<T>(rows.clone(), after, 50).build(store.reads().get_database_backend());
        let explain = Statement { sql: format!("EXPLAIN QUERY PLAN {}", query.sql), ..query };
        for step in store.reads().query_all_raw(explain).await.unwrap() {
            let step: String = step.try_get("", "detail").unwrap();
            assert!(step.starts_with("SEARCH"), "{what}: {step}");
        }
    }
}

#[tokio::test]
async fn no_filter_of_emails_scans_or_sorts() {
    let store = Store::open(Location::Memory).await.unwrap();
    for choice in 0..64_u8 {
        let on = |bit: u8| choice & (1 << bit) != 0;
        let PageQuery { limit, cursor } = PageQuery { limit: 50, cursor: None };
        let filter = EmailFilter {
            limit,
            cursor,
            status: on(0).then_some(EmailStatus::Processed),
            inbox_id: None,
            from: on(1).then(|| "a@b.example".to_owned()),
            q: on(2).then(|| "x".to_owned()),
            received_from: on(3).then_some(Timestamp(1)),
            received_to: on(4).then_some(Timestamp(2)),
        };
        let mut rows = filtered(ACME.find::<Emails>(), &filter);
        if on(5) {
            rows = rows.filter(EmailColumn::InboxId.eq(SOME));
        }
        check::<Emails>(&store, &format!("{filter:?}"), rows).await;
    }
}

#[tokio::test]
async fn no_other_list_scans_or_sorts() {
    let store = Store::open(Location::Memory).await.unwrap();
    check::<Inboxes>(&store, "inboxes", ACME.find::<Inboxes>()).await;
    check::<Agents>(&store, "agents", ACME.find::<Agents>()).await;
    check::<Webhooks>(&store, "webhooks", ACME.find::<Webhooks>()).await;
    let deliveries = ACME.find::<Deliveries>().filter(DeliveryColumn::WebhookId.eq(SOME));
    check::<Deliveries>(&store, "deliveries", deliveries).await;
    let runs = || ACME.find::<AgentRuns>();
    check::<AgentRuns>(&store, "runs", runs()).await;
    for column in [AgentRunColumn::AgentId, AgentRunColumn::InboxId, AgentRunColumn::EmailId] {
        check::<AgentRuns>(&store, "filtered runs", runs().filter(column.eq(SOME))).await;
    }
    let events = || ACME.find::<SystemEvents>();
    check::<SystemEvents>(&store, "events", events()).await;
    check::<SystemEvents>(&store, "events by slug", events().filter(SystemEventColumn::Slug.eq("x"))).await;
    check::<SystemEvents>(&store, "events by e-mail", events().filter(SystemEventColumn::EmailId.eq(SOME))).await;
}

#[tokio::test]
async fn workspaces_are_searched_not_scanned() {
    let store = Store::open(Location::Memory).await.unwrap();
    let rows = InOrganization(SOME).find::<Workspaces>().filter(WorkspaceColumn::Id.is_in([SOME, ACME.0]));
    let query = page::query::<Workspaces>(rows, None, 50).build(store.reads().get_database_backend());
    let explain = Statement { sql: format!("EXPLAIN QUERY PLAN {}", query.sql), ..query };
    for step in store.reads().query_all_raw(explain).await.unwrap() {
        // The few in reach may be sorted.
        assert!(!step.try_get::<String>("", "detail").unwrap().starts_with("SCAN"));
    }
}
