//! Comparing texts without regard to letter case.

/// The text in lower case, letter by letter and in every script: two texts that differ in case only become equal, and a
/// part of one stays a part of the other. Accents stay, so `ç` is not `c`.
#[must_use]
pub fn fold(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::fold;

    #[test]
    fn accented_capitals_fold_and_accents_stay() {
        assert_eq!(fold("COBRANÇA Nº 12 – São João"), fold("cobrança nº 12 – SÃO JOÃO"));
        assert_ne!(fold("cobrança"), fold("cobranca"));
    }

    #[test]
    fn a_part_stays_a_part() {
        // A whole-word rule would turn the last sigma into another letter.
        assert!(fold("ΟΔΟΣ").contains(&fold("ΟΣ")));
        assert!(fold("ΟΔΟΣΑ").contains(&fold("ΟΔΟΣ")));
    }
}
