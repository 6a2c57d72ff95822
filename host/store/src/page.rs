//! Keyset paging, newest rows first: a page begins after the last row of the one before, by time and then id. Rows that
//! are added meanwhile neither move nor repeat the others, and the thousandth page costs what the first does.

use sea_orm::{
    ConnectionTrait, DbErr, Order, QueryFilter, QueryOrder, QuerySelect, Select,
    sea_query::{Expr, ExprTrait},
};
use uuid::Uuid;

use crate::scope::{Listed, Row};

/// Where a row stands in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Its time, in microseconds since the Unix epoch.
    pub time: i64,
    /// Its UUID, which decides between rows of the same time.
    pub id: Uuid,
}

/// A page, and where the next one begins.
#[derive(Debug, Clone)]
pub struct Slice<R> {
    /// The rows, newest first.
    pub rows: Vec<R>,
    /// The last row's position, if there are more rows behind it.
    pub next: Option<Position>,
}

/// The query of one page: at most `limit` rows that come after `after`, and one more to know whether there are more.
#[must_use]
pub fn query<T: Listed>(rows: Select<T::Entity>, after: Option<Position>, limit: u32) -> Select<T::Entity> {
    let column = |column: T::Column| Expr::col((T::Entity::default(), column));
    let rows = match after {
        Some(Position { time, id }) => {
            rows.filter(Expr::tuple([column(T::TIME), column(T::ID)]).lt(Expr::tuple([Expr::val(time), Expr::val(id)])))
        }
        None => rows,
    };
    rows.order_by(T::TIME, Order::Desc).order_by(T::ID, Order::Desc).limit(u64::from(limit).saturating_add(1))
}

/// Reads one page of at most `limit` rows.
///
/// # Errors
/// What the database answers.
pub async fn fetch<T: Listed>(
    connection: &impl ConnectionTrait,
    rows: Select<T::Entity>,
    after: Option<Position>,
    limit: u32,
) -> Result<Slice<Row<T>>, DbErr> {
    let mut rows = query::<T>(rows, after, limit).all(connection).await?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = rows.len() > limit;
    rows.truncate(limit);
    let next = if more { rows.last().map(T::position) } else { None };
    Ok(Slice { rows, next })
}
