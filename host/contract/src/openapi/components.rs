//! What operations point to: schemas by the names of their types, responses, headers, and the two header parameters.

use std::collections::BTreeSet;

use schemars::{JsonSchema as _, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use super::operation::JSON;
use super::refusals;
use crate::fields::{IdOrExternalId, LONGEST_KEY};
use crate::operation::{Shape, tidy};
use crate::{Described, Permission, Role, Scope};

/// The name of the security scheme.
pub(super) const SECURITY: &str = "bearerAuth";
/// Where schemas stand.
const SCHEMAS: &str = "/components/schemas";

/// Points to a component.
pub(super) fn reference(kind: &str, name: &str) -> Value {
    json!({ "$ref": format!("#/components/{kind}/{name}") })
}

/// The name of the schema that `value` points to, if it does.
fn pointed_to(value: Option<&Value>) -> Option<&str> {
    value?.get("$ref")?.as_str()?.strip_prefix("#/components/schemas/")
}

/// Components, collected while operations are described.
pub(super) struct Components {
    /// Of what callers send: a member with a default may be left out.
    inputs: SchemaGenerator,
    /// Of what they get: a member is left out only if its type says so.
    outputs: SchemaGenerator,
    /// Names of bodies, which take no members but those they name.
    closed: BTreeSet<String>,
    responses: Map<String, Value>,
}

impl Components {
    pub(super) fn new() -> Self {
        let settings = || {
            SchemaSettings::draft2020_12().with(|settings| {
                settings.definitions_path = SCHEMAS.into();
                settings.meta_schema = None;
            })
        };
        Self {
            inputs: settings().for_deserialize().into_generator(),
            outputs: settings().for_serialize().into_generator(),
            closed: BTreeSet::new(),
            responses: Map::new(),
        }
    }

    /// A schema of what callers send.
    pub(super) fn input(&mut self, shape: Shape) -> Value {
        tidied(shape(&mut self.inputs).to_value())
    }

    /// A schema of what callers get.
    pub(super) fn output(&mut self, shape: Shape) -> Value {
        tidied(shape(&mut self.outputs).to_value())
    }

    /// The schema of a body, and whether it may be left out: its type then has a null, which stands for no body.
    pub(super) fn body(&mut self, shape: Shape) -> (Value, bool) {
        let schema = self.input(shape);
        let choices = schema.get("anyOf").and_then(Value::as_array);
        let named = choices.and_then(|choices| choices.iter().find(|choice| choice.get("$ref").is_some()));
        let (schema, may_be_left_out) = match named {
            Some(named) => (named.clone(), true),
            None => (schema, false),
        };
        self.closed.extend(pointed_to(Some(&schema)).map(str::to_owned));
        (schema, may_be_left_out)
    }

    /// Notes the response of success and gives its name: that of what it holds.
    pub(super) fn success(&mut self, described: &Described) -> String {
        let (name, response) = match described.gives {
            Some(media_type) => ("EmlFile".to_owned(), file(media_type)),
            None if described.spec.success.contains(&204) => {
                ("NoContent".to_owned(), json!({ "description": "Deleted." }))
            }
            None => self.json_document(described.shapes.reply),
        };
        self.responses.insert(name.clone(), response);
        name
    }

    fn json_document(&mut self, reply: Shape) -> (String, Value) {
        let mut schema = self.output(reply);
        // What the envelope has to say is the response's description, unless what it holds says more.
        let mut unsaid = |place| schema.pointer_mut(place).and_then(Value::as_object_mut)?.remove("description");
        let (envelope, _) = (unsaid(""), unsaid("/properties/data"));
        let thing = pointed_to(schema.pointer("/properties/data"));
        let row = pointed_to(schema.pointer("/properties/data/items"));
        let name = thing.map(str::to_owned).or_else(|| row.map(|row| format!("{row}List"))).unwrap_or_default();
        let said = thing.and_then(|thing| self.outputs.definitions().get(thing)?.get("description").cloned());
        let response = json!({ "description": said.or(envelope), "content": { JSON: { "schema": schema } } });
        (name, response)
    }

    /// The components object.
    pub(super) fn finish(mut self) -> Value {
        let parameters = self.parameters();
        let mut responses = refusals::responses(&mut self);
        responses.append(&mut self.responses);
        json!({
            "securitySchemes": { SECURITY: security() },
            "parameters": parameters,
            "headers": headers(),
            "responses": responses,
            "schemas": self.schemas(),
        })
    }

    fn parameters(&mut self) -> Value {
        let workspace = self.input(|generator| generator.subschema_for::<IdOrExternalId>());
        json!({
            "WorkspaceHeader": {
                "name": "X-Workspace-Id",
                "in": "header",
                "description": "Workspace to act on, by UUID or external_id; needed when the person reaches several.",
                "schema": workspace,
            },
            "IdempotencyKey": {
                "name": "X-Idempotency-Key",
                "in": "header",
                "description": "Chosen by the caller to make a repeated request safe.",
                "schema": { "type": "string", "minLength": 1, "maxLength": LONGEST_KEY },
            },
        })
    }

    fn schemas(&mut self) -> Value {
        let mut schemas = self.inputs.take_definitions(true);
        // A type of both directions looks the same in both; a test holds it to that.
        schemas.append(&mut self.outputs.take_definitions(true));
        for (name, schema) in &mut schemas {
            tidy(schema);
            let Some(members) = schema.as_object_mut() else { continue };
            if self.closed.contains(name) {
                members.insert("additionalProperties".to_owned(), Value::Bool(false));
            }
            match name.as_str() {
                "Permission" => members.insert("x-roles".to_owned(), roles()),
                "Error" => members.insert("x-error-codes".to_owned(), refusals::codes()),
                _ => None,
            };
        }
        Value::Object(schemas)
    }
}

fn tidied(mut schema: Value) -> Value {
    tidy(&mut schema);
    schema
}

fn file(media_type: &str) -> Value {
    let schema = json!({ "type": "string", "format": "binary" });
    json!({ "description": "The stored bytes, unchanged (RFC 5322).", "content": { media_type: { "schema": schema } } })
}

fn security() -> Value {
    json!({
        "type": "http",
        "scheme": "bearer",
        "description": "Access token issued for this API; one issued for the MCP endpoint is refused here. It carries the \
                        person, the organization and the scopes.",
        "x-scopes": scopes(),
    })
}

/// What every scope is for, as its type says.
fn scopes() -> Value {
    let schema = Scope::json_schema(&mut SchemaGenerator::default()).to_value();
    let words = schema.get("oneOf").and_then(Value::as_array);
    let about = |word: &Value| Some((word.get("const")?.as_str()?.to_owned(), word.get("description")?.clone()));
    Value::Object(words.into_iter().flatten().filter_map(about).collect())
}

/// The permissions of every role.
fn roles() -> Value {
    let of = |role: &Role| match role.permissions() {
        all if all == Permission::ALL => Value::from("all"),
        some => json!(some),
    };
    Value::Object(Role::ALL.iter().map(|role| (role.to_string(), of(role))).collect())
}

fn headers() -> Value {
    let integer = json!({ "type": "integer" });
    json!({
        "RetryAfter": { "description": "Seconds to wait.", "schema": { "type": "integer", "minimum": 0 } },
        "RateLimit": { "description": "Requests allowed in the window.", "schema": integer },
        "RateRemaining": { "description": "Requests left in the window.", "schema": integer },
        "RateReset": { "description": "When the window ends (Unix seconds).", "schema": integer },
        "Challenge": { "description": "Bearer challenge.", "schema": { "type": "string" } },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openapi::operation::{describe, webhooks};

    #[test]
    fn types_of_both_directions_look_the_same_in_both() {
        let mut components = Components::new();
        for described in crate::operations::all() {
            describe(&described, &mut components);
        }
        webhooks(&mut components);
        let (inputs, outputs) = (components.inputs.definitions(), components.outputs.definitions());
        let both: Vec<_> = inputs.iter().filter(|(name, _)| outputs.contains_key(*name)).collect();
        assert!(!both.is_empty());
        for (name, schema) in both {
            assert_eq!(Some(schema), outputs.get(name), "{name}");
        }
    }
}
