//! The API as a whole.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::middleware::map_response;
use axum::response::{IntoResponse as _, Response};
use http::{HeaderValue, header};
use kobana_store::{Store, settings};
use sea_orm::DbErr;
use tower_http::catch_panic::CatchPanicLayer;

use crate::context::Shared;
use crate::cursor::Cursors;
use crate::delivery::Courier;
use crate::error::ApiError;
use crate::extensions::{Inspector, Lifecycle};
use crate::handlers;
use crate::intake::Intake;
use crate::local::LocalApi;
use crate::operations::{Operations, Table};
use crate::vault::Vault;
use crate::worker::Wake;

/// What the operator of an installation decides.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The domain that inboxes have their addresses on.
    pub inbox_domain: String,
}

/// What the operator of an installation decides about webhooks.
#[derive(Clone, Default)]
pub struct WebhookSettings {
    /// The key that credentials, signing secrets and kept answers are sealed with. Without one, a key is made once and
    /// kept in the same database, which protects copies of single tables only.
    pub secret_key: Option<[u8; 32]>,
    /// Whether webhooks may point at this machine, by http too.
    pub allow_loopback: bool,
    /// How long deliveries that have ended are kept; for ever if this is none.
    pub keep: Option<Duration>,
}

/// Why the API cannot start.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The keys of the installation can be neither read nor made.
    #[error("cannot read the keys of the installation: {0}")]
    Key(#[from] DbErr),
    /// A schema of the contract does not compile.
    #[error("a schema of the contract is not usable: {0}")]
    Schema(#[from] jsonschema::ValidationError<'static>),
}

/// Everything behind `/api/v1`.
#[derive(Debug, Clone)]
pub struct Api {
    router: Router,
    table: Arc<Table>,
    wake: Wake,
    courier: Courier,
}

impl Api {
    /// Makes the API over a database.
    ///
    /// # Errors
    /// [`BuildError`] says what is missing.
    pub async fn new(store: Store, settings: Settings) -> Result<Self, BuildError> {
        Self::with_webhooks(store, settings, WebhookSettings::default()).await
    }

    /// The same with settings for webhooks.
    ///
    /// # Errors
    /// [`BuildError`] says what is missing.
    pub async fn with_webhooks(
        store: Store,
        settings: Settings,
        webhooks: WebhookSettings,
    ) -> Result<Self, BuildError> {
        Self::with_extensions(store, settings, webhooks, None).await
    }

    /// The same with somebody who looks into extensions; without, none can be added.
    ///
    /// # Errors
    /// [`BuildError`] says what is missing.
    pub async fn with_extensions(
        store: Store,
        settings: Settings,
        webhooks: WebhookSettings,
        inspector: Option<Arc<dyn Inspector>>,
    ) -> Result<Self, BuildError> {
        let cursors = Cursors::new(settings::key(&store, "cursors").await?);
        let key = match webhooks.secret_key {
            Some(key) => key,
            None => settings::key(&store, "secrets").await?,
        };
        let wake = Wake::default();
        let (vault, intake) = (Vault::new(&key), Intake::new(store.clone(), wake.clone()));
        let courier = Courier::new(store.clone(), vault.clone(), &webhooks, wake.clone());
        let extensions = Lifecycle::new(store.clone(), inspector);
        let shared = Arc::new(Shared {
            store,
            settings,
            webhooks,
            vault,
            cursors,
            intake,
            courier: courier.clone(),
            extensions,
        });
        let Operations { router, table, .. } = handlers::mount_all(Operations::new(shared))?;
        Ok(Self { router: dressed(router), table: Arc::new(table), wake, courier })
    }

    /// What sends deliveries to webhooks, once it is started.
    #[must_use]
    pub fn courier(&self) -> Courier {
        self.courier.clone()
    }

    /// What wakes workers up, for a worker of this process.
    pub fn wake(&self) -> Wake {
        self.wake.clone()
    }

    /// The routes, with paths as in the contract, such as `/me` or `/inboxes/{id}`. Requests must carry an
    /// `Arc<kobana_contract::Caller>` in their extensions.
    pub fn router(&self) -> Router {
        self.router.clone()
    }

    #[cfg(test)]
    pub(crate) fn table(&self) -> Arc<Table> {
        Arc::clone(&self.table)
    }

    /// The same operations for whoever calls them from this process.
    #[must_use]
    pub fn local(&self) -> LocalApi {
        LocalApi::new(Arc::clone(&self.table))
    }
}

/// What is true of every route: there is always an answer, and nobody keeps it.
fn dressed(routes: Router) -> Router {
    routes
        .fallback(async || ApiError::NotFound)
        .method_not_allowed_fallback(async || ApiError::MethodNotAllowed)
        .layer(CatchPanicLayer::custom(panicked))
        .layer(map_response(no_store))
}

/// Answers with no more than that something went wrong; what it was goes to the log.
fn panicked(panic: Box<dyn Any + Send>) -> Response {
    panic_error(panic.as_ref()).into_response()
}

/// What a handler's panic means to the caller.
pub(crate) fn panic_error(panic: &(dyn Any + Send)) -> ApiError {
    let message = panic.downcast_ref::<String>().map(String::as_str);
    let message = message.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
    ApiError::internal(format!("a handler panicked: {message}"))
}

pub(crate) async fn no_store(mut response: Response<Body>) -> Response<Body> {
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::routing::get;
    use http::Request;
    use http_body_util::BodyExt as _;
    use tower::ServiceExt as _;

    async fn explode() -> &'static str {
        panic!("geheim")
    }

    #[tokio::test]
    async fn a_handler_that_panics_is_a_500_that_tells_nothing_and_the_next_request_is_served() {
        let router = dressed(Router::new().route("/explode", get(explode)).route("/works", get(async || "yes")));
        let ask = |path: &str| router.clone().oneshot(Request::get(path).body(Body::empty()).unwrap());
        let response = ask("/explode").await.unwrap();
        assert_eq!(response.status(), 500);
        assert_eq!(response.headers()[header::CACHE_CONTROL], "no-store");
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(body["error"]["code"], "internal_error");
        assert!(!body.to_string().contains("geheim"));
        assert_eq!(ask("/works").await.unwrap().status(), 200);
    }
}
