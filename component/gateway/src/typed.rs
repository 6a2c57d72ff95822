//! The glue to `kobana:api/exchange`: a request comes whole, an answer goes whole.

use kobana_protocol::{Body, BodyError, HEADERS, Head, Headers, HttpResponse, Lines};

use crate::dispatch::Api;
use crate::gateway::{CONFIG, Gateway, internal_error, now, path};
use crate::wit::exports::kobana::api::exchange::{Guest, Request, Response};

impl Guest for Gateway {
    fn answer(request: Request) -> Response {
        let Request { head, body } = request;
        let answer = CONFIG.with(|config| {
            let (method, target, fields) = parts(&head)?;
            let head = Head { method, path: path(target), headers: fields.headers(), parameters: &fields };
            now(kobana_protocol::handle(config.as_ref().ok()?, &Api, head, Whole(body)))
        });
        let HttpResponse { status, headers, body } = answer.unwrap_or_else(internal_error);
        Response { status, fields: lines(&headers), body }
    }
}

/// Method, path with query, and field lines of a head; nothing if it is none.
fn parts(head: &[u8]) -> Option<(&str, &str, Fields<'_>)> {
    let end = head.iter().position(|byte| *byte == b'\n')?;
    let (line, fields) = head.split_at_checked(end + 1)?;
    let (method, target) = std::str::from_utf8(line.strip_suffix(b"\r\n")?).ok()?.split_once(' ')?;
    Some((method, target, Fields(fields)))
}

/// The field lines of a request, as they came.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    /// Names and values.
    fn iter(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        self.0.split(|byte| *byte == b'\n').filter_map(|line| {
            let colon = line.iter().position(|byte| *byte == b':')?;
            let value = line.get(colon + 1..)?;
            Some((line.get(..colon)?, value.strip_suffix(b"\r").unwrap_or(value)))
        })
    }

    /// Those that the protocol reads.
    fn headers(&self) -> Headers {
        let mut headers = Headers::new();
        for (name, value) in self.iter() {
            if let Some(known) = HEADERS.iter().find(|known| known.as_bytes() == name) {
                headers.push(*known, value);
            }
        }
        headers
    }
}

impl Lines for Fields<'_> {
    fn lines(&self, name: &str) -> Vec<Vec<u8>> {
        self.iter().filter(|(line, _)| *line == name.as_bytes()).map(|(_, value)| value.to_vec()).collect()
    }
}

fn lines(headers: &[(&'static str, String)]) -> Vec<u8> {
    let mut lines = Vec::with_capacity(headers.iter().map(|(name, value)| name.len() + value.len() + 3).sum());
    for (name, value) in headers {
        for part in [name, ":", value, "\r\n"] {
            lines.extend_from_slice(part.as_bytes());
        }
    }
    lines
}

/// A body that is there.
struct Whole(Vec<u8>);

impl Body for Whole {
    async fn read(self, limit: usize) -> Result<Vec<u8>, BodyError> {
        if self.0.len() > limit { Err(BodyError::TooLarge) } else { Ok(self.0) }
    }
}
