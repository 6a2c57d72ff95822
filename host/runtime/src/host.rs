//! The host side of `kobana:api/dispatch`: from the generated types to the embedder's and back.

use std::sync::Arc;

use wasmtime::Result;
use wasmtime::component::Resource;

use crate::bindings::Handle;
use crate::bindings::kobana::api::dispatch as wit;
use crate::dispatch::{
    self, Action, Allowance, Answer, Credentials, Denial, Failure, Method, Profile, Redemption, Request, Response,
    Throttle,
};
use crate::state::State;

impl wit::Host for State {
    async fn authenticate(
        &mut self,
        credentials: wit::Credentials,
    ) -> Result<std::result::Result<wit::Admission, wit::Denial>> {
        let wit::Credentials { authorization, workspace } = credentials;
        let dispatch = Arc::clone(&self.dispatch);
        let proof = self.wait(dispatch.authenticate(Credentials { authorization, workspace })).await;
        Ok(match proof.unwrap_or(Err(Denial::Unavailable(1))) {
            Ok(caller) => {
                let allowance = caller.allowance().into();
                Ok(wit::Admission { caller: self.table.push(caller)?, allowance })
            }
            Err(denial) => Err(denial.into()),
        })
    }
}

impl wit::HostCaller for State {
    fn profile(&mut self, caller: Resource<Handle>) -> Result<wit::Profile> {
        let profile = self.table.get(&caller)?.profile();
        let Profile { workspace, scopes, permissions } = Arc::unwrap_or_clone(profile);
        Ok(wit::Profile { workspace, scopes, permissions })
    }

    async fn call(
        &mut self,
        caller: Resource<Handle>,
        request: wit::Request,
    ) -> Result<std::result::Result<wit::Response, wit::Failure>> {
        let caller = Arc::clone(self.table.get(&caller)?);
        let answer = self.wait(caller.call(request.into())).await;
        Ok(self.fitting(answer.unwrap_or(Err(Failure::Internal))))
    }

    async fn prepare(
        &mut self,
        caller: Resource<Handle>,
        request: wit::Request,
    ) -> Result<std::result::Result<wit::Response, wit::Failure>> {
        let caller = Arc::clone(self.table.get(&caller)?);
        let answer = self.wait(caller.prepare(request.into())).await;
        Ok(self.fitting(answer.unwrap_or(Err(Failure::Internal))))
    }

    async fn suggest(
        &mut self,
        caller: Resource<Handle>,
        request: wit::Request,
        prefix: String,
    ) -> Result<std::result::Result<wit::Response, wit::Failure>> {
        let caller = Arc::clone(self.table.get(&caller)?);
        let answer = self.wait(caller.suggest(request.into(), prefix)).await;
        Ok(self.fitting(answer.unwrap_or(Err(Failure::Internal))))
    }

    async fn issue_confirmation(
        &mut self,
        caller: Resource<Handle>,
        action: wit::Action,
    ) -> Result<std::result::Result<String, wit::Failure>> {
        let caller = Arc::clone(self.table.get(&caller)?);
        let state = self.wait(caller.issue_confirmation(action.into())).await;
        Ok(state.unwrap_or(Err(Failure::Internal)).map_err(wit::Failure::from))
    }

    async fn redeem_confirmation(
        &mut self,
        caller: Resource<Handle>,
        state: String,
        action: wit::Action,
        answer: wit::Answer,
    ) -> Result<std::result::Result<(), wit::Redemption>> {
        let caller = Arc::clone(self.table.get(&caller)?);
        let outcome = self.wait(caller.redeem_confirmation(state, action.into(), answer.into())).await;
        Ok(outcome.unwrap_or(Err(Redemption::Invalid)).map_err(wit::Redemption::from))
    }

    async fn refuse_confirmation(&mut self, caller: Resource<Handle>, action: wit::Action) -> Result<()> {
        let caller = Arc::clone(self.table.get(&caller)?);
        // Without a client there is nobody left to refuse.
        let _ = self.wait(caller.refuse_confirmation(action.into())).await;
        Ok(())
    }

    async fn offers(
        &mut self,
        caller: Resource<Handle>,
        kind: wit::Kind,
    ) -> Result<std::result::Result<Vec<u8>, wit::Failure>> {
        let caller = Arc::clone(self.table.get(&caller)?);
        let offers = self.wait(caller.offers(kind.into())).await;
        Ok(self.written(offers))
    }

    async fn find_offer(
        &mut self,
        caller: Resource<Handle>,
        kind: wit::Kind,
        name: String,
    ) -> Result<std::result::Result<Vec<u8>, wit::Failure>> {
        let caller = Arc::clone(self.table.get(&caller)?);
        let offer = self.wait(caller.find_offer(kind.into(), name)).await;
        Ok(self.written(offer))
    }

    async fn use_offer(
        &mut self,
        caller: Resource<Handle>,
        wanted: Vec<u8>,
    ) -> Result<std::result::Result<Vec<u8>, wit::Failure>> {
        let caller = Arc::clone(self.table.get(&caller)?);
        // Only a guest of another version writes what cannot be read.
        let Ok(wanted) = kobana_wire::read(&wanted) else { return Ok(Err(wit::Failure::Internal)) };
        let outcome = self.wait(caller.use_offer(wanted)).await;
        Ok(self.written(outcome))
    }

    async fn seal(
        &mut self,
        caller: Resource<Handle>,
        action: wit::Action,
        content: Vec<u8>,
    ) -> Result<std::result::Result<String, wit::Failure>> {
        let caller = Arc::clone(self.table.get(&caller)?);
        let state = self.wait(caller.seal(action.into(), content)).await;
        Ok(state.unwrap_or(Err(Failure::Internal)).map_err(wit::Failure::from))
    }

    async fn open(
        &mut self,
        caller: Resource<Handle>,
        state: String,
        action: wit::Action,
    ) -> Result<std::result::Result<Vec<u8>, wit::Redemption>> {
        let caller = Arc::clone(self.table.get(&caller)?);
        let content = self.wait(caller.open(state, action.into())).await;
        Ok(content.unwrap_or(Err(Redemption::Invalid)).map_err(wit::Redemption::from))
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
    ) -> std::result::Result<wit::Response, wit::Failure> {
        match answer {
            Ok(Response { status, body, retry_after }) if body.len() <= self.response => {
                Ok(wit::Response { status, body, retry_after })
            }
            Ok(Response { body, .. }) => {
                tracing::error!(bytes = body.len(), "answer of the API is too long");
                Err(wit::Failure::Internal)
            }
            Err(failure) => Err(failure.into()),
        }
    }
}

impl State {
    /// What concerns extensions, in the language of `kobana_wire`, as far as the guest has room for it.
    fn written<T: serde::Serialize>(
        &self,
        reply: Option<std::result::Result<T, Failure>>,
    ) -> std::result::Result<Vec<u8>, wit::Failure> {
        let reply = reply.unwrap_or(Err(Failure::Internal))?;
        match kobana_wire::write(&reply) {
            Ok(bytes) if bytes.len() <= self.response => Ok(bytes),
            Ok(bytes) => {
                tracing::error!(bytes = bytes.len(), "what extensions say is too long");
                Err(wit::Failure::Internal)
            }
            Err(_) => Err(wit::Failure::Internal),
        }
    }
}

impl From<wit::Kind> for dispatch::extension::Kind {
    fn from(kind: wit::Kind) -> Self {
        match kind {
            wit::Kind::Tool => Self::Tool,
            wit::Kind::Resource => Self::Resource,
            wit::Kind::ResourceTemplate => Self::ResourceTemplate,
            wit::Kind::Prompt => Self::Prompt,
        }
    }
}

impl From<wit::Action> for Action {
    fn from(action: wit::Action) -> Self {
        let wit::Action { name, arguments, target, version, client } = action;
        Self { name, arguments, target, version, client }
    }
}

impl From<wit::Answer> for Answer {
    fn from(answer: wit::Answer) -> Self {
        match answer {
            wit::Answer::None => Self::None,
            wit::Answer::Accepted => Self::Accepted,
            wit::Answer::Declined => Self::Declined,
        }
    }
}

impl From<Redemption> for wit::Redemption {
    fn from(redemption: Redemption) -> Self {
        match redemption {
            Redemption::Expired => Self::Expired,
            Redemption::Changed => Self::Changed,
            Redemption::Invalid => Self::Invalid,
            Redemption::Unavailable(seconds) => Self::Unavailable(seconds),
        }
    }
}

impl From<wit::Request> for Request {
    fn from(request: wit::Request) -> Self {
        let wit::Request { method, path, query, body, idempotency_key } = request;
        let method = match method {
            wit::Method::Get => Method::Get,
            wit::Method::Post => Method::Post,
            wit::Method::Put => Method::Put,
            wit::Method::Patch => Method::Patch,
            wit::Method::Delete => Method::Delete,
        };
        Self { method, path, query, body, idempotency_key }
    }
}

impl From<Allowance> for wit::Allowance {
    fn from(allowance: Allowance) -> Self {
        let Allowance { limit, remaining, reset } = allowance;
        Self { limit, remaining, reset }
    }
}

impl From<Denial> for wit::Denial {
    fn from(denial: Denial) -> Self {
        match denial {
            Denial::Missing => Self::Missing,
            Denial::Invalid => Self::Invalid,
            Denial::Expired => Self::Expired,
            Denial::WrongAudience => Self::WrongAudience,
            Denial::RateLimited(Throttle { allowance, retry_after }) => {
                Self::RateLimited(wit::Throttle { allowance: allowance.into(), retry_after })
            }
            Denial::Unavailable(seconds) => Self::Unavailable(seconds),
        }
    }
}

impl From<Failure> for wit::Failure {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::TimedOut => Self::TimedOut,
            Failure::Unavailable(seconds) => Self::Unavailable(seconds),
            Failure::Internal => Self::Internal,
        }
    }
}
