//! The section `edge` of the configuration.

use std::net::SocketAddr;

use serde::Deserialize;

use crate::edge::keys::{Configured, Keys};
use crate::failure::Failure;

/// The endpoint that edge components ask. Off unless it has an address.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Edge {
    /// Address to listen on.
    listen: Option<SocketAddr>,
    /// Keys of edge components; each opens. To rotate, add a new one, give it to the components, and take the old one off.
    keys: Vec<Configured>,
    /// Questions answered at once.
    pub(crate) concurrency: usize,
}

impl Default for Edge {
    fn default() -> Self {
        Self { listen: None, keys: Vec::new(), concurrency: 256 }
    }
}

impl Edge {
    /// Where to listen and whom to answer, checked; none if the endpoint is off.
    pub(crate) fn endpoint(&self) -> Result<Option<(SocketAddr, Keys)>, Failure> {
        let keys = Keys::new(&self.keys)?;
        // A semaphore has no room for more.
        if !(1..=1_000_000).contains(&self.concurrency) {
            return Err(Failure::Config("edge.concurrency: expected 1 to 1000000".to_owned()));
        }
        match self.listen {
            Some(_) if keys.is_empty() => {
                Err(Failure::Config("edge.keys: expected at least one key, since edge.listen is set".to_owned()))
            }
            listen => Ok(listen.map(|address| (address, keys))),
        }
    }
}
