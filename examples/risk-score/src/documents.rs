//! `risk://policy` and `risk://emails/{id}`.

use serde_json::{Value, json};

use crate::api::{self, Problem};
use crate::bindings::kobana::extension::log::{Level, write};
use crate::bindings::kobana::extension::types::{Document, DocumentBody, ResourceOutcome};
use crate::score::{HIGH, MEDIUM, SIGNALS, assess};

pub fn read(uri: &str) -> ResourceOutcome {
    if uri == "risk://policy" {
        return ResourceOutcome::Complete(vec![document(uri, &policy())]);
    }
    let id = uri.strip_prefix("risk://emails/").unwrap_or_default();
    // It becomes a part of a path, so it has to be an id and nothing else.
    if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-') {
        return ResourceOutcome::Missing;
    }
    match api::email(id) {
        Ok(email) => ResourceOutcome::Complete(vec![document(uri, &json!(assess(&email)))]),
        Err(Problem::Missing) => ResourceOutcome::Missing,
        Err(Problem::Other(message)) => {
            write(Level::Warn, &message);
            ResourceOutcome::Missing
        }
    }
}

fn policy() -> Value {
    let signals: Vec<_> = SIGNALS
        .iter()
        .map(|(signal, points, meaning)| json!({"signal": signal, "points": points, "meaning": meaning}))
        .collect();
    json!({"levels": {"low": 0, "medium": MEDIUM, "high": HIGH}, "signals": signals})
}

fn document(uri: &str, content: &Value) -> Document {
    Document {
        uri: uri.to_owned(),
        media_type: Some("application/json".to_owned()),
        body: DocumentBody::Text(content.to_string()),
    }
}
