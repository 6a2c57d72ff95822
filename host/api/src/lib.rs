//! Everything behind `/api/v1`: handlers and domain rules.
//!
//! There are two ways to the same endpoints. [`Api::router`] is for HTTP, behind a layer that turns a bearer token into a
//! [`kobana_contract::Caller`] and puts it into the request's extensions. [`Api::local`] is for whoever speaks another protocol in
//! this process and knows the caller already. Nothing here knows a token.
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
mod operations;
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
pub use engine::{EngineSettings, Model, OpenAiSettings, SettingsError};
pub use error::ApiError;
pub use local::{Local, LocalApi};
pub use problems::Problems;
