//! Proof Key for Code Exchange (RFC 7636), by S256 only.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

/// The one method: `plain` shows the secret to whoever sees the request.
pub(crate) const METHOD: &str = "S256";

/// Whether this can be a challenge: a SHA-256 hash in base64url without padding (RFC 7636 §4.2).
pub(crate) fn is_challenge(text: &str) -> bool {
    text.len() == 43 && URL_SAFE_NO_PAD.decode(text).is_ok_and(|hash| hash.len() == 32)
}

/// Whether this verifier belongs to this challenge (RFC 7636 §4.1, §4.6).
pub(crate) fn proves(verifier: &str, challenge: &str) -> bool {
    let unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let formed = (43..=128).contains(&verifier.len()) && verifier.bytes().all(unreserved);
    formed && URL_SAFE_NO_PAD.encode(Sha256::digest(verifier)) == challenge
}

#[cfg(test)]
mod tests {
    use super::*;

    // RFC 7636, appendix B.
    const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

    #[test]
    fn the_example_of_the_rfc_holds() {
        assert!(is_challenge(CHALLENGE));
        assert!(proves(VERIFIER, CHALLENGE));
    }

    #[test]
    fn nothing_else_proves_it() {
        for verifier in ["", CHALLENGE, &VERIFIER[..42], &format!("{VERIFIER}="), &VERIFIER.to_lowercase()] {
            assert!(!proves(verifier, CHALLENGE), "{verifier}");
        }
        // Of the wrong form, whatever the hash.
        for verifier in ["short".to_owned(), "a".repeat(129), format!("{}+", "a".repeat(50))] {
            let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(&verifier));
            assert!(is_challenge(&challenge) && !proves(&verifier, &challenge), "{verifier}");
        }
    }

    #[test]
    fn a_challenge_has_one_form() {
        for text in ["", "short", &format!("{CHALLENGE}="), &CHALLENGE.replace('-', "+"), &"a".repeat(44)] {
            assert!(!is_challenge(text), "{text}");
        }
    }
}
