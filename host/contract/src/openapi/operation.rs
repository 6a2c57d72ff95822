//! One operation of the document.

use serde_json::{Map, Value, json};

use super::components::{Components, SECURITY, reference};
use super::refusals;
use crate::operation::{Shape, properties, required};
use crate::payload::WebhookPayload;
use crate::{Described, Hints, WorkspaceRule};

/// The media type of everything that is no file.
pub(super) const JSON: &str = "application/json";

/// The operation object.
pub(super) fn describe(described: &Described, components: &mut Components) -> Value {
    let spec = &described.spec;
    let scopes: Vec<_> = spec.scope.iter().collect();
    let mut operation = object(json!({
        "operationId": spec.id,
        "tags": [spec.tag],
        "summary": spec.summary,
        "security": [{ SECURITY: scopes }],
        "x-permission": spec.permission,
        "x-mcp": tool(spec.tool, spec.title, spec.hints),
        "responses": responses(described, components),
    }));
    if let Some(description) = spec.description {
        operation.insert("description".to_owned(), Value::from(description));
    }
    let parameters = parameters(described, components);
    if !parameters.is_empty() {
        operation.insert("parameters".to_owned(), Value::Array(parameters));
    }
    if let Some(body) = request_body(described, components) {
        operation.insert("requestBody".to_owned(), body);
    }
    Value::Object(operation)
}

/// What goes out to webhooks. It is no operation of the API, yet part of what its users deal with.
pub(super) fn webhooks(components: &mut Components) -> Value {
    let payload = components.output(|generator| generator.subschema_for::<WebhookPayload>());
    json!({ "delivery": { "post": {
        "operationId": "receive-delivery",
        "tags": ["Webhook deliveries"],
        "summary": "Shows what a subscriber's address gets; this call goes out and is not served here.",
        "security": [],
        "requestBody": { "required": true, "content": { JSON: { "schema": payload } } },
        "responses": { "2XX": { "description": "Any 2xx counts as delivered." } },
    } } })
}

fn tool(tool: Result<&str, &str>, title: &str, hints: Hints) -> Value {
    let mut facts = object(json!({
        "tool": tool.ok(),
        "title": title,
        "read_only": hints.read_only,
        "destructive": hints.destructive,
        "idempotent": hints.idempotent,
        "open_world": false,
    }));
    if let Err(reason) = tool {
        facts.insert("reason".to_owned(), Value::from(reason));
    }
    Value::Object(facts)
}

fn parameters(described: &Described, components: &mut Components) -> Vec<Value> {
    let mut parameters = Vec::new();
    if described.spec.workspace == WorkspaceRule::One {
        parameters.push(reference("parameters", "WorkspaceHeader"));
    }
    parameters.extend(listed("path", described.shapes.path, components));
    parameters.extend(listed("query", described.shapes.query, components));
    if described.spec.method.takes_key() {
        parameters.push(reference("parameters", "IdempotencyKey"));
    }
    parameters
}

/// The members of an object as parameters.
fn listed(place: &str, shape: Shape, components: &mut Components) -> Vec<Value> {
    let schema = components.input(shape);
    let needed = required(&schema);
    let parameter = |(name, member): (&String, &Value)| {
        let mut member = member.clone();
        let description = member.as_object_mut().and_then(|member| member.remove("description"));
        json!({
            "name": name,
            "in": place,
            "required": place == "path" || needed.contains(&name.as_str()),
            "description": description,
            "schema": member,
        })
    };
    properties(&schema).into_iter().flatten().map(parameter).collect()
}

fn request_body(described: &Described, components: &mut Components) -> Option<Value> {
    if let Some(file) = described.takes {
        let schema = json!({ "type": "string", "format": "binary", "x-max-bytes": file.max_bytes });
        return Some(json!({ "required": true, "content": { file.media_type: { "schema": schema } } }));
    }
    described.body.as_ref()?;
    let (schema, may_be_left_out) = components.body(described.shapes.body);
    Some(json!({ "required": !may_be_left_out, "content": { JSON: { "schema": schema } } }))
}

fn responses(described: &Described, components: &mut Components) -> Value {
    let success = components.success(described);
    let succeeded = described.spec.success.iter().map(|status| (status.to_string(), reference("responses", &success)));
    let refused = refusals::of(described).map(|refusal| (refusal.status.to_string(), refusal.reference()));
    Value::Object(succeeded.chain(refused).collect())
}

/// The members of a JSON object.
pub(super) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}
