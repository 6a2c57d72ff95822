//! `POST /oauth/revoke`: a client gives back a token (RFC 7009), and with it the grant that it stands on.

use axum::body::Bytes;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode};
use kobana_store::grants::{self, GrantRow};
use kobana_store::sea_orm::DbErr;

use crate::error::{Code, OAuthError, no_store};
use crate::secret;
use crate::server::{Authorization, Server, now};
use crate::token::{client, read};

/// Ends the grant of a token. A token that nobody knows is as good as revoked (RFC 7009 §2.2).
pub(crate) async fn revoke(
    State(Authorization(server)): State<Authorization>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, OAuthError> {
    let parameters = read(&headers, &body)?;
    let Ok(Some(token)) = parameters.one("token") else {
        return Err(OAuthError::new(Code::InvalidRequest, "token is missing"));
    };
    let named = client(&server, &parameters).await?;
    // The hint speeds nothing up here, so it is not asked about; what it may say beside the known is an extension's (§2.1).
    if let Some(grant) = find(&server, token).await.map_err(|error| OAuthError::internal(&error))? {
        if named.is_some_and(|named| named != grant.client_id) {
            return Err(OAuthError::new(Code::InvalidGrant, "the token was issued to another client"));
        }
        end(&server, &grant).await.map_err(|error| OAuthError::internal(&error))?;
    }
    Ok((StatusCode::OK, no_store()).into_response())
}

/// The grant that a refresh token, or an access token that has not ended, stands on.
async fn find(server: &Server, token: &str) -> Result<Option<GrantRow>, DbErr> {
    match server.tokens.verify(token) {
        Ok(claims) => grants::find(&server.store, claims.grant).await,
        Err(_) => grants::of_refresh_token(&server.store, &secret::hash(token)).await,
    }
}

async fn end(server: &Server, grant: &GrantRow) -> Result<(), DbErr> {
    let tx = server.store.begin().await?;
    grants::revoke(&tx, grant.id, now()).await?;
    tx.commit().await?;
    tracing::info!(grant = %grant.id, client = grant.client_name, "a grant was revoked by its client");
    Ok(())
}
