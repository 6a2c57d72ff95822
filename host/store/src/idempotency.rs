//! Answers kept for repeated requests.
//!
//! A slot stands for one idempotency key of one credential in one workspace. It is taken before the work begins and
//! filled with the answer after it; a second request in the meantime finds it taken.

use sea_orm::{ColumnTrait, DbErr, EntityTrait, IntoActiveModel, QueryFilter, Set};

use crate::Store;
use crate::entity::idempotency::{ActiveModel, Column, Entity, Model};

/// How long an answer is kept, in microseconds: 24 hours.
const KEPT: i64 = 24 * 60 * 60 * 1_000_000;
/// How long a slot stays taken by work that never ended, such as by a crash, in microseconds: one minute.
const LEASE: i64 = 60 * 1_000_000;

/// What is in a slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Slot {
    /// Nothing: it is ours now, until [`fill`] or [`free`].
    Ours,
    /// The same request is still running.
    Running,
    /// Another request used it.
    Other,
    /// The answer of the same request: its status, and its body as it was handed in.
    Answered(u16, Vec<u8>),
}

/// Takes the slot for a request, of which a digest is given, at a time in microseconds.
///
/// # Errors
/// What the database answers.
pub async fn take(store: &Store, slot: &str, request: &[u8], now: i64) -> Result<Slot, DbErr> {
    let tx = store.begin().await?;
    Entity::delete_many().filter(Column::CreatedAt.lt(now.saturating_sub(KEPT))).exec(&tx).await?;
    let found = Entity::find_by_id(slot.to_owned()).one(&tx).await?;
    let state = found.as_ref().map_or(Slot::Ours, |row| state(row, request, now));
    if state == Slot::Ours {
        if found.is_some() {
            Entity::delete_by_id(slot.to_owned()).exec(&tx).await?;
        }
        let row =
            Model { slot: slot.to_owned(), request: request.to_vec(), status: None, answer: None, created_at: now };
        Entity::insert(row.into_active_model()).exec_without_returning(&tx).await?;
    }
    tx.commit().await?;
    Ok(state)
}

fn state(row: &Model, request: &[u8], now: i64) -> Slot {
    let status = row.status.and_then(|status| u16::try_from(status).ok());
    match (status, &row.answer) {
        (None, _) if row.created_at < now.saturating_sub(LEASE) => Slot::Ours,
        _ if row.request != request => Slot::Other,
        (Some(status), Some(answer)) => Slot::Answered(status, answer.clone()),
        _ => Slot::Running,
    }
}

/// Keeps the answer in the slot.
///
/// # Errors
/// What the database answers.
pub async fn fill(store: &Store, slot: &str, status: u16, answer: Vec<u8>) -> Result<(), DbErr> {
    let tx = store.begin().await?;
    let changes = ActiveModel { status: Set(Some(status.into())), answer: Set(Some(answer)), ..Default::default() };
    Entity::update_many().set(changes).filter(Column::Slot.eq(slot)).exec(&tx).await?;
    tx.commit().await
}

/// Gives the slot back, as the answer is none to keep.
///
/// # Errors
/// What the database answers.
pub async fn free(store: &Store, slot: &str) -> Result<(), DbErr> {
    let tx = store.begin().await?;
    Entity::delete_by_id(slot.to_owned()).exec(&tx).await?;
    tx.commit().await
}
