//! What an extension says of itself, judged when it is installed (`extension.wit`; protocol.md §9.2, §10, §11).

use std::collections::BTreeSet;
use std::fmt::Write as _;

use kobana_wire::extension::{Argument, Description, Kind, Prompt, Resource, ResourceTemplate, Tool};
use semver::Version;

use super::schema::{self, Purpose, Schema};
use super::{Definition, Problem, address};
use crate::catalogue::SCOPES;
use crate::json;
use crate::text::{clean, is_format, is_plain};

/// The most tools of one extension.
const MOST_TOOLS: usize = 128;
/// The most resources, templates and prompts, each.
const MOST_OTHERS: usize = 128;
/// The most arguments of one prompt.
const MOST_ARGUMENTS: usize = 32;
/// The most values to offer for one argument; an answer holds no more (protocol.md §12).
const MOST_VALUES: usize = 100;
/// The longest name of a tool, a prompt or an argument.
const LONGEST_NAME: usize = 64;
/// The longest title, name of a document or value to offer, in characters.
const LONGEST_TITLE: usize = 128;
/// The longest description, in characters.
const LONGEST_DESCRIPTION: usize = 4_096;
/// The longest media type (RFC 6838 §4.2).
const LONGEST_MEDIA_TYPE: usize = 255;
/// The most text that all entries of the lists may have together, in bytes.
const MOST_TEXT: usize = 524_288;
/// The most problems that are told at once.
const MOST_PROBLEMS: usize = 50;

/// Checks what an extension says of itself and writes what lists show of it.
///
/// The order of the definitions is that of the description: tools, resources, templates, prompts.
///
/// # Errors
/// Every problem, up to 50 of them, in the order of the description.
pub fn check(description: &Description) -> Result<Vec<Definition>, Vec<Problem>> {
    let mut findings = Findings(Vec::new());
    findings.head(description);
    let mut definitions = Vec::new();
    if findings.counts(description) {
        findings.unique("tools", "name", description.tools.iter().map(|tool| tool.name.as_str()));
        definitions.extend(description.tools.iter().enumerate().filter_map(|(index, tool)| findings.tool(index, tool)));
        findings.unique("resources", "uri", description.resources.iter().map(|resource| resource.uri.as_str()));
        let resources = description.resources.iter().enumerate();
        definitions.extend(resources.filter_map(|(index, resource)| findings.resource(index, resource)));
        let templates = &description.resource_templates;
        let texts = templates.iter().map(|template| template.uri_template.as_str());
        findings.unique("resource-templates", "uri-template", texts);
        let templates = templates.iter().enumerate();
        definitions.extend(templates.filter_map(|(index, template)| findings.template(index, template)));
        findings.unique("prompts", "name", description.prompts.iter().map(|prompt| prompt.name.as_str()));
        let prompts = description.prompts.iter().enumerate();
        definitions.extend(prompts.filter_map(|(index, prompt)| findings.prompt(index, prompt)));
    }
    let text: usize = definitions.iter().map(|definition| definition.entry.len()).sum();
    if text > MOST_TEXT {
        findings
            .add("description", format!("expected at most {MOST_TEXT} bytes for all that lists show, found {text}"));
    }
    findings.0.truncate(MOST_PROBLEMS);
    if findings.0.is_empty() { Ok(definitions) } else { Err(findings.0) }
}

struct Findings(Vec<Problem>);

impl Findings {
    fn add(&mut self, field: impl Into<String>, message: impl Into<String>) {
        self.0.push(Problem { field: field.into(), message: message.into() });
    }

    fn head(&mut self, description: &Description) {
        let name = description.name.as_bytes();
        let letters = name.first().is_some_and(u8::is_ascii_lowercase)
            && name.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-');
        if !letters || name.len() > 32 {
            self.add("name", "expected 1 to 32 of a-z, 0-9 and -, beginning with a letter");
        }
        if Version::parse(&description.version).is_err() || description.version.len() > 64 {
            self.add("version", "expected a semantic version such as 1.0.0, of at most 64 characters");
        }
        self.title("title", description.title.as_deref());
        self.description("description", description.description.as_deref());
        for scope in &description.scopes {
            if !SCOPES.contains(&scope.as_str()) {
                let scope = clean(scope, 40);
                self.add("scopes", format!("“{scope}” is no scope; there are {}", SCOPES.join(", ")));
            }
        }
        self.unique("scopes", "scope", description.scopes.iter().map(String::as_str));
    }

    /// Whether there are few enough of everything to look at each.
    fn counts(&mut self, description: &Description) -> bool {
        let before = self.0.len();
        for (field, count, most) in [
            ("tools", description.tools.len(), MOST_TOOLS),
            ("resources", description.resources.len(), MOST_OTHERS),
            ("resource-templates", description.resource_templates.len(), MOST_OTHERS),
            ("prompts", description.prompts.len(), MOST_OTHERS),
        ] {
            if count > most {
                self.add(field, format!("expected at most {most}, found {count}"));
            }
        }
        self.0.len() == before
    }

    fn unique<'a>(&mut self, field: &str, what: &str, texts: impl Iterator<Item = &'a str>) {
        let mut seen = BTreeSet::new();
        let mut twice: Vec<_> = texts.filter(|text| !seen.insert(*text)).collect();
        twice.dedup();
        for text in twice.into_iter().take(MOST_PROBLEMS) {
            self.add(field, format!("the {what} “{}” stands twice", clean(text, LONGEST_NAME)));
        }
    }

    fn tool(&mut self, index: usize, tool: &Tool) -> Option<Definition> {
        let before = self.0.len();
        let place = self.named("tools", index, &tool.name);
        self.title(&format!("{place}.title"), tool.title.as_deref());
        self.required(&format!("{place}.description"), &tool.description);
        let input = self.schema(&format!("{place}.input-schema"), &tool.input_schema, Purpose::Input);
        let output = tool.output_schema.as_ref();
        let output = output.map(|schema| self.schema(&format!("{place}.output-schema"), schema, Purpose::Output));
        if tool.hints.read_only && tool.hints.destructive {
            self.add(format!("{place}.hints"), "a tool that only reads cannot be destructive");
        }
        let input = input.filter(|_| self.0.len() == before)?;
        let mut entry = Entry::default();
        entry.text("title", tool.title.as_deref());
        entry.text("description", Some(&tool.description));
        entry.raw("inputSchema", &input.text);
        if let Some(Some(output)) = output {
            entry.raw("outputSchema", &output.text);
        }
        let hints = tool.hints;
        entry.raw(
            "annotations",
            &format!(
                r#"{{"readOnlyHint":{},"destructiveHint":{},"idempotentHint":{},"openWorldHint":{}}}"#,
                hints.read_only, hints.destructive, hints.idempotent, hints.open_world
            ),
        );
        let mirrored = input.mirrored;
        Some(Definition { mirrored, read_only: hints.read_only, ..entry.definition(Kind::Tool, &tool.name) })
    }

    fn resource(&mut self, index: usize, resource: &Resource) -> Option<Definition> {
        let before = self.0.len();
        let place = format!("resources[{index}]");
        if let Err(problem) = address::check_uri(&resource.uri) {
            self.add(format!("{place}.uri"), problem);
        }
        let Resource { uri, name, title, description, media_type } = resource;
        let entry = self.document(&place, name, title.as_deref(), description.as_deref(), media_type.as_deref());
        (self.0.len() == before).then(|| entry.definition(Kind::Resource, uri))
    }

    fn template(&mut self, index: usize, template: &ResourceTemplate) -> Option<Definition> {
        let before = self.0.len();
        let place = format!("resource-templates[{index}]");
        if let Err(problem) = address::check_template(&template.uri_template) {
            self.add(format!("{place}.uri-template"), problem);
        }
        let ResourceTemplate { uri_template, name, title, description, media_type } = template;
        let entry = self.document(&place, name, title.as_deref(), description.as_deref(), media_type.as_deref());
        (self.0.len() == before).then(|| entry.definition(Kind::ResourceTemplate, uri_template))
    }

    /// What resources and templates have in common.
    fn document(
        &mut self,
        place: &str,
        name: &str,
        title: Option<&str>,
        description: Option<&str>,
        media_type: Option<&str>,
    ) -> Entry {
        self.title(&format!("{place}.name"), Some(name));
        self.title(&format!("{place}.title"), title);
        self.description(&format!("{place}.description"), description);
        if media_type.is_some_and(|media_type| !is_media_type(media_type)) {
            self.add(format!("{place}.media-type"), "expected a media type such as text/plain");
        }
        let mut entry = Entry::default();
        entry.text("name", Some(name));
        entry.text("title", title);
        entry.text("description", description);
        entry.text("mimeType", media_type);
        entry
    }

    fn prompt(&mut self, index: usize, prompt: &Prompt) -> Option<Definition> {
        let before = self.0.len();
        let place = self.named("prompts", index, &prompt.name);
        self.title(&format!("{place}.title"), prompt.title.as_deref());
        self.description(&format!("{place}.description"), prompt.description.as_deref());
        if prompt.arguments.len() > MOST_ARGUMENTS {
            self.add(format!("{place}.arguments"), format!("expected at most {MOST_ARGUMENTS}"));
            return None;
        }
        self.unique(
            &format!("{place}.arguments"),
            "name",
            prompt.arguments.iter().map(|argument| argument.name.as_str()),
        );
        let arguments: Vec<_> = prompt
            .arguments
            .iter()
            .enumerate()
            .map(|(index, argument)| self.argument(&place, index, argument))
            .collect();
        if self.0.len() != before {
            return None;
        }
        let mut entry = Entry::default();
        entry.text("title", prompt.title.as_deref());
        entry.text("description", prompt.description.as_deref());
        entry.raw("arguments", &format!("[{}]", arguments.join(",")));
        let values = |argument: &Argument| (argument.name.clone(), argument.values.clone());
        let suggestions = prompt.arguments.iter().map(values).collect();
        Some(Definition { suggestions, ..entry.definition(Kind::Prompt, &prompt.name) })
    }

    /// One argument of a prompt, as the list shows it.
    fn argument(&mut self, place: &str, index: usize, argument: &Argument) -> String {
        let place = self.named(&format!("{place}.arguments"), index, &argument.name);
        self.title(&format!("{place}.title"), argument.title.as_deref());
        self.description(&format!("{place}.description"), argument.description.as_deref());
        if argument.values.len() > MOST_VALUES {
            self.add(format!("{place}.values"), format!("expected at most {MOST_VALUES}"));
        }
        for value in argument.values.iter().filter(|value| !is_title(value)).take(1) {
            let value = clean(value, LONGEST_NAME);
            self.add(format!("{place}.values"), format!("“{value}”: {TITLE_EXPECTED}"));
        }
        self.unique(&format!("{place}.values"), "value", argument.values.iter().map(String::as_str));
        let mut entry = Entry::default();
        entry.text("name", Some(&argument.name));
        entry.text("title", argument.title.as_deref());
        entry.text("description", argument.description.as_deref());
        entry.raw("required", if argument.required { "true" } else { "false" });
        format!("{{{}}}", entry.0)
    }

    /// Where a thing with a name stands. A name that cannot be taken is not repeated.
    fn named(&mut self, list: &str, index: usize, name: &str) -> String {
        let letters = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
        if letters && (1..=LONGEST_NAME).contains(&name.len()) {
            return format!("{list}.{name}");
        }
        let place = format!("{list}[{index}]");
        self.add(format!("{place}.name"), format!("expected 1 to {LONGEST_NAME} of A-Z, a-z, 0-9, _ and -"));
        place
    }

    fn title(&mut self, field: &str, title: Option<&str>) {
        if title.is_some_and(|title| !is_title(title)) {
            self.add(field, TITLE_EXPECTED);
        }
    }

    fn required(&mut self, field: &str, text: &str) {
        if text.trim().is_empty() {
            self.add(field, "expected a description, which is what assistants choose by");
        }
        self.description(field, Some(text));
    }

    fn description(&mut self, field: &str, text: Option<&str>) {
        let Some(text) = text else { return };
        if text.chars().count() > LONGEST_DESCRIPTION {
            self.add(field, format!("expected at most {LONGEST_DESCRIPTION} characters"));
        }
        if let Some(sign) = text.chars().find(|c| !is_plain(*c)) {
            self.add(
                field,
                format!("the character U+{:04X} is not allowed: it is a control or cannot be seen", u32::from(sign)),
            );
        }
    }

    fn schema(&mut self, field: &str, text: &str, purpose: Purpose) -> Option<Schema> {
        match schema::check(text, purpose) {
            Ok(schema) => Some(schema),
            Err(problems) => {
                for problem in problems.into_iter().take(MOST_PROBLEMS) {
                    self.add(field, problem);
                }
                None
            }
        }
    }
}

const TITLE_EXPECTED: &str =
    "expected 1 to 128 characters on one line, without controls and characters that cannot be seen";

fn is_title(text: &str) -> bool {
    !text.trim().is_empty()
        && text.chars().count() <= LONGEST_TITLE
        && text.chars().all(|c| !c.is_control() && !is_format(c))
}

/// Whether a text is `type/subtype`, perhaps with parameters (RFC 9110 §8.3.1).
pub(super) fn is_media_type(text: &str) -> bool {
    let token = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
    };
    let (essence, parameters) = text.split_once(';').unwrap_or((text, ""));
    text.len() <= LONGEST_MEDIA_TYPE
        && essence
            .trim_end_matches([' ', '\t'])
            .split_once('/')
            .is_some_and(|(kind, subtype)| token(kind) && token(subtype))
        && parameters.bytes().all(|byte| (0x20..0x7f).contains(&byte))
}

/// The members of an entry, as JSON.
#[derive(Debug, Default)]
struct Entry(String);

impl Entry {
    fn text(&mut self, name: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.raw(name, &json::quoted(text));
        }
    }

    fn raw(&mut self, name: &str, value: &str) {
        let comma = if self.0.is_empty() { "" } else { "," };
        // Writing into memory cannot fail.
        let _ = write!(self.0, "{comma}\"{name}\":{value}");
    }

    /// The definition of something that only reads and has nothing of its own; the rest is filled in.
    fn definition(self, kind: Kind, name: &str) -> Definition {
        Definition {
            kind,
            name: name.to_owned(),
            entry: self.0,
            read_only: true,
            suggestions: Vec::new(),
            mirrored: Vec::new(),
        }
    }
}
