//! What the component exports: `kobana:api/dispatch`.

use kobana_wire::{
    As, Authenticate, Call, Function, IssueConfirmation, Prepare, RedeemConfirmation, RefuseConfirmation, Suggest,
};

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
    allowance: kobana_wire::Allowance,
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

    fn authenticate(credentials: api::Credentials) -> Result<api::Caller, api::Denial> {
        let deadline = deadline();
        match ask::<Authenticate>(&credentials.into(), deadline) {
            Ok(Ok(kobana_wire::Admitted { ticket, profile, allowance })) => {
                Ok(api::Caller::new(Proven { ticket, profile, allowance, deadline }))
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

    fn allowance(&self) -> api::Allowance {
        self.allowance.into()
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
        match self.ask::<RedeemConfirmation, _>((state, action.into(), answer.into())) {
            Ok(outcome) => outcome.map_err(api::Redemption::from),
            Err(Trouble::Unavailable(seconds)) => Err(api::Redemption::Unavailable(seconds)),
            Err(Trouble::TimedOut | Trouble::Lost) => Err(api::Redemption::Unavailable(SOON)),
        }
    }

    fn refuse_confirmation(&self, action: api::Action) {
        // The refusal stands with or without its record; what went wrong is on standard error.
        let _ = self.ask::<RefuseConfirmation, _>(action.into());
    }
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
