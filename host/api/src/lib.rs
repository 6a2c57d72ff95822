//! Everything behind `/api/v1`: handlers and domain rules.
//!
//! [`Api::router`] is served twice by the same code: over HTTP, behind a layer that turns a bearer token into a
//! [`kobana_contract::Caller`], and in process, by whoever speaks another protocol. Both put an
//! `Arc<kobana_contract::Caller>` into the request's extensions; nothing here knows a token.
//!
//! Every request goes the same way (inbox-api.yaml, Access): scope, workspace, permission, media type and size, body
//! and query, then the handler: existence, conflicts and rules. See `endpoint` for the way and `handlers` for its
//! end.

mod address;
mod api;
mod common;
mod context;
mod credentials;
mod cursor;
mod delivery;
mod document;
mod endpoint;
mod engine;
mod error;
pub mod extensions;
mod gate;
mod handlers;
mod idempotency;
pub mod intake;
mod json;
mod local;
mod lookup;
mod paging;
#[cfg(test)]
mod plans;
mod problems;
mod query;
mod reply;
mod schema;
mod upsert;
mod vault;
pub mod worker;

pub use api::{Api, BuildError, Settings, WebhookSettings};
pub use delivery::{Courier, CourierError};
pub use document::document;
pub use endpoint::{Prepare, Suggest};
pub use engine::{EngineSettings, Model, OpenAiSettings, SettingsError};
pub use error::ApiError;
pub use local::Local;
pub use problems::Problems;
