//! Starts the server, asks it, reads its answers.

mod answer;
mod built;
mod call;
mod component;
mod connection;
mod server;

use std::sync::Mutex;

pub(crate) use answer::Answer;
pub(crate) use call::{Call, ENVELOPE, MODERN, envelope};
pub(crate) use component::{Card, component};
pub(crate) use connection::Connection;
use server::WeakServer;
pub(crate) use server::{Server, Setup, wait_until};

/// A server that tests share which leave its data as they find it, or add rows of their own only. It runs as long as one of
/// them holds it.
pub(crate) fn shared() -> Server {
    static SHARED: Shared = Shared::new();
    SHARED.get(Server::demo)
}

/// The place of a server that tests share.
pub(crate) struct Shared(Mutex<WeakServer>);

impl Shared {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(WeakServer::none()))
    }

    /// The server that runs, or a new one.
    #[track_caller]
    pub(crate) fn get(&self, setup: impl FnOnce() -> Setup) -> Server {
        // A test that failed while it started one must not take the others along.
        let mut shared = self.0.lock().unwrap_or_else(|broken| broken.into_inner());
        Server::upgrade(&shared).unwrap_or_else(|| {
            let server = setup().start();
            *shared = server.downgrade();
            server
        })
    }
}

/// A word that no other test, and no other run, uses.
pub(crate) fn nonce(about: &str) -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("the clock is past 1970");
    format!("{about}-{:x}-{:x}", now.as_nanos(), NEXT.fetch_add(1, Ordering::Relaxed))
}
