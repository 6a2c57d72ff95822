//! Rows offered to choose from, found by the beginning of one of their texts (mcp-catalogue.md, Completions).
//!
//! Each text has an index of its own, and what begins with a prefix is one range of it. So the values cost the same
//! however many rows there are. Counting costs as much as there is to count, and therefore ends somewhere.

use std::collections::HashSet;

use sea_orm::sea_query::{Asterisk, Expr, ExprTrait as _, Query, SelectStatement, UnionType};
use sea_orm::{
    ColumnTrait as _, ConnectionTrait, DbErr, Order, QueryFilter as _, QueryOrder as _, QuerySelect as _,
    QueryTrait as _, Select,
};
use serde::Serialize;
use uuid::Uuid;

use crate::page;
use crate::scope::Listed;
use crate::text::{fold, successor};

/// The most values that are offered at a time (protocol.md §12).
const MOST_VALUES: u32 = 100;
/// How far the rows that one text matches are counted.
const MOST_COUNTED: u64 = 10_000;

/// A list whose rows can be offered.
pub trait Suggested: Listed {
    /// What a row is offered as; its UUID where it has no name of its own.
    const NAME: Option<Self::Column>;
    /// The texts of which one must begin with what was typed, in the order in which they count. There is no capital in them,
    /// and each leads an index of the tenant's rows. The UUID is matched after them.
    const TEXTS: &'static [Self::Column];
}

/// What is offered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Suggestions {
    /// At most 100 rows, by their own names or their UUIDs.
    pub values: Vec<String>,
    /// How many rows match; none where a single text matches more than 10,000.
    pub total: Option<u64>,
}

impl Suggestions {
    /// For filters that name nothing.
    #[must_use]
    pub const fn none() -> Self {
        Self { values: Vec::new(), total: Some(0) }
    }
}

/// That an e-mail failed or was rejected, in the words of the indexes that hold only those.
#[must_use]
pub fn came_to_nothing() -> Expr {
    Expr::cust("status IN ('failed', 'rejected')")
}

/// Offers the rows of which a text begins with what was typed, in any letter case: by the first text that does, then
/// alphabetically, the newest first of those with the same one. Without anything typed, all rows in the order of the list.
///
/// # Errors
/// What the database answers.
pub async fn suggest<T: Suggested>(
    connection: &impl ConnectionTrait,
    rows: &Select<T::Entity>,
    typed: &str,
) -> Result<Suggestions, DbErr> {
    let matches = matches::<T>(rows, typed);
    let (mut values, mut seen, mut all) = (Vec::new(), HashSet::new(), true);
    let most = usize::try_from(MOST_VALUES).unwrap_or(usize::MAX);
    for matched in &matches {
        let found = offered::<T>(connection, matched.first()).await?;
        all &= found.len() <= most;
        values.extend(found.into_iter().filter_map(|(id, name)| seen.insert(id).then_some(name)));
    }
    let total = if all { u64::try_from(values.len()).ok() } else { count(connection, &counting(&matches)).await? };
    values.truncate(most);
    Ok(Suggestions { values, total })
}

/// The rows that are matched in one way.
struct Match<T: Suggested> {
    rows: Select<T::Entity>,
    by: By<T>,
}

enum By<T: Suggested> {
    /// Every row matches.
    Nothing,
    Text(T::Column),
    Id,
}

/// All ways in which rows match. One row may match in several.
fn matches<T: Suggested>(rows: &Select<T::Entity>, typed: &str) -> Vec<Match<T>> {
    let typed = fold(typed);
    if typed.is_empty() {
        return vec![Match { rows: rows.clone(), by: By::Nothing }];
    }
    let by_text = T::TEXTS.iter().map(|text| {
        let from = rows.clone().filter(text.gte(typed.as_str()));
        let end = successor(&typed).map(|end| text.lt(end));
        Match { rows: end.into_iter().fold(from, |rows, end| rows.filter(end)), by: By::Text(*text) }
    });
    let by_id =
        uuids(&typed).map(|(first, last)| Match { rows: rows.clone().filter(T::ID.between(first, last)), by: By::Id });
    by_text.chain(by_id).collect()
}

/// The first and the last UUID that begin with this text, as UUIDs are shown: hyphens and small letters.
fn uuids(typed: &str) -> Option<(Uuid, Uuid)> {
    let filled = |rest: &str| Uuid::parse_str(&format!("{typed}{}", rest.get(typed.len()..)?)).ok();
    let first = filled("00000000-0000-0000-0000-000000000000")?;
    let last = filled("ffffffff-ffff-ffff-ffff-ffffffffffff")?;
    first.to_string().starts_with(typed).then_some((first, last))
}

impl<T: Suggested> Match<T> {
    /// As many of the rows as are offered at a time, and one more to know whether there are more.
    fn first(&self) -> Select<T::Entity> {
        let rows = self.rows.clone();
        let rows = match &self.by {
            By::Nothing => return page::query::<T>(rows, None, MOST_VALUES),
            // What was made later has the greater UUID.
            By::Id => rows.order_by(T::ID, Order::Desc),
            By::Text(text) => {
                rows.order_by(*text, Order::Asc).order_by(T::TIME, Order::Desc).order_by(T::ID, Order::Desc)
            }
        };
        rows.limit(u64::from(MOST_VALUES).saturating_add(1))
    }
}

/// Reads rows as they are offered.
async fn offered<T: Suggested>(
    connection: &impl ConnectionTrait,
    rows: Select<T::Entity>,
) -> Result<Vec<(Uuid, String)>, DbErr> {
    let ids = rows.select_only().column(T::ID);
    match T::NAME {
        Some(name) => ids.column(name).into_tuple().all(connection).await,
        None => {
            let ids: Vec<Uuid> = ids.into_tuple().all(connection).await?;
            Ok(ids.into_iter().map(|id| (id, id.to_string())).collect())
        }
    }
}

/// Counts every row once, and of each match no more than one row beyond what is counted.
fn counting<T: Suggested>(matches: &[Match<T>]) -> SelectStatement {
    let ids = matches.iter().map(|matched| {
        let some = matched.rows.clone().select_only().column(T::ID).limit(MOST_COUNTED.saturating_add(1));
        // A part of a union has no limit of its own, unless it is a query by itself.
        Query::select().expr(Expr::col(Asterisk)).from_subquery(some.into_query(), "some").take()
    });
    let every = ids.reduce(|mut all, part| all.union(UnionType::Distinct, part).take()).unwrap_or_default();
    Query::select().expr(Expr::col(Asterisk).count()).from_subquery(every, "every").take()
}

/// The number that a query counts, as far as it is exact.
async fn count(connection: &impl ConnectionTrait, query: &SelectStatement) -> Result<Option<u64>, DbErr> {
    let counted = connection.query_one(query).await?;
    let counted = counted.map(|row| row.try_get_by_index::<i64>(0)).transpose()?;
    Ok(counted.and_then(|number| u64::try_from(number).ok()).filter(|number| *number <= MOST_COUNTED))
}

/// The queries that an answer takes, for looking at how they are carried out.
pub fn queries<T: Suggested>(rows: &Select<T::Entity>, typed: &str) -> Vec<SelectStatement> {
    let matches = matches::<T>(rows, typed);
    matches.iter().map(|matched| matched.first().into_query()).chain([counting(&matches)]).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::uuids;

    proptest! {
        #[test]
        fn a_uuid_is_in_the_range_of_its_beginnings_and_of_no_other(id: u128, other: u128, length in 1..=36_usize) {
            let (id, other) = (uuid::Uuid::from_u128(id), uuid::Uuid::from_u128(other));
            let text = id.to_string();
            let typed = text.get(..length).unwrap();
            let (first, last) = uuids(typed).unwrap();
            prop_assert!(first <= id && id <= last);
            prop_assert_eq!(first <= other && other <= last, other.to_string().starts_with(typed));
        }

        #[test]
        fn what_begins_no_uuid_has_no_range(typed in "[0-9a-fg-]{1,40}") {
            let begins = typed.len() <= 36
                && typed.chars().zip("xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx".chars())
                    .all(|(letter, form)| if form == '-' { letter == '-' } else { letter.is_ascii_hexdigit() });
            prop_assert_eq!(uuids(&typed).is_some(), begins);
        }
    }

    #[test]
    fn other_spellings_and_scripts_begin_no_uuid() {
        for typed in ["", "{", "urn:uuid:", "é", "0000000é", "00000000-é", "00000000000000000000000000000000"] {
            assert_eq!(uuids(typed).is_some(), typed.is_empty(), "{typed}");
        }
    }
}
