//! What lists gain by extensions, and what is offered to whoever fills in a prompt.

use kobana_wire::extension::Kind;

use super::address;
use crate::catalogue::URI_BASE;
use crate::dispatch::{Caller, Profile};
use crate::error::Error;
use crate::json;

/// The entries of a list: the built-in ones, then what extensions offer to this caller, in one call of the host.
///
/// Without the extensions there is no list: one that is sometimes shorter would be kept by clients as if it were whole.
pub(crate) async fn list<C: Caller>(
    caller: &C,
    profile: &Profile,
    kind: Kind,
    built_in: impl Iterator<Item = &'static str>,
) -> Result<String, Error> {
    let mut out = String::new();
    for definition in built_in {
        if !out.is_empty() {
            out.push(',');
        }
        out.push_str(definition);
    }
    // Without a workspace there is nobody's extension to ask.
    if profile.workspace.is_none() {
        return Ok(out);
    }
    let member = match kind {
        Kind::Tool | Kind::Prompt => "name",
        Kind::Resource => "uri",
        Kind::ResourceTemplate => "uriTemplate",
    };
    for offer in caller.offers(kind).await?.iter().filter(|offer| offer.missing_scope.is_none()) {
        if !out.is_empty() {
            out.push(',');
        }
        out.push_str("{\"");
        out.push_str(member);
        out.push_str("\":");
        json::push_string(&mut out, &offer.name);
        if !offer.definition.is_empty() {
            out.push(',');
            out.push_str(&offer.definition);
        }
        out.push('}');
    }
    Ok(out)
}

/// Whether a URI may be one of an extension: whatever begins like ours is ours.
pub(crate) fn is_foreign(uri: &str) -> bool {
    let scheme = |uri: &str| uri.split(':').next().unwrap_or_default().to_ascii_lowercase();
    uri.contains(':') && scheme(uri) != scheme(URI_BASE)
}

/// The values to offer for an argument of an extension's prompt. `None` where there is no such prompt, an inner one where it has no such
/// argument. A caller without its scope is offered nothing (decision 17).
pub(crate) async fn suggestions_of_prompt<C: Caller>(
    caller: &C,
    name: &str,
    argument: &str,
) -> Result<Option<Option<Vec<String>>>, Error> {
    let Some(offer) = caller.find_offer(Kind::Prompt, name.to_owned()).await? else { return Ok(None) };
    let values = offer.suggestions.into_iter().find(|(known, _)| known == argument).map(|(_, values)| values);
    Ok(Some(values.map(|values| if offer.missing_scope.is_none() { values } else { Vec::new() })))
}

/// The same for a variable of an extension's template, named by its text or by a URI that it leads to: nobody knows any values.
pub(crate) async fn suggestions_of_template<C: Caller>(
    caller: &C,
    uri: &str,
    variable: &str,
) -> Result<Option<Option<Vec<String>>>, Error> {
    if !is_foreign(uri) {
        return Ok(None);
    }
    let Some(offer) = caller.find_offer(Kind::ResourceTemplate, uri.to_owned()).await? else { return Ok(None) };
    let known = address::variables(&offer.name).unwrap_or_default().contains(&variable);
    Ok(Some(known.then(Vec::new)))
}
