//! How often strangers may try things.

use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

/// How many keys a limiter may hold before those that have all their tries again are forgotten.
const CROWDED: usize = 10_000;

/// A number of tries within a time, for each key; they come back evenly.
pub(crate) struct Limit<K: Hash + Eq + Clone>(DefaultKeyedRateLimiter<K>);

/// No try is left; seconds until there is one, at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooMany(pub(crate) u64);

impl<K: Hash + Eq + Clone> Limit<K> {
    pub(crate) fn new(tries: NonZeroU32, within: Duration) -> Self {
        let each = (within / tries.get()).max(Duration::from_nanos(1));
        let quota = Quota::with_period(each).unwrap_or(Quota::per_second(tries));
        Self(RateLimiter::keyed(quota.allow_burst(tries)))
    }

    /// Takes one try.
    pub(crate) fn take(&self, key: &K) -> Result<(), TooMany> {
        if self.0.len() > CROWDED {
            self.0.retain_recent();
        }
        self.0.check_key(key).map_err(|refusal| {
            let wait = refusal.wait_time_from(DefaultClock::default().now());
            TooMany(wait.as_secs() + 1)
        })
    }
}

/// What stands for somebody's address: of IPv6, a network, since each of its addresses is one person's to choose.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from(u128::from(address) & !(u128::from(u64::MAX)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tries_are_counted_by_key() {
        let limit = Limit::new(NonZeroU32::new(2).unwrap(), Duration::from_secs(600));
        assert_eq!((limit.take(&"a"), limit.take(&"a")), (Ok(()), Ok(())));
        let TooMany(wait) = limit.take(&"a").unwrap_err();
        assert!((290..=301).contains(&wait), "{wait}");
        assert_eq!(limit.take(&"b"), Ok(()));
    }

    #[test]
    fn a_network_of_ipv6_counts_as_one_address() {
        let of = |text: &str| network(text.parse().unwrap()).to_string();
        assert_eq!(of("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
        assert_eq!(of("::ffff:192.0.2.1"), "192.0.2.1");
        assert_eq!(of("192.0.2.1"), "192.0.2.1");
    }
}
