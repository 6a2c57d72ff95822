//! What an extension calls: the host side of `kobana:extension/api` and `/log`, as a trait.

use async_trait::async_trait;
pub use kobana_wire::{Request, Response};

/// Who is calling.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Who {
    /// The person, as a UUID.
    pub subject: String,
    /// The workspace, as a UUID.
    pub workspace: String,
    /// The scopes that the call has: those of the caller that the extension declares, too.
    pub scopes: Vec<String>,
    /// What the person may do in the workspace.
    pub permissions: Vec<String>,
}

/// Why there is no answer of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApiFailure {
    /// No answer in time; whether a write took effect is unknown.
    TimedOut,
    /// The API cannot be reached; seconds to wait.
    Unavailable(u32),
    /// A tool that says that it only reads asked for more, or nobody is calling.
    Refused,
    /// Something broke.
    Internal,
}

/// How much a line of the log matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// For the extension's developer.
    Debug,
    /// Worth knowing. What comes by standard output has this level.
    Info,
    /// Something is odd. What comes by standard error has this level.
    Warn,
    /// Something failed.
    Error,
}

/// What one call of an extension can reach. Whoever embeds the sandbox decides what that is: nothing is checked on the way.
#[async_trait]
pub trait Api: Send + Sync + 'static {
    /// Who is calling; nobody while an extension describes itself.
    fn who(&self) -> Option<Who>;

    /// Calls one operation. It runs on the async runtime that [`run`](super::Sandbox::run) was called on, and is dropped in the
    /// middle when the extension is stopped meanwhile. A panic is [`ApiFailure::Internal`] to the extension.
    async fn call(&self, request: Request) -> Result<Response, ApiFailure>;

    /// Takes a line of the log: what the extension writes to it, and each line of its standard output and error. It must not
    /// block.
    fn log(&self, level: Level, message: &str);
}

/// Nobody: no caller, no API, and a log that goes to `tracing` at level debug.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nobody;

#[async_trait]
impl Api for Nobody {
    fn who(&self) -> Option<Who> {
        None
    }

    async fn call(&self, _request: Request) -> Result<Response, ApiFailure> {
        Err(ApiFailure::Refused)
    }

    fn log(&self, level: Level, message: &str) {
        tracing::debug!(target: "kobana::extension", ?level, message, "extension");
    }
}
