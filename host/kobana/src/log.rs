//! The log goes to standard error. It holds neither tokens nor the content of mail: nothing of ours logs a header, a query or a
//! body, and what others log in detail, which may well be headers and bodies, is left out whatever level is asked for: of theirs only
//! warnings and errors are worth a line.

use tracing::Level;
use tracing_subscriber::filter::{FilterExt as _, LevelFilter, filter_fn};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _, fmt, registry};

use crate::failure::Failure;
use crate::settings::{Log, LogFormat};

/// What the names of our own modules begin with.
const OURS: &str = "kobana";

/// Starts logging as configured.
pub(crate) fn start(log: &Log) -> Result<(), Failure> {
    let filter = EnvFilter::try_new(&log.level).map_err(|error| {
        Failure::Config(format!("log.level: expected levels such as info or warn,kobana=debug: {error}"))
    })?;
    let discreet = filter_fn(|event| event.target().starts_with(OURS) || *event.level() <= Level::WARN);
    // With a hint, so that both together have one: what nobody wants to see is then turned away where it is said.
    let discreet = discreet.with_max_level_hint(LevelFilter::TRACE);
    // A log that cannot be written is nobody's reason to stop: there is nowhere left to complain.
    let lines = fmt::layer().with_writer(std::io::stderr).with_target(false).log_internal_errors(false);
    let lines = match log.format {
        LogFormat::Text => lines.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).boxed(),
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
    };
    // One filter out of two: of two filters one behind the other each would let through spans that the other one has no use for.
    let started = registry().with(lines.with_filter(filter.and(discreet))).try_init();
    started.map_err(|error| Failure::Config(format!("log: {error}")))
}
