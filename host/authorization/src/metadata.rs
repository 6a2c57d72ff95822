//! What clients discover: the server's metadata (RFC 8414) and its public keys (RFC 7517).

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, HeaderValue};
use kobana_contract::Scope;
use serde_json::{Value, json};

use crate::server::{Authorization, Server};
use crate::{pkce, routes};

/// For how long the documents may be kept: they change with the configuration only.
const FRESH: HeaderValue = HeaderValue::from_static("public, max-age=300");

/// `GET /.well-known/oauth-authorization-server`.
pub(crate) async fn metadata(State(server): State<Authorization>) -> Response {
    ([(CACHE_CONTROL, FRESH)], Json(document(&server.0))).into_response()
}

/// `GET /oauth/jwks`.
pub(crate) async fn jwks(State(server): State<Authorization>) -> Response {
    ([(CACHE_CONTROL, FRESH)], Json(server.0.tokens.jwks())).into_response()
}

fn document(server: &Server) -> Value {
    json!({
        "issuer": server.tokens.issuer(),
        "authorization_endpoint": server.url(routes::AUTHORIZE),
        "token_endpoint": server.url(routes::TOKEN),
        "registration_endpoint": server.url(routes::REGISTER),
        "revocation_endpoint": server.url(routes::REVOKE),
        "jwks_uri": server.url(routes::JWKS),
        "scopes_supported": Scope::ALL.iter().map(|scope| scope.as_str()).collect::<Vec<_>>(),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "code_challenge_methods_supported": [pkce::METHOD],
        // RFC 9207 §3.
        "authorization_response_iss_parameter_supported": true,
        "client_id_metadata_document_supported": true,
        "protected_resources": [server.tokens.resource()],
        "ui_locales_supported": ["pt-BR", "en"],
    })
}
