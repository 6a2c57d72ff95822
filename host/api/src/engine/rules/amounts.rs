//! Amounts in reais.

use regex::Regex;

use super::MOST;
use super::digits::decimal;

/// Finds amounts.
pub(super) struct Amounts {
    amount: Regex,
}

impl Amounts {
    pub(super) fn new() -> Result<Self, regex::Error> {
        // With a currency in front, or the word behind: `R$ 1.234,56`, `BRL 1234.56`, `1.234 reais`.
        let number = r"[0-9]{1,3}(?:\.[0-9]{3})+(?:,[0-9]{1,2})?|[0-9]+(?:[,.][0-9]{1,2})?";
        let amount = format!(r"(?i)(?:\bR\$|\bBRL)[\s\u{{a0}}]*({number})|\b({number})[\s\u{{a0}}]+rea(?:is|l)\b");
        Ok(Self { amount: Regex::new(&amount)? })
    }

    /// The amounts as decimal texts, each once, in their order.
    pub(super) fn find(&self, text: &str) -> Vec<String> {
        let mut found = Vec::new();
        for captures in self.amount.captures_iter(text) {
            let written = captures.get(1).or_else(|| captures.get(2));
            let Some(cents) = written.and_then(|written| cents(written.as_str())) else { continue };
            let amount = decimal(cents);
            if found.len() < MOST && !found.contains(&amount) {
                found.push(amount);
            }
        }
        found
    }
}

/// `1.234,56`, `1234,5`, `1234.56` or `1.234` in cents.
fn cents(written: &str) -> Option<u128> {
    let (whole, fraction) = match (written.rsplit_once(','), written.rsplit_once('.')) {
        (Some(parts), _) => parts,
        (None, Some((whole, fraction))) if fraction.len() < 3 => (whole, fraction),
        (None, _) => (written, ""),
    };
    let whole: u128 = whole.replace('.', "").parse().ok()?;
    let fraction: u128 = format!("{fraction:0<2}").parse().ok()?;
    whole.checked_mul(100)?.checked_add(fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_as_brazilians_write_them() {
        let find = |text: &str| Amounts::new().unwrap().find(text);
        assert_eq!(find("Total: R$ 1.234,56."), ["1234.56"]);
        assert_eq!(find("R$1234,5 e r$\u{a0}12.345.678,90"), ["1234.50", "12345678.90"]);
        assert_eq!(find("BRL 1234.56; R$ 10; R$ 1.234"), ["1234.56", "10.00", "1234.00"]);
        assert_eq!(find("paguei 1.500,00 reais, mais 1 real"), ["1500.00", "1.00"]);
        assert_eq!(find("R$ 5,00 e de novo R$ 5,00"), ["5.00"]);
        assert_eq!(find("US$ 10,00, 1.234,56 sem moeda, R$ --, PR$ 7"), [""; 0]);
        assert_eq!(find(&format!("R$ {}", "9".repeat(60))), [""; 0]);
    }
}
