//! Confirmation of destructive tools (protocol.md §15; architecture.md, decisions 1, 2 and 18).
//!
//! Round one checks everything that the call would check, then asks: the answer is a form, and a sealed state that the client
//! brings back. Round two opens the state; only a state that was asked of this person, for this call, on this version of the
//! row, and that nobody has used yet, lets the call run. Keys, expiry and single use are the host's: nothing that this
//! code could leak or forget lets a call through.

use crate::answer::Outcome;
use crate::arguments;
use crate::catalogue::{Question, Tool};
use crate::dispatch::{Action, Answer, Caller, Redemption, Request};
use crate::envelope;
use crate::era::Version;
use crate::error::Error;
use crate::json::{self, Members, Value};
use crate::jsonrpc::Params;
use crate::text::clean;
use crate::tools;

/// The key of the one question.
pub(crate) const KEY: &str = "confirm";
/// The longest label that a question repeats, in characters.
pub(crate) const LABEL: usize = 80;

/// What an assistant reads where a client cannot be asked.
pub(crate) const REQUIRED: &str = r#"{"error":{"code":"confirmation_required","message":"This tool runs only after a confirmation, which needs protocol 2026-07-28 and a client that declares elicitation. This client cannot run it: do not retry."}}"#;
/// What an assistant reads where the person said no.
pub(crate) const DECLINED: &str = r#"{"error":{"code":"confirmation_declined","message":"The user did not confirm, so nothing was done. Do not ask again unless the user wants it."}}"#;

/// What is said of a state that confirms nothing, whatever the cause.
pub(crate) const INVALID: &str = "requestState confirms nothing here; call the tool again without it";

/// `tools/call` of a destructive tool.
pub(crate) async fn call<C: Caller>(
    caller: &C,
    version: Version,
    tool: &Tool,
    question: &Question,
    params: &Params<'_>,
) -> Result<Outcome, Error> {
    let given = tools::arguments_of(params)?;
    if !version.is_modern() || !envelope::can_ask(params) {
        caller.refuse_confirmation(action(tool, given, params, None)).await;
        return if version.is_modern() { Err(Error::CannotConfirm) } else { Ok(tools::failed(REQUIRED)) };
    }
    let retry = Retry::read(params)?;
    let request = match arguments::request(tool, given) {
        Ok(request) => request,
        Err(problems) => return Ok(tools::failed(problems.into_json())),
    };
    let prepared = caller.prepare(request.clone()).await?;
    if prepared.status != 200 {
        return tools::outcome(prepared);
    }
    let row = Row::read(&prepared.body)?;
    let action = action(tool, given, params, Some(&row));
    let asked = || ask(caller, question, given, &row, action.clone());
    match retry {
        None => asked().await,
        Some(Retry { state, answer }) => match caller.redeem_confirmation(state, action.clone(), answer).await {
            Ok(()) => match answer {
                Answer::Accepted => run(caller, request).await,
                Answer::Declined => Ok(tools::failed(DECLINED)),
                Answer::None => asked().await,
            },
            Err(Redemption::Expired | Redemption::Changed) => asked().await,
            Err(Redemption::Invalid) => {
                Err(Error::InvalidParamsCode { message: INVALID.to_owned(), code: "confirmation_invalid" })
            }
            Err(Redemption::Unavailable(seconds)) => Err(Error::Unavailable(seconds)),
        },
    }
}

/// What the person is asked to confirm, or would have been.
fn action(tool: &Tool, given: &Members<'_>, params: &Params<'_>, row: Option<&Row>) -> Action {
    Action {
        name: tool.name.to_owned(),
        arguments: canonical(given),
        target: row.map(|row| row.id.clone()).unwrap_or_default(),
        version: row.and_then(|row| row.updated_at.clone()).unwrap_or_default(),
        client: envelope::client_name(params),
    }
}

async fn run<C: Caller>(caller: &C, request: Request) -> Result<Outcome, Error> {
    tools::outcome(caller.call(request).await?)
}

/// The second round: the state, and what the person answered.
struct Retry {
    state: String,
    answer: Answer,
}

impl Retry {
    /// Reads the second round's members. An answer without a state proves nothing and makes a first round.
    fn read(params: &Params<'_>) -> Result<Option<Self>, Error> {
        let wrong = |what: &str| Error::InvalidParams(what.to_owned());
        let responses = match params.get("inputResponses") {
            None => Members::default(),
            Some(value) => Members::of(value).ok_or_else(|| wrong("inputResponses must be an object"))?,
        };
        let Some(state) = params.get("requestState") else { return Ok(None) };
        let state = json::string(state).ok_or_else(|| wrong("requestState must be a string"))?.into_owned();
        // Keys that were not asked for are ignored, and so is an answer of another shape: the question stands.
        let answer = responses.get(KEY).map_or(Answer::None, answer);
        Ok(Some(Self { state, answer }))
    }
}

/// What an `ElicitResult` says (protocol.md §15.2).
pub(crate) fn answer(value: Value<'_>) -> Answer {
    let Some(result) = Members::of(value).filter(|result| result.duplicate().is_none()) else { return Answer::None };
    match result.get("action").and_then(json::string).as_deref() {
        Some("decline" | "cancel") => Answer::Declined,
        Some("accept") => {
            let content = result.get("content").and_then(Members::of).filter(|content| content.duplicate().is_none());
            match content.and_then(|content| content.get(KEY)).map(Value::get) {
                Some("true") => Answer::Accepted,
                Some("false") => Answer::Declined,
                _ => Answer::None,
            }
        }
        _ => Answer::None,
    }
}

/// The arguments in one form, whatever their order and spelling.
pub(crate) fn canonical(given: &Members<'_>) -> String {
    let arguments: std::collections::BTreeMap<_, _> =
        given.iter().map(|(name, value)| (name, serde_json::from_str::<serde_json::Value>(value.get()).ok())).collect();
    serde_json::to_string(&arguments).unwrap_or_default()
}

/// What a question says of the row that the call acts on.
#[derive(serde::Deserialize)]
struct Row {
    id: String,
    #[serde(default)]
    external_id: Option<String>,
    #[serde(default)]
    label: Option<String>,
    #[serde(default)]
    subject: Option<String>,
    #[serde(default)]
    updated_at: Option<String>,
}

impl Row {
    fn read(body: &[u8]) -> Result<Self, Error> {
        #[derive(serde::Deserialize)]
        struct Body {
            data: Row,
        }
        serde_json::from_slice::<Body>(body).map(|body| body.data).map_err(|_| Error::Internal("Internal error"))
    }

    /// The row in words: its label, and the name by which it was made known, or its id.
    fn words(&self) -> String {
        let name = clean(self.external_id.as_deref().unwrap_or(&self.id), LABEL);
        let label = clean(self.label.as_deref().or(self.subject.as_deref()).unwrap_or_default(), LABEL);
        if label.is_empty() { name } else { format!("“{label}” ({name})") }
    }
}

async fn ask<C: Caller>(
    caller: &C,
    question: &Question,
    given: &Members<'_>,
    row: &Row,
    action: Action,
) -> Result<Outcome, Error> {
    let email = given.get("email").and_then(json::string).unwrap_or_default();
    let message = fill(question.text, &[("{row}", &row.words()), ("{email}", &clean(&email, LABEL))]);
    confirm(caller, &message, question.title, action).await
}

/// Asks for a yes: a form with one box to tick.
pub(crate) async fn confirm<C: Caller>(
    caller: &C,
    message: &str,
    title: &str,
    action: Action,
) -> Result<Outcome, Error> {
    let state = caller.issue_confirmation(action).await?;
    Ok(Outcome::input_required(format!(
        r#""inputRequests":{{"{KEY}":{{"method":"elicitation/create","params":{{"mode":"form","message":{},"requestedSchema":{{"type":"object","properties":{{"{KEY}":{{"type":"boolean","title":{},"default":false}}}},"required":["{KEY}"]}}}}}}}},"requestState":{}"#,
        json::quoted(message),
        json::quoted(title),
        json::quoted(&state),
    )))
}

/// Fills each place of a text once, from left to right: what a value says is never a place.
fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::new();
    let mut rest = text;
    loop {
        let next = values.iter().filter_map(|(place, value)| Some((rest.find(place)?, *place, *value))).min();
        let Some((start, place, value)) = next else { break };
        out.push_str(rest.get(..start).unwrap_or_default());
        out.push_str(value);
        rest = rest.get(start + place.len()..).unwrap_or_default();
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(text: &str) -> Answer {
        answer(Value::of(text).unwrap())
    }

    #[test]
    fn only_a_clear_yes_is_a_yes() {
        assert_eq!(answered(r#"{"action":"accept","content":{"confirm":true}}"#), Answer::Accepted);
        assert_eq!(answered(r#"{"action":"accept","content":{"confirm":true,"x":1}}"#), Answer::Accepted);
        for no in
            [r#"{"action":"accept","content":{"confirm":false}}"#, r#"{"action":"decline"}"#, r#"{"action":"cancel"}"#]
        {
            assert_eq!(answered(no), Answer::Declined, "{no}");
        }
        for neither in [
            r#"12345"#,
            r#"{}"#,
            r#"{"action":"accept"}"#,
            r#"{"action":"Accept","content":{"confirm":true}}"#,
            r#"{"action":"accept","content":{"confirm":"true"}}"#,
            r#"{"action":"accept","content":{"confirm":1}}"#,
            r#"{"action":"accept","content":true}"#,
            r#"{"action":"accept","content":{"confirm":true,"confirm":false}}"#,
            r#"{"action":"decline","action":"accept","content":{"confirm":true}}"#,
        ] {
            assert_eq!(answered(neither), Answer::None, "{neither}");
        }
    }

    #[test]
    fn what_a_value_says_is_no_place() {
        let text = fill("Allow {email} to send to {row}?", &[("{row}", "“{email}”"), ("{email}", "{row}@x.example")]);
        assert_eq!(text, "Allow {row}@x.example to send to “{email}”?");
    }
}
