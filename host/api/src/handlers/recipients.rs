//! Who may send to an inbox.

use kobana_contract::Data;
use kobana_contract::operations::inboxes::{
    AddAllowedRecipient, AllowedRecipients, Recipient, RecipientQuery, RemoveAllowedRecipient,
};
use kobana_store::Write;
use kobana_store::rows::{InboxChanges, InboxRow, Inboxes};
use kobana_store::text::fold;
use kobana_store::values::Texts;
use sea_orm::Set;
use serde_json::Value;

use crate::context::{Context, Input};
use crate::endpoint::Handle;
use crate::error::ApiError;
use crate::gate::{AtWork, Chosen};
use crate::handlers::inboxes;
use crate::reply::Reply;
use crate::{address, common, lookup};

impl Handle for AddAllowedRecipient {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Data<AllowedRecipients>>, ApiError> {
        let tx = context.store().begin().await?;
        let row = lookup::get::<Inboxes>(&tx, context.place.rows, &input.path.id).await?;
        let mut list = row.allowed_recipients.0.clone();
        if !address::add(&mut list, &input.body.email) {
            return Ok(Reply::ok(list).data(show));
        }
        save(&context, &tx, row, list.clone()).await?;
        tx.commit().await?;
        Ok(Reply::created(list).data(show))
    }

    async fn prepare(context: Context<AtWork>, input: Input<Self>) -> Result<Value, ApiError> {
        inboxes::prepare(&context, &input.path.id).await
    }
}

impl Handle for RemoveAllowedRecipient {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Data<AllowedRecipients>>, ApiError> {
        let email = fold(named(input.body, input.query)?.as_str());
        let tx = context.store().begin().await?;
        let row = lookup::get::<Inboxes>(&tx, context.place.rows, &input.path.id).await?;
        let mut list = row.allowed_recipients.0.clone();
        list.retain(|listed| fold(listed) != email);
        if list.len() < row.allowed_recipients.0.len() {
            save(&context, &tx, row, list.clone()).await?;
            tx.commit().await?;
        }
        Ok(Reply::ok(list).data(show))
    }

    async fn prepare(context: Context<AtWork>, input: Input<Self>) -> Result<Value, ApiError> {
        named(input.body, input.query)?;
        inboxes::prepare(&context, &input.path.id).await
    }
}

/// The address that is meant, whether the body or the query has it.
fn named(body: Option<Recipient>, query: RecipientQuery) -> Result<String, ApiError> {
    match (body.map(|body| body.email), query.email) {
        (Some(body), Some(query)) if fold(&body) != fold(&query) => {
            Err(ApiError::invalid_field("email", "must be the same in the body and in the query"))
        }
        (Some(email), _) | (None, Some(email)) => Ok(email),
        (None, None) => Err(ApiError::invalid_field("email", "is required, in the body or in the query")),
    }
}

async fn save(context: &Context<AtWork>, tx: &Write, row: InboxRow, list: Vec<String>) -> Result<(), ApiError> {
    let changes = InboxChanges { allowed_recipients: Set(Texts(list)), ..Default::default() };
    common::save::<Inboxes>(context, tx, row, changes).await.map(|_| ())
}

fn show(allowed_recipients: Vec<String>) -> AllowedRecipients {
    AllowedRecipients { allowed_recipients }
}
