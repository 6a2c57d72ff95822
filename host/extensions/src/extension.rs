//! What an extension says that it is, ready to be asked.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use kobana_api::extensions::Fault;
use kobana_api::{ApiError, Problems};
use kobana_contract::Scope;
use kobana_protocol::extensions::{Definition, Template};
use kobana_runtime::extension::{Context, Credit, Question, Sandbox, Stopped};
use kobana_wire::extension::{Answers, Client, Description, Kind, Outcome, Prompt};
use serde_json::{Map, Value};

use crate::schema::Schema;

/// What somebody wants of an extension, by the extension's own names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// What it is.
    pub kind: Kind,
    /// Its own name; of a resource, or of what a template leads to, the URI.
    pub name: String,
    /// The arguments: of a tool a JSON object, of a prompt a JSON object of strings, else empty.
    pub arguments: String,
    /// What the client can be asked for.
    pub client: Client,
    /// Where the call goes on after questions.
    pub answers: Option<Answers>,
}

/// An extension's description, and what was made of it.
#[derive(Debug)]
pub(crate) struct Extension {
    description: Description,
    definitions: Vec<Definition>,
    scopes: Vec<Scope>,
    tools: HashMap<String, Tool>,
    /// In the order of the description.
    templates: Vec<Option<Template>>,
}

/// A tool's schemas, compiled when they are first needed.
#[derive(Debug)]
struct Tool {
    read_only: bool,
    input: Lazy,
    output: Option<Lazy>,
}

#[derive(Debug)]
struct Lazy {
    text: String,
    compiled: OnceLock<Result<Schema, String>>,
}

impl Lazy {
    fn new(text: &str) -> Self {
        Self { text: text.to_owned(), compiled: OnceLock::new() }
    }

    fn get(&self) -> Result<&Schema, &str> {
        self.compiled.get_or_init(|| Schema::compile(&self.text)).as_ref().map_err(String::as_str)
    }

    /// Whether checking a text of this length takes no time worth speaking of.
    fn is_light(&self, length: usize) -> bool {
        matches!(self.compiled.get(), Some(Ok(schema)) if schema.is_light(length))
    }
}

/// A question that may be put.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) question: Question,
    /// Whether it can only read.
    pub(crate) read_only: bool,
    /// The tool that is asked, if it is one.
    pub(crate) tool: Option<String>,
}

impl Extension {
    pub(crate) fn new(description: Description, definitions: Vec<Definition>) -> Self {
        let scopes = description.scopes.iter().filter_map(|scope| Scope::parse(scope)).collect();
        let tools = description.tools.iter().map(|tool| {
            let output = tool.output_schema.as_deref().map(Lazy::new);
            let known = Tool { read_only: tool.hints.read_only, input: Lazy::new(&tool.input_schema), output };
            (tool.name.clone(), known)
        });
        let tools = tools.collect();
        // Each was checked when it was installed.
        let templates =
            description.resource_templates.iter().map(|template| Template::parse(&template.uri_template).ok());
        let templates = templates.collect();
        Self { description, definitions, scopes, tools, templates }
    }

    /// Reads what was written down when it was installed.
    pub(crate) fn read(description: &str, definitions: &str) -> Result<Self, serde_json::Error> {
        Ok(Self::new(serde_json::from_str(description)?, serde_json::from_str(definitions)?))
    }

    pub(crate) const fn description(&self) -> &Description {
        &self.description
    }

    pub(crate) fn definitions(&self) -> &[Definition] {
        &self.definitions
    }

    /// How much room it takes, about.
    pub(crate) fn weight(&self) -> u64 {
        let definitions: u64 = self.definitions.iter().map(|definition| definition.entry.len() as u64).sum();
        // The description, the definitions, and schemas once they are compiled.
        1_024 + definitions * 8
    }

    /// The scopes that it declares.
    pub(crate) fn scopes(&self) -> &[Scope] {
        &self.scopes
    }

    /// The schema of a tool's arguments.
    pub(crate) fn input_schema(&self, tool: &str) -> Option<&Value> {
        self.tools.get(tool)?.input.get().ok().map(Schema::text)
    }

    /// Which of its templates leads to a URI, as an index.
    pub(crate) fn template_of(&self, uri: &str) -> Option<usize> {
        self.templates.iter().position(|template| template.as_ref().is_some_and(|template| template.leads_to(uri)))
    }

    /// Compiles the schemas of a tool, by its place in the description; what cannot be used is named.
    pub(crate) fn faults_of(&self, place: usize) -> Vec<Fault> {
        let tool = self.description.tools.get(place);
        let Some((name, tool)) = tool.and_then(|tool| self.tools.get_key_value(&tool.name)) else { return Vec::new() };
        let schemas = [("input-schema", Some(&tool.input)), ("output-schema", tool.output.as_ref())];
        let schemas = schemas.into_iter().filter_map(|(field, schema)| Some((field, schema?)));
        let fault = |(field, schema): (&str, &Lazy)| {
            schema.get().err().map(|problem| Fault::new(format!("tools.{name}.{field}"), problem))
        };
        schemas.filter_map(fault).collect()
    }

    /// Checks the arguments of a tool against its schema; where that may take long, out of everybody's way.
    pub(crate) async fn check(
        self: &Arc<Self>,
        sandbox: &Sandbox,
        credit: &Arc<Credit>,
        asked: &Asked,
    ) -> Result<(), Outcome> {
        let (Kind::Tool, Some(tool)) = (asked.kind, self.tools.get(&asked.name)) else { return Ok(()) };
        if tool.input.is_light(asked.arguments.len()) {
            return tool.check(&asked.arguments);
        }
        let (extension, name, arguments) = (Arc::clone(self), asked.name.clone(), asked.arguments.clone());
        let check = move || extension.tools.get(&name).map_or(Err(Outcome::Missing), |tool| tool.check(&arguments));
        sandbox.aside(credit, check).await.unwrap_or_else(|| Err(unusable("input")))
    }

    /// What is to be asked, once the arguments of a tool are checked. What cannot be asked has its outcome already.
    pub(crate) fn ready(&self, asked: Asked) -> Result<Ready, Outcome> {
        let Asked { kind, name, arguments, client, answers } = asked;
        let context = Context { client, answers };
        match kind {
            Kind::Tool => {
                let read_only = self.tools.get(&name).ok_or(Outcome::Missing)?.read_only;
                let tool = Some(name.clone());
                Ok(Ready { question: Question::Tool { name, arguments, context }, read_only, tool })
            }
            Kind::Resource | Kind::ResourceTemplate => {
                let is_fixed = || self.description.resources.iter().any(|resource| resource.uri == name);
                if !is_fixed() && self.template_of(&name).is_none() {
                    return Err(Outcome::Missing);
                }
                Ok(Ready { question: Question::Resource { uri: name, context }, read_only: true, tool: None })
            }
            Kind::Prompt => {
                let prompt = self.description.prompts.iter().find(|prompt| prompt.name == name);
                let arguments = texts(prompt.ok_or(Outcome::Missing)?, &arguments)?;
                Ok(Ready { question: Question::Prompt { name, arguments, context }, read_only: true, tool: None })
            }
        }
    }

    /// Whether the answer of a tool is what the tool has promised. An error promises nothing.
    pub(crate) async fn judge(
        self: &Arc<Self>,
        sandbox: &Sandbox,
        credit: &Arc<Credit>,
        tool: Option<String>,
        outcome: Outcome,
    ) -> Result<Outcome, Stopped> {
        let Some(name) = tool else { return Ok(outcome) };
        let Some(output) = self.tools.get(&name).and_then(|tool| tool.output.as_ref()) else { return Ok(outcome) };
        let Outcome::Tool { structured, is_error: false, .. } = &outcome else { return Ok(outcome) };
        let Some(text) = structured else {
            let expected = "structured: expected a result that matches the tool's output schema";
            return Err(Stopped::BadAnswer(expected.to_owned()));
        };
        let kept = if output.is_light(text.len()) {
            output.holds(text)
        } else {
            let (extension, text) = (Arc::clone(self), text.clone());
            let output = move |tool: &Tool| tool.output.as_ref().is_some_and(|output| output.holds(&text));
            let check = move || extension.tools.get(&name).is_some_and(output);
            sandbox.aside(credit, check).await.unwrap_or(false)
        };
        let broken = || Stopped::BadAnswer("structured: it does not match the tool's output schema".to_owned());
        if kept { Ok(outcome) } else { Err(broken()) }
    }
}

impl Lazy {
    /// Whether a text is JSON that matches.
    fn holds(&self, text: &str) -> bool {
        let schema = self.get().map_err(|problem| tracing::error!(problem, "a schema cannot be used any more"));
        match (schema, serde_json::from_str(text)) {
            (Ok(schema), Ok(value)) => schema.holds(&value),
            _ => false,
        }
    }
}

impl Tool {
    fn check(&self, arguments: &str) -> Result<(), Outcome> {
        let schema = self.input.get().map_err(|problem| {
            // It was compiled when it was installed, by this version or by an earlier one.
            tracing::error!(problem, "a schema cannot be used any more");
            unusable("input")
        })?;
        let value: Value = serde_json::from_str(arguments).map_err(|_| invalid(&not_json()))?;
        let mut problems = Problems::default();
        schema.check(&value, "the arguments", &mut problems);
        if problems.is_empty() { Ok(()) } else { Err(invalid(&problems)) }
    }
}

fn unusable(which: &str) -> Outcome {
    Outcome::Stopped((&Stopped::BadAnswer(format!("the tool's {which} schema cannot be used"))).into())
}

/// The arguments of a prompt, which are texts.
fn texts(prompt: &Prompt, arguments: &str) -> Result<Vec<(String, String)>, Outcome> {
    let mut problems = Problems::default();
    let given: Map<String, Value> = match arguments {
        "" => Map::new(),
        text => serde_json::from_str(text).map_err(|_| invalid(&not_json()))?,
    };
    let mut texts = Vec::new();
    for argument in &prompt.arguments {
        match given.get(&argument.name) {
            Some(Value::String(text)) => texts.push((argument.name.clone(), text.clone())),
            Some(_) => problems.field(&argument.name, "expected a string"),
            None if argument.required => problems.field(&argument.name, "is required"),
            None => {}
        }
    }
    let is_known = |name: &&String| prompt.arguments.iter().any(|argument| argument.name == **name);
    given.keys().filter(|name| !is_known(name)).for_each(|name| problems.unknown(name));
    if problems.is_empty() { Ok(texts) } else { Err(invalid(&problems)) }
}

fn not_json() -> Problems {
    Problems::of_form("the arguments: expected a JSON object")
}

/// In the form of the API's `validation_failed`.
fn invalid(problems: &Problems) -> Outcome {
    let body = ApiError::Invalid(problems.clone()).body();
    Outcome::Invalid(serde_json::to_string(&body).unwrap_or_default())
}

#[cfg(test)]
pub(crate) mod tests {
    use kobana_wire::extension::{Argument, Document, DocumentBody, Hints, Resource, ResourceTemplate, Tool};
    use serde_json::json;

    use super::*;

    /// An extension with one of everything.
    pub(crate) fn description(name: &str) -> Description {
        let hints = Hints { read_only: true, destructive: false, idempotent: true, open_world: false };
        let input = json!({ "type": "object", "properties": { "id": { "type": "string" } }, "required": ["id"] });
        let output = json!({ "type": "object", "required": ["score"] });
        let tool = |name: &str, output: Option<&Value>| Tool {
            name: name.to_owned(),
            title: None,
            description: "Says something".to_owned(),
            input_schema: input.to_string(),
            output_schema: output.map(Value::to_string),
            hints,
        };
        let argument = |name: &str, required| Argument {
            name: name.to_owned(),
            title: None,
            description: None,
            required,
            values: Vec::new(),
        };
        Description {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            title: None,
            description: None,
            scopes: vec!["inbox.emails".to_owned()],
            tools: vec![
                tool("score", Some(&output)),
                Tool { hints: Hints { read_only: false, ..hints }, ..tool("emails_list", None) },
            ],
            resources: vec![Resource {
                uri: "risk://policy".to_owned(),
                name: "policy".to_owned(),
                title: None,
                description: None,
                media_type: None,
            }],
            resource_templates: vec![ResourceTemplate {
                uri_template: "risk://emails/{id}".to_owned(),
                name: "email".to_owned(),
                title: None,
                description: None,
                media_type: None,
            }],
            prompts: vec![Prompt {
                name: "explain".to_owned(),
                title: None,
                description: None,
                arguments: vec![argument("id", true), argument("tone", false)],
            }],
        }
    }

    pub(crate) fn extension(name: &str) -> Extension {
        let description = description(name);
        let definitions = kobana_protocol::extensions::check(&description).unwrap();
        Extension::new(description, definitions)
    }

    fn asked(kind: Kind, name: &str, arguments: &str) -> Asked {
        let (name, arguments) = (name.to_owned(), arguments.to_owned());
        Asked { kind, name, arguments, client: Client::default(), answers: None }
    }

    #[track_caller]
    fn refused(kind: Kind, name: &str, arguments: &str) -> Outcome {
        extension("risk").ready(asked(kind, name, arguments)).unwrap_err()
    }

    /// What a tool says to its arguments, on threads of the sandbox as well as here.
    async fn checked(name: &str, arguments: &str) -> Result<(), Outcome> {
        let (extension, sandbox) = (Arc::new(extension("risk")), sandbox());
        let asked = asked(Kind::Tool, name, arguments);
        assert!(!extension.tools[name].input.is_light(arguments.len()), "it is not compiled yet");
        let aside = extension.check(&sandbox, &free(), &asked).await;
        assert!(extension.tools[name].input.is_light(arguments.len()));
        assert_eq!(extension.check(&sandbox, &free(), &asked).await, aside);
        aside
    }

    fn free() -> Arc<Credit> {
        Arc::new(Credit::unlimited())
    }

    fn sandbox() -> Sandbox {
        Sandbox::new(kobana_runtime::extension::Settings::default(), None).unwrap()
    }

    /// The details of an `Invalid` outcome.
    #[track_caller]
    fn details(outcome: &Outcome) -> Value {
        let Outcome::Invalid(text) = outcome else { panic!("{outcome:?}") };
        let document: Value = serde_json::from_str(text).unwrap();
        assert_eq!(document["error"]["code"], "validation_failed");
        document["error"]["details"].clone()
    }

    #[test]
    fn only_what_it_has_can_be_asked() {
        for (kind, name) in [
            (Kind::Tool, "nothing"),
            (Kind::Prompt, "score"),
            (Kind::Resource, "risk://nothing"),
            (Kind::Resource, "risk://emails/"),
            (Kind::ResourceTemplate, "risk://emails/a/b"),
        ] {
            assert_eq!(refused(kind, name, "{}"), Outcome::Missing, "{name}");
        }
        let extension = extension("risk");
        for uri in ["risk://policy", "risk://emails/1"] {
            let ready = extension.ready(asked(Kind::Resource, uri, "")).unwrap();
            assert!(ready.read_only && matches!(ready.question, Question::Resource { uri: asked, .. } if asked == uri));
        }
    }

    #[tokio::test]
    async fn arguments_of_a_tool_match_its_schema_and_go_on_as_they_came() {
        let refused = async |arguments| details(&checked("score", arguments).await.unwrap_err());
        assert_eq!(refused("{}").await["field_errors"]["id"], json!(["is required"]));
        assert_eq!(refused("{").await["form_errors"][0], "the arguments: expected a JSON object");
        assert_eq!(refused("[]").await["form_errors"][0], "the arguments: expected an object");
        let written = r#"{ "id": "\u0031" }"#;
        assert_eq!(checked("score", written).await, Ok(()));
        let extension = extension("risk");
        let ready = extension.ready(asked(Kind::Tool, "score", written)).unwrap();
        assert!(ready.read_only && ready.tool.as_deref() == Some("score"));
        assert!(matches!(ready.question, Question::Tool { arguments, .. } if arguments == written));
        assert!(!extension.ready(asked(Kind::Tool, "emails_list", written)).unwrap().read_only);
    }

    #[test]
    fn arguments_of_a_prompt_are_texts_that_it_knows() {
        let wrong = details(&refused(Kind::Prompt, "explain", r#"{"tone":7,"colour":"geheim"}"#));
        let expected =
            json!({ "id": ["is required"], "tone": ["expected a string"], "colour": ["is not accepted here"] });
        assert_eq!(wrong["field_errors"], expected);
        assert_eq!(
            details(&refused(Kind::Prompt, "explain", "[]"))["form_errors"][0],
            "the arguments: expected a JSON object"
        );
        let extension = extension("risk");
        let ready = extension.ready(asked(Kind::Prompt, "explain", r#"{"tone":"dry","id":"1"}"#)).unwrap();
        let Ready { question: Question::Prompt { arguments, .. }, read_only: true, tool: None } = ready else {
            panic!()
        };
        let pair = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        assert_eq!(arguments, [pair("id", "1"), pair("tone", "dry")], "in the order of the description");
    }

    #[tokio::test]
    async fn a_result_is_what_was_promised_unless_it_is_an_error() {
        let (extension, sandbox) = (Arc::new(extension("risk")), sandbox());
        let judge = async |tool: &str, structured: Option<&str>, is_error| {
            let structured = structured.map(str::to_owned);
            let outcome = Outcome::Tool { content: Vec::new(), structured, is_error };
            extension.judge(&sandbox, &free(), Some(tool.to_owned()), outcome).await
        };
        for bad in [None, Some("{}"), Some("[1]"), Some("{"), Some("{}")] {
            assert!(matches!(judge("score", bad, false).await, Err(Stopped::BadAnswer(_))), "{bad:?}");
            assert!(judge("score", bad, true).await.is_ok());
            assert!(judge("emails_list", bad, false).await.is_ok());
        }
        assert!(judge("score", Some(r#"{"score":7}"#), false).await.is_ok());
        let document =
            Document { uri: "risk://policy".to_owned(), media_type: None, body: DocumentBody::Text(String::new()) };
        assert!(extension.judge(&sandbox, &free(), None, Outcome::Documents(vec![document])).await.is_ok());
    }

    #[test]
    fn faults_name_the_tool_and_the_field() {
        let mut description = description("risk");
        description.tools[0].input_schema = r#"{"type":"object","properties":{"a":{"pattern":"(?=a)"}}}"#.to_owned();
        description.tools[1].output_schema = Some(r#"{"type":"nonsense"}"#.to_owned());
        let extension = Extension::new(description, Vec::new());
        let faults = [extension.faults_of(0), extension.faults_of(1), extension.faults_of(2)].concat();
        let fields: Vec<_> = faults.iter().map(|fault| fault.field.as_str()).collect();
        assert_eq!(fields, ["tools.score.input-schema", "tools.emails_list.output-schema"]);
    }

    #[test]
    fn what_was_written_down_reads_the_same() {
        let before = extension("risk");
        let text = (
            serde_json::to_string(before.description()).unwrap(),
            serde_json::to_string(before.definitions()).unwrap(),
        );
        let after = Extension::read(&text.0, &text.1).unwrap();
        assert_eq!((after.description(), after.definitions()), (before.description(), before.definitions()));
        assert_eq!(after.scopes(), [Scope::Emails]);
        assert!(Extension::read("{}", "[]").is_err());
    }
}
