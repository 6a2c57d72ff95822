#![doc = include_str!("../NEGOTIATION.md")]
// The traits are for callers that are generic over them; whether a future can be sent between threads is theirs to know.
#![allow(async_fn_in_trait)]

mod answer;
mod arguments;
pub mod catalogue;
mod challenge;
mod completion;
mod config;
mod confirmation;
mod dispatch;
mod envelope;
mod era;
mod error;
pub mod extensions;
mod http;
mod json;
mod jsonrpc;
mod lifecycle;
mod mirror;
mod origin;
mod prompts;
mod quote;
mod resources;
mod scan;
mod server;
mod text;
mod tools;
mod uri;

pub use config::{ALLOWED_ORIGINS, AUTHORIZATION_SERVERS, Config, ConfigError, RESOURCE};
pub use dispatch::{
    Action, Allowance, Answer, Caller, Credentials, Denial, Dispatch, Failure, Method, Profile, Redemption, Request,
    Response, Throttle, extension,
};
pub use era::Version;
pub use http::{Body, BodyError, HEADERS, Head, Headers, HttpResponse, Lines, MAX_BODY};
pub use origin::Origin;
pub use server::handle;
