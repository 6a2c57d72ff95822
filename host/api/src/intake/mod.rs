//! Taking raw messages in.
//!
//! A message is staged as it streams in, its headers are read, and then one transaction makes the e-mail's row, the event
//! and the job that goes on from there. The file is in its place before the row that names it; if the transaction fails,
//! the file goes. What the message says, and whether the inbox wants it, is the worker's business.
//!
//! Over HTTP and from the command line it is the same [`Intake`].

mod address;
pub(crate) mod content;
pub(crate) mod events;
mod headers;
pub(crate) mod upload;

use std::io::Read as _;
use std::path::Path;

use kobana_contract::Timestamp;
use kobana_contract::operations::emails::{EmailStatus, LARGEST_MESSAGE};
use kobana_store::blobs::Staged;
use kobana_store::rows::{EmailColumn, EmailRow, Emails, InboxRow};
use kobana_store::values::{Folded, Object, Texts, Word};
use kobana_store::{InWorkspace, Scope as _, Store, Write};
use sea_orm::{ColumnTrait as _, QueryFilter as _};
use serde_json::Map;
use uuid::Uuid;

use crate::error::ApiError;
use crate::intake::headers::Headers;
use crate::intake::upload::unavailable;
use crate::problems::Problems;
use crate::worker::{Wake, email};

/// Bytes read at a time.
const CHUNK: usize = 64 * 1024;

/// Takes messages in.
#[derive(Debug, Clone)]
pub struct Intake {
    store: Store,
    wake: Wake,
}

/// A message that was taken in.
#[derive(Debug, Clone)]
pub struct Taken {
    /// UUID of the e-mail.
    pub id: Uuid,
    /// Its Message-ID.
    pub message_id: String,
}

impl Intake {
    /// Takes messages into a database, and wakes the worker of this process up for each.
    #[must_use]
    pub const fn new(store: Store, wake: Wake) -> Self {
        Self { store, wake }
    }

    /// Takes the message in a file in, as if it had arrived at the inbox's address.
    ///
    /// # Errors
    /// [`ApiError::PayloadTooLarge`] above 40 MB, [`ApiError::Invalid`] if it is no message, [`ApiError::Conflict`] if the
    /// inbox holds its Message-ID, [`ApiError::Unavailable`] if it cannot be read or stored.
    pub async fn file(&self, inbox: &InboxRow, path: &Path) -> Result<Taken, ApiError> {
        let mut file = std::fs::File::open(path).map_err(unavailable)?;
        if file.metadata().map_err(unavailable)?.len() > LARGEST_MESSAGE {
            return Err(ApiError::PayloadTooLarge);
        }
        let mut staging = self.store.blobs().stage().await.map_err(unavailable)?;
        let mut chunk = vec![0; CHUNK];
        loop {
            let length = file.read(&mut chunk).map_err(unavailable)?;
            let Some(bytes) = chunk.get(..length).filter(|bytes| !bytes.is_empty()) else { break };
            staging.write(bytes).await.map_err(unavailable)?;
            if staging.length() > LARGEST_MESSAGE {
                return Err(ApiError::PayloadTooLarge);
            }
        }
        let staged = staging.end().await.map_err(unavailable)?;
        let row = self.take(inbox, staged, Timestamp::now()).await?;
        Ok(Taken { id: row.id, message_id: row.message_id })
    }

    /// Takes a staged message in; answers its row.
    pub(crate) async fn take(&self, inbox: &InboxRow, file: Staged, now: Timestamp) -> Result<EmailRow, ApiError> {
        let head = head(&file).await?;
        let no_message = || ApiError::Invalid(Problems::of_form("the bytes are no message in the form of RFC 5322"));
        let headers = headers::read(&head, file.digest()).ok_or_else(no_message)?;
        let rows = InWorkspace(inbox.workspace_id);
        // Looked at first so that a message that comes again costs little; the index is what really decides.
        let same = rows.find::<Emails>().filter(EmailColumn::InboxId.eq(inbox.id));
        let same = same.filter(EmailColumn::MessageId.eq(&headers.message_id));
        if same.one(self.store.reads()).await?.is_some() {
            return Err(ApiError::Conflict { field: "message_id" });
        }
        let row = row(inbox, headers, now);
        self.store.blobs().keep(file, &row.raw_s3_key).await.map_err(unavailable)?;
        match self.insert(rows, &row, now).await {
            Ok(()) => {
                self.wake.wake();
                Ok(row)
            }
            Err(error) => {
                if let Err(error) = self.store.blobs().remove(&row.raw_s3_key).await {
                    tracing::warn!(%error, key = row.raw_s3_key, "a file that nobody refers to could not be removed");
                }
                Err(error)
            }
        }
    }

    async fn insert(&self, rows: InWorkspace, row: &EmailRow, now: Timestamp) -> Result<(), ApiError> {
        let tx = self.store.begin().await?;
        rows.insert::<Emails>(&tx, row.clone()).await?;
        events::record(&tx, events::about_email(events::RECEIVED, row), now).await?;
        email::queue(&tx, row, now).await?;
        Ok(tx.commit().await?)
    }

    /// Sends an e-mail through everything again: it is received once more, and what still goes on about it comes to nothing.
    pub(crate) async fn again(&self, tx: Write, mut row: EmailRow, now: Timestamp) -> Result<EmailRow, ApiError> {
        email::cancel(&tx, &row, now).await?;
        row.status = Word(EmailStatus::Received);
        (row.rejection_reason, row.processed_at) = (None, None);
        row.agent_metadata = Object(Map::new());
        row.updated_at = now.0;
        email::write(&tx, &row).await?;
        events::record(&tx, events::about_email(events::REPROCESSING, &row), now).await?;
        email::queue(&tx, &row, now).await?;
        tx.commit().await?;
        self.wake.wake();
        Ok(row)
    }
}

/// The beginning of the file, as far as headers go.
async fn head(file: &Staged) -> Result<Vec<u8>, ApiError> {
    let mut file = file.open().await.map_err(unavailable)?;
    let read = tokio::task::spawn_blocking(move || headers::head(&mut file)).await.map_err(ApiError::internal)?;
    read.map_err(unavailable)
}

fn row(inbox: &InboxRow, headers: Headers, now: Timestamp) -> EmailRow {
    let id = Uuid::now_v7();
    let forwarding = headers.forwarding(&inbox.email);
    EmailRow {
        id,
        workspace_id: inbox.workspace_id,
        inbox_id: inbox.id,
        agent_id: None,
        message_id: headers.message_id,
        raw_s3_key: format!("raw/{}/{id}.eml", inbox.workspace_id),
        subject_folded: None,
        subject: headers.subject,
        sender_folded: Folded::default(),
        sender: headers.from,
        recipients: Texts(vec![inbox.email.clone()]),
        cc: Texts(headers.cc),
        bcc: Texts(headers.bcc),
        header_to: Texts(headers.to),
        forwarded: forwarding.forwarded,
        forwarded_for: forwarding.on_behalf_of,
        status: Word(EmailStatus::Received),
        rejection_reason: None,
        spam_verdict: None,
        virus_verdict: None,
        aws_ses_metadata: Object(Map::new()),
        custom_metadata: Object(Map::new()),
        agent_metadata: Object(Map::new()),
        metadata: Object(Map::new()),
        sent_at: headers.sent_at.map(|time| time.0),
        processed_at: None,
        received_at: now.0,
        created_at: now.0,
        updated_at: now.0,
    }
}
