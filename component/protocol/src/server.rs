//! The pipeline: every check in its order, the earlier one answers (protocol.md §2; see [`crate`] for why that order).

use crate::answer::Outcome;
use crate::challenge;
use crate::config::Config;
use crate::dispatch::{Allowance, Caller, Credentials, Denial, Dispatch};
use crate::envelope;
use crate::era::{self, Claim, Version};
use crate::error::Error;
use crate::http::{self, Body, BodyError, Head, Headers, HttpResponse, MAX_BODY, Single};
use crate::json;
use crate::jsonrpc::{Id, Message, Params};
use crate::origin::{self, Source};
use crate::{completion, lifecycle, mirror, prompts, resources, tools};

/// Answers one HTTP request.
pub async fn handle<D: Dispatch, B: Body>(config: &Config, dispatch: &D, head: Head<'_>, body: B) -> HttpResponse {
    let source = Source::of(&head.headers, &config.allowed_origins);
    let response = match source {
        Source::Foreign => Error::ForeignOrigin.into_response(config, None, None),
        Source::Program | Source::Page(_) => route(config, dispatch, &source, &head, body).await,
    };
    let mut response = source.dress(response);
    if head.method == "HEAD" {
        response.body.clear();
    }
    response
}

async fn route<D: Dispatch, B: Body>(
    config: &Config,
    dispatch: &D,
    source: &Source,
    head: &Head<'_>,
    body: B,
) -> HttpResponse {
    let metadata = config.is_metadata(head.path);
    let asks = head.method == "OPTIONS" && head.headers.single("access-control-request-method") != Single::Absent;
    if asks && matches!(source, Source::Page(_)) {
        return origin::preflight(if metadata { "GET" } else { "POST" });
    }
    if metadata {
        return match head.method {
            "GET" | "HEAD" => HttpResponse::json(200, challenge::metadata(config)),
            _ => HttpResponse::empty(405).with("allow", "GET, HEAD"),
        };
    }
    if head.path != config.endpoint {
        return HttpResponse::empty(404).with("content-type", "text/plain; charset=utf-8").with_body("Not found\n");
    }
    if head.method != "POST" {
        return Error::MethodNotAllowed.into_response(config, None, None);
    }
    endpoint(config, dispatch, head, body).await
}

/// Proves who is calling before anything is read.
async fn endpoint<D: Dispatch, B: Body>(config: &Config, dispatch: &D, head: &Head<'_>, body: B) -> HttpResponse {
    let caller = match credentials(&head.headers) {
        Ok(credentials) => dispatch.authenticate(credentials).await,
        Err(denial) => Err(denial),
    };
    match caller {
        Ok(caller) => {
            let response = serve(config, &caller, head, body).await;
            with_allowance(response, caller.allowance().await)
        }
        Err(denial) => denied(config, denial, body).await,
    }
}

/// One bearer token from the one `Authorization` field: which of two counts is nobody's guess.
fn credentials(headers: &Headers<'_>) -> Result<Credentials, Denial> {
    let authorization = match headers.single("authorization") {
        Single::Absent => None,
        Single::Once(value) => Some(std::str::from_utf8(value).map_err(|_| Denial::Invalid)?.to_owned()),
        Single::Repeated => return Err(Denial::Invalid),
    };
    let workspace = match headers.single("x-workspace-id") {
        Single::Once(value) => Some(String::from_utf8_lossy(value).into_owned()),
        // Repetition is refused once the caller is known.
        Single::Absent | Single::Repeated => None,
    };
    Ok(Credentials { authorization, workspace })
}

/// A refusal that a client may wait out still carries the id that it needs to match it (decision 19).
async fn denied<B: Body>(config: &Config, denial: Denial, body: B) -> HttpResponse {
    let bytes = match denial {
        Denial::RateLimited(_) | Denial::Unavailable(_) => body.read(MAX_BODY).await.unwrap_or_default(),
        Denial::Missing | Denial::Invalid | Denial::Expired | Denial::WrongAudience => Vec::new(),
    };
    let id = match Message::parse(&bytes) {
        Ok(message) => message.id,
        Err(malformed) => malformed.id,
    };
    let response = Error::from(denial).into_response(config, id, None);
    match denial {
        Denial::RateLimited(throttle) => with_allowance(response, throttle.allowance),
        _ => response,
    }
}

fn with_allowance(response: HttpResponse, allowance: Allowance) -> HttpResponse {
    response
        .with("x-ratelimit-limit", allowance.limit.to_string())
        .with("x-ratelimit-remaining", allowance.remaining.to_string())
        .with("x-ratelimit-reset", allowance.reset.to_string())
}

async fn serve<C: Caller, B: Body>(config: &Config, caller: &C, head: &Head<'_>, body: B) -> HttpResponse {
    let bytes = match read(&head.headers, body).await {
        Ok(bytes) => bytes,
        Err(error) => return error.into_response(config, None, None),
    };
    match Message::parse(&bytes) {
        Err(malformed) => malformed.error.into_response(config, malformed.id, None),
        Ok(message) => match message.id {
            None => notification(config, &head.headers, &message.params),
            Some(id) => request(config, caller, head, id, &message).await,
        },
    }
}

/// Reads the body, if the headers promise one that can be taken.
async fn read<B: Body>(headers: &Headers<'_>, body: B) -> Result<Vec<u8>, Error> {
    if headers.single("x-workspace-id") == Single::Repeated {
        return Err(Error::RepeatedWorkspace);
    }
    if !http::is_json(headers.single("content-type")) {
        return Err(Error::UnsupportedMediaType);
    }
    let announced = headers.combined("content-length").and_then(|length| length.parse::<u64>().ok());
    if announced.is_some_and(|length| length > MAX_BODY as u64) {
        return Err(Error::TooLarge);
    }
    body.read(MAX_BODY).await.map_err(|error| match error {
        BodyError::TooLarge => Error::TooLarge,
        BodyError::Broken => Error::Parse("the body ended too early"),
    })
}

/// A message without an id is taken and never carried out, whatever method it names (protocol.md D24).
fn notification(config: &Config, headers: &Headers<'_>, params: &Params<'_>) -> HttpResponse {
    let header = headers.combined("mcp-protocol-version");
    match era::decide_notification(header.as_deref(), &claim(params)) {
        Ok(version) => HttpResponse::empty(202).with("mcp-protocol-version", version.as_str()),
        Err(error) => error.into_response(config, None, None),
    }
}

fn claim(params: &Params<'_>) -> Claim {
    Claim::of(params.meta().and_then(|meta| meta.get(era::VERSION_KEY)))
}

async fn request<C: Caller>(
    config: &Config,
    caller: &C,
    head: &Head<'_>,
    id: Id<'_>,
    message: &Message<'_>,
) -> HttpResponse {
    let header = head.headers.combined("mcp-protocol-version");
    let claim = claim(&message.params);
    let version = match era::decide(header.as_deref(), &claim) {
        Ok(version) => version,
        Err(error) => {
            // A request that claims the stateless revision is answered in it, whatever else is wrong (protocol.md D28).
            let agreed =
                matches!(&claim, Claim::Version(named) if Version::parse(named).is_some_and(Version::is_modern));
            return refused(config, error, id, agreed.then_some(Version::V2026_07_28));
        }
    };
    match answer(caller, head, version, message).await {
        Ok(outcome) => outcome.into_response(id, version),
        Err(error) => refused(config, error, id, Some(version)),
    }
}

fn refused(config: &Config, error: Error, id: Id<'_>, version: Option<Version>) -> HttpResponse {
    let response = error.into_response(config, Some(id), version);
    match version {
        Some(version) => response.with("mcp-protocol-version", version.as_str()),
        None => response,
    }
}

async fn answer<C: Caller>(
    caller: &C,
    head: &Head<'_>,
    version: Version,
    message: &Message<'_>,
) -> Result<Outcome, Error> {
    if version.is_modern() {
        envelope::check(&message.params)?;
        mirror::check_method(&head.headers, &message.method)?;
        check_name(&head.headers, message)?;
    }
    let method = Method::of(&message.method, version);
    let method = method.ok_or_else(|| Error::MethodNotFound(message.method.clone().into_owned()))?;
    if matches!(message.params, Params::Other) {
        return Err(Error::InvalidParams("params must be an object".to_owned()));
    }
    let params = &message.params;
    match method {
        Method::Discover => Ok(lifecycle::discover()),
        Method::Initialize => lifecycle::initialize(params),
        Method::Ping => Ok(lifecycle::ping()),
        Method::ToolsList => tools::list(caller, params).await,
        Method::ToolsCall => tools::call(caller, version, head.parameters, params).await,
        Method::ResourcesList => resources::list(caller, params).await,
        Method::ResourceTemplatesList => resources::list_templates(caller, params).await,
        Method::ResourcesRead => resources::read(caller, version, params).await,
        Method::PromptsList => prompts::list(caller, params).await,
        Method::PromptsGet => prompts::get(caller, version, params).await,
        Method::Complete => completion::complete(caller, params).await,
    }
}

/// Which member `Mcp-Name` repeats, and whether it must (decision 9). Where the member is no text there is nothing to repeat.
fn check_name(headers: &Headers<'_>, message: &Message<'_>) -> Result<(), Error> {
    let (member, demanded) = match message.method.as_ref() {
        "tools/call" => ("name", true),
        "prompts/get" => ("name", false),
        "resources/read" => ("uri", false),
        _ => return Ok(()),
    };
    match message.params.get(member).and_then(json::string) {
        Some(name) => mirror::check_name(headers, &name, demanded),
        None => Ok(()),
    }
}

/// The methods that are served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    Discover,
    Initialize,
    Ping,
    ToolsList,
    ToolsCall,
    ResourcesList,
    ResourceTemplatesList,
    ResourcesRead,
    PromptsList,
    PromptsGet,
    Complete,
}

impl Method {
    /// The method table of the founding page: each era has its own.
    fn of(name: &str, version: Version) -> Option<Self> {
        match (name, version.is_modern()) {
            ("server/discover", true) => Some(Self::Discover),
            ("initialize", false) => Some(Self::Initialize),
            ("ping", false) => Some(Self::Ping),
            ("tools/list", _) => Some(Self::ToolsList),
            ("tools/call", _) => Some(Self::ToolsCall),
            ("resources/list", _) => Some(Self::ResourcesList),
            ("resources/templates/list", _) => Some(Self::ResourceTemplatesList),
            ("resources/read", _) => Some(Self::ResourcesRead),
            ("prompts/list", _) => Some(Self::PromptsList),
            ("prompts/get", _) => Some(Self::PromptsGet),
            ("completion/complete", _) => Some(Self::Complete),
            _ => None,
        }
    }
}
