//! Sizes, counts and times, as people write and read them.

use std::fmt;
use std::time::Duration;

use serde::de::{self, Deserialize, Deserializer, Visitor};

/// A number of bytes: an integer, or text such as `512 KiB` or `8 MiB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Bytes(pub(super) u64);

/// A number of things: an integer, or text such as `250 k` or `1.5 M`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Count(pub(super) u64);

const BYTES: &[(&str, u64)] = &[("", 1), ("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];
const COUNTS: &[(&str, u64)] = &[("", 1), ("k", 1_000), ("M", 1_000_000), ("G", 1_000_000_000)];

/// A number with a unit; none where either is wrong.
fn parse(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(end)?;
    let number = number.replace('_', "");
    let (_, factor) = units.iter().find(|(name, _)| *name == unit.trim())?;
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(*factor);
    }
    let (whole, fraction) = number.split_once('.')?;
    let (whole, tenth): (u64, u32) = (whole.parse().ok()?, u32::try_from(fraction.len()).ok()?);
    let fraction: u64 = fraction.parse().ok()?;
    let part = fraction.checked_mul(*factor)? / 10_u64.checked_pow(tenth)?;
    whole.checked_mul(*factor)?.checked_add(part)
}

/// Takes an integer, or text with a unit.
struct Quantity {
    units: &'static [(&'static str, u64)],
    expected: &'static str,
}

impl Visitor<'_> for Quantity {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<u64, E> {
        Ok(value)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<u64, E> {
        u64::try_from(value).map_err(|_| E::invalid_value(de::Unexpected::Signed(value), &self))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<u64, E> {
        parse(text, self.units).ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = "a number of bytes, or text such as 512 KiB or 8 MiB";
        deserializer.deserialize_any(Quantity { units: BYTES, expected }).map(Self)
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = "a whole number, or text such as 250 k or 1.5 M";
        deserializer.deserialize_any(Quantity { units: COUNTS, expected }).map(Self)
    }
}

/// The largest unit of which there is at least one, and one digit after the point.
fn scaled(f: &mut fmt::Formatter<'_>, value: u64, units: &[(&str, u64)], smallest: &str) -> fmt::Result {
    match units.iter().rev().find(|(_, factor)| *factor > 1 && value >= *factor) {
        Some((name, factor)) => {
            let tenths = (u128::from(value) * 10 + u128::from(*factor) / 2) / u128::from(*factor);
            write!(f, "{}.{} {name}", tenths / 10, tenths % 10)
        }
        None => write!(f, "{value}{smallest}"),
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        scaled(f, self.0, BYTES, " B")
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        scaled(f, self.0, COUNTS, "")
    }
}

/// A time with one digit after the point, in the unit that suits it.
pub(super) fn time(time: Duration) -> String {
    let micros = time.as_micros();
    let (unit, factor) = match micros {
        0..1_000 => return format!("{micros} µs"),
        1_000..1_000_000 => ("ms", 1_000),
        _ => ("s", 1_000_000),
    };
    let tenths = (micros * 10 + factor / 2) / factor;
    format!("{}.{} {unit}", tenths / 10, tenths % 10)
}

/// Milliseconds, for machines; to the microsecond.
pub(super) fn milliseconds(time: Duration) -> f64 {
    Duration::from_micros(u64::try_from(time.as_micros()).unwrap_or(u64::MAX)).as_secs_f64() * 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_with_their_units() {
        for (text, bytes) in
            [("0", 0), ("12", 12), ("12 B", 12), ("1.5 KiB", 1_536), ("8MiB", 8 << 20), ("2 GiB", 2 << 30)]
        {
            assert_eq!(parse(text, BYTES), Some(bytes), "{text}");
        }
        for (text, count) in [("5_000", 5_000), ("250 k", 250_000), ("1.25M", 1_250_000)] {
            assert_eq!(parse(text, COUNTS), Some(count), "{text}");
        }
        for text in ["", "KiB", "1 MB", "1.5.5 M", "-1", "1,5 MiB", "99999999999999999999", "18446744073709551615 GiB"]
        {
            assert_eq!(parse(text, BYTES), None, "{text}");
        }
    }

    #[test]
    fn quantities_are_written_in_the_unit_that_suits_them() {
        assert_eq!(Bytes(17).to_string(), "17 B");
        assert_eq!(Bytes(3_565_158).to_string(), "3.4 MiB");
        assert_eq!(Count(999).to_string(), "999");
        assert_eq!(Count(1_234_567).to_string(), "1.2 M");
        assert_eq!(time(Duration::from_micros(340)), "340 µs");
        assert_eq!(time(Duration::from_micros(1_240)), "1.2 ms");
        assert_eq!(time(Duration::from_millis(2_100)), "2.1 s");
    }
}
