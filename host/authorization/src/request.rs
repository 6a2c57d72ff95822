//! Authorization requests (RFC 6749 §4.1.1), checked in the order in which their faults may be told to somebody.

use std::net::IpAddr;

use kobana_contract::Scope;

use crate::client::Client;
use crate::error::Code;
use crate::form::Parameters;
use crate::redirect;
use crate::server::{NoClient, Server};
use crate::{pkce, scopes};

/// A request whose client and redirect URI are right: whatever else is wrong with it may be told to the client.
pub(crate) struct Request {
    pub(crate) client: Client,
    pub(crate) back: Back,
    pub(crate) wanted: Result<Wanted, Refusal>,
}

/// What the client asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) scopes: Vec<Scope>,
    /// The PKCE challenge.
    pub(crate) challenge: String,
}

/// What is told to the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: Code,
    pub(crate) description: &'static str,
}

/// Where the answer goes.
pub(crate) struct Back {
    pub(crate) redirect_uri: String,
    state: Option<String>,
    issuer: String,
}

impl Back {
    /// The address that brings a code to the client (RFC 6749 §4.1.2, RFC 9207 §2).
    pub(crate) fn with_code(&self, code: &str) -> String {
        self.with(&[("code", code)])
    }

    /// The address that brings an error to the client (RFC 6749 §4.1.2.1).
    pub(crate) fn with_error(&self, refusal: Refusal) -> String {
        self.with(&[("error", refusal.code.as_str()), ("error_description", refusal.description)])
    }

    fn with(&self, parameters: &[(&str, &str)]) -> String {
        let state = self.state.as_deref().map(|state| ("state", state));
        let all: Vec<_> = parameters.iter().copied().chain(state).chain([("iss", self.issuer.as_str())]).collect();
        redirect::with_parameters(&self.redirect_uri, &all)
    }
}

/// What is wrong with a request whose answer may not leave this server: nobody knows who would read it.
#[derive(Debug)]
pub(crate) enum Fault {
    /// `client_id` is missing or stands several times.
    ClientMissing,
    /// There is no such client, or nothing can be learned about it.
    Client(NoClient),
    /// `redirect_uri` is missing or stands several times.
    RedirectMissing,
    /// `redirect_uri` is none of the client's.
    RedirectUnknown,
}

/// Checks a request.
///
/// # Errors
/// [`Fault`], for the person alone.
pub(crate) async fn check(server: &Server, query: &str, asked_from: IpAddr) -> Result<Request, Fault> {
    let parameters = Parameters::read(query.as_bytes());
    let client_id = parameters.one("client_id").ok().flatten().ok_or(Fault::ClientMissing)?;
    let client = server.client(client_id, asked_from).await.map_err(Fault::Client)?;
    let redirect_uri = parameters.one("redirect_uri").ok().flatten().ok_or(Fault::RedirectMissing)?;
    if !client.may_redirect_to(redirect_uri) {
        return Err(Fault::RedirectUnknown);
    }
    let back = Back {
        redirect_uri: redirect_uri.to_owned(),
        // One that stands twice is no state, and comes back as a repeated parameter.
        state: parameters.one("state").ok().flatten().map(str::to_owned),
        issuer: server.tokens.issuer().to_owned(),
    };
    let wanted = wanted(server, &parameters);
    Ok(Request { client, back, wanted })
}

fn wanted(server: &Server, parameters: &Parameters) -> Result<Wanted, Refusal> {
    let refuse = |code, description| Err(Refusal { code, description });
    let one = |name| parameters.one(name).ok().flatten();
    if parameters.repeated(&["resource"]).is_some() {
        return refuse(Code::InvalidRequest, "a parameter stands several times");
    }
    match one("response_type") {
        Some("code") => {}
        Some(_) => return refuse(Code::UnsupportedResponseType, "response_type: expected code"),
        None => return refuse(Code::InvalidRequest, "response_type is missing"),
    }
    if one("response_mode").is_some_and(|mode| mode != "query") {
        return refuse(Code::InvalidRequest, "response_mode: expected query");
    }
    let challenge = match (one("code_challenge"), one("code_challenge_method")) {
        (None, _) => return refuse(Code::InvalidRequest, "code_challenge is missing: PKCE is required"),
        (Some(challenge), Some(pkce::METHOD)) if pkce::is_challenge(challenge) => challenge.to_owned(),
        (_, Some(pkce::METHOD)) => {
            return refuse(Code::InvalidRequest, "code_challenge: expected a SHA-256 hash in base64url");
        }
        // Left out it means plain (RFC 7636 §4.3).
        _ => return refuse(Code::InvalidRequest, "code_challenge_method: expected S256"),
    };
    if !parameters.all("resource").iter().all(|named| server.is_resource(named)) {
        return refuse(Code::InvalidTarget, "resource: tokens are issued for the MCP endpoint only");
    }
    let scopes = match one("scope").map(scopes::parse) {
        Some(Err(scopes::Unknown)) => return refuse(Code::InvalidScope, "scope: there is no such scope"),
        Some(Ok(scopes)) if !scopes.is_empty() => scopes,
        _ => server.settings.first_scopes.clone(),
    };
    Ok(Wanted { scopes, challenge })
}
