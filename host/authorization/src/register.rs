//! `POST /oauth/register`: a client makes itself known (RFC 7591).

use axum::Extension;
use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, StatusCode};
use kobana_store::clients::{self, ClientRow};
use kobana_store::values::Texts;
use serde_json::json;

use crate::client::{Checked, Metadata};
use crate::error::{Code, OAuthError, no_store};
use crate::limits::TooMany;
use crate::routes::Peer;
use crate::secret;
use crate::server::{Authorization, now};

/// Registers a public client.
pub(crate) async fn register(
    State(Authorization(server)): State<Authorization>,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, OAuthError> {
    server.limits.registrations.take(&peer.network()).map_err(|TooMany(seconds)| OAuthError::too_many(seconds))?;
    let malformed = OAuthError::new(Code::InvalidClientMetadata, "expected a JSON object of at most 16 KiB");
    let media = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !media.split(';').next().is_some_and(|media| media.trim().eq_ignore_ascii_case("application/json")) {
        return Err(malformed);
    }
    let metadata = Metadata::read(&body).ok_or(malformed)?;
    let checked = metadata.check().map_err(|(code, description)| OAuthError::new(code, description))?;
    let at = now();
    let row = ClientRow {
        id: secret::random(),
        name: checked.name.clone(),
        redirect_uris: Texts(checked.redirect_uris.clone()),
        refreshes: checked.refreshes,
        created_at: at.0,
        used_at: None,
    };
    let id = row.id.clone();
    let most = server.settings.max_clients;
    match clients::insert(&server.store, row, most, server.keep_clients(), at).await {
        Ok(true) => Ok(registered(&id, at.unix_seconds(), &checked)),
        Ok(false) => {
            tracing::warn!(most, "there are as many registered clients as there may be");
            let full = OAuthError::new(Code::TemporarilyUnavailable, "no further client can be registered now");
            Err(full.with_status(StatusCode::SERVICE_UNAVAILABLE))
        }
        Err(error) => Err(OAuthError::internal(&error)),
    }
}

/// What was registered (RFC 7591 §3.2.1), defaults included.
fn registered(id: &str, issued_at: i64, checked: &Checked) -> Response {
    let mut grant_types = vec!["authorization_code"];
    if checked.refreshes {
        grant_types.push("refresh_token");
    }
    let mut document = json!({
        "client_id": id,
        "client_id_issued_at": issued_at,
        "redirect_uris": checked.redirect_uris,
        "grant_types": grant_types,
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    });
    if let (Some(name), Some(members)) = (&checked.name, document.as_object_mut()) {
        members.insert("client_name".to_owned(), json!(name));
    }
    (StatusCode::CREATED, no_store(), Json(document)).into_response()
}
