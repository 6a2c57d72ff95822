//! The OpenAPI 3.1 document of the API.
//!
//! Nothing of an operation is written here by hand: parameters, bodies, statuses and tools follow from the facts of
//! its type. What is written by hand is what all operations share: the introduction, the refusals and a few headers.

mod components;
mod operation;
mod refusals;

use serde_json::{Map, Value, json};

use crate::operations;
use components::Components;

/// Where the API is served, which every path of the document is below.
pub const BASE: &str = "/api/v1";
/// The path of the document itself, below [`BASE`].
pub const PATH: &str = "/openapi.json";
/// The version of the contract.
const VERSION: &str = "1.2.0";

/// Makes the document. It is the same every time and takes a moment, so keep it.
#[must_use]
pub fn document() -> Value {
    let operations = operations::all();
    let mut components = Components::new();
    let (mut tags, mut paths) = (Vec::new(), Map::new());
    for described in &operations {
        let tag = json!({ "name": described.spec.tag });
        if !tags.contains(&tag) {
            tags.push(tag);
        }
        let path = paths.entry(described.spec.path).or_insert_with(|| Value::Object(Map::new()));
        if let Some(path) = path.as_object_mut() {
            let method = described.spec.method.as_str().to_ascii_lowercase();
            path.insert(method, operation::describe(described, &mut components));
        }
    }
    let webhooks = operation::webhooks(&mut components);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Kobana Autonomous Inbox API",
            "version": VERSION,
            "description": include_str!("openapi/introduction.md"),
        },
        "servers": [{ "url": BASE }],
        "security": [{ components::SECURITY: [] }],
        "tags": tags,
        "paths": paths,
        "webhooks": webhooks,
        "components": components.finish(),
    })
}
