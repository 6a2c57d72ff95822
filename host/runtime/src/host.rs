//! The host side of `kobana:api/dispatch`: from the wire's types to the embedder's and back.

use std::sync::Arc;

use wasmtime::Result;
use wasmtime::component::Resource;

use crate::bindings::Handle;
use crate::bindings::kobana::api::dispatch as wire;
use crate::dispatch::{
    Action, Allowance, Answer, Credentials, Denial, Failure, Profile, Redemption, Request, Response,
};
use crate::state::State;

impl wire::Host for State {
    async fn authenticate(
        &mut self,
        credentials: wire::Credentials,
    ) -> Result<std::result::Result<Resource<Handle>, wire::Denial>> {
        let wire::Credentials { authorization, workspace } = credentials;
        let dispatch = Arc::clone(&self.dispatch);
        let proof = self.wait(dispatch.authenticate(Credentials { authorization, workspace })).await;
        Ok(match proof.unwrap_or(Err(Denial::Unavailable(1))) {
            Ok(caller) => Ok(self.table.push(caller)?),
            Err(denial) => Err(denial.into()),
        })
    }
}

impl wire::HostCaller for State {
    fn profile(&mut self, caller: Resource<Handle>) -> Result<wire::Profile> {
        let Profile { subject, client, workspace, scopes, permissions } = self.table.get(&caller)?.profile();
        Ok(wire::Profile { subject, client, workspace, scopes, permissions })
    }

    fn allowance(&mut self, caller: Resource<Handle>) -> Result<wire::Allowance> {
        Ok(self.table.get(&caller)?.allowance().into())
    }

    async fn call(
        &mut self,
        caller: Resource<Handle>,
        request: wire::Request,
    ) -> Result<std::result::Result<wire::Response, wire::Failure>> {
        let caller = Arc::clone(self.table.get(&caller)?);
        let answer = self.wait(caller.call(request.into())).await;
        Ok(self.fitting(answer.unwrap_or(Err(Failure::Internal))))
    }

    async fn prepare(
        &mut self,
        caller: Resource<Handle>,
        request: wire::Request,
    ) -> Result<std::result::Result<wire::Response, wire::Failure>> {
        let caller = Arc::clone(self.table.get(&caller)?);
        let answer = self.wait(caller.prepare(request.into())).await;
        Ok(self.fitting(answer.unwrap_or(Err(Failure::Internal))))
    }

    async fn suggest(
        &mut self,
        caller: Resource<Handle>,
        request: wire::Request,
        prefix: String,
    ) -> Result<std::result::Result<wire::Response, wire::Failure>> {
        let caller = Arc::clone(self.table.get(&caller)?);
        let answer = self.wait(caller.suggest(request.into(), prefix)).await;
        Ok(self.fitting(answer.unwrap_or(Err(Failure::Internal))))
    }

    async fn issue_confirmation(
        &mut self,
        caller: Resource<Handle>,
        action: wire::Action,
    ) -> Result<std::result::Result<String, wire::Failure>> {
        let caller = Arc::clone(self.table.get(&caller)?);
        let state = self.wait(caller.issue_confirmation(action.into())).await;
        Ok(state.unwrap_or(Err(Failure::Internal)).map_err(wire::Failure::from))
    }

    async fn redeem_confirmation(
        &mut self,
        caller: Resource<Handle>,
        state: String,
        action: wire::Action,
        answer: wire::Answer,
    ) -> Result<std::result::Result<(), wire::Redemption>> {
        let caller = Arc::clone(self.table.get(&caller)?);
        let outcome = self.wait(caller.redeem_confirmation(state, action.into(), answer.into())).await;
        Ok(outcome.unwrap_or(Err(Redemption::Invalid)).map_err(wire::Redemption::from))
    }

    async fn refuse_confirmation(&mut self, caller: Resource<Handle>, action: wire::Action) -> Result<()> {
        let caller = Arc::clone(self.table.get(&caller)?);
        // Without a client there is nobody left to refuse.
        let _ = self.wait(caller.refuse_confirmation(action.into())).await;
        Ok(())
    }

    fn drop(&mut self, caller: Resource<Handle>) -> Result<()> {
        self.table.delete(caller)?;
        Ok(())
    }
}

impl State {
    /// An answer that the guest has room for.
    fn fitting(
        &self,
        answer: std::result::Result<Response, Failure>,
    ) -> std::result::Result<wire::Response, wire::Failure> {
        match answer {
            Ok(Response { status, body, retry_after }) if body.len() <= self.response => {
                Ok(wire::Response { status, body, retry_after })
            }
            Ok(Response { body, .. }) => {
                self.slot.span().in_scope(|| tracing::error!(bytes = body.len(), "answer of the API is too long"));
                Err(wire::Failure::Internal)
            }
            Err(failure) => Err(failure.into()),
        }
    }
}

impl From<wire::Action> for Action {
    fn from(action: wire::Action) -> Self {
        let wire::Action { name, arguments, target, version, client } = action;
        Self { name, arguments, target, version, client }
    }
}

impl From<wire::Answer> for Answer {
    fn from(answer: wire::Answer) -> Self {
        match answer {
            wire::Answer::None => Self::None,
            wire::Answer::Accepted => Self::Accepted,
            wire::Answer::Declined => Self::Declined,
        }
    }
}

impl From<Redemption> for wire::Redemption {
    fn from(redemption: Redemption) -> Self {
        match redemption {
            Redemption::Expired => Self::Expired,
            Redemption::Changed => Self::Changed,
            Redemption::Invalid => Self::Invalid,
            Redemption::Unavailable(seconds) => Self::Unavailable(seconds),
        }
    }
}

impl From<wire::Request> for Request {
    fn from(request: wire::Request) -> Self {
        let wire::Request { method, path, query, body, idempotency_key } = request;
        let method = match method {
            wire::Method::Get => http::Method::GET,
            wire::Method::Post => http::Method::POST,
            wire::Method::Put => http::Method::PUT,
            wire::Method::Patch => http::Method::PATCH,
            wire::Method::Delete => http::Method::DELETE,
        };
        Self { method, path, query, body, idempotency_key }
    }
}

impl From<Allowance> for wire::Allowance {
    fn from(allowance: Allowance) -> Self {
        let Allowance { limit, remaining, reset } = allowance;
        Self { limit, remaining, reset }
    }
}

impl From<Denial> for wire::Denial {
    fn from(denial: Denial) -> Self {
        match denial {
            Denial::Missing => Self::Missing,
            Denial::Invalid => Self::Invalid,
            Denial::Expired => Self::Expired,
            Denial::WrongAudience => Self::WrongAudience,
            Denial::RateLimited { allowance, retry_after } => {
                Self::RateLimited(wire::Throttle { allowance: allowance.into(), retry_after })
            }
            Denial::Unavailable(seconds) => Self::Unavailable(seconds),
        }
    }
}

impl From<Failure> for wire::Failure {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::TimedOut => Self::TimedOut,
            Failure::Unavailable(seconds) => Self::Unavailable(seconds),
            Failure::Internal => Self::Internal,
        }
    }
}
