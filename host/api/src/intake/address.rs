//! Addresses as mail headers have them, made plain.

use mail_parser::HeaderValue;
use url::Host;

use crate::schema::is_address;

/// The most addresses kept of one header; the original message has them all.
const MOST: usize = 1_000;

/// The plain addresses of a header, each once, in their order. What is none is left out.
pub(super) fn all(value: Option<&HeaderValue<'_>>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut add = |text: &str| {
        if let Some(address) = plain(text)
            && found.len() < MOST
            && !found.contains(&address)
        {
            found.push(address);
        }
    };
    match value {
        Some(HeaderValue::Address(list)) => list.iter().filter_map(|entry| entry.address()).for_each(&mut add),
        Some(HeaderValue::Text(text)) => add(text),
        Some(HeaderValue::TextList(list)) => list.iter().for_each(|text| add(text)),
        _ => {}
    }
    found
}

/// The address as `local@domain` in ASCII, an international domain in its ASCII form; none if it cannot be had so.
fn plain(text: &str) -> Option<String> {
    let text = text.trim().trim_start_matches('<').trim_end_matches('>').trim();
    let (local, domain) = text.rsplit_once('@')?;
    let address = match domain.is_ascii() {
        true => text.to_owned(),
        false => match Host::parse(domain).ok()? {
            Host::Domain(domain) => format!("{local}@{domain}"),
            Host::Ipv4(_) | Host::Ipv6(_) => return None,
        },
    };
    is_address(&address).then_some(address)
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn addresses_become_plain_or_nothing() {
        assert_eq!(plain(" <Ana@Example.com> ").as_deref(), Some("Ana@Example.com"));
        assert_eq!(plain("ana@cobrança.example").as_deref(), Some("ana@xn--cobrana-zxa.example"));
        for nothing in ["", "ana", "josé@b.example", "a b@c.example", "@", "a@[127.0.0.1]", "a@b@", "\"a b\"@c.example"]
        {
            assert_eq!(plain(nothing), None, "{nothing}");
        }
    }
}
