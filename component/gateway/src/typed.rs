//! The glue to `kobana:api/exchange`: a request comes whole, an answer goes whole.

use std::borrow::Cow;

use kobana_protocol::{Body, BodyError, HEADERS, Head, Headers, HttpResponse, Lines};
use memchr::memchr;

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
    let (line, fields) = head.split_at_checked(memchr(b'\n', head)? + 1)?;
    let (method, target) = std::str::from_utf8(line.strip_suffix(b"\r\n")?).ok()?.split_once(' ')?;
    Some((method, target, Fields(fields)))
}

/// The field lines of a request, as they came.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    /// Names and values.
    fn iter(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let (line, after) = rest.split_at_checked(memchr(b'\n', rest)? + 1)?;
            rest = after;
            let (name, value) = line.split_at_checked(memchr(b':', line)?)?;
            Some((name, value.get(1..)?.strip_suffix(b"\r\n")?))
        })
    }

    /// Those that the protocol reads.
    fn headers(&self) -> Headers<'a> {
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

fn lines(headers: &[(&'static str, Cow<'static, str>)]) -> Vec<u8> {
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
