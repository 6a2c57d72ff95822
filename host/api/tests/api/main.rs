//! The API's router over a real database, called as its two users call it: with a caller in the extensions.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod agents;
mod bodies;
mod emails;
mod gates;
mod harness;
mod idempotency;
mod inboxes;
mod paging;
mod paths;
mod prepare;
mod records;
mod webhooks;
mod workspaces;
