//! Between the types of the wire and those that the API is called with.

use kobana_runtime::dispatch as api;
use kobana_wire as wire;

pub(super) fn credentials(credentials: wire::Credentials) -> api::Credentials {
    let wire::Credentials { authorization, workspace } = credentials;
    api::Credentials { authorization, workspace }
}

pub(super) fn request(request: wire::Request) -> api::Request {
    let wire::Request { method, path, query, body, idempotency_key } = request;
    let method = match method {
        wire::Method::Get => http::Method::GET,
        wire::Method::Post => http::Method::POST,
        wire::Method::Put => http::Method::PUT,
        wire::Method::Patch => http::Method::PATCH,
        wire::Method::Delete => http::Method::DELETE,
    };
    api::Request { method, path, query, body, idempotency_key }
}

pub(super) fn response(response: api::Response) -> wire::Response {
    let api::Response { status, body, retry_after } = response;
    wire::Response { status, body, retry_after }
}

pub(super) fn action(action: wire::Action) -> api::Action {
    let wire::Action { name, arguments, target, version, client } = action;
    api::Action { name, arguments, target, version, client }
}

pub(super) const fn answer(answer: wire::Answer) -> api::Answer {
    match answer {
        wire::Answer::None => api::Answer::None,
        wire::Answer::Accepted => api::Answer::Accepted,
        wire::Answer::Declined => api::Answer::Declined,
    }
}

pub(super) fn profile(profile: api::Profile) -> wire::Profile {
    let api::Profile { subject, client, workspace, scopes, permissions } = profile;
    wire::Profile { subject, client, workspace, scopes, permissions }
}

pub(super) const fn allowance(allowance: api::Allowance) -> wire::Allowance {
    let api::Allowance { limit, remaining, reset } = allowance;
    wire::Allowance { limit, remaining, reset }
}

pub(super) const fn denial(denial: api::Denial) -> wire::Denial {
    match denial {
        api::Denial::Missing => wire::Denial::Missing,
        api::Denial::Invalid => wire::Denial::Invalid,
        api::Denial::Expired => wire::Denial::Expired,
        api::Denial::WrongAudience => wire::Denial::WrongAudience,
        api::Denial::RateLimited { allowance: left, retry_after } => {
            wire::Denial::RateLimited(wire::Throttle { allowance: allowance(left), retry_after })
        }
        api::Denial::Unavailable(seconds) => wire::Denial::Unavailable(seconds),
    }
}

pub(super) const fn failure(failure: api::Failure) -> wire::Failure {
    match failure {
        api::Failure::TimedOut => wire::Failure::TimedOut,
        api::Failure::Unavailable(seconds) => wire::Failure::Unavailable(seconds),
        api::Failure::Internal => wire::Failure::Internal,
    }
}

pub(super) const fn redemption(refusal: api::Redemption) -> wire::Redemption {
    match refusal {
        api::Redemption::Expired => wire::Redemption::Expired,
        api::Redemption::Changed => wire::Redemption::Changed,
        api::Redemption::Invalid => wire::Redemption::Invalid,
        api::Redemption::Unavailable(seconds) => wire::Redemption::Unavailable(seconds),
    }
}
