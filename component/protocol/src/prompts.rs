//! `prompts/list` and `prompts/get` (protocol.md §11; mcp-catalogue.md, Prompts).

use std::borrow::Cow;

use kobana_wire::extension::Kind;

use crate::answer::Outcome;
use crate::arguments;
use crate::catalogue::{ArgumentKind, Gate, PROMPTS, Prompt, PromptArgument, Rights, WARNING};
use crate::dispatch::Caller;
use crate::era::Version;
use crate::error::{Error, clip};
use crate::extensions;
use crate::json::{self, Members};
use crate::jsonrpc::Params;
use crate::resources;
use crate::tools::refuse_cursor;
use crate::uri;

/// `prompts/list`: what the caller may use.
pub(crate) async fn list<C: Caller>(caller: &C, params: &Params<'_>) -> Result<Outcome, Error> {
    refuse_cursor(params)?;
    let profile = caller.profile().await;
    let rights = Rights::of(&profile);
    let usable = PROMPTS.iter().filter(|prompt| prompt.gates.iter().all(|gate| gate.opens_to(&rights)));
    let entries = extensions::list(caller, &profile, Kind::Prompt, usable.map(|prompt| prompt.definition)).await?;
    Ok(Outcome::cacheable(format!(r#""prompts":[{entries}]"#)))
}

/// `prompts/get`
pub(crate) async fn get<C: Caller>(caller: &C, version: Version, params: &Params<'_>) -> Result<Outcome, Error> {
    let name = params.get("name").and_then(json::string);
    let name = name.ok_or_else(|| Error::InvalidParams("name must be a string".to_owned()))?;
    let unknown = || Error::InvalidParams(format!("Unknown prompt: {}", clip(&name)));
    let Some(prompt) = PROMPTS.iter().find(|prompt| prompt.name == name) else {
        return extensions::get_prompt(caller, version, params, &name).await?.ok_or_else(unknown);
    };
    let profile = caller.profile().await;
    let rights = Rights::of(&profile);
    if let Some(gate) = prompt.gates.iter().find(|gate| !gate.covers(&rights)) {
        return Err(gate.refusal());
    }
    // Without the permission the prompt is not listed, and a new credential would not help: it is as if there were none.
    if !prompt.gates.iter().all(|gate| gate.opens_to(&rights)) {
        return Err(unknown());
    }
    let given = arguments_of(prompt, params)?;
    render(caller, &rights, prompt, &given).await
}

/// Checks names and types; values are checked where they are used.
fn arguments_of<'a>(prompt: &Prompt, params: &Params<'a>) -> Result<Vec<(&'static str, Cow<'a, str>)>, Error> {
    let members = match params.get("arguments") {
        None => Members::default(),
        Some(value) => Members::of(value)
            .ok_or_else(|| Error::InvalidParams("arguments must be an object of strings".to_owned()))?,
    };
    if members.iter().any(|(name, _)| prompt.arguments.iter().all(|argument| argument.name != name)) {
        let names: Vec<_> = prompt.arguments.iter().map(|argument| argument.name).collect();
        return Err(Error::InvalidParams(format!("unknown argument: this prompt takes {}", names.join(", "))));
    }
    let mut given = Vec::new();
    for argument in prompt.arguments {
        match members.get(argument.name) {
            Some(value) => {
                let text = json::string(value).ok_or_else(|| wrong(argument, "must be a string"))?;
                given.push((argument.name, text));
            }
            None if argument.required => return Err(wrong(argument, "is required")),
            None => {}
        }
    }
    Ok(given)
}

fn wrong(argument: &PromptArgument, problem: &str) -> Error {
    Error::InvalidParams(format!("{} {problem}", argument.name))
}

/// What a prompt becomes: instructions, then documents, then the user's own words, each a message of its own.
#[derive(Default)]
struct Rendered {
    clauses: Vec<String>,
    documents: Vec<String>,
    words: Vec<String>,
}

async fn render<C: Caller>(
    caller: &C,
    rights: &Rights<'_>,
    prompt: &Prompt,
    given: &[(&'static str, Cow<'_, str>)],
) -> Result<Outcome, Error> {
    let mut rendered = Rendered::default();
    if let Some(path) = prompt.embeds {
        rendered.documents.extend(resources::read_fixed(caller, path).await?);
    }
    for argument in prompt.arguments {
        if let Some((_, value)) = given.iter().find(|(name, _)| *name == argument.name) {
            apply(caller, rights, argument, value, &mut rendered).await?;
        }
    }
    let mut text = prompt.text.to_owned();
    for sentence in rendered.clauses.iter().map(String::as_str).chain([WARNING]) {
        text.push(' ');
        text.push_str(sentence);
    }
    let text_block = |text: &str| format!(r#"{{"type":"text","text":{}}}"#, json::quoted(text));
    let mut blocks = vec![text_block(&text)];
    blocks.extend(rendered.documents.iter().map(|document| format!(r#"{{"type":"resource","resource":{document}}}"#)));
    blocks.extend(rendered.words.iter().map(|words| text_block(words)));
    let messages: Vec<_> = blocks.iter().map(|block| format!(r#"{{"role":"user","content":{block}}}"#)).collect();
    Ok(Outcome::plain(format!(
        r#""description":{},"messages":[{}]"#,
        json::quoted(prompt.description),
        messages.join(",")
    )))
}

async fn apply<C: Caller>(
    caller: &C,
    rights: &Rights<'_>,
    argument: &PromptArgument,
    value: &str,
    rendered: &mut Rendered,
) -> Result<(), Error> {
    let value = match argument.kind {
        ArgumentKind::Word(words) if words.contains(&value) => value.to_owned(),
        ArgumentKind::Word(words) => return Err(wrong(argument, &format!("must be one of {}", words.join(", ")))),
        ArgumentKind::Time if is_time(value) => value.to_owned(),
        ArgumentKind::Time => return Err(wrong(argument, "must be a time such as 2026-07-28T09:00:00Z")),
        ArgumentKind::Words if value.trim().is_empty() => return Err(wrong(argument, "must not be empty")),
        ArgumentKind::Words => {
            rendered.words.push(value.to_owned());
            rendered.clauses.push(argument.clause.to_owned());
            return Ok(());
        }
        ArgumentKind::Row { route, gate, template, embed } => {
            let row = row(caller, rights, route, gate, value)
                .await?
                .ok_or_else(|| wrong(argument, "names nothing that you can see"))?;
            if let (true, Some(document)) = (embed, row.document) {
                rendered.documents.push(resources::document_json(&uri::of_row(template, &row.id), &document));
            }
            row.id
        }
    };
    rendered.clauses.push(argument.clause.replace("{}", &value));
    Ok(())
}

/// A row that an argument names.
struct Row {
    /// Its UUID, which the filters of the list tools need.
    id: String,
    /// Its document.
    document: Option<String>,
}

/// Looks a row up. Where the credential does not reach it, a UUID is taken as it stands (mcp-catalogue.md, prompt 6).
async fn row<C: Caller>(
    caller: &C,
    rights: &Rights<'_>,
    route: &str,
    gate: Gate,
    value: &str,
) -> Result<Option<Row>, Error> {
    if !gate.covers(rights) {
        return Ok(is_uuid(value).then(|| Row { id: value.to_ascii_lowercase(), document: None }));
    }
    let Ok(segment) = arguments::segment(value) else { return Ok(None) };
    let document = resources::fetch(caller, route.replace("{id}", &segment), Vec::new()).await?;
    Ok(document.and_then(|document| Some(Row { id: id_of(&document)?, document: Some(document) })))
}

/// The id in a document `{data: {id}}`. It goes into instructions, so it must be a UUID.
fn id_of(document: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Document {
        data: Identified,
    }
    #[derive(serde::Deserialize)]
    struct Identified {
        id: String,
    }
    serde_json::from_str::<Document>(document).ok().map(|document| document.data.id).filter(|id| is_uuid(id))
}

fn is_uuid(text: &str) -> bool {
    let groups: Vec<_> = text.split('-').collect();
    let lengths = groups.iter().map(|group| group.len());
    lengths.eq([8, 4, 4, 4, 12]) && text.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
}

/// Whether a text has the form of RFC 3339, letter by letter; whether such a day exists is the API's to say.
pub(crate) fn is_time(text: &str) -> bool {
    let form = |pattern: &str, text: &str| {
        pattern.len() == text.len()
            && pattern.bytes().zip(text.bytes()).all(|(p, t)| if p == b'0' { t.is_ascii_digit() } else { p == t })
    };
    let Some((head, tail)) = text.split_at_checked(19) else { return false };
    let zone = tail.find(['Z', '+', '-']).unwrap_or(tail.len());
    let (fraction, zone) = tail.split_at_checked(zone).unwrap_or((tail, ""));
    let digits = fraction.strip_prefix('.').map_or(fraction.is_empty(), |digits| {
        !digits.is_empty() && digits.len() <= 9 && digits.bytes().all(|byte| byte.is_ascii_digit())
    });
    form("0000-00-00T00:00:00", head) && digits && (zone == "Z" || form("+00:00", zone) || form("-00:00", zone))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_taken_by_their_form() {
        for good in ["2026-07-28T09:00:00Z", "2026-07-28T09:00:00.250-03:00", "2026-07-28T09:00:00+00:00"] {
            assert!(is_time(good), "{good}");
        }
        for bad in [
            "2026-07-28",
            "2026-07-28T09:00:00",
            "28/07/2026",
            "2026-07-28T09:00:00.Z",
            "2026-07-28T09:00:00Z ignore all",
            "",
        ] {
            assert!(!is_time(bad), "{bad}");
        }
    }

    #[test]
    fn uuids_are_taken_by_their_form() {
        assert!(is_uuid("00000000-0000-7000-8000-00000000003c"));
        for bad in ["acme-invoices", "00000000-0000-7000-8000-00000000003", "00000000000070008000-00000000003c", ""] {
            assert!(!is_uuid(bad), "{bad}");
        }
    }
}
