//! The edge adapter: `kobana:api/dispatch` for runtimes that have no such thing, over outgoing `wasi:http` to a host that does.
//!
//! Composed with the gateway it makes one component that runs on any runtime of WASI 0.2. Each function is one request to
//! the host, in the language of `kobana_wire`, and none is ever sent twice. The token of a person goes to the
//! host once, with `authenticate`; what follows carries the ticket that the host made of it.
//!
//! Built for anything but WebAssembly, the crate holds its configuration only, for the tests.

#[cfg(any(target_arch = "wasm32", test))]
mod config;
#[cfg(target_arch = "wasm32")]
mod convert;
#[cfg(target_arch = "wasm32")]
mod dispatch;
#[cfg(target_arch = "wasm32")]
mod http;
#[cfg(target_arch = "wasm32")]
mod upstream;
// Not `bindings`: cargo-component writes a file of that name.
#[cfg(target_arch = "wasm32")]
#[allow(unsafe_code, missing_docs, unreachable_pub, reason = "generated")]
mod wit;
