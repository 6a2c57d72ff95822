//! What came of a call, in the words of the cases file and in the form of the protocol.

use kobana_protocol::extensions;
use kobana_wire::extension::{
    Block, Client, Content, Document, DocumentBody, InputRequired, Message, Outcome, Question, Stopped,
};
use serde_json::{Map, Value};

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
        let shown = extensions::result(outcome).map(|members| members.map(|members| parsed(&members)));
        // As in the protocol: what cannot be asked is told before what is wrong with the questions.
        if let Outcome::InputRequired(required) = outcome
            && let Some(text) = unanswerable(required, client)
        {
            let result = shown.and_then(Result::ok).map_or(Value::Null, Value::Object);
            return Self { result, ..Self::plain(Expected::Unanswerable, &text) };
        }
        let result = match shown {
            Some(Ok(result)) => result,
            Some(Err(flawed)) => return Self::stopped(&flawed),
            None => Map::new(),
        };
        match outcome {
            Outcome::Tool { content, structured, is_error } => tool(content, structured.as_deref(), *is_error, result),
            Outcome::Documents(documents) => documents_read(documents, result),
            Outcome::Prompt { messages, .. } => prompt(messages, result),
            Outcome::InputRequired(required) => asked(required, result),
            // What is run is never only checked.
            Outcome::Missing | Outcome::Checked => Self::plain(Expected::Missing, "there is nothing of this name"),
            Outcome::Invalid(problem) => Self {
                result: serde_json::from_str(problem).unwrap_or(Value::Null),
                ..Self::plain(Expected::Invalid, problem)
            },
            Outcome::Stopped(stopped) => Self::stopped(stopped),
        }
    }

    fn stopped(stopped: &Stopped) -> Self {
        Self::plain(Expected::Stopped(Some(reason(stopped))), &stopped.message)
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

fn tool(content: &[Block], structured: Option<&str>, is_error: bool, mut result: Map<String, Value>) -> Answer {
    // The protocol leaves it out where it is false; a case may name it all the same.
    result.insert("isError".to_owned(), Value::from(is_error));
    let types = types(result.get("content").and_then(Value::as_array).into_iter().flatten());
    let outcome = if is_error { Expected::Error } else { Expected::Complete };
    let structured = structured.and_then(|text| serde_json::from_str(text).ok());
    Answer { outcome, text: texts(content), structured, types, result: Value::Object(result) }
}

fn documents_read(documents: &[Document], result: Map<String, Value>) -> Answer {
    let texts = documents.iter().filter_map(|document| match &document.body {
        DocumentBody::Text(text) => Some(text.as_str()),
        DocumentBody::Blob(_) => None,
    });
    let text = texts.collect::<Vec<_>>().join("\n");
    Answer { text, result: Value::Object(result), ..Answer::plain(Expected::Complete, "") }
}

fn prompt(messages: &[Message], result: Map<String, Value>) -> Answer {
    let said: Vec<_> = messages.iter().map(|message| message.block.clone()).collect();
    let shown = result.get("messages").and_then(Value::as_array).into_iter().flatten();
    let types = types(shown.filter_map(|message| message.get("content")));
    Answer { text: texts(&said), types, result: Value::Object(result), ..Answer::plain(Expected::Complete, "") }
}

fn asked(required: &InputRequired, result: Map<String, Value>) -> Answer {
    let result = Value::Object(result);
    Answer { text: said(required), result, ..Answer::plain(Expected::InputRequired, "") }
}

/// The members of a result, which the protocol has written.
fn parsed(members: &str) -> Map<String, Value> {
    serde_json::from_str(&format!("{{{members}}}")).unwrap_or_default()
}

/// Why the client cannot be asked, if it cannot.
fn unanswerable(required: &InputRequired, client: Client) -> Option<String> {
    let (key, ability) = required.requests.iter().find_map(|(key, question)| Some((key, unable(question, client)?)))?;
    Some(format!("{key:?} asks for {ability}, which the client does not offer"))
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

fn texts(blocks: &[Block]) -> String {
    let texts = blocks.iter().filter_map(|block| match &block.content {
        Content::Text(text) => Some(text.as_str()),
        Content::Document(Document { body: DocumentBody::Text(text), .. }) => Some(text.as_str()),
        Content::Image(_) | Content::Audio(_) | Content::Link(_) | Content::Document(_) => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn types<'a>(blocks: impl Iterator<Item = &'a Value>) -> Vec<String> {
    blocks.filter_map(|block| block.get("type")?.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use kobana_wire::extension::{Annotations, Media, Resource, Role};
    use serde_json::json;

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
        let form =
            Question::Form { message: "How much?".into(), schema: r#"{"type":"object","properties":{}}"#.into() };
        let requests = vec![("amount".to_owned(), form), ("where".to_owned(), Question::Roots)];
        let outcome = Outcome::InputRequired(InputRequired { requests, state: None });
        let answer = Answer::of(&outcome, EVERYTHING);
        assert_eq!((answer.outcome, answer.text.as_str()), (Expected::InputRequired, "How much?"));
        let params =
            json!({"mode": "form", "message": "How much?", "requestedSchema": {"type": "object", "properties": {}}});
        assert_eq!(answer.result["inputRequests"]["amount"], json!({"method": "elicitation/create", "params": params}));
        let answer = Answer::of(&outcome, Client { roots: false, ..EVERYTHING });
        assert_eq!(answer.outcome, Expected::Unanswerable);
        assert_eq!(answer.text, "\"where\" asks for roots, which the client does not offer");
    }

    #[test]
    fn what_a_server_would_not_pass_on_is_no_answer() {
        let form = Question::Form { message: "How much?".into(), schema: "{}".into() };
        let required = InputRequired { requests: vec![("amount".to_owned(), form)], state: None };
        let flawed = [Outcome::InputRequired(required.clone()), Outcome::Documents(Vec::new())];
        for outcome in flawed {
            let answer = Answer::of(&outcome, EVERYTHING);
            assert_eq!(answer.outcome, Expected::Stopped(Some("invalid_answer".to_owned())), "{}", answer.text);
        }
        let answer = Answer::of(&Outcome::InputRequired(required), Client::default());
        assert_eq!(answer.outcome, Expected::Unanswerable);
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
