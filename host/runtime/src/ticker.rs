//! The clock of guests.
//!
//! Compiled guest code compares the engine's epoch with its deadline on every loop and call. A thread of its own moves
//! the epoch: a timer of the async runtime would not fire while guests keep all of its threads busy.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use wasmtime::Engine;

/// How many ticks there have been, and how late it is.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ticks(Arc<Clock>);

#[derive(Debug, Default)]
struct Clock {
    ticks: AtomicU64,
    milliseconds: AtomicU64,
}

impl Ticks {
    /// Lets the engine tick for as long as it lives.
    pub(crate) fn start(engine: &Engine, tick: Duration) -> std::io::Result<Self> {
        let ticks = Self::default();
        let (clock, start) = (ticks.clone(), Instant::now());
        let engine = engine.weak();
        std::thread::Builder::new().name("guest-clock".to_owned()).spawn(move || {
            loop {
                std::thread::sleep(tick);
                let Some(engine) = engine.upgrade() else { return };
                engine.increment_epoch();
                clock.0.ticks.fetch_add(1, Relaxed);
                clock.0.milliseconds.store(start.elapsed().as_millis().try_into().unwrap_or(u64::MAX), Relaxed);
            }
        })?;
        Ok(ticks)
    }

    pub(crate) fn now(&self) -> u64 {
        self.0.ticks.load(Relaxed)
    }

    /// Milliseconds since the start, as of the last tick: a clock that costs nothing to read.
    pub(crate) fn milliseconds(&self) -> u64 {
        self.0.milliseconds.load(Relaxed)
    }
}

/// What a guest may still compute for the current request.
#[derive(Debug, Default)]
pub(crate) struct Cpu {
    left: u64,
    waited: bool,
}

impl Cpu {
    pub(crate) fn refill(&mut self, ticks: u64) {
        *self = Self { left: ticks, waited: false };
    }

    /// Notes that the guest has waited across a tick: the tick that it meets next is not its own.
    pub(crate) fn waited(&mut self) {
        self.waited = true;
    }

    /// Charges a tick that was met while guest code ran; false when there is none left.
    pub(crate) fn charge(&mut self) -> bool {
        if std::mem::take(&mut self.waited) {
            return true;
        }
        let more = self.left > 0;
        self.left = self.left.saturating_sub(1);
        more
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_is_not_charged() {
        let mut cpu = Cpu::default();
        cpu.refill(1);
        cpu.waited();
        assert!(cpu.charge());
        assert!(cpu.charge());
        assert!(!cpu.charge());
    }
}
