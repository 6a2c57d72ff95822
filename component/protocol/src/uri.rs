//! Addresses of documents: `kobana://inbox/…` (mcp-catalogue.md, Resources).
//!
//! An address is matched as it stands and each variable is decoded once. What could mean two things, an empty or dotted
//! segment, an encoded slash, a query, names no document.

use percent_encoding::percent_decode_str;

use crate::arguments;
use crate::catalogue::{RESOURCES, Resource, TEMPLATES, Template, URI_BASE};

/// The document that a URI names.
#[derive(Debug)]
pub(crate) enum Document {
    /// One at a fixed URI.
    Fixed(&'static Resource),
    /// One of a family, with the path that reads it.
    Member {
        /// The family.
        template: &'static Template,
        /// The path below the API's base.
        path: String,
    },
}

/// Reads a URI.
pub(crate) fn parse(uri: &str) -> Option<Document> {
    let path = uri.strip_prefix(URI_BASE)?;
    if let Some(resource) = RESOURCES.iter().find(|resource| resource.path == path) {
        return Some(Document::Fixed(resource));
    }
    TEMPLATES.iter().find_map(|template| Some(Document::Member { template, path: route(template, path)? }))
}

/// The route that reads the document at this path, if it is one of the family.
fn route(template: &Template, path: &str) -> Option<String> {
    let (pattern, segments) = (template.path.split('/'), path.split('/'));
    if pattern.clone().count() != segments.clone().count() {
        return None;
    }
    let mut route = template.route.to_owned();
    for (expected, found) in pattern.zip(segments) {
        let Some(name) = expected.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) else {
            if expected != found {
                return None;
            }
            continue;
        };
        let variable = template.variables.iter().find(|variable| variable.name == name)?;
        let segment = arguments::segment(&decode(found)?).ok()?;
        route = route.replace(&format!("{{{}}}", variable.fills), &segment);
    }
    Some(route)
}

/// Decodes a segment once. `None` for what RFC 3986 §3.3 does not allow in one, and for an encoded slash.
fn decode(segment: &str) -> Option<String> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@%".contains(&byte);
    let escapes = segment.split('%').skip(1);
    let hex = |escape: &str| escape.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2;
    if !segment.bytes().all(allowed) || !escapes.clone().all(hex) {
        return None;
    }
    let text = percent_decode_str(segment).decode_utf8().ok()?;
    (!text.contains('/')).then(|| text.into_owned())
}

/// The URI of the document that a template names for one id.
pub(crate) fn of_row(template: &str, id: &str) -> String {
    format!("{URI_BASE}{}", template.replace("{id}", id))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn route_of(uri: &str) -> Option<String> {
        match parse(uri)? {
            Document::Fixed(resource) => Some(resource.route.to_owned()),
            Document::Member { path, .. } => Some(path),
        }
    }

    #[test]
    fn documents_are_found_by_their_exact_address() {
        assert_eq!(route_of("kobana://inbox/me").as_deref(), Some("/me"));
        assert_eq!(route_of("kobana://inbox/inboxes/acme-old").as_deref(), Some("/inboxes/acme-old"));
        assert_eq!(route_of("kobana://inbox/inboxes/acme%2dold").as_deref(), Some("/inboxes/acme-old"));
    }

    #[test]
    fn whatever_could_mean_two_things_names_nothing() {
        for uri in [
            "kobana://inbox/",
            "kobana://inbox",
            "kobana://inbox/nope",
            "kobana://other/me",
            "https://inbox/me",
            "kobana:/inbox/me",
            "kobana://inbox/me/",
            "kobana://inbox/me?x=1",
            "kobana://inbox/me#x",
            "kobana://inbox//me",
            "kobana://inbox/emails/",
            "kobana://inbox/emails/..",
            "kobana://inbox/emails/%2e%2e",
            "kobana://inbox/emails/../webhooks/1",
            "kobana://inbox/emails/a%2Fb",
            "kobana://inbox/emails/a%",
            "kobana://inbox/emails/a%zz",
            "kobana://inbox/emails/%ff",
            "kobana://inbox/emails/a b",
            "kobana://inbox/emails/é",
            "kobana://inbox/emails/1?x",
            "kobana://inbox/%6de",
            "KOBANA://inbox/me",
            "kobana://user@inbox/me",
            "kobana://inbox:1/me",
        ] {
            assert_eq!(route_of(uri), None, "{uri}");
        }
    }

    proptest! {
        #[test]
        fn no_address_reaches_a_route_of_another_family(rest in r"[a-z/%.?#0-9A-F]{0,24}") {
            if let Some(route) = route_of(&format!("kobana://inbox/inboxes/{rest}")) {
                prop_assert!(route.starts_with("/inboxes/"));
                prop_assert_eq!(route.matches('/').count(), 2);
            }
        }
    }
}
