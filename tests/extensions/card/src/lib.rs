//! An extension whose name, version, tools and documents stand on a card: bytes of the component that a test overwrites.
//!
//! Its tools and documents answer with its name and version. A tool called `slow` waits before it does.
#![cfg(target_arch = "wasm32")]

#[allow(unsafe_code, missing_docs, reason = "generated")]
mod bindings;

use std::hint::black_box;
use std::time::Duration;

use bindings::Guest;
use bindings::kobana::extension::types::{
    Block, Content, Context, Description, Document, DocumentBody, Hints, Message, Prompt, PromptOutcome, PromptResult,
    Resource, ResourceOutcome, Role, Tool, ToolOutcome, ToolResult,
};

/// What a test looks for, and what it overwrites after that: name, version, tools, prompts and URIs. Each ends with a semicolon,
/// and commas are between several.
static CARD: [u8; 268] = {
    let mut card = [b' '; 268];
    let begins = b"kobana-card=card;1.0.0;hello;;;";
    let mut at = 0;
    while at < begins.len() {
        card[at] = begins[at];
        at += 1;
    }
    card
};

/// How long the tool called `slow` takes.
const SLOW: Duration = Duration::from_secs(2);

struct Card;

/// A field of the card, read at run time: the compiler must not know it.
fn field(number: usize) -> &'static str {
    let text = str::from_utf8(&black_box(&CARD)[12..]).unwrap_or_default();
    text.split(';').nth(number).unwrap_or_default()
}

fn fields(number: usize) -> impl Iterator<Item = String> {
    field(number).split(',').filter(|name| !name.is_empty()).map(str::to_owned)
}

/// What it answers, whatever it is asked.
fn answer() -> String {
    format!("{} {}", field(0), field(1))
}

fn block() -> Block {
    Block { content: Content::Text(answer()), annotations: None }
}

impl Guest for Card {
    fn describe() -> Description {
        let hints = Hints { read_only: true, destructive: false, idempotent: true, open_world: false };
        let tool = |name| Tool {
            name,
            title: None,
            description: "Says who answers".to_owned(),
            input_schema: r#"{"type":"object"}"#.to_owned(),
            output_schema: None,
            hints,
        };
        let prompt = |name| Prompt { name, title: None, description: None, arguments: Vec::new() };
        let resource = |uri: String| Resource {
            name: uri.clone(),
            uri,
            title: None,
            description: None,
            media_type: Some("text/plain".to_owned()),
        };
        Description {
            name: field(0).to_owned(),
            version: field(1).to_owned(),
            title: Some("A card".to_owned()),
            description: Some("Is whoever its card says.".to_owned()),
            scopes: Vec::new(),
            tools: fields(2).map(tool).collect(),
            resources: fields(4).map(resource).collect(),
            resource_templates: Vec::new(),
            prompts: fields(3).map(prompt).collect(),
        }
    }

    fn call_tool(name: String, _: String, _: Context) -> ToolOutcome {
        if name == "slow" {
            std::thread::sleep(SLOW);
        }
        ToolOutcome::Complete(ToolResult { content: vec![block()], structured: None })
    }

    fn read_resource(uri: String, _: Context) -> ResourceOutcome {
        ResourceOutcome::Complete(vec![Document { uri, media_type: None, body: DocumentBody::Text(answer()) }])
    }

    fn get_prompt(_: String, _: Vec<(String, String)>, _: Context) -> PromptOutcome {
        PromptOutcome::Complete(PromptResult {
            description: None,
            messages: vec![Message { role: Role::User, block: block() }],
        })
    }
}
