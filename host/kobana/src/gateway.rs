//! What the component's imported interface is here: the identity of this process and the operations of `/api/v1`, called in
//! process. No socket, no token, no second implementation.

use std::sync::Arc;

use async_trait::async_trait;
use kobana_api::{Local, LocalApi};
use kobana_extensions::Registry;
use kobana_identity::{Admission, Audience, Confirmations, Identity, Tickets};
use kobana_runtime::dispatch::extension::{Kind, Offer, Outcome, Use};
use kobana_runtime::dispatch::{
    Action, Allowance, Answer, Caller, Credentials, Denial, Dispatch, Failure, Profile, Redemption, Request, Response,
};

/// Identity and API of this process, for the component.
pub(crate) struct InProcess {
    identity: Arc<Identity>,
    confirmations: Confirmations,
    api: LocalApi,
    extensions: Registry,
}

impl InProcess {
    pub(crate) fn new(
        identity: Arc<Identity>,
        confirmations: Confirmations,
        api: LocalApi,
        extensions: Registry,
    ) -> Self {
        Self { identity, confirmations, api, extensions }
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
        let api = Local { api: self.api.clone(), caller: Arc::clone(&admission.caller) };
        let (confirmations, extensions) = (self.confirmations.clone(), self.extensions.clone());
        Arc::new(Admitted { admission, api, confirmations, extensions })
    }
}

#[async_trait]
impl Dispatch for InProcess {
    async fn authenticate(&self, credentials: Credentials) -> Result<Arc<dyn Caller>, Denial> {
        self.admit(credentials).await.map(|admission| self.caller(admission))
    }
}

/// A caller, the API to call, the seal of what the caller confirms, and what workspaces bring of their own.
struct Admitted {
    admission: Admission,
    api: Local,
    confirmations: Confirmations,
    extensions: Registry,
}

#[async_trait]
impl Caller for Admitted {
    fn profile(&self) -> Arc<Profile> {
        Arc::clone(&self.admission.profile)
    }

    fn allowance(&self) -> Allowance {
        self.admission.allowance
    }

    async fn call(&self, request: Request) -> Result<Response, Failure> {
        self.api.call(request).await
    }

    async fn prepare(&self, request: Request) -> Result<Response, Failure> {
        self.api.prepare(request).await
    }

    async fn suggest(&self, request: Request, prefix: String) -> Result<Response, Failure> {
        self.api.suggest(request, prefix).await
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

    async fn offers(&self, kind: Kind) -> Result<Vec<Offer>, Failure> {
        self.extensions.offers(&self.admission.caller, kind).await
    }

    async fn find_offer(&self, kind: Kind, name: String) -> Result<Option<Offer>, Failure> {
        self.extensions.find_offer(&self.admission.caller, kind, &name).await
    }

    async fn use_offer(&self, wanted: Use) -> Result<Outcome, Failure> {
        self.extensions.use_offer(&self.admission.caller, &self.api.api, wanted).await
    }

    async fn seal(&self, action: Action, content: Vec<u8>) -> Result<String, Failure> {
        self.confirmations.seal(&self.admission.caller, &action, &content).ok_or(Failure::Internal)
    }

    async fn open(&self, state: String, action: Action) -> Result<Vec<u8>, Redemption> {
        self.confirmations.open(&self.admission.caller, &state, &action).await
    }
}
