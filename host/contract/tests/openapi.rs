//! The OpenAPI document against the rules of OpenAPI 3.1 that need no network, and against the operations.

// Helpers of a test fail where they stand.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use std::collections::BTreeSet;

use kobana_contract::operation::properties;
use kobana_contract::{Method, WorkspaceRule, openapi, operations};
use serde_json::{Map, Value};

fn object(value: &Value) -> &Map<String, Value> {
    value.as_object().unwrap_or_else(|| panic!("no object: {value}"))
}

/// What a `$ref` points to, or the value itself.
fn resolved<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    let Some(reference) = value.get("$ref") else { return value };
    let pointer = reference.as_str().and_then(|text| text.strip_prefix('#')).unwrap();
    document.pointer(pointer).unwrap_or_else(|| panic!("{reference} points to nothing"))
}

/// Every operation of the document as `(path, method, operation)`.
fn operations_of<'a>(document: &'a Value) -> Vec<(&'a str, &'a str, &'a Value)> {
    let of_path = |(path, item): (&'a String, &'a Value)| {
        object(item).iter().map(move |(method, operation)| (path.as_str(), method.as_str(), operation))
    };
    object(&document["paths"]).iter().flat_map(of_path).collect()
}

fn walk<'a>(value: &'a Value, visit: &mut impl FnMut(&'a Map<String, Value>)) {
    match value {
        Value::Object(members) => {
            visit(members);
            members.values().for_each(|member| walk(member, visit));
        }
        Value::Array(items) => items.iter().for_each(|item| walk(item, visit)),
        _ => {}
    }
}

#[test]
fn it_lists_exactly_the_operations() {
    let document = openapi::document();
    let listed: BTreeSet<_> = operations_of(&document)
        .into_iter()
        .map(|(path, method, operation)| format!("{method} {path} {}", operation["operationId"].as_str().unwrap()))
        .collect();
    let name = |method: Method| method.as_str().to_lowercase();
    let typed: BTreeSet<_> = operations::all()
        .iter()
        .map(|operation| format!("{} {} {}", name(operation.spec.method), operation.spec.path, operation.spec.id))
        .collect();
    assert_eq!(listed, typed);
    assert_eq!(listed.len(), 50);
    let tools = |operation: &Value| operation["x-mcp"]["tool"].is_string();
    assert_eq!(operations_of(&document).iter().filter(|(_, _, operation)| tools(operation)).count(), 38);
}

#[test]
fn every_reference_leads_somewhere_and_every_component_is_used() {
    let document = openapi::document();
    let mut used = BTreeSet::new();
    walk(&document, &mut |members| {
        if let Some(Value::String(reference)) = members.get("$ref") {
            assert!(document.pointer(reference.strip_prefix('#').unwrap()).is_some(), "{reference}");
            used.insert(reference.as_str());
        }
    });
    for kind in ["parameters", "headers", "responses", "schemas"] {
        for name in object(&document["components"][kind]).keys() {
            assert!(used.contains(format!("#/components/{kind}/{name}").as_str()), "nobody uses {kind} {name}");
        }
    }
}

#[test]
fn it_follows_the_rules_of_openapi() {
    let document = openapi::document();
    assert_eq!(document["openapi"], "3.1.0");
    assert!(document["info"]["title"].is_string() && document["info"]["version"].is_string());
    let schemes = object(&document["components"]["securitySchemes"]);
    let tags: BTreeSet<_> = document["tags"].as_array().unwrap().iter().map(|tag| tag["name"].as_str()).collect();
    let mut ids = BTreeSet::new();
    for (path, method, operation) in operations_of(&document) {
        assert!(
            path.starts_with('/') && ["get", "put", "post", "delete", "patch"].contains(&method),
            "{method} {path}"
        );
        assert!(ids.insert(operation["operationId"].as_str().unwrap()), "{method} {path}");
        assert!(operation["tags"].as_array().unwrap().iter().all(|tag| tags.contains(&tag.as_str())));
        for requirement in operation["security"].as_array().unwrap() {
            assert!(object(requirement).keys().all(|scheme| schemes.contains_key(scheme)));
        }
        for (status, response) in object(&operation["responses"]) {
            assert!(status.parse::<u16>().is_ok_and(|status| (200..600).contains(&status)), "{status}");
            assert!(resolved(&document, response)["description"].is_string(), "{method} {path} {status}");
        }
    }
}

#[test]
fn parameters_are_complete_and_come_once() {
    let document = openapi::document();
    for (path, method, operation) in operations_of(&document) {
        let none = Vec::new();
        let parameters = operation["parameters"].as_array().unwrap_or(&none);
        let mut seen = BTreeSet::new();
        for parameter in parameters.iter().map(|parameter| resolved(&document, parameter)) {
            let (name, place) = (parameter["name"].as_str().unwrap(), parameter["in"].as_str().unwrap());
            assert!(seen.insert((place, name)), "{method} {path}: {name} comes twice");
            assert!(["path", "query", "header"].contains(&place) && parameter["schema"].is_object());
            assert!(place != "path" || parameter["required"] == true, "{method} {path}: {name}");
            assert!(parameter["description"].is_string(), "{method} {path}: {name}");
        }
        let variables = path.split('/').filter_map(|step| step.strip_prefix('{')?.strip_suffix('}'));
        let named: BTreeSet<_> = seen.iter().filter(|(place, _)| *place == "path").map(|(_, name)| *name).collect();
        assert_eq!(variables.collect::<BTreeSet<_>>(), named, "{method} {path}");
    }
}

#[test]
fn what_an_operation_takes_is_what_its_type_takes() {
    let document = openapi::document();
    for described in operations::all() {
        let spec = &described.spec;
        let operation = &document["paths"][spec.path][spec.method.as_str().to_lowercase()];
        let parameters: Vec<_> = operation["parameters"].as_array().into_iter().flatten().collect();
        let named = |name: &str| parameters.iter().any(|parameter| resolved(&document, parameter)["name"] == *name);
        assert_eq!(named("X-Workspace-Id"), spec.workspace == WorkspaceRule::One, "{}", spec.id);
        assert_eq!(named("X-Idempotency-Key"), spec.method.takes_key(), "{}", spec.id);
        assert!(properties(&described.query).into_iter().flatten().all(|(name, _)| named(name)), "{}", spec.id);
        let body = &operation["requestBody"]["content"]["application/json"]["schema"];
        let Some(typed) = &described.body else {
            assert!(body.is_null(), "{}", spec.id);
            continue;
        };
        let body = resolved(&document, body);
        assert_eq!(body["additionalProperties"], false, "{}", spec.id);
        assert!(properties(body).unwrap().keys().eq(properties(typed).unwrap().keys()), "{}", spec.id);
        assert_eq!(body["required"], typed["required"], "{}", spec.id);
    }
}

#[test]
fn schemas_have_the_names_and_the_look_of_the_contract() {
    let document = openapi::document();
    let schemas = object(&document["components"]["schemas"]);
    for name in ["Inbox", "InboxUpsert", "ExternalId", "Error", "ValidationDetails", "WebhookPayload", "PageMeta"] {
        assert!(schemas.contains_key(name), "{name}");
    }
    assert!(document["components"]["responses"].get("").is_none(), "a response has no name");
    let text = document.to_string();
    // What the types say of Rust, of null as a default, and of suffixes for two types of one name.
    for trace in ["int64", "uint32", "double", "$defs", "\"default\":null", "oneOf", "Nullable_"] {
        assert!(!text.contains(trace), "{trace}");
    }
    assert!(schemas.keys().all(|name| name.bytes().all(|byte| byte.is_ascii_alphabetic())), "{:?}", schemas.keys());
    assert_eq!(schemas["Permission"]["x-roles"]["owner"], "all");
    assert_eq!(schemas["Error"]["x-error-codes"]["404"], serde_json::json!(["not_found"]));
    assert_eq!(object(&document["components"]["securitySchemes"]["bearerAuth"]["x-scopes"]).len(), 14);
}
