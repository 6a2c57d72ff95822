//! The tools that mirror the operations (mcp-catalogue.md, Rules for every tool). Nothing here is written by hand: a
//! tool is what its operation's type says.

use serde_json::{Map, Value, json};

use crate::operation::{Described, Method, Spec, properties, required};

/// Where an argument goes in the request that a tool call becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// One segment of the path.
    Path,
    /// One parameter of the query.
    Query,
    /// One member of the JSON body.
    Body,
}

/// How a path or query argument is written, where the request knows only text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A JSON string.
    Text,
    /// A JSON integer.
    Integer,
    /// Any JSON; the handler alone judges it.
    Json,
}

/// One argument of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// Its name, the same as in the REST contract.
    pub name: String,
    /// Where it goes.
    pub place: Place,
    /// How it is written.
    pub kind: Kind,
    /// Whether it must be given.
    pub required: bool,
}

/// A tool as MCP lists it, and how a call becomes a request.
#[derive(Debug, Clone)]
pub struct Tool {
    /// The tool's name.
    pub name: &'static str,
    /// The operation behind it.
    pub spec: Spec,
    /// Its arguments: path, then query, then body.
    pub arguments: Vec<Argument>,
    /// The member of `tools/list`.
    pub definition: Value,
}

impl Tool {
    /// The tool of an operation, if it has one.
    #[must_use]
    pub fn of(operation: &Described) -> Option<Self> {
        let name = operation.spec.tool.ok()?;
        let parts = [
            (Place::Path, Some(&operation.path)),
            (Place::Query, Some(&operation.query)),
            (Place::Body, operation.body.as_ref()),
        ];
        let mut arguments: Vec<Argument> = Vec::new();
        let mut members = Map::new();
        for (place, schema) in parts.into_iter().filter_map(|(place, schema)| Some((place, schema?))) {
            let needed = required(schema);
            for (member, shape) in properties(schema).into_iter().flatten() {
                // A value that the query may carry instead of the body is one argument, in the body
                // (mcp-catalogue.md, inboxes_recipients_remove).
                let elsewhere = place == Place::Query && in_body(operation, member);
                if is_hidden(shape) || elsewhere {
                    continue;
                }
                arguments.push(Argument {
                    name: member.clone(),
                    place,
                    kind: kind_of(place, shape),
                    required: place == Place::Path || needed.contains(&member.as_str()),
                });
                members.insert(member.clone(), shape.clone());
            }
        }
        let definition = definition(&operation.spec, name, members, &arguments);
        Some(Self { name, spec: operation.spec, arguments, definition })
    }
}

fn in_body(operation: &Described, member: &str) -> bool {
    operation.spec.method == Method::Delete
        && operation.body.as_ref().and_then(properties).is_some_and(|body| body.contains_key(member))
}

fn is_hidden(shape: &Value) -> bool {
    shape.get("x-mcp-hidden").and_then(Value::as_bool) == Some(true)
}

fn kind_of(place: Place, shape: &Value) -> Kind {
    match (place, shape.get("type").and_then(Value::as_str)) {
        (Place::Body, _) => Kind::Json,
        (_, Some("integer")) => Kind::Integer,
        _ => Kind::Text,
    }
}

fn definition(spec: &Spec, name: &str, members: Map<String, Value>, arguments: &[Argument]) -> Value {
    let mut input = json!({ "type": "object", "properties": members, "additionalProperties": false });
    let needed: Vec<&str> = arguments.iter().filter(|a| a.required).map(|a| a.name.as_str()).collect();
    if let (Some(input), false) = (input.as_object_mut(), needed.is_empty()) {
        input.insert("required".to_owned(), json!(needed));
    }
    json!({
        "name": name,
        "title": spec.title,
        "description": spec.summary,
        "inputSchema": input,
        "annotations": {
            "title": spec.title,
            "readOnlyHint": spec.hints.read_only,
            "destructiveHint": spec.hints.destructive,
            "idempotentHint": spec.hints.idempotent,
            "openWorldHint": false,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations;

    #[test]
    fn every_tool_is_a_closed_object_with_four_hints() {
        let tools = operations::tools();
        assert!(!tools.is_empty());
        for tool in tools {
            let input = &tool.definition["inputSchema"];
            assert_eq!(input["type"], "object", "{}", tool.name);
            assert_eq!(input["additionalProperties"], false, "{}", tool.name);
            for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
                assert!(tool.definition["annotations"][hint].is_boolean(), "{} {hint}", tool.name);
            }
            assert!(!tool.definition.to_string().contains("$ref"), "{}", tool.name);
        }
    }

    #[test]
    fn hidden_members_are_no_arguments() {
        for tool in operations::tools() {
            assert!(tool.arguments.iter().all(|a| a.name != "allowed_recipients" && !a.name.starts_with("auth")));
        }
    }

    #[test]
    fn every_variable_of_a_path_is_an_argument() {
        for tool in operations::tools() {
            for variable in tool.spec.path.split('/').filter_map(|s| s.strip_prefix('{')?.strip_suffix('}')) {
                let argument = tool.arguments.iter().find(|a| a.name == variable);
                assert!(argument.is_some_and(|a| a.place == Place::Path && a.required), "{} {variable}", tool.name);
            }
        }
    }
}
