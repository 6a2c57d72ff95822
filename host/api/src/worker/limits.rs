//! What a workspace may use in a month.

use kobana_contract::Timestamp;
use kobana_store::page::Position;
use kobana_store::rows::{EmailRow, WorkspaceRow};
use kobana_store::usage;
use sea_orm::{ConnectionTrait, DbErr};

/// Says which limit an e-mail goes beyond, if it does.
///
/// An e-mail has its place in the month in which it arrived, after those that arrived before: the first N fit into a limit
/// of N, in whatever order they are looked at and however often. Cost counts in the month in which it arises; once the
/// limit is reached, no run begins.
///
/// # Errors
/// What the database answers.
pub(super) async fn exceeded(
    connection: &impl ConnectionTrait,
    workspace: &WorkspaceRow,
    email: &EmailRow,
    now: Timestamp,
) -> Result<Option<String>, DbErr> {
    if let Some(limit) = workspace.monthly_emails_limit.and_then(|limit| u64::try_from(limit).ok()) {
        let start = usage::month_of(Timestamp(email.received_at)).0;
        let place = Position { time: email.received_at, id: email.id };
        if usage::emails_before(connection, workspace.id, start, place, limit).await? >= limit {
            return Ok(Some(format!("the workspace has used its {limit} e-mails of the month")));
        }
    }
    if let Some(limit) = workspace.monthly_cost_limit {
        let used = usage::costs(connection, &[workspace.id], usage::month_of(now).0).await?;
        if used.get(&workspace.id).is_some_and(|used| *used >= limit) {
            return Ok(Some("the workspace has used its cost limit of the month".to_owned()));
        }
    }
    Ok(None)
}
