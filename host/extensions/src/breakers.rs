//! The breakers of all extensions that broke of late.
//!
//! A caller can often make an extension break: with arguments that take it into a limit. That says little about the extension, so
//! whoever does it again and again is kept from it alone. What breaks for several callers is broken, and rests for everybody.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use uuid::Uuid;

use crate::breaker::{Breaker, BreakerSettings, Change, End, Pass};

/// How many are kept before those are cleared away that say nothing any more.
const MOST: usize = 10_000;

/// A breaker for each version that broke of late, and one for each caller for whom it did; all others have none and need none. A new
/// version begins anew.
#[derive(Debug)]
pub(crate) struct Breakers {
    settings: BreakerSettings,
    start: Instant,
    of: Mutex<HashMap<Watched, Breaker>>,
}

/// What has a breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Watched {
    /// A version, for everybody.
    Version(Uuid),
    /// A version, for one caller: the version's id, then the person's.
    Caller(Uuid, Uuid),
}

/// Who rests, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Resting {
    /// Whether it is only for the one who calls.
    pub(crate) for_caller: bool,
    /// How long.
    pub(crate) wait: Duration,
}

/// What came of a call for the breakers: that of the caller, then that of the version.
pub(crate) type Changes = (Change, Change);

/// A call under way. One that is given up counts for nothing.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    caller: Uuid,
    own: Leave<'a>,
    whole: Leave<'a>,
}

/// Leave of one breaker. Nothing comes of it unless it is said.
#[derive(Debug)]
struct Leave<'a> {
    breakers: &'a Breakers,
    watched: Watched,
    pass: Pass,
    said: bool,
}

impl Breakers {
    pub(crate) fn new(settings: BreakerSettings) -> Self {
        Self { settings, start: Instant::now(), of: Mutex::default() }
    }

    /// Lets a call of this version by this person begin, or says how long to wait.
    pub(crate) fn enter(&self, version: Uuid, caller: Uuid) -> Result<Call<'_>, Resting> {
        let resting = |for_caller| move |wait| Resting { for_caller, wait };
        let own = self.leave(Watched::Caller(version, caller)).map_err(resting(true))?;
        let whole = self.leave(Watched::Version(version)).map_err(resting(false))?;
        Ok(Call { caller, own, whole })
    }

    fn leave(&self, watched: Watched) -> Result<Leave<'_>, Duration> {
        let mut of = self.of.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.start.elapsed();
        let pass = match of.get_mut(&watched) {
            Some(breaker) => breaker.pass(&self.settings, now)?,
            None => Breaker::default().pass(&self.settings, now)?,
        };
        Ok(Leave { breakers: self, watched, pass, said: false })
    }

    fn note(&self, watched: Watched, pass: Pass, end: End) -> Change {
        let mut of = self.of.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.start.elapsed();
        if !matches!(end, End::Broken(_)) && !of.contains_key(&watched) {
            return Change::None;
        }
        if of.len() >= MOST {
            of.retain(|_, breaker| !breaker.is_idle(&self.settings, now));
        }
        of.entry(watched).or_default().note(&self.settings, pass, end, now)
    }
}

impl Call<'_> {
    /// Says what came of the call; what changed by it.
    pub(crate) fn ends(self, end: End) -> Changes {
        let Self { caller, own, whole } = self;
        let by_caller = match end {
            End::Broken(_) => End::Broken(Some(caller)),
            end => end,
        };
        (own.ends(end), whole.ends(by_caller))
    }
}

impl Leave<'_> {
    fn ends(mut self, end: End) -> Change {
        self.said = true;
        self.breakers.note(self.watched, self.pass, end)
    }
}

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        if !self.said {
            self.breakers.note(self.watched, self.pass, End::Unknown);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BROKEN: End = End::Broken(None);
    const SETTINGS: BreakerSettings = BreakerSettings { trips_after: 2, within_s: 60, rests_s: 60 };
    const BAD: Uuid = Uuid::from_u128(1);
    const ANA: Uuid = Uuid::from_u128(11);
    const BEN: Uuid = Uuid::from_u128(12);
    const EVA: Uuid = Uuid::from_u128(13);

    fn breaks(breakers: &Breakers, caller: Uuid) -> Changes {
        breakers.enter(BAD, caller).unwrap().ends(BROKEN)
    }

    #[test]
    fn each_version_has_its_own() {
        let breakers = Breakers::new(SETTINGS);
        let good = Uuid::from_u128(2);
        assert_eq!(breaks(&breakers, ANA), (Change::None, Change::None));
        drop(breakers.enter(BAD, ANA).unwrap());
        assert_eq!(breaks(&breakers, ANA), (Change::Tripped, Change::None));
        assert!(breakers.enter(BAD, ANA).unwrap_err().wait > Duration::from_secs(50));
        assert_eq!(breakers.enter(good, ANA).unwrap().ends(End::Good), (Change::None, Change::None));
        assert_eq!(breakers.of.lock().unwrap().len(), 2, "those that are well take no room");
    }

    #[test]
    fn who_makes_it_break_is_kept_from_it_alone() {
        let breakers = Breakers::new(SETTINGS);
        let early: Vec<_> = (0..9).map(|_| breakers.enter(BAD, ANA).unwrap()).collect();
        let changes: Vec<_> = early.into_iter().map(|call| call.ends(BROKEN)).collect();
        assert!(changes.iter().all(|(_, whole)| *whole == Change::None), "{changes:?}");
        assert!(breakers.enter(BAD, ANA).unwrap_err().for_caller);
        assert_eq!(breakers.enter(BAD, BEN).unwrap().ends(End::Good), (Change::None, Change::None));
    }

    #[test]
    fn what_breaks_for_several_callers_rests_for_everybody() {
        let breakers = Breakers::new(SETTINGS);
        assert_eq!(breaks(&breakers, ANA), (Change::None, Change::None));
        assert_eq!(breaks(&breakers, BEN), (Change::None, Change::Tripped));
        assert!(!breakers.enter(BAD, EVA).unwrap_err().for_caller);
    }

    #[test]
    fn a_trial_that_cannot_be_made_is_left_to_others() {
        let breakers = Breakers::new(BreakerSettings { rests_s: 0, ..SETTINGS });
        breaks(&breakers, ANA);
        breaks(&breakers, BEN);
        // The trial of the version is Ben's; Ana's own breaker has nothing against her.
        let trial = breakers.enter(BAD, BEN).unwrap();
        assert_eq!(trial.ends(End::Good), (Change::None, Change::Recovered));
        assert_eq!(breaks(&breakers, ANA), (Change::Tripped, Change::None));
        // She is let through at once here, and her trial is hers alone.
        assert_eq!(breakers.enter(BAD, ANA).unwrap().ends(End::Good), (Change::Recovered, Change::None));
    }
}
