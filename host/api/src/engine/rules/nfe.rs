//! Access keys of electronic fiscal documents (`chave de acesso`): 44 digits, the last of which checks the others.

use serde_json::{Value, json};

use super::MOST;
use super::digits::{Run, rest_of_11, split_check};

/// An access key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key(String);

/// Codes of the federal states (IBGE).
const STATES: [&str; 27] = [
    "11", "12", "13", "14", "15", "16", "17", "21", "22", "23", "24", "25", "26", "27", "28", "29", "31", "32", "33",
    "35", "41", "42", "43", "50", "51", "52", "53",
];
/// Kinds of documents: NF-e, NFC-e, CT-e, CT-e OS, MDF-e.
const MODELS: [&str; 5] = ["55", "65", "57", "67", "58"];

impl Key {
    pub(super) fn show(&self) -> Value {
        let part = |from: usize, to: usize| self.0.get(from..to).unwrap_or_default();
        json!({
            "key": self.0,
            "state": part(0, 2),
            "issued": format!("20{}-{}", part(2, 4), part(4, 6)),
            "issuer": part(6, 20),
            "model": part(20, 22),
            "series": part(22, 25).trim_start_matches('0'),
            "number": part(25, 34).trim_start_matches('0'),
        })
    }

    fn read(digits: &str) -> Option<Self> {
        let (body, check) = split_check(digits)?;
        let expected = match rest_of_11(body) {
            0 | 1 => 0,
            rest => 11 - rest,
        };
        let month: u8 = digits.get(4..6)?.parse().ok()?;
        let fits = check == expected
            && (1..=12).contains(&month)
            && STATES.contains(&digits.get(..2)?)
            && MODELS.contains(&digits.get(20..22)?);
        fits.then(|| Self(digits.to_owned()))
    }
}

/// The access keys among these numbers, each once.
pub(super) fn find(numbers: &[Run]) -> Vec<Key> {
    let mut found = Vec::new();
    for key in numbers.iter().flat_map(|run| run.numbers(44)).filter_map(Key::read) {
        if found.len() < MOST && !found.contains(&key) {
            found.push(key);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::rules::digits::Digits;

    fn search(text: &str) -> Vec<Key> {
        find(&Digits::new().unwrap().runs(text).collect::<Vec<_>>())
    }

    #[test]
    fn a_key_is_read_in_groups_or_in_a_file_name() {
        // The example of the fiscal authorities' integration manual.
        let key = "52060433009911002506550120000007800267301615";
        let groups = key.as_bytes().chunks(4).map(|group| std::str::from_utf8(group).unwrap()).collect::<Vec<_>>();
        for text in [key.to_owned(), groups.join(" "), format!("NFe{key}.xml")] {
            let found = search(&text);
            assert_eq!(found.len(), 1, "{text}");
            let shown = found[0].show();
            assert_eq!((&shown["issued"], &shown["number"]), (&json!("2006-04"), &json!("780")));
        }
    }

    #[test]
    fn a_wrong_digit_is_noticed() {
        let key = "52060433009911002506550120000007800267301615";
        for place in 0..key.len() {
            let mut changed = key.as_bytes().to_vec();
            changed[place] = b'0' + (changed[place] - b'0' + 1) % 10;
            assert_eq!(search(std::str::from_utf8(&changed).unwrap()), [], "{place}");
        }
    }
}
