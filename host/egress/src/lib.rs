//! Requests to addresses that strangers name: a webhook's, a client's metadata document.
//!
//! Whoever names an address makes this server send something somewhere, so a request goes to public https addresses only
//! ([`check`], and once more for what a name resolves to), through no proxy that would resolve names for itself, follows no
//! redirect, and takes no more time and bytes than [`Limits`] say.

mod address;
mod client;
mod resolver;

pub use address::{NotAllowed, check, is_loopback};
pub use client::{Answer, Client, Failure, Limits, Request};
