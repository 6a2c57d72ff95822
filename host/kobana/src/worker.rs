//! The worker of this process: its settings, and how it is started.

use std::collections::BTreeMap;
use std::time::Duration;

use kobana_api::worker::{Wake, Worker as Running, WorkerSettings};
use kobana_api::{EngineSettings, Model as EngineModel, OpenAiSettings};
use kobana_store::Store;
use serde::Deserialize;

use crate::failure::Failure;

/// The worker.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Worker {
    /// Whether this process does jobs; without it another one has to.
    pub(crate) enabled: bool,
    /// Jobs done at the same time.
    pub(crate) concurrency: usize,
    /// Seconds for which a job stays taken after its worker was last heard of.
    pub(crate) lease: u64,
}

impl Default for Worker {
    fn default() -> Self {
        Self { enabled: true, concurrency: 4, lease: 60 }
    }
}

/// Engines beside the built-in `rules`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Engines {
    /// A server with an API like OpenAI's chat completions.
    pub(crate) openai: Option<OpenAi>,
}

/// A server with an API like OpenAI's chat completions.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OpenAi {
    /// What stands before `/chat/completions`, such as `https://api.openai.com/v1`.
    base_url: String,
    /// The environment variable that holds the key, where the server wants one.
    api_key_env: Option<String>,
    /// Seconds that an answer may take.
    #[serde(default = "default_timeout")]
    timeout: u64,
    /// The most tokens of an answer.
    #[serde(default = "default_output")]
    max_output_tokens: u32,
    /// Its models, by what agents call them in `llm_model`.
    models: BTreeMap<String, Model>,
}

const fn default_timeout() -> u64 {
    60
}

const fn default_output() -> u32 {
    1_024
}

/// A model and its prices.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Model {
    /// What the server calls it; the same as agents do if left out.
    name: Option<String>,
    /// Price of a token read.
    #[serde(default)]
    input_price: f64,
    /// Price of a token read from the server's cache; that of any other if left out.
    cached_price: Option<f64>,
    /// Price of a token written.
    #[serde(default)]
    output_price: f64,
}

impl Worker {
    /// The name of a setting that cannot be, if there is one.
    pub(crate) fn wrong(&self) -> Option<&'static str> {
        let positive = [("worker.concurrency", self.concurrency > 0), ("worker.lease", self.lease > 0)];
        positive.iter().find(|(_, fits)| !fits).map(|(name, _)| *name)
    }

    /// Starts working, if this process is to.
    pub(crate) fn start(&self, engines: &Engines, store: Store, wake: Wake) -> Result<Option<Running>, Failure> {
        let engines = engines.settings()?;
        if !self.enabled {
            return Ok(None);
        }
        let settings = WorkerSettings {
            concurrency: self.concurrency,
            lease: Duration::from_secs(self.lease),
            ..WorkerSettings::default()
        };
        let started = Running::start(store, wake, settings, engines);
        started.map(Some).map_err(|error| Failure::Config(error.to_string()))
    }
}

impl Engines {
    fn settings(&self) -> Result<EngineSettings, Failure> {
        Ok(EngineSettings { openai: self.openai.as_ref().map(OpenAi::settings).transpose()? })
    }
}

impl OpenAi {
    fn settings(&self) -> Result<OpenAiSettings, Failure> {
        let key = |name: &String| {
            let missing = |_| Failure::Config(format!("engines.openai.api_key_env: {name} is not set, or no text"));
            std::env::var(name).map_err(missing)
        };
        let model = |model: &Model| EngineModel {
            name: model.name.clone(),
            input_price: model.input_price,
            cached_price: model.cached_price,
            output_price: model.output_price,
        };
        Ok(OpenAiSettings {
            base_url: self.base_url.clone(),
            api_key: self.api_key_env.as_ref().map(key).transpose()?,
            timeout: Duration::from_secs(self.timeout),
            max_output_tokens: self.max_output_tokens,
            models: self.models.iter().map(|(name, about)| (name.clone(), model(about))).collect(),
        })
    }
}
