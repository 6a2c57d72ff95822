//! The operations of `/api/v1` as types.
//!
//! Every operation is a type that implements [`Operation`]: method, path, what it takes, what it answers, which scope
//! and permission it needs, and how its tool looks. REST routes, JSON Schemas, validation, the MCP tool list and the
//! OpenAPI document are all made from these types, so they cannot drift apart.

pub mod access;
pub mod error;
pub mod fields;
pub mod openapi;
pub mod operation;
pub mod operations;
pub mod page;
pub mod payload;
pub mod prompt;
pub mod question;
pub mod resource;
pub mod time;
pub mod tool;

pub use access::{Caller, Choice, Membership, Permission, Role, Scope};
pub use operation::{Described, Hints, Method, Nothing, Operation, Spec, TakenFile, WorkspaceRule};
pub use page::{Data, Page, PageMeta, PageQuery};
pub use time::Timestamp;
pub use tool::{Argument, Kind, Place, Tool};
