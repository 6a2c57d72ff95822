//! What the component calls: the host side of `kobana:api/dispatch`, as a trait.
//!
//! Whoever embeds the runtime implements [`Dispatch`] with a real identity and a real API. The meaning of
//! the types is written down in `wit/dispatch.wit`; nothing of MCP appears in them.

use std::sync::Arc;

use async_trait::async_trait;
pub use kobana_wire::extension;
pub use kobana_wire::{
    Action, Allowance, Answer, Credentials, Denial, Failure, Method, Profile, Redemption, Request, Response, Throttle,
};

/// Proves credentials.
#[async_trait]
pub trait Dispatch: Send + Sync + 'static {
    /// Proves the credentials and takes one request off the caller's allowance.
    async fn authenticate(&self, credentials: Credentials) -> Result<Arc<dyn Caller>, Denial>;
}

/// A verified identity, for the time of one request.
#[async_trait]
pub trait Caller: Send + Sync + 'static {
    /// Where the caller acts and what it may do.
    fn profile(&self) -> Arc<Profile>;
    /// What is left of the allowance.
    fn allowance(&self) -> Allowance;
    /// Calls one operation as this caller.
    async fn call(&self, request: Request) -> Result<Response, Failure>;

    /// Checks whatever `call` would check and changes nothing; answers the row that it would act on. An embedder without
    /// operations that a person confirms has nothing to prepare.
    async fn prepare(&self, _request: Request) -> Result<Response, Failure> {
        Err(Failure::Internal)
    }

    /// Offers rows of the list that the request reads, of which a text begins with the prefix. An embedder without such
    /// lists has nothing to offer.
    async fn suggest(&self, _request: Request, _prefix: String) -> Result<Response, Failure> {
        Err(Failure::Internal)
    }

    /// Seals what the caller is about to be asked.
    async fn issue_confirmation(&self, _action: Action) -> Result<String, Failure> {
        Err(Failure::Internal)
    }

    /// Opens a sealed state. An answer spends it, whatever the answer is.
    async fn redeem_confirmation(&self, _state: String, _action: Action, _answer: Answer) -> Result<(), Redemption> {
        Err(Redemption::Invalid)
    }

    /// Puts on record that a call was refused because nobody could be asked.
    async fn refuse_confirmation(&self, _action: Action) {}

    /// What the extensions of the workspace offer to the caller, in an order that does not change. An embedder without
    /// extensions has none.
    async fn offers(&self, _kind: extension::Kind) -> Result<Vec<extension::Offer>, Failure> {
        Ok(Vec::new())
    }

    /// The one offer of a name, or the one that leads to a URI: with [`extension::Kind::Resource`] that is a resource or else a
    /// template, with [`extension::Kind::ResourceTemplate`] the URI may be the template itself.
    async fn find_offer(&self, _kind: extension::Kind, _name: String) -> Result<Option<extension::Offer>, Failure> {
        Ok(None)
    }

    /// Uses what is offered, in a sandbox that can do nothing but what the caller may do.
    async fn use_offer(&self, _offer: extension::Use) -> Result<extension::Outcome, Failure> {
        Ok(extension::Outcome::Missing)
    }

    /// Seals what the caller is to bring again, for this action.
    async fn seal(&self, _action: Action, _content: Vec<u8>) -> Result<String, Failure> {
        Err(Failure::Internal)
    }

    /// Opens what was sealed for the same action, and spends it.
    async fn open(&self, _state: String, _action: Action) -> Result<Vec<u8>, Redemption> {
        Err(Redemption::Invalid)
    }
}
