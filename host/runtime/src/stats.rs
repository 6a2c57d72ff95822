//! What has become of instances so far.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Counts since the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Instances made.
    pub started: u64,
    /// Instances that have ended, for whatever reason.
    pub ended: u64,
    /// Those of them that trapped or were stopped.
    pub failed: u64,
    /// Those of them that still held host objects though no request was running.
    pub leaked: u64,
    /// Requests that were turned away because no instance was free in time.
    pub refused: u64,
}

/// [`Stats`] in the making.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    started: AtomicU64,
    ended: AtomicU64,
    failed: AtomicU64,
    leaked: AtomicU64,
    refused: AtomicU64,
}

impl Counters {
    pub(crate) fn started(&self) {
        self.started.fetch_add(1, Relaxed);
    }

    /// An instance that failed in the middle of a request holds what it held; that is no leak.
    pub(crate) fn ended(&self, failed: bool, leaked: bool) {
        self.failed.fetch_add(failed.into(), Relaxed);
        self.leaked.fetch_add((leaked && !failed).into(), Relaxed);
        self.ended.fetch_add(1, Relaxed);
    }

    pub(crate) fn refused(&self) {
        self.refused.fetch_add(1, Relaxed);
    }

    pub(crate) fn read(&self) -> Stats {
        Stats {
            started: self.started.load(Relaxed),
            ended: self.ended.load(Relaxed),
            failed: self.failed.load(Relaxed),
            leaked: self.leaked.load(Relaxed),
            refused: self.refused.load(Relaxed),
        }
    }
}
