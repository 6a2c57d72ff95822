//! The interface `kobana:api/dispatch` as types, for the protocol, for the host, and for what the edge adapter
//! (`component/edge`) and the host say to each other over HTTP.
//!
//! A function is one `POST` to [`PREFIX`] and its name, with the edge key as a bearer token (RFC 6750 §2.1). Both bodies are
//! postcard: short, and quick to read and write in WebAssembly; a body of the API travels as it is. Every answer of the
//! host, refusals included, has the header [`VERSION_HEADER`]. The meaning of the types is written down in `wit/dispatch.wit`.
//!
//! Postcard does not describe itself, so whoever changes a type here changes the language: a change of any type raises
//! [`VERSION`] and [`PREFIX`] together. A new function does not.

pub mod extension;
mod function;
mod message;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use function::{
    Authenticate, Call, FindOffer, Function, IssueConfirmation, Offers, Open, Prepare, RedeemConfirmation,
    RefuseConfirmation, Seal, Suggest, UseOffer,
};
pub use message::{
    Action, Admitted, Allowance, Answer, As, Credentials, Denial, Failure, Method, Profile, Redemption, Request,
    Response, Throttle,
};

/// The version of the language.
pub const VERSION: &str = "2";
/// The name of the header that says it.
pub const VERSION_HEADER: &str = "kobana-edge-version";
/// What stands before the name of a function.
pub const PREFIX: &str = "/edge/v2/";
/// What all paths of whatever version begin with.
pub const ROOT: &str = "/edge/";
/// The media type of both bodies.
pub const MEDIA_TYPE: &str = "application/vnd.kobana.edge";
/// The longest question, in bytes: a state and a call of at most 1 MiB each (protocol.md §2), and room for what is around them.
pub const LONGEST_QUESTION: usize = 4 << 20;
/// The longest answer, in bytes. The host keeps to a limit of its own, which is lower.
pub const LONGEST_ANSWER: usize = 16 << 20;

/// Bytes that say something else, or nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unreadable;

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the message is cut short or of another version")
    }
}

impl std::error::Error for Unreadable {}

/// Writes a message.
///
/// # Errors
/// [`Unreadable`], which no type of this crate gives.
pub fn write<T: Serialize>(message: &T) -> Result<Vec<u8>, Unreadable> {
    postcard::to_allocvec(message).map_err(|_| Unreadable)
}

/// Reads a message, which the bytes must hold to the last one.
///
/// # Errors
/// [`Unreadable`].
pub fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Unreadable> {
    match postcard::take_from_bytes(bytes) {
        Ok((message, [])) => Ok(message),
        Ok(_) | Err(_) => Err(Unreadable),
    }
}
