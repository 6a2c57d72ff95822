//! JSON without copies: a document is cut into the texts of its members, which are looked into only where the protocol
//! has a rule about them. What passes through, such as ids and tool arguments, passes through byte for byte.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::quote;
use crate::scan::{Quoted, Scanner};

/// How deep arrays and objects may be nested (protocol.md §4).
pub(crate) const MAX_DEPTH: usize = 128;

/// A value as its text, which is known to be valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Value<'a>(&'a str);

impl<'a> Value<'a> {
    /// The one value of a document; `None` where it is no valid JSON.
    #[must_use]
    pub(crate) fn of(document: &'a str) -> Option<Self> {
        let mut scanner = Scanner::new(document);
        let value = scanner.value()?;
        scanner.is_at_end().then_some(Self(value))
    }

    /// The text, without white space around it.
    #[must_use]
    pub(crate) const fn get(self) -> &'a str {
        self.0
    }
}

impl<'a> From<&'a RawValue> for Value<'a> {
    fn from(value: &'a RawValue) -> Self {
        Self(value.get())
    }
}

/// The members of an object in their order, each value as its text.
#[derive(Debug, Default)]
pub(crate) struct Members<'a>(Vec<(Cow<'a, str>, Value<'a>)>);

impl Members<'static> {
    /// No members.
    pub(crate) const NONE: &'static Self = &Self(Vec::new());
}

impl<'a> Members<'a> {
    /// The members of an object; `None` where the text is no object, or a name in it is no text.
    #[must_use]
    pub(crate) fn of(value: Value<'a>) -> Option<Self> {
        // Most values that are no objects are told by their first byte.
        if is_object(value) { Self::read(value.get()).map(|(members, _)| members) } else { None }
    }

    /// The members of the one object that a document is, and how deep it is nested; `None` where it is something else.
    #[must_use]
    pub(crate) fn read(document: &'a str) -> Option<(Self, usize)> {
        let mut scanner = Scanner::new(document);
        let mut members = Vec::new();
        scanner.members(|name, value| {
            members.push((decode(name)?, Value(value)));
            Some(())
        })?;
        scanner.is_at_end().then(|| (Self(members), scanner.depth()))
    }

    /// A member's value.
    #[must_use]
    pub(crate) fn get(&self, name: &str) -> Option<Value<'a>> {
        self.0.iter().find(|(member, _)| member == name).map(|(_, value)| *value)
    }

    /// Names and values in their order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, Value<'a>)> {
        self.0.iter().map(|(name, value)| (name.as_ref(), *value))
    }

    /// A name that stands more than once, if there is one. Recipients differ in which one they take, so none is safe.
    #[must_use]
    pub(crate) fn duplicate(&self) -> Option<&str> {
        if self.0.len() < 2 {
            return None;
        }
        let mut names: Vec<&str> = self.0.iter().map(|(name, _)| name.as_ref()).collect();
        names.sort_unstable();
        names.windows(2).find_map(|pair| match pair {
            [first, second] if first == second => Some(*first),
            _ => None,
        })
    }
}

/// The text that a string stands for; `None` where it stands for no Unicode text.
fn decode(string: Quoted<'_>) -> Option<Cow<'_, str>> {
    if string.escaped {
        serde_json::from_str(string.text).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(string.inner))
    }
}

/// Whether no object in a document, however deep, has a member twice, so that every reader takes it for the same. In one go, whatever
/// the document looks like.
#[must_use]
pub(crate) fn is_unambiguous(value: Value<'_>) -> bool {
    serde_json::from_str::<Unambiguous>(value.get()).is_ok()
}

/// Any document of which [`is_unambiguous`] holds.
struct Unambiguous;

impl<'de> Deserialize<'de> for Unambiguous {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Unambiguous {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a document without a member that stands twice")
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

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self, A::Error> {
        let mut names = BTreeSet::new();
        while let Some(Name(name)) = map.next_key::<Name<'de>>()? {
            if !names.insert(name) {
                return Err(serde::de::Error::custom("a member stands twice"));
            }
            map.next_value::<Self>()?;
        }
        Ok(self)
    }
}

/// A name or text that is borrowed where it has no escapes.
#[derive(serde::Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

/// The text that a JSON string stands for; `None` where the value is no string, or stands for no Unicode text.
#[must_use]
pub(crate) fn string(value: Value<'_>) -> Option<Cow<'_, str>> {
    let text = value.get();
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    decode(Quoted { text, inner, escaped: inner.as_bytes().contains(&b'\\') })
}

/// Whether the value is `null`.
#[must_use]
pub(crate) fn is_null(value: Value<'_>) -> bool {
    value.get() == "null"
}

/// Whether the value is an object.
#[must_use]
pub(crate) fn is_object(value: Value<'_>) -> bool {
    value.get().starts_with('{')
}

/// Whether the value is an integer, as it is spelt: digits with an optional minus (architecture.md, decision 5).
#[must_use]
pub(crate) fn is_integer(value: Value<'_>) -> bool {
    let text = value.get();
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether the value is a number.
#[must_use]
pub(crate) fn is_number(value: Value<'_>) -> bool {
    value.get().starts_with(|first: char| first == '-' || first.is_ascii_digit())
}

/// Whether a document, which is known to be valid JSON, has more levels of arrays and objects.
#[must_use]
pub(crate) fn is_deeper(document: &str, levels: usize) -> bool {
    // With so few brackets, strings included, it cannot be; counting them is much quicker than following them.
    if document.bytes().filter(|byte| matches!(byte, b'[' | b'{')).count() <= levels {
        return false;
    }
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for byte in document.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => depth += 1,
            b']' | b'}' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > levels {
            return true;
        }
    }
    false
}

/// A document, which is known to be valid JSON, without the white space between its parts.
#[must_use]
pub(crate) fn compact(document: &str) -> String {
    let (mut quoted, mut escaped) = (false, false);
    let keep = |c: &char| {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ => {}
        }
        quoted || !matches!(c, ' ' | '\t' | '\n' | '\r')
    };
    document.chars().filter(keep).collect()
}

/// Writes a text as a JSON string.
pub(crate) fn push_string(out: &mut String, text: &str) {
    out.push_str(&quoted(text));
}

/// A text as a JSON string.
#[must_use]
pub(crate) fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    quote::push(&mut out, text);
    // Escaping leaves UTF-8 what it is; were it not to, the empty string keeps the document well-formed.
    String::from_utf8(out).unwrap_or_else(|_| "\"\"".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Value<'_> {
        Value::of(text).unwrap()
    }

    #[test]
    fn members_are_found_by_their_meaning_and_kept_as_their_text() {
        let members = Members::of(raw(r#"{"m\u0065thod":"p\u0069ng","id": 9007199254740993 }"#)).unwrap();
        assert_eq!(string(members.get("method").unwrap()).unwrap(), "ping");
        assert_eq!(members.get("id").unwrap().get(), "9007199254740993");
        assert!(members.duplicate().is_none());
    }

    #[test]
    fn a_name_spelt_in_two_ways_is_the_same_name_twice() {
        let members = Members::of(raw(r#"{"method":1,"x":2,"m\u0065thod":3}"#)).unwrap();
        assert_eq!(members.duplicate(), Some("method"));
    }

    #[test]
    fn brackets_inside_strings_have_no_depth() {
        assert!(!is_deeper(&format!(r#"{{"a":"{}\"["}}"#, "[".repeat(500)), 1));
        assert!(!is_deeper(&format!("{}{}", "[".repeat(9), "]".repeat(9)), 9));
        assert!(is_deeper(&"[".repeat(10), 9));
    }

    #[test]
    fn a_member_that_stands_twice_is_found_at_any_depth() {
        for good in
            ["{}", "[1,2.5,-3,\"x\",null,true]", r#"{"a":{"a":[{"a":1},{"a":2}]},"b":1}"#, "18446744073709551616"]
        {
            assert!(is_unambiguous(raw(good)), "{good}");
        }
        for bad in [r#"{"a":1,"a":1}"#, r#"[[{"x":{"a":1,"b":2,"\u0061":3}}]]"#, r#"{"x":{"\ud800":1}}"#] {
            assert!(!is_unambiguous(raw(bad)), "{bad}");
        }
    }

    #[test]
    fn integers_are_judged_by_spelling() {
        for good in ["0", "-1", "9007199254740993", "-0"] {
            assert!(is_integer(raw(good)), "{good}");
        }
        for bad in ["1.0", "1e2", "\"1\"", "true", "null", "{}"] {
            assert!(!is_integer(raw(bad)), "{bad}");
        }
    }
}
