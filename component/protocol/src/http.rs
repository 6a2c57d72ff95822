//! HTTP as the protocol sees it: a head, a body that is read at most once, an answer.

use std::borrow::Cow;

/// The largest request body, in bytes (founding page, Métodos).
pub const MAX_BODY: usize = 1_048_576;

/// As many header lines as most answers have.
const LINES: usize = 6;

/// The request headers that the protocol reads, lowercase. A glue need not copy any other.
pub const HEADERS: &[&str] = &[
    "access-control-request-method",
    "authorization",
    "content-length",
    "content-type",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "origin",
    "x-workspace-id",
];

/// Request headers, one entry for each line, which can be borrowed from the request.
#[derive(Debug, Clone, Default)]
pub struct Headers<'a>(Vec<(Cow<'a, str>, Cow<'a, [u8]>)>);

impl<'a> Headers<'a> {
    /// No headers, with room for each of [`HEADERS`].
    #[must_use]
    pub fn new() -> Self {
        Self(Vec::with_capacity(HEADERS.len()))
    }

    /// Adds a line. The name is lowercase, the value as it came.
    pub fn push(&mut self, name: impl Into<Cow<'a, str>>, value: impl Into<Cow<'a, [u8]>>) {
        self.0.push((name.into(), value.into()));
    }

    /// A field that may stand once.
    #[must_use]
    pub fn single(&self, name: &str) -> Single<'_> {
        let mut lines = self.0.iter().filter(|(line, _)| line == name).map(|(_, value)| value.as_ref());
        match (lines.next(), lines.next()) {
            (None, _) => Single::Absent,
            (Some(value), None) => Single::Once(trim(value)),
            (Some(_), Some(_)) => Single::Repeated,
        }
    }

    /// The lines of a field joined by a comma, which is what repetition means (RFC 9110 §5.3).
    #[must_use]
    pub fn combined(&self, name: &str) -> Option<Cow<'_, str>> {
        match self.single(name) {
            Single::Absent => None,
            Single::Once(value) => Some(String::from_utf8_lossy(value)),
            Single::Repeated => {
                let lines = self.0.iter().filter(|(line, _)| line == name);
                let lines: Vec<_> = lines.map(|(_, value)| String::from_utf8_lossy(trim(value))).collect();
                Some(Cow::Owned(lines.join(", ")))
            }
        }
    }
}

/// Header lines that are read only where it comes to them. They can be shared, so that a request may move between threads.
pub trait Lines: Sync {
    /// The lines of a field, whose name is lowercase, as they came.
    fn lines(&self, name: &str) -> Vec<Vec<u8>>;
}

impl Lines for Headers<'_> {
    fn lines(&self, name: &str) -> Vec<Vec<u8>> {
        self.0.iter().filter(|(line, _)| line == name).map(|(_, value)| value.to_vec()).collect()
    }
}

/// How often a field stands, and what it says if once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Single<'a> {
    /// Not at all.
    Absent,
    /// Once; spaces and tabs around the value are gone.
    Once(&'a [u8]),
    /// Several times, which no two recipients read alike: an intermediary may have picked another line than we would.
    Repeated,
}

/// Takes spaces and tabs off both ends (RFC 9110 §5.5); no other white space is optional.
pub(crate) fn trim(value: &[u8]) -> &[u8] {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let start = value.iter().position(|byte| !blank(byte)).unwrap_or(value.len());
    let end = value.iter().rposition(|byte| !blank(byte)).map_or(start, |last| last + 1);
    value.get(start..end).unwrap_or_default()
}

/// What comes before a request's body.
#[derive(Clone)]
pub struct Head<'a> {
    /// The HTTP method, as it came.
    pub method: &'a str,
    /// The path, without the query.
    pub path: &'a str,
    /// The header lines; those not in [`HEADERS`] may be missing.
    pub headers: Headers<'a>,
    /// The lines `Mcp-Param-*`, of which none is read unless a tool of an extension wants it.
    pub parameters: &'a dyn Lines,
}

/// Why a body could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyError {
    /// It is longer than the limit.
    TooLarge,
    /// The client stopped in the middle.
    Broken,
}

/// A request body.
pub trait Body {
    /// Reads it whole. At most `limit + 1` bytes are taken from the client.
    ///
    /// # Errors
    /// [`BodyError::TooLarge`] when there are more than `limit` bytes, [`BodyError::Broken`] when the client stopped.
    async fn read(self, limit: usize) -> Result<Vec<u8>, BodyError>;
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpResponse {
    /// Status.
    pub status: u16,
    /// Header lines.
    pub headers: Vec<(&'static str, Cow<'static, str>)>,
    /// Body; empty where there is none.
    pub body: Vec<u8>,
}

impl HttpResponse {
    /// An answer without a body.
    #[must_use]
    pub fn empty(status: u16) -> Self {
        let mut headers = Vec::with_capacity(LINES);
        headers.push(("cache-control", Cow::Borrowed("no-store")));
        Self { status, headers, body: Vec::new() }
    }

    /// An answer with a JSON document.
    #[must_use]
    pub fn json(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self::empty(status).with("content-type", "application/json").with_body(body)
    }

    /// The same with a further header line.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<Cow<'static, str>>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// The same with another body.
    #[must_use]
    pub fn with_body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }
}

/// Whether a `Content-Type` field says JSON: the essence in any letter case, whatever the parameters (protocol.md §3.3).
#[must_use]
pub(crate) fn is_json(field: Single<'_>) -> bool {
    let Single::Once(value) = field else { return false };
    let essence = value.split(|byte| *byte == b';').next().unwrap_or_default();
    trim(essence).eq_ignore_ascii_case(b"application/json")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers<'a>(lines: &[(&'a str, &'a str)]) -> Headers<'a> {
        let mut headers = Headers::new();
        for (name, value) in lines {
            headers.push(*name, value.as_bytes());
        }
        headers
    }

    #[test]
    fn only_spaces_and_tabs_are_trimmed() {
        assert_eq!(headers(&[("a", " \tx y\t ")]).single("a"), Single::Once(b"x y"));
        assert_eq!(headers(&[("a", "\u{a0}x")]).single("a"), Single::Once("\u{a0}x".as_bytes()));
        assert_eq!(headers(&[("a", " \t ")]).single("a"), Single::Once(b""));
    }

    #[test]
    fn repeated_lines_are_never_one_of_them() {
        let twice = headers(&[("a", "x"), ("a", "x")]);
        assert_eq!(twice.single("a"), Single::Repeated);
        assert_eq!(twice.combined("a").unwrap(), "x, x");
    }

    #[test]
    fn media_types_are_compared_by_essence() {
        for good in ["application/json", "APPLICATION/JSON", "application/json;charset=utf-8", "application/json ; x"] {
            assert!(is_json(headers(&[("content-type", good)]).single("content-type")), "{good}");
        }
        for bad in [
            "application/jsonx",
            "text/json",
            "application/json-rpc",
            "application",
            "",
            "application/json, text/plain",
        ] {
            assert!(!is_json(headers(&[("content-type", bad)]).single("content-type")), "{bad}");
        }
        assert!(!is_json(Single::Absent));
    }
}
