//! Whether text is JSON that everybody further on can read.

use serde::Deserializer;
use serde::de::{Deserialize, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Whether text is one JSON document (RFC 8259), not nested too deep (128 levels) and with numbers that can be held.
///
/// # Errors
/// What is wrong with it, and where, without a word of it.
pub(super) fn check(text: &str) -> Result<(), String> {
    match serde_json::from_str::<Anything>(text) {
        Ok(Anything) => Ok(()),
        Err(problem) => Err(problem.to_string()),
    }
}

/// A document of whatever kind. Nothing of it is kept. `IgnoredAny` would not do: it has no limit of depth, and lets numbers
/// pass that nobody can hold.
struct Anything;

impl<'de> Deserialize<'de> for Anything {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Anything)
    }
}

impl<'de> Visitor<'de> for Anything {
    type Value = Self;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a JSON document")
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self, A::Error> {
        while members.next_entry::<IgnoredAny, Self>()?.is_some() {}
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_of_all_kinds_pass() {
        for text in
            ["null", "true", "-1", "18446744073709551615", "1.5e3", r#""\u00e9""#, "[]", r#"{"a":[{"b":null}]}"#]
        {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn what_nobody_can_read_does_not() {
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        for text in ["", "{", "nul", "1e999", "[1,]", "{} {}", r#"{"a" 1}"#, r#""\ud800""#, &deep] {
            assert!(check(text).is_err(), "{text}");
        }
        assert_eq!(check("{\"secret\"").unwrap_err(), "EOF while parsing an object at line 1 column 9");
    }
}
