//! What a deployment decides. It comes in environment variables, so that it works the same on every runtime.

use std::fmt;

use crate::origin::Origin;

/// The URL of the endpoint, as clients know it.
pub const RESOURCE: &str = "KOBANA_RESOURCE";
/// URLs of authorization servers, separated by spaces.
pub const AUTHORIZATION_SERVERS: &str = "KOBANA_AUTHORIZATION_SERVERS";
/// Origins of web pages that may talk to the endpoint, separated by spaces.
pub const ALLOWED_ORIGINS: &str = "KOBANA_ALLOWED_ORIGINS";

/// The well-known path of a protected resource's metadata (RFC 9728 §3.1); the resource's own path follows it.
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// A deployment's configuration, checked.
#[derive(Debug, Clone)]
pub struct Config {
    /// The URL of the endpoint: never guessed from a request (protocol.md §19).
    pub resource: String,
    /// `scheme://host[:port]` of the resource.
    base: String,
    /// The path of the endpoint.
    pub endpoint: String,
    /// URLs of authorization servers; at least one.
    pub authorization_servers: Vec<String>,
    /// Origins of web pages that may talk to the endpoint.
    pub allowed_origins: Vec<Origin>,
}

/// A setting that is missing or wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// The environment variable.
    pub variable: &'static str,
    /// What was expected.
    pub expected: &'static str,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: expected {}", self.variable, self.expected)
    }
}

impl std::error::Error for ConfigError {}

impl Config {
    /// Reads the configuration from environment variables.
    ///
    /// # Errors
    /// [`ConfigError`] names the variable.
    pub fn from_env(variable: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let list =
            |name| variable(name).unwrap_or_default().split_ascii_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let resource = variable(RESOURCE).unwrap_or_default();
        let (base, endpoint) = split(&resource).ok_or(ConfigError {
            variable: RESOURCE,
            expected: "an http(s) URL with a path, such as https://inbox.example.com/mcp",
        })?;
        let authorization_servers = list(AUTHORIZATION_SERVERS);
        if authorization_servers.is_empty() || !authorization_servers.iter().all(|url| is_url(url)) {
            return Err(ConfigError { variable: AUTHORIZATION_SERVERS, expected: "at least one http(s) URL" });
        }
        let allowed_origins = list(ALLOWED_ORIGINS).iter().map(|text| Origin::parse(text)).collect::<Option<_>>();
        let allowed_origins = allowed_origins
            .ok_or(ConfigError { variable: ALLOWED_ORIGINS, expected: "origins such as https://app.example.com" })?;
        Ok(Self { base, endpoint, resource, authorization_servers, allowed_origins })
    }

    /// Whether a path is one of the two of the metadata document: with the endpoint's path behind it, or without.
    #[must_use]
    pub fn is_metadata(&self, path: &str) -> bool {
        path.strip_prefix(WELL_KNOWN).is_some_and(|suffix| suffix.is_empty() || suffix == self.endpoint)
    }

    /// The URL of the metadata document (RFC 9728 §3.1).
    #[must_use]
    pub fn metadata_url(&self) -> String {
        format!("{}{WELL_KNOWN}{}", self.base, self.endpoint)
    }
}

/// Cuts a URL into what comes before its path, and its path, which may not be empty, end in a slash or hold a query.
fn split(url: &str) -> Option<(String, String)> {
    let after_scheme = url.find("://")? + 3;
    let slash = url.get(after_scheme..)?.find('/')? + after_scheme;
    let (base, path) = url.split_at_checked(slash)?;
    let fits = Origin::parse(base).is_some()
        && path.len() > 1
        && !path.ends_with('/')
        && !path.contains(['?', '#', '"', '\\']);
    fits.then(|| (base.to_owned(), path.to_owned()))
}

fn is_url(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/') && !rest.contains(['"', '\\', '#']))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A configuration to test with.
    pub(crate) fn config() -> Config {
        read(&[
            (RESOURCE, "http://127.0.0.1:3028/mcp"),
            (AUTHORIZATION_SERVERS, "http://127.0.0.1:3028"),
            (ALLOWED_ORIGINS, "http://127.0.0.1:3028 https://app.example.com"),
        ])
        .unwrap()
    }

    fn read(variables: &[(&str, &str)]) -> Result<Config, ConfigError> {
        Config::from_env(|name| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn a_missing_or_wrong_setting_is_named() {
        assert_eq!(read(&[]).unwrap_err().variable, RESOURCE);
        for wrong in
            ["inbox.example.com/mcp", "https://inbox.example.com", "https://inbox.example.com/", "https:///mcp"]
        {
            assert_eq!(read(&[(RESOURCE, wrong)]).unwrap_err().variable, RESOURCE, "{wrong}");
        }
        let good = (RESOURCE, "https://inbox.example.com/mcp");
        assert_eq!(read(&[good]).unwrap_err().variable, AUTHORIZATION_SERVERS);
        let server = (AUTHORIZATION_SERVERS, "https://auth.example.com");
        assert_eq!(read(&[good, server, (ALLOWED_ORIGINS, "*")]).unwrap_err().variable, ALLOWED_ORIGINS);
        assert!(read(&[good, server]).is_ok());
    }

    #[test]
    fn the_metadata_stands_at_the_root_and_behind_the_endpoints_path() {
        let config = config();
        assert_eq!(config.metadata_url(), "http://127.0.0.1:3028/.well-known/oauth-protected-resource/mcp");
        assert!(config.is_metadata("/.well-known/oauth-protected-resource"));
        assert!(config.is_metadata("/.well-known/oauth-protected-resource/mcp"));
        assert!(!config.is_metadata("/.well-known/oauth-protected-resource/mcp/x"));
        assert!(!config.is_metadata("/.well-known/oauth-protected-resourcex"));
    }
}
