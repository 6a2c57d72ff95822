//! What the endpoints share.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use kobana_contract::Timestamp;
use kobana_identity::{AccessTokens, Passwords};
use kobana_store::sea_orm::DbErr;
use kobana_store::{Store, clients};
use url::Url;

use crate::client::Client;
use crate::documents::{self, DocumentError, Documents};
use crate::limits::Limit;
use crate::secret::Key;
use crate::settings::Settings;

/// Within what time sign-ins are counted.
const ATTEMPTS_WITHIN: Duration = Duration::from_secs(10 * 60);
/// Within what time registrations are counted.
const REGISTRATIONS_WITHIN: Duration = Duration::from_secs(60 * 60);
/// Seconds for which a registered client is kept that nobody lets in: 24 hours.
const UNUSED_CLIENT: i64 = 24 * 60 * 60;

/// The authorization server. Clones are the same server.
#[derive(Clone)]
pub struct Authorization(pub(crate) Arc<Server>);

impl std::fmt::Debug for Authorization {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authorization").field("issuer", &self.0.tokens.issuer()).finish_non_exhaustive()
    }
}

/// Why the authorization server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Its own key cannot be had from the database.
    #[error("the key of the login pages: {0}")]
    Store(#[from] DbErr),
    /// Documents about clients cannot be fetched.
    #[error("documents about clients cannot be fetched: {0}")]
    Client(String),
    /// The issuer is no origin.
    #[error("the issuer is no origin: {0}")]
    Issuer(String),
}

/// Everything that the endpoints need.
pub(crate) struct Server {
    pub(crate) store: Store,
    pub(crate) tokens: AccessTokens,
    pub(crate) passwords: Passwords,
    pub(crate) settings: Settings,
    pub(crate) key: Key,
    pub(crate) documents: Documents,
    /// Whether cookies go over TLS only: everywhere but on loopback.
    pub(crate) secure: bool,
    pub(crate) limits: Limits,
}

/// What strangers may try, and how often.
pub(crate) struct Limits {
    pub(crate) accounts: Limit<[u8; 32]>,
    pub(crate) addresses: Limit<IpAddr>,
    pub(crate) registrations: Limit<IpAddr>,
    pub(crate) documents: Limit<IpAddr>,
}

impl Authorization {
    /// Sets up the server that issues `tokens` to persons of `store`. Its issuer is that of the tokens.
    ///
    /// # Errors
    /// [`StartError`].
    pub async fn new(store: Store, tokens: AccessTokens, settings: Settings) -> Result<Self, StartError> {
        let issuer = Url::parse(tokens.issuer()).map_err(|error| StartError::Issuer(error.to_string()))?;
        let key = kobana_store::settings::key(&store, "login").await?;
        let key = Key::new(&key).ok_or_else(|| DbErr::Type("no key".to_owned()))?;
        let documents = Documents::new(settings.allow_loopback).map_err(StartError::Client)?;
        let limits = Limits {
            accounts: Limit::new(settings.attempts, ATTEMPTS_WITHIN),
            addresses: Limit::new(settings.attempts_per_address, ATTEMPTS_WITHIN),
            registrations: Limit::new(settings.registrations, REGISTRATIONS_WITHIN),
            documents: Limit::new(settings.registrations, REGISTRATIONS_WITHIN),
        };
        let secure = issuer.scheme() == "https";
        let passwords = Passwords::default();
        Ok(Self(Arc::new(Server { store, tokens, passwords, settings, key, documents, secure, limits })))
    }
}

/// Why there is no client.
#[derive(Debug)]
pub(crate) enum NoClient {
    Unknown,
    Document(DocumentError),
    /// Too many documents were asked for from this address; seconds to wait.
    TooMany(u64),
    Store(DbErr),
}

impl From<DbErr> for NoClient {
    fn from(error: DbErr) -> Self {
        Self::Store(error)
    }
}

impl Server {
    /// The address of one of our paths.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.tokens.issuer())
    }

    /// The client with this id: the one that registered, or the one that the document at this address is about.
    pub(crate) async fn client(&self, id: &str, asked_from: IpAddr) -> Result<Client, NoClient> {
        if documents::is_address(id) {
            return self.published(id, asked_from).await;
        }
        let row = clients::find(&self.store, id).await?.ok_or(NoClient::Unknown)?;
        Ok(Client {
            id: row.id,
            name: row.name,
            redirect_uris: row.redirect_uris.0,
            refreshes: row.refreshes,
            publisher: None,
        })
    }

    async fn published(&self, id: &str, asked_from: IpAddr) -> Result<Client, NoClient> {
        if let Some(client) = self.documents.kept(id) {
            return Ok(client);
        }
        self.limits
            .documents
            .take(&asked_from)
            .map_err(|crate::limits::TooMany(seconds)| NoClient::TooMany(seconds))?;
        self.documents.find(id).await.map_err(NoClient::Document)
    }

    /// Whether a client may bring codes and tokens at all. What it brings was issued to one client, so the document about it need
    /// not be read again.
    pub(crate) async fn knows(&self, id: &str) -> Result<bool, DbErr> {
        Ok(documents::is_address(id) || clients::find(&self.store, id).await?.is_some())
    }

    /// How long registered clients are kept.
    pub(crate) fn keep_clients(&self) -> clients::Keep {
        clients::Keep { unused: UNUSED_CLIENT, idle: crate::settings::seconds(self.settings.refresh_lifetime) }
    }

    /// Whether a `resource` parameter names the one resource that tokens are issued for (RFC 8707 §2). Letter case of scheme and
    /// host does not count, as anywhere in URLs.
    pub(crate) fn is_resource(&self, named: &str) -> bool {
        let ours = self.tokens.resource();
        let same = || Some(Url::parse(named).ok()? == Url::parse(ours).ok()?);
        named == ours || same() == Some(true)
    }
}

/// The present, as the endpoints see it.
pub(crate) fn now() -> Timestamp {
    Timestamp::now()
}
