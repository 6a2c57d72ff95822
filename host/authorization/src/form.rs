//! Parameters of queries and forms, `application/x-www-form-urlencoded` (RFC 6749, appendix B).

use std::collections::BTreeMap;

/// Parameters by name. One without a value counts as left out (RFC 6749 §3.1, §3.2).
#[derive(Debug, Default)]
pub(crate) struct Parameters(BTreeMap<String, Vec<String>>);

/// A parameter that may stand once stands several times (RFC 6749 §3.1, §3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Repeated;

impl Parameters {
    pub(crate) fn read(encoded: &[u8]) -> Self {
        let mut all = BTreeMap::<_, Vec<_>>::new();
        for (name, value) in form_urlencoded::parse(encoded).filter(|(_, value)| !value.is_empty()) {
            all.entry(name.into_owned()).or_default().push(value.into_owned());
        }
        Self(all)
    }

    /// The value of a parameter that may stand once.
    pub(crate) fn one(&self, name: &str) -> Result<Option<&str>, Repeated> {
        match self.all(name) {
            [] => Ok(None),
            [value] => Ok(Some(value)),
            _ => Err(Repeated),
        }
    }

    /// The value of a field of our own forms, empty where it is left out; the last one, if somebody made several.
    pub(crate) fn field(&self, name: &str) -> &str {
        self.all(name).last().map_or("", String::as_str)
    }

    /// Every value of a parameter.
    pub(crate) fn all(&self, name: &str) -> &[String] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }

    /// The name of a parameter that stands several times, apart from those that may.
    pub(crate) fn repeated(&self, may: &[&str]) -> Option<&str> {
        let several = self.0.iter().find(|(name, values)| values.len() > 1 && !may.contains(&name.as_str()));
        several.map(|(name, _)| name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_decoded_and_empty_ones_left_out() {
        let read = Parameters::read(b"a=1+2&b=%C3%A1&c=&d&e=x&e=y&e=");
        assert_eq!(read.one("a"), Ok(Some("1 2")));
        assert_eq!(read.one("b"), Ok(Some("á")));
        assert_eq!((read.one("c"), read.one("d"), read.one("z")), (Ok(None), Ok(None), Ok(None)));
        assert_eq!(read.one("e"), Err(Repeated));
        assert_eq!(read.all("e"), ["x", "y"]);
        assert_eq!((read.repeated(&[]), read.repeated(&["e"])), (Some("e"), None));
    }
}
