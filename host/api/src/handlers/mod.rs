//! The operations themselves, a module for each kind of row.

pub(crate) mod agent_runs;
pub(crate) mod agents;
mod deliveries;
pub(crate) mod emails;
mod extensions;
pub(crate) mod inboxes;
mod me;
mod recipients;
mod system_events;
pub(crate) mod webhooks;
pub(crate) mod workspaces;

use jsonschema::ValidationError;
use kobana_contract::operations as ops;

use crate::operations::Operations;

/// Mounts the listed operations, in this order.
macro_rules! mount_each {
    ($operations:expr, $($operation:ty),+ $(,)?) => {{
        let operations = $operations;
        $(let operations = operations.mount::<$operation>()?;)+
        Ok(operations)
    }};
}

/// Mounts every operation of the contract.
///
/// # Errors
/// When a schema of the contract does not compile.
pub(crate) fn mount_all(operations: Operations) -> Result<Operations, ValidationError<'static>> {
    mount_each!(
        operations,
        ops::me::GetMe,
        ops::workspaces::ListWorkspaces,
        ops::workspaces::CreateWorkspace,
        ops::workspaces::GetWorkspace,
        ops::workspaces::UpdateWorkspace,
        ops::workspaces::DeleteWorkspace,
        ops::inboxes::ListInboxes,
        ops::inboxes::CreateInbox,
        ops::inboxes::UpsertInbox,
        ops::inboxes::GetInbox,
        ops::inboxes::UpdateInbox,
        ops::inboxes::DeleteInbox,
        ops::inboxes::AddAllowedRecipient,
        ops::inboxes::RemoveAllowedRecipient,
        ops::agents::ListAgents,
        ops::agents::CreateAgent,
        ops::agents::UpsertAgent,
        ops::agents::GetAgent,
        ops::agents::UpdateAgent,
        ops::agents::DeleteAgent,
        ops::webhooks::ListWebhooks,
        ops::webhooks::CreateWebhook,
        ops::webhooks::UpsertWebhook,
        ops::webhooks::GetWebhook,
        ops::webhooks::UpdateWebhook,
        ops::webhooks::DeleteWebhook,
        ops::webhooks::SendTestEvent,
        ops::webhooks::RegenerateSecret,
        ops::deliveries::ListDeliveries,
        ops::deliveries::GetDelivery,
        ops::deliveries::ReplayDelivery,
        ops::emails::ListEmails,
        ops::emails::GetEmail,
        ops::emails::IngestEmail,
        ops::emails::DownloadOriginal,
        ops::emails::ReprocessEmail,
        ops::agent_runs::ListAgentRuns,
        ops::agent_runs::GetAgentRun,
        ops::system_events::ListSystemEvents,
        ops::system_events::GetSystemEvent,
        ops::extensions::ListExtensions,
        ops::extensions::AddExtension,
        ops::extensions::GetExtensionSettings,
        ops::extensions::UpdateExtensionSettings,
        ops::extensions::GetExtension,
        ops::extensions::GetExtensionVersion,
        ops::extensions::EnableExtension,
        ops::extensions::DisableExtension,
        ops::extensions::RollBackExtension,
        ops::extensions::RemoveExtension,
    )
}
