//! What a deployment decides.

use std::num::NonZeroU32;
use std::time::Duration;

use kobana_contract::Scope;

/// Lifetimes and limits of the authorization server.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How long somebody stays signed in on the pages.
    pub session_lifetime: Duration,
    /// How long an access token is good.
    pub access_lifetime: Duration,
    /// How long a refresh token is good; each use gives a new one.
    pub refresh_idle: Duration,
    /// How long a grant is good, however often it is refreshed.
    pub refresh_lifetime: Duration,
    /// Sign-ins that one account may try within ten minutes.
    pub attempts: NonZeroU32,
    /// Sign-ins that one address may try within ten minutes.
    pub attempts_per_address: NonZeroU32,
    /// Clients that one address may register within an hour.
    pub registrations: NonZeroU32,
    /// Registered clients that are kept at the same time.
    pub max_clients: u64,
    /// Whether documents about clients may lie on this machine, by http too.
    pub allow_loopback: bool,
    /// The scopes of a client that asks for none: those of the resource's metadata.
    pub first_scopes: Vec<Scope>,
}

/// How long a code is good.
pub(crate) const CODE_LIFETIME: i64 = 60;
/// Seconds in which a refresh token counts once more after it was replaced, while its successor has not been used.
pub(crate) const REFRESH_GRACE: i64 = 30;

/// A duration as the store counts: whole seconds.
pub(crate) fn seconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_secs()).unwrap_or(i64::MAX)
}
