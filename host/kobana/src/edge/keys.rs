//! Who may ask: the keys of edge components.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use serde::Deserialize;
use subtle::{Choice, ConditionallySelectable as _, ConstantTimeEq as _};

use crate::failure::Failure;

/// A key as it stands in the configuration. `Debug` shows its id alone.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Configured {
    /// 1 to 32 letters, digits, `-` or `_`; it stands in the log.
    id: String,
    /// 32 random bytes in base64.
    key: String,
}

impl std::fmt::Debug for Configured {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.id.fmt(f)
    }
}

/// Keys, checked.
pub(crate) struct Keys(Vec<(String, [u8; 32])>);

impl Keys {
    pub(crate) fn new(configured: &[Configured]) -> Result<Self, Failure> {
        let mut keys: Vec<(String, [u8; 32])> = Vec::new();
        for (index, Configured { id, key }) in configured.iter().enumerate() {
            let wrong = |what: &str| Failure::Config(format!("edge.keys.{index}.{what}"));
            if !is_id(id) {
                return Err(wrong("id: expected 1 to 32 letters, digits, - or _"));
            }
            if keys.iter().any(|(other, _)| other == id) {
                return Err(wrong("id: expected a different one for each key"));
            }
            let secret = STANDARD.decode(key).ok().and_then(|bytes| bytes.try_into().ok());
            keys.push((id.clone(), secret.ok_or_else(|| wrong("key: expected 32 random bytes in base64"))?));
        }
        Ok(Self(keys))
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The id of the key that a request brings as its bearer token; none if it brings none, or one that is not here. How
    /// long that takes says nothing about the keys.
    pub(crate) fn holder(&self, headers: &HeaderMap) -> Option<&str> {
        let mut lines = headers.get_all(AUTHORIZATION).iter();
        let (Some(line), None) = (lines.next(), lines.next()) else { return None };
        let brought = line.to_str().ok()?.strip_prefix("Bearer ")?;
        let brought: [u8; 32] = STANDARD.decode(brought).ok()?.try_into().ok()?;
        let (mut found, mut place) = (Choice::from(0), u64::MAX);
        for (index, (_, secret)) in (0..).zip(&self.0) {
            let equal = secret.ct_eq(&brought);
            place.conditional_assign(&index, equal);
            found |= equal;
        }
        let id = usize::try_from(place).ok().and_then(|place| self.0.get(place));
        id.filter(|_| found.into()).map(|(id, _)| id.as_str())
    }
}

fn is_id(text: &str) -> bool {
    (1..=32).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn configured(id: &str, secret: &[u8]) -> Configured {
        Configured { id: id.to_owned(), key: STANDARD.encode(secret) }
    }

    fn bringing(lines: &[&str]) -> HeaderMap {
        lines.iter().map(|line| (AUTHORIZATION, HeaderValue::from_str(line).unwrap())).collect()
    }

    #[test]
    fn each_key_opens_and_nothing_else_does() {
        let keys = Keys::new(&[configured("old", &[1; 32]), configured("new", &[2; 32])]).unwrap();
        let bearer = |secret: &[u8]| format!("Bearer {}", STANDARD.encode(secret));
        let (old, new, other) = (bearer(&[1; 32]), bearer(&[2; 32]), bearer(&[3; 32]));
        assert_eq!(keys.holder(&bringing(&[&old])), Some("old"));
        assert_eq!(keys.holder(&bringing(&[&new])), Some("new"));
        let wrong = [&other, "Bearer ", "Bearer", "", &old["Bearer ".len()..], &bearer(&[1; 31]), &bearer(&[1; 33])];
        for wrong in wrong {
            assert_eq!(keys.holder(&bringing(&[wrong])), None, "{wrong}");
        }
        assert_eq!(keys.holder(&bringing(&[])), None);
        assert_eq!(keys.holder(&bringing(&[&old, &old])), None, "which one is meant?");
        assert_eq!(Keys::new(&[]).unwrap().holder(&bringing(&[&old])), None);
    }

    #[test]
    fn keys_are_checked_and_not_shown() {
        let problem = |keys: &[Configured]| Keys::new(keys).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(problem(&[configured("a.b", &[1; 32])]).contains("edge.keys.0.id: expected 1 to 32"));
        assert!(
            problem(&[configured("a", &[1; 32]), configured("a", &[2; 32])])
                .contains("edge.keys.1.id: expected a diff")
        );
        assert!(problem(&[configured("a", &[1; 31])]).contains("edge.keys.0.key: expected 32"));
        assert_eq!(format!("{:?}", configured("a", &[1; 32])), "\"a\"");
    }
}
