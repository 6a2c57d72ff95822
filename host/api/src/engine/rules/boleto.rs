//! Payment lines (`linha digitável`) of bank slips and of collections (`arrecadação`), as FEBRABAN lays them out. Only lines
//! whose check digits are all right count.

use serde_json::{Value, json};
use time::{Date, Duration, Month};

use super::MOST;
use super::digits::{Run, decimal, modulo_10, rest_of_11, split_check};

/// A payment line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Boleto {
    line: String,
    /// The bank of a slip, or the segment of a collection.
    issuer: Issuer,
    pub(super) amount: Option<String>,
    pub(super) due_date: Option<Date>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Issuer {
    Bank(String),
    Segment(String),
}

impl Boleto {
    pub(super) fn show(&self) -> Value {
        let (kind, name, issuer) = match &self.issuer {
            Issuer::Bank(bank) => ("bank", "bank", bank),
            Issuer::Segment(segment) => ("collection", "segment", segment),
        };
        json!({
            "line": self.line,
            "kind": kind,
            name: issuer,
            "amount": self.amount,
            "due_date": self.due_date.map(|date| date.to_string()),
        })
    }
}

/// The payment lines among these numbers, each once. A day near which they are used tells their century apart.
pub(super) fn find(numbers: &[Run], day: Date) -> Vec<Boleto> {
    let mut found: Vec<Boleto> = Vec::new();
    for run in numbers {
        let slips = run.numbers(47).filter_map(|line| slip(line, day));
        let collections = run.numbers(48).filter_map(collection);
        for boleto in slips.chain(collections) {
            if found.len() < MOST && !found.contains(&boleto) {
                found.push(boleto);
            }
        }
    }
    found
}

/// A bank slip: three fields with a check digit each, the check digit of the whole, due date and amount.
fn slip(line: &str, day: Date) -> Option<Boleto> {
    let fields = [line.get(..10)?, line.get(10..21)?, line.get(21..32)?];
    let right = |field: &&str| split_check(field).is_some_and(|(body, check)| modulo_10(body) == check);
    if !fields.iter().all(right) {
        return None;
    }
    let (check, tail) = (line.get(32..33)?, line.get(33..)?);
    let (issuer, free) = (line.get(..4)?, [line.get(4..9)?, line.get(10..20)?, line.get(21..31)?].concat());
    let whole = match rest_of_11(&format!("{issuer}{tail}{free}")) {
        0 | 1 | 10 => 1,
        rest => 11 - rest,
    };
    if check.parse() != Ok(whole) {
        return None;
    }
    let (factor, cents) = tail.split_at_checked(4)?;
    Some(Boleto {
        line: line.to_owned(),
        issuer: Issuer::Bank(line.get(..3)?.to_owned()),
        amount: cents.parse().ok().filter(|cents| *cents > 0).map(decimal),
        due_date: factor.parse().ok().and_then(|factor| due_date(factor, day)),
    })
}

/// The due date is a number of days from 1000 to 9999, counted from 7 October 1997, and again from 22 February 2025, when
/// the first 9,999 were used up. Of the two days it may mean, the nearer one is meant.
fn due_date(factor: i64, day: Date) -> Option<Date> {
    if factor < 1_000 {
        return None;
    }
    let first = Date::from_calendar_date(1997, Month::October, 7).ok()?.checked_add(Duration::days(factor))?;
    let second = first.checked_add(Duration::days(9_000))?;
    let distance = |date: Date| (date - day).whole_days().abs();
    Some(if distance(first) <= distance(second) { first } else { second })
}

/// A collection: four blocks of eleven digits with a check digit each; the third digit says how they are made and whether
/// there is an amount.
fn collection(line: &str) -> Option<Boleto> {
    let (product, value_kind) = (line.get(..1)?, line.get(2..3)?);
    if product != "8" || !matches!(value_kind, "6" | "7" | "8" | "9") {
        return None;
    }
    let check_of = |digits: &str| match value_kind {
        "6" | "7" => modulo_10(digits),
        _ => match rest_of_11(digits) {
            0 | 1 => 0,
            rest => 11 - rest,
        },
    };
    let mut code = String::new();
    for block in [line.get(..12)?, line.get(12..24)?, line.get(24..36)?, line.get(36..)?] {
        let (body, check) = split_check(block)?;
        if check_of(body) != check {
            return None;
        }
        code.push_str(body);
    }
    let (before, check, after) = (code.get(..3)?, code.get(3..4)?, code.get(4..)?);
    if check.parse() != Ok(check_of(&format!("{before}{after}"))) {
        return None;
    }
    let cents = code.get(4..15)?.parse().ok().filter(|cents| *cents > 0 && matches!(value_kind, "6" | "8"));
    Some(Boleto {
        line: line.to_owned(),
        issuer: Issuer::Segment(line.get(1..2)?.to_owned()),
        amount: cents.map(decimal),
        due_date: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::rules::digits::Digits;

    fn search(text: &str) -> Vec<Boleto> {
        let day = Date::from_calendar_date(2026, Month::July, 1).unwrap();
        find(&Digits::new().unwrap().runs(text).collect::<Vec<_>>(), day)
    }

    /// A slip of a bank with a due date factor and an amount in cents, its check digits computed the long way.
    fn make(bank: &str, factor: u32, cents: u64) -> String {
        let free = "1234567890123456789012345";
        let head = format!("{bank}9");
        let tail = format!("{factor:04}{cents:010}");
        let sum: u32 = format!("{head}{tail}{free}")
            .bytes()
            .rev()
            .enumerate()
            .map(|(at, byte)| u32::from(byte - b'0') * (2 + u32::try_from(at % 8).unwrap()))
            .sum();
        let check = match 11 - sum % 11 {
            10 | 11 => 1,
            check => check,
        };
        let field = |body: &str| format!("{body}{}", modulo_10(body));
        let fields = [field(&format!("{head}{}", &free[..5])), field(&free[5..15]), field(&free[15..])];
        format!("{} {} {} {check} {tail}", fields[0], fields[1], fields[2])
    }

    #[test]
    fn a_published_slip_is_read() {
        // Banco do Brasil's example: due 03/07/2000 by the first count, R$ 1,00 … of the bank's manual.
        let found = search("Pague: 00190.50095 40144.816069 06809.350314 3 37370000000100");
        assert_eq!(found.len(), 1);
        assert_eq!((&found[0].issuer, found[0].amount.as_deref()), (&Issuer::Bank("001".to_owned()), Some("1.00")));
    }

    #[test]
    fn due_dates_are_read_in_the_nearer_count() {
        for (factor, expected) in
            [(1_000, "2025-02-22"), (1_500, "2026-07-07"), (9_999, "2025-02-21"), (9_900, "2024-11-14")]
        {
            let found = search(&make("237", factor, 123_456));
            assert_eq!(found[0].due_date.unwrap().to_string(), expected, "{factor}");
            assert_eq!(found[0].amount.as_deref(), Some("1234.56"));
        }
        let open = search(&make("341", 0, 0));
        assert_eq!((open[0].due_date, open[0].amount.as_deref()), (None, None));
    }

    #[test]
    fn a_wrong_digit_anywhere_is_noticed() {
        let line: String = make("237", 1_500, 10_000).split(' ').collect();
        assert_eq!(search(&line).len(), 1);
        // Due date and amount have the digit of the whole only, for which three rests are the same.
        for place in 0..=32 {
            let mut changed = line.clone().into_bytes();
            changed[place] = b'0' + (changed[place] - b'0' + 1) % 10;
            let changed = String::from_utf8(changed).unwrap();
            assert_eq!(search(&changed), [], "{place}");
        }
    }

    /// A collection, its check digits computed the long way.
    fn make_collection(value_kind: char, cents: u64) -> String {
        let check = |digits: &str| {
            let weighted = |weights: &[u32], fold: fn(u32) -> u32| -> u32 {
                let digits = digits.bytes().rev().map(|byte| u32::from(byte - b'0'));
                digits.zip(weights.iter().cycle()).map(|(digit, weight)| fold(digit * weight)).sum()
            };
            match value_kind {
                '6' | '7' => (10 - weighted(&[2, 1], |product| product / 10 + product % 10) % 10) % 10,
                _ => match 11 - weighted(&[2, 3, 4, 5, 6, 7, 8, 9], |product| product) % 11 {
                    10 | 11 => 0,
                    check => check,
                },
            }
        };
        let (head, rest) = (format!("84{value_kind}"), format!("{cents:011}{}", "1234567".repeat(5)));
        let code = format!("{head}{}{}", check(&format!("{head}{}", &rest[..40])), &rest[..40]);
        let blocks = [&code[..11], &code[11..22], &code[22..33], &code[33..]];
        blocks.map(|block| format!("{block}-{}", check(block))).join(" ")
    }

    #[test]
    fn collections_are_read_with_either_check() {
        for value_kind in ['6', '7', '8', '9'] {
            let line = make_collection(value_kind, 15_075);
            let found = search(&format!("Código de barras: {line}\nObrigado"));
            assert_eq!(found.len(), 1, "{line}");
            assert_eq!(found[0].issuer, Issuer::Segment("4".to_owned()));
            let amount = matches!(value_kind, '6' | '8').then_some("150.75");
            assert_eq!(found[0].amount.as_deref(), amount, "{value_kind}");
            let wrong = line.replacen("5075", "5076", 1);
            assert_eq!(search(&wrong), [], "{wrong}");
        }
    }
}
