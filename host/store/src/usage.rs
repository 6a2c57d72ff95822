//! What workspaces used since a time. It counts over several workspaces at once, so it takes their ids instead of a
//! scope and answers nothing but numbers.

use std::collections::HashMap;

use sea_orm::sea_query::{Alias, Expr, ExprTrait, Func, Query, SelectStatement, SimpleExpr};
use sea_orm::{ConnectionTrait, DbErr};
use uuid::Uuid;

/// What one workspace used.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Usage {
    /// E-mails received.
    pub emails: i64,
    /// Cost of agent runs.
    pub cost: f64,
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
    let emails = sums("emails", "received_at", Func::count(Expr::col("id")).into(), workspaces, start);
    for row in connection.query_all(&emails).await? {
        usage.entry(row.try_get("", "workspace_id")?).or_default().emails = row.try_get("", "used")?;
    }
    let runs = sums("agent_runs", "created_at", Func::sum(Expr::col("total_cost")).into(), workspaces, start);
    for row in connection.query_all(&runs).await? {
        usage.entry(row.try_get("", "workspace_id")?).or_default().cost = row.try_get("", "used")?;
    }
    Ok(usage)
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
