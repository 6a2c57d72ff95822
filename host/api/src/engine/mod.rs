//! What reads an e-mail: one interface, several engines.
//!
//! `rules` is always there, needs no network and answers the same for the same message. `openai` speaks to any server with
//! an API like OpenAI's chat completions. An agent's `llm_model` picks: a model that the configuration names runs there,
//! every other one is `rules`.

mod openai;
mod rules;

use std::time::Duration;

use async_trait::async_trait;
use kobana_contract::Timestamp;
use kobana_store::rows::{AgentRow, EmailRow};
use serde_json::{Map, Value};

pub use openai::{Model, OpenAiSettings};

use crate::intake::content::{Attachment, Content};

/// The model of the engine without one.
const RULES: &str = "rules";

/// Engines beside `rules`.
#[derive(Debug, Clone, Default)]
pub struct EngineSettings {
    /// A server with an API like OpenAI's.
    pub openai: Option<OpenAiSettings>,
}

/// An engine cannot be used as it is configured.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// A setting of the OpenAI-like engine.
    #[error("engines.openai.{setting}: {problem}")]
    OpenAi {
        /// Which one.
        setting: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// The built-in engine does not start, which is our own fault.
    #[error("the rules engine does not start: {0}")]
    Rules(#[from] regex::Error),
}

/// An e-mail as engines see it: text of third parties, never an instruction.
#[derive(Debug, Clone)]
pub(crate) struct Mail<'a> {
    pub(crate) subject: Option<&'a str>,
    pub(crate) from: &'a str,
    pub(crate) sent_at: Option<Timestamp>,
    pub(crate) received_at: Timestamp,
    /// What a person would read, or the beginning of it.
    pub(crate) text: &'a str,
    pub(crate) attachments: &'a [Attachment],
}

impl<'a> Mail<'a> {
    pub(crate) fn new(email: &'a EmailRow, content: &'a Content) -> Self {
        Self {
            subject: email.subject.as_deref(),
            from: &email.sender,
            sent_at: email.sent_at.map(Timestamp),
            received_at: Timestamp(email.received_at),
            text: content.readable.as_deref().unwrap_or_default(),
            attachments: &content.attachments,
        }
    }
}

/// What a run used.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Cost {
    pub(crate) input_tokens: i64,
    pub(crate) output_tokens: i64,
    pub(crate) cache_read: i64,
    pub(crate) cache_write: i64,
    /// The total over all tokens.
    pub(crate) per_token: f64,
    pub(crate) total: f64,
}

/// What a run found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) metadata: Map<String, Value>,
    pub(crate) cost: Cost,
}

/// Why a run found nothing; the reason is for persons, and repeats nothing that a third party wrote.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum EngineError {
    /// Another attempt may succeed, not before this time has passed if one is given.
    Retry { reason: String, after: Option<Duration> },
    /// No other attempt will succeed; it cost this all the same.
    Failed { reason: String, cost: Cost },
}

impl EngineError {
    fn retry(reason: impl Into<String>) -> Self {
        Self::Retry { reason: reason.into(), after: None }
    }

    fn failed(reason: impl Into<String>) -> Self {
        Self::Failed { reason: reason.into(), cost: Cost::default() }
    }
}

/// Reads e-mails.
#[async_trait]
pub(crate) trait Engine: Send + Sync + 'static {
    /// Reads one, following the instructions of an agent where there is one.
    async fn run(&self, mail: &Mail<'_>, agent: Option<&AgentRow>) -> Result<Outcome, EngineError>;

    /// Whether it runs this model.
    fn knows(&self, model: &str) -> bool;
}

/// All engines.
pub(crate) struct Engines {
    rules: rules::Rules,
    others: Vec<Box<dyn Engine>>,
}

impl Engines {
    pub(crate) fn new(settings: EngineSettings) -> Result<Self, SettingsError> {
        let mut others: Vec<Box<dyn Engine>> = Vec::new();
        if let Some(openai) = settings.openai {
            others.push(Box::new(openai::OpenAi::new(openai)?));
        }
        Ok(Self { rules: rules::Rules::new()?, others })
    }

    /// The engine for an agent, or for an inbox without one.
    pub(crate) fn assign<'a>(&'a self, agent: Option<&AgentRow>) -> Assignment<'a> {
        let other = agent.and_then(|agent| self.others.iter().find(|engine| engine.knows(&agent.llm_model)));
        let engine: &dyn Engine = other.map_or(&self.rules, |engine| engine.as_ref());
        let model = agent.filter(|_| other.is_some()).map_or(RULES, |agent| agent.llm_model.as_str()).to_owned();
        Assignment { engine, agent: agent.cloned(), model }
    }
}

/// An engine that is to run for an agent.
pub(crate) struct Assignment<'a> {
    engine: &'a dyn Engine,
    agent: Option<AgentRow>,
    model: String,
}

impl Assignment<'_> {
    /// The model that it really runs on.
    pub(crate) fn model(&self) -> &str {
        &self.model
    }

    /// Reads an e-mail.
    pub(crate) async fn run(&self, mail: &Mail<'_>) -> Result<Outcome, EngineError> {
        self.engine.run(mail, self.agent.as_ref()).await
    }
}
