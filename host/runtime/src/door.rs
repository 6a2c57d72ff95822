//! The two doors of a component: `kobana:api/exchange`, one call for a request that is there whole, and `wasi:http`, which any
//! component of its kind has and which reads a body as it comes.

use bytes::Bytes;
use http::header::CONTENT_LENGTH;
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

/// A request, ready for the door that suits it.
pub(crate) enum Visit {
    /// One that is there whole.
    Whole(request::Parts, Bytes),
    /// One of which the guest may ask for more than is there.
    Streamed(Request<WasiBody>),
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

impl Doors {
    /// Looks for the doors of a component; for that of `wasi:http` only, where `portable` is set.
    pub(crate) fn of(component: &InstancePre<State>, portable: bool) -> wasmtime::Result<Self> {
        let exchange = if portable { None } else { exchange::GuestIndices::new(component).ok() };
        Ok(Self { exchange, handler: incoming_handler::GuestIndices::new(component)? })
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
            (Visit::Whole(head, body), Some(exchange)) => {
                let fields = lines(&head.headers);
                let path_with_query = head.uri.path_and_query().map_or("", |target| target.as_str());
                let request =
                    exchange::Request { method: head.method.as_str(), path_with_query, fields: &fields, body: &body };
                let response = exchange.call_answer(store, request).await?;
                Ok(read(response, limit))
            }
            (Visit::Whole(head, body), None) => {
                let body = crate::body::whole(body);
                Box::pin(self.stream(store, Request::from_parts(head, body), limit)).await
            }
            (Visit::Streamed(request), _) => Box::pin(self.stream(store, request, limit)).await,
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

/// Header lines as HTTP/1.1 writes them.
fn lines(headers: &HeaderMap) -> Vec<u8> {
    let mut lines = Vec::with_capacity(headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 3).sum());
    for (name, value) in headers {
        for part in [name.as_str().as_bytes(), b":", value.as_bytes(), b"\r\n"] {
            lines.extend_from_slice(part);
        }
    }
    lines
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
    let fields = Bytes::from(fields);
    let mut rest = fields.clone();
    while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
        let line = rest.split_to(end + 1);
        let (name, value) = field(&line).ok_or("the guest answered with a header that is none")?;
        if name == CONTENT_LENGTH || DEFAULT_FORBIDDEN_HEADERS.contains(&name) {
            return Err(format!("the guest answered with {name}, which is the host's to set"));
        }
        answer.headers_mut().append(name, value);
    }
    if rest.is_empty() { Ok(answer) } else { Err("the guest answered with half a header".to_owned()) }
}

fn field(line: &Bytes) -> Option<(HeaderName, HeaderValue)> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    let name = HeaderName::from_lowercase(line.get(..colon)?).ok()?;
    let end = line.len().checked_sub(b"\r\n".len()).filter(|end| *end > colon && line.ends_with(b"\r\n"))?;
    Some((name, HeaderValue::from_maybe_shared(line.slice(colon + 1..end)).ok()?))
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
    fn lines_are_read_as_they_were_written() {
        let mut headers = HeaderMap::new();
        headers.append("x-a", HeaderValue::from_static(" 1:2 "));
        headers.append("x-a", HeaderValue::from_static(""));
        headers.append("x-b", HeaderValue::from_bytes(b"\xff\t").unwrap());
        let fields = lines(&headers);
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
