//! Signing in and out.

use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum_extra::extract::cookie::CookieJar;
use http::header::RETRY_AFTER;
use http::{HeaderMap, StatusCode};
use kobana_store::people;
use kobana_store::text::fold;
use uuid::Uuid;

use crate::form::Parameters;
use crate::language::Language;
use crate::limits::TooMany;
use crate::pages::{self, LoginPage};
use crate::request::{self, Request};
use crate::routes::{AUTHORIZE, LOGOUT, Peer};
use crate::secret;
use crate::server::{Authorization, Server};

/// What the token of the login form is for, and that of the form to sign out.
const LOGIN_FORM: &str = "login";
pub(crate) const LOGOUT_FORM: &str = "logout";

/// Why somebody has not been let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Problem {
    /// A field is empty.
    Empty,
    /// The address or the password is wrong, or the account may not be used: one word for all of these.
    Wrong,
    /// Too many tries; seconds to wait.
    TooMany(u64),
}

impl Problem {
    const fn status(self) -> StatusCode {
        match self {
            Self::Empty | Self::Wrong => StatusCode::UNPROCESSABLE_ENTITY,
            Self::TooMany(_) => StatusCode::TOO_MANY_REQUESTS,
        }
    }
}

/// The page on which somebody signs in, for this request if it could be read.
pub(crate) fn show(
    server: &Server,
    language: Language,
    jar: CookieJar,
    request: Option<&Request>,
    query: &str,
    failed: Option<(Problem, &str)>,
) -> Response {
    let (jar, visitor) = server.visitor(jar);
    let page = LoginPage {
        t: language.texts(),
        client: request.and_then(|request| request.client.name.as_deref()),
        problem: failed.map(|(problem, _)| language.texts().login_problem(problem)),
        email: failed.map_or("", |(_, email)| email),
        token: server.key.form_token(LOGIN_FORM, &visitor),
        query,
    };
    let status = failed.map_or(StatusCode::OK, |(problem, _)| problem.status());
    let back = request.map(|request| request.back.redirect_uri.as_str());
    let mut response = (jar, pages::page(status, &page, back)).into_response();
    if let Some((Problem::TooMany(seconds), _)) = failed {
        response.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    response
}

/// `POST /oauth/login`.
pub(crate) async fn login(
    State(Authorization(server)): State<Authorization>,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
    jar: CookieJar,
    body: Bytes,
) -> Response {
    let (language, form) = (Language::of(&headers), Parameters::read(&body));
    let tied = server.visitor_secret(&jar);
    if !tied.is_some_and(|visitor| server.key.is_form_token(LOGIN_FORM, &visitor, form.field("token"))) {
        return pages::stale_form(language);
    }
    let (email, query) = (form.field("email").trim(), form.field("request"));
    match prove(&server, peer, email, form.field("password")).await {
        Ok(Ok(person)) => match server.open_session(jar, person).await {
            Ok(jar) => {
                tracing::info!(%person, "signed in");
                (jar, pages::redirect(language, &format!("{AUTHORIZE}?{query}"), StatusCode::SEE_OTHER)).into_response()
            }
            Err(error) => pages::unavailable(language, &error),
        },
        Ok(Err(problem)) => {
            tracing::info!(address = %peer.0, ?problem, "somebody was not let in");
            // What the form is for is shown again, where it still can be told.
            let request = request::check(&server, query, peer.network()).await.ok();
            show(&server, language, jar, request.as_ref(), query, Some((problem, email)))
        }
        Err(error) => pages::unavailable(language, &error),
    }
}

/// The person whose address and password these are. Every try counts, also one that would be right: how often somebody signs in
/// tells nothing about which accounts there are.
async fn prove(server: &Server, peer: Peer, email: &str, password: &str) -> Result<Result<Uuid, Problem>, String> {
    if email.is_empty() || password.is_empty() {
        return Ok(Err(Problem::Empty));
    }
    let account = secret::hash(&fold(email));
    let tries = server.limits.addresses.take(&peer.network()).and_then(|()| server.limits.accounts.take(&account));
    if let Err(TooMany(seconds)) = tries {
        return Ok(Err(Problem::TooMany(seconds)));
    }
    let account = people::by_email(&server.store, email).await.map_err(|error| error.to_string())?;
    let hash = account.as_ref().and_then(|account| account.password_hash.clone());
    let right = server.passwords.verify(password.to_owned(), hash).await.map_err(|error| error.to_string())?;
    let person = account.map(|account| account.person).filter(|person| right && person.active);
    Ok(person.map(|person| person.id).ok_or(Problem::Wrong))
}

/// `POST /oauth/logout`: ends the session, and asks the next person to sign in if there is a request.
pub(crate) async fn logout(
    State(Authorization(server)): State<Authorization>,
    headers: HeaderMap,
    jar: CookieJar,
    body: Bytes,
) -> Response {
    let (language, form) = (Language::of(&headers), Parameters::read(&body));
    let session = match server.session(&jar).await {
        Ok(session) => session,
        Err(error) => return pages::unavailable(language, &error),
    };
    let tied = |secret: &str| server.key.is_form_token(LOGOUT_FORM, secret, form.field("token"));
    if session.is_some_and(|session| !tied(&session.secret)) {
        return pages::stale_form(language);
    }
    let next = match form.field("request") {
        "" => LOGOUT.to_owned(),
        query => format!("{AUTHORIZE}?{query}"),
    };
    match server.close_session(jar).await {
        Ok(jar) => (jar, pages::redirect(language, &next, StatusCode::SEE_OTHER)).into_response(),
        Err(error) => pages::unavailable(language, &error),
    }
}

/// `GET /oauth/logout`: says that nobody is signed in here, or offers to sign out.
pub(crate) async fn signed_out(
    State(Authorization(server)): State<Authorization>,
    headers: HeaderMap,
    jar: CookieJar,
) -> Response {
    let language = Language::of(&headers);
    match server.session(&jar).await {
        Ok(None) => pages::signed_out(language),
        Ok(Some(session)) => {
            let token = server.key.form_token(LOGOUT_FORM, &session.secret);
            pages::sign_out(language, &session.person.name, &session.person.email, &token)
        }
        Err(error) => pages::unavailable(language, &error),
    }
}
