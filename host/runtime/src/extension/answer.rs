//! What an extension answers: from the generated types to those that cross the dispatch interface, checked on the way.
//!
//! Checked is what everybody relies on who carries it on: JSON is JSON, numbers are numbers, keys are unique. What the
//! protocol asks of names, schemas and URIs is the protocol's to check.

use std::collections::HashSet;

use kobana_wire::extension as wire;

use super::bindings::kobana::extension::types as wit;
use super::json;
use super::sandbox::Context;

/// What is wrong with an answer: which field of it, and why.
type Checked<T> = Result<T, String>;

pub(super) fn description(description: wit::Description) -> Checked<wire::Description> {
    let wit::Description { name, version, title, description, scopes, tools, resources, resource_templates, prompts } =
        description;
    Ok(wire::Description {
        name,
        version,
        title,
        description,
        scopes,
        tools: tools.into_iter().enumerate().map(|(index, item)| tool(index, item)).collect::<Checked<_>>()?,
        resources: resources.into_iter().map(resource).collect(),
        resource_templates: resource_templates.into_iter().map(resource_template).collect(),
        prompts: prompts.into_iter().map(prompt).collect(),
    })
}

fn tool(index: usize, tool: wit::Tool) -> Checked<wire::Tool> {
    let wit::Tool { name, title, description, input_schema, output_schema, hints } = tool;
    let wit::Hints { read_only, destructive, idempotent, open_world } = hints;
    json_at(|| format!("tools[{index}].input_schema"), &input_schema)?;
    if let Some(schema) = &output_schema {
        json_at(|| format!("tools[{index}].output_schema"), schema)?;
    }
    let hints = wire::Hints { read_only, destructive, idempotent, open_world };
    Ok(wire::Tool { name, title, description, input_schema, output_schema, hints })
}

fn resource(resource: wit::Resource) -> wire::Resource {
    let wit::Resource { uri, name, title, description, media_type } = resource;
    wire::Resource { uri, name, title, description, media_type }
}

fn resource_template(template: wit::ResourceTemplate) -> wire::ResourceTemplate {
    let wit::ResourceTemplate { uri_template, name, title, description, media_type } = template;
    wire::ResourceTemplate { uri_template, name, title, description, media_type }
}

fn prompt(prompt: wit::Prompt) -> wire::Prompt {
    let wit::Prompt { name, title, description, arguments } = prompt;
    let argument = |argument: wit::Argument| {
        let wit::Argument { name, title, description, required, values } = argument;
        wire::Argument { name, title, description, required, values }
    };
    wire::Prompt { name, title, description, arguments: arguments.into_iter().map(argument).collect() }
}

pub(super) fn tool_outcome(outcome: wit::ToolOutcome) -> Checked<wire::Outcome> {
    match outcome {
        wit::ToolOutcome::Complete(result) => tool_result(result, false),
        wit::ToolOutcome::Error(result) => tool_result(result, true),
        wit::ToolOutcome::InputRequired(input) => input_required(input),
    }
}

fn tool_result(result: wit::ToolResult, is_error: bool) -> Checked<wire::Outcome> {
    let wit::ToolResult { content, structured } = result;
    if let Some(structured) = &structured {
        json_at(|| "structured".to_owned(), structured)?;
    }
    let content = content.into_iter().enumerate().map(|(index, item)| block(|| format!("content[{index}]"), item));
    Ok(wire::Outcome::Tool { content: content.collect::<Checked<_>>()?, structured, is_error })
}

pub(super) fn resource_outcome(outcome: wit::ResourceOutcome) -> Checked<wire::Outcome> {
    match outcome {
        wit::ResourceOutcome::Complete(documents) => {
            Ok(wire::Outcome::Documents(documents.into_iter().map(document).collect()))
        }
        wit::ResourceOutcome::Missing => Ok(wire::Outcome::Missing),
        wit::ResourceOutcome::InputRequired(input) => input_required(input),
    }
}

/// An error is about the arguments: it reads as the API's `validation_failed`.
pub(super) fn prompt_outcome(outcome: wit::PromptOutcome) -> Checked<wire::Outcome> {
    match outcome {
        wit::PromptOutcome::Complete(wit::PromptResult { description, messages }) => {
            let messages = messages.into_iter().enumerate().map(|(index, message)| {
                let wit::Message { role: by, block: said } = message;
                let block = block(|| format!("messages[{index}].block"), said)?;
                Ok(wire::Message { role: role(by), block })
            });
            Ok(wire::Outcome::Prompt { description, messages: messages.collect::<Checked<_>>()? })
        }
        wit::PromptOutcome::Error(message) => {
            let error = serde_json::json!({"error": {
                "code": "validation_failed",
                "message": "Some arguments are missing or wrong; see details",
                "details": {"field_errors": {}, "form_errors": [message]},
            }});
            Ok(wire::Outcome::Invalid(error.to_string()))
        }
        wit::PromptOutcome::InputRequired(input) => input_required(input),
    }
}

fn input_required(input: wit::InputRequired) -> Checked<wire::Outcome> {
    let wit::InputRequired { requests, state } = input;
    let mut keys = HashSet::new();
    for (index, request) in requests.iter().enumerate() {
        if !keys.insert(request.key.as_str()) {
            return Err(format!("requests[{index}].key: it is not unique"));
        }
        match &request.question {
            wit::Question::Form(form) => json_at(|| format!("requests[{index}].form.schema"), &form.schema)?,
            wit::Question::Sampling(parameters) => json_at(|| format!("requests[{index}].sampling"), parameters)?,
            wit::Question::Visit(_) | wit::Question::Roots => (),
        }
    }
    let requests = requests.into_iter().map(|request| (request.key, question(request.question))).collect();
    Ok(wire::Outcome::InputRequired(wire::InputRequired { requests, state }))
}

fn question(question: wit::Question) -> wire::Question {
    match question {
        wit::Question::Form(wit::Form { message, schema }) => wire::Question::Form { message, schema },
        wit::Question::Visit(wit::Visit { message, url, id }) => wire::Question::Visit { message, url, id },
        wit::Question::Sampling(parameters) => wire::Question::Sampling(parameters),
        wit::Question::Roots => wire::Question::Roots,
    }
}

fn block(at: impl FnOnce() -> String, block: wit::Block) -> Checked<wire::Block> {
    let wit::Block { content, annotations } = block;
    let content = match content {
        wit::Content::Text(text) => wire::Content::Text(text),
        wit::Content::Image(picture) => wire::Content::Image(media(picture)),
        wit::Content::Audio(sound) => wire::Content::Audio(media(sound)),
        wit::Content::Link(link) => wire::Content::Link(resource(link)),
        wit::Content::Document(item) => wire::Content::Document(document(item)),
    };
    Ok(wire::Block { content, annotations: annotations.map(|item| annotated(at, item)).transpose()? })
}

fn annotated(at: impl FnOnce() -> String, annotations: wit::Annotations) -> Checked<wire::Annotations> {
    let wit::Annotations { audience, priority, last_modified } = annotations;
    if priority.is_some_and(|priority| !(0.0..=1.0).contains(&priority)) {
        return Err(format!("{}.annotations.priority: it is not a number from 0 to 1", at()));
    }
    Ok(wire::Annotations { audience: audience.into_iter().map(role).collect(), priority, last_modified })
}

fn media(media: wit::Media) -> wire::Media {
    let wit::Media { data, media_type } = media;
    wire::Media { data, media_type }
}

fn document(document: wit::Document) -> wire::Document {
    let wit::Document { uri, media_type, body } = document;
    let body = match body {
        wit::DocumentBody::Text(text) => wire::DocumentBody::Text(text),
        wit::DocumentBody::Blob(bytes) => wire::DocumentBody::Blob(bytes),
    };
    wire::Document { uri, media_type, body }
}

fn role(role: wit::Role) -> wire::Role {
    match role {
        wit::Role::User => wire::Role::User,
        wit::Role::Assistant => wire::Role::Assistant,
    }
}

fn json_at(at: impl FnOnce() -> String, text: &str) -> Checked<()> {
    json::check(text).map_err(|problem| format!("{}: it is not JSON: {problem}", at()))
}

/// What comes with a question, for the extension.
pub(super) fn context(context: Context) -> wit::Context {
    let Context { client: wire::Client { form, url, sampling, roots }, answers } = context;
    let answers = answers.map(|wire::Answers { state, responses }| wit::Answers { state, responses });
    wit::Context { client: wit::Client { form, url, sampling, roots }, answers }
}
