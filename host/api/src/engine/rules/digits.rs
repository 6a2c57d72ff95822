//! Long numbers as people write them, in groups: `23793.38128 60000.000003 00000.000400 1 90010000012345`.

use regex::Regex;

/// Finds long numbers.
pub(super) struct Digits {
    run: Regex,
}

/// Digits that stand together, and where groups begin and end among them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Run {
    digits: String,
    /// Positions between groups, the beginning and the end among them.
    bounds: Vec<usize>,
}

/// The shortest number of interest, in digits.
const SHORTEST: usize = 44;

impl Digits {
    pub(super) fn new() -> Result<Self, regex::Error> {
        Ok(Self { run: Regex::new(r"[0-9](?:[ .\u{a0}-]{0,3}[0-9])+")? })
    }

    pub(super) fn runs<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Run> + 'a {
        self.run.find_iter(text).map(|found| Run::read(found.as_str())).filter(|run| run.digits.len() >= SHORTEST)
    }
}

impl Run {
    fn read(text: &str) -> Self {
        let (mut digits, mut bounds) = (String::new(), vec![0]);
        for sign in text.chars() {
            if sign.is_ascii_digit() {
                digits.push(sign);
            } else if bounds.last() != Some(&digits.len()) {
                bounds.push(digits.len());
            }
        }
        bounds.push(digits.len());
        Self { digits, bounds }
    }

    /// Every number of this many digits that begins and ends with a group.
    pub(super) fn numbers(&self, length: usize) -> impl Iterator<Item = &str> {
        self.bounds.iter().filter_map(move |start| {
            let end = start + length;
            self.bounds.contains(&end).then(|| self.digits.get(*start..end)).flatten()
        })
    }
}

/// The digits of a number by value.
fn values(digits: &str) -> impl DoubleEndedIterator<Item = u32> + '_ {
    digits.bytes().map(|byte| u32::from(byte.saturating_sub(b'0')))
}

/// Modulo 10 with the weights 2 and 1 from the right, the digits of each product added up.
pub(super) fn modulo_10(digits: &str) -> u32 {
    let products = values(digits).rev().zip([2, 1].into_iter().cycle()).map(|(digit, weight)| digit * weight);
    let sum: u32 = products.map(|product| product / 10 + product % 10).sum();
    (10 - sum % 10) % 10
}

/// The rest of modulo 11 with the weights 2 to 9 from the right.
pub(super) fn rest_of_11(digits: &str) -> u32 {
    values(digits).rev().zip((2..=9).cycle()).map(|(digit, weight)| digit * weight).sum::<u32>() % 11
}

/// The digit at the end, and what stands before it.
pub(super) fn split_check(digits: &str) -> Option<(&str, u32)> {
    let (body, check) = digits.split_at_checked(digits.len().checked_sub(1)?)?;
    Some((body, check.parse().ok()?))
}

/// Cents as a decimal text.
pub(super) fn decimal(cents: u128) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_begin_and_end_with_groups() {
        let digits = Digits::new().unwrap();
        let text = format!("tel. 11 5555-1234: {} {} fim", "1".repeat(40), "2".repeat(5));
        let runs: Vec<_> = digits.runs(&text).collect();
        assert_eq!(runs.len(), 1);
        assert_eq!(runs[0].numbers(45).collect::<Vec<_>>(), [format!("{}{}", "1".repeat(40), "2".repeat(5))]);
        assert_eq!(runs[0].numbers(44).count(), 0);
    }

    #[test]
    fn check_digits_are_those_of_the_standards() {
        // The layout's own examples.
        assert_eq!(modulo_10("001905009"), 5);
        assert_eq!(modulo_10("01230067896"), 3);
        assert_eq!(rest_of_11("12"), 2 * 2 + 3);
        assert_eq!(split_check("123"), Some(("12", 3)));
        assert_eq!(split_check(""), None);
    }
}
