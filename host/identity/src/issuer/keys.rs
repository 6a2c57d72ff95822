//! An issuer's public keys: kept, and fetched again when a token names one that is not known, but not at everybody's whim.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use jsonwebtoken::jwk::{Jwk, JwkSet, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::fetch::{FetchError, Fetcher};

/// Between two fetches: whoever invents key ids causes no more than this.
const BREATH: Duration = Duration::from_secs(10);
/// How long a request waits for a fetch that another one began.
const MOMENT: Duration = Duration::from_secs(1);
/// How old keys may be before they are fetched again while they go on being used, so that one that was withdrawn ends.
const OLD: Duration = Duration::from_secs(15 * 60);

/// A key, and what it may be used with.
struct Key {
    id: Option<String>,
    algorithm: Option<String>,
    key: DecodingKey,
}

/// The keys of one fetch.
struct Fetched {
    keys: Vec<Key>,
    at: Instant,
}

/// What became of looking for a key.
pub(super) enum Lookup {
    /// This is it.
    Key(DecodingKey),
    /// The issuer has no such key.
    Unknown,
    /// The issuer's keys were never had, and cannot be had now.
    Unavailable(String),
}

/// The keys of one issuer.
pub(super) struct Keys(Arc<Inner>);

struct Inner {
    fetcher: Fetcher,
    known: RwLock<Option<Arc<Fetched>>>,
    /// When a fetch was last tried. Whoever holds the lock is fetching; the others wait for what comes of it.
    tried: Mutex<Option<Instant>>,
}

impl Keys {
    pub(super) fn new(issuer: &str) -> Result<Self, FetchError> {
        let fetcher = Fetcher::new(issuer)?;
        Ok(Self(Arc::new(Inner { fetcher, known: RwLock::new(None), tried: Mutex::new(None) })))
    }

    /// Fetches the keys now.
    pub(super) async fn refresh(&self) -> Result<(), FetchError> {
        let mut tried = self.0.tried.lock().await;
        let fetched = self.0.fetch().await;
        *tried = Some(Instant::now());
        fetched
    }

    /// The key that a token's header names. Without a name it is the only one that fits.
    pub(super) async fn find(&self, id: Option<&str>, algorithm: Algorithm) -> Lookup {
        if let Some(known) = self.0.known()
            && let Some(key) = known.find(id, algorithm)
        {
            if known.at.elapsed() > OLD {
                self.refresh_meanwhile();
            }
            return Lookup::Key(key);
        }
        let refused = self.0.refresh_unless_just_tried().await;
        match (self.0.known(), refused) {
            (Some(known), _) => known.find(id, algorithm).map_or(Lookup::Unknown, Lookup::Key),
            (None, Some(error)) => Lookup::Unavailable(error.to_string()),
            (None, None) => Lookup::Unavailable("the issuer's keys could not be fetched a moment ago".to_owned()),
        }
    }

    /// Fetches in the background; the keys that are known serve meanwhile, and go on where that fails.
    fn refresh_meanwhile(&self) {
        let inner = Arc::clone(&self.0);
        tokio::spawn(async move {
            if inner.known().is_some_and(|known| known.at.elapsed() > OLD) {
                inner.refresh_unless_just_tried().await;
            }
        });
    }
}

impl Inner {
    fn known(&self) -> Option<Arc<Fetched>> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Answers what went wrong, if it was tried and something did.
    async fn refresh_unless_just_tried(&self) -> Option<FetchError> {
        // Only the one that fetches waits for the issuer; the others wait for what comes of it, but a moment only: an issuer
        // that hangs holds up one request, and not as many as somebody cares to send.
        let mut tried = timeout(MOMENT, self.tried.lock()).await.ok()?;
        if tried.is_some_and(|at| at.elapsed() < BREATH) {
            return None;
        }
        let fetched = self.fetch().await;
        // Counted from the end, so that those who waited meanwhile do not try one after the other.
        *tried = Some(Instant::now());
        let error = fetched.err()?;
        tracing::warn!(%error, "the issuer's keys cannot be fetched");
        Some(error)
    }

    async fn fetch(&self) -> Result<(), FetchError> {
        let set = self.fetcher.keys().await?;
        let fetched = Fetched::of(&set);
        tracing::debug!(keys = fetched.keys.len(), "the issuer's keys are fetched");
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(fetched));
        Ok(())
    }
}

impl Fetched {
    /// The keys that sign; others, and those of a kind that is not known here, are passed over (RFC 7517 §5).
    fn of(set: &JwkSet) -> Self {
        let signs = |jwk: &&Jwk| matches!(jwk.common.public_key_use, None | Some(PublicKeyUse::Signature));
        let key = |jwk: &Jwk| {
            let key = DecodingKey::from_jwk(jwk).ok()?;
            let algorithm = jwk.common.key_algorithm.map(|algorithm| algorithm.to_string());
            Some(Key { id: jwk.common.key_id.clone(), algorithm, key })
        };
        Self { keys: set.keys.iter().filter(signs).filter_map(key).collect(), at: Instant::now() }
    }

    fn find(&self, id: Option<&str>, algorithm: Algorithm) -> Option<DecodingKey> {
        let name = format!("{algorithm:?}");
        let fits = |key: &&Key| {
            key.key.family() == algorithm.family()
                && key.algorithm.as_ref().is_none_or(|pinned| *pinned == name)
                && id.is_none_or(|id| key.id.as_deref() == Some(id))
        };
        let mut fitting = self.keys.iter().filter(fits);
        match (fitting.next(), fitting.next()) {
            (Some(only), None) => Some(only.key.clone()),
            // Of two with one id neither can be told to be meant.
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fetched() -> Fetched {
        let ed = |kid: &str, more: &str| json!({ "kty": "OKP", "crv": "Ed25519", "kid": kid, "use": more, "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" });
        let set = json!({ "keys": [
            ed("a", "sig"), ed("b", "sig"), ed("c", "enc"),
            { "kty": "EC", "crv": "P-256", "kid": "p", "alg": "ES256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0" },
            { "kty": "oct", "kid": "h", "k": "c2VjcmV0" },
            { "kty": "new", "kid": "n" },
        ]});
        Fetched::of(&serde_json::from_value(set).unwrap())
    }

    #[test]
    fn a_key_is_found_by_its_id_and_only_for_its_own_algorithm() {
        let keys = fetched();
        assert!(keys.find(Some("a"), Algorithm::EdDSA).is_some());
        assert!(keys.find(Some("p"), Algorithm::ES256).is_some());
        for (id, algorithm) in [
            ("a", Algorithm::ES256),
            ("p", Algorithm::EdDSA),
            ("p", Algorithm::ES384),
            ("c", Algorithm::EdDSA),
            ("n", Algorithm::EdDSA),
            ("z", Algorithm::EdDSA),
        ] {
            assert!(keys.find(Some(id), algorithm).is_none(), "{id} {algorithm:?}");
        }
    }

    #[test]
    fn without_an_id_it_is_the_only_one_that_fits_or_none() {
        let keys = fetched();
        assert!(keys.find(None, Algorithm::ES256).is_some());
        assert!(keys.find(None, Algorithm::EdDSA).is_none());
    }
}
