//! What both doors have in common.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use kobana_protocol::{Config, ConfigError, HttpResponse};

use crate::wit::wasi::cli::environment::get_environment;

thread_local! {
    /// Read once for all requests of the instance.
    pub(crate) static CONFIG: Result<Config, ConfigError> = config();
}

/// What the component exports.
pub(crate) struct Gateway;

fn config() -> Result<Config, ConfigError> {
    let variables = get_environment();
    let lookup = |name: &str| variables.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
    Config::from_env(lookup).inspect_err(|error| eprintln!("configuration: {error}"))
}

/// A path without the query that may stand behind it.
pub(crate) fn path(target: &str) -> &str {
    target.split_once('?').map_or(target, |(path, _)| path)
}

/// The output of a future that is ready at once; nothing if it waits for something, which no import makes it do.
pub(crate) fn now<F: Future>(future: F) -> Option<F::Output> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

/// The answer where the protocol gives none.
pub(crate) fn internal_error() -> HttpResponse {
    HttpResponse::json(500, r#"{"jsonrpc":"2.0","error":{"code":-32603,"message":"Internal error"}}"#)
}
