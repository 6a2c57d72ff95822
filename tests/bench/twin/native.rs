//! `kobana:api/dispatch`, from the protocol's traits straight to the host's.

use std::sync::Arc;

use kobana_protocol::extension::{Kind, Offer, Outcome, Use};
use kobana_protocol::{
    Action, Allowance, Answer, Caller, Credentials, Denial, Dispatch, Failure, Profile, Redemption, Request, Response,
};
use kobana_runtime::dispatch as host;

/// The API of this process.
pub(crate) struct Api(pub(crate) Arc<dyn host::Dispatch>);

/// Somebody who was admitted to it.
pub(crate) struct Admitted(Arc<dyn host::Caller>);

impl Dispatch for Api {
    type Caller = Admitted;

    async fn authenticate(&self, credentials: Credentials) -> Result<Admitted, Denial> {
        self.0.authenticate(credentials).await.map(Admitted)
    }
}

impl Caller for Admitted {
    async fn profile(&self) -> Profile {
        Arc::unwrap_or_clone(self.0.profile())
    }

    async fn allowance(&self) -> Allowance {
        self.0.allowance()
    }

    async fn call(&self, request: Request) -> Result<Response, Failure> {
        self.0.call(request).await
    }

    async fn prepare(&self, request: Request) -> Result<Response, Failure> {
        self.0.prepare(request).await
    }

    async fn suggest(&self, request: Request, prefix: String) -> Result<Response, Failure> {
        self.0.suggest(request, prefix).await
    }

    async fn issue_confirmation(&self, action: Action) -> Result<String, Failure> {
        self.0.issue_confirmation(action).await
    }

    async fn redeem_confirmation(&self, state: String, action: Action, answer: Answer) -> Result<(), Redemption> {
        self.0.redeem_confirmation(state, action, answer).await
    }

    async fn refuse_confirmation(&self, action: Action) {
        self.0.refuse_confirmation(action).await;
    }

    async fn offers(&self, kind: Kind) -> Result<Vec<Offer>, Failure> {
        self.0.offers(kind).await
    }

    async fn find_offer(&self, kind: Kind, name: String) -> Result<Option<Offer>, Failure> {
        self.0.find_offer(kind, name).await
    }

    async fn use_offer(&self, offer: Use) -> Result<Outcome, Failure> {
        self.0.use_offer(offer).await
    }

    async fn seal(&self, action: Action, content: Vec<u8>) -> Result<String, Failure> {
        self.0.seal(action, content).await
    }

    async fn open(&self, state: String, action: Action) -> Result<Vec<u8>, Redemption> {
        self.0.open(state, action).await
    }
}
