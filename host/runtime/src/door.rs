//! The two doors of a component: `kobana:api/exchange`, one call for a request that is there whole, and `wasi:http`, which any
//! component of its kind has and which reads a body as it comes.

use bytes::{Buf as _, Bytes};
use http::header::{self, CONTENT_LENGTH};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode, request};
use http_body_util::Full;
use tokio::sync::oneshot;
use wasmtime::Store;
use wasmtime::component::{Instance, InstancePre};
use wasmtime_wasi_http::p2::bindings::exports::wasi::http::incoming_handler;
use wasmtime_wasi_http::p2::bindings::http::types::{ErrorCode, Scheme};
use wasmtime_wasi_http::p2::body::HyperOutgoingBody;
use wasmtime_wasi_http::{DEFAULT_FORBIDDEN_HEADERS, WasiBody, WasiHttpView};

use crate::answer::Answer;
use crate::bindings::typed::exports::kobana::api::exchange;
use crate::body::collect;
use crate::state::State;

/// As many header lines as an answer usually has.
const FEW: usize = 6;

/// The names of the header lines of most answers.
static USUAL: [HeaderName; 5] = [
    header::CACHE_CONTROL,
    header::CONTENT_TYPE,
    HeaderName::from_static("x-ratelimit-limit"),
    HeaderName::from_static("x-ratelimit-remaining"),
    HeaderName::from_static("x-ratelimit-reset"),
];

/// A request, ready for the door that suits it.
pub(crate) enum Visit {
    /// One that is there whole, its head as [`Doors::visit`] writes it.
    Whole { head: Vec<u8>, body: Bytes },
    /// One that the guest reads piece by piece. In a box, since it is large and seldom.
    Streamed(Box<Request<WasiBody>>),
}

/// Where a component's doors are.
pub(crate) struct Doors {
    exchange: Option<exchange::GuestIndices>,
    handler: incoming_handler::GuestIndices,
}

/// The doors of an instance.
pub(crate) struct Open {
    exchange: Option<exchange::Guest>,
    handler: incoming_handler::Guest,
}

/// What became of a visit: an answer, or what is wrong with what the guest took for one. The outer error means that the guest
/// did not come to its end.
pub(crate) type Outcome = wasmtime::Result<Result<Answer, String>>;

impl Visit {
    pub(crate) fn streamed(head: request::Parts, body: WasiBody) -> Self {
        Self::Streamed(Box::new(Request::from_parts(head, body)))
    }
}

impl Doors {
    /// Looks for the doors of a component; for that of `wasi:http` only, where `portable` is set.
    pub(crate) fn of(component: &InstancePre<State>, portable: bool) -> wasmtime::Result<Self> {
        let exchange = if portable { None } else { exchange::GuestIndices::new(component).ok() };
        Ok(Self { exchange, handler: incoming_handler::GuestIndices::new(component)? })
    }

    /// Gets a request ready that is there whole.
    pub(crate) fn visit(&self, head: request::Parts, body: Bytes) -> Visit {
        match self.exchange {
            Some(_) => Visit::Whole { head: written(&head), body },
            None => Visit::streamed(head, crate::body::whole(body)),
        }
    }

    pub(crate) fn open(&self, store: &mut Store<State>, instance: &Instance) -> wasmtime::Result<Open> {
        let exchange = self.exchange.as_ref().map(|door| door.load(&mut *store, instance)).transpose()?;
        Ok(Open { exchange, handler: self.handler.load(store, instance)? })
    }
}

impl Open {
    /// Has the guest answer; with at most `limit` bytes.
    pub(crate) async fn answer(&self, store: &mut Store<State>, visit: Visit, limit: usize) -> Outcome {
        match (visit, &self.exchange) {
            (Visit::Whole { head, body }, Some(exchange)) => {
                let request = exchange::Request { head: &head, body: &body };
                Ok(read(exchange.call_answer(store, request).await?, limit))
            }
            (Visit::Whole { .. }, None) => Ok(Err("the component has no door for whole requests".to_owned())),
            (Visit::Streamed(request), _) => Box::pin(self.stream(store, *request, limit)).await,
        }
    }

    /// Lets the guest read and write piece by piece. Its answer counts only when it came to its end: a guest that trapped may have
    /// left it half written.
    async fn stream(&self, store: &mut Store<State>, request: Request<WasiBody>, limit: usize) -> Outcome {
        let (sender, answer) = oneshot::channel();
        let mut http = store.data_mut().http();
        let request = http.new_incoming_request(Scheme::Http, request)?;
        let out = http.new_response_outparam(sender)?;
        let written = async { Ok(collected(answer, limit).await) };
        let ((), answer) = tokio::try_join!(self.handler.call_handle(store, request, out), written)?;
        Ok(answer)
    }
}

/// A head as the guest gets it: method and target, then the header lines as HTTP/1.1 writes them.
fn written(head: &request::Parts) -> Vec<u8> {
    let (method, target) = (head.method.as_str(), head.uri.path_and_query().map_or("", |target| target.as_str()));
    let lines = head.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 3).sum::<usize>();
    let mut written = Vec::with_capacity(method.len() + target.len() + 3 + lines);
    for part in [method.as_bytes(), b" ", target.as_bytes(), b"\r\n"] {
        written.extend_from_slice(part);
    }
    for (name, value) in &head.headers {
        for part in [name.as_str().as_bytes(), b":", value.as_bytes(), b"\r\n"] {
            written.extend_from_slice(part);
        }
    }
    written
}

/// What a guest answered in one piece. How long a message is and what becomes of its connection are not for a guest to say.
fn read(response: exchange::Response, limit: usize) -> Result<Answer, String> {
    let exchange::Response { status, fields, body } = response;
    if body.len() > limit {
        return Err("the answer of the guest is too long".to_owned());
    }
    let mut answer = Response::new(Full::new(Bytes::from(body)));
    *answer.status_mut() = match StatusCode::from_u16(status) {
        Ok(status) if !status.is_informational() => status,
        _ => return Err(format!("the guest answered with status {status}")),
    };
    *answer.headers_mut() = headers(Bytes::from(fields))?;
    Ok(answer)
}

/// Header lines that a guest wrote.
fn headers(mut fields: Bytes) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::with_capacity(FEW);
    while let Some(end) = memchr::memchr(b'\n', &fields) {
        let (name, value) = field(&fields, end)?;
        headers.append(name, value);
        fields.advance(end + 1);
    }
    if fields.is_empty() { Ok(headers) } else { Err("the guest answered with half a header".to_owned()) }
}

/// Name and value of the line that ends with the line feed at `end`.
fn field(fields: &Bytes, end: usize) -> Result<(HeaderName, HeaderValue), String> {
    let none = || "the guest answered with a header that is none".to_owned();
    let line = fields.get(..end).and_then(|line| line.strip_suffix(b"\r")).ok_or_else(none)?;
    let colon = memchr::memchr(b':', line).ok_or_else(none)?;
    let name = name(line.get(..colon).ok_or_else(none)?)?.ok_or_else(none)?;
    let value = HeaderValue::from_maybe_shared(fields.slice(colon + 1..line.len())).map_err(|_| none())?;
    Ok((name, value))
}

/// The name of a header, if it is one that a guest may set. Those of most answers are known without being looked at letter by letter.
fn name(name: &[u8]) -> Result<Option<HeaderName>, String> {
    if let Some(usual) = USUAL.iter().find(|usual| usual.as_str().as_bytes() == name) {
        return Ok(Some(usual.clone()));
    }
    match HeaderName::from_lowercase(name) {
        Ok(name) if name == CONTENT_LENGTH || DEFAULT_FORBIDDEN_HEADERS.contains(&name) => {
            Err(format!("the guest answered with {name}, which is the host's to set"))
        }
        name => Ok(name.ok()),
    }
}

/// The whole of what a guest writes piece by piece.
async fn collected(
    answer: oneshot::Receiver<Result<Response<HyperOutgoingBody>, ErrorCode>>,
    limit: usize,
) -> Result<Answer, String> {
    let response = match answer.await {
        Ok(Ok(response)) => response,
        Ok(Err(code)) => return Err(format!("the guest answered with an error: {code:?}")),
        Err(_) => return Err("the guest did not answer".to_owned()),
    };
    let (head, body) = response.into_parts();
    let body = collect(body, limit).await.ok_or("the answer of the guest is too long or breaks off")?;
    match promised(&head.headers) {
        Some(length) if length != body.len() as u64 => {
            Err("the answer of the guest is not as long as it says".to_owned())
        }
        _ => Ok(Response::from_parts(head, Full::new(body))),
    }
}

fn promised(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, fields: &str) -> Result<Answer, String> {
        read(exchange::Response { status, fields: fields.into(), body: b"four".into() }, 4)
    }

    #[test]
    fn header_lines_are_read_as_they_were_written() {
        let mut headers = HeaderMap::new();
        headers.append("x-a", HeaderValue::from_static(" 1:2 "));
        headers.append("x-a", HeaderValue::from_static(""));
        headers.append("x-b", HeaderValue::from_bytes(b"\xff\t").unwrap());
        let (mut head, ()) = Request::put("/a?b").body(()).unwrap().into_parts();
        head.headers = headers.clone();
        let fields = written(&head);
        let fields = fields.strip_prefix(b"PUT /a?b\r\n").unwrap().to_vec();
        let response = exchange::Response { status: 200, fields, body: Vec::new() };
        assert_eq!(*read(response, 0).unwrap().headers(), headers);
    }

    #[test]
    fn what_a_guest_may_not_say_is_no_answer() {
        assert!(answer(200, "x-a:b\r\n").is_ok());
        for fields in [
            "content-length:4\r\n",
            "transfer-encoding:chunked\r\n",
            "connection:close\r\n",
            "X-A:b\r\n",
            "x a:b\r\n",
            ":b\r\n",
            "x-a\r\n",
            "x-a:b\n",
            "x-a:b\r",
            "x-a:b\rc\r\n",
            "x-a:b",
        ] {
            assert!(answer(200, fields).is_err(), "{fields:?}");
        }
        for status in [0, 99, 100, 101, 1000] {
            assert!(answer(status, "").is_err(), "{status}");
        }
        let response = exchange::Response { status: 200, fields: Vec::new(), body: vec![b'x'; 5] };
        assert!(read(response, 4).is_err());
    }
}
