//! The database: connection, migrations, rows.
//!
//! * [`Store`] opens the database and hands out a connection for reading and transactions for writing.
//! * [`Scope`] is the only way to rows that belong to a tenant: every query and every write that goes through it holds
//!   the tenant's id and, where the rows have `deleted_at`, leaves deleted ones out. Entities are private to this
//!   crate, so a query that forgets the tenant does not compile elsewhere.
//! * [`Remembered`] keeps what was read until something is committed, which a [`Moment`] sees.
//! * [`page`] is keyset paging, newest rows first.
//! * [`suggest`] finds the rows that complete what was typed.
//! * [`jobs`] is the queue of work, [`blobs::Blobs`] the files that raw messages are in.
//! * [`operator`] looks across tenants, for the command line and the worker.
//! * [`people`], [`organizations`] and [`settings`] are what the identity side and the signing of cursors need.
//! * [`clients`], [`grants`] and [`sessions`] are what the embedded authorization server keeps.
//! * [`tokens`] are the tokens of scripts; [`directory`] is the administration of organizations, workspaces and persons.
//! * [`extensions`] are the components that workspaces bring.
//! * [`demo`] is the data of the demo profile.
//!
//! Times are microseconds since the Unix epoch, ids are UUIDs (version 7 for new rows), maps and lists are JSON.

pub mod blobs;
pub mod clients;
pub mod confirmations;
pub mod demo;
pub mod directory;
mod entity;
pub mod extensions;
pub mod fault;
pub mod grants;
pub mod idempotency;
pub mod jobs;
mod migration;
pub mod operator;
pub mod organizations;
pub mod page;
pub mod people;
mod remembered;
pub mod rows;
mod scope;
pub mod sessions;
pub mod settings;
mod store;
pub mod suggest;
pub mod text;
pub mod tokens;
pub mod usage;
pub mod values;
mod watch;

pub use remembered::Remembered;
pub use scope::{InOrganization, InWorkspace, Listed, Named, Row, Scope, SoftDelete, Table};
pub use sea_orm;
pub use store::{Location, OpenError, Store, Write};
pub use watch::Moment;
