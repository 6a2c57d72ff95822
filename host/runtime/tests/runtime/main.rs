//! The runtime with real components: one that does everything wrong, and the gateway.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "what is allowed in tests is not allowed in what they share"
)]

mod flow;
mod gateway;
mod hostile;
mod start;
mod support;
mod wire;
