//! What workspaces used since a time. It counts over several workspaces at once, so it takes their ids instead of a
//! scope and answers nothing but numbers.

use std::collections::HashMap;

use kobana_contract::Timestamp;
use kobana_contract::operations::emails::EmailStatus;
use sea_orm::sea_query::{Alias, Expr, ExprTrait, Func, Query, SelectStatement, SimpleExpr};
use sea_orm::{ConnectionTrait, DbErr};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::page::Position;

/// What one workspace used.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Usage {
    /// E-mails taken in: those that the inbox's rules refused do not count, or anybody could use a limit up.
    pub emails: i64,
    /// Cost of agent runs.
    pub cost: f64,
}

/// The beginning of the month, in UTC.
#[must_use]
pub fn month_of(now: Timestamp) -> Timestamp {
    let beginning = OffsetDateTime::from_unix_timestamp(now.unix_seconds())
        .ok()
        .and_then(|time| time.replace_day(1).ok())
        .map(|time| time.replace_time(time::Time::MIDNIGHT));
    beginning.map_or(now, Timestamp::from)
}

/// The usage of each of these workspaces since a time in microseconds; workspaces that used nothing are left out.
///
/// # Errors
/// What the database answers.
pub async fn since(
    connection: &impl ConnectionTrait,
    workspaces: &[Uuid],
    start: i64,
) -> Result<HashMap<Uuid, Usage>, DbErr> {
    let mut usage: HashMap<Uuid, Usage> = HashMap::new();
    let mut emails = sums("emails", "received_at", Func::count(Expr::col("id")).into(), workspaces, start);
    emails.and_where(taken_in());
    for row in connection.query_all(&emails).await? {
        usage.entry(row.try_get("", "workspace_id")?).or_default().emails = row.try_get("", "used")?;
    }
    for (workspace, cost) in costs(connection, workspaces, start).await? {
        usage.entry(workspace).or_default().cost = cost;
    }
    Ok(usage)
}

/// The cost alone, of which nothing but an index of the runs that cost something is read.
///
/// # Errors
/// What the database answers.
pub async fn costs(
    connection: &impl ConnectionTrait,
    workspaces: &[Uuid],
    start: i64,
) -> Result<HashMap<Uuid, f64>, DbErr> {
    let mut runs = sums("agent_runs", "created_at", Func::sum(Expr::col("total_cost")).into(), workspaces, start);
    // In the words of the index, which would not be used otherwise.
    runs.and_where(Expr::cust("total_cost > 0"));
    let rows = connection.query_all(&runs).await?;
    rows.iter().map(|row| Ok((row.try_get("", "workspace_id")?, row.try_get("", "used")?))).collect()
}

fn sums(table: &'static str, time: &'static str, sum: SimpleExpr, workspaces: &[Uuid], start: i64) -> SelectStatement {
    Query::select()
        .column("workspace_id")
        .expr_as(sum, Alias::new("used"))
        .from(table)
        .and_where(Expr::col("workspace_id").is_in(workspaces.iter().copied()))
        .and_where(Expr::col(time).gte(start))
        .group_by_col("workspace_id")
        .take()
}

/// Named one by one, so that the index by status is enough to count.
fn taken_in() -> SimpleExpr {
    let taken = EmailStatus::ALL.iter().filter(|status| **status != EmailStatus::Rejected);
    Expr::col("status").is_in(taken.map(|status| status.as_str()))
}

/// How many e-mails the workspace took in since a time in microseconds and before this one; it stops counting at `at_most`.
///
/// # Errors
/// What the database answers.
pub async fn emails_before(
    connection: &impl ConnectionTrait,
    workspace: Uuid,
    start: i64,
    before: Position,
    at_most: u64,
) -> Result<u64, DbErr> {
    let earlier = Expr::tuple([Expr::col("received_at"), Expr::col("id")]);
    let counted = Query::select()
        .expr(Expr::val(1))
        .from("emails")
        .and_where(Expr::col("workspace_id").eq(workspace))
        .and_where(Expr::col("received_at").gte(start))
        .and_where(earlier.lt(Expr::tuple([Expr::val(before.time), Expr::val(before.id)])))
        .and_where(Expr::col("status").ne(EmailStatus::Rejected.as_str()))
        .limit(at_most)
        .take();
    let count = Query::select()
        .expr_as(Func::count(Expr::val(1)), Alias::new("used"))
        .from_subquery(counted, Alias::new("earlier"))
        .take();
    let row = connection.query_one(&count).await?;
    let used = row.map(|row| row.try_get::<i64>("", "used")).transpose()?.unwrap_or_default();
    Ok(u64::try_from(used).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_begins_at_midnight_of_its_first_day() {
        let now = Timestamp::parse("2028-02-29T23:59:59.999999Z").unwrap();
        assert_eq!(month_of(now).to_string(), "2028-02-01T00:00:00Z");
    }
}
