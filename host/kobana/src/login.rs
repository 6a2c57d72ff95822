//! Settings of the embedded authorization server, how it is started, and whose request it is told that it answers.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use axum::Router;
use http::{HeaderMap, HeaderName};
use ipnet::IpNet;
use kobana_authorization::{Authorization, Peer};
use kobana_contract::Scope;
use kobana_identity::AccessTokens;
use kobana_protocol::catalogue::FIRST_SCOPES;
use kobana_store::Store;
use serde::Deserialize;

use crate::failure::Failure;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Signing in, and the lifetimes of what comes of it. Durations are in seconds.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Login {
    /// How long somebody stays signed in on the pages.
    session_lifetime: u64,
    /// How long an access token is good: an hour at most, after which a key that signs no more may be taken off.
    access_lifetime: u64,
    /// How long a refresh token is good; each use gives a new one.
    refresh_idle: u64,
    /// How long a grant is good, however often it is refreshed.
    refresh_lifetime: u64,
    /// Sign-ins that one account may try within ten minutes.
    attempts: u32,
    /// Sign-ins that one address may try within ten minutes.
    attempts_per_address: u32,
    /// Clients that one address may register, and documents about clients that it may have fetched, within an hour.
    registrations: u32,
    /// Registered clients that are kept at the same time.
    max_clients: u64,
    /// Whether documents about clients may lie on this machine, by http too. The demo profile lets them where this is left out.
    allow_loopback: Option<bool>,
    /// Addresses or networks of proxies whose `X-Forwarded-For` is believed.
    trusted_proxies: Vec<String>,
}

const HOUR: u64 = 60 * 60;
const DAY: u64 = 24 * HOUR;

impl Default for Login {
    fn default() -> Self {
        Self {
            session_lifetime: DAY / 2,
            access_lifetime: HOUR,
            refresh_idle: 30 * DAY,
            refresh_lifetime: 90 * DAY,
            attempts: 10,
            attempts_per_address: 60,
            registrations: 100,
            max_clients: 10_000,
            allow_loopback: None,
            trusted_proxies: Vec::new(),
        }
    }
}

impl Login {
    fn settings(&self, demo: bool) -> Result<kobana_authorization::Settings, Failure> {
        let wrong = |name: &str| Failure::Config(format!("login.{name}: expected a number above zero"));
        let number = |name, value| NonZeroU32::new(value).ok_or_else(|| wrong(name));
        let seconds = |name, value: u64| match value {
            // A century is more than anybody means, and few enough seconds to be added to any time.
            1..=3_155_760_000 => Ok(Duration::from_secs(value)),
            0 => Err(wrong(name)),
            _ => Err(Failure::Config(format!("login.{name}: expected at most 3155760000 seconds"))),
        };
        if self.access_lifetime > HOUR {
            return Err(Failure::Config("login.access_lifetime: expected at most 3600 seconds".to_owned()));
        }
        Ok(kobana_authorization::Settings {
            session_lifetime: seconds("session_lifetime", self.session_lifetime)?,
            access_lifetime: seconds("access_lifetime", self.access_lifetime)?,
            refresh_idle: seconds("refresh_idle", self.refresh_idle)?,
            refresh_lifetime: seconds("refresh_lifetime", self.refresh_lifetime)?,
            attempts: number("attempts", self.attempts)?,
            attempts_per_address: number("attempts_per_address", self.attempts_per_address)?,
            registrations: number("registrations", self.registrations)?,
            max_clients: self.max_clients,
            allow_loopback: self.allow_loopback.unwrap_or(demo),
            first_scopes: FIRST_SCOPES.iter().filter_map(|name| Scope::parse(name)).collect(),
        })
    }

    fn proxies(&self) -> Result<Proxies, Failure> {
        let network = |(index, text): (usize, &String)| {
            let address = || text.parse::<IpAddr>().ok().map(IpNet::from);
            text.parse::<IpNet>().ok().or_else(address).ok_or_else(|| {
                Failure::Config(format!(
                    "login.trusted_proxies.{index} = {text}: expected an address or a network, such as 10.0.0.0/8"
                ))
            })
        };
        self.trusted_proxies.iter().enumerate().map(network).collect::<Result<_, _>>().map(Proxies)
    }
}

/// The embedded authorization server as this process serves it.
pub(crate) struct Pages {
    /// Everything under `/oauth`, and the server's metadata. Each request needs a [`Peer`].
    pub(crate) router: Router,
    /// Whose word about the sender of a request is believed.
    pub(crate) proxies: Proxies,
}

/// Starts the embedded authorization server that issues these tokens.
pub(crate) async fn open(login: &Login, demo: bool, store: &Store, tokens: AccessTokens) -> Result<Pages, Failure> {
    let (settings, proxies) = (login.settings(demo)?, login.proxies()?);
    let server = Authorization::new(store.clone(), tokens, settings).await;
    let server = server.map_err(|error| Failure::Data(error.to_string()))?;
    Ok(Pages { router: server.router(), proxies })
}

/// Proxies whose `X-Forwarded-For` is believed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Proxies(Vec<IpNet>);

impl Proxies {
    /// Who sent a request: the other end of the connection, or whom a believed proxy names. Each proxy adds whom it heard from at the
    /// end of the list, so it is read from there, for as long as the names are those of believed ones.
    pub(crate) fn peer(&self, connection: IpAddr, headers: &HeaderMap) -> Peer {
        let named = headers.get_all(FORWARDED_FOR).iter().filter_map(|line| line.to_str().ok());
        let named: Vec<_> = named.flat_map(|line| line.split(',')).map(str::trim).collect();
        let mut sender = connection.to_canonical();
        for name in named.into_iter().rev() {
            let (true, Ok(next)) = (self.believes(sender), name.parse::<IpAddr>()) else { break };
            sender = next.to_canonical();
        }
        Peer(sender)
    }

    fn believes(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address))
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn peer(proxies: &[&str], connection: &str, lines: &[&'static str]) -> String {
        let login =
            Login { trusted_proxies: proxies.iter().map(|&text| text.to_owned()).collect(), ..Login::default() };
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(FORWARDED_FOR, HeaderValue::from_static(line));
        }
        login.proxies().unwrap().peer(connection.parse().unwrap(), &headers).0.to_string()
    }

    #[test]
    fn nobody_is_believed_who_is_not_named() {
        assert_eq!(peer(&[], "192.0.2.1", &["198.51.100.7"]), "192.0.2.1");
        assert_eq!(peer(&["10.0.0.0/8"], "192.0.2.1", &["198.51.100.7"]), "192.0.2.1");
    }

    #[test]
    fn the_sender_is_the_last_one_who_is_no_proxy() {
        let proxies = ["10.0.0.0/8", "2001:db8::1"];
        assert_eq!(peer(&proxies, "10.1.2.3", &["203.0.113.9, 198.51.100.7"]), "198.51.100.7");
        assert_eq!(peer(&proxies, "10.1.2.3", &["203.0.113.9", "198.51.100.7, 10.9.9.9"]), "198.51.100.7");
        assert_eq!(peer(&proxies, "2001:db8::1", &["198.51.100.7"]), "198.51.100.7");
        assert_eq!(peer(&proxies, "::ffff:10.1.2.3", &["198.51.100.7"]), "198.51.100.7");
        assert_eq!(peer(&proxies, "10.1.2.3", &[]), "10.1.2.3");
        // What a proxy did not write as an address is nobody's word.
        assert_eq!(peer(&proxies, "10.1.2.3", &["198.51.100.7, unknown"]), "10.1.2.3");
        assert_eq!(peer(&proxies, "10.1.2.3", &["10.0.0.1, 10.0.0.2"]), "10.0.0.1");
    }

    #[test]
    fn what_cannot_be_is_named() {
        let fails =
            |login: Login| login.settings(false).map(|_| ()).and_then(|()| login.proxies().map(|_| ())).unwrap_err();
        for (login, name) in [
            (Login { attempts: 0, ..Login::default() }, "login.attempts:"),
            (Login { refresh_idle: 0, ..Login::default() }, "login.refresh_idle:"),
            (Login { session_lifetime: u64::MAX, ..Login::default() }, "login.session_lifetime:"),
            (Login { trusted_proxies: vec!["proxy.example".into()], ..Login::default() }, "login.trusted_proxies.0"),
        ] {
            let error = fails(login).to_string();
            assert!(error.contains(name), "{error}");
        }
    }
}
