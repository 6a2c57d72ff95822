//! Events on their way to webhooks, over real HTTP to a receiver on this machine.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod asking;
mod events;
mod receiver;
mod sending;
mod trouble;
mod world;
