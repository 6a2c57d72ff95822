//! How far a run is, for somebody who watches it at a terminal.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A run that is over sooner shows nothing.
const PATIENCE: Duration = Duration::from_millis(700);

/// A line on standard error; nothing where that is no terminal.
pub(crate) struct Progress {
    bar: ProgressBar,
    start: Instant,
}

impl Progress {
    /// Begins a run of so many steps.
    pub(crate) fn start(steps: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{pos}/{len}  {elapsed}  {wide_msg}") {
            bar.set_style(style);
        }
        Self { bar, start: Instant::now() }
    }

    /// A step begins.
    pub(crate) fn step(&self, what: &str) {
        if self.bar.is_hidden() && self.start.elapsed() > PATIENCE {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.set_message(what.to_owned());
        self.bar.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
