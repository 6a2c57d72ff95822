//! The functions of the interface, as types: what is asked, and what is answered.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_bytes::ByteBuf;

use crate::extension::{Kind, Offer, Outcome, Use};
use crate::message::{Action, Admitted, Answer, As, Credentials, Denial, Failure, Redemption, Request, Response};

/// One function.
pub trait Function {
    /// What stands behind [`PREFIX`](crate::PREFIX).
    const NAME: &'static str;
    /// What is asked.
    type Question: Serialize + DeserializeOwned + Send;
    /// What is answered.
    type Reply: Serialize + DeserializeOwned + Send;
}

macro_rules! functions {
    ($($(#[$meta:meta])* $name:ident = $path:literal: $question:ty => $reply:ty;)+) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy)]
        pub struct $name;

        impl Function for $name {
            const NAME: &'static str = $path;
            type Question = $question;
            type Reply = $reply;
        }
    )+};
}

functions! {
    /// Proves the credentials and takes one request off the caller's allowance. The only function that sees a token.
    Authenticate = "authenticate": Credentials => Result<Admitted, Denial>;
    /// Calls one operation.
    Call = "call": As<Request> => Result<Response, Failure>;
    /// Checks whatever [`Call`] would check and changes nothing.
    Prepare = "prepare": As<Request> => Result<Response, Failure>;
    /// Offers rows of the list that the request reads; the text is what was typed so far.
    Suggest = "suggest": As<(Request, String)> => Result<Response, Failure>;
    /// Seals what the caller is about to be asked.
    IssueConfirmation = "issue-confirmation": As<Action> => Result<String, Failure>;
    /// Opens a sealed state, the text.
    RedeemConfirmation = "redeem-confirmation": As<(String, Action, Answer)> => Result<(), Redemption>;
    /// Puts on record that a call was refused because nobody could be asked.
    RefuseConfirmation = "refuse-confirmation": As<Action> => ();
    /// What the extensions of the caller's workspace offer to the caller.
    Offers = "offers": As<Kind> => Result<Vec<Offer>, Failure>;
    /// The one offer of a name, or that leads to a URI.
    FindOffer = "find-offer": As<(Kind, String)> => Result<Option<Offer>, Failure>;
    /// Uses what is offered.
    UseOffer = "use-offer": As<Use> => Result<Outcome, Failure>;
    /// Seals what the caller is to bring again.
    Seal = "seal": As<(Action, ByteBuf)> => Result<String, Failure>;
    /// Opens what was sealed for the same action.
    Open = "open": As<(String, Action)> => Result<ByteBuf, Redemption>;
}
