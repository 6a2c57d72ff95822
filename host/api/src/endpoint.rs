//! The way of every request, from a matched route to the handler (inbox-api.yaml, Access): scope, workspace,
//! permission, media type and size, body and query. What comes after, existence and rules, is the handler's.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{FromRequestParts as _, RawPathParams, Request};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodFilter, on};
use http::request::Parts;
use http::{HeaderMap, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use jsonschema::ValidationError;
use kobana_contract::{Caller, Described, Method, Operation, Timestamp};
use kobana_store::suggest::Suggestions;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::context::{Context, Input, Shared};
use crate::error::ApiError;
use crate::gate::{self, Gate, Place as _};
use crate::idempotency::{self, Ticket};
use crate::intake::upload;
use crate::json;
use crate::paging::Paging;
use crate::problems::Problems;
use crate::query;
use crate::reply::Reply;
use crate::schema::Checker;

/// The largest JSON body in bytes (inbox-api.yaml, Shapes).
const LARGEST_BODY: usize = 1_048_576;

/// An operation that this API carries out.
pub(crate) trait Handle: Operation {
    /// How callers get in.
    type Gate: Gate;

    /// Carries it out: existence, conflicts, rules, and the work itself.
    fn handle(
        context: Context<<Self::Gate as Gate>::Place>,
        input: Input<Self>,
    ) -> impl Future<Output = Result<Reply<Self::Reply>, ApiError>> + Send
    where
        Self: Sized;

    /// The row that it would act on, as its own reading operation shows it: everything is checked that [`Self::handle`]
    /// checks, and nothing changes. Every destructive operation with a tool has one, for the question that comes before it.
    fn prepare(
        _context: Context<<Self::Gate as Gate>::Place>,
        _input: Input<Self>,
    ) -> impl Future<Output = Result<Value, ApiError>> + Send
    where
        Self: Sized,
    {
        std::future::ready(Err(ApiError::internal(format!("{} is not confirmed by anyone", Self::SPEC.id))))
    }

    /// The rows of the list that complete what was typed. Every list that completes an argument has it.
    fn suggest(
        _context: Context<<Self::Gate as Gate>::Place>,
        _input: Input<Self>,
        _prefix: &str,
    ) -> impl Future<Output = Result<Suggestions, ApiError>> + Send
    where
        Self: Sized,
    {
        std::future::ready(Err(ApiError::internal(format!("{} completes nothing", Self::SPEC.id))))
    }
}

/// Asks an operation, by its presence in a request's extensions, to say what it would act on instead of doing it: the answer
/// is 200 with `{data}`, or the refusal that the operation would give.
#[derive(Debug, Clone, Copy)]
pub struct Prepare;

/// Asks a list, by its presence in a request's extensions, to offer rows instead of showing them: the answer is 200 with
/// `{data: {values, total}}`, or the refusal that the list would give.
#[derive(Debug, Clone)]
pub struct Suggest {
    /// What was typed so far.
    pub prefix: String,
}

/// Adds the route of an operation, made of the method and the path that the contract says.
///
/// # Errors
/// When a schema of the contract is no JSON Schema.
pub(crate) fn mount<O: Handle>(router: Router, shared: &Arc<Shared>) -> Result<Router, ValidationError<'static>> {
    const {
        assert!(
            matches!(
                (<O::Gate as Gate>::RULE, O::SPEC.workspace),
                (kobana_contract::WorkspaceRule::One, kobana_contract::WorkspaceRule::One)
                    | (kobana_contract::WorkspaceRule::None, kobana_contract::WorkspaceRule::None)
            ),
            "the gate follows another rule than the contract"
        )
    };
    let endpoint = Arc::new(Endpoint::of::<O>(Arc::clone(shared))?);
    let serve = move |request: Request| {
        let endpoint = Arc::clone(&endpoint);
        async move { serve::<O>(&endpoint, request).await.unwrap_or_else(ApiError::into_response) }
    };
    Ok(router.route(O::SPEC.path, on(filter(O::SPEC.method), serve)))
}

const fn filter(method: Method) -> MethodFilter {
    match method {
        Method::Get => MethodFilter::GET,
        Method::Post => MethodFilter::POST,
        Method::Put => MethodFilter::PUT,
        Method::Patch => MethodFilter::PATCH,
        Method::Delete => MethodFilter::DELETE,
    }
}

/// What an operation needs at run time, made once.
struct Endpoint {
    shared: Arc<Shared>,
    query: Checker,
    body: Option<Checker>,
}

impl Endpoint {
    fn of<O: Operation>(shared: Arc<Shared>) -> Result<Self, ValidationError<'static>> {
        let described = Described::of::<O>();
        let body = described.body.map(Checker::new).transpose()?;
        Ok(Self { shared, query: Checker::new(described.query)?, body })
    }
}

async fn serve<O: Handle>(endpoint: &Endpoint, request: Request) -> Result<Response, ApiError> {
    let (mut parts, body) = request.into_parts();
    let caller = parts.extensions.get::<Arc<Caller>>().cloned().ok_or_else(|| {
        ApiError::internal("the request came without a caller: a layer in front of the API is missing")
    })?;
    gate::check_scope(&caller, &O::SPEC)?;
    let path = variables(&mut parts).await;
    let id = path.as_ref().and_then(|path| path.get("id")).and_then(Value::as_str);
    let place = O::Gate::admit(&caller, &O::SPEC, id)?;

    let bounds = place.bounds();
    let (input, ticket) = endpoint.read::<O>(&parts, body, path, &caller, &bounds).await?;
    let context = Context { shared: Arc::clone(&endpoint.shared), caller, place, now: Timestamp::now() };
    if parts.extensions.get::<Prepare>().is_some() {
        return Ok(Reply::ok(O::prepare(context, input).await?).data(|row| row).write()?.into());
    }
    if let Some(Suggest { prefix }) = parts.extensions.get() {
        return Ok(Reply::ok(O::suggest(context, input, prefix).await?).data(|rows| rows).write()?.into());
    }
    let now = context.now;
    let work = async move { O::handle(context, input).await?.write() };
    match ticket {
        Some(ticket) => idempotency::once(&endpoint.shared, &ticket, now, work).await,
        None => Ok(work.await?.into()),
    }
}

impl Endpoint {
    /// Reads body and query, and notes everything that is wrong with them.
    async fn read<O: Handle>(
        &self,
        parts: &Parts,
        body: Body,
        path: Option<Map<String, Value>>,
        caller: &Caller,
        bounds: &str,
    ) -> Result<(Input<O>, Option<Ticket>), ApiError> {
        let mut problems = Problems::default();
        let (body, file) = match (&self.body, O::TAKES) {
            (Some(checker), _) => (read_body(checker, &parts.headers, body, &mut problems).await?, None),
            (None, Some(taken)) => {
                let file = upload::receive(self.shared.store.blobs(), taken, &parts.headers, body).await?;
                (Value::Object(Map::new()), Some(file))
            }
            (None, None) => (Value::Object(Map::new()), None),
        };
        let text = parts.uri.query().unwrap_or_default();
        let mut query = Value::Object(query::parse(text, self.query.schema(), &mut problems));
        self.query.check(&mut query, &mut problems);
        let page = Paging::read(&self.shared.cursors, &O::SPEC, bounds, path.as_ref(), &query, &mut problems);
        let key = idempotency::key(&parts.headers, O::SPEC.method, &mut problems);
        if !problems.is_empty() {
            return Err(ApiError::Invalid(problems));
        }
        let path = Value::Object(path.ok_or(ApiError::NotFound)?);
        // Of a file the digest is enough to tell it from another one.
        let asked = file.as_ref().map_or_else(|| body.clone(), |file| Value::from(file.digest().to_vec()));
        let ticket = key.map(|key| Ticket::new(caller, bounds, key, &O::SPEC, [&path, &query, &asked]));
        Ok((Input { path: typed(path)?, query: typed(query)?, body: typed(body)?, page, file }, ticket))
    }
}

/// The variables of the path, decoded once; none if one of them is no UTF-8, and so names nothing.
async fn variables(parts: &mut Parts) -> Option<Map<String, Value>> {
    let raw = RawPathParams::from_request_parts(parts, &()).await.ok()?;
    Some(raw.iter().map(|(name, value)| (name.to_owned(), Value::from(value))).collect())
}

/// Reads the body as far as it may go. No body at all is null, which a schema may allow.
async fn read_body(
    checker: &Checker,
    headers: &HeaderMap,
    body: Body,
    problems: &mut Problems,
) -> Result<Value, ApiError> {
    let is_json = media_type_is_json(headers)?;
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if announced.is_some_and(|length| length > LARGEST_BODY) {
        return Err(ApiError::PayloadTooLarge);
    }
    let text = match Limited::new(body, LARGEST_BODY).collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) if error.is::<LengthLimitError>() => return Err(ApiError::PayloadTooLarge),
        Err(_) => return Err(ApiError::Invalid(Problems::of_form("the body ended too early"))),
    };
    let mut value = match (is_json, text.is_empty()) {
        (_, true) => Value::Null,
        (true, false) => match json::parse(&text) {
            // Null stands for no body; a body that says null is one, and no operation takes it.
            Ok(Value::Null) => {
                problems.form("the body: expected an object");
                return Ok(Value::Null);
            }
            Ok(value) => value,
            Err(_) => {
                problems.form("the body is not JSON, or names a member twice");
                return Ok(Value::Null);
            }
        },
        (false, false) => return Err(ApiError::UnsupportedMediaType),
    };
    checker.check(&mut value, problems);
    Ok(value)
}

/// Whether the body calls itself JSON; parameters such as a charset do not count.
///
/// # Errors
/// [`ApiError::UnsupportedMediaType`] if it calls itself something else.
fn media_type_is_json(headers: &HeaderMap) -> Result<bool, ApiError> {
    let mut named = headers.get_all(header::CONTENT_TYPE).iter();
    let Some(first) = named.next() else { return Ok(false) };
    let essence = first.to_str().unwrap_or_default().split(';').next().unwrap_or_default();
    let is_json = essence.trim().eq_ignore_ascii_case("application/json");
    if is_json && named.next().is_none() { Ok(true) } else { Err(ApiError::UnsupportedMediaType) }
}

/// Checked JSON as its type. The schema is made of that type, so a difference is our own fault.
fn typed<T: DeserializeOwned>(value: Value) -> Result<T, ApiError> {
    serde_json::from_value(value).map_err(ApiError::internal)
}
