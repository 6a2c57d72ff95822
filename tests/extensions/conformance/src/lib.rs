//! What the scenarios of `@modelcontextprotocol/conformance` call by name: tools, resources and prompts that answer as the
//! suite's own descriptions of them say. Enabled without prefix, it makes the whole suite run through the sandbox.
//!
//! Every tool only reads, so that nothing is confirmed first: the suite has no hand to confirm with.
#![cfg(target_arch = "wasm32")]

#[allow(unsafe_code, missing_docs, unreachable_pub, clippy::all, reason = "generated")]
mod bindings;
mod describe;
mod media;
mod prompts;
mod questions;
mod resources;
mod tools;

use bindings::Guest;
use bindings::kobana::extension::types::{Context, Description, PromptOutcome, ResourceOutcome, ToolOutcome};

struct Conformance;

impl Guest for Conformance {
    fn describe() -> Description {
        describe::description()
    }

    fn call_tool(name: String, arguments: String, context: Context) -> ToolOutcome {
        tools::call(&name, &arguments, &context)
    }

    fn read_resource(uri: String, _context: Context) -> ResourceOutcome {
        resources::read(&uri)
    }

    fn get_prompt(name: String, arguments: Vec<(String, String)>, context: Context) -> PromptOutcome {
        prompts::get(&name, &arguments, &context)
    }
}
