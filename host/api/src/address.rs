//! Addresses of inboxes.

use kobana_store::text::fold;
use rand::RngExt as _;

use crate::error::ApiError;

/// The longest local part (RFC 5321 §4.5.3.1.1).
const LONGEST: usize = 64;
/// Characters of the random part: 50 bits, so that addresses cannot be guessed or taken by chance.
const TOKEN_LENGTH: usize = 10;
/// Lower-case letters and digits without those that look alike.
const ALPHABET: &[u8; 32] = b"23456789abcdefghjkmnpqrstuvwxyz0";

/// A fresh address, `{email_prefix}-{slug of the label}-{token}@{domain}`.
pub(crate) fn fresh(email_prefix: &str, label: &str, domain: &str) -> String {
    let name: String =
        format!("{email_prefix}-{}", slug(label, "inbox")).chars().take(LONGEST - TOKEN_LENGTH - 1).collect();
    format!("{}-{}@{domain}", name.trim_end_matches('-'), token())
}

/// A given address in the form in which it is stored.
///
/// # Errors
/// [`ApiError::InboxDomainMismatch`] if it is on another domain than `domain`.
pub(crate) fn given(email: &str, domain: &str) -> Result<String, ApiError> {
    let email = fold(email);
    let on_domain = email.rsplit_once('@').is_some_and(|(_, given)| given == fold(domain));
    if on_domain { Ok(email) } else { Err(ApiError::InboxDomainMismatch) }
}

/// Adds an address to a list unless it is there, in whatever letter case; answers whether it was new.
pub(crate) fn add(list: &mut Vec<String>, email: &str) -> bool {
    let is_new = !list.iter().any(|listed| fold(listed) == fold(email));
    if is_new {
        list.push(email.to_owned());
    }
    is_new
}

/// The list in its order, each address once.
pub(crate) fn unique(list: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    for email in list {
        add(&mut kept, email);
    }
    kept
}

/// The text in lower-case ASCII letters, digits and single hyphens; `otherwise` if nothing is left of it.
pub(crate) fn slug(text: &str, otherwise: &str) -> String {
    let mut slug = String::new();
    for letter in fold(text).chars().map(without_accent) {
        if letter.is_ascii_alphanumeric() {
            slug.push(letter);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { otherwise.to_owned() } else { slug.to_owned() }
}

const fn without_accent(letter: char) -> char {
    match letter {
        'à'..='å' => 'a',
        'ç' => 'c',
        'è'..='ë' => 'e',
        'ì'..='ï' => 'i',
        'ñ' => 'n',
        'ò'..='ö' | 'ø' => 'o',
        'ù'..='ü' => 'u',
        'ý' | 'ÿ' => 'y',
        other => other,
    }
}

fn token() -> String {
    let mut random = rand::rng();
    (0..TOKEN_LENGTH).map(|_| char::from(*random_of(&mut random))).collect()
}

fn random_of(random: &mut impl rand::Rng) -> &'static u8 {
    ALPHABET.get(usize::from(random.random::<u8>()) % ALPHABET.len()).unwrap_or(&b'0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_become_slugs() {
        assert_eq!(slug("Notas & Boletos — São João", "inbox"), "notas-boletos-sao-joao");
        assert_eq!(slug("漢字 😀", "inbox"), "inbox");
        assert_eq!(slug("--A--", "inbox"), "a");
    }

    #[test]
    fn fresh_addresses_fit_and_differ() {
        let prefix = "p".repeat(60);
        let (one, two) = (fresh(&prefix, "Uma caixa", "inbox.example"), fresh(&prefix, "Uma caixa", "inbox.example"));
        assert_ne!(one, two);
        assert_eq!(one.split_once('@').unwrap().0.len(), LONGEST);
        assert!(fresh("acme", "Cobrança", "inbox.example").starts_with("acme-cobranca-"));
    }

    #[test]
    fn given_addresses_are_on_the_domain_itself() {
        assert_eq!(given("Notas@INBOX.example", "inbox.example").unwrap(), "notas@inbox.example");
        for other in ["a@other.example", "a@sub.inbox.example", "a@xinbox.example", "inbox.example"] {
            assert!(given(other, "inbox.example").is_err(), "{other}");
        }
    }

    #[test]
    fn lists_hold_each_address_once_in_order() {
        let list = ["B@x.example", "a@x.example", "b@X.example"].map(str::to_owned);
        assert_eq!(unique(&list), ["B@x.example", "a@x.example"]);
    }
}
