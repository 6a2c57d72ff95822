//! Lists, a page at a time.

use kobana_contract::page::default_limit;
use kobana_contract::{Page, PageMeta, Spec};
use kobana_store::page::{self, Position};
use kobana_store::{Listed, Row};
use sea_orm::{ConnectionTrait, Select};
use serde_json::{Map, Value};

use crate::cursor::Cursors;
use crate::error::ApiError;
use crate::problems::Problems;
use crate::reply::Reply;

/// Which page of which list is wanted.
pub(crate) struct Paging {
    cursors: Cursors,
    list: String,
    after: Option<Position>,
    limit: u32,
}

impl Paging {
    /// Reads `limit` and `cursor` out of the checked query. Everything else in path and query is part of the list.
    pub(crate) fn read(
        cursors: &Cursors,
        spec: &Spec,
        bounds: &str,
        path: Option<&Map<String, Value>>,
        query: &Value,
        problems: &mut Problems,
    ) -> Self {
        let filters = query.as_object().into_iter().flatten();
        let filters = filters.filter(|(name, _)| !matches!(name.as_str(), "limit" | "cursor"));
        let filters: Vec<_> = path.into_iter().flatten().chain(filters).collect();
        let list = serde_json::json!([spec.id, bounds, filters]).to_string();
        let cursor = query.get("cursor").and_then(Value::as_str);
        let after = cursor.and_then(|cursor| cursors.open(&list, cursor));
        if cursor.is_some() && after.is_none() {
            problems.field("cursor", "expected meta.next_cursor of the same list with the same filters");
        }
        let limit = query.get("limit").and_then(Value::as_u64).and_then(|limit| u32::try_from(limit).ok());
        Self { cursors: cursors.clone(), list, after, limit: limit.unwrap_or(default_limit()) }
    }

    /// What is no list has one page, which nobody asks for.
    pub(crate) fn none(cursors: &Cursors) -> Self {
        Self { cursors: cursors.clone(), list: String::new(), after: None, limit: default_limit() }
    }

    /// Reads the page out of the rows that the list has.
    ///
    /// # Errors
    /// What the database answers.
    pub(crate) async fn fetch<T: Listed>(
        &self,
        connection: &impl ConnectionTrait,
        rows: Select<T::Entity>,
    ) -> Result<Page<Row<T>>, ApiError> {
        let slice = page::fetch::<T>(connection, rows, self.after, self.limit).await?;
        let next_cursor = slice.next.map(|position| self.cursors.seal(&self.list, position));
        Ok(Page { data: slice.rows, meta: PageMeta { next_cursor } })
    }

    /// The same as an answer, each row shown.
    ///
    /// # Errors
    /// What the database answers.
    pub(crate) async fn answer<T: Listed, U>(
        &self,
        connection: &impl ConnectionTrait,
        rows: Select<T::Entity>,
        show: impl Fn(Row<T>) -> U,
    ) -> Result<Reply<Page<U>>, ApiError> {
        let page = self.fetch::<T>(connection, rows).await?;
        Ok(Reply::ok(Page { data: page.data.into_iter().map(show).collect(), meta: page.meta }))
    }
}

/// A page with nothing on it, for filters that name nothing.
pub(crate) const fn empty<T>() -> Reply<Page<T>> {
    Reply::ok(Page { data: Vec::new(), meta: PageMeta { next_cursor: None } })
}
