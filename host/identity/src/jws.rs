//! Signatures of JSON Web Tokens, made and checked by `ring`, which the TLS of this process stands on as well.
//!
//! The JWT library leaves cryptography to whoever installs a provider. This one knows public-key algorithms only: there is no `HS256`, so
//! that no public key is ever taken for a shared secret, and `none` is no algorithm to the library either.

use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::signature::{Error as SignatureError, Signer, Verifier};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind, EncodingKey};
use ring::signature as with_ring;
use ring::signature::{
    Ed25519KeyPair, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm,
};

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: signer,
    verifier_factory: verifier,
    // They derive JWKs from keys, which nothing here does: ours are written down with their keys, others' are read.
    key_utils: KeyUtils::new_unimplemented(),
};

/// Makes the JWT library use this provider; to be called before the library is. Every further call changes nothing.
pub(crate) fn install() {
    // Refused where it is installed already, by an earlier call.
    let _ = PROVIDER.install_default();
}

/// Signs with an Ed25519 key pair.
struct Ed25519 {
    pair: Ed25519KeyPair,
}

impl Signer<Vec<u8>> for Ed25519 {
    fn try_sign(&self, message: &[u8]) -> Result<Vec<u8>, SignatureError> {
        Ok(self.pair.sign(message).as_ref().to_vec())
    }
}

impl JwtSigner for Ed25519 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::EdDSA
    }
}

/// The key pair of a private key in PKCS#8, with or without its public half (RFC 8410).
pub(crate) fn key_pair(pkcs8: &[u8]) -> Result<Ed25519KeyPair, ring::error::KeyRejected> {
    Ed25519KeyPair::from_pkcs8_maybe_unchecked(pkcs8)
}

fn signer(algorithm: &Algorithm, key: &EncodingKey) -> Result<Box<dyn JwtSigner>, Error> {
    match algorithm {
        Algorithm::EdDSA => {
            let pair = key_pair(key.as_bytes()).map_err(|_| Error::from(ErrorKind::InvalidEddsaKey))?;
            Ok(Box::new(Ed25519 { pair }))
        }
        _ => Err(ErrorKind::UnsupportedAlgorithm.into()),
    }
}

/// How a signature is checked.
#[derive(Clone, Copy)]
enum Check {
    Key(&'static dyn VerificationAlgorithm),
    Rsa(&'static RsaParameters),
}

/// Checks signatures of one algorithm with one public key.
struct PublicKey {
    algorithm: Algorithm,
    check: Check,
    key: DecodingKey,
}

impl Verifier<Vec<u8>> for PublicKey {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), SignatureError> {
        let checked = match (self.check, self.key.kind()) {
            (Check::Key(algorithm), DecodingKeyKind::SecretOrDer(key)) => {
                UnparsedPublicKey::new(algorithm, key).verify(message, signature)
            }
            (Check::Rsa(parameters), DecodingKeyKind::RsaModulusExponent { n, e }) => {
                RsaPublicKeyComponents { n, e }.verify(parameters, message, signature)
            }
            _ => return Err(SignatureError::new()),
        };
        checked.map_err(|_| SignatureError::new())
    }
}

impl JwtVerifier for PublicKey {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>, Error> {
    let check = match algorithm {
        Algorithm::EdDSA => Check::Key(&with_ring::ED25519),
        Algorithm::ES256 => Check::Key(&with_ring::ECDSA_P256_SHA256_FIXED),
        Algorithm::ES384 => Check::Key(&with_ring::ECDSA_P384_SHA384_FIXED),
        Algorithm::RS256 => Check::Rsa(&with_ring::RSA_PKCS1_2048_8192_SHA256),
        Algorithm::RS384 => Check::Rsa(&with_ring::RSA_PKCS1_2048_8192_SHA384),
        Algorithm::RS512 => Check::Rsa(&with_ring::RSA_PKCS1_2048_8192_SHA512),
        Algorithm::PS256 => Check::Rsa(&with_ring::RSA_PSS_2048_8192_SHA256),
        Algorithm::PS384 => Check::Rsa(&with_ring::RSA_PSS_2048_8192_SHA384),
        Algorithm::PS512 => Check::Rsa(&with_ring::RSA_PSS_2048_8192_SHA512),
        _ => return Err(ErrorKind::UnsupportedAlgorithm.into()),
    };
    // A key is used with algorithms of its own kind only.
    if key.family() != algorithm.family() {
        return Err(ErrorKind::InvalidKeyFormat.into());
    }
    Ok(Box::new(PublicKey { algorithm: *algorithm, check, key: key.clone() }))
}
