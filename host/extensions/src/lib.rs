//! Tenants' extensions: what they offer to whom, and how they are called.
//!
//! [`Registry`] answers for the workspaces of a database: which offers a caller has, and what comes of using one. [`Inspector`]
//! looks into a component before anybody may use it. Both stand on [`Loaded`], which is a component with what it says of
//! itself, and which a test of an extension uses directly. What an extension may do is decided in `desk`: it acts as its
//! caller, with no more than it declares, and no extension ever has more than that.
//!
//! Whoever reads the code begins with `registry.rs`, then `loaded.rs` and `extension.rs` (what is checked before and after a
//! call), `desk.rs` (what a call reaches) and `breaker.rs`.

mod breaker;
mod breakers;
mod catalogue;
mod desk;
mod extension;
mod inspector;
mod lanes;
mod lazy;
mod loaded;
mod log;
mod registry;
mod schema;
mod settings;

pub use breaker::BreakerSettings;
pub use desk::{Log, Visit};
pub use extension::Asked;
pub use inspector::Inspector;
pub use lazy::Lazy;
pub use loaded::Loaded;
pub use registry::Registry;
pub use settings::{Overrides, Settings, SettingsError};
