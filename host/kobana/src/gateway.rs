//! What the component's imported interface is here: the identity of this process and the router of `/api/v1`, called in
//! process. No socket, no token, no second implementation.

use std::sync::Arc;

use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http_body_util::BodyExt as _;
use kobana_api::{Prepare, Suggest};
use kobana_contract::Choice;
use kobana_identity::{Admission, Audience, Confirmations, Identity, Tickets};
use kobana_runtime::dispatch::{
    Action, Allowance, Answer, Caller, Credentials, Denial, Dispatch, Failure, Method, Profile, Redemption, Request,
    Response,
};
use tower::ServiceExt as _;

/// Identity and API of this process, for the component.
pub(crate) struct InProcess {
    identity: Arc<Identity>,
    confirmations: Confirmations,
    api: Router,
}

impl InProcess {
    /// `api` is the router of `/api/v1`, which takes its caller from the request's extensions.
    pub(crate) fn new(identity: Arc<Identity>, confirmations: Confirmations, api: Router) -> Self {
        Self { identity, confirmations, api }
    }

    /// Proves the credentials and takes one request off the caller's allowance.
    pub(crate) async fn admit(&self, credentials: Credentials) -> Result<Admission, Denial> {
        let Credentials { authorization, workspace } = credentials;
        self.identity.authenticate(authorization.as_deref(), workspace.as_deref(), Audience::Mcp).await
    }

    /// The caller of a ticket that `holder` was given.
    pub(crate) async fn resume(
        &self,
        tickets: &Tickets,
        ticket: &str,
        holder: &str,
    ) -> Result<Arc<dyn Caller>, Denial> {
        Ok(self.caller(self.identity.resume(tickets, ticket, holder).await?))
    }

    /// What somebody who was admitted may do.
    pub(crate) fn caller(&self, admission: Admission) -> Arc<dyn Caller> {
        Arc::new(Admitted { admission, api: self.api.clone(), confirmations: self.confirmations.clone() })
    }
}

#[async_trait]
impl Dispatch for InProcess {
    async fn authenticate(&self, credentials: Credentials) -> Result<Arc<dyn Caller>, Denial> {
        self.admit(credentials).await.map(|admission| self.caller(admission))
    }
}

/// A caller, the API to call, and the seal of what the caller confirms.
struct Admitted {
    admission: Admission,
    api: Router,
    confirmations: Confirmations,
}

#[async_trait]
impl Caller for Admitted {
    fn profile(&self) -> Profile {
        let caller = &self.admission.caller;
        let workspace = match caller.choice {
            Choice::Picked(_) => caller.workspace().map(|member| member.workspace_id.to_string()),
            Choice::Open | Choice::OutOfReach | Choice::Nothing => None,
        };
        Profile {
            subject: caller.person_id.to_string(),
            client: caller.client.clone(),
            workspace,
            scopes: caller.scopes.iter().map(|scope| scope.as_str().to_owned()).collect(),
            permissions: caller.permissions().iter().map(|permission| permission.as_str().to_owned()).collect(),
        }
    }

    fn allowance(&self) -> Allowance {
        self.admission.allowance
    }

    async fn call(&self, request: Request) -> Result<Response, Failure> {
        self.send(self.http_request(request)?).await
    }

    async fn prepare(&self, request: Request) -> Result<Response, Failure> {
        let mut request = self.http_request(request)?;
        request.extensions_mut().insert(Prepare);
        self.send(request).await
    }

    async fn suggest(&self, request: Request, prefix: String) -> Result<Response, Failure> {
        let mut request = self.http_request(request)?;
        request.extensions_mut().insert(Suggest { prefix });
        self.send(request).await
    }

    async fn issue_confirmation(&self, action: Action) -> Result<String, Failure> {
        self.confirmations.issue(&self.admission.caller, &action).ok_or(Failure::Internal)
    }

    async fn redeem_confirmation(&self, state: String, action: Action, answer: Answer) -> Result<(), Redemption> {
        self.confirmations.redeem(&self.admission.caller, &state, &action, answer).await
    }

    async fn refuse_confirmation(&self, action: Action) {
        self.confirmations.refuse(&self.admission.caller, &action).await;
    }
}

impl Admitted {
    async fn send(&self, request: http::Request<Body>) -> Result<Response, Failure> {
        let response = self.api.clone().oneshot(request).await.unwrap_or_else(|never| match never {});
        let (parts, body) = response.into_parts();
        let retry_after = parts.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
        let body = body.collect().await.map_err(|error| {
            tracing::error!(%error, "the API's answer broke off");
            Failure::Internal
        })?;
        Ok(Response { status: parts.status.as_u16(), body: body.to_bytes().into(), retry_after })
    }

    fn http_request(&self, request: Request) -> Result<http::Request<Body>, Failure> {
        let mut uri = request.path;
        if !request.query.is_empty() {
            uri.push('?');
            uri.push_str(&encode(&request.query));
        }
        let mut builder = http::Request::builder().method(verb(request.method)).uri(uri);
        if let Some(key) = request.idempotency_key {
            builder = builder.header("x-idempotency-key", key);
        }
        if request.body.is_some() {
            builder = builder.header(CONTENT_TYPE, "application/json");
        }
        let body = request.body.map_or_else(Body::empty, Body::from);
        builder.extension(Arc::clone(&self.admission.caller)).body(body).map_err(|error| {
            // The protocol encodes every part; a request that cannot be built is a fault of ours.
            tracing::error!(%error, "a call is no HTTP request");
            Failure::Internal
        })
    }
}

const fn verb(method: Method) -> http::Method {
    match method {
        Method::Get => http::Method::GET,
        Method::Post => http::Method::POST,
        Method::Put => http::Method::PUT,
        Method::Patch => http::Method::PATCH,
        Method::Delete => http::Method::DELETE,
    }
}

/// Writes query parameters as `application/x-www-form-urlencoded` does.
fn encode(query: &[(String, String)]) -> String {
    let mut out = form_urlencoded::Serializer::new(String::new());
    out.extend_pairs(query);
    out.finish()
}
