//! Which web pages may talk to the endpoint (protocol.md §3.2).

use crate::http::{Headers, HttpResponse, Single};

/// What a page may send.
///
/// The star is for `Mcp-Param-*`, whose names are those of extensions; it does not cover `Authorization`, and it means nothing to a page
/// that sends cookies (Fetch, CORS-unsafe request-header names).
const ALLOW_HEADERS: &str =
    "Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name, X-Workspace-Id, *";
/// What a page may read.
const EXPOSE_HEADERS: &str = "WWW-Authenticate, MCP-Protocol-Version, Retry-After, X-RateLimit-Limit, \
                              X-RateLimit-Remaining, X-RateLimit-Reset";

/// An origin in its normal form: lowercase scheme and host, and the port even where it is the scheme's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin(String);

impl Origin {
    /// Reads `scheme://host[:port]` with scheme http or https. `null`, paths, user names and other schemes are no origin.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.to_ascii_lowercase();
        let (scheme, authority) = text.split_once("://")?;
        let default = match scheme {
            "http" => "80",
            "https" => "443",
            _ => return None,
        };
        // An IPv6 literal has colons of its own, all before the bracket that closes it.
        let after_host = authority.rfind(']').map_or(0, |bracket| bracket + 1);
        let (host, port) = match authority.get(after_host..)?.find(':') {
            Some(colon) => (authority.get(..after_host + colon)?, authority.get(after_host + colon + 1..)?),
            None => (authority, default),
        };
        let host_fits = !host.is_empty() && host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._[]:".contains(&b));
        let port_fits = !port.is_empty() && port.parse::<u16>().is_ok() && port.bytes().all(|b| b.is_ascii_digit());
        (host_fits && port_fits).then(|| Self(format!("{scheme}://{host}:{port}")))
    }
}

/// Where a request comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// A program that is no browser: no `Origin` field.
    Program,
    /// An allowed page, by the origin as it named itself.
    Page(String),
    /// Any other page.
    Foreign,
}

impl Source {
    /// Judges the `Origin` field. Two of them are foreign, whatever they say.
    #[must_use]
    pub(crate) fn of(headers: &Headers<'_>, allowed: &[Origin]) -> Self {
        match headers.single("origin") {
            Single::Absent => Self::Program,
            Single::Repeated => Self::Foreign,
            Single::Once(value) => std::str::from_utf8(value)
                .ok()
                .filter(|text| Origin::parse(text).is_some_and(|origin| allowed.contains(&origin)))
                .map_or(Self::Foreign, |text| Self::Page(text.to_owned())),
        }
    }

    /// Lets the page read the answer, refusals included.
    #[must_use]
    pub(crate) fn dress(&self, response: HttpResponse) -> HttpResponse {
        match self {
            Self::Page(origin) => response
                .with("access-control-allow-origin", origin.clone())
                .with("vary", "Origin")
                .with("access-control-expose-headers", EXPOSE_HEADERS),
            Self::Program | Self::Foreign => response,
        }
    }
}

/// The answer to a preflight of an allowed page.
#[must_use]
pub(crate) fn preflight(methods: &'static str) -> HttpResponse {
    HttpResponse::empty(204)
        .with("access-control-allow-methods", methods)
        .with("access-control-allow-headers", ALLOW_HEADERS)
        .with("access-control-max-age", "600")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(lines: &[&str]) -> Source {
        let allowed =
            [Origin::parse("https://app.example.com").unwrap(), Origin::parse("http://127.0.0.1:3028").unwrap()];
        let mut headers = Headers::new();
        for line in lines {
            headers.push("origin", line.as_bytes());
        }
        Source::of(&headers, &allowed)
    }

    #[test]
    fn case_and_default_port_do_not_matter() {
        assert_eq!(source(&["HTTPS://App.Example.com:443"]), Source::Page("HTTPS://App.Example.com:443".into()));
        assert_eq!(source(&["http://127.0.0.1:3028"]), Source::Page("http://127.0.0.1:3028".into()));
        assert_eq!(source(&[]), Source::Program);
    }

    #[test]
    fn everything_else_is_foreign() {
        for foreign in [
            "null",
            "",
            "https://app.example.com.evil.example",
            "https://evil.example/https://app.example.com",
            "http://app.example.com",
            "https://app.example.com:8443",
            "https://app.example.com/",
            "http://127.0.0.1:3029",
            "https://user@app.example.com",
            "https://app.example.com:",
            "https://app.example.com:+443",
            "app.example.com",
            "ftp://app.example.com",
        ] {
            assert_eq!(source(&[foreign]), Source::Foreign, "{foreign}");
        }
        assert_eq!(source(&["https://app.example.com", "https://app.example.com"]), Source::Foreign);
    }

    #[test]
    fn addresses_in_brackets_are_hosts() {
        assert_eq!(Origin::parse("http://[::1]:3028"), Some(Origin("http://[::1]:3028".into())));
        assert_eq!(Origin::parse("http://[::1]"), Some(Origin("http://[::1]:80".into())));
    }
}
