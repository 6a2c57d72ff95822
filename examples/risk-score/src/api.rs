//! The server's API, as whoever called the extension.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::bindings::kobana::extension::api::{self, Failure, Method, Request};
use crate::score::Email;

/// Why there is no answer, for the caller to read.
pub enum Problem {
    Missing,
    Other(String),
}

#[derive(Deserialize)]
struct Data<T> {
    data: T,
}

/// One e-mail with its body.
pub fn email(id: &str) -> Result<Email, Problem> {
    get(&format!("/emails/{id}"), Vec::new())
}

/// The ids of the newest e-mails.
pub fn newest(count: u64) -> Result<Vec<String>, Problem> {
    let rows: Vec<Email> = get("/emails", vec![("limit".to_owned(), count.to_string())])?;
    Ok(rows.into_iter().map(|row| row.id).collect())
}

/// Lets an inbox receive nothing any more; gives its status.
pub fn close_inbox(id: &str) -> Result<String, Problem> {
    let body = br#"{"status":"inactive"}"#.to_vec();
    let inbox: Value = call(Method::Patch, &format!("/inboxes/{id}"), Vec::new(), Some(body))?;
    Ok(inbox["status"].as_str().unwrap_or_default().to_owned())
}

fn get<T: DeserializeOwned>(path: &str, query: Vec<(String, String)>) -> Result<T, Problem> {
    call(Method::Get, path, query, None)
}

fn call<T: DeserializeOwned>(
    method: Method,
    path: &str,
    query: Vec<(String, String)>,
    body: Option<Vec<u8>>,
) -> Result<T, Problem> {
    let request = Request { method, path: path.to_owned(), query, body, idempotency_key: None };
    let response = api::call(&request).map_err(|failure| {
        Problem::Other(match failure {
            Failure::TimedOut => "The server took too long.".to_owned(),
            Failure::Unavailable(seconds) => format!("The server is busy; try again in {seconds} seconds."),
            Failure::Refused => "This tool may only read.".to_owned(),
            Failure::Internal => "The server failed.".to_owned(),
        })
    })?;
    match response.status {
        200..300 => serde_json::from_slice::<Data<T>>(&response.body)
            .map(|answer| answer.data)
            .map_err(|error| Problem::Other(format!("The server's answer is not understood: {error}"))),
        404 => Err(Problem::Missing),
        status => {
            let answer: Value = serde_json::from_slice(&response.body).unwrap_or_default();
            let message = answer["error"]["message"].as_str().unwrap_or("no reason given");
            Err(Problem::Other(format!("The server refused (HTTP {status}): {message}")))
        }
    }
}
