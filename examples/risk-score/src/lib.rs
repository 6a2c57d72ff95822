//! An extension that says how risky e-mails are, and why.
//!
//! [`score`] decides and knows nothing of WebAssembly, so `cargo test` runs it on this machine. The rest is compiled for the
//! component only: `api` calls the server, `describe` says what is offered, `tools`, `documents` and `prompts` answer.

pub mod score;

#[cfg(target_arch = "wasm32")]
mod api;
#[cfg(target_arch = "wasm32")]
mod describe;
#[cfg(target_arch = "wasm32")]
mod documents;
#[cfg(target_arch = "wasm32")]
mod prompts;
#[cfg(target_arch = "wasm32")]
mod tools;

/// What the WIT says, as Rust.
#[cfg(target_arch = "wasm32")]
#[allow(clippy::too_many_arguments, reason = "generated")]
mod bindings {
    wit_bindgen::generate!({ path: "wit", world: "extension" });

    use super::{describe, documents, prompts, tools};

    struct RiskScore;

    impl Guest for RiskScore {
        fn describe() -> Description {
            describe::description()
        }

        fn call_tool(name: String, arguments: String, context: Context) -> ToolOutcome {
            tools::call(&name, &arguments, &context)
        }

        fn read_resource(uri: String, _context: Context) -> ResourceOutcome {
            documents::read(&uri)
        }

        fn get_prompt(name: String, arguments: Vec<(String, String)>, _context: Context) -> PromptOutcome {
            prompts::get(&name, &arguments)
        }
    }

    export!(RiskScore);
}
