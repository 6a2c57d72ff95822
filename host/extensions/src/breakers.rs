//! The breakers of all extensions that broke of late.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use uuid::Uuid;

use crate::breaker::{Breaker, BreakerSettings, Change, End, Pass};

/// How many are kept before those are cleared away that say nothing any more.
const MOST: usize = 10_000;

/// A breaker for each version that broke of late; all others have none and need none. A new version begins anew.
#[derive(Debug)]
pub(crate) struct Breakers {
    settings: BreakerSettings,
    start: Instant,
    of: Mutex<HashMap<Uuid, Breaker>>,
}

/// A call under way. One that is given up counts for nothing.
#[derive(Debug)]
pub(crate) struct Watched<'a> {
    breakers: &'a Breakers,
    version: Uuid,
    pass: Pass,
    end: End,
}

impl Breakers {
    pub(crate) fn new(settings: BreakerSettings) -> Self {
        Self { settings, start: Instant::now(), of: Mutex::default() }
    }

    /// Lets a call of this version begin, or says how long to wait.
    pub(crate) fn enter(&self, version: Uuid) -> Result<Watched<'_>, Duration> {
        let mut of = self.of.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.start.elapsed();
        let pass = match of.get_mut(&version) {
            Some(breaker) => breaker.pass(&self.settings, now)?,
            None => Breaker::default().pass(&self.settings, now)?,
        };
        Ok(Watched { breakers: self, version, pass, end: End::Unknown })
    }

    fn note(&self, version: Uuid, pass: Pass, end: End) -> Change {
        let mut of = self.of.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.start.elapsed();
        if end != End::Broken && !of.contains_key(&version) {
            return Change::None;
        }
        if of.len() >= MOST {
            of.retain(|_, breaker| !breaker.is_idle(&self.settings, now));
        }
        of.entry(version).or_default().note(&self.settings, pass, end, now)
    }
}

impl Watched<'_> {
    /// Says what came of the call; what changed by it.
    pub(crate) fn ends(mut self, end: End) -> Change {
        let change = self.breakers.note(self.version, self.pass, end);
        // Said, so that the value's end says nothing more.
        self.end = end;
        change
    }
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        if self.end == End::Unknown {
            self.breakers.note(self.version, self.pass, End::Unknown);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_version_has_its_own() {
        let breakers = Breakers::new(BreakerSettings { trips_after: 2, within_s: 60, rests_s: 60 });
        let (bad, good) = (Uuid::from_u128(1), Uuid::from_u128(2));
        assert_eq!(breakers.enter(bad).unwrap().ends(End::Broken), Change::None);
        drop(breakers.enter(bad).unwrap());
        assert_eq!(breakers.enter(bad).unwrap().ends(End::Broken), Change::Tripped);
        assert!(breakers.enter(bad).unwrap_err() > Duration::from_secs(50));
        assert_eq!(breakers.enter(good).unwrap().ends(End::Good), Change::None);
        assert_eq!(breakers.of.lock().unwrap().len(), 1, "those that are well take no room");
    }
}
