//! An engine that asks a language model, over the API that OpenAI made and many servers speak: `POST {base_url}/chat/completions`.
//!
//! The agent's `system_message` is the system prompt; the e-mail is data, in a message of its own ([`prompt`]). What comes
//! back is held against a schema ([`answer`]), and what it cost is counted even if it is of no use.

mod answer;
mod prompt;

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use http::{HeaderMap, StatusCode, header};
use kobana_contract::Timestamp;
use kobana_store::rows::AgentRow;
use reqwest::{Client, Response, Url, redirect};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc2822;

use super::{Engine, EngineError, Mail, Outcome, SettingsError};
use answer::Reader;

/// The most bytes of an answer.
const LARGEST_ANSWER: usize = 1024 * 1024;
/// How long to wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// No server makes us wait longer than this.
const LONGEST_WAIT: Duration = Duration::from_secs(60 * 60);

/// A server with an API like OpenAI's.
#[derive(Clone)]
pub struct OpenAiSettings {
    /// What stands before `/chat/completions`, such as `https://api.openai.com/v1`.
    pub base_url: String,
    /// The bearer token, where the server wants one.
    pub api_key: Option<String>,
    /// How long an answer may take as a whole.
    pub timeout: Duration,
    /// The most tokens of an answer.
    pub max_output_tokens: u32,
    /// The models it runs, by what agents call them in `llm_model`.
    pub models: BTreeMap<String, Model>,
}

impl std::fmt::Debug for OpenAiSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenAiSettings").field("base_url", &self.base_url).finish_non_exhaustive()
    }
}

/// A model and its prices.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Model {
    /// What the server calls it; the same as agents do if left out.
    pub name: Option<String>,
    /// Price of a token read.
    pub input_price: f64,
    /// Price of a token read from the server's cache; that of any other if left out.
    pub cached_price: Option<f64>,
    /// Price of a token written.
    pub output_price: f64,
}

/// The engine.
pub(super) struct OpenAi {
    client: Client,
    url: Url,
    settings: OpenAiSettings,
    reader: Reader,
}

impl OpenAi {
    /// # Errors
    /// Says which setting is of no use.
    pub(super) fn new(settings: OpenAiSettings) -> Result<Self, SettingsError> {
        let wrong = |setting, problem: &dyn std::fmt::Display| {
            Err(SettingsError::OpenAi { setting, problem: problem.to_string() })
        };
        let url = format!("{}/chat/completions", settings.base_url.trim_end_matches('/'));
        let url = match Url::parse(&url) {
            Ok(url) if matches!(url.scheme(), "http" | "https") => url,
            _ => return wrong("base_url", &"expected a URL that begins with http:// or https://"),
        };
        if settings.timeout.is_zero() {
            return wrong("timeout", &"expected a number above zero");
        }
        let fits = |price: f64| price.is_finite() && price >= 0.0;
        let prices = |model: &Model| [model.input_price, model.output_price, model.cached_price.unwrap_or_default()];
        if settings.models.is_empty() || !settings.models.values().flat_map(prices).all(fits) {
            return wrong("models", &"expected at least one model, and no price below zero");
        }
        // Another part of the process may have chosen one, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .timeout(settings.timeout)
            .connect_timeout(CONNECT_TIMEOUT)
            .redirect(redirect::Policy::none())
            .build();
        let client = match client {
            Ok(client) => client,
            Err(error) => return wrong("base_url", &error),
        };
        let reader = match Reader::new() {
            Ok(reader) => reader,
            Err(error) => return wrong("models", &error),
        };
        Ok(Self { client, url, settings, reader })
    }

    async fn ask(&self, mail: &Mail<'_>, agent: &AgentRow, model: &Model) -> Result<Vec<u8>, EngineError> {
        let name = model.name.as_deref().unwrap_or(&agent.llm_model);
        let body = prompt::request(mail, &agent.system_message, name, self.settings.max_output_tokens);
        let mut request = self.client.post(self.url.clone()).json(&body);
        if let Some(key) = &self.settings.api_key {
            request = request.bearer_auth(key);
        }
        let response = request.send().await.map_err(|error| unanswered(&error))?;
        match response.status() {
            StatusCode::OK => read(response).await,
            status => Err(refused(status, response.headers())),
        }
    }
}

#[async_trait]
impl Engine for OpenAi {
    async fn run(&self, mail: &Mail<'_>, agent: Option<&AgentRow>) -> Result<Outcome, EngineError> {
        let found = agent.and_then(|agent| Some((agent, self.settings.models.get(&agent.llm_model)?)));
        let (agent, model) = found.ok_or_else(|| EngineError::failed("the model is not configured"))?;
        let answer = self.ask(mail, agent, model).await?;
        self.reader.read(&answer, model)
    }

    fn knows(&self, model: &str) -> bool {
        self.settings.models.contains_key(model)
    }
}

fn unanswered(error: &reqwest::Error) -> EngineError {
    // The text of the error may hold the URL, with whatever the operator put into it.
    EngineError::retry(match () {
        () if error.is_timeout() => "the model server did not answer in time",
        () if error.is_connect() => "the model server cannot be reached",
        () => "the exchange with the model server broke off",
    })
}

async fn read(mut response: Response) -> Result<Vec<u8>, EngineError> {
    let mut answer = Vec::new();
    while let Some(bytes) = response.chunk().await.map_err(|error| unanswered(&error))? {
        if answer.len().saturating_add(bytes.len()) > LARGEST_ANSWER {
            return Err(EngineError::failed("the model server's answer is too large"));
        }
        answer.extend_from_slice(&bytes);
    }
    Ok(answer)
}

fn refused(status: StatusCode, headers: &HeaderMap) -> EngineError {
    match status.as_u16() {
        429 => EngineError::Retry { reason: "the model server asks to wait".to_owned(), after: wait(headers) },
        408 | 409 | 425 | 500.. => EngineError::Retry {
            reason: format!("the model server answered with status {}", status.as_u16()),
            after: wait(headers),
        },
        401 | 403 => EngineError::failed("the model server refused the credentials"),
        other => EngineError::failed(format!("the model server refused the request with status {other}")),
    }
}

/// What `Retry-After` says, in seconds or as a time.
fn wait(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
    let seconds = match text.parse::<u64>() {
        Ok(seconds) => seconds,
        Err(_) => {
            let time = OffsetDateTime::parse(&text.replace("GMT", "+0000"), &Rfc2822).ok()?;
            let left = time.unix_timestamp().saturating_sub(Timestamp::now().unix_seconds());
            u64::try_from(left).unwrap_or_default()
        }
    };
    Some(Duration::from_secs(seconds).min(LONGEST_WAIT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_say_how_long_to_wait_in_seconds_or_as_a_time() {
        let said = |text: &str| wait(&HeaderMap::from_iter([(header::RETRY_AFTER, text.parse().unwrap())]));
        assert_eq!(said("7"), Some(Duration::from_secs(7)));
        assert_eq!(said("999999"), Some(LONGEST_WAIT));
        assert_eq!(said("Wed, 21 Oct 2015 07:28:00 GMT"), Some(Duration::ZERO));
        assert_eq!(said("soon"), None);
    }
}
