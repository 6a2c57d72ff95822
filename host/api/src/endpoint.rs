//! The way of every request, from where its operation is known to the handler (inbox-api.yaml, Access): scope, workspace,
//! permission, media type and size, body and query. What comes after, existence and rules, is the handler's.

use std::marker::PhantomData;
use std::sync::Arc;

use async_trait::async_trait;
use axum::body::Body;
use http::{HeaderMap, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use jsonschema::ValidationError;
use kobana_contract::operation::properties;
use kobana_contract::{Caller, Described, Operation, Timestamp};
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
use crate::reply::{Reply, Written};
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

/// What is wanted of an operation.
#[derive(Debug, Clone)]
pub(crate) enum Purpose {
    /// That it is carried out.
    Act,
    /// To know what it would act on: 200 with `{data}`, or the refusal that the operation would give.
    Prepare,
    /// Of a list, to offer rows that complete what was typed so far: 200 with `{data: {values, total}}`, or the refusal that
    /// the list would give.
    Suggest(String),
}

/// What came for an operation, whichever way it came.
pub(crate) struct Asked<'a> {
    pub(crate) caller: Arc<Caller>,
    /// The variables of the path, decoded; none if one of them is no UTF-8, and so names nothing.
    pub(crate) path: Option<Map<String, Value>>,
    /// As `application/x-www-form-urlencoded` has it.
    pub(crate) query: &'a str,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body: Body,
    pub(crate) purpose: Purpose,
}

/// An operation, whichever it is.
#[async_trait]
pub(crate) trait Serve: Send + Sync {
    /// Answers.
    ///
    /// # Errors
    /// The refusal.
    async fn serve(&self, asked: Asked<'_>) -> Result<Written, ApiError>;
}

/// What an operation needs at run time, made once.
pub(crate) struct Endpoint<O> {
    shared: Arc<Shared>,
    query: Checker,
    body: Option<Checker>,
    /// Whether it is a list, which comes in pages.
    is_list: bool,
    operation: PhantomData<fn() -> O>,
}

impl<O: Handle> Endpoint<O> {
    /// Makes it of what the contract says.
    ///
    /// # Errors
    /// When a schema of the contract is no JSON Schema.
    pub(crate) fn new(shared: Arc<Shared>) -> Result<Self, ValidationError<'static>> {
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
        let described = Described::of::<O>();
        let body = described.body.map(Checker::new).transpose()?;
        let is_list = properties(&described.query).is_some_and(|members| members.contains_key("cursor"));
        Ok(Self { shared, query: Checker::new(described.query)?, body, is_list, operation: PhantomData })
    }
}

#[async_trait]
impl<O: Handle + 'static> Serve for Endpoint<O> {
    async fn serve(&self, asked: Asked<'_>) -> Result<Written, ApiError> {
        let Asked { caller, path, query, headers, body, purpose } = asked;
        gate::check_scope(&caller, &O::SPEC)?;
        let id = path.as_ref().and_then(|path| path.get("id")).and_then(Value::as_str);
        let place = O::Gate::admit(&caller, &O::SPEC, id)?;

        let bounds = place.bounds();
        let (input, ticket) = self.read(headers, query, body, path, &caller, &bounds).await?;
        let context = Context { shared: Arc::clone(&self.shared), caller, place, now: Timestamp::now() };
        match purpose {
            Purpose::Act => {}
            Purpose::Prepare => return Reply::ok(O::prepare(context, input).await?).data(|row| row).write(),
            Purpose::Suggest(prefix) => {
                return Reply::ok(O::suggest(context, input, &prefix).await?).data(|rows| rows).write();
            }
        }
        let now = context.now;
        let work = async move { O::handle(context, input).await?.write() };
        match ticket {
            Some(ticket) => idempotency::once(&self.shared, &ticket, now, work).await,
            None => work.await,
        }
    }
}

impl<O: Handle> Endpoint<O> {
    /// Reads body and query, and notes everything that is wrong with them.
    async fn read(
        &self,
        headers: &HeaderMap,
        query: &str,
        body: Body,
        path: Option<Map<String, Value>>,
        caller: &Caller,
        bounds: &str,
    ) -> Result<(Input<O>, Option<Ticket>), ApiError> {
        let mut problems = Problems::default();
        let (body, file) = match (&self.body, O::TAKES) {
            (Some(checker), _) => (read_body(checker, headers, body, &mut problems).await?, None),
            (None, Some(taken)) => {
                let file = upload::receive(self.shared.store.blobs(), taken, headers, body).await?;
                (Value::Object(Map::new()), Some(file))
            }
            (None, None) => (Value::Object(Map::new()), None),
        };
        let mut query = Value::Object(query::parse(query, self.query.schema(), &mut problems));
        self.query.check(&mut query, &mut problems);
        let page = if self.is_list {
            Paging::read(&self.shared.cursors, &O::SPEC, bounds, path.as_ref(), &query, &mut problems)
        } else {
            Paging::none(&self.shared.cursors)
        };
        let key = idempotency::key(headers, O::SPEC.method, &mut problems);
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
