//! Which addresses may be asked. This is the rule that can be told from the address itself; whoever sends looks again at what
//! a name resolves to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

/// The address is not one that may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("only public https addresses may be asked")]
pub struct NotAllowed;

/// Refuses addresses that are not public https ones; loopback is let through, by http too, where `loopback` says so.
///
/// # Errors
/// [`NotAllowed`].
pub fn check(address: &str, loopback: bool) -> Result<(), NotAllowed> {
    let url = Url::parse(address).map_err(|_| NotAllowed)?;
    let local = is_loopback(&url);
    let scheme = url.scheme() == "https" || (loopback && local && url.scheme() == "http");
    // Credentials have fields of their own, which are not shown.
    let bare = url.username().is_empty() && url.password().is_none();
    let reachable = url.host().is_some_and(|host| is_public(&host)) || (loopback && local);
    if scheme && bare && reachable { Ok(()) } else { Err(NotAllowed) }
}

/// Whether a connection may be made to an IP address that a name resolved to; loopback is let through where `loopback` says so.
pub(crate) fn may_reach(ip: IpAddr, loopback: bool) -> bool {
    is_public_ip(ip) || (loopback && ip.to_canonical().is_loopback())
}

/// Whether a URL is of this machine: by name, or by an address of the loopback network.
#[must_use]
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    }
}

/// Whether a host may be on the public internet. Names are judged by their form only.
fn is_public(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => is_public_name(name),
        Host::Ipv4(ip) => is_public_ip(IpAddr::V4(*ip)),
        Host::Ipv6(ip) => is_public_ip(IpAddr::V6(*ip)),
    }
}

fn is_public_name(name: &str) -> bool {
    let name = name.trim_end_matches('.');
    let last = name.rsplit('.').next().unwrap_or_default();
    name.contains('.') && !matches!(last, "localhost" | "local" | "internal" | "arpa" | "home" | "lan" | "onion")
}

/// Whether an IP address is routed on the public internet (IANA special-purpose registries, RFC 6890).
fn is_public_ip(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => match embedded(ip) {
            Some(ip) => is_public_v4(ip),
            None => is_public_v6(ip),
        },
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    let special = ip.is_private()
        || ip.is_loopback()
        || ip.is_link_local()
        || ip.is_documentation()
        || ip.is_multicast()
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (18..20).contains(&b));
    !special
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    let [first, second, ..] = ip.segments();
    // Global unicast is 2000::/3; within it documentation (2001:db8::/32, 3fff::/20) and the protocol blocks (2001::/23).
    let global = first & 0xe000 == 0x2000;
    let special = (first == 0x2001 && (second == 0x0db8 || second < 0x0200)) || (first == 0x3fff && second < 0x1000);
    global && !special
}

/// The IPv4 address that an IPv6 address stands for: mapped, translated (64:ff9b::/96) or 6to4 (2002::/16).
fn embedded(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    if let Some(mapped) = ip.to_ipv4_mapped() {
        return Some(mapped);
    }
    let of = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match ip.segments() {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(of(high, low)),
        [0x2002, high, low, ..] => Some(of(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_https_addresses_are_allowed() {
        for url in [
            "https://erp.supplier.example/hook",
            "https://8.8.8.8:8443/x?y",
            "https://[2606:4700::1111]/",
            "HTTPS://A.example",
        ] {
            assert!(check(url, false).is_ok(), "{url}");
        }
    }

    #[test]
    fn others_are_not_however_they_are_written() {
        for url in [
            "http://erp.supplier.example/",
            "ftp://a.example/",
            "https://user@a.example/",
            "https://u:p@a.example/",
            "https://localhost/",
            "https://a.localhost/",
            "https://localhost./",
            "https://intranet/",
            "https://db.internal/",
            "https://127.0.0.1/",
            "https://127.1/",
            "https://2130706433/",
            "https://0x7f.0.0.1/",
            "https://0177.0.0.1/",
            "https://10.0.0.1/",
            "https://172.16.0.1/",
            "https://192.168.1.1/",
            "https://169.254.169.254/latest",
            "https://100.64.0.1/",
            "https://0.0.0.0/",
            "https://224.0.0.1/",
            "https://255.255.255.255/",
            "https://[::1]/",
            "https://[::]/",
            "https://[fe80::1]/",
            "https://[fd00::1]/",
            "https://[::ffff:10.0.0.1]/",
            "https://[64:ff9b::7f00:1]/",
            "https://[2002:7f00:1::]/",
            "https://[2001:db8::1]/",
            "javascript:alert(1)",
            "https://",
            "not a url",
            "file:///etc/passwd",
            "https://１２７.0.0.1/",
        ] {
            assert!(check(url, false).is_err(), "{url}");
        }
    }

    #[test]
    fn loopback_is_allowed_where_the_settings_say_so() {
        for url in ["http://127.0.0.1:9000/hook", "http://localhost:9000/", "https://[::1]/"] {
            assert!(check(url, true).is_ok(), "{url}");
        }
        for url in
            ["http://10.0.0.1/", "http://erp.supplier.example/", "https://169.254.169.254/", "http://a.localhost/"]
        {
            assert!(check(url, true).is_err(), "{url}");
        }
    }

    #[test]
    fn what_a_name_resolves_to_is_judged_again() {
        for ip in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"] {
            let ip = ip.parse().unwrap();
            assert!(may_reach(ip, true) && !may_reach(ip, false), "{ip}");
        }
        for ip in ["0.0.0.0", "10.1.1.1", "100.64.0.1", "169.254.169.254", "192.0.2.1", "224.0.0.1", "::", "fe80::1"] {
            assert!(!may_reach(ip.parse().unwrap(), true), "{ip}");
        }
        for ip in ["fc00::1", "ff02::1", "64:ff9b::a00:1", "64:ff9b:1::1", "::ffff:192.168.0.1", "::10.0.0.1"] {
            assert!(!may_reach(ip.parse().unwrap(), true), "{ip}");
        }
        assert!(may_reach("64:ff9b::808:808".parse().unwrap(), false));
    }
}
