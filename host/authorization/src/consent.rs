//! What a person says that a client may do.

use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::Response;
use axum_extra::extract::cookie::CookieJar;
use http::{HeaderMap, StatusCode};
use kobana_contract::Scope;
use kobana_store::grants::{self, CodeRow, GrantRow};
use kobana_store::sea_orm::DbErr;
use uuid::Uuid;

use crate::authorize::leave;
use crate::error::Code;
use crate::form::Parameters;
use crate::language::Language;
use crate::login::LOGOUT_FORM;
use crate::pages::{self, ConsentPage, ScopeChoice, WorkspaceChoice};
use crate::redirect::{self, Destination};
use crate::request::{self, Refusal, Request, Wanted};
use crate::routes::{AUTHORIZE, Peer};
use crate::server::{Authorization, Server, now};
use crate::session::Session;
use crate::settings::{CODE_LIFETIME, seconds};
use crate::{scopes, secret};

/// What the token of the form is for.
const FORM: &str = "consent";
/// What stands for every workspace of the person.
const ALL: &str = "all";

/// What a person is asked.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) request: &'a Request,
    pub(crate) wanted: &'a Wanted,
    pub(crate) session: &'a Session,
    pub(crate) query: &'a str,
}

/// What is wrong with an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Problem {
    /// No scope is chosen.
    NoScope,
    /// No workspace is chosen, or one out of reach.
    NoWorkspace,
}

/// What a person granted.
#[derive(Debug, PartialEq, Eq)]
struct Choice {
    scopes: Vec<Scope>,
    /// The one workspace that it is limited to.
    workspace: Option<Uuid>,
}

/// The page on which a person says what a client may do.
pub(crate) async fn show(
    server: &Server,
    language: Language,
    asked: Asked<'_>,
    problem: Option<(Problem, &Parameters)>,
) -> Response {
    let person = &asked.session.person;
    let given = match grants::of_client(&server.store, person.id, &asked.request.client.id, now()).await {
        Ok(given) => given,
        Err(error) => return pages::unavailable(language, &error),
    };
    let earlier: Vec<_> = given.iter().flat_map(|grant| scopes::parse(&grant.scopes).unwrap_or_default()).collect();
    let page = page(server, language, asked, problem, &earlier);
    let status = problem.map_or(StatusCode::OK, |_| StatusCode::UNPROCESSABLE_ENTITY);
    pages::page(status, &page, Some(&asked.request.back.redirect_uri))
}

fn page<'a>(
    server: &Server,
    language: Language,
    asked: Asked<'a>,
    problem: Option<(Problem, &Parameters)>,
    earlier: &[Scope],
) -> ConsentPage<'a> {
    let texts = language.texts();
    let Asked { request, wanted, session, query } = asked;
    // A form that comes back keeps what was chosen.
    let chosen =
        |name: &str, value: &str| problem.is_none_or(|(_, form)| form.all(name).iter().any(|one| one == value));
    let scope = |scope: &Scope| ScopeChoice {
        name: scope.as_str(),
        words: texts.scope(*scope),
        writes: scopes::writes(*scope),
        fresh: !earlier.is_empty() && !scopes::is_held(*scope, earlier),
        chosen: chosen("scope", scope.as_str()),
    };
    let (writing, reading): (Vec<_>, Vec<_>) = wanted.scopes.iter().map(scope).partition(|choice| choice.writes);
    let workspaces = session.memberships.iter().map(|member| WorkspaceChoice {
        id: member.workspace_id.to_string(),
        label: &member.label,
        chosen: problem.is_some() && chosen("workspace", &member.workspace_id.to_string()),
    });
    let destination = redirect::destination(&request.back.redirect_uri);
    let step_up = match (earlier, reading.iter().chain(&writing).any(|choice| choice.fresh)) {
        ([], _) => None,
        (_, true) => Some(texts.step_up),
        (_, false) => Some(texts.known),
    };
    ConsentPage {
        t: texts,
        client: request.client.name.as_deref().unwrap_or(texts.unnamed_client),
        publisher: request.client.publisher.as_deref(),
        warning: match (&request.client.publisher, &destination) {
            (None, _) => Some(texts.unproven),
            (Some(_), Some(Destination::Site(_))) => None,
            // Who listens on this computer cannot be proven (RFC 8252 §8.6).
            (Some(_), _) => Some(texts.impersonable),
        },
        destination: destination.map(|to| texts.destination(&to)),
        person: &session.person.name,
        email: &session.person.email,
        organization: &session.person.organization_name,
        workspaces: workspaces.collect(),
        every_workspace: chosen("workspace", ALL),
        reading,
        writing,
        step_up,
        lasts: if request.client.refreshes {
            texts.lasts_days(seconds(server.settings.refresh_lifetime) / 86_400)
        } else {
            texts.lasts_an_hour.to_owned()
        },
        problem: problem.map(|(problem, _)| texts.consent_problem(problem)),
        token: server.key.form_token(FORM, &session.secret),
        logout_token: server.key.form_token(LOGOUT_FORM, &session.secret),
        query,
    }
}

/// `POST /oauth/consent`.
pub(crate) async fn consent(
    State(Authorization(server)): State<Authorization>,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
    jar: CookieJar,
    body: Bytes,
) -> Response {
    let (language, form) = (Language::of(&headers), Parameters::read(&body));
    let query = form.field("request");
    let session = match server.session(&jar).await {
        Ok(Some(session)) => session,
        // It ended while the page was open.
        Ok(None) => return pages::redirect(language, &format!("{AUTHORIZE}?{query}"), StatusCode::SEE_OTHER),
        Err(error) => return pages::unavailable(language, &error),
    };
    if !server.key.is_form_token(FORM, &session.secret, form.field("token")) {
        return pages::stale_form(language);
    }
    let request = match request::check(&server, query, peer.network()).await {
        Ok(request) => request,
        Err(fault) => return pages::fault(language, &fault),
    };
    let back = |address: &str| leave(language, &request, address, StatusCode::SEE_OTHER);
    let wanted = match &request.wanted {
        Ok(wanted) => wanted,
        Err(refusal) => return back(&request.back.with_error(*refusal)),
    };
    if form.field("decision") != "allow" {
        tracing::info!(person = %session.person.id, client = request.client.id, "consent was refused");
        let description = "the person did not consent";
        return back(&request.back.with_error(Refusal { code: Code::AccessDenied, description }));
    }
    match choice(&form, wanted, &session) {
        Ok(choice) => match grant(&server, &request, wanted, &session, choice).await {
            Ok(code) => back(&request.back.with_code(&code)),
            Err(error) => pages::unavailable(language, &error),
        },
        Err(problem) => {
            let asked = Asked { request: &request, wanted, session: &session, query };
            show(&server, language, asked, Some((problem, &form))).await
        }
    }
}

/// What the person chose of what was asked for; anything beyond that is passed over.
fn choice(form: &Parameters, wanted: &Wanted, session: &Session) -> Result<Choice, Problem> {
    let ticked = |scope: &&Scope| form.all("scope").iter().any(|name| name == scope.as_str());
    let scopes: Vec<_> = wanted.scopes.iter().filter(ticked).copied().collect();
    if scopes.is_empty() {
        return Err(Problem::NoScope);
    }
    let workspace = match form.field("workspace") {
        ALL => None,
        id => {
            let id = Uuid::try_parse(id).map_err(|_| Problem::NoWorkspace)?;
            let reached = session.memberships.iter().any(|member| member.workspace_id == id);
            Some(reached.then_some(id).ok_or(Problem::NoWorkspace)?)
        }
    };
    Ok(Choice { scopes, workspace })
}

/// Writes the grant down, and gives the code for it.
async fn grant(
    server: &Server,
    request: &Request,
    wanted: &Wanted,
    session: &Session,
    choice: Choice,
) -> Result<String, DbErr> {
    let (code, at) = (secret::random(), now());
    let end = at.plus_seconds(CODE_LIFETIME);
    let client = &request.client;
    let grant = GrantRow {
        id: Uuid::now_v7(),
        person_id: session.person.id,
        client_id: client.id.clone(),
        client_name: client.name.clone().or_else(|| client.publisher.clone()).unwrap_or_else(|| client.id.clone()),
        workspace_id: choice.workspace,
        scopes: scopes::join(&choice.scopes),
        resource: server.tokens.resource().to_owned(),
        refreshes: client.refreshes,
        created_at: at.0,
        used_at: at.0,
        expires_at: end.0,
        revoked_at: None,
    };
    let row = CodeRow {
        hash: secret::hash(&code).to_vec(),
        grant_id: grant.id,
        redirect_uri: request.back.redirect_uri.clone(),
        challenge: wanted.challenge.clone(),
        expires_at: end.0,
        redeemed_at: None,
    };
    tracing::info!(grant = %grant.id, person = %grant.person_id, client = grant.client_name, scopes = grant.scopes, "consent was given");
    grants::open(&server.store, grant, row, at).await?;
    Ok(code)
}
