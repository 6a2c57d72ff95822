//! What a handler works with.

use std::sync::Arc;

use kobana_contract::{Caller, Operation, Timestamp};
use kobana_store::Store;
use kobana_store::blobs::Staged;

use crate::api::{Settings, WebhookSettings};
use crate::cursor::Cursors;
use crate::delivery::Courier;
use crate::extensions::Lifecycle;
use crate::intake::Intake;
use crate::paging::Paging;
use crate::vault::Vault;

/// What all requests share.
pub(crate) struct Shared {
    pub(crate) store: Store,
    pub(crate) settings: Settings,
    pub(crate) webhooks: WebhookSettings,
    pub(crate) vault: Vault,
    pub(crate) cursors: Cursors,
    pub(crate) intake: Intake,
    pub(crate) courier: Courier,
    pub(crate) extensions: Lifecycle,
}

/// Who calls, where, and with what.
pub(crate) struct Context<P> {
    pub(crate) shared: Arc<Shared>,
    pub(crate) caller: Arc<Caller>,
    /// Where the gate let the caller in.
    pub(crate) place: P,
    /// The time of the request.
    pub(crate) now: Timestamp,
}

impl<P> Context<P> {
    pub(crate) fn store(&self) -> &Store {
        &self.shared.store
    }
}

/// What was sent, checked against the contract.
pub(crate) struct Input<O: Operation> {
    pub(crate) path: O::Path,
    pub(crate) query: O::Query,
    pub(crate) body: O::Body,
    pub(crate) page: Paging,
    /// The file that came, for operations that take one.
    pub(crate) file: Option<Staged>,
}
