//! An extension that works until its arguments get to the edge of what its schemas allow, for tests of what tests extensions.
#![cfg(target_arch = "wasm32")]

#[allow(unsafe_code, missing_docs, reason = "generated")]
mod bindings;

use bindings::Guest;
use bindings::kobana::extension::api::{self, Method, Request};
use bindings::kobana::extension::log::{self, Level};
use bindings::kobana::extension::types::{
    Argument, Block, Content, Context, Description, Document, DocumentBody, Form, Hints, InputRequest, InputRequired,
    Message, Prompt, PromptOutcome, PromptResult, Question, Resource, ResourceOutcome, Role, Tool, ToolOutcome,
    ToolResult,
};
use serde_json::{Value, json};

struct Payments;

impl Guest for Payments {
    fn describe() -> Description {
        let tool = |name: &str, read_only: bool, input: Value, output: Option<Value>| Tool {
            name: name.to_owned(),
            title: None,
            description: format!("Does what is called {name}"),
            input_schema: input.to_string(),
            output_schema: output.map(|schema| schema.to_string()),
            hints: Hints { read_only, destructive: false, idempotent: true, open_world: false },
        };
        let pay = json!({"type": "object", "properties": {
            "amount": {"type": "integer", "minimum": 1, "maximum": 1000},
            "to": {"type": "string", "minLength": 1, "maxLength": 40},
            "note": {"type": "string", "maxLength": 200},
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 6},
        }, "required": ["amount", "to"], "additionalProperties": false});
        let paid = json!({"type": "object", "properties": {"total": {"type": "integer"}}, "required": ["total"]});
        let rename = json!({"type": "object", "properties": {
            "id": {"type": "string", "pattern": "^[a-z0-9-]{1,60}$"},
            "label": {"type": "string", "minLength": 1, "maxLength": 60},
        }, "required": ["id", "label"], "additionalProperties": false});
        Description {
            name: "payments".to_owned(),
            version: "1.2.0".to_owned(),
            title: None,
            description: None,
            scopes: vec!["inbox.inboxes.write".to_owned()],
            tools: vec![
                tool("pay", true, pay, Some(paid)),
                tool("rename", false, rename, None),
                tool("greet", true, json!({"type": "object", "additionalProperties": false}), None),
            ],
            resources: vec![Resource {
                uri: "payments://rules".to_owned(),
                name: "rules".to_owned(),
                title: None,
                description: None,
                media_type: Some("text/plain".to_owned()),
            }],
            resource_templates: Vec::new(),
            prompts: vec![Prompt {
                name: "remind".to_owned(),
                title: None,
                description: None,
                arguments: vec![Argument {
                    name: "tone".to_owned(),
                    title: None,
                    description: None,
                    required: true,
                    values: vec!["kind".to_owned(), "firm".to_owned()],
                }],
            }],
        }
    }

    fn call_tool(name: String, arguments: String, context: Context) -> ToolOutcome {
        let arguments: Value = serde_json::from_str(&arguments).expect("the server hands over JSON");
        match name.as_str() {
            "pay" => pay(&arguments),
            "rename" => rename(&arguments),
            "greet" => greet(&context),
            _ => unreachable!("the server asks for what there is"),
        }
    }

    fn read_resource(uri: String, _: Context) -> ResourceOutcome {
        let body = DocumentBody::Text("Nobody pays 1000.".to_owned());
        ResourceOutcome::Complete(vec![Document { uri, media_type: Some("text/plain".to_owned()), body }])
    }

    fn get_prompt(_: String, arguments: Vec<(String, String)>, _: Context) -> PromptOutcome {
        let tone = arguments.iter().find(|(name, _)| name == "tone").map_or("", |(_, tone)| tone);
        if !["kind", "firm"].contains(&tone) {
            return PromptOutcome::Error("the tone is kind or firm".to_owned());
        }
        PromptOutcome::Complete(PromptResult {
            description: None,
            messages: vec![Message { role: Role::User, block: block(&format!("Write a {tone} reminder.")) }],
        })
    }
}

/// Breaks at the largest amount, and answers what its schema does not allow when there are many tags.
fn pay(arguments: &Value) -> ToolOutcome {
    let amount = arguments["amount"].as_i64().expect("the schema asks for a whole number");
    assert!(amount < 1000, "nobody pays that much");
    let many = arguments["tags"].as_array().is_some_and(|tags| tags.len() > 5);
    let total = if many { json!("a lot") } else { json!(amount) };
    let content = vec![block(&format!("{amount} to {}", arguments["to"].as_str().unwrap_or_default()))];
    ToolOutcome::Complete(ToolResult { content, structured: Some(json!({ "total": total }).to_string()) })
}

/// Looks at an inbox and gives it another label.
fn rename(arguments: &Value) -> ToolOutcome {
    let path = format!("/inboxes/{}", arguments["id"].as_str().unwrap_or_default());
    let ask = |method, body: Option<Value>| {
        let body = body.map(|body| body.to_string().into_bytes());
        api::call(&Request { method, path: path.clone(), query: Vec::new(), body, idempotency_key: None })
    };
    match ask(Method::Get, None) {
        Ok(answer) if answer.status == 200 => {}
        Ok(answer) => return failed(&format!("the inbox cannot be read: {}", answer.status)),
        Err(failure) => return failed(&format!("the inbox cannot be read: {failure:?}")),
    }
    match ask(Method::Patch, Some(json!({ "label": arguments["label"] }))) {
        Ok(answer) if answer.status == 200 => {
            log::write(Level::Info, "renamed an inbox");
            ToolOutcome::Complete(ToolResult { content: vec![block("renamed")], structured: None })
        }
        Ok(answer) => failed(&format!("the inbox cannot be renamed: {}", answer.status)),
        Err(failure) => failed(&format!("the inbox cannot be renamed: {failure:?}")),
    }
}

/// Asks for a name first, and greets it.
fn greet(context: &Context) -> ToolOutcome {
    let Some(answers) = &context.answers else {
        let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
        let form = Form { message: "What is your name?".to_owned(), schema: schema.to_string() };
        let requests = vec![InputRequest { key: "name".to_owned(), question: Question::Form(form) }];
        return ToolOutcome::InputRequired(InputRequired { requests, state: Some(b"asked".to_vec()) });
    };
    assert_eq!(answers.state.as_deref(), Some(&b"asked"[..]), "the state comes back as it was");
    let answer = answers.responses.iter().find(|(key, _)| key == "name").map(|(_, answer)| answer.as_str());
    let answer: Value = answer.and_then(|answer| serde_json::from_str(answer).ok()).unwrap_or_default();
    match answer["content"]["name"].as_str() {
        Some(name) if answer["action"] == "accept" => {
            ToolOutcome::Complete(ToolResult { content: vec![block(&format!("Hello, {name}"))], structured: None })
        }
        _ => failed("nobody wants to be greeted"),
    }
}

fn failed(why: &str) -> ToolOutcome {
    ToolOutcome::Error(ToolResult { content: vec![block(why)], structured: None })
}

fn block(text: &str) -> Block {
    Block { content: Content::Text(text.to_owned()), annotations: None }
}
