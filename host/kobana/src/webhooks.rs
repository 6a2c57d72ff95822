//! Settings of webhooks, and the worker that sends to them.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kobana_api::worker::{Worker, WorkerSettings};
use kobana_api::{Api, WebhookSettings};
use serde::Deserialize;

use crate::failure::Failure;
use crate::worker;

/// Deliveries that are under way at the same time. Each waits for somebody else most of its time.
const AT_ONCE: usize = 16;

/// Days for which deliveries that have ended are kept where nothing else is said.
const KEEP_DAYS: u16 = 30;

/// Webhooks.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Webhooks {
    /// Whether they may point at this machine, by http too. The demo profile lets them where this is left out.
    allow_loopback: Option<bool>,
    /// 32 random bytes in base64, with which their secrets are sealed. Without it, they are sealed with a key that lies in
    /// the database beside them.
    secret_key: Option<String>,
    /// Days for which deliveries that have ended are kept; 0 keeps them for ever.
    keep_days: Option<u16>,
}

impl Webhooks {
    /// The settings, checked.
    pub(crate) fn settings(&self, demo: bool) -> Result<WebhookSettings, Failure> {
        let key = |text: &String| {
            let key = STANDARD.decode(text).ok().and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
            key.ok_or_else(|| Failure::Config("webhooks.secret_key: expected 32 random bytes in base64".to_owned()))
        };
        let secret_key = self.secret_key.as_ref().map(key).transpose()?;
        // The demo's data are of a certain month, and for looking at.
        let days = self.keep_days.unwrap_or(if demo { 0 } else { KEEP_DAYS });
        let keep = (days > 0).then(|| Duration::from_secs(u64::from(days) * 24 * 60 * 60));
        Ok(WebhookSettings { secret_key, allow_loopback: self.allow_loopback.unwrap_or(demo), keep })
    }
}

impl std::fmt::Debug for Webhooks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Webhooks").field("allow_loopback", &self.allow_loopback).finish_non_exhaustive()
    }
}

/// Starts the worker that sends deliveries, if this process is to do jobs.
pub(crate) fn start(worker: &worker::Worker, api: &Api) -> Result<Option<Worker>, Failure> {
    if !worker.enabled {
        return Ok(None);
    }
    let lease = Duration::from_secs(worker.lease);
    let settings = WorkerSettings { concurrency: AT_ONCE, lease, ..WorkerSettings::default() };
    api.courier().start(settings).map(Some).map_err(|error| Failure::Config(error.to_string()))
}
