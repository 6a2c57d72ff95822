//! Extensions of workspaces: what becomes of them from the first look to the last.

mod inspector;

pub use inspector::{Fault, Inspected, Inspector, NotInspected};
