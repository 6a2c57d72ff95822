//! Runs of agents over e-mails.

use kobana_contract::operations::agent_runs::{AgentRun, GetAgentRun, ListAgentRuns, RunFilter};
use kobana_contract::{Data, Page, Timestamp};
use kobana_store::rows::{AgentRunColumn, AgentRunRow, AgentRuns, Agents, Inboxes};
use kobana_store::suggest::{Suggestions, suggest};
use kobana_store::{Scope as _, Table};
use sea_orm::{ColumnTrait as _, QueryFilter as _, Select};

use crate::context::{Context, Input};
use crate::endpoint::Handle;
use crate::error::ApiError;
use crate::gate::{AtWork, Chosen};
use crate::reply::Reply;
use crate::{lookup, paging};

impl Handle for ListAgentRuns {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Page<AgentRun>>, ApiError> {
        match wanted(&context, &input.query).await? {
            Some(runs) => input.page.answer::<AgentRuns, _>(context.store().reads(), runs, show).await,
            None => Ok(paging::empty()),
        }
    }

    async fn suggest(context: Context<AtWork>, input: Input<Self>, prefix: &str) -> Result<Suggestions, ApiError> {
        match wanted(&context, &input.query).await? {
            Some(runs) => Ok(suggest::<AgentRuns>(context.store().reads(), &runs, prefix).await?),
            None => Ok(Suggestions::none()),
        }
    }
}

/// The runs that pass all filters; none where a filter names nothing.
async fn wanted(
    context: &Context<AtWork>,
    filter: &RunFilter,
) -> Result<Option<Select<<AgentRuns as Table>::Entity>>, ApiError> {
    let (rows, reads) = (context.place.rows, context.store().reads());
    let mut runs = rows.find::<AgentRuns>();
    if let Some(agent) = &filter.agent_id {
        let Some(agent) = lookup::find::<Agents>(reads, rows, agent).await? else { return Ok(None) };
        runs = runs.filter(AgentRunColumn::AgentId.eq(agent.id));
    }
    if let Some(inbox) = &filter.inbox_id {
        let Some(inbox) = lookup::find::<Inboxes>(reads, rows, inbox).await? else { return Ok(None) };
        runs = runs.filter(AgentRunColumn::InboxId.eq(inbox.id));
    }
    if let Some(email) = &filter.email_id {
        let Some(email) = lookup::uuid(email) else { return Ok(None) };
        runs = runs.filter(AgentRunColumn::EmailId.eq(email));
    }
    Ok(Some(runs))
}

impl Handle for GetAgentRun {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Data<AgentRun>>, ApiError> {
        let reads = context.store().reads();
        let row = lookup::get_by_uuid::<AgentRuns>(reads, context.place.rows, &input.path.id).await?;
        Ok(Reply::ok(row).data(show))
    }
}

pub(crate) fn show(row: AgentRunRow) -> AgentRun {
    AgentRun {
        id: row.id,
        workspace_id: row.workspace_id,
        inbox_id: row.inbox_id,
        agent_id: row.agent_id,
        email_id: row.email_id,
        llm_model: row.llm_model,
        status: row.status.0,
        error: row.error,
        input_tokens: row.input_tokens,
        output_tokens: row.output_tokens,
        cache_read: row.cache_read,
        cache_write: row.cache_write,
        cost_per_token: row.cost_per_token,
        total_cost: row.total_cost,
        duration_ms: row.duration_ms,
        started_at: row.started_at.map(Timestamp),
        finished_at: row.finished_at.map(Timestamp),
        created_at: Timestamp(row.created_at),
        updated_at: Timestamp(row.updated_at),
    }
}
