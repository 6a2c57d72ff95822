//! `kobana:api/dispatch`, as the protocol wants to see it.

use kobana_protocol::{
    Allowance, Caller, Credentials, Denial, Dispatch, Failure, Method, Profile, Request, Response, Throttle,
};

use crate::bindings::kobana::api::dispatch as api;

/// The API behind the component's imports.
pub(crate) struct Api;

impl Dispatch for Api {
    type Caller = api::Caller;

    async fn authenticate(&self, credentials: Credentials) -> Result<api::Caller, Denial> {
        let Credentials { authorization, workspace } = credentials;
        api::authenticate(&api::Credentials { authorization, workspace }).map_err(Denial::from)
    }
}

impl Caller for api::Caller {
    async fn profile(&self) -> Profile {
        let api::Profile { subject, client, workspace, scopes, permissions } = api::Caller::profile(self);
        Profile { subject, client, workspace, scopes, permissions }
    }

    async fn allowance(&self) -> Allowance {
        api::Caller::allowance(self).into()
    }

    async fn call(&self, request: Request) -> Result<Response, Failure> {
        let Request { method, path, query, body, idempotency_key } = request;
        let request = api::Request { method: method.into(), path, query, body, idempotency_key };
        match api::Caller::call(self, &request) {
            Ok(api::Response { status, body, retry_after }) => Ok(Response { status, body, retry_after }),
            Err(failure) => Err(failure.into()),
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
