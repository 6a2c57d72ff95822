//! What an operation of the API is: one type per operation, from which routes, schemas, tools and documentation come.

use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::access::{Permission, Scope, names};

names! {
    /// The HTTP methods that operations use.
    Method {
        /// Reads.
        Get = "GET",
        /// Creates, or starts something.
        Post = "POST",
        /// Creates or updates by external_id.
        Put = "PUT",
        /// Changes what is sent.
        Patch = "PATCH",
        /// Deletes.
        Delete = "DELETE",
    }
}

impl Method {
    /// Whether a request with it may carry an `X-Idempotency-Key`.
    #[must_use]
    pub const fn takes_key(self) -> bool {
        matches!(self, Self::Post | Self::Put | Self::Patch)
    }
}

/// Whether an operation is about one workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkspaceRule {
    /// It is: `X-Workspace-Id` is read, and one workspace must be picked.
    One,
    /// It is not: the header is ignored.
    None,
}

/// Hints for a client that shows or confirms a tool (protocol.md §9.2). `openWorldHint` is false everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hints {
    /// It only reads.
    pub read_only: bool,
    /// It deletes, sends something out, rotates a secret, or changes who may send to an inbox.
    pub destructive: bool,
    /// The same call again has no further effect.
    pub idempotent: bool,
}

impl Hints {
    /// Reads.
    pub const READ: Self = Self { read_only: true, destructive: false, idempotent: true };
    /// Writes something new with every call.
    pub const CREATE: Self = Self { read_only: false, destructive: false, idempotent: false };
    /// Writes the same again.
    pub const UPDATE: Self = Self { read_only: false, destructive: false, idempotent: true };
    /// Takes away or opens up; the same again changes nothing more.
    pub const REMOVE: Self = Self { read_only: false, destructive: true, idempotent: true };
    /// Sends out or starts again, with every call.
    pub const SEND: Self = Self { read_only: false, destructive: true, idempotent: false };
}

/// The fixed facts of an operation.
#[derive(Debug, Clone, Copy)]
pub struct Spec {
    /// The contract's `operationId`.
    pub id: &'static str,
    /// HTTP method.
    pub method: Method,
    /// Path below `/api/v1`, variables in braces.
    pub path: &'static str,
    /// The group it is documented in.
    pub tag: &'static str,
    /// One sentence; the tool's description.
    pub summary: &'static str,
    /// More, where there is more to say.
    pub description: Option<&'static str>,
    /// The scope that the credential needs; none where any will do.
    pub scope: Option<Scope>,
    /// The permission that the person needs.
    pub permission: Option<Permission>,
    /// Whether it is about one workspace.
    pub workspace: WorkspaceRule,
    /// The tool's name, or why there is no tool.
    pub tool: Result<&'static str, &'static str>,
    /// The tool's title.
    pub title: &'static str,
    /// The tool's hints.
    pub hints: Hints,
    /// Statuses of success, the usual one first.
    pub success: &'static [u16],
}

/// An operation as a type: its facts, what it takes and what it answers.
pub trait Operation: Send + Sync + 'static {
    /// The fixed facts.
    const SPEC: Spec;
    /// Variables of the path.
    type Path: DeserializeOwned + JsonSchema + Send;
    /// Parameters of the query.
    type Query: DeserializeOwned + JsonSchema + Send;
    /// Members of the JSON body.
    type Body: DeserializeOwned + JsonSchema + Send;
    /// The JSON document of the answer.
    type Reply: Serialize + JsonSchema + Send;
    /// The file that it takes instead of a JSON body.
    const TAKES: Option<TakenFile> = None;
    /// The media type of the file that it answers with instead of a JSON document.
    const GIVES: Option<&'static str> = None;
}

/// A request body that is no JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TakenFile {
    /// Its media type; any other is refused.
    pub media_type: &'static str,
    /// The most bytes that it may have.
    pub max_bytes: u64,
}

/// Takes nothing: no path variable, no query parameter or no body.
#[derive(Debug, Clone, Copy, Default, Serialize, serde::Deserialize, JsonSchema)]
pub struct Nothing {}

/// The schema of a type, made when it is asked for; types with a name of their own go to the generator's definitions.
pub type Shape = fn(&mut SchemaGenerator) -> Schema;

/// The schemas of an operation's types for a document that names each type once.
#[derive(Debug, Clone, Copy)]
pub struct Shapes {
    /// Object of the path variables.
    pub path: Shape,
    /// Object of the query parameters.
    pub query: Shape,
    /// The body.
    pub body: Shape,
    /// The answer.
    pub reply: Shape,
}

/// An operation with its schemas, its type forgotten.
#[derive(Debug, Clone)]
pub struct Described {
    /// The fixed facts.
    pub spec: Spec,
    /// Object schema of the path variables.
    pub path: Value,
    /// Object schema of the query parameters.
    pub query: Value,
    /// Object schema of the body, or none if there is no body.
    pub body: Option<Value>,
    /// Schema of the answer.
    pub reply: Value,
    /// The same schemas with the names of their types.
    pub shapes: Shapes,
    /// The file that it takes instead of a JSON body.
    pub takes: Option<TakenFile>,
    /// The media type of the file that it answers with instead of JSON.
    pub gives: Option<&'static str>,
}

impl Described {
    /// Describes one operation. Schemas are self-contained: nothing in them points elsewhere, shapes apart.
    #[must_use]
    pub fn of<O: Operation>() -> Self {
        let body = input_schema_of::<O::Body>();
        Self {
            spec: O::SPEC,
            path: input_schema_of::<O::Path>(),
            query: input_schema_of::<O::Query>(),
            body: properties(&body).is_some_and(|members| !members.is_empty()).then_some(body),
            reply: schema_of::<O::Reply>(),
            shapes: Shapes {
                path: <O::Path as JsonSchema>::json_schema,
                query: <O::Query as JsonSchema>::json_schema,
                body: SchemaGenerator::subschema_for::<O::Body>,
                reply: SchemaGenerator::subschema_for::<O::Reply>,
            },
            takes: O::TAKES,
            gives: O::GIVES,
        }
    }
}

/// The schema of what a caller sends: members that it does not name are refused.
fn input_schema_of<T: JsonSchema>() -> Value {
    let mut schema = schema_of::<T>();
    if let Some(object) = schema.as_object_mut() {
        object.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    schema
}

/// The schema of a type in JSON Schema 2020-12, references resolved in place.
#[must_use]
pub fn schema_of<T: JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut schema: Schema = SchemaGenerator::new(settings).into_root_schema_for::<T>();
    schema.remove("title");
    if schema.get("type").and_then(Value::as_str) == Some("object") && schema.get("properties").is_none() {
        schema.insert("properties".to_owned(), Value::Object(Map::new()));
    }
    let mut schema = schema.to_value();
    tidy(&mut schema);
    schema
}

/// Says what the types mean in the plainest words: a list of words is an `enum`, a member that may be left out has no
/// default unless it is of the member's own type, and how wide a number is in Rust is no format.
pub(crate) fn tidy(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if let Some(words) = members.get("oneOf").and_then(words) {
                members.remove("oneOf");
                members.insert("type".to_owned(), Value::from("string"));
                members.insert("enum".to_owned(), words);
            }
            if members.get("default").is_some_and(Value::is_null) {
                members.remove("default");
            }
            if members.get("format").and_then(Value::as_str).is_some_and(|format| WIDTHS.contains(&format)) {
                members.remove("format");
            }
            members.values_mut().for_each(tidy);
        }
        Value::Array(items) => items.iter_mut().for_each(tidy),
        _ => {}
    }
}

/// Formats that name a number's width.
const WIDTHS: [&str; 6] = ["double", "float", "int32", "int64", "uint32", "uint64"];

/// The words, if a `oneOf` is nothing but a choice of words.
fn words(choices: &Value) -> Option<Value> {
    choices.as_array()?.iter().map(|choice| choice.get("const").filter(|word| word.is_string()).cloned()).collect()
}

/// The members that an object schema names.
#[must_use]
pub fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties").and_then(Value::as_object)
}

/// The members that an object schema requires.
#[must_use]
pub fn required(schema: &Value) -> Vec<&str> {
    let names = schema.get("required").and_then(Value::as_array);
    names.map(|list| list.iter().filter_map(Value::as_str).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::emails::EmailFilter;

    #[test]
    fn schemas_say_what_a_caller_needs_and_nothing_of_rust() {
        let schema = schema_of::<EmailFilter>();
        let status = &schema["properties"]["status"];
        assert_eq!((&status["type"], status["enum"].as_array().map(Vec::len)), (&Value::from("string"), Some(6)));
        assert_eq!(schema["properties"]["limit"]["default"], 50);
        assert!(!schema.to_string().contains("oneOf") && !schema.to_string().contains(":null"));
        for operation in crate::operations::all() {
            let schemas = format!("{:?}", operation);
            assert!(!schemas.contains("int64") && !schemas.contains("double"), "{}", operation.spec.id);
        }
    }
}
