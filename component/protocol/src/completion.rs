//! `completion/complete` (protocol.md §12; mcp-catalogue.md, Completions).

use serde_json::value::RawValue;

use crate::answer::Outcome;
use crate::arguments;
use crate::catalogue::{PROMPTS, RowSource, Suggestions, TEMPLATES, URI_BASE};
use crate::dispatch::Caller;
use crate::error::Error;
use crate::json::{self, Members};
use crate::jsonrpc::Params;
use crate::resources::{self, WHOLE_PAGE};
use crate::uri::{self, Document};

/// The most values that one answer may hold (protocol.md §12).
const MAX_VALUES: usize = 100;

/// Values that begin with what was typed, and whether there are more.
#[derive(Debug, Default)]
struct Values {
    values: Vec<String>,
    /// Whether rows were left unread, so that the total is unknown.
    unread: bool,
}

/// `completion/complete`
pub(crate) async fn complete<C: Caller>(caller: &C, params: &Params<'_>) -> Result<Outcome, Error> {
    let question = Question::read(params)?;
    let values = match question.suggestions {
        Suggestions::None => Values::default(),
        Suggestions::Words(words) => {
            let values = words.iter().filter(|word| begins(word, &question.typed)).map(|word| (*word).to_owned());
            Values { values: values.collect(), unread: false }
        }
        Suggestions::Rows(source) => rows(caller, &source, &question).await?,
    };
    let total = values.values.len();
    let shown: Vec<_> = values.values.iter().take(MAX_VALUES).map(|value| json::quoted(value)).collect();
    let more = values.unread || total > MAX_VALUES;
    let total = if values.unread { String::new() } else { format!(r#""total":{total},"#) };
    Ok(Outcome::plain(format!(r#""completion":{{"values":[{}],{total}"hasMore":{more}}}"#, shown.join(","))))
}

/// What is asked, checked.
struct Question {
    suggestions: Suggestions,
    /// What was typed so far, in lower case.
    typed: String,
    /// Values of other arguments.
    context: Vec<(String, String)>,
}

impl Question {
    fn read(params: &Params<'_>) -> Result<Self, Error> {
        let wrong = |what: &str| Error::InvalidParams(what.to_owned());
        let reference = object(params.get("ref")).ok_or_else(|| wrong("ref must be an object"))?;
        let argument = object(params.get("argument")).ok_or_else(|| wrong("argument must be an object"))?;
        let name = text(&argument, "name").ok_or_else(|| wrong("argument.name must be a string"))?;
        let typed = text(&argument, "value").ok_or_else(|| wrong("argument.value must be a string"))?;
        let suggestions = match text(&reference, "type").as_deref() {
            Some("ref/prompt") => {
                of_prompt(&text(&reference, "name").ok_or_else(|| wrong("ref.name must be a string"))?, &name)
            }
            Some("ref/resource") => {
                of_resource(&text(&reference, "uri").ok_or_else(|| wrong("ref.uri must be a string"))?, &name)
            }
            _ => return Err(wrong("ref.type must be ref/prompt or ref/resource")),
        }?;
        Ok(Self { suggestions, typed: typed.to_lowercase(), context: context(params)? })
    }
}

fn object<'a>(value: Option<&'a RawValue>) -> Option<Members<'a>> {
    value.and_then(Members::of)
}

fn text(members: &Members<'_>, name: &str) -> Option<String> {
    members.get(name).and_then(json::string).map(|text| text.into_owned())
}

fn of_prompt(name: &str, argument: &str) -> Result<Suggestions, Error> {
    let prompt = PROMPTS.iter().find(|prompt| prompt.name == name);
    let prompt = prompt.ok_or_else(|| Error::InvalidParams("ref.name names no prompt".to_owned()))?;
    let argument = prompt.arguments.iter().find(|known| known.name == argument);
    argument.map(|argument| argument.suggestions).ok_or_else(unknown_argument)
}

/// A family is named by its template, or by the URI of one of its documents.
fn of_resource(uri: &str, argument: &str) -> Result<Suggestions, Error> {
    let by_text = TEMPLATES.iter().find(|template| uri.strip_prefix(URI_BASE) == Some(template.path));
    let by_uri = || match uri::parse(uri) {
        Some(Document::Member { template, .. }) => Some(template),
        _ => None,
    };
    let template =
        by_text.or_else(by_uri).ok_or_else(|| Error::InvalidParams("ref.uri names no template".to_owned()))?;
    let variable = template.variables.iter().find(|known| known.name == argument);
    variable.map(|variable| variable.suggestions).ok_or_else(unknown_argument)
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

/// Reads the source as the caller, so that nothing unseen shows up; a caller without its scope is offered nothing.
async fn rows<C: Caller>(caller: &C, source: &RowSource, question: &Question) -> Result<Values, Error> {
    let mut values = Values::default();
    if !source.gate.covers(&caller.profile().await) {
        return Ok(values);
    }
    let Some(route) = route(source, &question.context) else { return Ok(values) };
    let readings = source.filters.iter().map(Some).chain(source.filters.is_empty().then_some(None));
    for filter in readings {
        let mut query = vec![("limit".to_owned(), WHOLE_PAGE.to_owned())];
        query.extend(filter.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let page = match resources::fetch(caller, route.clone(), query).await {
            Ok(page) => page,
            // Without a workspace there is nothing to offer (decision 15).
            Err(Error::InvalidParamsCode { .. }) => None,
            Err(error) => return Err(error),
        };
        collect(&page.unwrap_or_default(), source, &question.typed, &mut values);
    }
    Ok(values)
}

/// The path of the list; none where it hangs on an argument that was not given.
fn route(source: &RowSource, context: &[(String, String)]) -> Option<String> {
    let Some((variable, argument)) = source.parent else { return Some(source.route.to_owned()) };
    let (_, value) = context.iter().find(|(name, _)| name == argument)?;
    Some(source.route.replace(&format!("{{{variable}}}"), &arguments::segment(value).ok()?))
}

fn collect(page: &str, source: &RowSource, typed: &str, values: &mut Values) {
    #[derive(serde::Deserialize)]
    struct Page<'a> {
        #[serde(borrow)]
        data: Vec<&'a RawValue>,
        meta: Meta,
    }
    #[derive(serde::Deserialize)]
    struct Meta {
        next_cursor: Option<String>,
    }
    let Ok(page) = serde_json::from_str::<Page<'_>>(page) else { return };
    values.unread |= page.meta.next_cursor.is_some();
    for row in page.data.iter().filter_map(|row| Members::of(row)) {
        let matches = source.fields.iter().any(|field| text(&row, field).is_some_and(|value| begins(&value, typed)));
        let value = text(&row, "external_id").or_else(|| text(&row, "id"));
        if let (true, Some(value)) = (matches, value) {
            values.values.push(value);
        }
    }
}

/// Whether a text begins with what was typed, in any letter case.
fn begins(text: &str, typed: &str) -> bool {
    text.to_lowercase().starts_with(typed)
}
