//! From the arguments of a call to a request of the API (architecture.md, decision 16; mcp-catalogue.md, Rules for every tool).
//!
//! Names are checked here, values by the handler alone; only where a value must become text, in the path and in the query,
//! its JSON type is checked before it is lost.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::catalogue::{Argument, Kind, Place, Tool};
use crate::dispatch::Request;
use crate::json::{self, Members, Value};

/// Everything but the unreserved characters of RFC 3986 §2.3.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The longest id, in characters (inbox-api.yaml, `IdOrExternalId`).
const MAX_ID: usize = 128;

/// Problems of arguments, gathered so that a caller sees all of them at once.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    fields: Vec<(&'static str, &'static str)>,
    form: Vec<String>,
}

impl Problems {
    /// The body of the refusal, in the shape of the API's own (inbox-api.yaml, `ValidationDetails`).
    #[must_use]
    pub(crate) fn into_json(self) -> String {
        let fields: Vec<_> = self
            .fields
            .iter()
            .map(|(name, problem)| format!("{}:[{}]", json::quoted(name), json::quoted(problem)))
            .collect();
        let form: Vec<_> = self.form.iter().map(|problem| json::quoted(problem)).collect();
        format!(
            r#"{{"error":{{"code":"validation_failed","message":"Some arguments are missing or wrong; see details","details":{{"field_errors":{{{}}},"form_errors":[{}]}}}}}}"#,
            fields.join(","),
            form.join(",")
        )
    }
}

/// The request that a call becomes.
///
/// # Errors
/// [`Problems`] where a name is unknown, or a path or query argument is missing or of another type.
pub(crate) fn request(tool: &Tool, given: &Members<'_>) -> Result<Request, Problems> {
    let mut problems = Problems::default();
    if given.iter().any(|(name, _)| tool.argument(name).is_none()) {
        problems.form.push(unknown(tool));
    }
    let mut request = Request {
        method: tool.method,
        path: tool.path.to_owned(),
        query: Vec::new(),
        body: None,
        idempotency_key: None,
    };
    let mut members: Vec<String> = Vec::new();
    for argument in tool.arguments {
        let value = given.get(argument.name);
        if let Err(problem) = place(argument, value, &mut request, &mut members) {
            problems.fields.push((argument.name, problem));
        }
    }
    if tool.arguments.iter().any(|argument| argument.place == Place::Body) {
        request.body = Some(format!("{{{}}}", members.join(",")).into_bytes());
    }
    if problems.fields.is_empty() && problems.form.is_empty() { Ok(request) } else { Err(problems) }
}

/// Says what the tool takes; the unknown name is a caller's own text and is not repeated.
fn unknown(tool: &Tool) -> String {
    if tool.arguments.is_empty() {
        return "unknown argument: this tool takes none".to_owned();
    }
    let names: Vec<_> = tool.arguments.iter().map(|argument| argument.name).collect();
    format!("unknown argument: this tool takes {}", names.join(", "))
}

fn place(
    argument: &Argument,
    value: Option<Value<'_>>,
    request: &mut Request,
    members: &mut Vec<String>,
) -> Result<(), &'static str> {
    match (argument.place, value) {
        (Place::Path, None) => Err("is required"),
        (Place::Path, Some(value)) => {
            let segment = segment(&text(argument.kind, value)?)?;
            request.path = request.path.replace(&format!("{{{}}}", argument.name), &segment);
            Ok(())
        }
        (Place::Query, Some(value)) => {
            request.query.push((argument.name.to_owned(), text(argument.kind, value)?));
            Ok(())
        }
        (Place::Body, Some(value)) => {
            members.push(format!("{}:{}", json::quoted(argument.name), value.get()));
            Ok(())
        }
        // A missing member of the body is the handler's to name.
        (Place::Query | Place::Body, None) => Ok(()),
    }
}

/// The text of a value that must become one.
fn text(kind: Kind, value: Value<'_>) -> Result<String, &'static str> {
    match kind {
        Kind::Text => json::string(value).map(|text| text.into_owned()).ok_or("must be a string"),
        Kind::Integer if json::is_number(value) => Ok(value.get().to_owned()),
        Kind::Integer => Err("must be an integer"),
        Kind::Json => Ok(value.get().to_owned()),
    }
}

/// One segment of a path, percent-encoded. What no row can be called is refused, so that no value reaches another route.
///
/// # Errors
/// What is wrong with the value.
pub(crate) fn segment(value: &str) -> Result<String, &'static str> {
    if value.is_empty() || value == "." || value == ".." {
        return Err("must be an id");
    }
    if value.chars().count() > MAX_ID {
        return Err("must have at most 128 characters");
    }
    Ok(utf8_percent_encode(value, SEGMENT).to_string())
}

#[cfg(test)]
mod tests {
    use percent_encoding::percent_decode_str;
    use proptest::prelude::*;

    use super::*;

    fn call(tool: &str, arguments: &str) -> Result<Request, serde_json::Value> {
        let tool = Tool::named(tool).unwrap();
        let (given, _) = Members::read(arguments).unwrap();
        request(tool, &given).map_err(|problems| serde_json::from_str(&problems.into_json()).unwrap())
    }

    #[test]
    fn arguments_go_where_the_contract_puts_them() {
        let request =
            call("inboxes_update", r#"{"label":"Caixa 1e2","id":"acme/old ção","filters":[ {"a":1.0} ]}"#).unwrap();
        assert_eq!(request.path, "/inboxes/acme%2Fold%20%C3%A7%C3%A3o");
        let body: serde_json::Value = serde_json::from_slice(&request.body.unwrap()).unwrap();
        assert_eq!(body, serde_json::json!({"label": "Caixa 1e2", "filters": [{"a": 1.0}]}));

        let request = call("emails_list", r#"{"q":"100% & mais","limit":10}"#).unwrap();
        assert!(request.query.contains(&("q".into(), "100% & mais".into())));
        assert!(request.query.contains(&("limit".into(), "10".into())));
        assert!(request.body.is_none());
    }

    #[test]
    fn all_problems_are_named_at_once_and_no_value_is_repeated() {
        let refusal = call("emails_list", r#"{"limit":"5","q":7,"colour":"red"}"#).unwrap_err();
        let details = &refusal["error"]["details"];
        assert_eq!(refusal["error"]["code"], "validation_failed");
        assert_eq!(details["field_errors"]["limit"][0], "must be an integer");
        assert_eq!(details["field_errors"]["q"][0], "must be a string");
        assert!(details["form_errors"][0].as_str().unwrap().contains("received_from"));
        assert!(!refusal.to_string().contains("colour"));
    }

    #[test]
    fn impossible_ids_are_refused() {
        for id in ["", ".", "..", &"x".repeat(129)] {
            assert!(call("inboxes_get", &format!(r#"{{"id":{}}}"#, json::quoted(id))).is_err(), "{id}");
        }
        assert!(call("inboxes_get", "{}").is_err());
        assert!(call("inboxes_get", r#"{"id":5}"#).is_err());
    }

    proptest! {
        #[test]
        fn an_id_is_one_segment_that_decodes_to_itself(id in any::<String>()) {
            if let Ok(segment) = segment(&id) {
                let safe = |b: u8| b.is_ascii_alphanumeric() || b"-._~%".contains(&b);
                prop_assert!(segment.bytes().all(safe));
                prop_assert_eq!(percent_decode_str(&segment).decode_utf8().unwrap(), id);
                prop_assert!(segment != "." && segment != "..");
            }
        }
    }
}
