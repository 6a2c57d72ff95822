//! Names that callers see, and which of them may not be.
//!
//! With a prefix a tool or a prompt is called `ext.EXTENSION.NAME`, and no two are called alike. Without it a name may be one
//! that is built in, which is how an extension would pass for something else, or one of another extension. URIs carry no
//! prefix at all.

use std::collections::HashMap;

use kobana_contract::operations;
use kobana_contract::prompt::PROMPTS;

use super::description::Description;
use crate::error::ApiError;

/// The most names that a refusal lists.
const MOST: usize = 5;

/// Refuses what could not be told apart, if exactly these extensions were enabled.
///
/// # Errors
/// [`ApiError::InTheWay`] names what clashes, and with what.
pub(super) fn check(extensions: &[Description], prefix: bool) -> Result<(), ApiError> {
    if !prefix {
        let built_in = operations::tools().into_iter().map(|tool| tool.name);
        let tools = |it: &Description| it.tools.iter().map(|tool| tool.name.clone()).collect();
        unique("tools", "tool", built_in, extensions, tools, CHANGE)?;
        let built_in = PROMPTS.iter().map(|prompt| prompt.name);
        let prompts = |it: &Description| it.prompts.iter().map(|prompt| prompt.name.clone()).collect();
        unique("prompts", "prompt", built_in, extensions, prompts, CHANGE)?;
    }
    let none = std::iter::empty;
    let uris = |it: &Description| it.resources.iter().map(|resource| resource.uri.clone()).collect();
    unique("resources", "resource", none(), extensions, uris, DISABLE)?;
    let uris = |it: &Description| it.resource_templates.iter().map(|template| template.uri_template.clone()).collect();
    unique("resource_templates", "resource template", none(), extensions, uris, DISABLE)
}

const CHANGE: &str = "with the prefix on they could be told apart";
const DISABLE: &str = "one of the two extensions can be enabled at a time";

fn unique(
    field: &'static str,
    kind: &str,
    built_in: impl Iterator<Item = &'static str>,
    extensions: &[Description],
    names: impl Fn(&Description) -> Vec<String>,
    help: &str,
) -> Result<(), ApiError> {
    let mut owners: HashMap<String, Option<&str>> = built_in.map(|name| (name.to_owned(), None)).collect();
    let mut clashes = Vec::new();
    for extension in extensions {
        for name in names(extension) {
            match owners.get(&name) {
                Some(None) => clashes.push(format!("{name} of {} is called like a built-in one", extension.name)),
                Some(Some(other)) => {
                    clashes.push(format!("{name} of {} is called like one of {other}", extension.name))
                }
                None => {
                    owners.insert(name, Some(&extension.name));
                }
            }
        }
    }
    if clashes.is_empty() {
        return Ok(());
    }
    let more = clashes.len().saturating_sub(MOST);
    clashes.truncate(MOST);
    let more = if more == 0 { String::new() } else { format!("; and {more} more") };
    Err(ApiError::InTheWay { field, message: format!("The {kind} {}{more}; {help}.", clashes.join("; ")) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn extension(name: &str, tools: &[&str], prompts: &[&str], uris: &[&str]) -> Description {
        let hints = json!({ "read_only": true, "destructive": false, "idempotent": true, "open_world": false });
        let tool = |name: &&str| json!({ "name": name, "description": "x", "input_schema": "{}", "hints": hints });
        let tools: Vec<Value> = tools.iter().map(tool).collect();
        let prompts: Vec<Value> = prompts.iter().map(|name| json!({ "name": name, "arguments": [] })).collect();
        let resources: Vec<Value> = uris.iter().map(|uri| json!({ "uri": uri, "name": "x" })).collect();
        let text = json!({
            "name": name, "version": "1.0.0", "scopes": [], "tools": tools, "prompts": prompts, "resources": resources,
            "resource_templates": [],
        });
        Description::read(&text.to_string()).unwrap()
    }

    fn refusal(extensions: &[Description], prefix: bool) -> Option<(&'static str, String)> {
        match check(extensions, prefix) {
            Ok(()) => None,
            Err(ApiError::InTheWay { field, message }) => Some((field, message)),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn with_a_prefix_names_are_free() {
        let extensions = [extension("a", &["emails_list", "x"], &["x"], &[]), extension("b", &["x"], &["x"], &[])];
        assert_eq!(refusal(&extensions, true), None);
    }

    #[test]
    fn without_a_prefix_nothing_is_called_like_what_is_built_in() {
        let (field, message) = refusal(&[extension("a", &["emails_list"], &[], &[])], false).unwrap();
        assert_eq!(field, "tools");
        assert!(message.contains("The tool emails_list of a is called like a built-in one"), "{message}");
        let name = PROMPTS[0].name;
        let (field, message) = refusal(&[extension("a", &[], &[name], &[])], false).unwrap();
        assert!(field == "prompts" && message.contains(name), "{message}");
    }

    #[test]
    fn without_a_prefix_two_extensions_do_not_share_a_name() {
        let extensions = [extension("a", &["x"], &[], &[]), extension("b", &["x"], &[], &[])];
        let (field, message) = refusal(&extensions, false).unwrap();
        assert!(field == "tools" && message.contains("x of b is called like one of a"), "{message}");
        // A tool and a prompt may be called alike.
        assert_eq!(refusal(&[extension("a", &["x"], &["x"], &[])], false), None);
    }

    #[test]
    fn a_document_is_one_extensions_whatever_the_prefix() {
        let extensions = [extension("a", &[], &[], &["x://y"]), extension("b", &[], &[], &["x://y"])];
        for prefix in [true, false] {
            let (field, message) = refusal(&extensions, prefix).unwrap();
            assert!(field == "resources" && message.contains("x://y of b is called like one of a"), "{message}");
        }
    }

    #[test]
    fn a_refusal_stays_short() {
        let tools: Vec<_> = operations::tools().into_iter().map(|tool| tool.name).collect();
        let (_, message) = refusal(&[extension("a", &tools, &[], &[])], false).unwrap();
        assert!(message.contains(&format!("and {} more", tools.len() - MOST)), "{message}");
    }
}
