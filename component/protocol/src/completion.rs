//! `completion/complete` (protocol.md §12; mcp-catalogue.md, Completions).

use crate::answer::Outcome;
use crate::arguments;
use crate::catalogue::{PROMPTS, RowSource, Suggestions, TEMPLATES, URI_BASE};
use crate::dispatch::{Caller, Method, Request, Response};
use crate::error::Error;
use crate::extensions;
use crate::json::{self, Members, Value};
use crate::jsonrpc::Params;
use crate::uri::{self, Document};

/// The most values that one answer may hold (protocol.md §12).
const MAX_VALUES: usize = 100;

/// Values that begin with what was typed, as far as they are shown.
#[derive(Debug)]
struct Values {
    values: Vec<String>,
    /// How many there are; none where nobody has counted them.
    total: Option<u64>,
}

/// `completion/complete`
pub(crate) async fn complete<C: Caller>(caller: &C, params: &Params<'_>) -> Result<Outcome, Error> {
    let question = Question::read(caller, params).await?;
    let Values { mut values, total } = match &question.source {
        Source::BuiltIn(Suggestions::None) => Values::of(Vec::new()),
        Source::BuiltIn(Suggestions::Words(words)) => Values::of(beginning(words.iter().copied(), &question.typed)),
        Source::BuiltIn(Suggestions::Rows(source)) => rows(caller, source, &question).await?,
        Source::Extension(words) => Values::of(beginning(words.iter().map(String::as_str), &question.typed)),
    };
    values.truncate(MAX_VALUES);
    let more = total != u64::try_from(values.len()).ok();
    let total = total.map(|total| format!(r#""total":{total},"#)).unwrap_or_default();
    let values: Vec<_> = values.iter().map(|value| json::quoted(value)).collect();
    Ok(Outcome::plain(format!(r#""completion":{{"values":[{}],{total}"hasMore":{more}}}"#, values.join(","))))
}

impl Values {
    /// All values that there are.
    fn of(values: Vec<String>) -> Self {
        let total = u64::try_from(values.len()).ok();
        Self { values, total }
    }
}

/// The words that begin with what was typed, in any letter case.
fn beginning<'a>(words: impl Iterator<Item = &'a str>, typed: &str) -> Vec<String> {
    let typed = typed.to_lowercase();
    words.filter(|word| word.to_lowercase().starts_with(&typed)).map(str::to_owned).collect()
}

/// Where values come from.
enum Source {
    BuiltIn(Suggestions),
    /// What an extension has written down.
    Extension(Vec<String>),
}

/// What is asked, checked.
struct Question {
    source: Source,
    /// What was typed so far.
    typed: String,
    /// Values of other arguments.
    context: Vec<(String, String)>,
}

impl Question {
    async fn read<C: Caller>(caller: &C, params: &Params<'_>) -> Result<Self, Error> {
        let wrong = |what: &str| Error::InvalidParams(what.to_owned());
        let reference = object(params.get("ref")).ok_or_else(|| wrong("ref must be an object"))?;
        let argument = object(params.get("argument")).ok_or_else(|| wrong("argument must be an object"))?;
        let name = text(&argument, "name").ok_or_else(|| wrong("argument.name must be a string"))?;
        let typed = text(&argument, "value").ok_or_else(|| wrong("argument.value must be a string"))?;
        let context = context(params)?;
        let source = match text(&reference, "type").as_deref() {
            Some("ref/prompt") => {
                let prompt = text(&reference, "name").ok_or_else(|| wrong("ref.name must be a string"))?;
                of_prompt(caller, &prompt, &name).await
            }
            Some("ref/resource") => {
                let uri = text(&reference, "uri").ok_or_else(|| wrong("ref.uri must be a string"))?;
                of_resource(caller, &uri, &name).await
            }
            _ => return Err(wrong("ref.type must be ref/prompt or ref/resource")),
        }?;
        Ok(Self { source, typed, context })
    }
}

fn object<'a>(value: Option<Value<'a>>) -> Option<Members<'a>> {
    value.and_then(Members::of)
}

fn text(members: &Members<'_>, name: &str) -> Option<String> {
    members.get(name).and_then(json::string).map(|text| text.into_owned())
}

async fn of_prompt<C: Caller>(caller: &C, name: &str, argument: &str) -> Result<Source, Error> {
    if let Some(prompt) = PROMPTS.iter().find(|prompt| prompt.name == name) {
        let argument = prompt.arguments.iter().find(|known| known.name == argument);
        return argument.map(|argument| Source::BuiltIn(argument.suggestions)).ok_or_else(unknown_argument);
    }
    let values = extensions::suggestions_of_prompt(caller, name, argument).await?;
    let values = values.ok_or_else(|| Error::InvalidParams("ref.name names no prompt".to_owned()))?;
    values.map(Source::Extension).ok_or_else(unknown_argument)
}

/// A family is named by its template, or by the URI of one of its documents.
async fn of_resource<C: Caller>(caller: &C, uri: &str, argument: &str) -> Result<Source, Error> {
    let by_text = TEMPLATES.iter().find(|template| uri.strip_prefix(URI_BASE) == Some(template.path));
    let by_uri = || match uri::parse(uri) {
        Some(Document::Member { template, .. }) => Some(template),
        _ => None,
    };
    if let Some(template) = by_text.or_else(by_uri) {
        let variable = template.variables.iter().find(|known| known.name == argument);
        return variable.map(|variable| Source::BuiltIn(variable.suggestions)).ok_or_else(unknown_argument);
    }
    let values = extensions::suggestions_of_template(caller, uri, argument).await?;
    let values = values.ok_or_else(|| Error::InvalidParams("ref.uri names no template".to_owned()))?;
    values.map(Source::Extension).ok_or_else(unknown_argument)
}

fn unknown_argument() -> Error {
    Error::InvalidParams("argument.name names no argument of it".to_owned())
}

/// `context.arguments`: a map of strings.
fn context(params: &Params<'_>) -> Result<Vec<(String, String)>, Error> {
    let wrong = || Error::InvalidParams("context.arguments must be an object of strings".to_owned());
    let Some(context) = params.get("context") else { return Ok(Vec::new()) };
    let context = Members::of(context).ok_or_else(wrong)?;
    let Some(arguments) = context.get("arguments") else { return Ok(Vec::new()) };
    let arguments = Members::of(arguments).ok_or_else(wrong)?;
    let pairs = arguments.iter().map(|(name, value)| Some((name.to_owned(), json::string(value)?.into_owned())));
    pairs.collect::<Option<_>>().ok_or_else(wrong)
}

/// Asks the list as the caller, so that nothing unseen shows up. A caller who may not read it, or has yet to pick a workspace,
/// is offered nothing (decisions 15 and 17).
async fn rows<C: Caller>(caller: &C, source: &RowSource, question: &Question) -> Result<Values, Error> {
    let nothing = Values::of(Vec::new());
    if !source.gate.covers_caller(caller).await {
        return Ok(nothing);
    }
    let Some(path) = route(source, &question.context) else { return Ok(nothing) };
    let readings = source.filters.iter().map(Some).chain(source.filters.is_empty().then_some(None));
    let mut all = nothing;
    for filter in readings {
        let query = filter.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).into_iter().collect();
        let request = Request { method: Method::Get, path: path.clone(), query, body: None, idempotency_key: None };
        let response = caller.suggest(request, question.typed.clone()).await?;
        if let Some(Values { values, total }) = offered(&response)? {
            all.values.extend(values);
            all.total = all.total.zip(total).map(|(one, other)| one.saturating_add(other));
        }
    }
    Ok(all)
}

/// The rows that a list offers; none where it refuses.
fn offered(response: &Response) -> Result<Option<Values>, Error> {
    #[derive(serde::Deserialize)]
    struct Body {
        data: Data,
    }
    #[derive(serde::Deserialize)]
    struct Data {
        values: Vec<String>,
        total: Option<u64>,
    }
    match response.status {
        200 => match serde_json::from_slice(&response.body) {
            Ok(Body { data: Data { values, total } }) => Ok(Some(Values { values, total })),
            Err(_) => Err(Error::Internal("Internal error")),
        },
        _ => Error::of_broken(response).map_or(Ok(None), Err),
    }
}

/// The path of the list; none where it hangs on an argument that was not given.
fn route(source: &RowSource, context: &[(String, String)]) -> Option<String> {
    let Some((variable, argument)) = source.parent else { return Some(source.route.to_owned()) };
    let (_, value) = context.iter().find(|(name, _)| name == argument)?;
    Some(source.route.replace(&format!("{{{variable}}}"), &arguments::segment(value).ok()?))
}
