//! Access tokens of the embedded authorization server: JSON Web Tokens in the form of RFC 9068, signed with Ed25519 (RFC 8037).
//!
//! Whoever has the keys verifies them without looking anything up, so that replicas need no common memory for it. Whether the
//! grant still stands, whether the person is active and what they may do is not in the token's power to say: that is read for every request.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use ring::signature::KeyPair as _;
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::pki_types::pem::PemObject as _;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::jws;

/// What `typ` says of an access token (RFC 9068 §2.1): no other signed thing passes for one.
const TYPE: &str = "at+jwt";
/// Seconds by which the clocks of replicas may differ.
const CLOCK_SKEW: u64 = 5;
/// What stands before the 32 bytes of an Ed25519 private key in PKCS#8 (RFC 8410 §7).
const PKCS8_PREFIX: [u8; 16] =
    [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];

/// What an access token says (RFC 9068 §2.2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessClaims {
    /// The issuer, which is an origin.
    pub iss: String,
    /// UUID of the person.
    pub sub: Uuid,
    /// URL of the resource that it was issued for.
    pub aud: String,
    /// The client that it was issued to.
    pub client_id: String,
    /// What the client calls itself; for the record only.
    pub client_name: String,
    /// The granted scopes, between spaces.
    pub scope: String,
    /// A name of the token that no other has.
    pub jti: String,
    /// When it was issued, in Unix seconds.
    pub iat: i64,
    /// When it ends, in Unix seconds.
    pub exp: i64,
    /// UUID of the grant that it stands on: when the grant is revoked, the token ends.
    pub grant: Uuid,
    /// UUID of the one workspace that the grant is limited to; none where it reaches every workspace of the person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<Uuid>,
}

/// Why a token is none of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AccessTokenError {
    /// It is malformed, signed by another key, of another type or of another issuer: one word for all of these.
    #[error("it is no access token of this server")]
    Invalid,
    /// It has ended.
    #[error("it has ended")]
    Expired,
    /// It was issued for another resource.
    #[error("it was issued for another resource")]
    WrongAudience,
}

/// A token cannot be signed. With keys that were checked there is no reason for it.
#[derive(Debug, Clone, thiserror::Error)]
#[error("an access token cannot be signed: {0}")]
pub struct SignError(String);

/// A key cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SigningKeyError {
    /// Its id has another form.
    #[error("id: expected 1 to 32 letters, digits, - or _")]
    Id,
    /// It is no Ed25519 key.
    #[error("key: expected an Ed25519 private key, in PKCS#8 as PEM or its 32 bytes in base64")]
    Key,
    /// There is none, or two have one id.
    #[error("expected at least one key, and a different id for each")]
    Ring,
}

/// An Ed25519 key under an id, which stands readable in every token (`kid`).
#[derive(Clone)]
pub struct SigningKey {
    id: String,
    private: EncodingKey,
    public: DecodingKey,
    /// The public key in base64url.
    x: String,
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey").field("id", &self.id).finish_non_exhaustive()
    }
}

impl SigningKey {
    /// Reads a private key: PKCS#8 in PEM, as `openssl genpkey -algorithm ed25519` writes it, or the 32 bytes alone in base64.
    ///
    /// # Errors
    /// [`SigningKeyError`].
    pub fn read(id: impl Into<String>, text: &str) -> Result<Self, SigningKeyError> {
        if text.contains("-----BEGIN") {
            let der = PrivatePkcs8KeyDer::from_pem_slice(text.as_bytes()).map_err(|_| SigningKeyError::Key)?;
            return Self::from_pkcs8(id.into(), der.secret_pkcs8_der());
        }
        let bytes = STANDARD.decode(text.trim()).ok().and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
        Self::from_seed(id, &bytes.ok_or(SigningKeyError::Key)?)
    }

    /// A key of these 32 bytes, which must be random.
    ///
    /// # Errors
    /// [`SigningKeyError`].
    pub fn from_seed(id: impl Into<String>, seed: &[u8; 32]) -> Result<Self, SigningKeyError> {
        Self::from_pkcs8(id.into(), &[&PKCS8_PREFIX[..], seed].concat())
    }

    fn from_pkcs8(id: String, der: &[u8]) -> Result<Self, SigningKeyError> {
        let fits =
            (1..=32).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        if !fits {
            return Err(SigningKeyError::Id);
        }
        let pair = jws::key_pair(der).map_err(|_| SigningKeyError::Key)?;
        let x = pair.public_key().as_ref();
        let public = DecodingKey::from_ed_der(x);
        Ok(Self { id, private: EncodingKey::from_ed_der(der), public, x: URL_SAFE_NO_PAD.encode(x) })
    }
}

/// Signs and verifies the access tokens that one issuer gives out for one resource. The first key signs; all verify, so
/// that tokens outlive a rotation.
#[derive(Debug, Clone)]
pub struct AccessTokens {
    first: SigningKey,
    others: Vec<SigningKey>,
    issuer: String,
    resource: String,
}

impl AccessTokens {
    /// The tokens of this issuer for this resource, signed by the first of these keys.
    ///
    /// # Errors
    /// [`SigningKeyError::Ring`].
    pub fn new(
        keys: Vec<SigningKey>,
        issuer: impl Into<String>,
        resource: impl Into<String>,
    ) -> Result<Self, SigningKeyError> {
        jws::install();
        let mut ids: Vec<_> = keys.iter().map(|key| key.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        if ids.len() != keys.len() {
            return Err(SigningKeyError::Ring);
        }
        let mut keys = keys.into_iter();
        let first = keys.next().ok_or(SigningKeyError::Ring)?;
        Ok(Self { first, others: keys.collect(), issuer: issuer.into(), resource: resource.into() })
    }

    /// The issuer, which belongs into `iss`.
    #[must_use]
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// The resource, which belongs into `aud`.
    #[must_use]
    pub fn resource(&self) -> &str {
        &self.resource
    }

    /// Signs what a token says.
    ///
    /// # Errors
    /// [`SignError`], for which there is no reason.
    pub fn sign(&self, claims: &AccessClaims) -> Result<String, SignError> {
        let mut header = Header::new(Algorithm::EdDSA);
        header.typ = Some(TYPE.to_owned());
        header.kid = Some(self.first.id.clone());
        jsonwebtoken::encode(&header, claims, &self.first.private).map_err(|error| SignError(error.to_string()))
    }

    /// What a token says, if it is one of this issuer for this resource and has not ended. One that has ended and was issued for
    /// another resource counts as ended.
    ///
    /// # Errors
    /// [`AccessTokenError`].
    pub fn verify(&self, token: &str) -> Result<AccessClaims, AccessTokenError> {
        let header = jsonwebtoken::decode_header(token).map_err(|_| AccessTokenError::Invalid)?;
        if !header.typ.as_deref().is_some_and(is_access_token) {
            return Err(AccessTokenError::Invalid);
        }
        let key = header.kid.as_deref().and_then(|id| self.named(id)).ok_or(AccessTokenError::Invalid)?;
        let mut validation = Validation::new(Algorithm::EdDSA);
        validation.leeway = CLOCK_SKEW;
        validation.set_issuer(&[&self.issuer]);
        validation.set_audience(&[&self.resource]);
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        let read = jsonwebtoken::decode::<AccessClaims>(token, &key.public, &validation);
        read.map(|token| token.claims).map_err(|error| match error.kind() {
            ErrorKind::ExpiredSignature => AccessTokenError::Expired,
            ErrorKind::InvalidAudience => AccessTokenError::WrongAudience,
            _ => AccessTokenError::Invalid,
        })
    }

    /// The public keys as a JWK set (RFC 7517 §5, RFC 8037 §2), for `jwks_uri`.
    #[must_use]
    pub fn jwks(&self) -> Value {
        let jwk = |key: &SigningKey| json!({ "kty": "OKP", "crv": "Ed25519", "x": key.x, "kid": key.id, "alg": "EdDSA", "use": "sig" });
        json!({ "keys": self.keys().map(jwk).collect::<Vec<_>>() })
    }

    fn keys(&self) -> impl Iterator<Item = &SigningKey> {
        std::iter::once(&self.first).chain(&self.others)
    }

    fn named(&self, id: &str) -> Option<&SigningKey> {
        self.keys().find(|key| key.id == id)
    }
}

/// Whether `typ` names an access token: a media type whose first half may be left out, in any letter case (RFC 9068 §4).
pub(crate) fn is_access_token(typ: &str) -> bool {
    let full = ["application/", TYPE].concat();
    typ.eq_ignore_ascii_case(TYPE) || typ.eq_ignore_ascii_case(&full)
}

#[cfg(test)]
mod tests {
    use kobana_contract::Timestamp;

    use super::*;

    const ISSUER: &str = "https://inbox.example.com";
    const RESOURCE: &str = "https://inbox.example.com/mcp";

    fn key(id: &str, byte: u8) -> SigningKey {
        SigningKey::from_seed(id, &[byte; 32]).unwrap()
    }

    fn tokens(keys: Vec<SigningKey>) -> AccessTokens {
        AccessTokens::new(keys, ISSUER, RESOURCE).unwrap()
    }

    fn claims() -> AccessClaims {
        let now = Timestamp::now().unix_seconds();
        AccessClaims {
            iss: ISSUER.into(),
            sub: Uuid::now_v7(),
            aud: RESOURCE.into(),
            client_id: "https://client.example/metadata.json".into(),
            client_name: "Client".into(),
            scope: "inbox.emails inbox.emails.write".into(),
            jti: Uuid::now_v7().to_string(),
            iat: now,
            exp: now + 3_600,
            grant: Uuid::now_v7(),
            workspace: Some(Uuid::now_v7()),
        }
    }

    fn part(token: &str, index: usize) -> Value {
        let part = token.split('.').nth(index).unwrap();
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
    }

    fn with_header(token: &str, header: &Value) -> String {
        let (_, rest) = token.split_once('.').unwrap();
        format!("{}.{rest}", URL_SAFE_NO_PAD.encode(header.to_string()))
    }

    #[test]
    fn what_is_signed_is_read_again() {
        let tokens = tokens(vec![key("a", 1)]);
        for workspace in [None, Some(Uuid::now_v7())] {
            let claims = AccessClaims { workspace, ..claims() };
            let token = tokens.sign(&claims).unwrap();
            assert_eq!(part(&token, 0), json!({ "typ": "at+jwt", "alg": "EdDSA", "kid": "a" }));
            assert_eq!(tokens.verify(&token), Ok(claims));
        }
    }

    #[test]
    fn a_rotation_leaves_tokens_good_until_the_old_key_goes() {
        let token = tokens(vec![key("old", 1)]).sign(&claims()).unwrap();
        let rotated = tokens(vec![key("new", 2), key("old", 1)]);
        assert!(rotated.verify(&token).is_ok());
        assert_eq!(part(&rotated.sign(&claims()).unwrap(), 0)["kid"], "new");
        assert_eq!(tokens(vec![key("new", 2)]).verify(&token), Err(AccessTokenError::Invalid));
        // The same id with another key is another key.
        assert_eq!(tokens(vec![key("old", 2)]).verify(&token), Err(AccessTokenError::Invalid));
    }

    #[test]
    fn expired_and_for_another_resource_are_told_apart() {
        let tokens = tokens(vec![key("a", 1)]);
        let now = Timestamp::now().unix_seconds();
        let refused = |claims: &AccessClaims| tokens.verify(&tokens.sign(claims).unwrap()).unwrap_err();
        assert_eq!(refused(&AccessClaims { exp: now - 60, ..claims() }), AccessTokenError::Expired);
        let rest = "https://inbox.example.com/api/v1".to_owned();
        assert_eq!(refused(&AccessClaims { aud: rest, ..claims() }), AccessTokenError::WrongAudience);
        let other = "https://elsewhere.example".to_owned();
        assert_eq!(refused(&AccessClaims { iss: other, ..claims() }), AccessTokenError::Invalid);
    }

    #[test]
    fn nothing_else_passes_for_an_access_token() {
        let tokens = tokens(vec![key("a", 1)]);
        let good = tokens.sign(&claims()).unwrap();
        let (signed, signature) = good.rsplit_once('.').unwrap();
        let flipped = {
            let mut bytes = URL_SAFE_NO_PAD.decode(signature).unwrap();
            bytes[0] ^= 1;
            format!("{signed}.{}", URL_SAFE_NO_PAD.encode(bytes))
        };
        let header = |typ: &str, alg: &str, kid: &str| json!({ "typ": typ, "alg": alg, "kid": kid });
        let forged = [
            flipped,
            format!("{signed}."),
            signed.to_owned(),
            with_header(&good, &header("JWT", "EdDSA", "a")),
            with_header(&good, &header("at+jwt", "none", "a")),
            with_header(&good, &header("at+jwt", "HS256", "a")),
            with_header(&good, &header("at+jwt", "ES256", "a")),
            with_header(&good, &header("at+jwt", "EdDSA", "b")),
            with_header(&good, &json!({ "typ": "at+jwt", "alg": "EdDSA" })),
            with_header(&good, &json!({ "typ": "at+jwt", "alg": "EdDSA", "kid": "a", "crit": ["x"], "x": 1 })),
            String::new(),
            "..".to_owned(),
            "a.b.c".to_owned(),
        ];
        for token in forged {
            assert_eq!(tokens.verify(&token), Err(AccessTokenError::Invalid), "{token}");
        }
    }

    #[test]
    fn a_shared_secret_made_of_the_public_key_signs_nothing() {
        let tokens = tokens(vec![key("a", 1)]);
        let public = URL_SAFE_NO_PAD.decode(tokens.jwks()["keys"][0]["x"].as_str().unwrap()).unwrap();
        let header = URL_SAFE_NO_PAD.encode(json!({ "typ": "at+jwt", "alg": "HS256", "kid": "a" }).to_string());
        let payload = URL_SAFE_NO_PAD.encode(serde_json::to_vec(&claims()).unwrap());
        let signed = format!("{header}.{payload}");
        let mac = ring::hmac::sign(&ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &public), signed.as_bytes());
        let token = format!("{signed}.{}", URL_SAFE_NO_PAD.encode(mac));
        assert_eq!(tokens.verify(&token), Err(AccessTokenError::Invalid));
    }

    #[test]
    fn keys_are_read_as_openssl_writes_them_and_as_bytes() {
        // RFC 8410 §10.3 and the public key of §10.1.
        const PUBLIC: &str = "Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE";
        let pem = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n-----END PRIVATE KEY-----\n";
        let read = SigningKey::read("a", pem).unwrap();
        let bytes = SigningKey::read("a", "1O5y2/kTWErVttjx92n4rTr+fCjL8dT74Jeoj0R1WEI=").unwrap();
        assert_eq!((read.x.as_str(), bytes.x.as_str()), (PUBLIC, PUBLIC));
        // RFC 8037, appendix A.1.
        let rfc8037 = URL_SAFE_NO_PAD.decode("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A").unwrap();
        let rfc8037 = SigningKey::from_seed("a", &rfc8037.try_into().unwrap()).unwrap();
        assert_eq!(rfc8037.x, "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo");
    }

    #[test]
    fn unfit_keys_are_refused() {
        for text in
            ["", "c2hvcnQ=", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", "not base64 at all"]
        {
            assert_eq!(SigningKey::read("a", text).unwrap_err(), SigningKeyError::Key, "{text}");
        }
        assert_eq!(SigningKey::from_seed("", &[0; 32]).unwrap_err(), SigningKeyError::Id);
        assert_eq!(SigningKey::from_seed("a.b", &[0; 32]).unwrap_err(), SigningKeyError::Id);
        assert_eq!(AccessTokens::new(vec![], ISSUER, RESOURCE).unwrap_err(), SigningKeyError::Ring);
        let twice = vec![key("a", 1), key("a", 2)];
        assert_eq!(AccessTokens::new(twice, ISSUER, RESOURCE).unwrap_err(), SigningKeyError::Ring);
    }
}
