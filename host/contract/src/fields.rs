//! Shapes that several operations share.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::access::names;

/// The longest id or external_id, in characters.
pub const MAX_ID_LENGTH: usize = 128;
/// The longest `X-Idempotency-Key`, in characters.
pub const LONGEST_KEY: usize = 255;

/// The caller's own name for a row: 1 to 128 characters of a small alphabet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ExternalId(
    #[schemars(length(min = 1, max = 128), regex(pattern = r"^[A-Za-z0-9][A-Za-z0-9._:@-]*$"))] pub String,
);

impl ExternalId {
    /// Reads a name, where no schema has checked it before.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::fits(text).then(|| Self(text.to_owned()))
    }

    /// Whether a text has the form of a name. A UUID has it, too.
    #[must_use]
    pub fn fits(text: &str) -> bool {
        let begins = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._:@-".contains(&byte);
        begins && text.len() <= MAX_ID_LENGTH && text.bytes().all(plain)
    }
}

/// A row by its UUID or by its external_id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct IdOrExternalId(#[schemars(length(min = 1, max = 128))] pub String);

/// The path variable of rows that have an external_id.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct ByIdOrExternalId {
    /// UUID or external_id.
    #[schemars(with = "IdOrExternalId")]
    pub id: String,
}

/// The path variable of rows that have none. A text that is no UUID names no row (404, never 400).
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct ById {
    /// UUID; this resource has no external_id.
    #[schemars(extend("format" = "uuid"))]
    pub id: String,
}

names! {
    /// Whether an inbox takes mail in, or a webhook gets events.
    ActiveStatus {
        /// It does.
        Active = "active",
        /// It does not.
        Inactive = "inactive",
    }
}

/// Reads a member that may be null: absent is `None`, null is `Some(None)`. Use with `#[serde(default)]`.
///
/// # Errors
/// Where the value is of another type than `T`.
pub fn nullable<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::<T>::deserialize(deserializer).map(Some)
}
