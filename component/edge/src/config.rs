//! Where the host is, how to get in, and how long to wait. It comes in environment variables, as the gateway's settings do.

use std::fmt;
use std::net::IpAddr;

use http::Uri;
use http::uri::Scheme;

/// The URL of the host's edge endpoint, without `/edge/v2`.
pub(crate) const URL: &str = "KOBANA_EDGE_URL";
/// The edge key.
pub(crate) const KEY: &str = "KOBANA_EDGE_KEY";
/// How long one request of a client may take at the host, in milliseconds.
pub(crate) const TIMEOUT: &str = "KOBANA_EDGE_TIMEOUT_MS";

/// Below the 30 seconds that hosts usually give a request, so that there is still an answer.
const DEFAULT_TIMEOUT: u64 = 20_000;
/// A ticket lasts two minutes.
const LONGEST_TIMEOUT: u64 = 100_000;
/// 32 bytes in base64.
const KEY_LENGTH: usize = 44;

/// The configuration, checked. `Debug` is not derived on purpose: it holds a secret.
pub(crate) struct Config {
    /// Whether the connection is encrypted.
    pub(crate) tls: bool,
    /// Host and port.
    pub(crate) authority: String,
    /// What stands before the paths of the endpoint; without a slash at its end.
    pub(crate) prefix: String,
    /// The value of the `Authorization` header.
    pub(crate) authorization: String,
    /// How long one request of a client may take, in nanoseconds.
    pub(crate) timeout: u64,
}

/// A setting that is missing or wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConfigError {
    variable: &'static str,
    expected: &'static str,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: expected {}", self.variable, self.expected)
    }
}

impl Config {
    /// Reads the configuration from environment variables.
    pub(crate) fn from_env(variable: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let (tls, authority, prefix) = endpoint(&variable(URL).unwrap_or_default())?;
        let key = variable(KEY).unwrap_or_default();
        if !is_key(&key) {
            return Err(ConfigError {
                variable: KEY,
                expected: "32 random bytes in base64, one of the host's edge.keys",
            });
        }
        let milliseconds = match variable(TIMEOUT) {
            None => Some(DEFAULT_TIMEOUT),
            Some(text) => text.parse().ok().filter(|milliseconds| (1..=LONGEST_TIMEOUT).contains(milliseconds)),
        };
        let milliseconds =
            milliseconds.ok_or(ConfigError { variable: TIMEOUT, expected: "1 to 100000 milliseconds" })?;
        Ok(Self { tls, authority, prefix, authorization: format!("Bearer {key}"), timeout: milliseconds * 1_000_000 })
    }
}

fn is_key(text: &str) -> bool {
    let base64 = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/';
    let body = text.strip_suffix('=');
    text.len() == KEY_LENGTH && body.is_some_and(|body| body.bytes().all(base64))
}

/// Scheme, authority and path of the host's URL.
fn endpoint(url: &str) -> Result<(bool, String, String), ConfigError> {
    let wrong = ConfigError { variable: URL, expected: "an https URL, such as https://inbox.example.com" };
    let uri: Uri = url.parse().map_err(|_| wrong.clone())?;
    let (Some(scheme), Some(authority), None) = (uri.scheme(), uri.authority(), uri.query()) else { return Err(wrong) };
    let tls = *scheme == Scheme::HTTPS;
    if authority.as_str().contains('@') || (!tls && *scheme != Scheme::HTTP) {
        return Err(wrong);
    }
    // The edge key and everybody's tokens travel here.
    if !tls && !is_loopback(authority.host()) {
        return Err(ConfigError { variable: URL, expected: "https, since the host is not on loopback" });
    }
    Ok((tls, authority.as_str().to_owned(), uri.path().trim_end_matches('/').to_owned()))
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
mod tests {
    use super::*;

    const GOOD_KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

    fn read(url: &str, key: &str, timeout: Option<&str>) -> Result<Config, ConfigError> {
        Config::from_env(|name| match name {
            URL => Some(url.to_owned()),
            KEY => Some(key.to_owned()),
            _ => timeout.map(str::to_owned),
        })
    }

    fn problem(url: &str, key: &str, timeout: Option<&str>) -> String {
        match read(url, key, timeout) {
            Ok(_) => panic!("{url} {key} {timeout:?} is taken"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_url_is_taken_apart() {
        let config = read("https://inbox.example.com:8443/a/b/", GOOD_KEY, None).unwrap();
        assert!(config.tls);
        assert_eq!((config.authority.as_str(), config.prefix.as_str()), ("inbox.example.com:8443", "/a/b"));
        assert_eq!(config.authorization, format!("Bearer {GOOD_KEY}"));
        assert_eq!(config.timeout, 20_000_000_000);
        assert_eq!(read("https://inbox.example.com", GOOD_KEY, Some("5")).unwrap().timeout, 5_000_000);
    }

    #[test]
    fn without_encryption_there_is_loopback_only() {
        for url in ["http://127.0.0.1:3029", "http://localhost:3029", "http://[::1]:3029", "http://127.8.8.8"] {
            assert!(!read(url, GOOD_KEY, None).unwrap().tls, "{url}");
        }
        for url in ["http://inbox.example.com", "http://10.0.0.1:3029", "http://127.0.0.1.example.com", "http://[::2]"]
        {
            assert!(problem(url, GOOD_KEY, None).starts_with("KOBANA_EDGE_URL: expected https, since"), "{url}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_and_no_secret_is() {
        for url in
            ["", "inbox.example.com", "/edge", "ftp://127.0.0.1", "https://a@b.example", "https://b.example/?x=1"]
        {
            assert!(problem(url, GOOD_KEY, None).starts_with("KOBANA_EDGE_URL: "), "{url}");
        }
        for key in ["", "secret", &GOOD_KEY[1..], &GOOD_KEY.replace('A', "\n"), &format!("{GOOD_KEY}\r\nx: y")] {
            let problem = problem("https://b.example", key, None);
            assert!(
                problem.starts_with("KOBANA_EDGE_KEY: ") && (key.is_empty() || !problem.contains(key)),
                "{problem}"
            );
        }
        for timeout in ["", "0", "-1", "100001", "1s"] {
            assert!(problem("https://b.example", GOOD_KEY, Some(timeout)).starts_with("KOBANA_EDGE_TIMEOUT_MS: "));
        }
    }
}
