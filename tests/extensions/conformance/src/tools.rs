//! The tools.

use serde_json::{Value, json};

use crate::bindings::kobana::extension::log::{Level, write};
use crate::bindings::kobana::extension::types::{Block, Context, InputRequest, ToolOutcome, ToolResult};
use crate::{media, questions};

pub(crate) fn call(name: &str, arguments: &str, context: &Context) -> ToolOutcome {
    let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
    let text = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
    match name {
        "test_simple_text" => say("This is a simple text response for testing."),
        "test_image_content" => complete(vec![media::image()]),
        "test_audio_content" => complete(vec![media::audio()]),
        "test_embedded_resource" => complete(vec![media::embedded(
            "test://embedded-resource",
            "text/plain",
            "This is an embedded resource content.",
        )]),
        "test_multiple_content_types" => complete(vec![
            media::text("Multiple content types test:"),
            media::image(),
            media::embedded("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#),
        ]),
        "test_error_handling" => ToolOutcome::Error(ToolResult {
            content: vec![media::text("This tool intentionally returns an error for testing")],
            structured: None,
        }),
        "test_tool_with_logging" | "test_logging_tool" => {
            for line in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
                write(Level::Info, line);
            }
            say("The tool has logged what it did.")
        }
        // There is nothing to tell the progress to: see the baselines of the referees.
        "test_tool_with_progress" => say("The tool has done its three steps."),
        "test_reconnection" => say("The tool has answered without closing anything."),
        "test_x_mcp_header" => say(&format!("region: {}", text("region"))),
        "json_schema_2020_12_tool" => say(&format!("arguments: {arguments}")),
        "test_sampling" => sampled(context, "llm", text("prompt"), "LLM response: "),
        "test_missing_capability" => sampled(context, "needed", "Is there a model?", "There is a model: "),
        "test_elicitation" => elicited(context, text("message"), &contact(), "User response: "),
        "test_elicitation_sep1034_defaults" => elicited(context, "Check the defaults.", &defaults(), DONE),
        "test_elicitation_sep1330_enums" => elicited(context, "Choose.", &choices(), DONE),
        "test_streaming_elicitation" => name_asked(context, None),
        _ => input_required(name, context),
    }
}

const DONE: &str = "Elicitation completed: ";

/// The scenarios of several rounds (protocol.md §15.1).
fn input_required(name: &str, context: &Context) -> ToolOutcome {
    match name {
        "test_input_required_result_elicitation" => name_asked(context, None),
        "test_input_required_result_sampling" => {
            sampled(context, "capital_question", "What is the capital of France?", "The model says: ")
        }
        "test_input_required_result_list_roots" => match questions::folders(context, "client_roots") {
            Some(folders) => say(&format!("roots: {}", folders.join(", "))),
            None => ask(vec![questions::roots("client_roots")], None),
        },
        "test_input_required_result_request_state" | "test_input_required_result_tampered_state" => sealed(context),
        "test_input_required_result_multiple_inputs" => many(context),
        "test_input_required_result_multi_round" => rounds(context),
        "test_input_required_result_capabilities" => capabilities(context),
        _ => ToolOutcome::Error(ToolResult {
            content: vec![media::text(&format!("there is no tool {name}"))],
            structured: None,
        }),
    }
}

fn complete(content: Vec<Block>) -> ToolOutcome {
    ToolOutcome::Complete(ToolResult { content, structured: None })
}

fn say(text: &str) -> ToolOutcome {
    complete(vec![media::text(text)])
}

fn ask(requests: Vec<InputRequest>, state: Option<&str>) -> ToolOutcome {
    ToolOutcome::InputRequired(questions::ask(requests, state))
}

fn name_asked(context: &Context, state: Option<&str>) -> ToolOutcome {
    match questions::filled_in(context, "user_name", "name") {
        Some(name) => say(&format!("Hello, {name}!")),
        None => ask(vec![questions::text_form("user_name", "What is your name?", "name")], state),
    }
}

fn sampled(context: &Context, key: &str, prompt: &str, before: &str) -> ToolOutcome {
    match questions::sampled(context, key) {
        Some(text) => say(&format!("{before}{text}")),
        None => ask(vec![questions::sampling(key, prompt, 100)], None),
    }
}

fn elicited(context: &Context, message: &str, schema: &Value, before: &str) -> ToolOutcome {
    match questions::answer(context, "response") {
        Some(answer) => {
            let part = |name: &str| answer.get(name).unwrap_or(&Value::Null).to_string();
            say(&format!("{before}action={}, content={}", part("action"), part("content")))
        }
        None => ask(vec![questions::form("response", message, schema)], None),
    }
}

/// Goes on only with the state that it gave out, which nobody else can make.
fn sealed(context: &Context) -> ToolOutcome {
    if questions::state(context) == Some("asked") && questions::ticked(context, "confirm") {
        return say("state-ok");
    }
    ask(vec![questions::yes_form("confirm", "Please confirm")], Some("asked"))
}

fn many(context: &Context) -> ToolOutcome {
    let name = questions::filled_in(context, "user_name", "name");
    let greeting = questions::sampled(context, "greeting");
    let folders = questions::folders(context, "client_roots");
    if let (Some("asked"), Some(name), Some(greeting), Some(folders)) =
        (questions::state(context), name, greeting, folders)
    {
        return say(&format!("{greeting} {name} works in {}", folders.join(", ")));
    }
    let requests = vec![
        questions::text_form("user_name", "What is your name?", "name"),
        questions::sampling("greeting", "Generate a greeting", 50),
        questions::roots("client_roots"),
    ];
    ask(requests, Some("asked"))
}

/// Two questions, one after the other; the state of the second holds the answer to the first.
fn rounds(context: &Context) -> ToolOutcome {
    let first = questions::filled_in(context, "step1", "name");
    let second = questions::filled_in(context, "step2", "color");
    let state = questions::state(context).unwrap_or_default();
    match (state, state.strip_prefix("name:"), first, second) {
        (_, Some(name), _, Some(color)) => say(&format!("{name} likes {color}.")),
        ("round-1", _, Some(name), _) => second_round(&format!("name:{name}")),
        (state, Some(_), _, None) => second_round(state),
        _ => ask(vec![questions::text_form("step1", "Step 1: What is your name?", "name")], Some("round-1")),
    }
}

fn second_round(state: &str) -> ToolOutcome {
    ask(vec![questions::text_form("step2", "Step 2: What is your favorite color?", "color")], Some(state))
}

/// Asks for as much as the client can be asked for.
fn capabilities(context: &Context) -> ToolOutcome {
    if context.answers.is_some() {
        return say("The client has answered.");
    }
    let mut requests = Vec::new();
    if context.client.form {
        requests.push(questions::text_form("user_name", "What is your name?", "name"));
    }
    if context.client.sampling {
        requests.push(questions::sampling("greeting", "Generate a greeting", 50));
    }
    if context.client.roots {
        requests.push(questions::roots("client_roots"));
    }
    if requests.is_empty() { say("The client cannot be asked.") } else { ask(requests, None) }
}

fn contact() -> Value {
    json!({
        "type": "object",
        "properties": {
            "username": {"type": "string", "description": "User's response"},
            "email": {"type": "string", "description": "User's email address"},
        },
        "required": ["username", "email"],
    })
}

fn defaults() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "default": "John Doe"},
            "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5},
            "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
            "verified": {"type": "boolean", "default": true},
        },
    })
}

fn choices() -> Value {
    let titled = |names: [(&str, &str); 3]| names.map(|(value, title)| json!({"const": value, "title": title}));
    let options = titled([("value1", "First Option"), ("value2", "Second Option"), ("value3", "Third Option")]);
    let choices = titled([("value1", "First Choice"), ("value2", "Second Choice"), ("value3", "Third Choice")]);
    let words = ["option1", "option2", "option3"];
    json!({
        "type": "object",
        "properties": {
            "untitledSingle": {"type": "string", "enum": words},
            "titledSingle": {"type": "string", "oneOf": options},
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": {"type": "array", "items": {"type": "string", "enum": words}},
            "titledMulti": {"type": "array", "items": {"anyOf": choices}},
        },
    })
}
