//! Redirect URIs: which may be registered, when one matches, and what they lead to.

use url::{Host, Url};

/// The longest that may be registered.
const LONGEST: usize = 2_000;

/// Schemes that a browser, or its system, takes for something else than an app that registered a scheme of its own.
const NOT_APPS: &[&str] = &[
    "about",
    "blob",
    "chrome",
    "chrome-extension",
    "data",
    "edge",
    "file",
    "filesystem",
    "ftp",
    "geo",
    "intent",
    "javascript",
    "ldap",
    "mailto",
    "moz-extension",
    "ms-appinstaller",
    "ms-msdt",
    "resource",
    "search-ms",
    "shell",
    "sms",
    "ssh",
    "steam",
    "tel",
    "urn",
    "vbscript",
    "view-source",
    "ws",
    "wss",
];

/// What a redirect URI leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Destination {
    /// A program on the computer that the browser runs on (RFC 8252 §7.3).
    Loopback,
    /// A web site, by its host and its port, if that is a special one.
    Site(String),
    /// An app that opens links of this scheme (RFC 8252 §7.1).
    App(String),
}

/// Reads a redirect URI. Allowed are https, http to this very computer, and schemes of apps; without a fragment
/// (RFC 6749 §3.1.2), without credentials, and written in printable ASCII, so that it is what it looks like.
pub(crate) fn destination(uri: &str) -> Option<Destination> {
    let plain =
        uri.len() <= LONGEST && uri.bytes().all(|byte| byte.is_ascii_graphic() && !b"\\\"<>^`{|}".contains(&byte));
    if !plain || uri.contains('#') {
        return None;
    }
    let url = Url::parse(uri).ok()?;
    if !url.username().is_empty() || url.password().is_some() {
        return None;
    }
    match (url.scheme(), url.host()) {
        ("https", Some(host)) => {
            let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
            Some(Destination::Site(format!("{host}{port}")))
        }
        ("http", Some(host)) if is_loopback(&host) => Some(Destination::Loopback),
        ("http" | "https", _) => None,
        (scheme, _) if NOT_APPS.contains(&scheme) || !url.path().is_empty() && !url.path().starts_with('/') => None,
        (scheme, _) => Some(Destination::App(scheme.to_owned())),
    }
}

fn is_loopback(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => *name == "localhost",
        Host::Ipv4(ip) => *ip == std::net::Ipv4Addr::LOCALHOST,
        Host::Ipv6(ip) => *ip == std::net::Ipv6Addr::LOCALHOST,
    }
}

/// Whether a request's redirect URI is this registered one: letter by letter (RFC 9700 §2.1), but for the port of a program on
/// the same computer, which takes one that is free (RFC 8252 §7.3).
pub(crate) fn matches(registered: &str, requested: &str) -> bool {
    let same_program = || {
        let (registered, requested) = (without_port(registered), without_port(requested));
        registered.is_some() && registered == requested
    };
    registered == requested || same_program()
}

/// Host, and all that follows on the port, of an address on this computer.
fn without_port(uri: &str) -> Option<(&str, &str)> {
    let rest = uri.strip_prefix("http://")?;
    let host = ["127.0.0.1", "[::1]", "localhost"].into_iter().find(|host| rest.starts_with(host))?;
    let rest = rest.strip_prefix(host)?;
    let rest = match rest.strip_prefix(':') {
        Some(port) => {
            let path = port.trim_start_matches(|letter: char| letter.is_ascii_digit());
            let digits = port.len() - path.len();
            (1..=5).contains(&digits).then_some(path)?
        }
        None => rest,
    };
    (rest.is_empty() || rest.starts_with(['/', '?'])).then_some((host, rest))
}

/// The redirect URI with these parameters behind its own (RFC 6749 §4.1.2).
pub(crate) fn with_parameters(uri: &str, parameters: &[(&str, &str)]) -> String {
    let mut encoded = form_urlencoded::Serializer::new(String::new());
    encoded.extend_pairs(parameters);
    let separator = if uri.contains('?') { '&' } else { '?' };
    format!("{uri}{separator}{}", encoded.finish())
}

/// What stands for the redirect URI in a Content-Security-Policy. Browsers hold a form's answer to `form-action` when it
/// redirects. Addresses in digits cannot be named there, but for 127.0.0.1.
pub(crate) fn policy_source(uri: &str) -> Option<String> {
    let url = Url::parse(uri).ok()?;
    let named = match url.host()? {
        Host::Domain(_) => true,
        Host::Ipv4(ip) => ip == std::net::Ipv4Addr::LOCALHOST,
        Host::Ipv6(_) => false,
    };
    match (url.scheme(), named) {
        ("http" | "https", true) => Some(url.origin().ascii_serialization()),
        (scheme @ ("http" | "https"), false) => Some(format!("{scheme}:")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whatever is put into an address, a match leads to the same host, path and query; beyond loopback it is the same text.
        #[test]
        fn a_match_never_leads_elsewhere(
            registered in prop::sample::select(vec![
                "http://127.0.0.1/cb", "http://127.0.0.1:3000", "http://localhost:80/cb?a=b", "http://[::1]/",
                "https://app.example/cb", "cursor://host/cb",
            ]),
            at in 0_usize..40,
            insert in "[0-9:/@?#.a-z%\\\\-]{0,12}",
            cut in 0_usize..4,
        ) {
            let at = at.min(registered.len());
            let end = (at + cut).min(registered.len());
            let requested = format!("{}{insert}{}", &registered[..at], &registered[end..]);
            if matches(registered, &requested) && destination(&requested).is_some() {
                prop_assert_eq!(destination(registered), destination(&requested));
                let (one, two) = (Url::parse(registered).unwrap(), Url::parse(&requested).unwrap());
                prop_assert_eq!(one.host(), two.host());
                prop_assert_eq!((one.path(), one.query(), one.username()), (two.path(), two.query(), two.username()));
                prop_assert!(registered == requested || destination(registered) == Some(Destination::Loopback));
            }
        }

        /// No text makes the reader of addresses stumble, and what it lets through is printable.
        #[test]
        fn any_text_is_an_address_or_none(text in "\\PC{0,40}|(https?|cursor|javascript):[ -~]{0,40}") {
            if destination(&text).is_some() {
                prop_assert!(text.bytes().all(|byte| byte.is_ascii_graphic()));
                prop_assert!(!text.to_ascii_lowercase().starts_with("javascript:"));
                prop_assert!(http::HeaderValue::try_from(with_parameters(&text, &[("code", "\r\n")])).is_ok());
            }
        }
    }

    #[test]
    fn sites_programs_and_apps_are_told_apart() {
        let site = |host: &str| Some(Destination::Site(host.to_owned()));
        let app = |scheme: &str| Some(Destination::App(scheme.to_owned()));
        for (uri, expected) in [
            ("https://claude.ai/api/mcp/auth_callback", site("claude.ai")),
            ("https://app.example:8443/cb?x=1", site("app.example:8443")),
            ("http://127.0.0.1:49152/callback", Some(Destination::Loopback)),
            ("http://127.0.0.1/", Some(Destination::Loopback)),
            ("http://localhost:33418", Some(Destination::Loopback)),
            ("http://[::1]:1/cb", Some(Destination::Loopback)),
            ("cursor://anysphere.cursor-retrieval/oauth/callback", app("cursor")),
            ("com.example.app:/oauth2redirect", app("com.example.app")),
        ] {
            assert_eq!(destination(uri), expected, "{uri}");
        }
    }

    #[test]
    fn what_leads_elsewhere_cannot_be_registered() {
        for uri in [
            "",
            "/callback",
            "callback",
            "http://app.example/cb",
            "http://127.0.0.2/cb",
            "http://localhost.example/cb",
            "http://10.0.0.1/cb",
            "https://app.example/cb#fragment",
            "https://user@app.example/cb",
            "https://user:secret@app.example/cb",
            "http://127.0.0.1:80@app.example/",
            "https://app.example/c b",
            "https://app.example\\@evil.example/",
            "https://app.example/\n",
            "https://",
            "https:///",
            "javascript:alert(1)",
            "javascript:/alert(1)",
            "JavaScript://x/%0aalert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "blob:https://a.example/x",
            "mailto:a@b.example",
            "urn:ietf:wg:oauth:2.0:oob",
            "myapp:callback",
            "https://müller.example/",
            &format!("https://app.example/{}", "a".repeat(2_000)),
        ] {
            assert_eq!(destination(uri), None, "{uri}");
        }
    }

    #[test]
    fn a_match_is_letter_by_letter() {
        let registered = "https://app.example/cb?a=1";
        assert!(matches(registered, registered));
        for other in [
            "https://app.example/cb",
            "https://app.example/cb?a=1&b=2",
            "https://app.example/cb/../cb?a=1",
            "https://app.example:443/cb?a=1",
            "https://APP.example/cb?a=1",
            "https://app.example/cb?a=1/",
            "http://app.example/cb?a=1",
            "https://app.example:8443/cb?a=1",
        ] {
            assert!(!matches(registered, other), "{other}");
        }
    }

    #[test]
    fn a_program_on_this_computer_may_take_any_port() {
        for (registered, requested) in [
            ("http://127.0.0.1/cb", "http://127.0.0.1:49152/cb"),
            ("http://127.0.0.1:3000/cb", "http://127.0.0.1:65535/cb"),
            ("http://127.0.0.1:3000/cb", "http://127.0.0.1/cb"),
            ("http://localhost:1/cb?x", "http://localhost:2/cb?x"),
            ("http://[::1]/cb", "http://[::1]:8080/cb"),
            ("http://localhost:1", "http://localhost:2"),
        ] {
            assert!(matches(registered, requested), "{registered} {requested}");
        }
        for (registered, requested) in [
            ("http://127.0.0.1/cb", "http://127.0.0.1:1/cb/extra"),
            ("http://127.0.0.1/cb", "http://127.0.0.1:1/cb?x"),
            ("http://127.0.0.1/cb", "http://localhost/cb"),
            ("http://127.0.0.1/cb", "http://[::1]/cb"),
            ("http://127.0.0.1/cb", "https://127.0.0.1:1/cb"),
            ("http://127.0.0.1/cb", "http://127.0.0.1:1@evil.example/cb"),
            ("http://127.0.0.1/cb", "http://127.0.0.1.evil.example/cb"),
            ("http://127.0.0.1", "http://127.0.0.1:@evil.example"),
            ("http://localhost", "http://localhost.evil.example"),
            ("http://127.0.0.1/cb", "http://127.0.0.1:/cb"),
            ("https://app.example/cb", "https://app.example:1/cb"),
        ] {
            assert!(!matches(registered, requested), "{registered} {requested}");
        }
    }

    #[test]
    fn parameters_follow_on_those_that_are_there() {
        assert_eq!(with_parameters("https://a.example/cb", &[("code", "x y")]), "https://a.example/cb?code=x+y");
        assert_eq!(with_parameters("https://a.example/cb?a=1", &[("b", "&")]), "https://a.example/cb?a=1&b=%26");
    }

    #[test]
    fn a_policy_names_what_it_can() {
        for (uri, source) in [
            ("https://a.example/cb", Some("https://a.example")),
            ("https://a.example:8443/cb", Some("https://a.example:8443")),
            ("http://127.0.0.1:49152/cb", Some("http://127.0.0.1:49152")),
            ("http://localhost:1/cb", Some("http://localhost:1")),
            ("http://[::1]:1/cb", Some("http:")),
            ("https://192.0.2.1/cb", Some("https:")),
            ("cursor://a/b", None),
        ] {
            assert_eq!(policy_source(uri).as_deref(), source, "{uri}");
        }
    }
}
