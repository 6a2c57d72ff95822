//! What extensions offer, through the whole pipeline, natively, over a host that offers what a test says.

// The whole crate is a test; clippy knows only functions marked as such.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod check;
mod headers;
mod host;
mod lists;
mod prompts;
mod rounds;
mod tools;
