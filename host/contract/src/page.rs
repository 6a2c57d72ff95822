//! Envelopes of answers: one thing, or a page of a list.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One thing: `{data}`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Data<T> {
    /// The thing.
    pub data: T,
}

/// A page of a list, newest rows first: `{data, meta}`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Page<T> {
    /// The rows.
    pub data: Vec<T>,
    /// Where the next page begins.
    pub meta: PageMeta,
}

/// Where the next page begins.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PageMeta {
    /// Pass it as cursor for the next page; null at the end.
    pub next_cursor: Option<String>,
}

/// Which page of a list is wanted.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct PageQuery {
    /// Rows per page.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 200), transform = plain_integer)]
    pub limit: u32,
    /// Opaque value of meta.next_cursor, good only with the same filters.
    #[serde(default)]
    #[schemars(with = "String")]
    pub cursor: Option<String>,
}

/// Rows per page where the caller does not say.
#[must_use]
pub const fn default_limit() -> u32 {
    50
}

/// Drops the format that names a Rust type, which says nothing to a caller.
pub fn plain_integer(schema: &mut schemars::Schema) {
    schema.remove("format");
}
