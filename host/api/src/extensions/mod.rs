//! Extensions of workspaces: what becomes of them from the first look to the last.
//!
//! A component is looked into first and written down after. Versions never change; which one is enabled is one column of one row,
//! so that callers see either the old one or the new one. What is in a component is the [`Inspector`]'s business.

mod description;
mod inspector;
mod lifecycle;
mod names;
mod state;

pub use inspector::{Fault, Inspected, Inspector, NotInspected};
pub use lifecycle::{Added, By, Lifecycle, plain};
