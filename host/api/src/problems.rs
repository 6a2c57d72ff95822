//! What is wrong with a body or a query: everything at once, by field.

use std::collections::BTreeMap;

use serde::Serialize;

/// The longest unknown name that is repeated to the caller.
const LONGEST_NAME: usize = 64;

/// Problems of a request, as `details` of `validation_failed` (inbox-api.yaml, `ValidationDetails`). Messages name what
/// was expected and never repeat what was sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Problems {
    /// Field, parameter or header name to the problems found.
    field_errors: BTreeMap<String, Vec<String>>,
    /// Problems of the request as a whole.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    form_errors: Vec<String>,
}

impl Problems {
    /// One problem of one field.
    #[must_use]
    pub fn of_field(field: &str, message: impl Into<String>) -> Self {
        let mut problems = Self::default();
        problems.field(field, message);
        problems
    }

    /// One problem of the request as a whole.
    #[must_use]
    pub fn of_form(message: impl Into<String>) -> Self {
        let mut problems = Self::default();
        problems.form(message);
        problems
    }

    /// Notes a problem of a field that the contract names.
    pub fn field(&mut self, field: &str, message: impl Into<String>) {
        let (messages, message) = (self.field_errors.entry(field.to_owned()).or_default(), message.into());
        if !messages.contains(&message) {
            messages.push(message);
        }
    }

    /// Notes a problem of the request as a whole.
    pub fn form(&mut self, message: impl Into<String>) {
        let message = message.into();
        if !self.form_errors.contains(&message) {
            self.form_errors.push(message);
        }
    }

    /// Notes a name that the contract does not know. It is repeated only if it is harmless.
    pub fn unknown(&mut self, name: &str) {
        if is_harmless(name) {
            self.field(name, "is not accepted here");
        } else {
            self.form("a name is not accepted here");
        }
    }

    /// A member that creating needs; without it a problem is noted and the value means nothing.
    pub(crate) fn demand<T: Default>(&mut self, field: &str, value: Option<T>) -> T {
        value.unwrap_or_else(|| {
            self.field(field, "is required to create it");
            T::default()
        })
    }

    /// Each problem in a line of its own, with the field that it is about.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        let of_field = |(field, messages): (&String, &Vec<String>)| {
            messages.iter().map(|message| format!("{field}: {message}")).collect::<Vec<_>>()
        };
        self.field_errors.iter().flat_map(of_field).chain(self.form_errors.iter().cloned())
    }

    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.field_errors.is_empty() && self.form_errors.is_empty()
    }
}

/// Whether a name that somebody else has chosen may be repeated.
pub(crate) fn is_harmless(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    !name.is_empty() && name.len() <= LONGEST_NAME && name.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_names_are_repeated_only_if_harmless() {
        let mut problems = Problems::default();
        problems.unknown("colour");
        for name in ["", "a b", "<script>", "ação", &"x".repeat(65)] {
            problems.unknown(name);
        }
        assert_eq!(problems.field_errors.keys().collect::<Vec<_>>(), ["colour"]);
        assert_eq!(problems.form_errors.len(), 1);
    }
}
