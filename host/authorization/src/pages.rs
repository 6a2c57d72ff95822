//! The pages, and the rules under which a browser shows them.

use askama::Template;
use axum::response::{Html, IntoResponse, Response};
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION, REFERRER_POLICY,
    RETRY_AFTER, VARY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use http::{HeaderMap, StatusCode};

use crate::language::Language;
use crate::redirect;
use crate::request::Fault;
use crate::server::NoClient;
use crate::texts::Texts;

/// The one style sheet.
const SHEET: &str = include_str!("../templates/style.css");
/// What a tab shows.
const SYMBOL: &str = include_str!("../templates/icon.svg");

/// Where somebody signs in.
#[derive(Template)]
#[template(path = "login.html")]
pub(crate) struct LoginPage<'a> {
    pub(crate) t: &'static Texts,
    /// Who asks for it.
    pub(crate) client: Option<&'a str>,
    pub(crate) problem: Option<String>,
    pub(crate) email: &'a str,
    pub(crate) token: String,
    /// The authorization request that it is for.
    pub(crate) query: &'a str,
}

/// Where somebody says what a client may do.
#[derive(Template)]
#[template(path = "consent.html")]
pub(crate) struct ConsentPage<'a> {
    pub(crate) t: &'static Texts,
    pub(crate) client: &'a str,
    /// The host that vouches for the client's name.
    pub(crate) publisher: Option<&'a str>,
    pub(crate) destination: Option<String>,
    /// Why it may be another than it says.
    pub(crate) warning: Option<&'static str>,
    pub(crate) person: &'a str,
    pub(crate) email: &'a str,
    pub(crate) organization: &'a str,
    pub(crate) workspaces: Vec<WorkspaceChoice<'a>>,
    pub(crate) every_workspace: bool,
    pub(crate) reading: Vec<ScopeChoice>,
    pub(crate) writing: Vec<ScopeChoice>,
    /// What to say where the client was let in before.
    pub(crate) step_up: Option<&'static str>,
    pub(crate) lasts: String,
    pub(crate) problem: Option<&'static str>,
    pub(crate) token: String,
    pub(crate) logout_token: String,
    pub(crate) query: &'a str,
}

/// A scope to be ticked.
pub(crate) struct ScopeChoice {
    pub(crate) name: &'static str,
    pub(crate) words: &'static str,
    pub(crate) writes: bool,
    /// Whether the client had no such scope before.
    pub(crate) fresh: bool,
    pub(crate) chosen: bool,
}

/// A workspace to be picked.
pub(crate) struct WorkspaceChoice<'a> {
    pub(crate) id: String,
    pub(crate) label: &'a str,
    pub(crate) chosen: bool,
}

/// Something to be said, and perhaps one thing to do.
#[derive(Template)]
#[template(path = "message.html")]
struct MessagePage<'a> {
    t: &'static Texts,
    title: &'a str,
    text: String,
    /// For whoever makes the client.
    detail: Option<String>,
    /// Whether it is bad news.
    alert: bool,
    /// An app's address, which the browser opens by itself.
    app: Option<&'a str>,
    /// What the form to sign out carries.
    logout_token: Option<&'a str>,
}

impl<'a> MessagePage<'a> {
    fn new(language: Language, title: &'a str, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { t: language.texts(), title, text, detail: None, alert: false, app: None, logout_token: None }
    }
}

/// Shows a page. Its forms may lead to our own paths and, by redirect, to the client at `back`.
pub(crate) fn page(status: StatusCode, page: &impl Template, back: Option<&str>) -> Response {
    match page.render() {
        Ok(html) => (status, rules(back), Html(html)).into_response(),
        Err(error) => {
            tracing::error!(%error, "a page cannot be made");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// Nothing but our own style sheet and forms; no frame around it, no window that holds it, no copy kept.
fn rules(back: Option<&str>) -> HeaderMap {
    let back = back.and_then(redirect::policy_source).map(|source| format!(" {source}")).unwrap_or_default();
    let policy = format!(
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'{back}; frame-ancestors 'none'; base-uri 'none'"
    );
    let fixed = |value| HeaderValue::from_static(value);
    HeaderMap::from_iter([
        (CONTENT_SECURITY_POLICY, HeaderValue::try_from(policy).unwrap_or(fixed("default-src 'none'"))),
        (X_FRAME_OPTIONS, fixed("DENY")),
        (X_CONTENT_TYPE_OPTIONS, fixed("nosniff")),
        (REFERRER_POLICY, fixed("no-referrer")),
        (HeaderName::from_static("cross-origin-opener-policy"), fixed("same-origin")),
        (HeaderName::from_static("cross-origin-resource-policy"), fixed("same-origin")),
        (CACHE_CONTROL, fixed("no-store")),
        (VARY, fixed("Accept-Language, Cookie")),
    ])
}

/// Sends the browser on.
pub(crate) fn redirect(language: Language, address: &str, status: StatusCode) -> Response {
    match HeaderValue::try_from(address) {
        Ok(address) => {
            let mut headers = rules(None);
            headers.insert(LOCATION, address);
            (status, headers).into_response()
        }
        Err(_) => bad_request(language, language.texts().bad_request, None),
    }
}

/// A page that opens an app and stays.
pub(crate) fn open_app(language: Language, address: &str) -> Response {
    let t = language.texts();
    page(
        StatusCode::OK,
        &MessagePage { app: Some(address), ..MessagePage::new(language, t.app_title, t.app_lead) },
        None,
    )
}

/// Nobody is signed in.
pub(crate) fn signed_out(language: Language) -> Response {
    let t = language.texts();
    page(StatusCode::OK, &MessagePage::new(language, t.signed_out_title, t.close), None)
}

/// Somebody is signed in, and may sign out.
pub(crate) fn sign_out(language: Language, name: &str, email: &str, token: &str) -> Response {
    let t = language.texts();
    let text = format!("{} {name} ({email}).", t.you);
    let message = MessagePage { logout_token: Some(token), ..MessagePage::new(language, t.sign_out_title, text) };
    page(StatusCode::OK, &message, None)
}

/// A form that is not tied to this browser.
pub(crate) fn stale_form(language: Language) -> Response {
    let t = language.texts();
    page(
        StatusCode::FORBIDDEN,
        &MessagePage { alert: true, ..MessagePage::new(language, t.stale_title, t.stale) },
        None,
    )
}

/// Something that the person cannot help.
pub(crate) fn unavailable(language: Language, error: &dyn std::fmt::Display) -> Response {
    tracing::error!(%error, "a page cannot be shown");
    let t = language.texts();
    let message = MessagePage { alert: true, ..MessagePage::new(language, t.unavailable_title, t.unavailable) };
    wait(page(StatusCode::SERVICE_UNAVAILABLE, &message, None), 1)
}

/// A request whose answer may not leave this server.
pub(crate) fn fault(language: Language, fault: &Fault) -> Response {
    let t = language.texts();
    match fault {
        Fault::Client(NoClient::Store(error)) => unavailable(language, error),
        Fault::Client(NoClient::TooMany(seconds)) => {
            let message = MessagePage::new(language, t.too_many_title, t.too_many(*seconds));
            wait(page(StatusCode::TOO_MANY_REQUESTS, &MessagePage { alert: true, ..message }, None), *seconds)
        }
        Fault::Client(NoClient::Document(error)) => {
            tracing::info!(?error, "a client is not known");
            bad_request(language, t.unreadable_client, Some(error.to_string()))
        }
        Fault::Client(NoClient::Unknown) => {
            bad_request(language, t.unknown_client, Some("client_id: there is no such client".to_owned()))
        }
        Fault::ClientMissing => bad_request(language, t.bad_request, Some("client_id: expected once".to_owned())),
        Fault::RedirectMissing => bad_request(language, t.bad_request, Some("redirect_uri: expected once".to_owned())),
        Fault::RedirectUnknown => {
            let detail = "redirect_uri: expected one of those that the client named, letter by letter";
            bad_request(language, t.foreign_redirect, Some(detail.to_owned()))
        }
    }
}

fn bad_request(language: Language, text: &'static str, detail: Option<String>) -> Response {
    let title = language.texts().error_title;
    let message = MessagePage { alert: true, detail, ..MessagePage::new(language, title, text) };
    page(StatusCode::BAD_REQUEST, &message, None)
}

/// A path that leads nowhere.
pub(crate) async fn not_found(headers: HeaderMap) -> Response {
    let language = Language::of(&headers);
    let t = language.texts();
    page(StatusCode::NOT_FOUND, &MessagePage::new(language, t.not_found_title, t.not_found), None)
}

/// A form's path that somebody opened, such as by loading the page anew from its address.
pub(crate) async fn wrong_method(headers: HeaderMap) -> Response {
    let language = Language::of(&headers);
    let t = language.texts();
    page(StatusCode::METHOD_NOT_ALLOWED, &MessagePage::new(language, t.not_found_title, t.not_found), None)
}

fn wait(mut response: Response, seconds: u64) -> Response {
    response.headers_mut().insert(RETRY_AFTER, seconds.into());
    response
}

/// `GET /oauth/style.css`.
pub(crate) async fn style() -> Response {
    asset("text/css; charset=utf-8", SHEET)
}

/// `GET /oauth/icon.svg`.
pub(crate) async fn icon() -> Response {
    asset("image/svg+xml", SYMBOL)
}

fn asset(media_type: &'static str, body: &'static str) -> Response {
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static(media_type)),
        (CACHE_CONTROL, HeaderValue::from_static("public, max-age=3600")),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'")),
    ];
    (headers, body).into_response()
}
