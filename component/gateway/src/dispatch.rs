//! `kobana:api/dispatch`, as the protocol wants to see it.

use kobana_protocol::extension::{Kind, Offer, Outcome, Use};
use kobana_protocol::{
    Action, Allowance, Answer, Caller, Credentials, Denial, Dispatch, Failure, Method, Profile, Redemption, Request,
    Response, Throttle,
};

use crate::wit::kobana::api::dispatch as api;

/// The API behind the component's imports.
pub(crate) struct Api;

/// A caller that was let in.
pub(crate) struct Admitted {
    caller: api::Caller,
    allowance: Allowance,
}

impl Dispatch for Api {
    type Caller = Admitted;

    async fn authenticate(&self, credentials: Credentials) -> Result<Admitted, Denial> {
        let Credentials { authorization, workspace } = credentials;
        let api::Admission { caller, allowance } = api::authenticate(&api::Credentials { authorization, workspace })?;
        Ok(Admitted { caller, allowance: allowance.into() })
    }
}

impl Caller for Admitted {
    async fn profile(&self) -> Profile {
        let api::Profile { workspace, scopes, permissions } = self.caller.profile();
        Profile { workspace, scopes, permissions }
    }

    async fn allowance(&self) -> Allowance {
        self.allowance
    }

    async fn call(&self, request: Request) -> Result<Response, Failure> {
        self.caller.call(&request.into()).map(Response::from).map_err(Failure::from)
    }

    async fn prepare(&self, request: Request) -> Result<Response, Failure> {
        self.caller.prepare(&request.into()).map(Response::from).map_err(Failure::from)
    }

    async fn suggest(&self, request: Request, prefix: String) -> Result<Response, Failure> {
        self.caller.suggest(&request.into(), &prefix).map(Response::from).map_err(Failure::from)
    }

    async fn issue_confirmation(&self, action: Action) -> Result<String, Failure> {
        self.caller.issue_confirmation(&action.into()).map_err(Failure::from)
    }

    async fn redeem_confirmation(&self, state: String, action: Action, answer: Answer) -> Result<(), Redemption> {
        self.caller.redeem_confirmation(&state, &action.into(), answer.into()).map_err(Redemption::from)
    }

    async fn refuse_confirmation(&self, action: Action) {
        self.caller.refuse_confirmation(&action.into());
    }

    async fn offers(&self, kind: Kind) -> Result<Vec<Offer>, Failure> {
        read(self.caller.offers(kind.into()))
    }

    async fn find_offer(&self, kind: Kind, name: String) -> Result<Option<Offer>, Failure> {
        read(self.caller.find_offer(kind.into(), &name))
    }

    async fn use_offer(&self, offer: Use) -> Result<Outcome, Failure> {
        let offer = kobana_wire::write(&offer).map_err(|_| Failure::Internal)?;
        read(self.caller.use_offer(&offer))
    }

    async fn seal(&self, action: Action, content: Vec<u8>) -> Result<String, Failure> {
        self.caller.seal(&action.into(), &content).map_err(Failure::from)
    }

    async fn open(&self, state: String, action: Action) -> Result<Vec<u8>, Redemption> {
        self.caller.open(&state, &action.into()).map_err(Redemption::from)
    }
}

/// What concerns extensions comes in the language of `kobana_wire`.
fn read<T: serde::de::DeserializeOwned>(reply: Result<Vec<u8>, api::Failure>) -> Result<T, Failure> {
    kobana_wire::read(&reply?).map_err(|_| Failure::Internal)
}

impl From<Kind> for api::Kind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Tool => Self::Tool,
            Kind::Resource => Self::Resource,
            Kind::ResourceTemplate => Self::ResourceTemplate,
            Kind::Prompt => Self::Prompt,
        }
    }
}

impl From<Request> for api::Request {
    fn from(request: Request) -> Self {
        let Request { method, path, query, body, idempotency_key } = request;
        Self { method: method.into(), path, query, body, idempotency_key }
    }
}

impl From<api::Response> for Response {
    fn from(response: api::Response) -> Self {
        let api::Response { status, body, retry_after } = response;
        Self { status, body, retry_after }
    }
}

impl From<Action> for api::Action {
    fn from(action: Action) -> Self {
        let Action { name, arguments, target, version, client } = action;
        Self { name, arguments, target, version, client }
    }
}

impl From<Answer> for api::Answer {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::None => Self::None,
            Answer::Accepted => Self::Accepted,
            Answer::Declined => Self::Declined,
        }
    }
}

impl From<api::Redemption> for Redemption {
    fn from(redemption: api::Redemption) -> Self {
        match redemption {
            api::Redemption::Expired => Self::Expired,
            api::Redemption::Changed => Self::Changed,
            api::Redemption::Invalid => Self::Invalid,
            api::Redemption::Unavailable(seconds) => Self::Unavailable(seconds),
        }
    }
}

impl From<api::Allowance> for Allowance {
    fn from(allowance: api::Allowance) -> Self {
        let api::Allowance { limit, remaining, reset } = allowance;
        Self { limit, remaining, reset }
    }
}

impl From<api::Denial> for Denial {
    fn from(denial: api::Denial) -> Self {
        match denial {
            api::Denial::Missing => Self::Missing,
            api::Denial::Invalid => Self::Invalid,
            api::Denial::Expired => Self::Expired,
            api::Denial::WrongAudience => Self::WrongAudience,
            api::Denial::RateLimited(api::Throttle { allowance, retry_after }) => {
                Self::RateLimited(Throttle { allowance: allowance.into(), retry_after })
            }
            api::Denial::Unavailable(seconds) => Self::Unavailable(seconds),
        }
    }
}

impl From<api::Failure> for Failure {
    fn from(failure: api::Failure) -> Self {
        match failure {
            api::Failure::TimedOut => Self::TimedOut,
            api::Failure::Unavailable(seconds) => Self::Unavailable(seconds),
            api::Failure::Internal => Self::Internal,
        }
    }
}

impl From<Method> for api::Method {
    fn from(method: Method) -> Self {
        match method {
            Method::Get => Self::Get,
            Method::Post => Self::Post,
            Method::Put => Self::Put,
            Method::Patch => Self::Patch,
            Method::Delete => Self::Delete,
        }
    }
}
