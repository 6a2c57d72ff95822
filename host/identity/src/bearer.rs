//! The `Authorization` field (RFC 6750 §2.1).

/// What an `Authorization` field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bearer<'a> {
    /// No bearer token: no field, or one of another scheme.
    Absent,
    /// The bearer scheme, but not with one token.
    Malformed,
    /// A token.
    Token(&'a str),
}

/// Reads the field's value. The scheme is compared in any letter case (RFC 9110 §11.1).
#[must_use]
pub fn bearer(authorization: Option<&str>) -> Bearer<'_> {
    let Some(value) = authorization else { return Bearer::Absent };
    let (scheme, rest) = value.split_once(' ').unwrap_or((value, ""));
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Bearer::Absent;
    }
    let token = rest.trim_matches(' ');
    if is_token(token) { Bearer::Token(token) } else { Bearer::Malformed }
}

/// The token68 syntax of RFC 9110 §11.2: characters of a small alphabet, then any number of `=`.
fn is_token(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    !body.is_empty() && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~+/".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_token_after_the_scheme_in_any_case() {
        for good in ["Bearer demo-owner", "bearer demo-owner", "BEARER   demo-owner "] {
            assert_eq!(bearer(Some(good)), Bearer::Token("demo-owner"), "{good}");
        }
        assert_eq!(bearer(Some("Bearer eyJh.b_-~+/==")), Bearer::Token("eyJh.b_-~+/=="));
    }

    #[test]
    fn another_scheme_is_no_credential_and_two_tokens_are_none_either() {
        for other in [None, Some("Basic ZGVtbw=="), Some("demo-owner"), Some("Bearer=demo-owner"), Some("")] {
            assert_eq!(bearer(other), Bearer::Absent, "{other:?}");
        }
        for bad in ["Bearer", "Bearer ", "Bearer a b", "Bearer a, Bearer b", "Bearer \"a\"", "Bearer =", "Bearer a=b"] {
            assert_eq!(bearer(Some(bad)), Bearer::Malformed, "{bad}");
        }
    }
}
