//! The gateway component: `wasi:http` or `kobana:api/exchange` in, [`kobana_protocol`] in the middle, `kobana:api/dispatch` out.
//!
//! There is no rule of the protocol here and no async runtime. Every import is synchronous, so a future of the protocol
//! is never pending and one poll finishes it. Nothing here panics on input: a panic would cost the whole instance.
//!
//! Built for anything but WebAssembly, the crate is empty.
#![cfg(target_arch = "wasm32")]

mod dispatch;
mod gateway;
mod p2;
mod typed;
// Not `bindings`: cargo-component writes a file of that name.
#[allow(unsafe_code, missing_docs, unreachable_pub, reason = "generated")]
mod wit;
