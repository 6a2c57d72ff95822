//! The way to a credential: bearer challenges (RFC 6750 §3, RFC 9728 §5.1) and the metadata document (RFC 9728 §2).

use crate::catalogue::FIRST_SCOPES;
use crate::config::Config;
use crate::dispatch::Denial;
use crate::json;

/// What was wrong with a credential, or nothing where there was none (RFC 6750 §3.1).
pub(crate) const fn reason(denial: Denial) -> Option<&'static str> {
    match denial {
        Denial::Invalid => Some("The access token is not valid"),
        Denial::Expired => Some("The access token expired"),
        Denial::WrongAudience => Some("The access token was issued for another resource"),
        Denial::Missing | Denial::RateLimited(_) | Denial::Unavailable(_) => None,
    }
}

/// The challenge of a 401.
pub(crate) fn unauthorized(config: &Config, denial: Denial) -> String {
    let fault = reason(denial).map(|reason| format!(r#"error="invalid_token", error_description="{reason}", "#));
    let scopes = FIRST_SCOPES.join(" ");
    format!(r#"Bearer {}resource_metadata="{}", scope="{scopes}""#, fault.unwrap_or_default(), config.metadata_url())
}

/// The challenge of a 403: the way to a broader credential.
pub(crate) fn insufficient_scope(config: &Config, scope: &str) -> String {
    format!(
        r#"Bearer error="insufficient_scope", scope="{scope}", resource_metadata="{}", error_description="The access token needs {scope}""#,
        config.metadata_url()
    )
}

/// The metadata document.
pub(crate) fn metadata(config: &Config) -> String {
    let list = |texts: &mut dyn Iterator<Item = &str>| texts.map(json::quoted).collect::<Vec<_>>().join(",");
    format!(
        r#"{{"resource":{},"authorization_servers":[{}],"scopes_supported":[{}],"bearer_methods_supported":["header"],"resource_name":"Kobana Autonomous Inbox"}}"#,
        json::quoted(&config.resource),
        list(&mut config.authorization_servers.iter().map(String::as_str)),
        list(&mut FIRST_SCOPES.iter().copied()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::config;

    #[test]
    fn without_a_credential_there_is_nothing_wrong_with_it() {
        let challenge = unauthorized(&config(), Denial::Missing);
        assert!(challenge.starts_with(
            r#"Bearer resource_metadata="http://127.0.0.1:3028/.well-known/oauth-protected-resource/mcp""#
        ));
        assert!(!challenge.contains("error="));
        assert!(unauthorized(&config(), Denial::Expired).contains(r#"error="invalid_token""#));
    }

    #[test]
    fn the_document_asks_for_reading_only_and_never_for_offline_access() {
        let document: serde_json::Value = serde_json::from_str(&metadata(&config())).unwrap();
        assert_eq!(document["resource"], "http://127.0.0.1:3028/mcp");
        assert_eq!(document["authorization_servers"][0], "http://127.0.0.1:3028");
        let scopes = document["scopes_supported"].as_array().unwrap();
        assert!(!scopes.is_empty() && scopes.iter().all(|scope| !scope.as_str().unwrap().ends_with(".write")));
    }
}
