//! The operations themselves, a module for each kind of row.

pub mod agent_runs;
pub mod agents;
pub mod deliveries;
pub mod emails;
pub mod extensions;
pub mod inboxes;
pub mod me;
pub mod system_events;
pub mod webhooks;
pub mod workspaces;

use crate::{Described, Tool};

/// Every operation, in the order in which tools are listed.
#[must_use]
pub fn all() -> Vec<Described> {
    [
        me::all(),
        workspaces::all(),
        inboxes::all(),
        agents::all(),
        webhooks::all(),
        deliveries::all(),
        emails::all(),
        agent_runs::all(),
        system_events::all(),
        extensions::all(),
    ]
    .concat()
}

/// Every tool, in the order in which it is listed.
#[must_use]
pub fn tools() -> Vec<Tool> {
    all().iter().filter_map(Tool::of).collect()
}
