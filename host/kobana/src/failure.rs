//! Why the server does not start: one line for the person at the terminal.

use std::net::SocketAddr;

use kobana_runtime::StartError;
use kobana_store::OpenError;

/// What keeps the server from starting. The exit code is 2 for each.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// A setting is wrong.
    #[error("configuration: {0}")]
    Config(String),
    /// The address cannot be taken.
    #[error("cannot listen on {address}: {cause}")]
    Listen { address: SocketAddr, cause: std::io::Error },
    /// The database cannot be opened.
    #[error("{0}")]
    Store(#[from] OpenError),
    /// The database's first rows cannot be written.
    #[error("cannot prepare the database: {0}")]
    Data(String),
    /// What a command of the administration was asked for cannot be done.
    #[error("{0}")]
    Admin(String),
    /// The component cannot be run.
    #[error("component: {0}")]
    Component(#[from] StartError),
    /// The component runs, but not as the gateway does.
    #[error(
        "component: it does not ask for a token as the gateway does; what it says stands in the log at level debug"
    )]
    Unfit,
    /// The component for the edge cannot be made.
    #[error("cannot compose the component: {0}")]
    Compose(String),
    /// A file cannot be written.
    #[error("cannot write {}: {cause}", file.display())]
    Write { file: std::path::PathBuf, cause: std::io::Error },
    /// A file cannot be read.
    #[error("cannot read {}: {cause}", file.display())]
    Read { file: std::path::PathBuf, cause: std::io::Error },
    /// What the person handed over cannot be used: one line for each problem.
    #[error("{}", .0.join("\n"))]
    Unusable(Vec<String>),
    /// The operating system refuses.
    #[error("{what}: {cause}")]
    System { what: &'static str, cause: std::io::Error },
}
