//! `/api/v1` over HTTP: the bearer layer in front of the very router that the component calls in process.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use http::HeaderMap;
use http::header::{AUTHORIZATION, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use kobana_api::ApiError;
use kobana_contract::openapi::BASE;
use kobana_identity::{Admission, Allowance, Audience, Denial, Identity, Throttle};

const WORKSPACE: HeaderName = HeaderName::from_static("x-workspace-id");

/// The router of `/api/v1` with its paths in full, for whoever has a token; its description is for everyone.
pub(crate) fn router(identity: Arc<Identity>, api: Router) -> Router {
    let guarded = Router::new().nest(BASE, api).layer(from_fn_with_state(identity, admit));
    guarded.nest(BASE, kobana_api::document())
}

/// Proves the caller, hands it on, and says on every answer what is left of the allowance.
async fn admit(State(identity): State<Arc<Identity>>, mut request: Request, next: Next) -> Response {
    match prove(&identity, request.headers()).await {
        Ok((Admission { caller, allowance, .. }, refusal)) => {
            request.extensions_mut().insert(caller);
            let response = match refusal {
                Some(error) => error.into_response(),
                None => next.run(request).await,
            };
            with_allowance(response, allowance)
        }
        Err(denial) => denied(denial),
    }
}

/// The caller, and what is wrong with the choice of the workspace, if anything is.
async fn prove(identity: &Identity, headers: &HeaderMap) -> Result<(Admission, Option<ApiError>), Denial> {
    let authorization = single(headers, &AUTHORIZATION).map_err(|Repeated| Denial::Invalid)?;
    let (workspace, refusal) = match single(headers, &WORKSPACE) {
        Ok(workspace) => (workspace, None),
        Err(Repeated) => (None, Some(ApiError::invalid_field("X-Workspace-Id", "must stand once"))),
    };
    let admission = identity.authenticate(authorization.as_deref(), workspace.as_deref(), Audience::Rest).await?;
    Ok((admission, refusal))
}

/// A field that may stand once stands several times.
struct Repeated;

fn single(headers: &HeaderMap, name: &HeaderName) -> Result<Option<String>, Repeated> {
    let mut lines = headers.get_all(name).iter();
    match (lines.next(), lines.next()) {
        (None, _) => Ok(None),
        (Some(line), None) => Ok(Some(String::from_utf8_lossy(line.as_bytes()).into_owned())),
        (Some(_), Some(_)) => Err(Repeated),
    }
}

fn denied(denial: Denial) -> Response {
    match denial {
        Denial::Missing => challenged(ApiError::MissingToken, "Bearer"),
        Denial::Invalid => challenged(ApiError::InvalidToken, r#"Bearer error="invalid_token""#),
        Denial::Expired => challenged(
            ApiError::InvalidToken,
            r#"Bearer error="invalid_token", error_description="The access token expired""#,
        ),
        Denial::WrongAudience => challenged(
            ApiError::InvalidToken,
            r#"Bearer error="invalid_token", error_description="The access token was issued for another resource""#,
        ),
        Denial::RateLimited(Throttle { allowance, retry_after }) => {
            let error = ApiError::RateLimited { limit: allowance.limit, retry_after };
            with_allowance(error.into_response(), allowance)
        }
        Denial::Unavailable(retry_after) => ApiError::Unavailable { retry_after, cause: None }.into_response(),
    }
}

fn challenged(error: ApiError, challenge: &'static str) -> Response {
    let mut response = error.into_response();
    response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
    response
}

fn with_allowance(mut response: Response, allowance: Allowance) -> Response {
    let headers = response.headers_mut();
    headers.insert("x-ratelimit-limit", allowance.limit.into());
    headers.insert("x-ratelimit-remaining", allowance.remaining.into());
    headers.insert("x-ratelimit-reset", allowance.reset.into());
    response
}
