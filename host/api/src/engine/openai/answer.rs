//! What the model answered: the envelope of the API, then the model's own JSON, held against a schema.

use jsonschema::{ValidationError, Validator};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Model;
use crate::engine::{Cost, EngineError, Outcome};

/// Reads answers.
pub(super) struct Reader {
    schema: Validator,
}

#[derive(Deserialize)]
struct Envelope {
    choices: Vec<Choice>,
    #[serde(default)]
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    content: Option<String>,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    prompt_tokens: u32,
    #[serde(default)]
    completion_tokens: u32,
    #[serde(default)]
    prompt_tokens_details: Option<Details>,
}

#[derive(Deserialize)]
struct Details {
    #[serde(default)]
    cached_tokens: Option<u32>,
}

impl Reader {
    /// # Errors
    /// When our own schema does not compile.
    pub(super) fn new() -> Result<Self, ValidationError<'static>> {
        Ok(Self { schema: jsonschema::draft202012::options().should_validate_formats(true).build(&schema())? })
    }

    /// Reads an answer of a model.
    ///
    /// # Errors
    /// [`EngineError::Failed`] with what it cost, if it is of no use.
    pub(super) fn read(&self, answer: &[u8], model: &Model) -> Result<Outcome, EngineError> {
        let no_answer = || EngineError::failed("the model server's answer is not in the form of the API");
        let envelope: Envelope = serde_json::from_slice(answer).map_err(|_| no_answer())?;
        let cost = envelope.usage.map(|usage| cost(&usage, model)).unwrap_or_default();
        let failed = |reason: String| EngineError::Failed { reason, cost };
        let choice = envelope.choices.into_iter().next();
        let choice = choice.ok_or_else(|| failed("the model gave no answer".to_owned()))?;
        if choice.finish_reason.as_deref() == Some("length") {
            return Err(failed("the model's answer was cut off at the most tokens that it may have".to_owned()));
        }
        let text = choice.message.content.ok_or_else(|| failed("the model gave no answer".to_owned()))?;
        let metadata = self.metadata(&text).map_err(failed)?;
        Ok(Outcome { metadata, cost })
    }

    /// The model's JSON. What is wrong with it is told in the schema's words: the model may repeat what a third party wrote.
    fn metadata(&self, text: &str) -> Result<Map<String, Value>, String> {
        let value: Value =
            serde_json::from_str(unfenced(text)).map_err(|_| "the model's answer is no JSON".to_owned())?;
        if let Some(error) = self.schema.iter_errors(&value).next() {
            let place = error.schema_path().as_str().to_owned();
            return Err(format!("the model's answer does not fit its schema at {place}"));
        }
        let Value::Object(mut members) = value else { return Err("the model's answer is no JSON object".to_owned()) };
        members.insert("engine".to_owned(), json!("openai"));
        Ok(members)
    }
}

/// Many models put their JSON between marks of code, whatever they are told.
fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let inner = text.strip_prefix("```json").or_else(|| text.strip_prefix("```"));
    inner.and_then(|inner| inner.strip_suffix("```")).map_or(text, str::trim)
}

fn cost(usage: &Usage, model: &Model) -> Cost {
    let cached = usage.prompt_tokens_details.as_ref().and_then(|details| details.cached_tokens);
    let cached = cached.unwrap_or_default().min(usage.prompt_tokens);
    let (fresh, written) = (usage.prompt_tokens.saturating_sub(cached), usage.completion_tokens);
    let total = f64::from(fresh) * model.input_price
        + f64::from(cached) * model.cached_price.unwrap_or(model.input_price)
        + f64::from(written) * model.output_price;
    let tokens = f64::from(usage.prompt_tokens) + f64::from(written);
    Cost {
        input_tokens: fresh.into(),
        output_tokens: written.into(),
        cache_read: cached.into(),
        cache_write: 0,
        per_token: if tokens > 0.0 { total / tokens } else { 0.0 },
        total,
    }
}

fn schema() -> Value {
    let scalar = json!({ "type": ["string", "number", "boolean", "null"], "maxLength": 4_000 });
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["kind", "summary"],
        "properties": {
            "kind": { "type": "string", "minLength": 1, "maxLength": 64 },
            "summary": { "type": "string", "minLength": 1, "maxLength": 2_000 },
            "amount": { "type": ["string", "null"], "pattern": "^[0-9]{1,15}(?:\\.[0-9]{1,4})?$" },
            "due_date": { "type": ["string", "null"], "format": "date" },
            "document_number": { "type": ["string", "null"], "maxLength": 64 },
            "fields": {
                "type": "object",
                "maxProperties": 100,
                "propertyNames": { "maxLength": 64 },
                "additionalProperties": { "anyOf": [scalar, { "type": "array", "maxItems": 200, "items": scalar }] },
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: Model = Model { name: None, input_price: 0.5, cached_price: Some(0.25), output_price: 2.0 };

    fn read(content: Value, finish_reason: &str) -> Result<Outcome, EngineError> {
        let answer = json!({
            "choices": [{ "message": { "role": "assistant", "content": content }, "finish_reason": finish_reason }],
            "usage": { "prompt_tokens": 10, "completion_tokens": 3, "prompt_tokens_details": { "cached_tokens": 4 } },
        });
        Reader::new().unwrap().read(answer.to_string().as_bytes(), &MODEL)
    }

    fn failure(outcome: Result<Outcome, EngineError>) -> String {
        match outcome.unwrap_err() {
            EngineError::Failed { reason, cost } => {
                assert_eq!(cost.total, 10.0);
                reason
            }
            EngineError::Retry { .. } => panic!("it will not get better"),
        }
    }

    #[test]
    fn a_good_answer_is_kept_with_what_it_cost() {
        let text =
            "{\"kind\":\"boleto\",\"summary\":\"x\",\"due_date\":\"2026-08-05\",\"fields\":{\"cnpj\":[\"1\",null]}}";
        for text in [text.to_owned(), format!(" ```json\n{text}\n```\n")] {
            let outcome = read(json!(text), "stop").unwrap();
            assert_eq!(outcome.metadata["engine"], "openai");
            assert_eq!(outcome.metadata["fields"]["cnpj"][0], "1");
            let cost = outcome.cost;
            assert_eq!((cost.input_tokens, cost.cache_read, cost.output_tokens), (6, 4, 3));
            assert_eq!((cost.total, cost.per_token), (10.0, 10.0 / 13.0));
        }
    }

    #[test]
    fn nonsense_fails_and_costs_all_the_same() {
        assert!(failure(read(json!("Sure! Here it is"), "stop")).contains("no JSON"));
        assert!(failure(read(json!("[]"), "stop")).contains("schema"));
        assert!(failure(read(json!("{\"kind\":\"x\"}"), "stop")).contains("required"));
        assert!(
            failure(read(json!("{\"kind\":\"x\",\"summary\":\"x\",\"due_date\":\"soon\"}"), "stop"))
                .contains("due_date")
        );
        assert!(
            failure(read(json!("{\"kind\":\"x\",\"summary\":\"x\",\"run\":\"rm\"}"), "stop")).contains("additional")
        );
        assert!(failure(read(json!("{\"kind\":\"x\""), "length")).contains("cut off"));
        assert!(failure(read(Value::Null, "stop")).contains("no answer"));
        let secret = failure(read(json!("{\"kind\":1,\"summary\":\"segredo\"}"), "stop"));
        assert!(!secret.contains("segredo"));
    }

    #[test]
    fn what_is_no_answer_of_the_api_fails() {
        for text in ["", "<html>", "{}", "{\"choices\":{}}", "{\"choices\":[{}]}"] {
            let outcome = Reader::new().unwrap().read(text.as_bytes(), &MODEL);
            assert!(matches!(outcome, Err(EngineError::Failed { .. })), "{text}");
        }
    }
}
