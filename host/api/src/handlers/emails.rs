//! E-mails that inboxes received.

use kobana_contract::operations::emails::{
    DownloadOriginal, Email, EmailBody, EmailFilter, EmailStatus, GetEmail, IngestEmail, ListEmails, MESSAGE,
    ReprocessEmail,
};
use kobana_contract::{Data, Nothing, Page, Timestamp};
use kobana_store::rows::{EmailBodies, EmailColumn, EmailRow, Emails, Inboxes};
use kobana_store::suggest::{self, Suggestions, suggest};
use kobana_store::text::fold;
use kobana_store::{Scope as _, Table};
use sea_orm::sea_query::LikeExpr;
use sea_orm::{ColumnTrait as _, QueryFilter as _, Select};
use serde_json::{Value, json};

use crate::context::{Context, Input};
use crate::endpoint::Handle;
use crate::error::ApiError;
use crate::gate::{AtWork, Chosen};
use crate::intake::upload::unavailable;
use crate::reply::{Download, Reply};
use crate::{lookup, paging};

/// A query of e-mails.
pub(crate) type EmailRows = Select<<Emails as Table>::Entity>;

impl Handle for ListEmails {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Page<Email>>, ApiError> {
        match wanted(&context, &input.query).await? {
            Some(emails) => {
                input.page.answer::<Emails, _>(context.store().reads(), emails, |row| show(row, None)).await
            }
            None => Ok(paging::empty()),
        }
    }

    async fn suggest(context: Context<AtWork>, input: Input<Self>, prefix: &str) -> Result<Suggestions, ApiError> {
        match wanted(&context, &input.query).await? {
            Some(emails) => {
                let emails = offered(emails, input.query.status);
                Ok(suggest::<Emails>(context.store().reads(), &emails, prefix).await?)
            }
            None => Ok(Suggestions::none()),
        }
    }
}

/// The e-mails that pass all filters; none where a filter names nothing.
async fn wanted(context: &Context<AtWork>, filter: &EmailFilter) -> Result<Option<EmailRows>, ApiError> {
    let (rows, reads) = (context.place.rows, context.store().reads());
    let emails = filtered(rows.find::<Emails>(), filter);
    let Some(inbox) = &filter.inbox_id else { return Ok(Some(emails)) };
    let inbox = lookup::find::<Inboxes>(reads, rows, inbox).await?;
    Ok(inbox.map(|inbox| emails.filter(EmailColumn::InboxId.eq(inbox.id))))
}

/// The e-mails to offer. E-mails that came to nothing have indexes of their own, which the database uses only if it is told
/// in their own words that no others are wanted.
pub(crate) fn offered(emails: EmailRows, status: Option<EmailStatus>) -> EmailRows {
    match status {
        Some(EmailStatus::Failed | EmailStatus::Rejected) => emails.filter(suggest::came_to_nothing()),
        _ => emails,
    }
}

/// The e-mails that pass all filters but the inbox.
pub(crate) fn filtered(mut emails: EmailRows, filter: &EmailFilter) -> EmailRows {
    if let Some(status) = filter.status {
        emails = emails.filter(EmailColumn::Status.eq(status.as_str()));
    }
    if let Some(from) = &filter.from {
        emails = emails.filter(EmailColumn::SenderFolded.eq(fold(from)));
    }
    if let Some(text) = &filter.q {
        emails = emails.filter(EmailColumn::SubjectFolded.like(containing(text)));
    }
    if let Some(from) = filter.received_from {
        emails = emails.filter(EmailColumn::ReceivedAt.gte(from.0));
    }
    if let Some(to) = filter.received_to {
        emails = emails.filter(EmailColumn::ReceivedAt.lt(to.0));
    }
    emails
}

/// A pattern for texts that contain this one, in which the signs of the pattern language mean themselves. A NUL would
/// end the pattern early and match everything; no subject holds one, and nothing matches the replacement sign.
fn containing(text: &str) -> LikeExpr {
    let mut pattern = String::from("%");
    for letter in fold(text).chars() {
        if matches!(letter, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(if letter == '\0' { '\u{fffd}' } else { letter });
    }
    pattern.push('%');
    LikeExpr::new(pattern).escape('\\')
}

impl Handle for GetEmail {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Data<Email>>, ApiError> {
        Ok(Reply::ok(Data { data: read(&context, &input.path.id).await? }))
    }
}

async fn read(context: &Context<AtWork>, id: &str) -> Result<Email, ApiError> {
    let (rows, reads) = (context.place.rows, context.store().reads());
    let email = lookup::get_by_uuid::<Emails>(reads, rows, id).await?;
    let body = rows.find_by_id::<EmailBodies>(email.id).one(reads).await?;
    let body = body.map_or(EmailBody { text: None, html: None }, |body| EmailBody { text: body.text, html: body.html });
    Ok(show(email, Some(body)))
}

impl Handle for IngestEmail {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Data<Email>>, ApiError> {
        let file = input.file.ok_or_else(|| ApiError::internal("the endpoint brought no file"))?;
        let inbox = lookup::get::<Inboxes>(context.store().reads(), context.place.rows, &input.path.id).await?;
        let row = context.shared.intake.take(&inbox, file, context.now).await?;
        Ok(Reply::accepted(row).data(|row| show(row, None)))
    }
}

impl Handle for DownloadOriginal {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Nothing>, ApiError> {
        let email = lookup::get_by_uuid::<Emails>(context.store().reads(), context.place.rows, &input.path.id).await?;
        let found = context.store().blobs().open_file(&email.raw_s3_key).await.map_err(unavailable)?;
        let (file, length) = found.ok_or_else(|| {
            ApiError::internal(format!("the original of e-mail {} is missing where messages are kept", email.id))
        })?;
        let name = format!("{}.eml", email.id);
        Ok(Reply::file(Download { media_type: MESSAGE, name, length, file }))
    }
}

impl Handle for ReprocessEmail {
    type Gate = Chosen;

    async fn handle(context: Context<AtWork>, input: Input<Self>) -> Result<Reply<Data<Email>>, ApiError> {
        let tx = context.store().begin().await?;
        let email = lookup::get_by_uuid::<Emails>(&tx, context.place.rows, &input.path.id).await?;
        let row = context.shared.intake.again(tx, email, context.now).await?;
        Ok(Reply::accepted(row).data(|row| show(row, None)))
    }

    async fn prepare(context: Context<AtWork>, input: Input<Self>) -> Result<Value, ApiError> {
        Ok(json!(read(&context, &input.path.id).await?))
    }
}

pub(crate) fn show(row: EmailRow, body: Option<EmailBody>) -> Email {
    Email {
        id: row.id,
        workspace_id: row.workspace_id,
        inbox_id: row.inbox_id,
        agent_id: row.agent_id,
        message_id: row.message_id,
        raw_s3_key: row.raw_s3_key,
        subject: row.subject,
        from: row.sender,
        to: row.recipients.0,
        cc: row.cc.0,
        bcc: row.bcc.0,
        header_to: row.header_to.0,
        forwarded: row.forwarded,
        forwarded_for: row.forwarded_for,
        status: row.status.0,
        rejection_reason: row.rejection_reason,
        spam_verdict: row.spam_verdict,
        virus_verdict: row.virus_verdict,
        aws_ses_metadata: row.aws_ses_metadata.0,
        custom_metadata: row.custom_metadata.0,
        agent_metadata: row.agent_metadata.0,
        metadata: row.metadata.0,
        sent_at: row.sent_at.map(Timestamp),
        processed_at: row.processed_at.map(Timestamp),
        received_at: Timestamp(row.received_at),
        created_at: Timestamp(row.created_at),
        updated_at: Timestamp(row.updated_at),
        body,
    }
}
