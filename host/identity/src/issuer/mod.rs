//! Access tokens of a foreign issuer: a company's own identity provider instead of the embedded authorization server.
//!
//! A token is a JSON Web Token that one of the issuer's published keys verifies, for our resource and no other (RFC 9068 §4,
//! RFC 8707). What it says about a person is mapped to one that is known here: a token alone makes nobody a person of this
//! installation, and what the person may do is their membership's affair, not the token's.

mod fetch;
mod keys;

use std::fmt;

use async_trait::async_trait;
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, Validation};
use kobana_contract::{Scope, Timestamp};
use kobana_store::{Moment, Store, people};
use serde_json::{Map, Value};

pub use fetch::FetchError;

use crate::{Audience, DEFAULT_REQUESTS_PER_MINUTE, Refusal, Token, TokenSource, jws, signing, token};
use keys::{Keys, Lookup};

/// What an issuer's tokens say, and how it is read.
#[derive(Debug, Clone)]
pub struct IssuerSettings {
    /// Its URL, exactly as it calls itself in `iss` and in its metadata.
    pub url: String,
    /// What has to be among the values of `aud`.
    pub audience: String,
    /// The claim that says who it is: `sub`, for persons that were linked, or one that holds an e-mail address.
    pub person_claim: String,
    /// The claim that holds the scopes: a text with spaces between, or a list.
    pub scope_claim: String,
    /// Seconds by which its clock may differ from ours.
    pub clock_skew: u64,
    /// The algorithms that its signatures may be made with.
    pub algorithms: Vec<SignatureAlgorithm>,
}

/// An algorithm of signatures, by its name in JSON Web Tokens (RFC 7518 §3.1, RFC 8037 §3.1). All work with public keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignatureAlgorithm(Algorithm);

impl SignatureAlgorithm {
    /// Every algorithm that can be checked here.
    pub const ALL: [Self; 9] = [
        Self(Algorithm::EdDSA),
        Self(Algorithm::ES256),
        Self(Algorithm::ES384),
        Self(Algorithm::RS256),
        Self(Algorithm::RS384),
        Self(Algorithm::RS512),
        Self(Algorithm::PS256),
        Self(Algorithm::PS384),
        Self(Algorithm::PS512),
    ];

    /// The algorithm of this name; none where it is another, or one with a shared secret.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.to_string() == name)
    }
}

impl fmt::Display for SignatureAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Its debug form is its name.
        write!(f, "{:?}", self.0)
    }
}

/// Knows the tokens of a foreign issuer.
pub struct ForeignIssuer {
    settings: IssuerSettings,
    keys: Keys,
    store: Store,
}

impl ForeignIssuer {
    /// The tokens of this issuer, for persons of `store`. Its keys are fetched when they are needed, or by
    /// [`ForeignIssuer::prepare`].
    ///
    /// # Errors
    /// [`FetchError::NotAllowed`] where its URL is neither https nor on this machine; [`FetchError::Failed`] where no
    /// client can be made.
    pub fn new(settings: IssuerSettings, store: Store) -> Result<Self, FetchError> {
        jws::install();
        let keys = Keys::new(&settings.url)?;
        Ok(Self { settings, keys, store })
    }

    /// Fetches the keys, so that the first request need not.
    ///
    /// # Errors
    /// [`FetchError`]; those that time mends are told apart by [`FetchError::is_temporary`].
    pub async fn prepare(&self) -> Result<(), FetchError> {
        self.keys.refresh().await
    }

    /// What a token of this issuer says; none where it is nobody's of whom this issuer speaks.
    async fn claims(&self, text: &str) -> Result<Option<Map<String, Value>>, Refusal> {
        let Ok(header) = jsonwebtoken::decode_header(text) else { return Ok(None) };
        let fits =
            header.typ.as_deref().is_none_or(|typ| signing::is_access_token(typ) || typ.eq_ignore_ascii_case("jwt"));
        if !fits || !self.settings.algorithms.contains(&SignatureAlgorithm(header.alg)) {
            return Ok(None);
        }
        let key = match self.keys.find(header.kid.as_deref(), header.alg).await {
            Lookup::Key(key) => key,
            Lookup::Unknown => return Ok(None),
            Lookup::Unavailable(cause) => return Err(Refusal::Unavailable(cause)),
        };
        let mut validation = Validation::new(header.alg);
        validation.leeway = self.settings.clock_skew;
        validation.validate_nbf = true;
        validation.set_issuer(&[&self.settings.url]);
        validation.set_audience(&[&self.settings.audience]);
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        match jsonwebtoken::decode::<Map<String, Value>>(text, &key, &validation) {
            Ok(token) => Ok(Some(token.claims)),
            Err(error) => match error.kind() {
                ErrorKind::ExpiredSignature => Err(Refusal::Expired),
                ErrorKind::InvalidAudience => Err(Refusal::WrongAudience),
                _ => Ok(None),
            },
        }
    }

    /// The person that the claims are about.
    async fn person(&self, claims: &Map<String, Value>) -> Result<uuid::Uuid, Refusal> {
        let value = claims.get(&self.settings.person_claim).and_then(Value::as_str).ok_or(Refusal::Invalid)?;
        let found = match self.settings.person_claim.as_str() {
            "sub" => people::by_subject(&self.store, &self.settings.url, value).await,
            // An address that the issuer has not verified is anybody's claim (OpenID Connect Core §5.7).
            "email" if claims.get("email_verified") != Some(&Value::Bool(true)) => return Err(Refusal::Invalid),
            _ => people::id_by_email(&self.store, value).await,
        };
        found.map_err(|error| Refusal::Unavailable(error.to_string()))?.ok_or(Refusal::Invalid)
    }
}

#[async_trait]
impl TokenSource for ForeignIssuer {
    async fn find(&self, text: &str, _: &Moment<'_>) -> Result<Option<Token>, Refusal> {
        let Some(claims) = self.claims(text).await? else { return Ok(None) };
        let person_id = self.person(&claims).await?;
        let word = |name: &str| claims.get(name).and_then(Value::as_str);
        let client = word("client_id").or_else(|| word("azp")).unwrap_or(&self.settings.url).to_owned();
        Ok(Some(Token {
            // One person has one allowance through one client, however many tokens the issuer gives out.
            id: format!("{person_id}|{client}"),
            person_id,
            audience: Audience::Mcp,
            scopes: scopes(claims.get(&self.settings.scope_claim)),
            workspace: None,
            expires_at: claims.get("exp").and_then(Value::as_i64).map(|end| Timestamp(0).plus_seconds(end)),
            requests_per_minute: DEFAULT_REQUESTS_PER_MINUTE,
            client,
        }))
    }
}

/// Scopes in a text with spaces between, as RFC 8693 §4.2 has them, or in a list, as some issuers do.
fn scopes(claim: Option<&Value>) -> Vec<Scope> {
    match claim {
        Some(Value::String(text)) => token::scopes(text),
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).filter_map(Scope::parse).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn algorithms_have_their_names_and_none_has_a_shared_secret() {
        for name in ["EdDSA", "ES256", "ES384", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512"] {
            assert_eq!(SignatureAlgorithm::named(name).unwrap().to_string(), name);
        }
        for name in ["none", "HS256", "HS512", "eddsa", ""] {
            assert_eq!(SignatureAlgorithm::named(name), None, "{name}");
        }
    }

    #[test]
    fn scopes_come_as_a_text_or_as_a_list_and_unknown_ones_give_nothing() {
        let two = [Scope::Emails, Scope::Inboxes];
        assert_eq!(scopes(Some(&json!("openid inbox.emails inbox.inboxes inbox.nope"))), two);
        assert_eq!(scopes(Some(&json!(["inbox.emails", "inbox.inboxes", 7]))), two);
        assert_eq!(scopes(Some(&json!(7))), []);
        assert_eq!(scopes(None), []);
    }
}
