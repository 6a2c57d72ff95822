//! Runs the gateway component in wasmtime and serves what it imports.
//!
//! [`Runtime`] takes a component, [`Limits`] and a [`Dispatch`](dispatch::Dispatch), and answers HTTP requests with them.
//! Guests are not trusted: what they may use is bounded, and one that breaks costs one answer, a 500 that says nothing.
//!
//! Whoever reads the code begins with `runtime.rs` (the way of a request), then `pool.rs` (who has an instance, and what ends
//! it), `door.rs` (how a request gets into one) and `load.rs` (what is linked).

mod answer;
#[allow(missing_docs, unreachable_pub, unsafe_code, clippy::all, reason = "generated")]
mod bindings;
mod body;
pub mod dispatch;
mod door;
pub mod extension;
mod gate;
mod host;
mod idle;
mod limits;
mod load;
mod pool;
mod runtime;
mod state;
mod stats;
mod stdio;
mod ticker;
mod wait;

pub use limits::{Limits, LimitsError};
pub use load::{Source, StartError};
pub use runtime::Runtime;
pub use stats::Stats;
