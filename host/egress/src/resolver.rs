//! Names resolved once, and only to addresses that may be asked.
//!
//! The client connects to the very addresses that come from here, so a name cannot be one address when it is checked and
//! another when it is used.

use std::net::SocketAddr;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::address;

/// Resolves names through the system.
pub(crate) struct Resolver {
    /// Whether addresses of this machine may be reached.
    pub(crate) allow_loopback: bool,
}

/// Why a name is of no use.
#[derive(Debug, thiserror::Error)]
enum Unusable {
    #[error("the name of the host does not resolve")]
    Unknown,
    #[error("the name of the host resolves to an address that is not public")]
    NotPublic,
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let allow_loopback = self.allow_loopback;
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await.map_err(|_| Unusable::Unknown)?;
            let found: Vec<_> = found.collect();
            check(&found, allow_loopback)?;
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

/// One address that is not public spoils the name: whoever mixes them is up to something.
fn check(found: &[SocketAddr], allow_loopback: bool) -> Result<(), Unusable> {
    if found.is_empty() {
        return Err(Unusable::Unknown);
    }
    let all = found.iter().all(|address| address::may_reach(address.ip(), allow_loopback));
    if all { Ok(()) } else { Err(Unusable::NotPublic) }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn resolve(name: &str, allow_loopback: bool) -> Result<usize, String> {
        let resolved = Resolver { allow_loopback }.resolve(name.parse().unwrap()).await;
        resolved.map(Iterator::count).map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn a_name_of_this_machine_is_found_only_where_that_is_allowed() {
        assert!(resolve("localhost", true).await.unwrap() > 0);
        assert_eq!(resolve("localhost", false).await.unwrap_err(), Unusable::NotPublic.to_string());
        // RFC 6761: this name never resolves.
        assert_eq!(resolve("hook.invalid", true).await.unwrap_err(), Unusable::Unknown.to_string());
    }

    #[test]
    fn one_address_that_is_not_public_spoils_the_name() {
        let of = |text: &[&str]| text.iter().map(|text| text.parse().unwrap()).collect::<Vec<_>>();
        assert!(check(&of(&["8.8.8.8:0", "[2606:4700::1111]:0"]), false).is_ok());
        assert!(check(&of(&["8.8.8.8:0", "10.0.0.1:0"]), true).is_err());
        assert!(check(&of(&["8.8.8.8:0", "127.0.0.1:0"]), false).is_err());
        assert!(check(&[], true).is_err());
    }
}
