//! How the database finds the rows of each list: by an index, in the order of the list, whatever the filters.

use kobana_contract::operations::emails::{EmailFilter, EmailStatus};
use kobana_contract::{PageQuery, Timestamp};
use kobana_store::page::{self, Position};
use kobana_store::rows::{
    AgentRunColumn, AgentRuns, Agents, Deliveries, DeliveryColumn, EmailColumn, Emails, Extensions, Inboxes,
    SystemEventColumn, SystemEvents, Webhooks, WorkspaceColumn, Workspaces,
};
use kobana_store::suggest::{self, Suggested};
use kobana_store::{InOrganization, InWorkspace, Listed, Location, Scope as _, Store, demo};
use sea_orm::{
    ColumnTrait as _, ConnectionTrait as _, IdenStatic, QueryFilter as _, QueryTrait as _, Select, Statement,
};
use uuid::Uuid;

use crate::handlers::emails::{filtered, offered};

const ACME: InWorkspace = InWorkspace(demo::workspaces::ACME);
const SOME: Uuid = Uuid::from_u128(1);

/// The steps in which the database carries a query out.
async fn steps(store: &Store, query: Statement) -> Vec<String> {
    let explain = Statement { sql: format!("EXPLAIN QUERY PLAN {}", query.sql), ..query };
    let steps = store.reads().query_all_raw(explain).await.unwrap();
    steps.iter().map(|step| step.try_get("", "detail").unwrap()).collect()
}

async fn check<T: Listed>(store: &Store, what: &str, rows: Select<T::Entity>) {
    for after in [None, Some(Position { time: 1, id: SOME })] {
        let query = page::query::<T>(rows.clone(), after, 50).build(store.reads().get_database_backend());
        for step in steps(store, query).await {
            assert!(step.starts_with("SEARCH"), "{what}: {step}");
        }
    }
}

/// Each text, and the UUID, is a range of an index that is in the right order already. The last query counts: it goes through
/// the rows that it found, and through nothing else.
async fn check_offers<T: Suggested>(store: &Store, rows: Select<T::Entity>) {
    let backend = store.reads().get_database_backend();
    let columns: Vec<_> = T::TEXTS.iter().chain([&T::ID]).map(IdenStatic::as_str).collect();
    let queries: Vec<_> = suggest::queries::<T>(&rows, "0").iter().map(|query| backend.build(query)).collect();
    assert_eq!(queries.len(), columns.len() + 1);
    for (query, column) in queries.iter().zip(&columns) {
        let steps = steps(store, query.clone()).await;
        let range = format!("{column}>? AND {column}<?");
        assert!(matches!(&steps[..], [step] if step.starts_with("SEARCH") && step.contains(&range)), "{steps:?}");
    }
    let steps = steps(store, queries.last().unwrap().clone()).await;
    let searched = |column: &&str| steps.iter().any(|step| step.contains(&format!("{column}>? AND {column}<?")));
    assert!(columns.iter().all(searched), "{steps:?}");
    let own = |step: &&String| step.starts_with("SCAN") && !step.ends_with("some") && !step.ends_with("every");
    assert_eq!(steps.iter().find(own), None);
    for query in suggest::queries::<T>(&rows, "") {
        let steps = self::steps(store, backend.build(&query)).await;
        let step = steps.iter().find(|step| step.starts_with("SEARCH"));
        assert!(step.is_some() && steps.iter().find(own).is_none(), "{steps:?}");
    }
}

#[tokio::test]
async fn what_begins_with_a_prefix_is_a_range_of_an_index() {
    let store = Store::open(Location::Memory).await.unwrap();
    check_offers::<Inboxes>(&store, ACME.find::<Inboxes>()).await;
    check_offers::<Agents>(&store, ACME.find::<Agents>()).await;
    check_offers::<Webhooks>(&store, ACME.find::<Webhooks>()).await;
    check_offers::<AgentRuns>(&store, ACME.find::<AgentRuns>()).await;
    check_offers::<SystemEvents>(&store, ACME.find::<SystemEvents>()).await;
    check_offers::<Deliveries>(&store, ACME.find::<Deliveries>().filter(DeliveryColumn::WebhookId.eq(SOME))).await;
    for status in [None, Some(EmailStatus::Failed), Some(EmailStatus::Rejected)] {
        let PageQuery { limit, cursor } = PageQuery { limit: 50, cursor: None };
        let filter = EmailFilter {
            limit,
            cursor,
            status,
            inbox_id: None,
            from: None,
            q: None,
            received_from: None,
            received_to: None,
        };
        check_offers::<Emails>(&store, offered(filtered(ACME.find::<Emails>(), &filter), status)).await;
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
    check::<Extensions>(&store, "extensions", ACME.find::<Extensions>()).await;
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
    let backend = store.reads().get_database_backend();
    let page = page::query::<Workspaces>(rows.clone(), None, 50).build(backend);
    let offers = suggest::queries::<Workspaces>(&rows, "0");
    for query in offers.iter().map(|query| backend.build(query)).chain([page]) {
        // The few in reach may be sorted.
        for step in steps(&store, query).await {
            assert!(!step.starts_with("SCAN workspaces"), "{step}");
        }
    }
}
