//! `kobana extension test`: runs an extension on throw-away data before it goes live.
//!
//! The way of a run: `cases` reads what is asked, `subject` loads the component, `runner` asks it in a `world` of its own,
//! `judge` compares, `report` tells. `fuzz` makes up arguments by itself, `watch` starts it all over again.

mod args;
mod cases;
mod fuzz;
mod judge;
mod matcher;
mod outcome;
mod report;
mod runner;
mod subject;
mod units;
mod watch;
mod world;

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;
use std::process::ExitCode;

use bytes::Bytes;
use kobana_contract::Timestamp;

pub(crate) use args::Test;

use crate::failure::Failure;
use crate::settings::Settings;
use cases::{Budgets, Suite};
use fuzz::Plan;
use report::{Fuzz, Progress, Report, Text};
use subject::{Bench, Subject};

/// Runs the command.
pub(crate) fn run(options: &Test) -> Result<ExitCode, Failure> {
    let settings = Settings::read(options.config.as_deref())?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|cause| Failure::System { what: "cannot start threads", cause })?;
    let bench = Bench::new(&settings)?;
    runtime.block_on(async {
        if options.watch {
            return watch::run(options, bench).await;
        }
        let subject = bench.load(read(&options.component)?, &options.component).await?;
        let good = once(options, &subject).await?;
        Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    })
}

/// The component's bytes.
fn read(path: &Path) -> Result<Bytes, Failure> {
    let bytes = std::fs::read(path).map_err(|cause| Failure::Read { file: path.to_owned(), cause })?;
    Ok(bytes.into())
}

/// Runs everything once and tells what came of it; whether all of it is as expected.
async fn once(options: &Test, subject: &Subject) -> Result<bool, Failure> {
    let suite = options.cases.as_deref().map(Suite::read).transpose();
    let suite = suite.map_err(|unusable| Failure::Unusable(unusable.0))?;
    let all = suite.as_ref().map(|suite| suite.cases.as_slice()).unwrap_or_default();
    let wanted: Vec<_> = all.iter().filter(|case| options.picks(&case.name)).collect();
    let (steps, skipped) = (wanted.len(), all.len().saturating_sub(wanted.len()));
    if wanted.is_empty() && options.fuzz.is_none() {
        let filter = options.filter.as_ref().map_or("", |filter| filter.as_str());
        return Err(Failure::Unusable(vec![format!(
            "--filter: expected to find a case, but no name matches /{filter}/"
        )]));
    }
    let progress = Progress::start(u64::try_from(steps).unwrap_or(u64::MAX));
    let mut cases = Vec::new();
    for case in wanted {
        progress.step(&case.name);
        cases.push((case, runner::run(subject, case).await.map_err(no_world)?));
    }
    drop(progress);
    let fuzz = match options.fuzz {
        Some(calls) => Some(self::fuzz(options, subject, calls, suite.as_ref()).await?),
        None => None,
    };
    let file = options.cases.as_ref().map(|path| path.display().to_string());
    let report = Report { component: subject.component().clone(), cases, file, skipped, fuzz };
    tell(options, &report)?;
    Ok(report.is_good())
}

async fn fuzz(options: &Test, subject: &Subject, calls: u64, suite: Option<&Suite>) -> Result<Fuzz, Failure> {
    // A number that can be typed.
    let seed = options.seed.unwrap_or_else(|| Timestamp::now().0.unsigned_abs() % 1_000_000_000);
    let budgets = suite.map_or_else(Budgets::default, |suite| suite.budgets);
    let tools = &subject.description().tools;
    let picked = tools.iter().filter(|tool| options.picks(&tool.name)).count();
    let progress = Progress::start(calls.saturating_mul(u64::try_from(picked).unwrap_or(u64::MAX)));
    let plan = Plan { calls, seed, budgets };
    let tools = fuzz::run(subject, &plan, |name| options.picks(name), |tool| progress.step(tool)).await;
    Ok(Fuzz { seed, tools: tools.map_err(no_world)? })
}

fn tell(options: &Test, report: &Report<'_>) -> Result<(), Failure> {
    if let Some(path) = &options.junit {
        report::junit(report, path)?;
    }
    let text = if options.json {
        format!("{:#}\n", report::document(report))
    } else {
        let colour = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|no| no.is_empty());
        Text { colour }.write(report)
    };
    // Whoever closed standard output does not want to read it.
    let _ = std::io::stdout().write_all(text.as_bytes());
    Ok(())
}

#[allow(clippy::needless_pass_by_value, reason = "it is what map_err hands over")]
fn no_world(error: world::NoWorld) -> Failure {
    Failure::Data(error.to_string())
}

impl Test {
    fn picks(&self, name: &str) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter.is_match(name))
    }
}
