//! `POST /oauth/token`: codes and refresh tokens become access tokens (RFC 6749 §4.1.3, §6).

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::HeaderMap;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use kobana_contract::{Scope, Timestamp};
use kobana_identity::AccessClaims;
use kobana_store::grants::{self, CodeRow, Ends, GrantRow, Redeemed, Rotated, Rotation};
use serde_json::json;
use uuid::Uuid;

use crate::error::{Code, OAuthError, no_store};
use crate::form::Parameters;
use crate::server::{Authorization, Server, now};
use crate::settings::{REFRESH_GRACE, seconds};
use crate::{pkce, scopes, secret};

const FORM: &str = "application/x-www-form-urlencoded";

/// Issues tokens.
pub(crate) async fn token(
    State(Authorization(server)): State<Authorization>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, OAuthError> {
    let parameters = read(&headers, &body)?;
    let missing = |description| OAuthError::new(Code::InvalidRequest, description);
    let grant_type = required(&parameters, "grant_type", missing("grant_type is missing"))?;
    let client_id = client(&server, &parameters).await?.ok_or(missing("client_id is missing"))?;
    check_resources(&server, &parameters)?;
    match grant_type {
        "authorization_code" => redeem(&server, &parameters, &client_id).await,
        "refresh_token" => refresh(&server, &parameters, &client_id).await,
        _ => Err(OAuthError::new(Code::UnsupportedGrantType, "expected authorization_code or refresh_token")),
    }
}

/// The parameters of a form that a program sends. `resource` alone may stand several times (RFC 8707 §2).
pub(crate) fn read(headers: &HeaderMap, body: &[u8]) -> Result<Parameters, OAuthError> {
    let media = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !media.split(';').next().is_some_and(|media| media.trim().eq_ignore_ascii_case(FORM)) {
        return Err(OAuthError::new(Code::InvalidRequest, "expected Content-Type application/x-www-form-urlencoded"));
    }
    let parameters = Parameters::read(body);
    if parameters.repeated(&["resource"]).is_some() {
        return Err(OAuthError::new(Code::InvalidRequest, "a parameter stands several times"));
    }
    if headers.contains_key(AUTHORIZATION) {
        return Err(OAuthError::secret_refused());
    }
    let secrets = ["client_secret", "client_assertion", "client_assertion_type"];
    if secrets.iter().any(|name| !parameters.all(name).is_empty()) {
        return Err(OAuthError::new(Code::InvalidClient, "clients are public here and have no secrets"));
    }
    Ok(parameters)
}

/// The client that a form names, if it names one.
pub(crate) async fn client(server: &Server, parameters: &Parameters) -> Result<Option<String>, OAuthError> {
    let Ok(Some(id)) = parameters.one("client_id") else { return Ok(None) };
    match server.knows(id).await {
        Ok(true) => Ok(Some(id.to_owned())),
        Ok(false) => Err(OAuthError::new(Code::InvalidClient, "there is no such client")),
        Err(error) => Err(OAuthError::internal(&error)),
    }
}

fn required<'a>(parameters: &'a Parameters, name: &str, missing: OAuthError) -> Result<&'a str, OAuthError> {
    parameters.one(name).ok().flatten().ok_or(missing)
}

fn check_resources(server: &Server, parameters: &Parameters) -> Result<(), OAuthError> {
    match parameters.all("resource").iter().all(|named| server.is_resource(named)) {
        true => Ok(()),
        false => Err(OAuthError::new(Code::InvalidTarget, "resource: tokens are issued for the MCP endpoint only")),
    }
}

async fn redeem(server: &Server, parameters: &Parameters, client_id: &str) -> Result<Response, OAuthError> {
    let missing = |description| OAuthError::new(Code::InvalidRequest, description);
    let code = required(parameters, "code", missing("code is missing"))?;
    let verifier = required(parameters, "code_verifier", missing("code_verifier is missing"))?;
    let redirect_uri = parameters.one("redirect_uri").ok().flatten();
    let proves = |grant: &GrantRow, issued: &CodeRow| {
        // OAuth 2.1 leaves redirect_uri out here; where it stands it must be the same (RFC 6749 §4.1.3).
        grant.client_id == client_id
            && redirect_uri.is_none_or(|uri| uri == issued.redirect_uri)
            && pkce::proves(verifier, &issued.challenge)
            && grant.resource == server.tokens.resource()
    };
    let refresh_token = secret::random();
    let at = now();
    let ends = ends(server, at);
    let hash = secret::hash(&refresh_token);
    let redeemed = grants::redeem(&server.store, &secret::hash(code), proves, &hash, ends, at).await;
    match redeemed.map_err(|error| OAuthError::internal(&error))? {
        Redeemed::Granted(grant) => {
            tracing::info!(grant = %grant.id, client = grant.client_name, "a code was redeemed");
            let scopes = scopes::parse(&grant.scopes).unwrap_or_default();
            issue(server, &grant, &scopes, grant.refreshes.then_some(refresh_token), at)
        }
        refused => {
            tracing::warn!(client_id, known = refused != Redeemed::Unknown, "a code was refused");
            let why =
                "the code is unknown, expired or used, or client_id, redirect_uri or code_verifier do not belong to it";
            Err(OAuthError::new(Code::InvalidGrant, why))
        }
    }
}

/// When tokens that are issued now end. The store ends a grant without refresh tokens with its one access token.
fn ends(server: &Server, at: Timestamp) -> Ends {
    Ends {
        access: at.plus_seconds(seconds(server.settings.access_lifetime)),
        grant: at.plus_seconds(seconds(server.settings.refresh_lifetime)),
        refresh: at.plus_seconds(seconds(server.settings.refresh_idle)),
    }
}

async fn refresh(server: &Server, parameters: &Parameters, client_id: &str) -> Result<Response, OAuthError> {
    let missing = OAuthError::new(Code::InvalidRequest, "refresh_token is missing");
    let token = required(parameters, "refresh_token", missing)?;
    let unknown = || OAuthError::new(Code::InvalidScope, "scope: there is no such scope");
    let wanted = parameters.one("scope").ok().flatten().map(scopes::parse).transpose().map_err(|_| unknown())?;
    let accept = |grant: &GrantRow| {
        if grant.client_id != client_id || grant.resource != server.tokens.resource() {
            return Err(unusable());
        }
        let granted = scopes::parse(&grant.scopes).unwrap_or_default();
        match &wanted {
            Some(wanted) if !scopes::within(wanted, &granted) => {
                Err(OAuthError::new(Code::InvalidScope, "scope: expected some of the scopes that were granted"))
            }
            _ => Ok(()),
        }
    };
    let successor = server.key.successor(token);
    let (hash, next) = (secret::hash(token), secret::hash(&successor));
    let at = now();
    let rotation =
        Rotation { hash: &hash, successor: &next, expires_at: ends(server, at).refresh, grace: REFRESH_GRACE };
    let rotated = grants::rotate(&server.store, rotation, accept, at).await;
    match rotated.map_err(|error| OAuthError::internal(&error))? {
        Rotated::Granted(grant) => {
            let granted = scopes::parse(&grant.scopes).unwrap_or_default();
            issue(server, &grant, &wanted.unwrap_or(granted), Some(successor), at)
        }
        Rotated::Rejected(refusal) => Err(refusal),
        Rotated::Reused => {
            tracing::warn!(client_id, "a refresh token came again after it was replaced: its grant is revoked");
            Err(unusable())
        }
        Rotated::Unusable => Err(unusable()),
    }
}

fn unusable() -> OAuthError {
    OAuthError::new(Code::InvalidGrant, "the refresh token is unknown, expired, revoked or used, or another client's")
}

/// The answer of RFC 6749 §5.1.
fn issue(
    server: &Server,
    grant: &GrantRow,
    scopes: &[Scope],
    refresh_token: Option<String>,
    at: Timestamp,
) -> Result<Response, OAuthError> {
    let (scope, lifetime) = (scopes::join(scopes), seconds(server.settings.access_lifetime));
    let claims = AccessClaims {
        iss: server.tokens.issuer().to_owned(),
        sub: grant.person_id,
        aud: server.tokens.resource().to_owned(),
        client_id: grant.client_id.clone(),
        client_name: grant.client_name.clone(),
        scope: scope.clone(),
        jti: Uuid::now_v7().to_string(),
        iat: at.unix_seconds(),
        exp: at.plus_seconds(lifetime).unix_seconds(),
        grant: grant.id,
        workspace: grant.workspace_id,
    };
    let access_token = server.tokens.sign(&claims).map_err(|error| OAuthError::internal(&error))?;
    let mut body = json!({
        "access_token": access_token,
        "token_type": "Bearer",
        "expires_in": lifetime,
        "scope": scope,
    });
    if let (Some(token), Some(members)) = (refresh_token, body.as_object_mut()) {
        members.insert("refresh_token".to_owned(), json!(token));
    }
    Ok((no_store(), Json(body)).into_response())
}
