//! `tools/list` and `tools/call` (protocol.md §9).

use kobana_wire::extension::Kind;

use crate::answer::Outcome;
use crate::arguments;
use crate::catalogue::{Rights, TOOLS, Tool};
use crate::confirmation;
use crate::dispatch::{Caller, Response};
use crate::era::Version;
use crate::error::{Error, clip};
use crate::extensions;
use crate::http::Lines;
use crate::json::{self, Members};
use crate::jsonrpc::Params;

/// `tools/list`: what the caller can run, filtered by scope and permission, never by era or client (decision 10).
pub(crate) async fn list<C: Caller>(caller: &C, params: &Params<'_>) -> Result<Outcome, Error> {
    refuse_cursor(params)?;
    let profile = caller.profile().await;
    let rights = Rights::of(&profile);
    let usable = TOOLS.iter().filter(|tool| tool.gate.opens_to(&rights)).map(|tool| tool.definition);
    let entries = extensions::list(caller, &profile, Kind::Tool, usable).await?;
    Ok(Outcome::cacheable(format!(r#""tools":[{entries}]"#)))
}

/// The lists have one page, so no cursor was ever issued; the empty one is a cursor too (protocol.md §13).
pub(crate) fn refuse_cursor(params: &Params<'_>) -> Result<(), Error> {
    match params.get("cursor") {
        Some(cursor) if !json::is_null(cursor) => {
            Err(Error::InvalidParams("this list has one page and no cursors".to_owned()))
        }
        _ => Ok(()),
    }
}

/// `tools/call`
pub(crate) async fn call<C: Caller>(
    caller: &C,
    version: Version,
    lines: &dyn Lines,
    params: &Params<'_>,
) -> Result<Outcome, Error> {
    let name = params.get("name").and_then(json::string);
    let name = name.ok_or_else(|| Error::InvalidParams("name must be a string".to_owned()))?;
    let Some(tool) = Tool::named(&name) else {
        let outcome = extensions::tool(caller, version, lines, params, &name).await?;
        return outcome.ok_or_else(|| Error::InvalidParams(format!("Unknown tool: {}", clip(&name))));
    };
    if !tool.gate.covers_caller(caller).await {
        return Err(tool.gate.refusal());
    }
    match &tool.question {
        None => run(caller, tool, params).await,
        Some(question) => confirmation::call(caller, version, tool, question, params).await,
    }
}

async fn run<C: Caller>(caller: &C, tool: &Tool, params: &Params<'_>) -> Result<Outcome, Error> {
    match arguments::request(tool, arguments_of(params)?) {
        Ok(request) => outcome(caller.call(request).await?),
        Err(problems) => Ok(failed(problems.into_json())),
    }
}

pub(crate) fn arguments_of<'p, 'a>(params: &'p Params<'a>) -> Result<&'p Members<'a>, Error> {
    match params.arguments() {
        Some(arguments) => Ok(arguments),
        None if params.get("arguments").is_none() => Ok(Members::NONE),
        None => Err(Error::InvalidParams("arguments must be an object".to_owned())),
    }
}

/// The route's answer as one text block; what the caller can act on is an error inside the result (protocol.md §7.4).
pub(crate) fn outcome(response: Response) -> Result<Outcome, Error> {
    match response.status {
        204 => Ok(Outcome::text(r#"{"data":null}"#)),
        200..=399 => Ok(Outcome::text(response.body)),
        _ => match Error::of_broken(&response) {
            Some(error) => Err(error),
            None => Ok(failed(response.body)),
        },
    }
}

/// What went wrong, for whoever called the tool to act on.
pub(crate) fn failed(text: impl Into<Vec<u8>>) -> Outcome {
    Outcome::text(text).failed()
}
