//! What a workspace's extensions have used of the server of late, and what they may still use at other people's expense.
//!
//! There are two accounts. *Computing*: as long as something is left, extensions compute on threads whose turn comes soon; afterwards,
//! and after a few milliseconds of one call, on threads that run when nothing else does. *Asking*: calls of the API compete with those
//! of everybody else, so they wait while nothing is left. Nobody gets an error for an empty account.
//!
//! An account is a token bucket of time that may be overdrawn: what something takes is known when it is over. It is written as the
//! moment at which the bucket will be full again, as in the generic cell rate algorithm (ITU-T I.371).

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::settings::first;
use crate::limits::LimitsError;

/// What the extensions of one workspace may use at other people's expense. Durations are in milliseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Share {
    /// How long one call computes before it goes on when nothing else wants the processor. At least 1.
    pub call_ms: u64,
    /// How long all calls may compute in a second, in the long run, before they begin like that, too. 1 to 1,000,000.
    pub compute_ms: u64,
    /// How much of it may be saved up for later. 1 to 1,000,000.
    pub compute_saved_ms: u64,
    /// How long calls of the API may take in a second, all together, in the long run, before they are made to wait. 1 to 1,000,000.
    pub api_ms: u64,
    /// How much of it may be saved up for later. 1 to 1,000,000.
    pub api_saved_ms: u64,
}

impl Default for Share {
    fn default() -> Self {
        Self { call_ms: 4, compute_ms: 20, compute_saved_ms: 100, api_ms: 100, api_saved_ms: 500 }
    }
}

impl Share {
    /// Whether the numbers make sense.
    ///
    /// # Errors
    /// The first setting that does not.
    pub fn validate(&self) -> Result<(), LimitsError> {
        let fits = |time: u64| (1..=1_000_000).contains(&time);
        first(&[
            ("call_ms", "must be at least 1", self.call_ms >= 1),
            ("compute_ms", "must be 1 to 1000000", fits(self.compute_ms)),
            ("compute_saved_ms", "must be 1 to 1000000", fits(self.compute_saved_ms)),
            ("api_ms", "must be 1 to 1000000", fits(self.api_ms)),
            ("api_saved_ms", "must be 1 to 1000000", fits(self.api_saved_ms)),
        ])
    }
}

/// The accounts of one workspace.
#[derive(Debug)]
pub struct Credit(Option<Accounts>);

#[derive(Debug)]
struct Accounts {
    start: Instant,
    call: Duration,
    computing: Account,
    asking: Account,
}

impl Credit {
    /// Full accounts.
    #[must_use]
    pub fn new(share: &Share) -> Self {
        Self(Some(Accounts {
            start: Instant::now(),
            call: Duration::from_millis(share.call_ms),
            computing: Account::new(share.compute_ms, share.compute_saved_ms),
            asking: Account::new(share.api_ms, share.api_saved_ms),
        }))
    }

    /// Accounts that are never empty: for those who are at nobody's expense but their own, such as tests.
    #[must_use]
    pub const fn unlimited() -> Self {
        Self(None)
    }

    /// Whether a call that has computed for so long may go on ahead of what can wait.
    pub(super) fn hurries(&self, used: Duration) -> bool {
        let Some(accounts) = &self.0 else { return true };
        used < accounts.call && accounts.computing.wait(accounts.start.elapsed()).is_zero()
    }

    /// Notes that something was computed for so long.
    pub(super) fn computed(&self, time: Duration) {
        if let Some(accounts) = &self.0 {
            accounts.computing.charge(time, accounts.start.elapsed());
        }
    }

    /// How long the next call of the API has to wait.
    pub(super) fn wait(&self) -> Duration {
        self.0.as_ref().map_or(Duration::ZERO, |accounts| accounts.asking.wait(accounts.start.elapsed()))
    }

    /// Notes that a call of the API took so long.
    pub(super) fn asked(&self, time: Duration) {
        if let Some(accounts) = &self.0 {
            accounts.asking.charge(time, accounts.start.elapsed());
        }
    }
}

/// A token bucket, without a clock: whoever asks says what time it is, as the time since some fixed moment.
#[derive(Debug)]
struct Account {
    /// When it will be full, in nanoseconds since that moment; in the past if it is full.
    full_at: AtomicU64,
    /// How many nanoseconds it takes to earn one.
    price: f64,
    /// How long it takes to fill, in nanoseconds.
    span: u64,
}

impl Account {
    fn new(per_second_ms: u64, saved_ms: u64) -> Self {
        let price = 1_000.0 / per_second_ms as f64;
        let span = nanoseconds(Duration::from_millis(saved_ms).mul_f64(price));
        Self { full_at: AtomicU64::new(0), price, span }
    }

    /// Takes out so much. It is never overdrawn by more than it holds when it is full: what was long ago is forgotten.
    fn charge(&self, used: Duration, now: Duration) {
        let (now, cost) = (nanoseconds(now), nanoseconds(used.mul_f64(self.price)));
        let latest = now.saturating_add(self.span.saturating_mul(2));
        let charged = |at: u64| Some(at.max(now).saturating_add(cost).min(latest));
        // It cannot fail: there is always a next value.
        let _ = self.full_at.fetch_update(Relaxed, Relaxed, charged);
    }

    /// How long until something is left.
    fn wait(&self, now: Duration) -> Duration {
        let empty_until = self.full_at.load(Relaxed).saturating_sub(self.span);
        Duration::from_nanos(empty_until.saturating_sub(nanoseconds(now)))
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    #[test]
    fn it_empties_and_fills_up_again() {
        // 20 ms a second, 100 ms at most: full again after 5 s.
        let account = Account::new(20, 100);
        assert_eq!(account.wait(ms(0)), ms(0));
        account.charge(ms(99), ms(0));
        assert_eq!(account.wait(ms(0)), ms(0));
        account.charge(ms(3), ms(0));
        assert_eq!(account.wait(ms(0)), ms(100), "2 ms too much at 20 ms a second");
        assert_eq!(account.wait(ms(60)), ms(40));
        assert_eq!(account.wait(ms(100)), ms(0));
        // However long ago it was full, it holds no more than it holds.
        account.charge(ms(101), ms(1_000_000));
        assert_eq!(account.wait(ms(1_000_000)), ms(50));
    }

    #[test]
    fn a_debt_is_forgotten_in_time() {
        let account = Account::new(20, 100);
        account.charge(ms(3_600_000), ms(0));
        assert_eq!(account.wait(ms(0)), ms(5_000));
        assert_eq!(account.wait(ms(5_000)), ms(0));
    }

    #[test]
    fn one_call_hurries_for_a_few_milliseconds_and_all_together_while_something_is_left() {
        let credit = Credit::new(&Share { call_ms: 4, compute_ms: 1, compute_saved_ms: 100, ..Share::default() });
        assert!(credit.hurries(ms(3)) && !credit.hurries(ms(4)));
        credit.computed(ms(200));
        assert!(!credit.hurries(ms(0)));
        assert!(credit.wait().is_zero(), "the accounts are two");
        assert!(Credit::unlimited().hurries(ms(3_600_000)));
    }

    #[test]
    fn settings_that_make_no_sense_are_named() {
        assert_eq!(Share::default().validate(), Ok(()));
        let named = |share: Share| share.validate().unwrap_err().setting;
        assert_eq!(named(Share { call_ms: 0, ..Share::default() }), "call_ms");
        assert_eq!(named(Share { compute_ms: 0, ..Share::default() }), "compute_ms");
        assert_eq!(named(Share { api_saved_ms: 1_000_001, ..Share::default() }), "api_saved_ms");
    }

    proptest! {
        /// Who asks whenever there is something left, and takes `piece` each time, gets no more than was saved and earned and, once,
        /// a piece too much. Pieces larger than what is saved at most are partly forgotten, as any large debt is.
        #[test]
        fn nobody_gets_more_than_that(per_second in 1_u64..2_000, saved in 1_u64..1_000, piece in 1_u64..50, steps in 1_u64..5_000) {
            let (account, piece, mut got) = (Account::new(per_second, saved), piece.min(saved), 0);
            for now in 0..steps {
                if account.wait(ms(now)).is_zero() {
                    account.charge(ms(piece), ms(now));
                    got += piece;
                }
            }
            prop_assert!(got <= saved + steps * per_second / 1_000 + piece + 1, "{got}");
        }
    }
}
