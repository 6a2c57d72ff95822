//! The API's router over a real database, called as its two users call it: with a caller in the extensions.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod agents;
mod bodies;
mod crash;
mod document;
mod emails;
mod extensions;
mod gates;
mod harness;
mod idempotency;
mod inboxes;
mod ingest;
mod mail;
mod models;
mod paging;
mod paths;
mod policy;
mod prepare;
mod processing;
mod records;
mod suggest;
mod webhooks;
mod workspaces;
