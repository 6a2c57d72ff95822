//! The documents.

use serde_json::json;

use crate::bindings::kobana::extension::types::{DocumentBody, ResourceOutcome};
use crate::media;

pub(crate) fn read(uri: &str) -> ResourceOutcome {
    let (media_type, body) = match uri {
        "test://static-text" => {
            ("text/plain", DocumentBody::Text("This is the content of the static text resource.".to_owned()))
        }
        "test://static-binary" => ("image/png", DocumentBody::Blob(media::PNG.to_vec())),
        "test://watched-resource" => ("text/plain", DocumentBody::Text("Nothing has happened yet.".to_owned())),
        _ => match uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data")) {
            Some(id) => {
                let text = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")}).to_string();
                ("application/json", DocumentBody::Text(text))
            }
            None => return ResourceOutcome::Missing,
        },
    };
    ResourceOutcome::Complete(vec![media::document(uri, media_type, body)])
}
