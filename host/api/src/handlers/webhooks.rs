//! Webhooks: addresses that receive events.

use kobana_contract::fields::{ActiveStatus, IdOrExternalId};
use kobana_contract::operations::deliveries::WebhookDelivery;
use kobana_contract::operations::webhooks::{
    CreateWebhook, DeleteWebhook, GetWebhook, ListWebhooks, RegenerateSecret, SendTestEvent, SigningSecret,
    UpdateWebhook, UpsertWebhook, Webhook, WebhookAuth, WebhookCreate, WebhookUpdate, WebhookUpsert,
};
use kobana_contract::{Data, Nothing, Page, Timestamp};
use kobana_store::rows::{Inboxes, WebhookChanges, WebhookRow, Webhooks};
use kobana_store::suggest::{Suggestions, suggest};
use kobana_store::values::{Folded, Texts, Word};
use kobana_store::{InWorkspace, Scope as _, Write};
use sea_orm::Set;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::context::{Context, Input};
use crate::credentials::{self, Stored};
use crate::delivery::{self, secret};
use crate::endpoint::Handle;
use crate::error::ApiError;
use crate::gate::{AtWork, Chosen};
use crate::handlers::deliveries;
use crate::problems::Problems;
use crate::reply::Reply;
use crate::upsert::{Upsert, sent, upsert};
use crate::{common, lookup};

impl Handle for ListWebhooks {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Page<Webhook>>, ApiError> {
        let rows = context.place.rows.find::<Webhooks>();
        input.page.answer::<Webhooks, _>(context.store().reads(), rows, show).await
    }

    async fn suggest(context: Context<AtWork>, _: Input<Self>, prefix: &str) -> Result<Suggestions, ApiError> {
        let rows = context.place.rows.find::<Webhooks>();
        Ok(suggest::<Webhooks>(context.store().reads(), &rows, prefix).await?)
    }
}

impl Handle for GetWebhook {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Data<Webhook>>, ApiError> {
        let row = common::read::<Webhooks>(&context, &input.path.id).await?;
        Ok(Reply::ok(row).data(show))
    }
}

impl Handle for CreateWebhook {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Data<Webhook>>, ApiError> {
        let tx = context.store().begin().await?;
        let row = create(&context, &tx, &input.body, ActiveStatus::Active).await?;
        tx.commit().await?;
        Ok(Reply::created(row).data(show))
    }
}

impl Handle for UpdateWebhook {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Data<Webhook>>, ApiError> {
        let tx = context.store().begin().await?;
        let row = lookup::get::<Webhooks>(&tx, context.place.rows, &input.path.id).await?;
        let changes = changes(&context, &tx, &row, &input.body).await?;
        let row = common::save::<Webhooks>(&context, &tx, row, changes).await?;
        tx.commit().await?;
        Ok(Reply::ok(row).data(show))
    }
}

impl Handle for UpsertWebhook {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Data<Webhook>>, ApiError> {
        let reply = upsert(context.store(), &Wanted { context: &context, webhook: &input.body }).await?;
        Ok(reply.data(show))
    }
}

impl Handle for DeleteWebhook {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Nothing>, ApiError> {
        common::delete::<Webhooks>(&context, &input.path.id).await
    }

    async fn prepare(context: Context<AtWork>, input: Input<Self>) -> Result<Value, ApiError> {
        prepare(&context, &input.path.id).await
    }
}

impl Handle for SendTestEvent {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Data<WebhookDelivery>>, ApiError> {
        let tx = context.store().begin().await?;
        let webhook = lookup::get::<Webhooks>(&tx, context.place.rows, &input.path.id).await?;
        let row = delivery::test(&tx, &webhook, context.now).await?;
        tx.commit().await?;
        context.shared.courier.wake();
        Ok(Reply::accepted(row).data(deliveries::show))
    }

    async fn prepare(context: Context<AtWork>, input: Input<Self>) -> Result<Value, ApiError> {
        prepare(&context, &input.path.id).await
    }
}

impl Handle for RegenerateSecret {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Data<SigningSecret>>, ApiError> {
        let tx = context.store().begin().await?;
        let row = lookup::get::<Webhooks>(&tx, context.place.rows, &input.path.id).await?;
        let signing_secret = secret::fresh();
        let sealed = secret::seal(&context.shared.vault, row.id, &signing_secret)?;
        common::save::<Webhooks>(
            &context,
            &tx,
            row,
            WebhookChanges { signing_secret: Set(Some(sealed)), ..Default::default() },
        )
        .await?;
        tx.commit().await?;
        Ok(Reply::ok(Data { data: SigningSecret { signing_secret } }))
    }

    async fn prepare(context: Context<AtWork>, input: Input<Self>) -> Result<Value, ApiError> {
        prepare(&context, &input.path.id).await
    }
}

async fn prepare(context: &Context<AtWork>, id: &str) -> Result<Value, ApiError> {
    let row = common::read::<Webhooks>(context, id).await?;
    Ok(json!(show(row)))
}

/// An upsert that is under way.
struct Wanted<'a> {
    context: &'a Context<AtWork>,
    webhook: &'a WebhookUpsert,
}

impl Upsert for Wanted<'_> {
    type Table = Webhooks;

    fn rows(&self) -> InWorkspace {
        self.context.place.rows
    }

    fn external_id(&self) -> &str {
        &self.webhook.external_id.0
    }

    async fn create(&self, tx: &Write) -> Result<WebhookRow, ApiError> {
        let WebhookUpsert { external_id, label, wanted, credentials } = self.webhook.clone();
        let mut problems = Problems::default();
        let create_from = WebhookCreate {
            external_id: Some(external_id),
            label: problems.demand("label", label),
            url: problems.demand("url", wanted.url),
            inbox_id: wanted.inbox_id.flatten(),
            subscribed_events: wanted.subscribed_events,
            credentials,
        };
        if !problems.is_empty() {
            return Err(ApiError::Invalid(problems));
        }
        create(self.context, tx, &create_from, wanted.status.unwrap_or(ActiveStatus::Active)).await
    }

    async fn update(&self, tx: &Write, row: WebhookRow) -> Result<WebhookRow, ApiError> {
        let WebhookUpsert { label, wanted, credentials, .. } = self.webhook;
        let update = WebhookUpdate { label: label.clone(), wanted: wanted.clone() };
        let mut changes = changes(self.context, tx, &row, &update).await?;
        if credentials::are_sent(credentials) {
            let stored = Stored { auth: row.auth.0, sealed: row.credentials.clone() };
            let settled = credentials::settle(&self.context.shared.vault, row.id, &stored, credentials)?;
            changes.auth = Set(Word(settled.auth));
            changes.credentials = Set(settled.sealed);
        }
        common::save::<Webhooks>(self.context, tx, row, changes).await
    }
}

async fn create(
    context: &Context<AtWork>,
    tx: &Write,
    wanted: &WebhookCreate,
    status: ActiveStatus,
) -> Result<WebhookRow, ApiError> {
    let (id, rows) = (Uuid::now_v7(), context.place.rows);
    let nothing = Stored { auth: WebhookAuth::None, sealed: None };
    let credentials = credentials::settle(&context.shared.vault, id, &nothing, &wanted.credentials)?;
    kobana_egress::check(&wanted.url, context.shared.webhooks.allow_loopback)?;
    let row = WebhookRow {
        id,
        workspace_id: rows.0,
        external_id: lookup::name(wanted.external_id.as_ref(), id),
        external_id_folded: Folded::default(),
        inbox_id: inbox(tx, rows, wanted.inbox_id.as_ref()).await?,
        status: Word(status),
        label: wanted.label.clone(),
        label_folded: Folded::default(),
        url: wanted.url.clone(),
        url_folded: Folded::default(),
        auth: Word(credentials.auth),
        credentials: credentials.sealed,
        signing_secret: Some(secret::seal(&context.shared.vault, id, &secret::fresh())?),
        subscribed_events: Texts(wanted.subscribed_events.clone().unwrap_or_default()),
        consecutive_failures: 0,
        created_at: context.now.0,
        updated_at: context.now.0,
        deleted_at: None,
    };
    rows.insert::<Webhooks>(tx, row.clone()).await?;
    Ok(row)
}

async fn changes(
    context: &Context<AtWork>,
    tx: &Write,
    row: &WebhookRow,
    update: &WebhookUpdate,
) -> Result<WebhookChanges, ApiError> {
    let WebhookUpdate { label, wanted } = update;
    if let Some(url) = &wanted.url {
        kobana_egress::check(url, context.shared.webhooks.allow_loopback)?;
    }
    let mut changes = WebhookChanges {
        label: sent(label.clone()),
        url: sent(wanted.url.clone()),
        status: sent(wanted.status.map(Word)),
        subscribed_events: sent(wanted.subscribed_events.clone().map(Texts)),
        ..Default::default()
    };
    if let Some(wanted) = &wanted.inbox_id {
        changes.inbox_id = Set(inbox(tx, context.place.rows, wanted.as_ref()).await?);
    }
    // Whoever switches it on again has put right what was wrong: the count of failures begins anew.
    if wanted.status == Some(ActiveStatus::Active) && row.status.0 == ActiveStatus::Inactive {
        changes.consecutive_failures = Set(0);
    }
    Ok(changes)
}

async fn inbox(tx: &Write, rows: InWorkspace, inbox: Option<&IdOrExternalId>) -> Result<Option<Uuid>, ApiError> {
    match inbox {
        Some(inbox) => Ok(Some(lookup::reference::<Inboxes>(tx, rows, inbox, "inbox_id").await?.id)),
        None => Ok(None),
    }
}

pub(crate) fn show(row: WebhookRow) -> Webhook {
    Webhook {
        id: row.id,
        external_id: Some(row.external_id),
        workspace_id: row.workspace_id,
        inbox_id: row.inbox_id,
        status: row.status.0,
        label: row.label,
        url: row.url,
        auth: row.auth.0,
        subscribed_events: row.subscribed_events.0,
        consecutive_failures: row.consecutive_failures,
        created_at: Timestamp(row.created_at),
        updated_at: Timestamp(row.updated_at),
    }
}
