//! When a delivery that failed is tried again.

use std::time::Duration;

use rand::RngExt as _;

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
/// Seconds after each attempt but the last: nearly nine hours altogether.
const DELAYS: [u64; 7] = [MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 5 * HOUR];

/// The time until the next attempt after this one, counted from one; none if it was the last. A random part of up to a
/// tenth is added or taken away, so that what failed together does not come back together.
pub(super) fn delay(attempt: i64) -> Option<Duration> {
    let index = usize::try_from(attempt.checked_sub(1)?).ok()?;
    let seconds = DELAYS.get(index)?;
    Some(Duration::from_secs(*seconds).mul_f64(rand::rng().random_range(0.9..=1.1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_end_after_about_nine_hours() {
        let total: Duration = (1..).map_while(delay).sum();
        assert!((7.5..=10.0).contains(&(total.as_secs_f64() / 3_600.0)), "{total:?}");
        for (attempt, seconds) in (1..).zip(DELAYS) {
            let delay = delay(attempt).unwrap().as_secs_f64();
            assert!((0.9..=1.1).contains(&(delay / f64::from(u32::try_from(seconds).unwrap()))), "{attempt}");
        }
        assert_eq!((delay(0), delay(8), delay(i64::MIN)), (None, None, None));
    }
}
