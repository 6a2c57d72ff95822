//! The embedded authorization server: OAuth 2.1 for public clients, and the pages on which a person signs in and says what a
//! program may do.
//!
//! * [`Authorization::router`] answers `/oauth/*` and `/.well-known/oauth-authorization-server`.
//! * A client registers itself (RFC 7591) or is known by the document at its id (Client ID Metadata Document).
//! * `/oauth/authorize` checks the request, has the person sign in and consent, and sends a code back.
//! * `/oauth/token` redeems codes (PKCE, S256 only) and rotates refresh tokens; access tokens are signed by `kobana-identity`.
//! * `/oauth/revoke` ends a grant (RFC 7009).
//!
//! The issuer is the origin of the configured resource; nothing is guessed from a request. Every page is plain HTML without a
//! script. What is a secret is kept as a hash only.

mod authorize;
mod client;
mod consent;
mod documents;
mod error;
mod form;
mod language;
mod limits;
mod login;
mod metadata;
mod pages;
mod pkce;
mod redirect;
mod register;
mod request;
mod revoke;
mod routes;
mod scopes;
mod secret;
mod server;
mod session;
mod settings;
mod texts;
mod token;

pub use routes::{METADATA, Peer, is_ours};
pub use server::{Authorization, StartError};
pub use settings::Settings;
