//! Points in time, as the contract writes them: RFC 3339 in UTC.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

/// Microseconds since the Unix epoch: one number that sorts, which a formatted time does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// The present.
    #[must_use]
    pub fn now() -> Self {
        Self::from(OffsetDateTime::now_utc())
    }

    /// Reads RFC 3339 with any offset.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        OffsetDateTime::parse(text, &Rfc3339).ok().map(Self::from)
    }

    /// Whole seconds since the Unix epoch.
    #[must_use]
    pub const fn unix_seconds(self) -> i64 {
        self.0.div_euclid(1_000_000)
    }

    /// This time moved by `seconds`, forwards or back.
    #[must_use]
    pub const fn plus_seconds(self, seconds: i64) -> Self {
        Self(self.0.saturating_add(seconds.saturating_mul(1_000_000)))
    }
}

impl From<OffsetDateTime> for Timestamp {
    fn from(time: OffsetDateTime) -> Self {
        // The years that `time` covers fit into an i64 of microseconds; clamping is for the type only.
        let micros = time.unix_timestamp_nanos().div_euclid(1_000);
        Self(i64::try_from(micros).unwrap_or(i64::MAX))
    }
}

impl std::fmt::Display for Timestamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.0).saturating_mul(1_000))
            .ok()
            .and_then(|time| time.format(&Rfc3339).ok())
            .ok_or(std::fmt::Error)?;
        f.write_str(&text)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom("expected a time such as 2026-07-28T09:00:00Z"))
    }
}

impl JsonSchema for Timestamp {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Timestamp".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_read_and_utc_is_written() {
        let time = Timestamp::parse("2026-07-28T06:00:00.250-03:00").unwrap();
        assert_eq!(time.to_string(), "2026-07-28T09:00:00.25Z");
        assert_eq!(Timestamp::parse("28/07/2026"), None);
    }
}
