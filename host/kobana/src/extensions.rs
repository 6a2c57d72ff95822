//! Where the extensions of workspaces run in this process.

use std::sync::Arc;

use kobana_extensions::{Inspector, Lazy, Registry};
use kobana_store::Store;

use crate::serve::cache_dir;
use crate::settings::Settings;

/// What concerns extensions, set up when the first one is used.
pub(crate) struct Extensions {
    settings: kobana_extensions::Settings,
    sandbox: Lazy,
}

impl Extensions {
    pub(crate) fn of(settings: &Settings) -> Self {
        let sandbox = Lazy::new(settings.extensions.sandbox.clone(), cache_dir(settings));
        Self { settings: settings.extensions.clone(), sandbox }
    }

    /// What looks into components before they are taken; nobody, where extensions are turned off.
    pub(crate) fn inspector(&self) -> Option<Arc<dyn kobana_api::extensions::Inspector>> {
        if !self.settings.enabled {
            return None;
        }
        let kobana_extensions::Settings { limits, share, .. } = &self.settings;
        Some(Arc::new(Inspector::new(self.sandbox.clone(), limits.clone(), share)))
    }

    /// What answers for the workspaces of a database.
    pub(crate) fn registry(self, store: Store) -> Registry {
        Registry::new(store, self.settings, self.sandbox)
    }
}
