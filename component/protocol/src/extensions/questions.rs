//! What extensions ask of a client before they go on (protocol.md §15.1, §15.2).

use std::collections::BTreeSet;

use kobana_wire::extension::{Client, Question};
use serde_json::Value;

use super::address;
use super::content::Flaw;
use crate::json;
use crate::text::clean_lines;

/// The most questions at once.
const MOST: usize = 16;
/// The longest key of a question, in bytes.
const LONGEST_KEY: usize = 128;

/// The capabilities that questions need and the client has not declared, as JSON; nothing where it has declared all of them.
#[must_use]
pub(super) fn missing(questions: &[(String, Question)], client: Client) -> Option<String> {
    let asked = |wanted: fn(&Question) -> bool| questions.iter().any(|(_, question)| wanted(question));
    let mut modes = Vec::new();
    if asked(|question| matches!(question, Question::Form { .. })) && !client.form {
        modes.push(r#""form":{}"#);
    }
    if asked(|question| matches!(question, Question::Visit { .. })) && !client.url {
        modes.push(r#""url":{}"#);
    }
    let mut needed = Vec::new();
    if !modes.is_empty() {
        needed.push(format!(r#""elicitation":{{{}}}"#, modes.join(",")));
    }
    if asked(|question| matches!(question, Question::Sampling(_))) && !client.sampling {
        needed.push(r#""sampling":{}"#.to_owned());
    }
    if asked(|question| matches!(question, Question::Roots)) && !client.roots {
        needed.push(r#""roots":{}"#.to_owned());
    }
    (!needed.is_empty()).then(|| format!("{{{}}}", needed.join(",")))
}

/// The members of `inputRequests`.
///
/// # Errors
/// [`Flaw`].
pub(super) fn requests(questions: &[(String, Question)]) -> Result<String, Flaw> {
    if questions.len() > MOST {
        return Err(Flaw("it asks more than 16 questions at once"));
    }
    let mut keys = BTreeSet::new();
    let mut entries = Vec::with_capacity(questions.len());
    for (key, question) in questions {
        if key.is_empty() || key.len() > LONGEST_KEY || key.chars().any(char::is_control) || !keys.insert(key) {
            return Err(Flaw("the key of a question is empty, longer than 128 bytes, not one line, or stands twice"));
        }
        entries.push(format!("{}:{}", json::quoted(key), request(question)?));
    }
    Ok(entries.join(","))
}

fn request(question: &Question) -> Result<String, Flaw> {
    Ok(match question {
        Question::Form { message, schema } => {
            check_form(schema)?;
            let message = json::quoted(&said(message)?);
            let schema = json::compact(schema);
            format!(
                r#"{{"method":"elicitation/create","params":{{"mode":"form","message":{message},"requestedSchema":{schema}}}}}"#
            )
        }
        Question::Visit { message, url, id } => {
            if !address::is_page(url) {
                return Err(Flaw("the address of a page to visit is no http(s) URL of at most 2048 characters"));
            }
            if id.is_empty() || id.len() > LONGEST_KEY || id.chars().any(char::is_control) {
                return Err(Flaw("the id of a visit is empty, longer than 128 bytes, or not one line"));
            }
            let (message, url, id) = (json::quoted(&said(message)?), json::quoted(url), json::quoted(id));
            format!(
                r#"{{"method":"elicitation/create","params":{{"mode":"url","message":{message},"url":{url},"elicitationId":{id}}}}}"#
            )
        }
        Question::Sampling(params) => {
            let value: Option<Value> = serde_json::from_str(params).ok();
            let fits = |value: &Value| {
                value.get("messages").is_some_and(Value::is_array) && value.get("maxTokens").is_some_and(Value::is_u64)
            };
            if !value.as_ref().is_some_and(fits) {
                return Err(Flaw("the parameters of a sampling are no JSON object with messages and maxTokens"));
            }
            format!(r#"{{"method":"sampling/createMessage","params":{}}}"#, json::compact(params))
        }
        Question::Roots => r#"{"method":"roots/list","params":{}}"#.to_owned(),
    })
}

/// What a person reads.
fn said(message: &str) -> Result<String, Flaw> {
    let said = clean_lines(message);
    if said.trim().is_empty() { Err(Flaw("a question says nothing")) } else { Ok(said) }
}

/// Forms are flat, so that any client can draw them.
fn check_form(schema: &str) -> Result<(), Flaw> {
    const FORM: Flaw =
        Flaw("the schema of a form is no JSON object of type object with flat properties (protocol.md §15.2)");
    const FIELD: Flaw = Flaw("a field of a form is no string, number, integer, boolean, choice, or list of choices");
    let schema: Value = serde_json::from_str(schema).map_err(|_| FORM)?;
    let known = ["$schema", "type", "properties", "required", "title", "description"];
    let members = schema.as_object().filter(|members| members.keys().all(|name| known.contains(&name.as_str())));
    let members = members.filter(|members| members.get("type").is_some_and(|kind| kind == "object")).ok_or(FORM)?;
    let properties = members.get("properties").and_then(Value::as_object).ok_or(FORM)?;
    let named = |name: &Value| name.as_str().is_some_and(|name| properties.contains_key(name));
    let required =
        members.get("required").is_none_or(|list| list.as_array().is_some_and(|list| list.iter().all(named)));
    if !required {
        return Err(FORM);
    }
    if properties.values().all(is_field) { Ok(()) } else { Err(FIELD) }
}

fn is_field(field: &Value) -> bool {
    let Some(members) = field.as_object() else { return false };
    let only = |names: &[&str]| {
        let common = ["type", "title", "description", "default"];
        members.keys().all(|name| common.contains(&name.as_str()) || names.contains(&name.as_str()))
    };
    match field.get("type").and_then(Value::as_str) {
        Some("string") if members.contains_key("enum") || members.contains_key("oneOf") => {
            only(&["enum", "enumNames", "oneOf"]) && is_choice(field, "oneOf")
        }
        Some("string") => {
            let format = field
                .get("format")
                .is_none_or(|format| ["email", "uri", "date", "date-time"].iter().any(|known| format == known));
            format && only(&["minLength", "maxLength", "format"])
        }
        Some("number" | "integer") => only(&["minimum", "maximum"]),
        Some("boolean") => only(&[]),
        Some("array") => {
            only(&["items", "minItems", "maxItems"])
                && field.get("items").is_some_and(|items| is_choice(items, "anyOf"))
        }
        _ => false,
    }
}

/// Whether a schema lists what may be chosen: as words, or as constants with titles.
fn is_choice(schema: &Value, titled: &str) -> bool {
    let words = |list: &Vec<Value>| !list.is_empty() && list.iter().all(Value::is_string);
    let constants = |list: &Vec<Value>| {
        let text = |choice: &Value, name| choice.get(name).is_some_and(Value::is_string);
        !list.is_empty() && list.iter().all(|choice| text(choice, "const") && text(choice, "title"))
    };
    match (schema.get("enum").and_then(Value::as_array), schema.get(titled).and_then(Value::as_array)) {
        (Some(list), None) => words(list),
        (None, Some(list)) => constants(list),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn form(schema: &Value) -> Question {
        Question::Form { message: "How much?".into(), schema: schema.to_string() }
    }

    fn one(question: Question) -> Result<Value, Flaw> {
        requests(&[("k".into(), question)]).map(|members| serde_json::from_str(&format!("{{{members}}}")).unwrap())
    }

    #[test]
    fn each_question_is_a_request_of_its_own() {
        let schema =
            json!({"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]});
        assert_eq!(
            one(form(&schema)).unwrap(),
            json!({"k": {"method": "elicitation/create",
                "params": {"mode": "form", "message": "How much?", "requestedSchema": schema}}})
        );
        let visit =
            Question::Visit { message: "Sign\u{202e} in".into(), url: "https://example.com/x".into(), id: "1".into() };
        assert_eq!(
            one(visit).unwrap(),
            json!({"k": {"method": "elicitation/create",
                "params": {"mode": "url", "message": "Sign in", "url": "https://example.com/x", "elicitationId": "1"}}})
        );
        let params = json!({"messages": [], "maxTokens": 9});
        assert_eq!(
            one(Question::Sampling(params.to_string())).unwrap(),
            json!({"k": {"method": "sampling/createMessage", "params": params}})
        );
        assert_eq!(one(Question::Roots).unwrap(), json!({"k": {"method": "roots/list", "params": {}}}));
    }

    #[test]
    fn what_a_client_has_not_declared_is_named() {
        let all = [
            ("a".to_owned(), form(&json!({}))),
            ("b".to_owned(), Question::Visit { message: String::new(), url: String::new(), id: String::new() }),
            ("c".to_owned(), Question::Sampling(String::new())),
            ("d".to_owned(), Question::Roots),
        ];
        let needed: Value = serde_json::from_str(&missing(&all, Client::default()).unwrap()).unwrap();
        assert_eq!(needed, json!({"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}}));
        let able = Client { form: true, url: false, sampling: true, roots: true };
        assert_eq!(missing(&all, able).unwrap(), r#"{"elicitation":{"url":{}}}"#);
        assert_eq!(missing(&all, Client { url: true, ..able }), None);
        assert_eq!(missing(&[], Client::default()), None);
    }

    #[test]
    fn a_form_is_flat() {
        let with = |field: Value| one(form(&json!({"type": "object", "properties": {"f": field}})));
        for good in [
            json!({"type": "string", "title": "Name", "minLength": 1, "maxLength": 9, "default": "x"}),
            json!({"type": "string", "format": "email"}),
            json!({"type": "number", "minimum": 0, "maximum": 1, "description": "d"}),
            json!({"type": "boolean", "default": false}),
            json!({"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"]}),
            json!({"type": "string", "oneOf": [{"const": "a", "title": "A"}]}),
            json!({"type": "array", "items": {"type": "string", "enum": ["a"]}, "minItems": 1, "maxItems": 2, "default": ["a"]}),
            json!({"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}}),
        ] {
            assert!(with(good.clone()).is_ok(), "{good}");
        }
        for bad in [
            json!({}),
            json!(true),
            json!({"type": "object", "properties": {}}),
            json!({"type": "string", "pattern": "a"}),
            json!({"type": "string", "format": "ipv4"}),
            json!({"type": "string", "enum": []}),
            json!({"type": "string", "enum": [1]}),
            json!({"type": "string", "oneOf": [{"const": "a"}]}),
            json!({"type": "array", "items": {"type": "string"}}),
            json!({"type": "array", "items": {"type": "object", "properties": {}}}),
            json!({"type": ["string", "null"]}),
            json!({"type": "number", "multipleOf": 2}),
            json!({"$ref": "#/x"}),
        ] {
            assert!(with(bad.clone()).is_err(), "{bad}");
        }
        for bad in [
            json!([]),
            json!({"type": "object"}),
            json!({"type": "array", "properties": {}}),
            json!({"type": "object", "properties": {}, "required": ["x"]}),
            json!({"type": "object", "properties": {}, "allOf": []}),
        ] {
            assert!(one(form(&bad)).is_err(), "{bad}");
        }
        assert!(one(Question::Form { message: "m".into(), schema: "{".into() }).is_err());
    }

    #[test]
    fn nonsense_is_never_passed_on() {
        let roots = |key: &str| (key.to_owned(), Question::Roots);
        for bad in [vec![roots("")], vec![roots("a"), roots("a")], vec![roots(&"x".repeat(129))], vec![roots("a\n")]] {
            assert!(requests(&bad).is_err(), "{bad:?}");
        }
        let many: Vec<_> = (0..17).map(|n| roots(&n.to_string())).collect();
        assert!(requests(&many).is_err());
        for url in ["javascript:alert(1)", "example.com", ""] {
            assert!(one(Question::Visit { message: "m".into(), url: url.into(), id: "1".into() }).is_err(), "{url}");
        }
        for params in ["", "[]", "{}", r#"{"messages":{}}"#, r#"{"messages":[]}"#] {
            assert!(one(Question::Sampling(params.into())).is_err(), "{params}");
        }
        let empty = Question::Visit { message: "\u{200b} ".into(), url: "https://example.com".into(), id: "1".into() };
        assert!(one(empty).is_err());
    }
}
