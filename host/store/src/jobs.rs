//! The queue of work that outlives the request and the process that asked for it.
//!
//! A job is made in the transaction that makes it necessary ([`create`]) and ended in the transaction that holds its
//! effect ([`end`]): both happen or neither does. In between a worker holds it under a lease ([`claim`], [`renew`]); a
//! lease that runs out, because its worker died, makes the job due again for whoever asks next. Every change asks for
//! the worker that holds the job, so a worker that lost it cannot end it a second time.
//!
//! This is our own table and no queue crate: those that serve SQLite and Postgres (apalis, and others over sqlx) put a
//! job in through their own pool or an sqlx connection, which a SeaORM transaction does not give away, and then the job
//! and the change that needs it are two transactions.

use kobana_contract::Timestamp;
use sea_orm::sea_query::{Expr, ExprTrait, LockBehavior, LockType};
use sea_orm::{
    ColumnTrait, Condition, ConnectionTrait, DbErr, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder, QuerySelect,
    Set,
};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::entity::jobs::{ActiveModel, Column, Entity};
use crate::values::Object;
use crate::{Store, Write};

/// A job, as it lies in the table.
pub use crate::entity::jobs::Model as JobRow;

/// Work to be done.
#[derive(Debug, Clone)]
pub struct NewJob {
    /// Which handler does it.
    pub kind: &'static str,
    /// UUID of the row that it is about, for [`cancel`].
    pub subject: Option<Uuid>,
    /// What the handler needs to know.
    pub payload: Map<String, Value>,
    /// When it is due, in microseconds.
    pub run_at: i64,
}

/// How a job ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It had its effect.
    Done,
    /// It was given up.
    Dead,
    /// Something newer took its place.
    Cancelled,
}

impl Ending {
    const fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Dead => "dead",
            Self::Cancelled => "cancelled",
        }
    }
}

/// Puts a job into the queue; it is there once the transaction is.
///
/// # Errors
/// What the database answers.
pub async fn create(tx: &Write, job: NewJob, now: i64) -> Result<Uuid, DbErr> {
    let id = Uuid::now_v7();
    let row = JobRow {
        id,
        kind: job.kind.to_owned(),
        subject: job.subject,
        payload: Object(job.payload),
        run_at: job.run_at,
        attempts: 0,
        owner: None,
        leased_until: None,
        last_error: None,
        outcome: None,
        finished_at: None,
        created_at: now,
    };
    Entity::insert(row.into_active_model()).exec_without_returning(tx).await?;
    Ok(id)
}

/// Takes up to `limit` due jobs of these kinds for a worker, the longest due first, until `until` in microseconds. Each
/// counts as begun once more.
///
/// # Errors
/// What the database answers; nothing is taken then.
pub async fn claim(
    store: &Store,
    kinds: &[&str],
    owner: Uuid,
    now: i64,
    until: i64,
    limit: u64,
) -> Result<Vec<JobRow>, DbErr> {
    // Looking costs no lock: a worker with nothing to do stays out of the way of those who write.
    if due(kinds, now).limit(1).one(store.reads()).await?.is_none() {
        return Ok(Vec::new());
    }
    let tx = store.begin().await?;
    let found = due(kinds, now).order_by_asc(Column::RunAt).order_by_asc(Column::Id).limit(limit);
    // SQLite has one writer and leaves the clause out.
    let mut rows = found.lock_with_behavior(LockType::Update, LockBehavior::SkipLocked).all(&tx).await?;
    let ids = rows.iter().map(|row| row.id);
    let taken = ActiveModel { owner: Set(Some(owner)), leased_until: Set(Some(until)), ..Default::default() };
    let attempts = Expr::col(Column::Attempts).add(1);
    let update = Entity::update_many().set(taken).col_expr(Column::Attempts, attempts).filter(Column::Id.is_in(ids));
    update.exec(&tx).await?;
    tx.commit().await?;
    for row in &mut rows {
        (row.owner, row.leased_until, row.attempts) = (Some(owner), Some(until), row.attempts.saturating_add(1));
    }
    Ok(rows)
}

fn due(kinds: &[&str], now: i64) -> sea_orm::Select<Entity> {
    let free = Condition::any().add(Column::LeasedUntil.is_null()).add(Column::LeasedUntil.lt(now));
    Entity::find()
        .filter(Column::FinishedAt.is_null())
        .filter(Column::RunAt.lte(now))
        .filter(free)
        .filter(Column::Kind.is_in(kinds.iter().copied()))
}

/// Holds on to jobs until `until`, and answers which of them the worker still holds.
///
/// # Errors
/// What the database answers.
pub async fn renew(store: &Store, owner: Uuid, ids: &[Uuid], until: i64) -> Result<Vec<Uuid>, DbErr> {
    let tx = store.begin().await?;
    let changes = ActiveModel { leased_until: Set(Some(until)), ..Default::default() };
    let ids = ids.iter().copied();
    Entity::update_many().set(changes).filter(held(owner)).filter(Column::Id.is_in(ids.clone())).exec(&tx).await?;
    let rows = Entity::find().select_only().column(Column::Id).filter(held(owner)).filter(Column::Id.is_in(ids));
    let still = rows.into_tuple::<Uuid>().all(&tx).await?;
    tx.commit().await?;
    Ok(still)
}

fn held(owner: Uuid) -> Condition {
    Condition::all().add(Column::Owner.eq(owner)).add(Column::FinishedAt.is_null())
}

/// Whether the worker still holds the job: its effect may be written in this transaction.
///
/// # Errors
/// What the database answers.
pub async fn is_held(tx: &Write, id: Uuid, owner: Uuid) -> Result<bool, DbErr> {
    Ok(Entity::find_by_id(id).filter(held(owner)).one(tx).await?.is_some())
}

/// Ends a job that the worker holds, and answers whether it did hold it. If not, the transaction must be dropped:
/// somebody else has the job, or had its effect.
///
/// # Errors
/// What the database answers.
pub async fn end(
    tx: &Write,
    id: Uuid,
    owner: Uuid,
    ending: Ending,
    error: Option<String>,
    now: i64,
) -> Result<bool, DbErr> {
    let mut changes = ended(ending, now);
    if error.is_some() {
        changes.last_error = Set(error);
    }
    let update = Entity::update_many().set(changes).filter(Column::Id.eq(id)).filter(held(owner));
    Ok(update.exec(tx).await?.rows_affected == 1)
}

fn ended(ending: Ending, now: i64) -> ActiveModel {
    ActiveModel {
        owner: Set(None),
        leased_until: Set(None),
        outcome: Set(Some(ending.name().to_owned())),
        finished_at: Set(Some(now)),
        ..Default::default()
    }
}

/// Puts a job that the worker holds back, due at `run_at`, and answers whether it did hold it.
///
/// # Errors
/// What the database answers.
pub async fn retry(store: &Store, id: Uuid, owner: Uuid, run_at: i64, error: String) -> Result<bool, DbErr> {
    let changes = ActiveModel {
        owner: Set(None),
        leased_until: Set(None),
        run_at: Set(run_at),
        last_error: Set(Some(error)),
        ..Default::default()
    };
    let tx = store.begin().await?;
    let update = Entity::update_many().set(changes).filter(Column::Id.eq(id)).filter(held(owner));
    let affected = update.exec(&tx).await?.rows_affected;
    tx.commit().await?;
    Ok(affected == 1)
}

/// Puts back whatever the worker holds, as if it had never been begun: the worker stops.
///
/// # Errors
/// What the database answers.
pub async fn release(store: &Store, owner: Uuid) -> Result<u64, DbErr> {
    let changes = ActiveModel { owner: Set(None), leased_until: Set(None), ..Default::default() };
    let tx = store.begin().await?;
    let attempts = Expr::col(Column::Attempts).sub(1);
    let update = Entity::update_many().set(changes).col_expr(Column::Attempts, attempts).filter(held(owner));
    let affected = update.exec(&tx).await?.rows_affected;
    tx.commit().await?;
    Ok(affected)
}

/// Ends the jobs about a row that have not ended, whoever holds them, and answers them: something newer takes their
/// place in the same transaction.
///
/// # Errors
/// What the database answers.
pub async fn cancel(tx: &Write, kind: &str, subject: Uuid, now: i64) -> Result<Vec<JobRow>, DbErr> {
    let about =
        Condition::all().add(Column::Subject.eq(subject)).add(Column::Kind.eq(kind)).add(Column::FinishedAt.is_null());
    let rows = Entity::find().filter(about.clone()).all(tx).await?;
    if !rows.is_empty() {
        Entity::update_many().set(ended(Ending::Cancelled, now)).filter(about).exec(tx).await?;
    }
    Ok(rows)
}

/// When the next job of these kinds falls due or may be taken over, in microseconds.
///
/// # Errors
/// What the database answers.
pub async fn next_due(store: &Store, kinds: &[&str]) -> Result<Option<Timestamp>, DbErr> {
    let row = Entity::find()
        .select_only()
        .column(Column::RunAt)
        .filter(Column::FinishedAt.is_null())
        .filter(Column::LeasedUntil.is_null())
        .filter(Column::Kind.is_in(kinds.iter().copied()))
        .order_by_asc(Column::RunAt);
    Ok(row.into_tuple::<i64>().one(store.reads()).await?.map(Timestamp))
}

/// Clears away what ended before a time in microseconds.
///
/// # Errors
/// What the database answers.
pub async fn forget(store: &Store, before: i64) -> Result<u64, DbErr> {
    let tx = store.begin().await?;
    let gone = Entity::delete_many().filter(Column::FinishedAt.lt(before)).exec(&tx).await?.rows_affected;
    tx.commit().await?;
    Ok(gone)
}

/// The jobs about a row, oldest first, ended ones included.
///
/// # Errors
/// What the database answers.
pub async fn about(connection: &impl ConnectionTrait, subject: Uuid) -> Result<Vec<JobRow>, DbErr> {
    Entity::find().filter(Column::Subject.eq(subject)).order_by_asc(Column::Id).all(connection).await
}
