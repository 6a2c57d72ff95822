//! The API as the protocol sees it: the interface `kobana:api/dispatch` as traits.
//!
//! The gateway implements them over the component's imports, tests and native builds over the API itself. Meaning and
//! units of every field are written down in `wit/dispatch.wit`. The traits are `async` but ask for no runtime: where
//! every call is synchronous, as in `wasi:http` 0.2, no future of this crate is ever pending.

pub use kobana_wire::extension;
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
    /// What the extensions of the workspace offer to this caller, in an order that does not change.
    async fn offers(&self, kind: extension::Kind) -> Result<Vec<extension::Offer>, Failure>;
    /// The one offer of a name, or the one that leads to a URI: with [`extension::Kind::Resource`] that is a resource or else a
    /// template, with [`extension::Kind::ResourceTemplate`] the URI may be the template itself.
    async fn find_offer(&self, kind: extension::Kind, name: String) -> Result<Option<extension::Offer>, Failure>;
    /// Uses what is offered, in a sandbox that can do nothing but what this caller may do.
    async fn use_offer(&self, offer: extension::Use) -> Result<extension::Outcome, Failure>;
    /// Seals what this caller is to bring again, for this action.
    async fn seal(&self, action: Action, content: Vec<u8>) -> Result<String, Failure>;
    /// Opens what was sealed for the same action, and spends it.
    async fn open(&self, state: String, action: Action) -> Result<Vec<u8>, Redemption>;
}
