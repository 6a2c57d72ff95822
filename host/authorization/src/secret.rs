//! Random secrets, what is kept of them, and what is derived from the installation's own key.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

/// A new secret of 32 random bytes, in base64url.
pub(crate) fn random() -> String {
    URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>())
}

/// What is kept of a secret. It is random, so a plain hash gives nothing away.
pub(crate) fn hash(secret: &str) -> [u8; 32] {
    Sha256::digest(secret).into()
}

/// The installation's own key, which replicas share through the database.
#[derive(Clone)]
pub(crate) struct Key(Hmac<Sha256>);

impl Key {
    pub(crate) fn new(bytes: &[u8; 32]) -> Option<Self> {
        Hmac::new_from_slice(bytes).ok().map(Self)
    }

    /// The refresh token that follows on this one. It is always the same, so that a client whose answer was lost gets it again
    /// although no token is kept readable; without the key nobody can tell it.
    pub(crate) fn successor(&self, refresh_token: &str) -> String {
        URL_SAFE_NO_PAD.encode(self.mac("refresh", refresh_token).finalize().into_bytes())
    }

    /// What a form must carry that is shown to the holder of this cookie. Whoever makes a browser send a form from elsewhere
    /// does not know the cookie.
    pub(crate) fn form_token(&self, form: &str, cookie: &str) -> String {
        URL_SAFE_NO_PAD.encode(self.mac(form, cookie).finalize().into_bytes())
    }

    /// Whether a form carries what it must; compared in constant time.
    pub(crate) fn is_form_token(&self, form: &str, cookie: &str, token: &str) -> bool {
        let bytes = URL_SAFE_NO_PAD.decode(token).unwrap_or_default();
        self.mac(form, cookie).verify_slice(&bytes).is_ok()
    }

    fn mac(&self, purpose: &str, of: &str) -> Hmac<Sha256> {
        let mut mac = self.0.clone();
        mac.update(purpose.as_bytes());
        mac.update(&[0]);
        mac.update(of.as_bytes());
        mac
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_long_and_never_the_same() {
        let (one, two) = (random(), random());
        assert_ne!(one, two);
        assert_eq!((one.len(), URL_SAFE_NO_PAD.decode(&one).unwrap().len()), (43, 32));
    }

    #[test]
    fn a_successor_is_always_the_same_and_tells_nothing_without_the_key() {
        let (one, two) = (Key::new(&[1; 32]).unwrap(), Key::new(&[2; 32]).unwrap());
        assert_eq!(one.successor("token"), one.successor("token"));
        assert_ne!(one.successor("token"), two.successor("token"));
        assert_ne!(one.successor("token"), one.successor("other"));
    }

    #[test]
    fn a_form_is_good_for_one_cookie_and_one_purpose() {
        let key = Key::new(&[1; 32]).unwrap();
        let token = key.form_token("login", "cookie");
        assert!(key.is_form_token("login", "cookie", &token));
        for (form, cookie, token) in [
            ("consent", "cookie", token.as_str()),
            ("login", "other", token.as_str()),
            ("login", "cookie", ""),
            ("login", "cookie", "not base64!"),
            ("login", "cookie", &token[1..]),
        ] {
            assert!(!key.is_form_token(form, cookie, token), "{form} {cookie} {token}");
        }
    }
}
