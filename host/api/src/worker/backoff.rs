//! How long to wait between attempts.

use std::time::Duration;

use rand::RngExt as _;

/// The first delay.
const FIRST: Duration = Duration::from_secs(2);
/// No delay grows beyond this.
const LONGEST: Duration = Duration::from_secs(15 * 60);

/// The delay after an attempt, counted from one: it doubles each time, and then a random part of up to a quarter is added
/// or taken away, so that what failed together does not come back together.
pub(super) fn delay(attempt: u32) -> Duration {
    let doubled = FIRST.saturating_mul(2_u32.saturating_pow(attempt.saturating_sub(1).min(16))).min(LONGEST);
    doubled.mul_f64(rand::rng().random_range(0.75..=1.25))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_a_limit_and_differ() {
        for attempt in 1..=40 {
            let expected = f64::from(2_u32.pow(attempt.min(20))).min(LONGEST.as_secs_f64());
            let delay = delay(attempt).as_secs_f64();
            assert!((expected * 0.75..=expected * 1.25).contains(&delay), "{attempt}: {delay}");
        }
        assert!((0..100).any(|_| delay(3) != delay(3)));
    }
}
