//! What is told about a run: to people, to machines, and to those who collect test results.

mod json;
mod junit;
mod progress;
mod text;

pub(super) use json::document;
pub(super) use junit::write as junit;
pub(super) use progress::Progress;
pub(super) use text::Text;

use super::cases::Case;
use super::fuzz::Fuzzed;
use super::runner::Judged;

/// A run and all that came of it.
pub(super) struct Report<'a> {
    pub(super) component: Component,
    /// The cases that were run.
    pub(super) cases: Vec<(&'a Case, Judged)>,
    /// The cases file.
    pub(super) file: Option<String>,
    /// Cases that the filter left out.
    pub(super) skipped: usize,
    pub(super) fuzz: Option<Fuzz>,
}

/// What was tried.
#[derive(Debug, Clone, serde::Serialize)]
pub(super) struct Component {
    pub(super) file: String,
    pub(super) name: String,
    pub(super) version: String,
    /// SHA-256 in hexadecimal.
    pub(super) digest: String,
    pub(super) bytes: u64,
}

/// What came of arguments made of schemas.
pub(super) struct Fuzz {
    pub(super) seed: u64,
    pub(super) tools: Vec<Fuzzed>,
}

impl Fuzz {
    pub(super) fn faults(&self) -> usize {
        self.tools.iter().map(|tool| tool.faults.len()).sum()
    }
}

impl Report<'_> {
    pub(super) fn failed(&self) -> usize {
        self.cases.iter().filter(|(_, judged)| !judged.findings.is_empty()).count()
    }

    /// Whether everything is as it was expected.
    pub(super) fn is_good(&self) -> bool {
        self.failed() == 0 && self.fuzz.as_ref().is_none_or(|fuzz| fuzz.faults() == 0)
    }
}
