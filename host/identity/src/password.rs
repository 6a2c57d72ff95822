//! Passwords: how they are kept and compared.
//!
//! Kept is an Argon2id hash in PHC form (RFC 9106) with the parameters that OWASP's password storage cheat sheet names first for 19 MiB of
//! memory. Hashing takes tens of milliseconds of a processor, so it runs on blocking threads, and only so many at the same time.

use std::sync::{Arc, LazyLock};

use argon2::password_hash::phc::PasswordHash;
use argon2::{Algorithm, Argon2, Params, PasswordHasher as _, PasswordVerifier as _, Version};
use tokio::sync::Semaphore;

/// The fewest characters of a password (NIST SP 800-63B leaves 8 to verifiers with a second factor; there is none here).
pub const SHORTEST: usize = 12;
/// The most characters of a password.
pub const LONGEST: usize = 1_024;

/// A password that nobody may choose. There are no rules of composition: length is what counts (NIST SP 800-63B §5.1.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected 12 to 1024 characters")]
pub struct UnfitPassword;

/// A password cannot be hashed or compared now.
#[derive(Debug, Clone, thiserror::Error)]
#[error("passwords cannot be hashed: {0}")]
pub struct PasswordError(String);

/// Whether a password may be chosen.
///
/// # Errors
/// [`UnfitPassword`].
pub fn check(password: &str) -> Result<(), UnfitPassword> {
    if (SHORTEST..=LONGEST).contains(&password.chars().count()) { Ok(()) } else { Err(UnfitPassword) }
}

/// Hashes and compares passwords. Clones share the bound on how many do so at once.
#[derive(Debug, Clone)]
pub struct Passwords {
    slots: Arc<Semaphore>,
}

impl Default for Passwords {
    /// As many at once as there are processors; each takes 19 MiB meanwhile.
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self { slots: Arc::new(Semaphore::new(processors)) }
    }
}

impl Passwords {
    /// The hash to be kept, in PHC form.
    ///
    /// # Errors
    /// [`PasswordError`] where the system gives no memory or no random bytes.
    pub async fn hash(&self, password: String) -> Result<String, PasswordError> {
        self.run(move || hash(&password)).await?
    }

    /// Whether this is the password whose hash is kept. Without a hash the answer is no, and takes as long: how long an answer
    /// takes does not tell whether there is such an account. A password that nobody may choose is never right.
    ///
    /// # Errors
    /// [`PasswordError`] where the system gives no memory, or what is kept is no hash.
    pub async fn verify(&self, password: String, kept: Option<String>) -> Result<bool, PasswordError> {
        self.run(move || match kept {
            Some(kept) if check(&password).is_ok() => verify(&password, &kept),
            _ => {
                // Somebody else's hash, which nothing matches: only its cost counts.
                NOBODY.as_ref().map_err(Clone::clone).and_then(|nobody| verify(&password, nobody)).map(|_| false)
            }
        })
        .await?
    }

    async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, PasswordError> {
        // The slot goes along: whoever stops waiting does not free a processor that is still at work.
        let slot = Arc::clone(&self.slots).acquire_owned().await.map_err(|error| PasswordError(error.to_string()))?;
        let done = tokio::task::spawn_blocking(move || {
            let outcome = work();
            drop(slot);
            outcome
        });
        done.await.map_err(|error| PasswordError(error.to_string()))
    }
}

/// A hash of nobody's password, with the parameters of every other.
static NOBODY: LazyLock<Result<String, PasswordError>> = LazyLock::new(|| hash(&hex(rand::random::<u128>())));

fn hex(number: u128) -> String {
    format!("{number:032x}")
}

/// 19 MiB, two passes, one lane.
fn argon2() -> Result<Argon2<'static>, PasswordError> {
    let params = Params::new(19 * 1_024, 2, 1, None).map_err(|error| PasswordError(error.to_string()))?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

fn hash(password: &str) -> Result<String, PasswordError> {
    let hash: PasswordHash =
        argon2()?.hash_password(password.as_bytes()).map_err(|error| PasswordError(error.to_string()))?;
    Ok(hash.to_string())
}

fn verify(password: &str, kept: &str) -> Result<bool, PasswordError> {
    use argon2::password_hash::Error;
    let kept = PasswordHash::new(kept).map_err(|error| PasswordError(error.to_string()))?;
    // The parameters are those of the hash, which may be of an earlier version.
    match argon2()?.verify_password(password.as_bytes(), &kept) {
        Ok(()) => Ok(true),
        Err(Error::PasswordInvalid) => Ok(false),
        Err(error) => Err(PasswordError(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_password_is_known_again_and_another_is_not() {
        let passwords = Passwords::default();
        let kept = passwords.hash("correct horse battery".to_owned()).await.unwrap();
        assert!(kept.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{kept}");
        assert_ne!(kept, passwords.hash("correct horse battery".to_owned()).await.unwrap());
        assert!(passwords.verify("correct horse battery".to_owned(), Some(kept.clone())).await.unwrap());
        assert!(!passwords.verify("correct horse batterz".to_owned(), Some(kept.clone())).await.unwrap());
        assert!(!passwords.verify(String::new(), Some(kept)).await.unwrap());
    }

    #[tokio::test]
    async fn without_a_hash_nothing_is_right_and_it_costs_as_much() {
        let passwords = Passwords::default();
        assert!(!passwords.verify("correct horse battery".to_owned(), None).await.unwrap());
        let nobody = NOBODY.as_ref().unwrap();
        assert!(nobody.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{nobody}");
    }

    #[tokio::test]
    async fn what_is_no_hash_is_an_error_and_not_a_no() {
        assert!(Passwords::default().verify("correct horse battery".to_owned(), Some("x".to_owned())).await.is_err());
    }

    #[tokio::test]
    async fn every_person_of_the_demo_signs_in_with_one_password() {
        use kobana_store::{Location, Store, demo, people};
        let store = Store::open(Location::Memory).await.unwrap();
        demo::seed(&store).await.unwrap();
        // An address is found in any letter case.
        let account = people::by_email(&store, "Ana.SOUZA@acme.example").await.unwrap().unwrap();
        assert_eq!(account.person.id, demo::persons::ANA);
        assert!(check(demo::PASSWORD).is_ok());
        assert!(Passwords::default().verify(demo::PASSWORD.to_owned(), account.password_hash).await.unwrap());
    }

    #[test]
    fn length_alone_is_counted_in_characters() {
        assert_eq!(check("ç".repeat(12).as_str()), Ok(()));
        assert_eq!(check("ç".repeat(1_024).as_str()), Ok(()));
        assert_eq!(check("twelve minus"), Ok(()));
        assert_eq!(check("only eleven"), Err(UnfitPassword));
        assert_eq!(check(&"x".repeat(1_025)), Err(UnfitPassword));
    }
}
