//! What is asked of a client, and what came back.

use serde_json::{Value, json};

use crate::bindings::kobana::extension::types::{Context, Form, InputRequest, InputRequired, Question};

/// A form with one text to fill in.
pub(crate) fn text_form(key: &str, message: &str, field: &str) -> InputRequest {
    form(key, message, &json!({"type": "object", "properties": {field: {"type": "string"}}, "required": [field]}))
}

/// A form with one box to tick.
pub(crate) fn yes_form(key: &str, message: &str) -> InputRequest {
    form(key, message, &json!({"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}))
}

pub(crate) fn form(key: &str, message: &str, schema: &Value) -> InputRequest {
    request(key, Question::Form(Form { message: message.to_owned(), schema: schema.to_string() }))
}

/// A text for the client's model to make.
pub(crate) fn sampling(key: &str, prompt: &str, max_tokens: u32) -> InputRequest {
    let message = json!({"role": "user", "content": {"type": "text", "text": prompt}});
    request(key, Question::Sampling(json!({"messages": [message], "maxTokens": max_tokens}).to_string()))
}

pub(crate) fn roots(key: &str) -> InputRequest {
    request(key, Question::Roots)
}

fn request(key: &str, question: Question) -> InputRequest {
    InputRequest { key: key.to_owned(), question }
}

pub(crate) fn ask(requests: Vec<InputRequest>, state: Option<&str>) -> InputRequired {
    InputRequired { requests, state: state.map(|state| state.as_bytes().to_vec()) }
}

/// The state that came back with the answers.
pub(crate) fn state(context: &Context) -> Option<&str> {
    str::from_utf8(context.answers.as_ref()?.state.as_deref()?).ok()
}

/// The answer to a question, whatever it is.
pub(crate) fn answer(context: &Context, key: &str) -> Option<Value> {
    let responses = &context.answers.as_ref()?.responses;
    let (_, json) = responses.iter().find(|(name, _)| name == key)?;
    serde_json::from_str(json).ok()
}

/// The text that somebody filled in.
pub(crate) fn filled_in(context: &Context, key: &str, field: &str) -> Option<String> {
    let answer = answer(context, key)?;
    let accepted = answer.get("action")? == "accept";
    answer.get("content")?.get(field)?.as_str().filter(|_| accepted).map(str::to_owned)
}

/// The box that somebody ticked.
pub(crate) fn ticked(context: &Context, key: &str) -> bool {
    let answer = answer(context, key).unwrap_or_default();
    answer.get("action") == Some(&json!("accept")) && answer.pointer("/content/ok") == Some(&json!(true))
}

/// The text that the client's model made.
pub(crate) fn sampled(context: &Context, key: &str) -> Option<String> {
    answer(context, key)?.get("content")?.get("text")?.as_str().map(str::to_owned)
}

/// The URIs of the client's folders.
pub(crate) fn folders(context: &Context, key: &str) -> Option<Vec<String>> {
    let roots = answer(context, key)?;
    let uri = |root: &Value| root.get("uri").and_then(Value::as_str).map(str::to_owned);
    roots.get("roots")?.as_array()?.iter().map(uri).collect()
}
