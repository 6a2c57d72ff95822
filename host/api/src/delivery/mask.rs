//! Keeping secrets out of what is written down about a delivery. A receiver may send back what it got.

/// What stands in place of a secret.
pub(super) const MASK: &str = "***";

/// The secrets of one attempt.
#[derive(Default)]
pub(super) struct Secrets(Vec<String>);

impl Secrets {
    /// Adds one.
    pub(super) fn add(&mut self, secret: &str) {
        if !secret.is_empty() {
            self.0.push(secret.to_owned());
            // The longest first: one may hold another.
            self.0.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        }
    }

    /// The text without them.
    pub(super) fn mask(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), MASK))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_secrets_are_masked_wherever_they_stand() {
        let mut secrets = Secrets::default();
        ["ab", "", "abcd"].iter().for_each(|secret| secrets.add(secret));
        assert_eq!(secrets.mask("x abcd ab \"ab\" a"), "x *** *** \"***\" a");
    }
}
