//! Reading the query: text in the URL becomes JSON of the types that the schema asks for.

use kobana_contract::operation::properties;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use crate::problems::Problems;

/// The parameters as a JSON object. Text that does not fit its type stays text, which the schema then refuses.
pub(crate) fn parse(query: &str, schema: &Value, problems: &mut Problems) -> Map<String, Value> {
    let mut parameters = Map::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, text) = pair.split_once('=').unwrap_or((pair, ""));
        let (Some(name), Some(text)) = (decoded(name), decoded(text)) else {
            problems.form("the query is not percent-encoded UTF-8");
            continue;
        };
        let Some(shape) = properties(schema).and_then(|members| members.get(&name)) else {
            problems.unknown(&name);
            continue;
        };
        if parameters.insert(name.clone(), typed(text, shape)).is_some() {
            problems.field(&name, "must not come twice");
        }
    }
    parameters
}

fn decoded(text: &str) -> Option<String> {
    let spaced = text.replace('+', " ");
    percent_decode_str(&spaced).decode_utf8().ok().map(std::borrow::Cow::into_owned)
}

fn typed(text: String, shape: &Value) -> Value {
    let digits = text.strip_prefix('-').unwrap_or(&text);
    let is_integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    match (shape.get("type").and_then(Value::as_str), is_integer.then(|| text.parse::<i64>())) {
        (Some("integer"), Some(Ok(number))) => Value::from(number),
        _ => Value::String(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(query: &str) -> (Value, Problems) {
        let schema = json!({ "properties": { "limit": { "type": "integer" }, "q": { "type": "string" } } });
        let mut problems = Problems::default();
        let parameters = parse(query, &schema, &mut problems);
        (Value::Object(parameters), problems)
    }

    #[test]
    fn numbers_become_numbers_and_the_rest_stays_text() {
        assert_eq!(read("limit=10&q=10").0, json!({ "limit": 10, "q": "10" }));
        for text in ["10.5", "1e2", "+5", "", "0x10", "true", "1000000000000000000000000000000"] {
            assert!(read(&format!("limit={text}")).0["limit"].is_string(), "{text}");
        }
        assert_eq!(read("limit=-1").0, json!({ "limit": -1 }));
    }

    #[test]
    fn escapes_and_plus_are_decoded_once() {
        assert_eq!(read("q=cobran%C3%A7a+em%20atraso%2B%2525").0, json!({ "q": "cobrança em atraso+%25" }));
        assert!(!read("q=%FF").1.is_empty());
    }

    #[test]
    fn repeated_and_unknown_parameters_are_problems() {
        assert_eq!(read("limit=1&limit=1").1, Problems::of_field("limit", "must not come twice"));
        assert_eq!(read("Limit=1").1, Problems::of_field("Limit", "is not accepted here"));
        assert!(read("&&").1.is_empty());
    }
}
