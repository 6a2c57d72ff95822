//! A breaker: what breaks again and again rests for a while, then gets one trial.
//!
//! It is a state machine without a clock: whoever asks says what time it is, as the time since some fixed moment.

use std::collections::VecDeque;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// When an extension rests, and for how long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BreakerSettings {
    /// How often it may break within `within_s`: traps, limits and answers that cannot be used. When it does so for one caller, it
    /// rests for that caller; when it does so for as many different callers, it rests for everybody. 1 to 1,000; 0 lets it never rest.
    pub trips_after: u32,
    /// The time in which that is counted, in seconds. At least 1.
    pub within_s: u64,
    /// How long it rests, in seconds, before it gets one trial. At least 1.
    pub rests_s: u64,
}

impl Default for BreakerSettings {
    fn default() -> Self {
        Self { trips_after: 5, within_s: 60, rests_s: 30 }
    }
}

/// The state of what is watched.
#[derive(Debug, Default)]
pub(crate) struct Breaker {
    state: State,
    /// Raised by each trip and each recovery: what began before says nothing about what came after.
    epoch: u64,
}

#[derive(Debug)]
enum State {
    /// Calls pass. When it broke of late, oldest first, and by what if that matters.
    Closed(VecDeque<(Duration, Option<Uuid>)>),
    /// Nothing passes until then.
    Resting(Duration),
    /// One call is under way that decides; if nothing is heard of it until then, another one may.
    Trying(Duration),
}

impl Default for State {
    fn default() -> Self {
        Self::Closed(VecDeque::new())
    }
}

/// Leave for one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pass {
    epoch: u64,
    trial: bool,
}

/// What came of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// It answered.
    Good,
    /// It broke. What has a name breaks it once, however often it does so.
    Broken(Option<Uuid>),
    /// It did not run, or was given up by the one who called.
    Unknown,
}

/// What changed by the end of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// Nothing.
    None,
    /// It rests from now on.
    Tripped,
    /// It is well again.
    Recovered,
}

impl Breaker {
    /// Leave for a call that begins now, or how long to wait.
    pub(crate) fn pass(&mut self, settings: &BreakerSettings, now: Duration) -> Result<Pass, Duration> {
        match &self.state {
            State::Closed(_) => Ok(Pass { epoch: self.epoch, trial: false }),
            State::Resting(until) | State::Trying(until) if *until > now => Err(*until - now),
            State::Resting(_) | State::Trying(_) => {
                self.state = State::Trying(now + Duration::from_secs(settings.rests_s));
                self.epoch += 1;
                Ok(Pass { epoch: self.epoch, trial: true })
            }
        }
    }

    /// Notes what came of a call.
    pub(crate) fn note(&mut self, settings: &BreakerSettings, pass: Pass, end: End, now: Duration) -> Change {
        if pass.epoch != self.epoch || settings.trips_after == 0 {
            return Change::None;
        }
        match (&mut self.state, end) {
            (State::Trying(_), End::Good) if pass.trial => {
                self.turn(State::default());
                Change::Recovered
            }
            (State::Trying(_), End::Broken(_)) if pass.trial => {
                self.rest(settings, now);
                Change::Tripped
            }
            // The next one may try at once.
            (State::Trying(_), End::Unknown) if pass.trial => {
                self.turn(State::Resting(now));
                Change::None
            }
            (State::Closed(broken), End::Broken(by)) => {
                let within = Duration::from_secs(settings.within_s);
                broken.retain(|(moment, who)| *moment + within >= now && (by.is_none() || *who != by));
                broken.push_back((now, by));
                if broken.len() < settings.trips_after as usize {
                    return Change::None;
                }
                self.rest(settings, now);
                Change::Tripped
            }
            _ => Change::None,
        }
    }

    /// Whether it says nothing that a new one would not say: it broke never, or long ago.
    pub(crate) fn is_idle(&self, settings: &BreakerSettings, now: Duration) -> bool {
        let within = Duration::from_secs(settings.within_s);
        matches!(&self.state, State::Closed(broken) if broken.back().is_none_or(|(last, _)| *last + within < now))
    }

    fn rest(&mut self, settings: &BreakerSettings, now: Duration) {
        self.turn(State::Resting(now + Duration::from_secs(settings.rests_s)));
    }

    fn turn(&mut self, state: State) {
        self.state = state;
        self.epoch += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BROKEN: End = End::Broken(None);
    const SETTINGS: BreakerSettings = BreakerSettings { trips_after: 3, within_s: 10, rests_s: 5 };

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn call(breaker: &mut Breaker, end: End, now: u64) -> Change {
        let pass = breaker.pass(&SETTINGS, at(now)).unwrap();
        breaker.note(&SETTINGS, pass, end, at(now))
    }

    #[test]
    fn it_rests_after_some_breaks_and_one_trial_decides() {
        let mut breaker = Breaker::default();
        assert_eq!(call(&mut breaker, BROKEN, 0), Change::None);
        assert_eq!(call(&mut breaker, End::Good, 1), Change::None);
        assert_eq!(call(&mut breaker, BROKEN, 2), Change::None);
        assert_eq!(call(&mut breaker, BROKEN, 3), Change::Tripped);
        assert_eq!(breaker.pass(&SETTINGS, at(4)), Err(at(4)));
        let trial = breaker.pass(&SETTINGS, at(8)).unwrap();
        assert!(breaker.pass(&SETTINGS, at(8)).is_err(), "one at a time");
        assert_eq!(breaker.note(&SETTINGS, trial, BROKEN, at(9)), Change::Tripped);
        assert_eq!(breaker.pass(&SETTINGS, at(13)), Err(at(1)));
        assert_eq!(call(&mut breaker, End::Good, 14), Change::Recovered);
        assert_eq!(call(&mut breaker, BROKEN, 14), Change::None);
    }

    #[test]
    fn breaks_of_long_ago_do_not_count() {
        let mut breaker = Breaker::default();
        for now in [0, 9, 20, 29, 40] {
            assert_eq!(call(&mut breaker, BROKEN, now), Change::None, "{now}");
        }
        assert!(!breaker.is_idle(&SETTINGS, at(45)));
        assert!(breaker.is_idle(&SETTINGS, at(60)));
    }

    #[test]
    fn what_began_before_it_tripped_changes_nothing_after() {
        let mut breaker = Breaker::default();
        let early: Vec<_> = (0..6).map(|_| breaker.pass(&SETTINGS, at(0)).unwrap()).collect();
        let changes: Vec<_> = early.iter().map(|pass| breaker.note(&SETTINGS, *pass, BROKEN, at(1))).collect();
        assert_eq!(changes.iter().filter(|change| **change == Change::Tripped).count(), 1);
        assert_eq!(breaker.note(&SETTINGS, early[0], End::Good, at(2)), Change::None);
        assert!(breaker.pass(&SETTINGS, at(2)).is_err());
    }

    #[test]
    fn a_trial_that_is_given_up_or_lost_leaves_room_for_another() {
        let mut breaker = Breaker::default();
        for _ in 0..3 {
            call(&mut breaker, BROKEN, 0);
        }
        assert_eq!(call(&mut breaker, End::Unknown, 5), Change::None);
        let lost = breaker.pass(&SETTINGS, at(5)).unwrap();
        assert!(breaker.pass(&SETTINGS, at(9)).is_err());
        assert_eq!(call(&mut breaker, End::Good, 10), Change::Recovered);
        assert_eq!(breaker.note(&SETTINGS, lost, BROKEN, at(10)), Change::None);
    }

    #[test]
    fn what_has_a_name_breaks_it_once() {
        let mut breaker = Breaker::default();
        let by = |name: u128| End::Broken(Some(Uuid::from_u128(name)));
        for now in 0..9 {
            assert_eq!(call(&mut breaker, by(1), now), Change::None);
        }
        assert_eq!(call(&mut breaker, by(2), 9), Change::None);
        assert_eq!(call(&mut breaker, by(1), 10), Change::None);
        assert_eq!(call(&mut breaker, by(3), 11), Change::Tripped);
    }

    #[test]
    fn it_can_be_turned_off() {
        let (mut breaker, off) = (Breaker::default(), BreakerSettings { trips_after: 0, ..SETTINGS });
        for now in 0..100 {
            let pass = breaker.pass(&off, at(now)).unwrap();
            assert_eq!(breaker.note(&off, pass, BROKEN, at(now)), Change::None);
        }
    }

    proptest! {
        /// Whatever happens, in whatever order calls end: it trips only after enough breaks in the time, a rest lasts as long as it
        /// should, never are two trials under way, and after the rest somebody is let through.
        #[test]
        fn it_keeps_its_word(steps in prop::collection::vec((0_u64..4, 0_u8..3, any::<prop::sample::Index>()), 1..200)) {
            let (mut breaker, mut now, mut open, mut broken) = (Breaker::default(), 0, Vec::new(), Vec::<u64>::new());
            let mut resting: Option<u64> = None;
            for (wait, kind, which) in steps {
                now += wait;
                match breaker.pass(&SETTINGS, at(now)) {
                    Ok(pass) => {
                        prop_assert!(resting.is_none_or(|until| now >= until), "it rests until {resting:?}, and it is {now}");
                        open.push(pass);
                    }
                    Err(wait) => {
                        prop_assert!(wait <= at(SETTINGS.rests_s) && wait > Duration::ZERO);
                        prop_assert!(resting.is_some());
                    }
                }
                if open.is_empty() { continue }
                let pass = open.swap_remove(which.index(open.len()));
                let end = [End::Good, BROKEN, End::Unknown][usize::from(kind)];
                if end == BROKEN { broken.push(now) }
                match breaker.note(&SETTINGS, pass, end, at(now)) {
                    Change::Tripped => {
                        let recent = broken.iter().filter(|moment| **moment + SETTINGS.within_s >= now).count();
                        prop_assert!(pass.trial || recent >= SETTINGS.trips_after as usize);
                        resting = Some(now + SETTINGS.rests_s);
                    }
                    Change::Recovered => {
                        prop_assert!(pass.trial && end == End::Good);
                        resting = None;
                        broken.clear();
                    }
                    Change::None => {}
                }
            }
            prop_assert!(breaker.pass(&SETTINGS, at(now + SETTINGS.rests_s)).is_ok());
        }
    }
}
