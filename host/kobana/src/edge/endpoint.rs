//! `/edge/v2`: what edge components ask, answered by the very implementation that the component in this process calls.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Either, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use kobana_identity::{Denial, Tickets};
use kobana_runtime::{Limits, dispatch as api};
use kobana_wire::{
    As, Authenticate, Call, FindOffer, Function, IssueConfirmation, LONGEST_QUESTION, MEDIA_TYPE, Offers, PREFIX,
    Prepare, RedeemConfirmation, RefuseConfirmation, Seal, Suggest, UseOffer, VERSION, VERSION_HEADER,
};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tracing::Instrument as _;
use uuid::Uuid;

use crate::app::Body;
use crate::edge::keys::Keys;
use crate::edge::settings::Edge;
use crate::failure::Failure;
use crate::gateway::InProcess;
use crate::listener::Answers;

/// How long a question waits for its turn, and what to tell whoever waited in vain.
const TURN: Duration = Duration::from_secs(2);
const BUSY: HeaderValue = HeaderValue::from_static("1");

/// The endpoint's place: an address that is taken, and the keys that open.
pub(crate) struct Open {
    listener: TcpListener,
    keys: Keys,
}

impl Open {
    /// Takes the address, if the endpoint is on.
    pub(crate) async fn of(settings: &Edge) -> Result<Option<Self>, Failure> {
        let Some((address, keys)) = settings.endpoint()? else { return Ok(None) };
        let listener = TcpListener::bind(address).await.map_err(|cause| Failure::Listen { address, cause })?;
        Ok(Some(Self { listener, keys }))
    }

    /// Where it is.
    pub(crate) fn address(&self) -> Result<SocketAddr, Failure> {
        self.listener.local_addr().map_err(|cause| Failure::System { what: "cannot read the address", cause })
    }

    /// What answers there.
    pub(crate) fn endpoint(
        self,
        settings: &Edge,
        limits: &Limits,
        dispatch: Arc<InProcess>,
        tickets: Tickets,
    ) -> (TcpListener, Endpoint) {
        let endpoint = Endpoint {
            dispatch,
            tickets,
            keys: self.keys,
            turns: Semaphore::new(settings.concurrency),
            to_send: Duration::from_millis(limits.request_body_ms),
            to_answer: Duration::from_millis(limits.deadline_ms),
            longest_answer: limits.response,
        };
        (self.listener, endpoint)
    }
}

/// Answers edge components.
pub(crate) struct Endpoint {
    dispatch: Arc<InProcess>,
    tickets: Tickets,
    keys: Keys,
    turns: Semaphore,
    /// How long a question may take to arrive.
    to_send: Duration,
    /// How long an answer may take.
    to_answer: Duration,
    /// The longest answer of the API, in bytes.
    longest_answer: usize,
}

/// Why a question is not answered. Each is one line for whoever looks into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
enum Refusal {
    #[error("expected one of edge.keys as the bearer token")]
    Key,
    #[error("expected a POST")]
    Method,
    #[error("no such function")]
    Function,
    #[error("the question is too long")]
    Length,
    #[error("the question did not arrive in time")]
    Arrival,
    #[error("the question broke off")]
    Broken,
    #[error("the question is cut short or of another version")]
    Unreadable,
    #[error("the ticket is not, or no longer, good")]
    Ticket,
    #[error("the ticket cannot be looked at now")]
    Unavailable,
    #[error("too many questions at once")]
    Busy,
    #[error("no answer in time")]
    TimedOut,
    #[error("the answer cannot be written")]
    Internal,
}

impl Refusal {
    const fn status(self) -> StatusCode {
        match self {
            Self::Key => StatusCode::UNAUTHORIZED,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::Function => StatusCode::NOT_FOUND,
            Self::Length => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Arrival => StatusCode::REQUEST_TIMEOUT,
            Self::Broken | Self::Unreadable => StatusCode::BAD_REQUEST,
            Self::Ticket => StatusCode::FORBIDDEN,
            Self::Unavailable | Self::Busy => StatusCode::SERVICE_UNAVAILABLE,
            Self::TimedOut => StatusCode::GATEWAY_TIMEOUT,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl Answers for Endpoint {
    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        let started = Instant::now();
        let id = Uuid::now_v7();
        let span = tracing::info_span!("edge", %id, path = request.uri().path());
        let outcome = self.ask(request).instrument(span.clone()).await;
        let milliseconds = started.elapsed().as_secs_f64() * 1_000.0;
        span.in_scope(|| match &outcome {
            Ok(_) => tracing::debug!(milliseconds, "answered"),
            Err(refusal) => tracing::warn!(milliseconds, %refusal, "refused"),
        });
        respond(outcome)
    }
}

impl Endpoint {
    async fn ask(&self, request: Request<Incoming>) -> Result<Vec<u8>, Refusal> {
        // First of all: whoever has no key learns nothing, and nobody is asked anything.
        let holder = self.keys.holder(request.headers()).ok_or(Refusal::Key)?;
        let function = request.uri().path().strip_prefix(PREFIX).ok_or(Refusal::Function)?.to_owned();
        if request.method() != Method::POST {
            return Err(Refusal::Method);
        }
        let _turn = timeout(TURN, self.turns.acquire()).await.map_err(|_| Refusal::Busy)?;
        let body = Limited::new(request.into_body(), LONGEST_QUESTION).collect();
        let question = match timeout(self.to_send, body).await {
            Ok(Ok(question)) => question.to_bytes(),
            Ok(Err(error)) if error.is::<LengthLimitError>() => return Err(Refusal::Length),
            Ok(Err(_)) => return Err(Refusal::Broken),
            Err(_) => return Err(Refusal::Arrival),
        };
        timeout(self.to_answer, self.dispatch(&function, &question, holder)).await.map_err(|_| Refusal::TimedOut)?
    }

    async fn dispatch(&self, function: &str, question: &[u8], holder: &str) -> Result<Vec<u8>, Refusal> {
        match function {
            Authenticate::NAME => {
                let credentials = read::<Authenticate>(question)?;
                write::<Authenticate>(&self.authenticate(credentials, holder).await?)
            }
            Call::NAME => {
                let (caller, request) = self.caller::<Call, _>(question, holder).await?;
                write::<Call>(&self.response(caller.call(request).await))
            }
            Prepare::NAME => {
                let (caller, request) = self.caller::<Prepare, _>(question, holder).await?;
                write::<Prepare>(&self.response(caller.prepare(request).await))
            }
            Suggest::NAME => {
                let (caller, (request, prefix)) = self.caller::<Suggest, _>(question, holder).await?;
                write::<Suggest>(&self.response(caller.suggest(request, prefix).await))
            }
            IssueConfirmation::NAME => {
                let (caller, action) = self.caller::<IssueConfirmation, _>(question, holder).await?;
                write::<IssueConfirmation>(&caller.issue_confirmation(action).await)
            }
            RedeemConfirmation::NAME => {
                let (caller, (state, action, answer)) = self.caller::<RedeemConfirmation, _>(question, holder).await?;
                write::<RedeemConfirmation>(&caller.redeem_confirmation(state, action, answer).await)
            }
            RefuseConfirmation::NAME => {
                let (caller, action) = self.caller::<RefuseConfirmation, _>(question, holder).await?;
                caller.refuse_confirmation(action).await;
                write::<RefuseConfirmation>(&())
            }
            _ => self.extensions(function, question, holder).await,
        }
    }

    /// The functions that concern extensions.
    async fn extensions(&self, function: &str, question: &[u8], holder: &str) -> Result<Vec<u8>, Refusal> {
        match function {
            Offers::NAME => {
                let (caller, kind) = self.caller::<Offers, _>(question, holder).await?;
                self.fitting::<Offers, _>(&caller.offers(kind).await)
            }
            FindOffer::NAME => {
                let (caller, (kind, name)) = self.caller::<FindOffer, _>(question, holder).await?;
                self.fitting::<FindOffer, _>(&caller.find_offer(kind, name).await)
            }
            UseOffer::NAME => {
                let (caller, wanted) = self.caller::<UseOffer, _>(question, holder).await?;
                self.fitting::<UseOffer, _>(&caller.use_offer(wanted).await)
            }
            Seal::NAME => {
                let (caller, (action, content)) = self.caller::<Seal, _>(question, holder).await?;
                write::<Seal>(&caller.seal(action, content.into_vec()).await)
            }
            kobana_wire::Open::NAME => {
                let (caller, (state, action)) = self.caller::<kobana_wire::Open, _>(question, holder).await?;
                write::<kobana_wire::Open>(&caller.open(state, action).await.map(Into::into))
            }
            _ => Err(Refusal::Function),
        }
    }

    /// A reply as long as one in this process may be.
    fn fitting<F: Function<Reply = Result<T, kobana_wire::Failure>>, T>(
        &self,
        reply: &F::Reply,
    ) -> Result<Vec<u8>, Refusal> {
        let bytes = write::<F>(reply)?;
        if bytes.len() <= self.longest_answer {
            return Ok(bytes);
        }
        tracing::error!(bytes = bytes.len(), "what extensions say is too long");
        write::<F>(&Err(kobana_wire::Failure::Internal))
    }

    /// Proves the credentials; the ticket is good for the key's holder alone.
    async fn authenticate(
        &self,
        credentials: kobana_wire::Credentials,
        holder: &str,
    ) -> Result<<Authenticate as Function>::Reply, Refusal> {
        let admission = match self.dispatch.admit(credentials).await {
            Ok(admission) => admission,
            Err(denial) => return Ok(Err(denial)),
        };
        let ticket = self.tickets.issue(&admission, holder).ok_or(Refusal::Internal)?;
        let caller = self.dispatch.caller(admission);
        let (profile, allowance) = (Arc::unwrap_or_clone(caller.profile()), caller.allowance());
        Ok(Ok(kobana_wire::Admitted { ticket, profile, allowance }))
    }

    /// The caller of a question's ticket, as it stands now, and the question itself.
    async fn caller<F: Function<Question = As<Q>>, Q>(
        &self,
        question: &[u8],
        holder: &str,
    ) -> Result<(Arc<dyn api::Caller>, Q), Refusal> {
        let As { ticket, question } = read::<F>(question)?;
        match self.dispatch.resume(&self.tickets, &ticket, holder).await {
            Ok(caller) => Ok((caller, question)),
            Err(Denial::Unavailable(_)) => Err(Refusal::Unavailable),
            Err(_) => Err(Refusal::Ticket),
        }
    }

    /// An answer that the other side has room for, by the same limit as in this process.
    fn response(&self, answer: Result<api::Response, api::Failure>) -> <Call as Function>::Reply {
        match answer {
            Ok(response) if response.body.len() > self.longest_answer => {
                tracing::error!(bytes = response.body.len(), "answer of the API is too long");
                Err(kobana_wire::Failure::Internal)
            }
            answer => answer,
        }
    }
}

fn read<F: Function>(question: &[u8]) -> Result<F::Question, Refusal> {
    kobana_wire::read(question).map_err(|_| Refusal::Unreadable)
}

fn write<F: Function>(reply: &F::Reply) -> Result<Vec<u8>, Refusal> {
    kobana_wire::write(reply).map_err(|_| Refusal::Internal)
}

fn respond(outcome: Result<Vec<u8>, Refusal>) -> Response<Body> {
    let (status, media_type, body) = match outcome {
        Ok(reply) => (StatusCode::OK, MEDIA_TYPE, reply),
        Err(refusal) => (refusal.status(), "text/plain; charset=utf-8", format!("{refusal}\n").into_bytes()),
    };
    let mut response = Response::new(Either::Left(Full::new(Bytes::from(body))));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(HeaderName::from_static(VERSION_HEADER), HeaderValue::from_static(VERSION));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    match status {
        StatusCode::UNAUTHORIZED => headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")),
        StatusCode::METHOD_NOT_ALLOWED => headers.insert(http::header::ALLOW, HeaderValue::from_static("POST")),
        StatusCode::SERVICE_UNAVAILABLE => headers.insert(RETRY_AFTER, BUSY),
        _ => None,
    };
    response
}
