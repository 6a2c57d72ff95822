//! The data of the demo profile: the same rows with the same ids every time.

mod identity;
mod inboxes;
mod mail;
mod originals;
mod phrases;
mod processing;
mod webhooks;

use sea_orm::{ConnectionTrait, DbErr, EntityTrait};
use uuid::Uuid;

pub use identity::{EMAIL, PASSWORD, organizations, persons, workspaces};

use crate::entity::organizations as table;
use crate::{Store, Write};

/// The domain of every demo inbox's address.
pub const INBOX_DOMAIN: &str = "inbox.example";

/// A UUID of the demo: version 7 in form, at the time zero, with a number of our own at the end.
const fn id(number: u128) -> Uuid {
    Uuid::from_u128(0x0000_0000_0000_7000_8000_0000_0000_0000 | number)
}

/// 1 July 2026, 11:00 UTC, in microseconds: when the demo's first e-mail arrives.
const START: i64 = 1_782_903_600_000_000;
const SECOND: i64 = 1_000_000;
const MINUTE: i64 = 60 * SECOND;
const DAY: i64 = 24 * 60 * MINUTE;

/// Puts the demo's rows into the database, and the messages that its e-mails came as beside it. Rows and messages that are
/// there stay as they are, so a second call changes nothing.
///
/// # Errors
/// What the database answers; nothing is written then.
pub async fn seed(store: &Store) -> Result<(), DbErr> {
    mail::originals(store.blobs())
        .map_err(|error| DbErr::Custom(format!("cannot write the demo's messages: {error}")))?;
    let tx = store.begin().await?;
    if !is_there(&tx).await? {
        fill(&tx).await?;
    }
    tx.commit().await
}

/// Whether the demo's rows, and with them its well-known passwords, are in the database.
///
/// # Errors
/// What the database answers.
pub async fn is_there(connection: &impl ConnectionTrait) -> Result<bool, DbErr> {
    Ok(table::Entity::find_by_id(organizations::ACME).one(connection).await?.is_some())
}

async fn fill(tx: &Write) -> Result<(), DbErr> {
    identity::fill(tx).await?;
    inboxes::fill(tx).await?;
    mail::fill(tx).await?;
    processing::fill(tx).await?;
    webhooks::fill(tx).await
}
