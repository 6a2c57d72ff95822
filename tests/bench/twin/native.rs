//! `kobana:api/dispatch`, from the protocol's traits straight to the host's.

use std::sync::Arc;

use kobana_protocol::{
    Action, Allowance, Answer, Caller, Credentials, Denial, Dispatch, Failure, Method, Profile, Redemption, Request,
    Response, Throttle,
};
use kobana_runtime::dispatch as host;

/// The API of this process.
pub(crate) struct Api(pub(crate) Arc<dyn host::Dispatch>);

/// Somebody who was admitted to it.
pub(crate) struct Admitted(Arc<dyn host::Caller>);

impl Dispatch for Api {
    type Caller = Admitted;

    async fn authenticate(&self, credentials: Credentials) -> Result<Admitted, Denial> {
        let Credentials { authorization, workspace } = credentials;
        let caller = self.0.authenticate(host::Credentials { authorization, workspace }).await;
        caller.map(Admitted).map_err(denial)
    }
}

impl Caller for Admitted {
    async fn profile(&self) -> Profile {
        let host::Profile { subject, client, workspace, scopes, permissions } = self.0.profile();
        Profile { subject, client, workspace, scopes, permissions }
    }

    async fn allowance(&self) -> Allowance {
        allowance(self.0.allowance())
    }

    async fn call(&self, call: Request) -> Result<Response, Failure> {
        self.0.call(request(call)).await.map(response).map_err(failure)
    }

    async fn prepare(&self, call: Request) -> Result<Response, Failure> {
        self.0.prepare(request(call)).await.map(response).map_err(failure)
    }

    async fn suggest(&self, call: Request, prefix: String) -> Result<Response, Failure> {
        self.0.suggest(request(call), prefix).await.map(response).map_err(failure)
    }

    async fn issue_confirmation(&self, asked: Action) -> Result<String, Failure> {
        self.0.issue_confirmation(action(asked)).await.map_err(failure)
    }

    async fn redeem_confirmation(&self, state: String, asked: Action, answer: Answer) -> Result<(), Redemption> {
        let answer = match answer {
            Answer::None => host::Answer::None,
            Answer::Accepted => host::Answer::Accepted,
            Answer::Declined => host::Answer::Declined,
        };
        self.0.redeem_confirmation(state, action(asked), answer).await.map_err(|refusal| match refusal {
            host::Redemption::Expired => Redemption::Expired,
            host::Redemption::Changed => Redemption::Changed,
            host::Redemption::Invalid => Redemption::Invalid,
            host::Redemption::Unavailable(seconds) => Redemption::Unavailable(seconds),
        })
    }

    async fn refuse_confirmation(&self, asked: Action) {
        self.0.refuse_confirmation(action(asked)).await;
    }
}

fn request(call: Request) -> host::Request {
    let Request { method, path, query, body, idempotency_key } = call;
    let method = match method {
        Method::Get => http::Method::GET,
        Method::Post => http::Method::POST,
        Method::Put => http::Method::PUT,
        Method::Patch => http::Method::PATCH,
        Method::Delete => http::Method::DELETE,
    };
    host::Request { method, path, query, body, idempotency_key }
}

fn response(answer: host::Response) -> Response {
    let host::Response { status, body, retry_after } = answer;
    Response { status, body, retry_after }
}

fn action(asked: Action) -> host::Action {
    let Action { name, arguments, target, version, client } = asked;
    host::Action { name, arguments, target, version, client }
}

const fn allowance(left: host::Allowance) -> Allowance {
    let host::Allowance { limit, remaining, reset } = left;
    Allowance { limit, remaining, reset }
}

const fn denial(denial: host::Denial) -> Denial {
    match denial {
        host::Denial::Missing => Denial::Missing,
        host::Denial::Invalid => Denial::Invalid,
        host::Denial::Expired => Denial::Expired,
        host::Denial::WrongAudience => Denial::WrongAudience,
        host::Denial::RateLimited { allowance: left, retry_after } => {
            Denial::RateLimited(Throttle { allowance: allowance(left), retry_after })
        }
        host::Denial::Unavailable(seconds) => Denial::Unavailable(seconds),
    }
}

const fn failure(failure: host::Failure) -> Failure {
    match failure {
        host::Failure::TimedOut => Failure::TimedOut,
        host::Failure::Unavailable(seconds) => Failure::Unavailable(seconds),
        host::Failure::Internal => Failure::Internal,
    }
}
