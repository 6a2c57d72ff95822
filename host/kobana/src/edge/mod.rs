//! The edge: where the component runs elsewhere and this process serves what it imports.

mod build;
mod cli;
mod endpoint;
mod keys;
mod settings;

pub(crate) use build::run;
pub(crate) use cli::Command;
pub(crate) use endpoint::{Endpoint, Open};
pub(crate) use settings::Edge;
