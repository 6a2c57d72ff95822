//! One round of a call: confirmation first where it writes, then the extension, and perhaps questions (protocol.md §15).
//!
//! Two kinds of states travel with a client. That of a confirmation comes from `issue-confirmation` and says that a person was asked.
//! That of an extension begins with [`SEALED`], comes from `seal`, and holds what the extension wants to see again together with
//! whether the call was confirmed. Each opens by its own function of the host only, so a changed mark makes it invalid. A call that
//! writes reaches its extension on two ways: with a confirmation that was redeemed just now, or with a sealed state that says so, which
//! is made after such a call only. Both are spent by it, and both are good for the same caller, arguments and version of the extension.

use kobana_wire::extension::{Answers, Client, InputRequired, Kind, Offer, Outcome as Came, Use};

use super::content::Flaw;
use super::questions;
use crate::answer::Outcome;
use crate::confirmation::{self, DECLINED, INVALID, KEY, LABEL, REQUIRED};
use crate::dispatch::{Action, Answer, Caller, Redemption};
use crate::envelope;
use crate::era::Version;
use crate::error::Error;
use crate::json::{self, Members};
use crate::jsonrpc::Params;
use crate::text::clean;
use crate::tools;

/// What the state of an extension begins with.
const SEALED: &str = "s.";
/// The longest state that is kept for an extension, in bytes.
const LONGEST_STATE: usize = 32_768;
/// How much of the arguments a question repeats, in characters.
const ARGUMENTS: usize = 200;

/// What is called.
pub(super) struct Call<'a, C> {
    pub(super) caller: &'a C,
    pub(super) version: Version,
    pub(super) params: &'a Params<'a>,
    pub(super) kind: Kind,
    /// The name as the caller has it: for a resource its URI.
    pub(super) name: String,
    pub(super) offer: Offer,
    /// The arguments as they came, a JSON object; empty for a resource.
    pub(super) arguments: String,
    /// What confirmations and states are bound to.
    pub(super) action: Action,
}

/// What a round comes to.
pub(super) enum Turn {
    /// The extension answered, with something else than questions.
    Came(Came),
    /// The client has to do something first, or the person said no.
    Answer(Outcome),
    /// The extension answered what cannot be passed on.
    Flawed(Flaw),
}

/// What the extension wants to see again.
#[derive(Debug, Default, PartialEq, Eq)]
struct Memory {
    confirmed: bool,
    state: Option<Vec<u8>>,
}

impl Memory {
    const CONFIRMED: u8 = 1;
    const STATE: u8 = 2;

    fn write(self) -> Vec<u8> {
        let marks = u8::from(self.confirmed) * Self::CONFIRMED + u8::from(self.state.is_some()) * Self::STATE;
        let mut content = vec![marks];
        content.extend(self.state.unwrap_or_default());
        content
    }

    fn read(content: &[u8]) -> Option<Self> {
        let (marks, state) = content.split_first()?;
        let has = |mark| marks & mark != 0;
        Some(Self { confirmed: has(Self::CONFIRMED), state: has(Self::STATE).then(|| state.to_vec()) })
    }
}

/// What comes with a call beside its arguments.
struct Reply {
    state: Option<String>,
    /// Keys and answers, as JSON.
    responses: Option<Vec<(String, String)>>,
    /// What was said to the confirmation.
    answer: Answer,
}

impl Reply {
    fn read(params: &Params<'_>) -> Result<Self, Error> {
        let wrong = |what: &str| Error::InvalidParams(what.to_owned());
        let responses = match params.get("inputResponses") {
            None => None,
            Some(value) => Some(Members::of(value).ok_or_else(|| wrong("inputResponses must be an object"))?),
        };
        if responses.as_ref().is_some_and(|responses| responses.duplicate().is_some()) {
            return Err(wrong("inputResponses has a member twice"));
        }
        let state = match params.get("requestState") {
            None => None,
            Some(state) => {
                Some(json::string(state).ok_or_else(|| wrong("requestState must be a string"))?.into_owned())
            }
        };
        let answer =
            responses.as_ref().and_then(|responses| responses.get(KEY)).map_or(Answer::None, confirmation::answer);
        let pairs = |responses: Members<'_>| {
            responses.iter().map(|(key, value)| (key.to_owned(), value.get().to_owned())).collect()
        };
        Ok(Self { state, responses: responses.map(pairs), answer })
    }
}

impl<C: Caller> Call<'_, C> {
    /// Goes one round.
    pub(super) async fn go(self) -> Result<Turn, Error> {
        if !self.version.is_modern() {
            // Earlier revisions can neither be asked nor bring anything back.
            if !self.offer.read_only {
                self.caller.refuse_confirmation(self.action).await;
                return Ok(Turn::Answer(tools::failed(REQUIRED)));
            }
            return self.run(Client::default(), None, false).await;
        }
        let client = envelope::client(self.params);
        if !self.offer.read_only && !client.form {
            self.caller.refuse_confirmation(self.action).await;
            return Err(Error::CannotConfirm);
        }
        let Reply { state, responses, answer } = Reply::read(self.params)?;
        let sealed = state.as_deref().map(|state| state.strip_prefix(SEALED));
        match (self.offer.read_only, sealed) {
            (true, None) => {
                let answers = responses.map(|responses| Answers { state: None, responses });
                self.run(client, answers, false).await
            }
            (true, Some(None)) => Err(invalid()),
            (false, None) => self.ask().await,
            (false, Some(None)) => self.confirmed(client, state.unwrap_or_default(), answer).await,
            (read_only, Some(Some(sealed))) => match self.open(sealed).await? {
                // Where a confirmation is needed, only a state that was made after one counts.
                Some(Memory { confirmed, state }) if confirmed || read_only => {
                    let answers = Answers { state, responses: responses.unwrap_or_default() };
                    self.run(client, Some(answers), confirmed).await
                }
                // Too old, or of another version: what was answered then answers nothing now.
                _ if read_only => self.run(client, None, false).await,
                _ => self.ask().await,
            },
        }
    }

    /// Runs a call if its confirmation was accepted.
    async fn confirmed(self, client: Client, state: String, answer: Answer) -> Result<Turn, Error> {
        match self.caller.redeem_confirmation(state, self.action.clone(), answer).await {
            Ok(()) => match answer {
                Answer::Accepted => self.run(client, None, true).await,
                Answer::Declined => Ok(Turn::Answer(tools::failed(DECLINED))),
                Answer::None => self.ask().await,
            },
            Err(Redemption::Expired | Redemption::Changed) => self.ask().await,
            Err(Redemption::Invalid) => {
                Err(Error::InvalidParamsCode { message: INVALID.to_owned(), code: "confirmation_invalid" })
            }
            Err(Redemption::Unavailable(seconds)) => Err(Error::Unavailable(seconds)),
        }
    }

    /// What the extension wanted to see again; nothing where that is no longer good.
    async fn open(&self, sealed: &str) -> Result<Option<Memory>, Error> {
        match self.caller.open(sealed.to_owned(), self.action.clone()).await {
            Ok(content) => Memory::read(&content).map(Some).ok_or_else(invalid),
            Err(Redemption::Expired | Redemption::Changed) => Ok(None),
            Err(Redemption::Invalid) => Err(invalid()),
            Err(Redemption::Unavailable(seconds)) => Err(Error::Unavailable(seconds)),
        }
    }

    /// Asks the person whether the call may run; not for what would be refused anyway (architecture.md, decision 2).
    async fn ask(self) -> Result<Turn, Error> {
        match self.caller.use_offer(self.wanted(Client::default(), None, true)).await? {
            Came::Checked => {}
            refused => return Ok(Turn::Came(refused)),
        }
        let title = title(&self.offer.definition).unwrap_or_default();
        let (title, name) = (clean(&title, LABEL), clean(&self.name, LABEL));
        let tool = if title.is_empty() { format!("“{name}”") } else { format!("“{title}” ({name})") };
        let message = format!(
            "Run the tool {tool} of the extension “{}” with {}? It may change, delete or send data.",
            clean(&self.offer.extension, LABEL),
            clean(&self.action.arguments, ARGUMENTS),
        );
        confirmation::confirm(self.caller, &message, "Run it", self.action).await.map(Turn::Answer)
    }

    async fn run(self, client: Client, answers: Option<Answers>, confirmed: bool) -> Result<Turn, Error> {
        match self.caller.use_offer(self.wanted(client, answers, false)).await? {
            Came::InputRequired(required) => self.ask_back(client, required, confirmed).await,
            came => Ok(Turn::Came(came)),
        }
    }

    fn wanted(&self, client: Client, answers: Option<Answers>, check_only: bool) -> Use {
        Use {
            kind: self.kind,
            name: self.name.clone(),
            version: self.offer.version.clone(),
            arguments: self.arguments.clone(),
            client,
            answers,
            check_only,
        }
    }

    /// Passes on what the extension asks for, if the client can be asked.
    async fn ask_back(self, client: Client, required: InputRequired, confirmed: bool) -> Result<Turn, Error> {
        let InputRequired { requests: asked, state } = required;
        if !self.version.is_modern() {
            return self.cannot_ask();
        }
        if let Some(missing) = questions::missing(&asked, client) {
            return Err(Error::MissingCapability(missing));
        }
        let requests = match questions::requests(&asked) {
            Ok(requests) => requests,
            Err(flaw) => return Ok(Turn::Flawed(flaw)),
        };
        if asked.is_empty() && state.is_none() {
            return Ok(Turn::Flawed(Flaw("it asks for nothing and has no state")));
        }
        if state.as_ref().is_some_and(|state| state.len() > LONGEST_STATE) {
            return Ok(Turn::Flawed(Flaw("its state is longer than 32768 bytes")));
        }
        let mut members = Vec::with_capacity(2);
        if !asked.is_empty() {
            members.push(format!(r#""inputRequests":{{{requests}}}"#));
        }
        if state.is_some() || confirmed {
            let sealed = self.caller.seal(self.action, Memory { confirmed, state }.write()).await?;
            members.push(format!(r#""requestState":{}"#, json::quoted(&format!("{SEALED}{sealed}"))));
        }
        Ok(Turn::Answer(Outcome::input_required(members.join(","))))
    }

    /// Questions, and a revision that has none.
    fn cannot_ask(&self) -> Result<Turn, Error> {
        const NEEDED: &str =
            "this asks for input, which needs protocol 2026-07-28 and a client that declares what is asked for";
        match self.kind {
            Kind::Tool => Ok(Turn::Answer(tools::failed(format!(
                r#"{{"error":{{"code":"input_required","message":"This client cannot run it, do not retry: {NEEDED}."}}}}"#
            )))),
            Kind::Resource | Kind::ResourceTemplate | Kind::Prompt => {
                Err(Error::InvalidParamsCode { message: NEEDED.to_owned(), code: "input_required" })
            }
        }
    }
}

/// One answer for whatever is wrong with a state.
fn invalid() -> Error {
    Error::InvalidParamsCode {
        message: "requestState is not good for this call; make it again without".to_owned(),
        code: "request_state_invalid",
    }
}

/// The title in a definition.
fn title(definition: &str) -> Option<String> {
    let entry = format!("{{{definition}}}");
    let (members, _) = Members::read(&entry)?;
    members.get("title").and_then(json::string).map(|title| title.into_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_kept_comes_back(confirmed in any::<bool>(), state in proptest::option::of(proptest::collection::vec(any::<u8>(), 0..20))) {
            let memory = Memory { confirmed, state: state.clone() };
            prop_assert_eq!(Memory::read(&memory.write()), Some(Memory { confirmed, state }));
        }
    }

    #[test]
    fn nothing_is_no_memory() {
        assert_eq!(Memory::read(&[]), None);
    }
}
