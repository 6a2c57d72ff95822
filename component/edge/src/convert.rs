//! Between the interface's types and those of the wire.

use crate::wit::exports::kobana::api::dispatch as api;

impl From<api::Credentials> for kobana_wire::Credentials {
    fn from(credentials: api::Credentials) -> Self {
        let api::Credentials { authorization, workspace } = credentials;
        Self { authorization, workspace }
    }
}

impl From<api::Request> for kobana_wire::Request {
    fn from(request: api::Request) -> Self {
        let api::Request { method, path, query, body, idempotency_key } = request;
        Self { method: method.into(), path, query, body, idempotency_key }
    }
}

impl From<api::Method> for kobana_wire::Method {
    fn from(method: api::Method) -> Self {
        match method {
            api::Method::Get => Self::Get,
            api::Method::Post => Self::Post,
            api::Method::Put => Self::Put,
            api::Method::Patch => Self::Patch,
            api::Method::Delete => Self::Delete,
        }
    }
}

impl From<api::Kind> for kobana_wire::extension::Kind {
    fn from(kind: api::Kind) -> Self {
        match kind {
            api::Kind::Tool => Self::Tool,
            api::Kind::Resource => Self::Resource,
            api::Kind::ResourceTemplate => Self::ResourceTemplate,
            api::Kind::Prompt => Self::Prompt,
        }
    }
}

impl From<api::Action> for kobana_wire::Action {
    fn from(action: api::Action) -> Self {
        let api::Action { name, arguments, target, version, client } = action;
        Self { name, arguments, target, version, client }
    }
}

impl From<api::Answer> for kobana_wire::Answer {
    fn from(answer: api::Answer) -> Self {
        match answer {
            api::Answer::None => Self::None,
            api::Answer::Accepted => Self::Accepted,
            api::Answer::Declined => Self::Declined,
        }
    }
}

impl From<kobana_wire::Profile> for api::Profile {
    fn from(profile: kobana_wire::Profile) -> Self {
        let kobana_wire::Profile { workspace, scopes, permissions } = profile;
        Self { workspace, scopes, permissions }
    }
}

impl From<kobana_wire::Allowance> for api::Allowance {
    fn from(allowance: kobana_wire::Allowance) -> Self {
        let kobana_wire::Allowance { limit, remaining, reset } = allowance;
        Self { limit, remaining, reset }
    }
}

impl From<kobana_wire::Response> for api::Response {
    fn from(response: kobana_wire::Response) -> Self {
        let kobana_wire::Response { status, body, retry_after } = response;
        Self { status, body, retry_after }
    }
}

impl From<kobana_wire::Denial> for api::Denial {
    fn from(denial: kobana_wire::Denial) -> Self {
        match denial {
            kobana_wire::Denial::Missing => Self::Missing,
            kobana_wire::Denial::Invalid => Self::Invalid,
            kobana_wire::Denial::Expired => Self::Expired,
            kobana_wire::Denial::WrongAudience => Self::WrongAudience,
            kobana_wire::Denial::RateLimited(kobana_wire::Throttle { allowance, retry_after }) => {
                Self::RateLimited(api::Throttle { allowance: allowance.into(), retry_after })
            }
            kobana_wire::Denial::Unavailable(seconds) => Self::Unavailable(seconds),
        }
    }
}

impl From<kobana_wire::Failure> for api::Failure {
    fn from(failure: kobana_wire::Failure) -> Self {
        match failure {
            kobana_wire::Failure::TimedOut => Self::TimedOut,
            kobana_wire::Failure::Unavailable(seconds) => Self::Unavailable(seconds),
            kobana_wire::Failure::Internal => Self::Internal,
        }
    }
}

impl From<kobana_wire::Redemption> for api::Redemption {
    fn from(redemption: kobana_wire::Redemption) -> Self {
        match redemption {
            kobana_wire::Redemption::Expired => Self::Expired,
            kobana_wire::Redemption::Changed => Self::Changed,
            kobana_wire::Redemption::Invalid => Self::Invalid,
            kobana_wire::Redemption::Unavailable(seconds) => Self::Unavailable(seconds),
        }
    }
}
