//! The runtime with real components: one that does everything wrong, and the gateway.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "what is allowed in tests is not allowed in what they share"
)]

mod start;
mod support;

/// Whatever holds, holds for both doors: the short one,
#[path = "."]
mod exchange {
    pub(crate) use crate::support::tight;

    #[path = "extensions.rs"]
    mod extensions;
    #[path = "flow.rs"]
    mod flow;
    #[path = "gateway.rs"]
    mod gateway;
    #[path = "hostile.rs"]
    mod hostile;
    #[path = "wire.rs"]
    mod wire;
}

/// and the portable one.
#[allow(clippy::duplicate_mod, reason = "it is the point")]
#[path = "."]
mod wasi_http {
    pub(crate) fn tight() -> kobana_runtime::Limits {
        kobana_runtime::Limits { portable: true, ..crate::support::tight() }
    }

    #[path = "extensions.rs"]
    mod extensions;
    #[path = "flow.rs"]
    mod flow;
    #[path = "gateway.rs"]
    mod gateway;
    #[path = "hostile.rs"]
    mod hostile;
    #[path = "wire.rs"]
    mod wire;
}
