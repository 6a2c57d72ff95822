//! Reading JSON strictly: a member name that comes twice is an error instead of a silent choice of one of the two.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Reads one JSON document. Depth is limited by `serde_json`.
///
/// # Errors
/// When it is no JSON, has something behind it, or names a member twice. The message may hold what was sent, so it is
/// for nobody's eyes.
pub(crate) fn parse(text: &[u8]) -> Result<Value, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let value = Strict.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

struct Strict;

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = sequence.next_element_seed(Self)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            let value = map.next_value_seed(Self)?;
            if members.insert(name, value).is_some() {
                return Err(A::Error::custom("a member comes twice"));
            }
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn members_that_come_twice_are_refused_at_any_depth() {
        assert!(parse(br#"{"a":1,"b":{"c":[{"d":1}]}}"#).is_ok());
        assert!(parse(br#"{"a":1,"a":1}"#).is_err());
        assert!(parse(br#"{"a":[{"b":1,"b":2}]}"#).is_err());
        assert!(parse(br#"{"a":1,"\u0061":2}"#).is_err());
    }

    #[test]
    fn what_is_no_single_document_is_refused() {
        let nested = "[".repeat(100_000);
        for text in ["", "{", "{} {}", "nul", "\u{feff}{}", "{\"a\":1e999}", nested.as_str()] {
            assert!(parse(text.as_bytes()).is_err());
        }
        assert!(parse(b"\"\xff\"").is_err());
    }
}
