//! Configuration: a file, then the environment, then the command line.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use figment::Figment;
use figment::providers::{Env, Format as _, Toml};
use kobana_identity::Key;
use kobana_runtime::Limits;
use serde::Deserialize;

use crate::access::{self, Signing};
use crate::cli;
use crate::edge::Edge;
use crate::failure::Failure;
use crate::issuer::Issuer;
use crate::login::Login;
use crate::webhooks::Webhooks;
use crate::worker::{Engines, Worker};

/// The configuration file that is read where none is named.
const DEFAULT_FILE: &str = "kobana.toml";
/// What the names of environment variables begin with; two underscores stand for the dot of a section.
const PREFIX: &str = "KOBANA_";
/// The port of the demo profile, and of every example.
pub(crate) const DEFAULT_PORT: u16 = 3028;

/// Every setting of the server.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Settings {
    /// Address to listen on.
    pub(crate) listen: SocketAddr,
    /// Directory that holds the database.
    pub(crate) data: Option<PathBuf>,
    /// URL of the MCP endpoint as clients know it; from the address, if left out.
    pub(crate) resource: Option<String>,
    /// Origins of web pages that may talk to the endpoint, beside the server's own on loopback.
    pub(crate) allowed_origins: Vec<String>,
    /// The domain of generated inbox addresses.
    pub(crate) inbox_domain: Option<String>,
    /// The listener.
    pub(crate) http: Http,
    /// The WebAssembly runtime.
    pub(crate) runtime: Limits,
    /// Keys that access tokens are signed with.
    pub(crate) signing: Signing,
    /// A foreign issuer of access tokens.
    pub(crate) issuer: Issuer,
    /// Signing in through the embedded authorization server.
    pub(crate) login: Login,
    /// Confirmation of destructive tools.
    pub(crate) confirmations: ConfirmationKeys,
    /// The worker.
    pub(crate) worker: Worker,
    /// Engines that agents run on, beside the built-in one.
    pub(crate) engines: Engines,
    /// Webhooks.
    pub(crate) webhooks: Webhooks,
    /// Extensions of workspaces.
    pub(crate) extensions: kobana_extensions::Settings,
    /// The endpoint for edge components.
    pub(crate) edge: Edge,
    /// The log.
    pub(crate) log: Log,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, DEFAULT_PORT)),
            data: None,
            resource: None,
            allowed_origins: Vec::new(),
            inbox_domain: None,
            http: Http::default(),
            runtime: Limits::default(),
            signing: Signing::default(),
            issuer: Issuer::default(),
            login: Login::default(),
            confirmations: ConfirmationKeys::default(),
            webhooks: Webhooks::default(),
            worker: Worker::default(),
            engines: Engines::default(),
            extensions: kobana_extensions::Settings::default(),
            edge: Edge::default(),
            log: Log::default(),
        }
    }
}

/// Limits of the listener.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Http {
    /// Connections open at once; further ones wait in the kernel's queue.
    pub(crate) max_connections: usize,
    /// Seconds in which a request's head must arrive, counted from the end of the one before.
    pub(crate) head_timeout: u64,
    /// Bytes of a request's head.
    pub(crate) max_head: usize,
    /// Seconds that running requests get to end when the server stops.
    pub(crate) shutdown_grace: u64,
}

impl Default for Http {
    fn default() -> Self {
        Self { max_connections: 16_384, head_timeout: 30, max_head: 64 * 1024, shutdown_grace: 30 }
    }
}

impl Http {
    pub(crate) const fn head_timeout(&self) -> Duration {
        Duration::from_secs(self.head_timeout)
    }

    pub(crate) const fn shutdown_grace(&self) -> Duration {
        Duration::from_secs(self.shutdown_grace)
    }
}

/// Keys that questions are sealed with. Replicas with one database need none: they share the one that it keeps.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ConfirmationKeys {
    /// The first seals, all open. To rotate, put a new one first, and take the old one off ten minutes later.
    keys: Vec<ConfirmationKey>,
}

/// One key.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfirmationKey {
    /// 1 to 32 letters, digits, `-` or `_`; it stands readable in every question.
    id: String,
    /// 32 random bytes in base64.
    key: String,
}

impl ConfirmationKeys {
    /// The keys, checked.
    pub(crate) fn keys(&self) -> Result<Vec<Key>, Failure> {
        let key = |(index, configured): (usize, &ConfirmationKey)| {
            let secret = STANDARD.decode(&configured.key).unwrap_or_default();
            Key::new(configured.id.clone(), &secret)
                .map_err(|error| Failure::Config(format!("confirmations.keys.{index}.{error}")))
        };
        self.keys.iter().enumerate().map(key).collect()
    }
}

impl std::fmt::Debug for ConfirmationKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.keys.iter().map(|key| &key.id)).finish()
    }
}

/// What is logged, and how.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Log {
    /// Levels by module, such as `info` or `warn,kobana=debug`.
    pub(crate) level: String,
    /// Text for a terminal, JSON for machines.
    pub(crate) format: LogFormat,
}

impl Default for Log {
    fn default() -> Self {
        Self { level: "info".to_owned(), format: LogFormat::Text }
    }
}

/// The shape of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    Text,
    Json,
}

impl Settings {
    /// Reads the configuration file, by default the one that may lie here, and the environment.
    pub(crate) fn read(config: Option<&Path>) -> Result<Self, Failure> {
        let mut figment = Figment::new();
        if let Some(file) = file(config)? {
            figment = figment.merge(Toml::file_exact(file));
        }
        let settings = figment.merge(Env::prefixed(PREFIX).split("__")).extract::<Self>();
        settings.map_err(|error| Failure::Config(describe(error)))
    }

    /// Reads all sources.
    pub(crate) fn load(options: &cli::Serve) -> Result<Self, Failure> {
        let mut settings = Self::read(options.config.as_deref())?;
        if let Some(listen) = options.listen {
            settings.listen = listen;
        }
        if let Some(data) = &options.data {
            settings.data = Some(data.clone());
        }
        settings.check(options.demo)?;
        Ok(settings)
    }

    fn check(&self, demo: bool) -> Result<(), Failure> {
        if demo && !self.listen.ip().is_loopback() {
            return Err(Failure::Config(format!(
                "listen = {}: the demo profile takes well-known tokens, so it listens on a loopback address only",
                self.listen
            )));
        }
        if !demo && self.data.is_none() {
            return Err(Failure::Config(
                "data: expected a directory that holds the database, by --data or in the configuration; to try it out \
                 with sample data, `kobana serve --demo`"
                    .to_owned(),
            ));
        }
        access::check_resource(self)?;
        let positive = [
            ("http.max_connections", self.http.max_connections > 0),
            ("http.head_timeout", self.http.head_timeout > 0),
            ("http.max_head", (8_192..=1_048_576).contains(&self.http.max_head)),
        ];
        let wrong = positive.iter().find(|(_, fits)| !fits).map(|(name, _)| *name).or_else(|| self.worker.wrong());
        match wrong {
            Some("http.max_head") => Err(Failure::Config("http.max_head: expected 8192 to 1048576 bytes".to_owned())),
            Some(name) => Err(Failure::Config(format!("{name}: expected a number above zero"))),
            None => self.runtime.validate().map_err(|error| Failure::Config(format!("runtime.{error}"))),
        }?;
        self.extensions.validate().map_err(|error| Failure::Config(format!("extensions.{error}")))
    }
}

/// The file to read: the one named, which must exist, or the default one, if it does.
fn file(named: Option<&Path>) -> Result<Option<PathBuf>, Failure> {
    match named {
        None => Ok(Some(PathBuf::from(DEFAULT_FILE)).filter(|file| file.is_file())),
        Some(file) => match std::fs::File::open(file) {
            Ok(_) if file.is_file() => Ok(Some(file.to_path_buf())),
            Ok(_) => Err(Failure::Config(format!("{}: not a file", file.display()))),
            Err(error) => Err(Failure::Config(format!("{}: {error}", file.display()))),
        },
    }
}

/// One line for each problem, with the setting and where it stands.
fn describe(error: figment::Error) -> String {
    let lines: Vec<_> = error
        .into_iter()
        .map(|problem| {
            let source = problem.metadata.as_ref().map(|metadata| match &metadata.source {
                Some(source) => format!(" in {source}"),
                None => format!(" in {}", metadata.name),
            });
            let path = if problem.path.is_empty() { String::new() } else { format!("{}: ", problem.path.join(".")) };
            // A parser draws its problem over several lines; a terminal gets one.
            let kind = problem.kind.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
            format!("{path}{kind}{}", source.unwrap_or_default())
        })
        .collect();
    lines.join("; ")
}
