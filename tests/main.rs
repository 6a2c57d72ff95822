//! Black-box tests: each starts the real binary and talks to it over loopback, as a client would.
//!
//! Every module is named after the rules that it holds the server to. What is read here is what came over the wire, or what
//! the process printed; nothing looks inside.

// The whole crate is a test; clippy knows only functions marked as such.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod auth;
mod authorization;
mod bad_input;
mod completions;
mod confirmation;
mod cursors;
mod docs;
mod dual_era;
mod edge;
mod errors;
mod examples;
mod extension_lifecycle;
mod extension_test;
mod extensions;
mod founding_page;
mod framing;
mod harness;
mod headers;
mod http_layer;
mod identity;
mod lifecycle;
mod limits;
mod logs;
mod process;
mod prompts;
mod resources;
mod rest;
mod tenancy;
mod tools;
mod versions;
