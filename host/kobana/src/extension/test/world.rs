//! A workspace that lives for one case: the demo's data in memory, the API over it, and a record of what is asked of it.

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use http::StatusCode;
use kobana_api::{Api, Local, LocalApi, Settings};
use kobana_contract::{Caller, Role, Scope, Timestamp};
use kobana_identity::{Audience, Identity, Refusal, Token, TokenSource};
use kobana_store::demo::{self, organizations, persons, workspaces};
use kobana_store::directory::{self, NewPerson};
use kobana_store::{Location, Moment, Store, people};
use kobana_wire::{Method, Request};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::cases::Persona;

/// The workspace, and who acts in it.
pub(super) struct World {
    api: LocalApi,
    calls: Calls,
    caller: Arc<Caller>,
    owner: Arc<Caller>,
}

/// A call of the API that was made.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    pub(super) method: String,
    /// Below `/api/v1`.
    pub(super) path: String,
    /// Its parameters; the last one of a name counts.
    pub(super) query: Map<String, Value>,
    /// The document that was sent.
    pub(super) body: Option<Value>,
    pub(super) status: u16,
}

/// The calls that were made, in their order.
#[derive(Debug, Clone, Default)]
struct Calls(Arc<Mutex<Vec<Call>>>);

/// What went wrong while the workspace was made. It is never the extension's fault.
#[derive(Debug, thiserror::Error)]
#[error("cannot make a workspace to try it in: {0}")]
pub(super) struct NoWorld(String);

fn no_world(error: impl std::fmt::Display) -> NoWorld {
    NoWorld(error.to_string())
}

/// An allowance that no case spends: `api` calls are not limited by it anyway.
const ALLOWANCE: NonZeroU32 = NonZeroU32::MAX;

impl World {
    /// Makes the workspace `acme` of the demo and a person of this role in it.
    pub(super) async fn open(persona: &Persona) -> Result<Self, NoWorld> {
        let store = Store::open(Location::Memory).await.map_err(no_world)?;
        demo::seed(&store).await.map_err(no_world)?;
        let settings = Settings { inbox_domain: demo::INBOX_DOMAIN.to_owned() };
        let api = Api::new(store.clone(), settings).await.map_err(no_world)?.local();
        let person = person(&store, persona.role).await?;
        let tokens = Tokens { caller: (person, persona.scopes.clone()) };
        let identity = Identity::new(store, tokens);
        let (caller, owner) = (admitted(&identity, CALLER).await?, admitted(&identity, OWNER).await?);
        Ok(Self { api, calls: Calls::default(), caller, owner })
    }

    /// Who calls the extension.
    pub(super) fn caller(&self) -> Arc<Caller> {
        Arc::clone(&self.caller)
    }

    /// The API, which takes down every call.
    pub(super) fn api(&self) -> LocalApi {
        let calls = self.calls.clone();
        self.api.clone().witnessed(move |request, status| calls.take_down(request, status))
    }

    /// The calls that were made so far.
    pub(super) fn calls(&self) -> Vec<Call> {
        self.calls.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What the API answers to the owner; nothing of it is taken down.
    pub(super) async fn look(&self, path: &str) -> (u16, Value) {
        let owner = Local { api: self.api.clone(), caller: Arc::clone(&self.owner) };
        match owner.call(request(Method::Get, path, None)).await {
            Ok(response) => (response.status, serde_json::from_slice(&response.body).unwrap_or(Value::Null)),
            Err(_) => (StatusCode::BAD_REQUEST.as_u16(), Value::Null),
        }
    }
}

/// The person of the demo who is this in `acme`, or a new one.
async fn person(store: &Store, role: Role) -> Result<Uuid, NoWorld> {
    let new = match role {
        Role::Owner => return Ok(persons::ANA),
        Role::Viewer => return Ok(persons::VERA),
        Role::Admin | Role::Integrator | Role::Operator => NewPerson {
            organization: organizations::ACME,
            name: format!("Teo Alves ({role})"),
            email: format!("teo.{role}@acme.example"),
            password_hash: None,
        },
    };
    let tx = store.begin().await.map_err(no_world)?;
    let person = directory::create_person(&tx, new, Timestamp::now()).await.map_err(no_world)?;
    people::join(&tx, person, workspaces::ACME, role).await.map_err(no_world)?;
    tx.commit().await.map_err(no_world)?;
    Ok(person)
}

const CALLER: &str = "caller";
const OWNER: &str = "owner";

/// The two credentials of a case.
struct Tokens {
    caller: (Uuid, Vec<Scope>),
}

#[async_trait]
impl TokenSource for Tokens {
    async fn find(&self, token: &str, _: &Moment<'_>) -> Result<Option<Token>, Refusal> {
        let (person_id, scopes) = match token {
            CALLER => self.caller.clone(),
            OWNER => (persons::ANA, Scope::ALL.to_vec()),
            _ => return Ok(None),
        };
        Ok(Some(Token {
            id: token.to_owned(),
            person_id,
            client: "kobana extension test".to_owned(),
            audience: Audience::Mcp,
            scopes,
            workspace: Some(workspaces::ACME),
            expires_at: None,
            requests_per_minute: ALLOWANCE,
        }))
    }
}

async fn admitted(identity: &Identity, token: &str) -> Result<Arc<Caller>, NoWorld> {
    let admission = identity.authenticate(Some(&format!("Bearer {token}")), None, Audience::Mcp).await;
    admission.map(|admission| admission.caller).map_err(|denial| NoWorld(format!("{denial:?}")))
}

impl Calls {
    fn take_down(&self, request: &Request, status: u16) {
        let call = Call {
            method: name(request.method).to_owned(),
            path: request.path.clone(),
            query: request.query.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect(),
            body: document(request.body.as_deref().unwrap_or_default()),
            status,
        };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(call);
    }
}

/// The request of a path with its query.
fn request(method: Method, target: &str, body: Option<Vec<u8>>) -> Request {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let query = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    Request { method, path: path.to_owned(), query, body, idempotency_key: None }
}

const fn name(method: Method) -> &'static str {
    match method {
        Method::Get => "GET",
        Method::Post => "POST",
        Method::Put => "PUT",
        Method::Patch => "PATCH",
        Method::Delete => "DELETE",
    }
}

/// The document that was sent; as text, where it is no JSON.
fn document(sent: &[u8]) -> Option<Value> {
    let text = || Value::from(String::from_utf8_lossy(sent));
    (!sent.is_empty()).then(|| serde_json::from_slice(sent).unwrap_or_else(|_| text()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    async fn ask(world: &World, method: Method, target: &str, body: Option<Value>) -> u16 {
        let request = request(method, target, body.map(|body| body.to_string().into_bytes()));
        Local { api: world.api(), caller: world.caller() }.call(request).await.unwrap().status
    }

    #[tokio::test]
    async fn every_role_is_somebody_in_acme_and_only_the_extension_is_taken_down() {
        for &role in Role::ALL {
            let world = World::open(&Persona { role, ..Persona::default() }).await.unwrap();
            assert_eq!(world.caller().workspace().map(|member| member.role), Some(role));
            let may = matches!(role, Role::Owner | Role::Admin);
            let made =
                ask(&world, Method::Post, "/inboxes?x=1", Some(json!({"external_id": "new", "label": "New"}))).await;
            assert_eq!(made, if may { 400 } else { 403 }, "{role}: x is no parameter");
            let made = ask(&world, Method::Post, "/inboxes", Some(json!({"external_id": "new", "label": "New"}))).await;
            assert_eq!(made, if may { 201 } else { 403 }, "{role}");
            let (status, body) = world.look("/inboxes/new").await;
            assert_eq!((status, body["data"]["label"].as_str()), if may { (200, Some("New")) } else { (404, None) });
            let calls = world.calls();
            assert_eq!(calls.len(), 2);
            assert_eq!(calls[0].query, *json!({"x": "1"}).as_object().unwrap());
            assert_eq!((calls[1].method.as_str(), calls[1].path.as_str(), calls[1].status), ("POST", "/inboxes", made));
            assert_eq!(calls[1].body, Some(json!({"external_id": "new", "label": "New"})));
        }
    }

    #[tokio::test]
    async fn a_credential_has_its_scopes_and_no_more() {
        let persona = Persona { scopes: vec![Scope::Emails], ..Persona::default() };
        let world = World::open(&persona).await.unwrap();
        assert_eq!(ask(&world, Method::Get, "/emails", None).await, 200);
        assert_eq!(ask(&world, Method::Get, "/inboxes", None).await, 403);
        assert_eq!(world.look("/inboxes").await.0, 200);
    }

    #[tokio::test]
    async fn worlds_share_nothing() {
        let (one, other) =
            (World::open(&Persona::default()).await.unwrap(), World::open(&Persona::default()).await.unwrap());
        assert_eq!(ask(&one, Method::Delete, "/inboxes/acme-support", None).await, 204);
        assert_eq!(one.look("/inboxes/acme-support").await.0, 404);
        assert_eq!(other.look("/inboxes/acme-support").await.0, 200);
    }
}
