//! Looks into components before anybody may use them.

use std::sync::Arc;

use async_trait::async_trait;
use kobana_api::extensions::{Inspected, NotInspected};
use kobana_runtime::extension::{Credit, Limits, Share};
use tokio::sync::Semaphore;

use crate::lazy::Lazy;
use crate::loaded::Loaded;

/// Seconds after which a component may be handed in again.
const RETRY_AFTER: u32 = 5;
/// How many components are looked into at a time: they may be large, and compiling one takes a processor.
const AT_ONCE: usize = 2;

/// Compiles, links, asks and checks.
#[derive(Debug)]
pub struct Inspector {
    sandbox: Lazy,
    limits: Limits,
    /// Of all workspaces together: nobody adds extensions all the time.
    credit: Arc<Credit>,
    turns: Semaphore,
}

impl Inspector {
    /// Looks into components in this sandbox, within these limits and this share.
    #[must_use]
    pub fn new(sandbox: Lazy, limits: Limits, share: &Share) -> Self {
        Self { sandbox, limits, credit: Arc::new(Credit::new(share)), turns: Semaphore::new(AT_ONCE) }
    }
}

#[async_trait]
impl kobana_api::extensions::Inspector for Inspector {
    async fn inspect(&self, component: Vec<u8>) -> Result<Inspected, NotInspected> {
        let unavailable = |cause: String| NotInspected::Unavailable { retry_after: RETRY_AFTER, cause };
        let _turn = self.turns.acquire().await.map_err(|problem| unavailable(problem.to_string()))?;
        let sandbox = self.sandbox.get().await.map_err(|problem| unavailable(problem.to_string()))?;
        let loaded = Loaded::load(sandbox, &self.limits, &self.credit, component.into()).await?;
        let text = |json: serde_json::Result<String>| json.map_err(|problem| unavailable(problem.to_string()));
        Ok(Inspected {
            name: loaded.description().name.clone(),
            version: loaded.description().version.clone(),
            description: text(serde_json::to_string(loaded.description()))?,
            definitions: text(serde_json::to_string(loaded.definitions()))?,
        })
    }
}
