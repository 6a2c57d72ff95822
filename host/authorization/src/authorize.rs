//! `GET /oauth/authorize`: where a client sends the person's browser (RFC 6749 §4.1.1).

use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use axum_extra::extract::cookie::CookieJar;
use http::{HeaderMap, StatusCode};

use crate::language::Language;
use crate::redirect::{self, Destination};
use crate::request::{self, Request};
use crate::routes::Peer;
use crate::server::Authorization;
use crate::{consent, login, pages};

/// Has the person sign in, then asks for their consent. Consent is asked for every time: who a client is that registered itself, or
/// runs on the person's own computer, cannot be proven (RFC 8252 §8.6), and for the others one click is no burden.
pub(crate) async fn authorize(
    State(Authorization(server)): State<Authorization>,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
    jar: CookieJar,
    RawQuery(query): RawQuery,
) -> Response {
    let (language, query) = (Language::of(&headers), query.unwrap_or_default());
    let request = match request::check(&server, &query, peer.network()).await {
        Ok(request) => request,
        Err(fault) => return pages::fault(language, &fault),
    };
    let session = match server.session(&jar).await {
        Ok(session) => session,
        Err(error) => return pages::unavailable(language, &error),
    };
    match (&request.wanted, session) {
        (Err(refusal), session) if session.is_some() || is_local(&request) => {
            leave(language, &request, &request.back.with_error(*refusal), StatusCode::FOUND)
        }
        // Whoever makes up a client could have us send people on to anywhere, if nobody had to sign in first (RFC 9700 §4.11.2).
        (_, None) | (Err(_), _) => login::show(&server, language, jar, Some(&request), &query, None),
        (Ok(wanted), Some(session)) => {
            let asked = consent::Asked { request: &request, wanted, session: &session, query: &query };
            consent::show(&server, language, asked, None).await
        }
    }
}

fn is_local(request: &Request) -> bool {
    redirect::destination(&request.back.redirect_uri) == Some(Destination::Loopback)
}

/// Sends the browser back to the client. An app is opened from a page, which stays where it is and says that it can be closed.
pub(crate) fn leave(language: Language, request: &Request, address: &str, status: StatusCode) -> Response {
    match redirect::destination(&request.back.redirect_uri) {
        Some(Destination::App(_)) => pages::open_app(language, address),
        _ => pages::redirect(language, address, status),
    }
}
