//! Which path is whose.

use std::net::IpAddr;
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use http::Method;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName};
use tower_http::cors::{Any, CorsLayer};

use crate::server::Authorization;
use crate::{authorize, consent, limits, login, metadata, pages, register, revoke, token};

/// Where clients find the server's metadata (RFC 8414 §3; the issuer has no path).
pub const METADATA: &str = "/.well-known/oauth-authorization-server";
pub(crate) const AUTHORIZE: &str = "/oauth/authorize";
pub(crate) const TOKEN: &str = "/oauth/token";
pub(crate) const REGISTER: &str = "/oauth/register";
pub(crate) const REVOKE: &str = "/oauth/revoke";
pub(crate) const JWKS: &str = "/oauth/jwks";
pub(crate) const LOGIN: &str = "/oauth/login";
pub(crate) const CONSENT: &str = "/oauth/consent";
pub(crate) const LOGOUT: &str = "/oauth/logout";
pub(crate) const STYLE: &str = "/oauth/style.css";
pub(crate) const ICON: &str = "/oauth/icon.svg";

/// The most bytes that a program may send.
const LARGEST_BODY: usize = 16 * 1024;
/// The most bytes of a form of ours: it carries a request, whose every letter may have become three.
const LARGEST_FORM: usize = 256 * 1024;
/// For how long browsers keep the answer to a preflight.
const PREFLIGHT: Duration = Duration::from_secs(600);

/// The address that a request came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer(pub IpAddr);

impl Peer {
    /// What limits count it as.
    pub(crate) fn network(self) -> IpAddr {
        limits::network(self.0)
    }
}

/// Whether a path is for the router of this crate.
#[must_use]
pub fn is_ours(path: &str) -> bool {
    path == METADATA || path == "/oauth" || path.starts_with("/oauth/")
}

impl Authorization {
    /// The router of all paths. Each request needs a [`Peer`] among its extensions.
    pub fn router(&self) -> Router {
        let programs = Router::new()
            .route(METADATA, get(metadata::metadata))
            .route(JWKS, get(metadata::jwks))
            .route(TOKEN, post(token::token))
            .route(REGISTER, post(register::register))
            .route(REVOKE, post(revoke::revoke))
            .layer(cors())
            .layer(DefaultBodyLimit::max(LARGEST_BODY));
        let people = Router::new()
            .route(AUTHORIZE, get(authorize::authorize))
            .route(LOGIN, post(login::login))
            .route(CONSENT, post(consent::consent))
            .route(LOGOUT, get(login::signed_out).post(login::logout))
            .route(STYLE, get(pages::style))
            .route(ICON, get(pages::icon))
            .method_not_allowed_fallback(pages::wrong_method)
            .layer(DefaultBodyLimit::max(LARGEST_FORM));
        programs.merge(people).fallback(pages::not_found).with_state(self.clone())
    }
}

/// Any page may talk to the endpoints of programs: they take no cookie and give nothing to whoever has no secret.
fn cors() -> CorsLayer {
    let version = HeaderName::from_static("mcp-protocol-version");
    CorsLayer::new()
        .allow_origin(Any)
        .allow_methods([Method::GET, Method::POST])
        .allow_headers([ACCEPT, AUTHORIZATION, CONTENT_TYPE, version])
        .max_age(PREFLIGHT)
}
