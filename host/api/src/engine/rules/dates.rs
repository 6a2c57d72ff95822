//! Dates on which something is due.

use regex::Regex;
use time::{Date, Month};

use super::MOST;

/// Finds dates.
pub(super) struct Dates {
    due: Regex,
}

const MONTHS: [&str; 12] = ["jan", "fev", "mar", "abr", "mai", "jun", "jul", "ago", "set", "out", "nov", "dez"];

impl Dates {
    pub(super) fn new() -> Result<Self, regex::Error> {
        let word = r"\b(?:vencimento|vencer[áa]?|vence(?:u|ndo)?|venc\.?|pag(?:ar|ue|amento|ável)\s+at[ée]|due(?:\s+date|\s+on|\s+by)?)";
        let date = r"([0-9]{1,2})[/.\-]([0-9]{1,2})[/.\-]([0-9]{4}|[0-9]{2})\b|([0-9]{4})-([0-9]{2})-([0-9]{2})\b|([0-9]{1,2})º?\s+de\s+(janeiro|fevereiro|março|marco|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro)\s+de\s+([0-9]{4})";
        // A few words may stand between: `vencimento do boleto: 05/08/2026`.
        Ok(Self { due: Regex::new(&format!(r"(?i){word}[^0-9\n]{{0,40}}(?:{date})"))? })
    }

    /// The dates that something is said to be due on, each once, in their order.
    pub(super) fn due(&self, text: &str) -> Vec<Date> {
        let mut found = Vec::new();
        for captures in self.due.captures_iter(text) {
            let part = |index: usize| captures.get(index).map(|part| part.as_str());
            let date = match (part(1), part(4)) {
                (Some(day), _) => date(part(3), part(2).and_then(|month| month.parse().ok()), Some(day)),
                (None, Some(year)) => date(Some(year), part(5).and_then(|month| month.parse().ok()), part(6)),
                (None, None) => date(part(9), part(8).and_then(month), part(7)),
            };
            if let Some(date) = date.filter(|date| found.len() < MOST && !found.contains(date)) {
                found.push(date);
            }
        }
        found
    }
}

fn month(name: &str) -> Option<u8> {
    let short: String = name.to_lowercase().chars().take(3).collect();
    let place = MONTHS.iter().position(|month| *month == short)?;
    u8::try_from(place + 1).ok()
}

fn date(year: Option<&str>, month: Option<u8>, day: Option<&str>) -> Option<Date> {
    let year: i32 = year?.parse().ok()?;
    let year = if year < 100 { year + 2_000 } else { year };
    let date = Date::from_calendar_date(year, Month::try_from(month?).ok()?, day?.parse().ok()?).ok()?;
    (1990..=2199).contains(&year).then_some(date)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn due_dates_are_those_that_are_said_to_be() {
        let find = |text: &str| Dates::new().unwrap().due(text).iter().map(Date::to_string).collect::<Vec<_>>();
        assert_eq!(find("Emissão 01/07/2026, vencimento: 05/08/2026"), ["2026-08-05"]);
        assert_eq!(find("VENCE EM 5.8.26; venc. 06-08-2026"), ["2026-08-05", "2026-08-06"]);
        assert_eq!(find("Vencimento do boleto: 2026-08-05"), ["2026-08-05"]);
        assert_eq!(
            find("com vencimento em 5 de agosto de 2026, e pagar até 1º de março de 2027"),
            ["2026-08-05", "2027-03-01"]
        );
        assert_eq!(find("Due date: 31/12/2026"), ["2026-12-31"]);
        assert_eq!(find("vencimento 31/02/2026, vencimento 05/13/2026, vencimento\n05/08/2026"), [""; 0]);
        assert_eq!(find("em 05/08/2026"), [""; 0]);
    }
}
