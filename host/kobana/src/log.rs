//! The log goes to standard error. It holds neither tokens nor the content of mail: nothing logs a header, a query or a
//! body.

use tracing_subscriber::EnvFilter;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::failure::Failure;
use crate::settings::{Log, LogFormat};

/// Starts logging as configured.
pub(crate) fn start(log: &Log) -> Result<(), Failure> {
    let filter = EnvFilter::try_new(&log.level).map_err(|error| {
        Failure::Config(format!("log.level: expected levels such as info or warn,kobana=debug: {error}"))
    })?;
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false);
    let started = match log.format {
        LogFormat::Text => builder.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).finish().try_init(),
        LogFormat::Json => builder.json().flatten_event(true).finish().try_init(),
    };
    started.map_err(|error| Failure::Config(format!("log: {error}")))
}
