//! How often to try, and how long to wait in between.

use std::time::Duration;

use rand::RngExt as _;

/// How patient the worker is with jobs of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// How often a job is begun before it is given up.
    pub attempts: u32,
    /// The first delay, which doubles with every attempt.
    pub first: Duration,
    /// No delay grows beyond this.
    pub longest: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { attempts: 8, first: Duration::from_secs(2), longest: Duration::from_secs(15 * 60) }
    }
}

impl Backoff {
    /// The delay after an attempt, counted from one. A random part of up to a quarter is added or taken away, so that what
    /// failed together does not come back together.
    #[must_use]
    pub fn delay(&self, attempt: u32) -> Duration {
        let factor = 2_u32.saturating_pow(attempt.saturating_sub(1).min(31));
        self.first.saturating_mul(factor).min(self.longest).mul_f64(rand::rng().random_range(0.75..=1.25))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_a_limit_and_differ() {
        let backoff = Backoff::default();
        for attempt in 1..=40 {
            let expected = f64::from(2_u32.pow(attempt.min(20))).min(backoff.longest.as_secs_f64());
            let delay = backoff.delay(attempt).as_secs_f64();
            assert!((expected * 0.75..=expected * 1.25).contains(&delay), "{attempt}: {delay}");
        }
        assert!((0..100).any(|_| backoff.delay(3) != backoff.delay(3)));
    }
}
