//! What the component exports: `kobana:api/dispatch`.

use kobana_wire::{
    As, Authenticate, Call, FindOffer, Function, IssueConfirmation, Offers, Open, Prepare, RedeemConfirmation,
    RefuseConfirmation, Seal, Suggest, UseOffer,
};
use serde_bytes::ByteBuf;

use crate::upstream::{Trouble, ask, deadline};
use crate::wit::exports::kobana::api::dispatch as api;

/// Seconds to wait after something that may well work at the next try.
const SOON: u32 = 1;

/// The API behind the host's edge endpoint.
pub(crate) struct Edge;

/// A caller that the host has proven, for the time of one request.
pub(crate) struct Proven {
    ticket: String,
    profile: kobana_wire::Profile,
    /// By when everything has to be done, on the monotonic clock: the request of the client has one deadline, however
    /// many questions it takes.
    deadline: u64,
}

impl Proven {
    fn ask<F: Function<Question = As<Q>>, Q>(&self, question: Q) -> Result<F::Reply, Trouble> {
        ask::<F>(&As { ticket: self.ticket.clone(), question }, self.deadline)
    }
}

impl api::Guest for Edge {
    type Caller = Proven;

    fn authenticate(credentials: api::Credentials) -> Result<api::Admission, api::Denial> {
        let deadline = deadline();
        match ask::<Authenticate>(&credentials.into(), deadline) {
            Ok(Ok(kobana_wire::Admitted { ticket, profile, allowance })) => {
                let caller = api::Caller::new(Proven { ticket, profile, deadline });
                Ok(api::Admission { caller, allowance: allowance.into() })
            }
            Ok(Err(denial)) => Err(denial.into()),
            Err(Trouble::Unavailable(seconds)) => Err(api::Denial::Unavailable(seconds)),
            Err(Trouble::TimedOut | Trouble::Lost) => Err(api::Denial::Unavailable(SOON)),
        }
    }
}

impl api::GuestCaller for Proven {
    fn profile(&self) -> api::Profile {
        self.profile.clone().into()
    }

    fn call(&self, request: api::Request) -> Result<api::Response, api::Failure> {
        let writes = !matches!(request.method, api::Method::Get);
        answer(self.ask::<Call, _>(request.into()), writes)
    }

    fn prepare(&self, request: api::Request) -> Result<api::Response, api::Failure> {
        answer(self.ask::<Prepare, _>(request.into()), false)
    }

    fn suggest(&self, request: api::Request, prefix: String) -> Result<api::Response, api::Failure> {
        answer(self.ask::<Suggest, _>((request.into(), prefix)), false)
    }

    fn issue_confirmation(&self, action: api::Action) -> Result<String, api::Failure> {
        answer(self.ask::<IssueConfirmation, _>(action.into()), false)
    }

    fn redeem_confirmation(
        &self,
        state: String,
        action: api::Action,
        answer: api::Answer,
    ) -> Result<(), api::Redemption> {
        opened(self.ask::<RedeemConfirmation, _>((state, action.into(), answer.into())))
    }

    fn refuse_confirmation(&self, action: api::Action) {
        // The refusal stands with or without its record; what went wrong is on standard error.
        let _ = self.ask::<RefuseConfirmation, _>(action.into());
    }

    fn offers(&self, kind: api::Kind) -> Result<Vec<u8>, api::Failure> {
        written(self.ask::<Offers, _>(kind.into()), false)
    }

    fn find_offer(&self, kind: api::Kind, name: String) -> Result<Vec<u8>, api::Failure> {
        written(self.ask::<FindOffer, _>((kind.into(), name)), false)
    }

    fn use_offer(&self, wanted: Vec<u8>) -> Result<Vec<u8>, api::Failure> {
        let wanted = kobana_wire::read(&wanted).map_err(|_| api::Failure::Internal)?;
        written(self.ask::<UseOffer, _>(wanted), true)
    }

    fn seal(&self, action: api::Action, content: Vec<u8>) -> Result<String, api::Failure> {
        answer(self.ask::<Seal, _>((action.into(), ByteBuf::from(content))), false)
    }

    fn open(&self, state: String, action: api::Action) -> Result<Vec<u8>, api::Redemption> {
        opened::<ByteBuf>(self.ask::<Open, _>((state, action.into()))).map(ByteBuf::into_vec)
    }
}

/// What a sealed state opened to. Whether it is spent is unknown if the answer got lost; then the host refuses it next time.
fn opened<T>(answer: Result<Result<T, kobana_wire::Redemption>, Trouble>) -> Result<T, api::Redemption> {
    match answer {
        Ok(outcome) => outcome.map_err(api::Redemption::from),
        Err(Trouble::Unavailable(seconds)) => Err(api::Redemption::Unavailable(seconds)),
        Err(Trouble::TimedOut | Trouble::Lost) => Err(api::Redemption::Unavailable(SOON)),
    }
}

/// What concerns extensions goes on in the language in which it came.
fn written<T: serde::Serialize>(
    reply: Result<Result<T, kobana_wire::Failure>, Trouble>,
    writes: bool,
) -> Result<Vec<u8>, api::Failure> {
    let reply: T = answer(reply, writes)?;
    kobana_wire::write(&reply).map_err(|_| api::Failure::Internal)
}

/// What an answer of the host is to the gateway. `writes` tells whether the question may have changed something: if its
/// answer got lost, nobody may be told to just try again.
fn answer<T, U: From<T>>(
    answer: Result<Result<T, kobana_wire::Failure>, Trouble>,
    writes: bool,
) -> Result<U, api::Failure> {
    match answer {
        Ok(outcome) => outcome.map(U::from).map_err(api::Failure::from),
        Err(Trouble::Unavailable(seconds)) => Err(api::Failure::Unavailable(seconds)),
        Err(Trouble::Lost) if !writes => Err(api::Failure::Unavailable(SOON)),
        Err(Trouble::Lost | Trouble::TimedOut) => Err(api::Failure::TimedOut),
    }
}
