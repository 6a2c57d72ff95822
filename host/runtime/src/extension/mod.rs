//! Runs a tenant's extension: a component of the world `kobana:extension/extension` (`wit/extension/extension.wit`).
//!
//! [`Sandbox::compile`] makes an [`Artifact`] of its bytes, [`Sandbox::describe`] asks what it is, and [`Sandbox::run`] puts one
//! [`Question`] to it. Extensions are hostile until proven otherwise, and never are: each call has an instance of its own, which is
//! thrown away, and everything that it uses is bounded by [`Limits`]. It reaches nothing but an [`Api`]. What is run into ends
//! the call, and only the call, with a [`Stopped`] that names it.
//!
//! Whoever reads the code begins with `sandbox.rs` (the way of a call), then `state.rs` (what is counted) and `load.rs` (what is
//! linked). Whose turn it is
//! stands in `credit.rs` and `threads.rs`.

mod answer;
mod api;
#[allow(missing_docs, unreachable_pub, unsafe_code, clippy::all, reason = "generated")]
mod bindings;
mod credit;
mod host;
mod json;
mod load;
mod output;
mod sandbox;
mod settings;
mod shape;
mod state;
mod stopped;
mod threads;

pub use api::{Api, ApiFailure, Level, Nobody, Request, Response, Who};
pub use credit::{Credit, Share};
pub use load::{Artifact, Unfit};
pub use sandbox::{Context, Question, Sandbox};
pub use settings::{Limits, Settings};
pub use stopped::{Stopped, Trap, Usage};
