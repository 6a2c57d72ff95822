//! The database: connection, migrations, rows.
//!
//! * [`Store`] opens the database and hands out a connection for reading and transactions for writing.
//! * [`Scope`] is the only way to rows that belong to a tenant: every query and every write that goes through it holds
//!   the tenant's id and, where the rows have `deleted_at`, leaves deleted ones out. Entities are private to this
//!   crate, so a query that forgets the tenant does not compile elsewhere.
//! * [`page`] is keyset paging, newest rows first.
//! * [`jobs`] is the queue of work, [`blobs::Blobs`] the files that raw messages are in.
//! * [`operator`] looks across tenants, for the command line and the worker.
//! * [`people`], [`organizations`] and [`settings`] are what the identity side and the signing of cursors need.
//! * [`demo`] is the data of the demo profile.
//!
//! Times are microseconds since the Unix epoch, ids are UUIDs (version 7 for new rows), maps and lists are JSON.

pub mod blobs;
pub mod confirmations;
pub mod demo;
mod entity;
pub mod fault;
pub mod idempotency;
pub mod jobs;
mod migration;
pub mod operator;
pub mod organizations;
pub mod page;
pub mod people;
pub mod rows;
mod scope;
pub mod settings;
mod store;
pub mod text;
pub mod usage;
pub mod values;

pub use scope::{InOrganization, InWorkspace, Listed, Named, Row, Scope, SoftDelete, Table};
pub use sea_orm;
pub use store::{Location, OpenError, Store, Write};
