//! Comparing texts without regard to letter case.

/// The text in lower case, letter by letter and in every script: two texts that differ in case only become equal, and a
/// part of one stays a part of the other. Accents stay, so `ç` is not `c`.
#[must_use]
pub fn fold(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// The first text, in the order of the database, after all that begin with this prefix; none if no text comes after them.
/// The order of the database is that of UTF-8 bytes, which is that of code points.
#[must_use]
pub fn successor(prefix: &str) -> Option<String> {
    let mut letters: Vec<char> = prefix.chars().collect();
    while let Some(last) = letters.pop() {
        // A range of characters leaves out what is none, the surrogates.
        if let Some(next) = (last..=char::MAX).nth(1) {
            letters.push(next);
            return Some(letters.into_iter().collect());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{fold, successor};

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

    #[test]
    fn the_last_character_of_all_has_no_successor() {
        assert_eq!(successor(""), None);
        assert_eq!(successor("\u{10ffff}\u{10ffff}"), None);
        assert_eq!(successor("a\u{10ffff}"), Some("b".to_owned()));
        assert_eq!(successor("\u{d7ff}"), Some("\u{e000}".to_owned()));
    }

    /// Few letters, so that texts share beginnings, and those at the ends of the ranges of UTF-8.
    fn letters() -> impl Strategy<Value = String> {
        let letter = prop::sample::select(vec![
            '\0',
            'a',
            'b',
            '\u{7f}',
            'ç',
            '\u{7ff}',
            '\u{d7ff}',
            '\u{e000}',
            '\u{ffff}',
            '\u{10000}',
            char::MAX,
        ]);
        prop::collection::vec(letter, 0..4).prop_map(|letters| letters.into_iter().collect())
    }

    proptest! {
        #[test]
        fn the_range_of_a_prefix_holds_what_begins_with_it_and_nothing_else(prefix in letters(), text in letters()) {
            let in_range = text >= prefix && successor(&prefix).is_none_or(|end| text < end);
            prop_assert_eq!(in_range, text.starts_with(&prefix));
        }
    }
}
