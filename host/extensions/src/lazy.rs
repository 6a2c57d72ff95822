//! The sandbox, from the moment that somebody needs it.

use std::path::PathBuf;
use std::sync::Arc;

use kobana_runtime::StartError;
use kobana_runtime::extension::{Sandbox, Settings};
use tokio::sync::OnceCell;

/// Where extensions run, as soon as one does: an installation without any pays for none. Clones share it.
#[derive(Debug, Clone)]
pub struct Lazy(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    settings: Settings,
    cache: Option<PathBuf>,
    sandbox: OnceCell<Sandbox>,
}

impl Lazy {
    /// A sandbox with these settings. Compiled code is kept in `cache`.
    #[must_use]
    pub fn new(settings: Settings, cache: Option<PathBuf>) -> Self {
        Self(Arc::new(Inner { settings, cache, sandbox: OnceCell::new() }))
    }

    /// The sandbox, which is set up now if it has not been before.
    ///
    /// # Errors
    /// Why it cannot be set up; the next one who asks tries again.
    pub async fn get(&self) -> Result<&Sandbox, StartError> {
        let set_up = || async {
            let inner = Arc::clone(&self.0);
            let work = move || Sandbox::new(inner.settings.clone(), inner.cache.as_deref());
            let done = tokio::task::spawn_blocking(work).await;
            done.unwrap_or_else(|problem| Err(StartError::Engine(problem.to_string())))
        };
        self.0.sandbox.get_or_try_init(set_up).await
    }
}
