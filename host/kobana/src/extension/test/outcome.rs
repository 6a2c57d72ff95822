//! What came of a call, in the words of the cases file and in the form of the protocol.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kobana_wire::extension::{
    Annotations, Block, Client, Content, Document, DocumentBody, InputRequired, Media, Message, Outcome, Question,
    Resource, Role, Stopped,
};
use serde_json::{Map, Value, json};

use super::cases::Expected;

/// What came of a call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Answer {
    /// How it ended.
    pub(super) outcome: Expected,
    /// All pieces of text, one below the other; why it was refused or stopped, if it was.
    pub(super) text: String,
    /// The structured result.
    pub(super) structured: Option<Value>,
    /// The types of the pieces of content.
    pub(super) types: Vec<String>,
    /// The result as the protocol shows it (protocol.md §9.3, §10.2, §11.2, §15.1).
    pub(super) result: Value,
}

impl Answer {
    /// Reads an outcome; `client` is what could be asked.
    pub(super) fn of(outcome: &Outcome, client: Client) -> Self {
        match outcome {
            Outcome::Tool { content, structured, is_error } => tool(content, structured.as_deref(), *is_error),
            Outcome::Documents(documents) => documents_read(documents),
            Outcome::Prompt { description, messages } => prompt(description.as_deref(), messages),
            Outcome::InputRequired(required) => asked(required, client),
            // What is run is never only checked.
            Outcome::Missing | Outcome::Checked => Self::plain(Expected::Missing, "there is nothing of this name"),
            Outcome::Invalid(problem) => Self {
                result: serde_json::from_str(problem).unwrap_or(Value::Null),
                ..Self::plain(Expected::Invalid, problem)
            },
            Outcome::Stopped(stopped) => Self::plain(Expected::Stopped(Some(reason(stopped))), &stopped.message),
        }
    }

    /// An answer without content.
    pub(super) fn plain(outcome: Expected, text: &str) -> Self {
        Self { outcome, text: text.to_owned(), structured: None, types: Vec::new(), result: Value::Null }
    }
}

/// In one word why an extension was stopped: the setting of the limit, or what the error code says.
pub(super) fn reason(stopped: &Stopped) -> String {
    match &stopped.limit {
        Some(setting) => setting.rsplit('.').next().unwrap_or(setting).to_owned(),
        None => stopped.code.trim_start_matches("extension_").to_owned(),
    }
}

fn tool(content: &[Block], structured: Option<&str>, is_error: bool) -> Answer {
    let structured: Option<Value> = structured.and_then(|text| serde_json::from_str(text).ok());
    let blocks: Vec<_> = content.iter().map(block).collect();
    let mut result = Map::from_iter([
        ("content".to_owned(), Value::from(blocks.clone())),
        ("isError".to_owned(), Value::from(is_error)),
    ]);
    result.extend(structured.clone().map(|value| ("structuredContent".to_owned(), value)));
    let outcome = if is_error { Expected::Error } else { Expected::Complete };
    Answer { outcome, text: texts(content), structured, types: types(&blocks), result: Value::Object(result) }
}

fn documents_read(documents: &[Document]) -> Answer {
    let texts = documents.iter().filter_map(|document| match &document.body {
        DocumentBody::Text(text) => Some(text.as_str()),
        DocumentBody::Blob(_) => None,
    });
    let contents: Vec<_> = documents.iter().map(document).collect();
    Answer {
        text: texts.collect::<Vec<_>>().join("\n"),
        result: json!({ "contents": contents }),
        ..Answer::plain(Expected::Complete, "")
    }
}

fn prompt(description: Option<&str>, messages: &[Message]) -> Answer {
    let said: Vec<_> = messages.iter().map(|message| message.block.clone()).collect();
    let blocks: Vec<_> = said.iter().map(block).collect();
    let messages: Vec<_> = messages
        .iter()
        .zip(&blocks)
        .map(|(message, content)| json!({ "role": role(message.role), "content": content }))
        .collect();
    let mut result = Map::from_iter([("messages".to_owned(), Value::from(messages))]);
    result.extend(description.map(|text| ("description".to_owned(), Value::from(text))));
    let types = types(&blocks);
    Answer { text: texts(&said), types, result: Value::Object(result), ..Answer::plain(Expected::Complete, "") }
}

fn asked(required: &InputRequired, client: Client) -> Answer {
    let requests = required.requests.iter().map(|(key, question)| (key.clone(), request(question)));
    let result = json!({ "inputRequests": Value::Object(requests.collect()) });
    let unable = required.requests.iter().find_map(|(key, question)| Some((key, unable(question, client)?)));
    match unable {
        Some((key, ability)) => {
            let text = format!("{key:?} asks for {ability}, which the client does not offer");
            Answer { result, ..Answer::plain(Expected::Unanswerable, &text) }
        }
        None => Answer { text: said(required), result, ..Answer::plain(Expected::InputRequired, "") },
    }
}

/// What the questions say, one below the other.
fn said(required: &InputRequired) -> String {
    let messages = required.requests.iter().filter_map(|(_, question)| match question {
        Question::Form { message, .. } | Question::Visit { message, .. } => Some(message.as_str()),
        Question::Sampling(_) | Question::Roots => None,
    });
    messages.collect::<Vec<_>>().join("\n")
}

/// The ability that a client lacks for a question.
const fn unable(question: &Question, client: Client) -> Option<&'static str> {
    match question {
        Question::Form { .. } if !client.form => Some("form"),
        Question::Visit { .. } if !client.url => Some("url"),
        Question::Sampling(_) if !client.sampling => Some("sampling"),
        Question::Roots if !client.roots => Some("roots"),
        _ => None,
    }
}

fn request(question: &Question) -> Value {
    match question {
        Question::Form { message, schema } => {
            let params = json!({ "mode": "form", "message": message, "requestedSchema": parsed(schema) });
            json!({ "method": "elicitation/create", "params": params })
        }
        Question::Visit { message, url, id } => {
            let params = json!({ "mode": "url", "message": message, "url": url, "elicitationId": id });
            json!({ "method": "elicitation/create", "params": params })
        }
        Question::Sampling(params) => json!({ "method": "sampling/createMessage", "params": parsed(params) }),
        Question::Roots => json!({ "method": "roots/list" }),
    }
}

/// A JSON document; as text, where it is none.
fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
}

fn texts(blocks: &[Block]) -> String {
    let texts = blocks.iter().filter_map(|block| match &block.content {
        Content::Text(text) => Some(text.as_str()),
        Content::Document(Document { body: DocumentBody::Text(text), .. }) => Some(text.as_str()),
        Content::Image(_) | Content::Audio(_) | Content::Link(_) | Content::Document(_) => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn types(blocks: &[Value]) -> Vec<String> {
    blocks.iter().filter_map(|block| block.get("type")?.as_str().map(str::to_owned)).collect()
}

fn block(block: &Block) -> Value {
    let mut value = match &block.content {
        Content::Text(text) => json!({ "type": "text", "text": text }),
        Content::Image(media) => self::media("image", media),
        Content::Audio(media) => self::media("audio", media),
        Content::Link(resource) => link(resource),
        Content::Document(document) => json!({ "type": "resource", "resource": self::document(document) }),
    };
    if let (Some(annotations), Some(object)) = (&block.annotations, value.as_object_mut()) {
        object.insert("annotations".to_owned(), self::annotations(annotations));
    }
    value
}

fn media(kind: &str, media: &Media) -> Value {
    json!({ "type": kind, "data": STANDARD.encode(&media.data), "mimeType": media.media_type })
}

fn link(resource: &Resource) -> Value {
    present([
        ("type", Some(Value::from("resource_link"))),
        ("uri", Some(Value::from(resource.uri.as_str()))),
        ("name", Some(Value::from(resource.name.as_str()))),
        ("title", resource.title.as_deref().map(Value::from)),
        ("description", resource.description.as_deref().map(Value::from)),
        ("mimeType", resource.media_type.as_deref().map(Value::from)),
    ])
}

fn document(document: &Document) -> Value {
    let body = match &document.body {
        DocumentBody::Text(text) => ("text", Some(Value::from(text.as_str()))),
        DocumentBody::Blob(bytes) => ("blob", Some(Value::from(STANDARD.encode(bytes)))),
    };
    let uri = Some(Value::from(document.uri.as_str()));
    present([("uri", uri), ("mimeType", document.media_type.as_deref().map(Value::from)), body])
}

fn annotations(annotations: &Annotations) -> Value {
    let audience: Vec<_> = annotations.audience.iter().copied().map(role).collect();
    present([
        ("audience", (!audience.is_empty()).then(|| Value::from(audience))),
        ("priority", annotations.priority.map(Value::from)),
        ("lastModified", annotations.last_modified.as_deref().map(Value::from)),
    ])
}

const fn role(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
    }
}

/// An object of the members that there are.
fn present<const N: usize>(members: [(&str, Option<Value>); N]) -> Value {
    let there = members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(there.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extension::test::cases::EVERYTHING;

    fn said(content: Content) -> Block {
        Block { content, annotations: None }
    }

    fn resource() -> Resource {
        Resource {
            uri: "risk://policy".into(),
            name: "policy".into(),
            title: None,
            description: Some("What counts".into()),
            media_type: None,
        }
    }

    #[test]
    fn a_result_looks_as_the_protocol_shows_it() {
        let annotations = Annotations { audience: vec![Role::User], priority: Some(0.5), last_modified: None };
        let document = Document { uri: "a:b".into(), media_type: None, body: DocumentBody::Blob(vec![1, 2]) };
        let content = vec![
            Block { content: Content::Text("one".into()), annotations: Some(annotations) },
            said(Content::Image(Media { data: vec![0], media_type: "image/png".into() })),
            said(Content::Link(resource())),
            said(Content::Document(document)),
            said(Content::Text("two".into())),
        ];
        let outcome = Outcome::Tool { content, structured: Some("{\"score\":7}".into()), is_error: true };
        let answer = Answer::of(&outcome, EVERYTHING);
        assert_eq!((answer.outcome, answer.text.as_str()), (Expected::Error, "one\ntwo"));
        assert_eq!(answer.types, ["text", "image", "resource_link", "resource", "text"]);
        assert_eq!(answer.structured, Some(json!({"score": 7})));
        assert_eq!(
            answer.result,
            json!({
                "content": [
                    {"type": "text", "text": "one", "annotations": {"audience": ["user"], "priority": 0.5}},
                    {"type": "image", "data": "AA==", "mimeType": "image/png"},
                    {"type": "resource_link", "uri": "risk://policy", "name": "policy", "description": "What counts"},
                    {"type": "resource", "resource": {"uri": "a:b", "blob": "AQI="}},
                    {"type": "text", "text": "two"},
                ],
                "structuredContent": {"score": 7},
                "isError": true,
            })
        );
    }

    #[test]
    fn documents_and_messages_are_read_too() {
        let document =
            Document { uri: "a:b".into(), media_type: Some("text/plain".into()), body: DocumentBody::Text("t".into()) };
        let answer = Answer::of(&Outcome::Documents(vec![document]), EVERYTHING);
        assert_eq!(answer.result, json!({"contents": [{"uri": "a:b", "mimeType": "text/plain", "text": "t"}]}));
        assert_eq!(answer.text, "t");
        let messages = vec![Message { role: Role::Assistant, block: said(Content::Text("hello".into())) }];
        let answer = Answer::of(&Outcome::Prompt { description: None, messages }, EVERYTHING);
        assert_eq!(
            answer.result,
            json!({"messages": [{"role": "assistant", "content": {"type": "text", "text": "hello"}}]})
        );
        assert_eq!((answer.types, answer.outcome), (vec!["text".to_owned()], Expected::Complete));
    }

    #[test]
    fn a_client_is_asked_only_what_it_can_be_asked() {
        let form = Question::Form { message: "How much?".into(), schema: "{\"type\":\"object\"}".into() };
        let requests = vec![("amount".to_owned(), form), ("where".to_owned(), Question::Roots)];
        let outcome = Outcome::InputRequired(InputRequired { requests, state: None });
        let answer = Answer::of(&outcome, EVERYTHING);
        assert_eq!((answer.outcome, answer.text.as_str()), (Expected::InputRequired, "How much?"));
        let params = json!({"mode": "form", "message": "How much?", "requestedSchema": {"type": "object"}});
        assert_eq!(answer.result["inputRequests"]["amount"], json!({"method": "elicitation/create", "params": params}));
        let answer = Answer::of(&outcome, Client { roots: false, ..EVERYTHING });
        assert_eq!(answer.outcome, Expected::Unanswerable);
        assert_eq!(answer.text, "\"where\" asks for roots, which the client does not offer");
    }

    #[test]
    fn a_stop_has_the_name_of_its_limit_or_of_its_error() {
        let stopped = |code: &str, limit: Option<&str>| {
            reason(&Stopped {
                code: code.into(),
                message: String::new(),
                limit: limit.map(str::to_owned),
                retry_after: None,
            })
        };
        assert_eq!(stopped("extension_limit", Some("time_ms")), "time_ms");
        assert_eq!(stopped("extension_limit", Some("extensions.limits.fuel")), "fuel");
        assert_eq!(stopped("extension_trap", None), "trap");
        assert_eq!(stopped("extension_invalid_answer", None), "invalid_answer");
    }
}
