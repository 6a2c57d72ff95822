//! `tools/call`, `resources/read` and `prompts/get` of what is not built in.

use std::borrow::Cow;

use kobana_wire::extension::{Kind, Offer, Outcome as Came, Stopped};

use super::content::{self, Flaw};
use super::parameters;
use super::round::{Call, Turn};
use crate::answer::Outcome;
use crate::confirmation::canonical;
use crate::dispatch::{Action, Caller};
use crate::envelope;
use crate::era::Version;
use crate::error::{Error, stopped_details};
use crate::http::Lines;
use crate::json::{self, Members};
use crate::jsonrpc::Params;
use crate::text::clean;
use crate::tools;

/// How much of a reason a message repeats, in characters.
const REASON: usize = 200;

/// `tools/call`; nothing where no extension offers the tool.
pub(crate) async fn tool<C: Caller>(
    caller: &C,
    version: Version,
    lines: &dyn Lines,
    params: &Params<'_>,
    name: &str,
) -> Result<Option<Outcome>, Error> {
    let Some(offer) = caller.find_offer(Kind::Tool, name.to_owned()).await? else { return Ok(None) };
    demand_scope(&offer)?;
    // Whoever reads such arguments next, a validation, a person or the extension, could take the other member.
    if params.get("arguments").is_some_and(|arguments| !json::is_unambiguous(arguments)) {
        return Err(Error::InvalidParams("an object in arguments has a member twice".to_owned()));
    }
    let given = tools::arguments_of(params);
    if version.is_modern() {
        parameters::check(lines, &offer.mirrored, given.as_ref().copied().unwrap_or(Members::NONE))?;
    }
    let given = given?;
    let arguments = params.get("arguments").map_or("{}", |arguments| arguments.get()).to_owned();
    let action = action(name.to_owned(), canonical(given), &offer, params);
    let call = Call { caller, version, params, kind: Kind::Tool, name: name.to_owned(), offer, arguments, action };
    match call.go().await? {
        Turn::Answer(answer) => Ok(Some(answer)),
        Turn::Flawed(flaw) => Ok(Some(stopped(&flawed(flaw)))),
        Turn::Came(came) => tool_outcome(version, came),
    }
}

fn tool_outcome(version: Version, came: Came) -> Result<Option<Outcome>, Error> {
    Ok(Some(match came {
        Came::Tool { content, structured, is_error } => {
            match content::tool(version, &content, structured.as_deref(), is_error) {
                Ok(members) => Outcome::plain(members),
                Err(flaw) => stopped(&flawed(flaw)),
            }
        }
        Came::Invalid(refusal) => tools::failed(refusal),
        Came::Stopped(why) => stopped(&why),
        // It was there a moment ago.
        Came::Missing => return Ok(None),
        Came::Documents(_) | Came::Prompt { .. } | Came::InputRequired(_) | Came::Checked => return Err(BROKEN),
    }))
}

/// `resources/read`; nothing where no extension has the document, or none that this caller may see.
pub(crate) async fn read_resource<C: Caller>(
    caller: &C,
    version: Version,
    params: &Params<'_>,
    uri: &str,
) -> Result<Option<Outcome>, Error> {
    let Some(offer) = caller.find_offer(Kind::Resource, uri.to_owned()).await? else { return Ok(None) };
    if offer.missing_scope.is_some() {
        return Ok(None);
    }
    let action = action("resources/read".to_owned(), format!(r#"{{"uri":{}}}"#, json::quoted(uri)), &offer, params);
    let (kind, name, arguments) = (Kind::Resource, uri.to_owned(), String::new());
    let offer = Offer { read_only: true, ..offer };
    let call = Call { caller, version, params, kind, name, offer, arguments, action };
    match call.go().await? {
        Turn::Answer(answer) => Ok(Some(answer)),
        Turn::Flawed(flaw) => Err(Error::Stopped(flawed(flaw))),
        Turn::Came(Came::Documents(documents)) => match content::documents(&documents) {
            Ok(members) => Ok(Some(Outcome::cacheable(members))),
            Err(flaw) => Err(Error::Stopped(flawed(flaw))),
        },
        Turn::Came(Came::Missing) => Ok(None),
        Turn::Came(Came::Invalid(refusal)) => Err(invalid_arguments(&refusal)),
        Turn::Came(Came::Stopped(why)) => Err(Error::Stopped(why)),
        Turn::Came(Came::Tool { .. } | Came::Prompt { .. } | Came::InputRequired(_) | Came::Checked) => Err(BROKEN),
    }
}

/// `prompts/get`; nothing where no extension offers the prompt.
pub(crate) async fn get_prompt<C: Caller>(
    caller: &C,
    version: Version,
    params: &Params<'_>,
    name: &str,
) -> Result<Option<Outcome>, Error> {
    let Some(offer) = caller.find_offer(Kind::Prompt, name.to_owned()).await? else { return Ok(None) };
    demand_scope(&offer)?;
    let arguments = strings(params)?;
    let action = action(format!("prompts/get {name}"), arguments.clone(), &offer, params);
    let (kind, name) = (Kind::Prompt, name.to_owned());
    let offer = Offer { read_only: true, ..offer };
    let call = Call { caller, version, params, kind, name, offer, arguments, action };
    match call.go().await? {
        Turn::Answer(answer) => Ok(Some(answer)),
        Turn::Flawed(flaw) => Err(Error::Stopped(flawed(flaw))),
        Turn::Came(Came::Prompt { description, messages }) => {
            match content::prompt(version, description.as_deref(), &messages) {
                Ok(members) => Ok(Some(Outcome::plain(members))),
                Err(flaw) => Err(Error::Stopped(flawed(flaw))),
            }
        }
        Turn::Came(Came::Missing) => Ok(None),
        Turn::Came(Came::Invalid(refusal)) => Err(invalid_arguments(&refusal)),
        Turn::Came(Came::Stopped(why)) => Err(Error::Stopped(why)),
        Turn::Came(Came::Tool { .. } | Came::Documents(_) | Came::InputRequired(_) | Came::Checked) => Err(BROKEN),
    }
}

/// The host answered something that was not asked for.
const BROKEN: Error = Error::Internal("Internal error");

fn demand_scope(offer: &Offer) -> Result<(), Error> {
    match &offer.missing_scope {
        Some(scope) => Err(Error::InsufficientScope(Cow::Owned(scope.clone()))),
        None => Ok(()),
    }
}

fn action(name: String, arguments: String, offer: &Offer, params: &Params<'_>) -> Action {
    Action {
        name,
        arguments,
        target: String::new(),
        version: offer.version.clone(),
        client: envelope::client_name(params),
    }
}

/// The arguments of a prompt in their one form: an object of strings (protocol.md §11).
fn strings(params: &Params<'_>) -> Result<String, Error> {
    let wrong = || Error::InvalidParams("arguments must be an object of strings".to_owned());
    let Some(value) = params.get("arguments") else { return Ok("{}".to_owned()) };
    let members = Members::of(value).ok_or_else(wrong)?;
    if members.iter().all(|(_, value)| json::string(value).is_some()) { Ok(canonical(&members)) } else { Err(wrong()) }
}

/// What callers are told of an answer that cannot be passed on.
pub(super) fn flawed(flaw: Flaw) -> Stopped {
    Stopped {
        code: "extension_invalid_answer".to_owned(),
        message: format!("The extension's answer cannot be passed on: {}", flaw.0),
        limit: None,
        retry_after: None,
    }
}

/// A tool's result that says why its extension was stopped.
fn stopped(why: &Stopped) -> Outcome {
    let details = stopped_details(why).join(",");
    tools::failed(format!(
        r#"{{"error":{{"code":{},"message":{}{}}}}}"#,
        json::quoted(&why.code),
        json::quoted(&why.message),
        if details.is_empty() { details } else { format!(r#","details":{{{details}}}"#) },
    ))
}

/// Arguments that cannot be used, where there is no result to say so: the first reason in words, all of them for programs.
fn invalid_arguments(refusal: &str) -> Error {
    #[derive(serde::Deserialize)]
    struct Refusal<'a> {
        #[serde(borrow)]
        error: &'a serde_json::value::RawValue,
    }
    #[derive(serde::Deserialize)]
    struct Reasons {
        message: String,
        #[serde(default)]
        details: Details,
    }
    #[derive(Default, serde::Deserialize)]
    #[serde(default)]
    struct Details {
        field_errors: std::collections::BTreeMap<String, Vec<String>>,
        form_errors: Vec<String>,
    }
    let Ok(Refusal { error }) = serde_json::from_str(refusal) else { return BROKEN };
    let Ok(Reasons { message, details }) = serde_json::from_str(error.get()) else { return BROKEN };
    let fields = details.field_errors.iter();
    let field = fields.filter_map(|(name, problems)| Some(format!("{name} {}", problems.first()?))).next();
    let words = field.or_else(|| details.form_errors.first().cloned()).unwrap_or(message);
    Error::InvalidArguments { message: clean(&words, REASON), reasons: error.get().to_owned() }
}
