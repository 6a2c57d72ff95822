//! Who gets in: the keys that access tokens are signed with, a foreign issuer instead, and the sources of tokens that this
//! process asks.

use std::sync::Arc;

use kobana_egress::is_loopback;
use kobana_identity::{AccessTokens, DemoTokens, Identity, IssuedTokens, ScriptTokens, SigningKey, Sources};
use kobana_store::{Store, people, settings};
use serde::Deserialize;
use url::Url;

use crate::failure::Failure;
use crate::settings::Settings;

/// The id of the key that the database keeps.
const KEPT: &str = "database";

/// Keys that access tokens are signed with. Replicas with one database need none: they share the one that it keeps.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Signing {
    /// The first signs, all verify. To rotate, put a new one first, and take the old one off an hour later.
    keys: Vec<Key>,
}

/// One key.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Key {
    /// 1 to 32 letters, digits, `-` or `_`; it stands readable in every token.
    id: String,
    /// An Ed25519 private key: PKCS#8 in PEM, or its 32 bytes in base64.
    key: String,
}

impl Signing {
    /// The keys, checked; those that the database keeps where none is configured.
    async fn keys(&self, store: &Store) -> Result<Vec<SigningKey>, Failure> {
        if self.keys.is_empty() {
            let seed = settings::key(store, "signing").await.map_err(|error| Failure::Data(error.to_string()))?;
            return SigningKey::from_seed(KEPT, &seed).map(|key| vec![key]).map_err(|e| Failure::Data(e.to_string()));
        }
        let key = |(index, configured): (usize, &Key)| {
            SigningKey::read(configured.id.clone(), &configured.key)
                .map_err(|error| Failure::Config(format!("signing.keys.{index}.{error}")))
        };
        self.keys.iter().enumerate().map(key).collect()
    }
}

impl std::fmt::Debug for Signing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.keys.iter().map(|key| &key.id)).finish()
    }
}

/// Who is known here, and how.
pub(crate) struct Access {
    /// Proves credentials.
    pub(crate) identity: Arc<Identity>,
    /// The tokens that the embedded authorization server issues; none where a foreign issuer does.
    pub(crate) issued: Option<AccessTokens>,
}

/// The sources of tokens that the settings ask for.
pub(crate) async fn open(settings: &Settings, demo: bool, store: &Store, resource: &str) -> Result<Access, Failure> {
    let mut sources = Sources::default();
    if demo {
        sources = sources.and(DemoTokens::starting_now());
    }
    sources = sources.and(ScriptTokens::new(store.clone()));
    let issued = match settings.issuer.open(store, resource).await? {
        Some(issuer) => {
            sources = sources.and(issuer);
            None
        }
        None => {
            let keys = settings.signing.keys(store).await?;
            let tokens = AccessTokens::new(keys, origin(resource), resource);
            let tokens = tokens.map_err(|error| Failure::Config(format!("signing.keys: {error}")))?;
            sources = sources.and(IssuedTokens::new(tokens.clone(), store.clone()));
            Some(tokens)
        }
    };
    Ok(Access { identity: Arc::new(Identity::new(store.clone(), sources)), issued })
}

/// The origin of a URL, which is what an embedded authorization server calls itself.
pub(crate) fn origin(url: &str) -> String {
    Url::parse(url).map(|url| url.origin().ascii_serialization()).unwrap_or_default()
}

/// Checks the URL of the endpoint against where the server listens: tokens and passwords go over TLS, except on this machine.
pub(crate) fn check_resource(settings: &Settings) -> Result<(), Failure> {
    let off_loopback = !settings.listen.ip().is_loopback();
    match settings.resource.as_deref() {
        None if off_loopback => Err(Failure::Config(format!(
            "resource: expected the https URL of the endpoint as clients know it, such as \
             https://inbox.example.com/mcp, since listen = {} is no loopback address",
            settings.listen
        ))),
        Some(url) if off_loopback && !url.starts_with("https://") => Err(Failure::Config(format!(
            "resource = {url}: expected an https URL, since listen = {} is no loopback address; TLS ends at a proxy before it",
            settings.listen
        ))),
        Some(url) if !url.starts_with("https://") && is_elsewhere(url) => Err(Failure::Config(format!(
            "resource = {url}: expected an https URL; plain http is for loopback addresses only"
        ))),
        _ => Ok(()),
    }
}

/// Whether a URL is of another machine. What is no URL is said elsewhere, by those who know what is expected.
fn is_elsewhere(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| url.has_host() && !is_loopback(&url))
}

/// A text as one word for a shell.
fn shell_word(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+:@,".contains(letter);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// What to type while nobody can sign in; none where there is somebody.
pub(crate) async fn first_steps(settings: &Settings, store: &Store) -> Result<Option<String>, Failure> {
    if people::any(store).await.map_err(|error| Failure::Data(error.to_string()))? {
        return Ok(None);
    }
    let data = settings
        .data
        .as_ref()
        .map(|data| format!(" --data {}", shell_word(&data.to_string_lossy())))
        .unwrap_or_default();
    // Where a foreign issuer asks for passwords, none is needed here.
    let password = if settings.issuer.url.is_some() { " --no-password" } else { "" };
    Ok(Some(format!(
        "  kobana admin organization create 'My Company'{data}\n  \
           kobana admin workspace create finance{data}\n  \
           kobana admin person create ana@example.com --name 'Ana' --workspace finance --role owner{password}{data}\n"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_one_word_in_a_shell() {
        assert_eq!(shell_word("/var/lib/kobana"), "/var/lib/kobana");
        assert_eq!(shell_word("My Data"), "'My Data'");
        assert_eq!(shell_word("it's"), r"'it'\''s'");
    }

    #[test]
    fn the_issuer_is_the_origin_of_the_endpoint() {
        assert_eq!(origin("https://inbox.example.com/mcp"), "https://inbox.example.com");
        assert_eq!(origin("http://127.0.0.1:3028/mcp"), "http://127.0.0.1:3028");
    }
}
