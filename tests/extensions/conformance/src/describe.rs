//! What the extension is.

use serde_json::{Value, json};

use crate::bindings::kobana::extension::types::{
    Argument, Description, Hints, Prompt, Resource, ResourceTemplate, Tool,
};

pub(crate) fn description() -> Description {
    Description {
        name: "conformance".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        title: Some("Conformance suite".to_owned()),
        description: Some("What the scenarios of the official conformance suite call by name.".to_owned()),
        scopes: Vec::new(),
        tools: tools(),
        resources: resources(),
        resource_templates: vec![ResourceTemplate {
            uri_template: "test://template/{id}/data".to_owned(),
            name: "Template".to_owned(),
            title: None,
            description: Some("A document that tells its own id".to_owned()),
            media_type: Some("application/json".to_owned()),
        }],
        prompts: prompts(),
    }
}

/// The tools without arguments, and what they do.
const PLAIN: &[(&str, &str)] = &[
    ("test_simple_text", "Answers a text"),
    ("test_image_content", "Answers a picture"),
    ("test_audio_content", "Answers a sound"),
    ("test_embedded_resource", "Answers a document"),
    ("test_multiple_content_types", "Answers a text, a picture and a document"),
    ("test_error_handling", "Always fails"),
    ("test_tool_with_logging", "Writes to the log of extensions"),
    ("test_logging_tool", "Writes to the log of extensions"),
    ("test_tool_with_progress", "Takes three steps"),
    ("test_reconnection", "Answers at once"),
    ("test_missing_capability", "Needs sampling"),
    ("test_streaming_elicitation", "Asks for a name"),
    ("test_elicitation_sep1034_defaults", "Asks with a form of defaults"),
    ("test_elicitation_sep1330_enums", "Asks with a form of choices"),
    ("test_input_required_result_elicitation", "Asks for a name"),
    ("test_input_required_result_sampling", "Asks the client's model"),
    ("test_input_required_result_list_roots", "Asks for the client's folders"),
    ("test_input_required_result_request_state", "Goes on only with its own state"),
    ("test_input_required_result_tampered_state", "Goes on only with its own state"),
    ("test_input_required_result_multiple_inputs", "Asks three things at once"),
    ("test_input_required_result_multi_round", "Asks twice"),
    ("test_input_required_result_capabilities", "Asks what the client can be asked"),
];

fn tools() -> Vec<Tool> {
    let mut tools: Vec<_> = PLAIN.iter().map(|(name, what)| tool(name, what, &json!({"type": "object"}))).collect();
    tools.push(tool("test_sampling", "Asks the client's model", &one_text("prompt", "What to ask")));
    tools.push(tool("test_elicitation", "Asks for a name and an address", &one_text("message", "What to say")));
    let region = json!({"type": "string", "description": "Stands in a header, too", "x-mcp-header": "Region"});
    let header = json!({"type": "object", "properties": {"region": region}, "required": ["region"]});
    tools.push(tool("test_x_mcp_header", "Answers the region", &header));
    let what = "Tool with JSON Schema 2020-12 features";
    tools.push(tool("json_schema_2020_12_tool", what, &json_schema()));
    tools
}

fn tool(name: &str, description: &str, input_schema: &Value) -> Tool {
    Tool {
        name: name.to_owned(),
        title: None,
        description: description.to_owned(),
        input_schema: input_schema.to_string(),
        output_schema: None,
        hints: Hints { read_only: true, destructive: false, idempotent: true, open_world: false },
    }
}

fn one_text(name: &str, description: &str) -> Value {
    let property = json!({"type": "string", "description": description});
    json!({"type": "object", "properties": {name: property}, "required": [name]})
}

/// The schema of the suite's scenario `json-schema-2020-12`.
fn json_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            },
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    })
}

fn resources() -> Vec<Resource> {
    let resource = |uri: &str, name: &str, description: &str, media_type: &str| Resource {
        uri: uri.to_owned(),
        name: name.to_owned(),
        title: None,
        description: Some(description.to_owned()),
        media_type: Some(media_type.to_owned()),
    };
    vec![
        resource("test://static-text", "Static text", "A text that never changes", "text/plain"),
        resource("test://static-binary", "Static picture", "A picture that never changes", "image/png"),
        resource("test://watched-resource", "Watched text", "A text that somebody may watch", "text/plain"),
    ]
}

fn prompts() -> Vec<Prompt> {
    let argument = |name: &str, description: &str, values: &[&str]| Argument {
        name: name.to_owned(),
        title: None,
        description: Some(description.to_owned()),
        required: true,
        values: values.iter().map(|&value| value.to_owned()).collect(),
    };
    let prompt = |name: &str, description: &str, arguments: Vec<Argument>| Prompt {
        name: name.to_owned(),
        title: None,
        description: Some(description.to_owned()),
        arguments,
    };
    vec![
        prompt("test_simple_prompt", "A text", Vec::new()),
        prompt(
            "test_prompt_with_arguments",
            "A text with two gaps",
            vec![
                argument("arg1", "First test argument", &["test", "testing", "other"]),
                argument("arg2", "Second test argument", &[]),
            ],
        ),
        prompt(
            "test_prompt_with_embedded_resource",
            "A document and what to do with it",
            vec![argument("resourceUri", "URI of the resource to embed", &[])],
        ),
        prompt("test_prompt_with_image", "A picture and what to do with it", Vec::new()),
        prompt("test_input_required_result_prompt", "A text that needs a context", Vec::new()),
    ]
}
