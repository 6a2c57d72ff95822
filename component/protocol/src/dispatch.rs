//! The API as the protocol sees it: the interface `kobana:api/dispatch` as traits.
//!
//! The gateway implements them over the component's imports, tests and native builds over the API itself. Meaning and
//! units of every field are written down in `wit/dispatch.wit`. The traits are `async` but ask for no runtime: where
//! every call is synchronous, as in `wasi:http` 0.2, no future of this crate is ever pending.

pub use kobana_wire::{
    Action, Allowance, Answer, Credentials, Denial, Failure, Method, Profile, Redemption, Request, Response, Throttle,
};

/// Proves credentials.
pub trait Dispatch {
    /// The identity that proven credentials give.
    type Caller: Caller;
    /// Proves the credentials and takes one request off the caller's allowance.
    async fn authenticate(&self, credentials: Credentials) -> Result<Self::Caller, Denial>;
}

/// A verified identity, for the time of one request.
pub trait Caller {
    /// What the caller is and may do.
    async fn profile(&self) -> Profile;
    /// What is left of the allowance.
    async fn allowance(&self) -> Allowance;
    /// Calls one operation as this caller.
    async fn call(&self, request: Request) -> Result<Response, Failure>;
    /// Checks whatever `call` would check and changes nothing. Answers the row that the call would act on, or the refusal
    /// that it would give.
    async fn prepare(&self, request: Request) -> Result<Response, Failure>;
    /// Offers rows of the list that the request reads, of which a text begins with the prefix: 200 with
    /// `{"data": {"values": [...], "total": n}}`, or the refusal that `call` would give.
    async fn suggest(&self, request: Request, prefix: String) -> Result<Response, Failure>;
    /// Seals what this caller is about to be asked, so that the answer can be brought back by anyone and used by nobody else.
    async fn issue_confirmation(&self, action: Action) -> Result<String, Failure>;
    /// Opens a sealed state. An answer spends it, whatever the answer is.
    async fn redeem_confirmation(&self, state: String, action: Action, answer: Answer) -> Result<(), Redemption>;
    /// Puts on record that a call was refused because nobody could be asked.
    async fn refuse_confirmation(&self, action: Action);
}
