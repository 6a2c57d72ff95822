//! What answers MCP: the gateway component in the runtime. Nothing else in this crate knows what is behind the name.

pub(crate) use kobana_runtime::{Runtime, Source};

/// The gateway component that `build.rs` made.
pub(crate) static GATEWAY: &[u8] = include_bytes!(env!("KOBANA_GATEWAY_WASM"));
