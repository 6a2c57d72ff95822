//! The operations themselves, a module for each kind of row.

mod emails;
mod inboxes;
mod me;
mod workspaces;

use std::sync::Arc;

use axum::Router;
use jsonschema::ValidationError;
use kobana_contract::operations as ops;

use crate::context::Shared;
use crate::endpoint::mount;

/// Mounts the listed operations, in this order.
macro_rules! mount_each {
    ($router:expr, $shared:expr, $($operation:ty),+ $(,)?) => {{
        let router = $router;
        $(let router = mount::<$operation>(router, $shared)?;)+
        Ok(router)
    }};
}

/// Adds the route of every operation of the contract.
///
/// # Errors
/// When a schema of the contract does not compile.
pub(crate) fn mount_all(router: Router, shared: &Arc<Shared>) -> Result<Router, ValidationError<'static>> {
    mount_each!(
        router,
        shared,
        ops::me::GetMe,
        ops::workspaces::ListWorkspaces,
        ops::workspaces::GetWorkspace,
        ops::inboxes::ListInboxes,
        ops::inboxes::CreateInbox,
        ops::inboxes::UpsertInbox,
        ops::inboxes::GetInbox,
        ops::inboxes::UpdateInbox,
        ops::emails::ListEmails,
        ops::emails::GetEmail,
    )
}
