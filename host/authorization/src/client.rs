//! Clients, and what they say of themselves (RFC 7591 §2), whether they register it or publish it.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::error::Code;
use crate::redirect;

/// The most redirect URIs of a client.
const MOST_REDIRECT_URIS: usize = 10;
/// The longest name of a client, in characters.
const LONGEST_NAME: usize = 200;
/// How much of a name is shown, in characters.
const SHOWN: usize = 80;

/// A client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Client {
    pub(crate) id: String,
    /// What it calls itself, ready to be shown.
    pub(crate) name: Option<String>,
    pub(crate) redirect_uris: Vec<String>,
    /// Whether it asked for refresh tokens.
    pub(crate) refreshes: bool,
    /// The host that published the document about it; none for one that registered itself, whose name nobody vouches for.
    pub(crate) publisher: Option<String>,
}

impl Client {
    /// Whether the client may have people sent here.
    pub(crate) fn may_redirect_to(&self, uri: &str) -> bool {
        redirect::destination(uri).is_some() && self.redirect_uris.iter().any(|known| redirect::matches(known, uri))
    }
}

/// Metadata of a client. What is not here says nothing that matters to this server, and is passed over (RFC 7591 §2).
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Metadata {
    pub(crate) client_id: Option<String>,
    pub(crate) client_name: Option<String>,
    pub(crate) redirect_uris: Option<Vec<String>>,
    pub(crate) token_endpoint_auth_method: Option<String>,
    pub(crate) grant_types: Option<Vec<String>>,
    pub(crate) response_types: Option<Vec<String>>,
    pub(crate) client_secret: Option<serde::de::IgnoredAny>,
    pub(crate) jwks: Option<serde::de::IgnoredAny>,
    pub(crate) jwks_uri: Option<serde::de::IgnoredAny>,
}

/// What of the metadata is used, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Checked {
    pub(crate) name: Option<String>,
    pub(crate) redirect_uris: Vec<String>,
    pub(crate) refreshes: bool,
}

/// What is wrong with metadata.
pub(crate) type Refusal = (Code, &'static str);

impl Metadata {
    /// Reads a JSON object.
    pub(crate) fn read(json: &[u8]) -> Option<Self> {
        // A list of values would be read as one, too.
        let object: Map<String, Value> = serde_json::from_slice(json).ok()?;
        serde_json::from_value(Value::Object(object)).ok()
    }

    /// Checks what a client says of itself, by the same rules whether it registers or publishes it.
    ///
    /// # Errors
    /// `invalid_redirect_uri` or `invalid_client_metadata` (RFC 7591 §3.2.2), with what was expected.
    pub(crate) fn check(self) -> Result<Checked, Refusal> {
        let refuse = |description| Err((Code::InvalidClientMetadata, description));
        if self.client_secret.is_some() || self.jwks.is_some() || self.jwks_uri.is_some() {
            return refuse("client_secret, jwks, jwks_uri: clients are public here and have neither secrets nor keys");
        }
        if self.token_endpoint_auth_method.is_some_and(|method| method != "none") {
            return refuse("token_endpoint_auth_method: expected none");
        }
        // RFC 7591 §2: authorization_code and code are what is meant where nothing is said.
        let grant_types = self.grant_types.unwrap_or_else(|| vec!["authorization_code".to_owned()]);
        let known = |grant: &String| grant == "authorization_code" || grant == "refresh_token";
        if !grant_types.iter().all(known) || !grant_types.iter().any(|grant| grant == "authorization_code") {
            return refuse("grant_types: expected authorization_code, with or without refresh_token");
        }
        if self.response_types.is_some_and(|types| types != ["code"]) {
            return refuse("response_types: expected code alone");
        }
        if self.client_name.as_ref().is_some_and(|name| name.chars().count() > LONGEST_NAME) {
            return refuse("client_name: expected at most 200 characters");
        }
        let redirect_uris = self.redirect_uris.unwrap_or_default();
        check_redirect_uris(&redirect_uris)?;
        let refreshes = grant_types.iter().any(|grant| grant == "refresh_token");
        Ok(Checked { name: self.client_name.as_deref().and_then(shown), redirect_uris, refreshes })
    }
}

fn check_redirect_uris(uris: &[String]) -> Result<(), Refusal> {
    if uris.is_empty() || uris.len() > MOST_REDIRECT_URIS {
        return Err((Code::InvalidRedirectUri, "redirect_uris: expected 1 to 10 of them"));
    }
    if uris.iter().all(|uri| redirect::destination(uri).is_some()) {
        return Ok(());
    }
    let expected = "redirect_uris: expected https, http to 127.0.0.1, [::1] or localhost, or the scheme of an app; no fragment, no credentials";
    Err((Code::InvalidRedirectUri, expected))
}

/// A name as it can be shown beside our own words: in one line, without what would turn or hide text, not too long.
fn shown(name: &str) -> Option<String> {
    let turns = |letter: char| matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{61c}');
    let visible: String = name.chars().filter(|letter| !turns(*letter)).collect();
    let words: Vec<_> = visible
        .split(|letter: char| letter.is_whitespace() || letter.is_control())
        .filter(|word| !word.is_empty())
        .collect();
    let line = words.join(" ");
    let mut short: String = line.chars().take(SHOWN).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    Some(short).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(metadata: Value) -> Result<Checked, Refusal> {
        Metadata::read(metadata.to_string().as_bytes()).unwrap().check()
    }

    #[test]
    fn what_the_known_clients_register_is_taken() {
        let checked = check(json!({
            "client_name": "Claude Code (kobana)",
            "redirect_uris": ["http://localhost:3118/callback"],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
            "scope": "inbox.emails",
        }));
        let checked = checked.unwrap();
        assert!(checked.refreshes);
        assert_eq!(checked.name.as_deref(), Some("Claude Code (kobana)"));
        // The defaults of RFC 7591 §2, but for the secret that nobody gets here.
        let least = check(json!({ "redirect_uris": ["https://app.example/cb"], "logo_uri": "x" })).unwrap();
        assert_eq!(
            least,
            Checked { name: None, redirect_uris: vec!["https://app.example/cb".into()], refreshes: false }
        );
    }

    #[test]
    fn what_this_server_does_not_do_is_refused_by_name() {
        let uris = json!(["https://app.example/cb"]);
        for (name, value) in [
            ("token_endpoint_auth_method", json!("client_secret_basic")),
            ("token_endpoint_auth_method", json!("private_key_jwt")),
            ("grant_types", json!(["client_credentials"])),
            ("grant_types", json!(["authorization_code", "password"])),
            ("grant_types", json!(["refresh_token"])),
            ("grant_types", json!([])),
            ("response_types", json!(["token"])),
            ("response_types", json!(["code", "token"])),
            ("client_name", json!("x".repeat(201))),
            ("client_secret", json!("s")),
            ("jwks", json!({ "keys": [] })),
        ] {
            let (code, description) = check(json!({ "redirect_uris": uris, name: value })).unwrap_err();
            assert_eq!(code, Code::InvalidClientMetadata, "{name}");
            assert!(description.contains(name), "{description}");
        }
    }

    #[test]
    fn redirect_uris_are_checked_one_by_one() {
        let many: Vec<_> = (0..11).map(|number| format!("https://app.example/{number}")).collect();
        for uris in [json!(null), json!([]), json!(["https://app.example/cb", "http://app.example/cb"]), json!(many)] {
            assert_eq!(check(json!({ "redirect_uris": uris })).unwrap_err().0, Code::InvalidRedirectUri, "{uris}");
        }
    }

    #[test]
    fn a_name_is_shown_in_one_line_and_turns_nothing_around() {
        assert_eq!(shown("  Good\n\tClient "), Some("Good Client".to_owned()));
        assert_eq!(shown("evil\u{202e}lanretni"), Some("evillanretni".to_owned()));
        assert_eq!(shown("\u{200b} \n"), None);
        assert_eq!(shown(&"x".repeat(90)).unwrap().chars().count(), 81);
    }
}
