//! Agents, which process e-mails.

use kobana_contract::operations::agents::{
    Agent, AgentCreate, AgentUpdate, AgentUpsert, CreateAgent, DeleteAgent, GetAgent, ListAgents, UpdateAgent,
    UpsertAgent,
};
use kobana_contract::{Data, Nothing, Page, Timestamp};
use kobana_store::rows::{AgentChanges, AgentRow, Agents, InboxChanges, InboxColumn, Inboxes};
use kobana_store::suggest::{Suggestions, suggest};
use kobana_store::values::Folded;
use kobana_store::{InWorkspace, Scope as _, Write};
use sea_orm::{ColumnTrait as _, QueryFilter as _, Set};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::context::{Context, Input};
use crate::endpoint::Handle;
use crate::error::ApiError;
use crate::gate::{AtWork, Chosen};
use crate::problems::Problems;
use crate::reply::Reply;
use crate::upsert::{Upsert, sent, upsert};
use crate::{common, lookup};

impl Handle for ListAgents {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Page<Agent>>, ApiError> {
        let rows = context.place.rows.find::<Agents>();
        input.page.answer::<Agents, _>(context.store().reads(), rows, show).await
    }

    async fn suggest(context: Context<AtWork>, _: Input<Self>, prefix: &str) -> Result<Suggestions, ApiError> {
        let rows = context.place.rows.find::<Agents>();
        Ok(suggest::<Agents>(context.store().reads(), &rows, prefix).await?)
    }
}

impl Handle for GetAgent {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Data<Agent>>, ApiError> {
        let row = common::read::<Agents>(&context, &input.path.id).await?;
        Ok(Reply::ok(row).data(show))
    }
}

impl Handle for CreateAgent {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Data<Agent>>, ApiError> {
        let tx = context.store().begin().await?;
        let row = create(&context, &tx, input.body).await?;
        tx.commit().await?;
        Ok(Reply::created(row).data(show))
    }
}

impl Handle for UpdateAgent {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Data<Agent>>, ApiError> {
        let tx = context.store().begin().await?;
        let row = lookup::get::<Agents>(&tx, context.place.rows, &input.path.id).await?;
        let row = update(&context, &tx, row, input.body).await?;
        tx.commit().await?;
        Ok(Reply::ok(row).data(show))
    }
}

impl Handle for UpsertAgent {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Data<Agent>>, ApiError> {
        let reply = upsert(context.store(), &Wanted { context: &context, agent: &input.body }).await?;
        Ok(reply.data(show))
    }
}

impl Handle for DeleteAgent {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Nothing>, ApiError> {
        let (rows, now) = (context.place.rows, context.now.0);
        let tx = context.store().begin().await?;
        let row = lookup::get::<Agents>(&tx, rows, &input.path.id).await?;
        rows.delete::<Agents>(&tx, row.id, now).await?;
        let without = InboxChanges { agent_id: Set(None), updated_at: Set(now), ..Default::default() };
        rows.update_all::<Inboxes>().set(without).filter(InboxColumn::AgentId.eq(row.id)).exec(&tx).await?;
        tx.commit().await?;
        Ok(Reply::no_content())
    }

    async fn prepare(context: Context<AtWork>, input: Input<Self>) -> Result<Value, ApiError> {
        let row = common::read::<Agents>(&context, &input.path.id).await?;
        Ok(json!(show(row)))
    }
}

/// An upsert that is under way.
struct Wanted<'a> {
    context: &'a Context<AtWork>,
    agent: &'a AgentUpsert,
}

impl Upsert for Wanted<'_> {
    type Table = Agents;

    fn rows(&self) -> InWorkspace {
        self.context.place.rows
    }

    fn external_id(&self) -> &str {
        &self.agent.external_id.0
    }

    async fn create(&self, tx: &Write) -> Result<AgentRow, ApiError> {
        let AgentUpsert { external_id, label, llm_model, system_message, skills_repo } = self.agent.clone();
        let mut problems = Problems::default();
        let wanted = AgentCreate {
            external_id: Some(external_id),
            label: problems.demand("label", label),
            llm_model: problems.demand("llm_model", llm_model),
            system_message: problems.demand("system_message", system_message),
            skills_repo: skills_repo.flatten(),
        };
        if !problems.is_empty() {
            return Err(ApiError::Invalid(problems));
        }
        create(self.context, tx, wanted).await
    }

    async fn update(&self, tx: &Write, row: AgentRow) -> Result<AgentRow, ApiError> {
        let AgentUpsert { label, llm_model, system_message, skills_repo, .. } = self.agent.clone();
        update(self.context, tx, row, AgentUpdate { label, llm_model, system_message, skills_repo }).await
    }
}

async fn create(context: &Context<AtWork>, tx: &Write, wanted: AgentCreate) -> Result<AgentRow, ApiError> {
    let (id, rows) = (Uuid::now_v7(), context.place.rows);
    let row = AgentRow {
        id,
        workspace_id: rows.0,
        external_id: lookup::name(wanted.external_id.as_ref(), id),
        external_id_folded: Folded::default(),
        label: wanted.label,
        label_folded: Folded::default(),
        llm_model: wanted.llm_model,
        system_message: wanted.system_message,
        skills_repo: wanted.skills_repo,
        created_at: context.now.0,
        updated_at: context.now.0,
        deleted_at: None,
    };
    rows.insert::<Agents>(tx, row.clone()).await?;
    Ok(row)
}

async fn update(
    context: &Context<AtWork>,
    tx: &Write,
    row: AgentRow,
    wanted: AgentUpdate,
) -> Result<AgentRow, ApiError> {
    let changes = AgentChanges {
        label: sent(wanted.label),
        llm_model: sent(wanted.llm_model),
        system_message: sent(wanted.system_message),
        skills_repo: sent(wanted.skills_repo),
        ..Default::default()
    };
    common::save::<Agents>(context, tx, row, changes).await
}

pub(crate) fn show(row: AgentRow) -> Agent {
    Agent {
        id: row.id,
        external_id: Some(row.external_id),
        workspace_id: row.workspace_id,
        label: row.label,
        llm_model: row.llm_model,
        system_message: row.system_message,
        skills_repo: row.skills_repo,
        created_at: Timestamp(row.created_at),
        updated_at: Timestamp(row.updated_at),
    }
}
