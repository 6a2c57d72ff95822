//! How many requests a credential may make in a minute.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::middleware::{RateLimitingMiddleware, StateInformationMiddleware};
use governor::state::keyed::DefaultKeyedStateStore;
use governor::{Quota, RateLimiter};
use kobana_contract::Timestamp;

use crate::{Allowance, Denial, Throttle};

type Limiter = RateLimiter<String, DefaultKeyedStateStore<String>, DefaultClock, StateInformationMiddleware>;

/// Every credential's allowance. Allowances are per process: a credential that is used through several replicas has one in each.
#[derive(Default)]
pub(crate) struct Allowances {
    // Few quotas, many credentials: one limiter for each quota holds all credentials that have it.
    by_quota: Mutex<HashMap<NonZeroU32, Arc<Limiter>>>,
}

/// How many credentials a limiter may hold before those whose allowance is whole again are forgotten.
const CROWDED: usize = 10_000;

impl Allowances {
    /// Takes one request.
    ///
    /// # Errors
    /// [`Denial::RateLimited`] where none is left.
    pub(crate) fn take(&self, credential: &str, per_minute: NonZeroU32) -> Result<Allowance, Denial> {
        let limiter = self.limiter(per_minute);
        if limiter.len() > CROWDED {
            limiter.retain_recent();
        }
        let limit = per_minute.get();
        let allowance = |remaining: u32| Allowance { limit, remaining, reset: whole_again(limit, remaining) };
        match limiter.check_key(&credential.to_owned()) {
            Ok(snapshot) => Ok(allowance(snapshot.remaining_burst_capacity())),
            Err(refusal) => {
                let wait = refusal.wait_time_from(DefaultClock::default().now());
                Err(Denial::RateLimited(Throttle { allowance: allowance(0), retry_after: whole_seconds(wait) }))
            }
        }
    }

    fn limiter(&self, per_minute: NonZeroU32) -> Arc<Limiter> {
        let mut limiters = self.by_quota.lock().unwrap_or_else(PoisonError::into_inner);
        let make = || Arc::new(RateLimiter::keyed(Quota::per_minute(per_minute)).with_middleware());
        Arc::clone(limiters.entry(per_minute).or_insert_with(make))
    }
}

/// When an allowance with `remaining` of `limit` requests is whole again: they come back evenly over the minute.
fn whole_again(limit: u32, remaining: u32) -> u64 {
    let spent = u64::from(limit.saturating_sub(remaining));
    let seconds = (spent * 60).div_ceil(u64::from(limit.max(1)));
    u64::try_from(Timestamp::now().unix_seconds()).unwrap_or_default().saturating_add(seconds)
}

/// Rounds up: a client that waits this long is let through.
fn whole_seconds(wait: Duration) -> u32 {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    u32::try_from(seconds).unwrap_or(u32::MAX).max(1)
}

// The middleware's snapshot is what `check_key` answers; this keeps the type above honest if governor changes it.
const _: () = {
    const fn answers_a_snapshot<M: RateLimitingMiddleware<governor::clock::QuantaInstant>>() {}
    answers_a_snapshot::<StateInformationMiddleware>();
};

#[cfg(test)]
mod tests {
    use super::*;

    const FIVE: NonZeroU32 = NonZeroU32::new(5).unwrap();

    #[test]
    fn an_allowance_counts_down_and_ends() {
        let allowances = Allowances::default();
        let left: Vec<_> = (0..5).map(|_| allowances.take("a", FIVE).unwrap().remaining).collect();
        assert_eq!(left, [4, 3, 2, 1, 0]);
        let Err(Denial::RateLimited(Throttle { allowance, retry_after })) = allowances.take("a", FIVE) else {
            panic!("let through")
        };
        assert_eq!((allowance.limit, allowance.remaining), (5, 0));
        assert!((1..=12).contains(&retry_after), "{retry_after}");
    }

    #[test]
    fn credentials_do_not_share_an_allowance() {
        let allowances = Allowances::default();
        for _ in 0..5 {
            allowances.take("a", FIVE).unwrap();
        }
        assert_eq!(allowances.take("b", FIVE).unwrap().remaining, 4);
    }
}
