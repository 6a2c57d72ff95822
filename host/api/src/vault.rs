//! Sealing what must not lie open in the database: credentials, signing secrets, kept answers.

use chacha20poly1305::aead::{Aead as _, KeyInit as _, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};

use crate::error::ApiError;

/// Bytes of the nonce in front of what is sealed; it is random, which 24 bytes are enough for.
const NONCE: usize = 24;

/// A key that secrets are sealed with (XChaCha20-Poly1305).
#[derive(Clone)]
pub(crate) struct Vault {
    cipher: XChaCha20Poly1305,
}

impl Vault {
    pub(crate) fn new(key: &[u8; 32]) -> Self {
        Self { cipher: XChaCha20Poly1305::new(key.into()) }
    }

    /// Seals a secret for one place, such as the credentials of one webhook; it opens nowhere else.
    ///
    /// # Errors
    /// When the secret is too long to seal.
    pub(crate) fn seal(&self, place: &str, secret: &[u8]) -> Result<Vec<u8>, ApiError> {
        let nonce: [u8; NONCE] = rand::random();
        let sealed = self.cipher.encrypt(&XNonce::from(nonce), Payload { msg: secret, aad: place.as_bytes() });
        let sealed = sealed.map_err(|_| ApiError::internal("a secret cannot be sealed"))?;
        Ok([nonce.as_slice(), &sealed].concat())
    }

    /// Opens what was sealed for this place.
    ///
    /// # Errors
    /// When it was sealed with another key or for another place, or was changed.
    pub(crate) fn open(&self, place: &str, sealed: &[u8]) -> Result<Vec<u8>, ApiError> {
        let unreadable = || ApiError::internal("a stored secret does not open with the configured key");
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE>().ok_or_else(unreadable)?;
        let payload = Payload { msg: sealed, aad: place.as_bytes() };
        self.cipher.decrypt(&XNonce::from(*nonce), payload).map_err(|_| unreadable())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_opens_in_its_place_with_its_key_only() {
        let vault = Vault::new(&[1; 32]);
        let sealed = vault.seal("webhook/1", b"geheim").unwrap();
        assert_eq!(vault.open("webhook/1", &sealed).unwrap(), b"geheim");
        assert!(!sealed.windows(6).any(|part| part == b"geheim"));
        assert_ne!(sealed, vault.seal("webhook/1", b"geheim").unwrap());
        assert!(vault.open("webhook/2", &sealed).is_err());
        assert!(Vault::new(&[2; 32]).open("webhook/1", &sealed).is_err());
        for place in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[place] ^= 1;
            assert!(vault.open("webhook/1", &changed).is_err());
            assert!(vault.open("webhook/1", &sealed[..place]).is_err());
        }
    }
}
