//! Headers that repeat what the body says, so that intermediaries can route without reading it (protocol.md §5).

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::error::Error;
use crate::http::{Headers, Single};

/// The opening mark of an encoded value.
const PREFIX: &str = "=?base64?";
/// The closing mark.
const SUFFIX: &str = "?=";

/// Checks `Mcp-Method`: it must stand once and be the method, letter by letter; it is never decoded.
///
/// # Errors
/// [`Error::HeaderMismatch`].
pub(crate) fn check_method(headers: &Headers<'_>, method: &str) -> Result<(), Error> {
    match text(headers, "mcp-method", "Mcp-Method")? {
        None => Err(mismatch("Mcp-Method is missing")),
        Some(named) if named == method => Ok(()),
        Some(_) => Err(mismatch("Mcp-Method differs from the method of the body")),
    }
}

/// Checks `Mcp-Name` against the name in the body, decoding it first if it is encoded.
///
/// # Errors
/// [`Error::HeaderMismatch`]; where the field is absent, only if it is `demanded`.
pub(crate) fn check_name(headers: &Headers<'_>, name: &str, demanded: bool) -> Result<(), Error> {
    let Some(field) = text(headers, "mcp-name", "Mcp-Name")? else {
        return if demanded { Err(mismatch("Mcp-Name is missing")) } else { Ok(()) };
    };
    let decoded = decode(field).ok_or_else(|| mismatch("Mcp-Name is not a valid =?base64?…?= value"))?;
    if decoded == name { Ok(()) } else { Err(mismatch("Mcp-Name differs from the name in the body")) }
}

/// The text of a field that stands once, of the octets that a field may hold.
fn text<'a>(headers: &'a Headers<'_>, name: &str, shown: &str) -> Result<Option<&'a str>, Error> {
    match headers.single(name) {
        Single::Absent => Ok(None),
        Single::Repeated => Err(mismatch(&format!("{shown} stands more than once"))),
        Single::Once(value) => allowed_text(value, shown).map(Some),
    }
}

/// The text of a field, if it has only octets that one may hold.
///
/// # Errors
/// [`Error::HeaderMismatch`], with the name as `shown`.
pub(crate) fn allowed_text<'a>(value: &'a [u8], shown: &str) -> Result<&'a str, Error> {
    let allowed = value.iter().all(|byte| matches!(byte, 0x20..=0x7e | b'\t'));
    let text = std::str::from_utf8(value).ok().filter(|_| allowed);
    text.ok_or_else(|| mismatch(&format!("{shown} has characters that no header may hold")))
}

pub(crate) fn mismatch(what: &str) -> Error {
    Error::HeaderMismatch(what.to_owned())
}

/// Decodes `=?base64?payload?=`; any other text stands for itself. `None` where the payload is not canonical padded base64
/// of UTF-8 (protocol.md §5.3).
#[must_use]
pub(crate) fn decode(field: &str) -> Option<Cow<'_, str>> {
    // The marks may not overlap: in `=?base64?=` nothing is left after the prefix to hold the suffix.
    let Some(payload) = field.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX)) else {
        return Some(Cow::Borrowed(field));
    };
    let octets = STANDARD.decode(payload).ok()?;
    String::from_utf8(octets).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn headers<'a>(lines: &[(&'a str, &'a [u8])]) -> Headers<'a> {
        let mut headers = Headers::new();
        for (name, value) in lines {
            headers.push(*name, *value);
        }
        headers
    }

    #[test]
    fn the_method_is_compared_as_it_stands() {
        assert!(check_method(&headers(&[("mcp-method", b" tools/list\t")]), "tools/list").is_ok());
        for wrong in [&b"TOOLS/LIST"[..], b"prompts/list", b"=?base64?dG9vbHMvbGlzdA==?=", b"", b"tools/list\xe9"] {
            assert!(check_method(&headers(&[("mcp-method", wrong)]), "tools/list").is_err());
        }
        assert!(check_method(&headers(&[]), "tools/list").is_err());
        let twice: &[(&str, &[u8])] = &[("mcp-method", b"tools/list"), ("mcp-method", b"tools/list")];
        assert!(check_method(&headers(twice), "tools/list").is_err());
    }

    #[test]
    fn encoded_names_are_decoded_and_near_misses_are_not() {
        let check =
            |value: &str, name: &str| check_name(&headers(&[("mcp-name", value.as_bytes())]), name, true).is_ok();
        assert!(check("emails_list", "emails_list"));
        assert!(check("=?base64?ZW1haWxzX2xpc3Q=?=", "emails_list"));
        assert!(check("=?BASE64?ZW1haWxzX2xpc3Q=?=", "=?BASE64?ZW1haWxzX2xpc3Q=?="));
        for wrong in [
            "=?base64?ZW1haWxzX2xpc3Q?=",
            "=?base64?ZW1h!!!?=",
            "=?BASE64?ZW1haWxzX2xpc3Q=?=",
            "=?base64?/w==?=",
            "=?base64??=",
            "=?base64?ZW1haWxzX2xpc3R=?=",
            "=?base64?ZW1haWxzX2xpc3Q=",
            "Emails_List",
        ] {
            assert!(!check(wrong, "emails_list"), "{wrong}");
        }
        assert_eq!(decode("=?base64?=").unwrap(), "=?base64?=");
        assert_eq!(decode("=?base64??=").unwrap(), "");
    }

    #[test]
    fn where_it_is_not_demanded_it_may_be_absent_but_not_wrong() {
        assert!(check_name(&headers(&[]), "kobana://inbox/me", false).is_ok());
        assert!(check_name(&headers(&[("mcp-name", b"kobana://inbox/agents")]), "kobana://inbox/me", false).is_err());
        assert!(check_name(&headers(&[]), "emails_list", true).is_err());
    }

    proptest! {
        #[test]
        fn whatever_is_encoded_decodes_to_itself(name in any::<String>()) {
            let field = format!("{PREFIX}{}{SUFFIX}", STANDARD.encode(&name));
            prop_assert!(check_name(&headers(&[("mcp-name", field.as_bytes())]), &name, true).is_ok());
        }

        #[test]
        fn no_field_breaks_it(value in proptest::collection::vec(any::<u8>(), 0..64), name in ".*") {
            let _ = check_name(&headers(&[("mcp-name", &value)]), &name, true);
        }

        #[test]
        fn nothing_like_an_encoding_breaks_it(field in r"(=\?base64\?)?[A-Za-z0-9+/=?_-]{0,12}(\?=)?") {
            let _ = decode(&field);
        }
    }
}
