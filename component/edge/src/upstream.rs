//! One function of the interface as one request to the host. None is ever sent twice.

use std::sync::OnceLock;

use kobana_wire::{Function, PREFIX, VERSION, VERSION_HEADER};

use crate::config::{Config, ConfigError};
use crate::http::{self, Answer, Broken};
use crate::wit::wasi::clocks::monotonic_clock::now;

/// Seconds to wait for a host that is away.
const SOON: u32 = 1;
/// Seconds to wait where somebody has to mend something first.
const LATER: u32 = 30;

/// Why the host gave no answer to a question. What went wrong stands on standard error: it is for whoever runs the
/// component, never for its clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// Nothing was done; seconds to wait.
    Unavailable(u32),
    /// There was no answer in time. Whether anything was done is unknown.
    TimedOut,
    /// The answer got lost. Whether anything was done is unknown.
    Lost,
}

/// The moment by which everything for a request of a client that comes now has to be done.
pub(crate) fn deadline() -> u64 {
    config().as_ref().map_or_else(|_| now(), |config| now().saturating_add(config.timeout))
}

/// Asks the host.
pub(crate) fn ask<F: Function>(question: &F::Question, deadline: u64) -> Result<F::Reply, Trouble> {
    let config = config().as_ref().map_err(|error| report(Trouble::Unavailable(LATER), &error.to_string()))?;
    let message =
        kobana_wire::write(question).map_err(|error| report(Trouble::Unavailable(SOON), &error.to_string()))?;
    let answer = http::post(config, &format!("{PREFIX}{}", F::NAME), &message, deadline);
    match answer {
        Ok(answer) => read::<F>(&answer),
        Err(Broken::Unsent(why)) => {
            Err(report(Trouble::Unavailable(SOON), &format!("cannot reach {}: {why}", config.authority)))
        }
        Err(Broken::Late) => Err(report(Trouble::TimedOut, &format!("{} did not answer in time", config.authority))),
        Err(Broken::Cut(why)) => Err(report(Trouble::Lost, &format!("{} did not answer: {why}", config.authority))),
    }
}

fn read<F: Function>(answer: &Answer) -> Result<F::Reply, Trouble> {
    if let Some(problem) = stranger(answer.version.as_deref(), answer.status) {
        return Err(report(Trouble::Unavailable(LATER), &problem));
    }
    let (trouble, problem) = match answer.status {
        200 => match kobana_wire::read(&answer.body) {
            Ok(reply) => return Ok(reply),
            Err(error) => (Trouble::Lost, error.to_string()),
        },
        401 => (Trouble::Unavailable(LATER), "the host does not know the key in KOBANA_EDGE_KEY".to_owned()),
        404 => (Trouble::Unavailable(LATER), format!("the host is older: it does not know {}", F::NAME)),
        503 => (Trouble::Unavailable(answer.retry_after.unwrap_or(SOON)), "the host is busy".to_owned()),
        status @ 500.. => (Trouble::Lost, format!("the host failed with status {status}")),
        status => {
            let reason = String::from_utf8_lossy(answer.body.get(..200).unwrap_or(&answer.body));
            (Trouble::Unavailable(SOON), format!("the host refused with status {status}: {}", reason.trim_end()))
        }
    };
    Err(report(trouble, &problem))
}

/// What is wrong with whoever answered, if it is not a host that speaks this version.
fn stranger(version: Option<&str>, status: u16) -> Option<String> {
    match version {
        Some(VERSION) => None,
        Some(other) => {
            let other: String = other.chars().filter(char::is_ascii_alphanumeric).take(20).collect();
            Some(format!(
                "the host speaks version {other} and this component version {VERSION}: build it anew with the host's `kobana edge build`"
            ))
        }
        None => Some(format!(
            "KOBANA_EDGE_URL is no edge endpoint of kobana: its answer, with status {status}, has no {VERSION_HEADER}"
        )),
    }
}

fn report(trouble: Trouble, problem: &str) -> Trouble {
    eprintln!("edge: {problem}");
    trouble
}

/// Read once for all requests of the instance.
fn config() -> &'static Result<Config, ConfigError> {
    static CONFIG: OnceLock<Result<Config, ConfigError>> = OnceLock::new();
    CONFIG.get_or_init(|| Config::from_env(|name| std::env::var(name).ok()))
}
