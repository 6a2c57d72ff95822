//! The glue to `wasi:http` 0.2.
//!
//! Each call of the host costs more than what it carries, so there are as few as the interface allows. Handles of
//! children are dropped before those of their parents on every path, or an instance that is used again would leak them.

use kobana_protocol::{Body, BodyError, Config, HEADERS, Head, Headers, HttpResponse, Lines};

use crate::dispatch::Api;
use crate::gateway::{CONFIG, Gateway, internal_error, now, path};
use crate::wit::exports::wasi::http::incoming_handler::Guest;
use crate::wit::wasi::http::types::{
    Fields, IncomingRequest, Method, OutgoingBody, OutgoingResponse, ResponseOutparam,
};
use crate::wit::wasi::io::streams::{InputStream, OutputStream, StreamError};

/// The most that `blocking-write-and-flush` takes.
const ONE_WRITE: usize = 4096;

thread_local! {
    /// [`HEADERS`], in the form in which the bindings want them.
    static NAMES: Vec<String> = HEADERS.iter().map(|name| (*name).to_owned()).collect();
}

impl Guest for Gateway {
    fn handle(request: IncomingRequest, out: ResponseOutparam) {
        let answer = CONFIG.with(|config| answer(config.as_ref().ok()?, &request));
        drop(request);
        respond(answer.unwrap_or_else(internal_error), out);
    }
}

/// What the protocol answers; nothing if it waits for something, which no import makes it do.
fn answer(config: &Config, request: &IncomingRequest) -> Option<HttpResponse> {
    let method = request.method();
    let target = request.path_with_query().unwrap_or_default();
    let (path, parameters) = (path(&target), Parameters(request));
    let head = Head { method: method_name(&method), path, headers: headers(request), parameters: &parameters };
    now(kobana_protocol::handle(config, &Api, head, Incoming(request)))
}

fn method_name(method: &Method) -> &str {
    match method {
        Method::Get => "GET",
        Method::Head => "HEAD",
        Method::Post => "POST",
        Method::Put => "PUT",
        Method::Delete => "DELETE",
        Method::Connect => "CONNECT",
        Method::Options => "OPTIONS",
        Method::Trace => "TRACE",
        Method::Patch => "PATCH",
        Method::Other(name) => name,
    }
}

/// The header lines that the protocol reads. The others stay in the host, however many a client sends.
fn headers(request: &IncomingRequest) -> Headers<'static> {
    let fields = request.headers();
    let mut headers = Headers::new();
    NAMES.with(|names| {
        for (known, name) in HEADERS.iter().zip(names) {
            for value in fields.get(name) {
                headers.push(*known, value);
            }
        }
    });
    headers
}

/// Header lines that stay in the host until a tool of an extension wants them.
struct Parameters<'a>(&'a IncomingRequest);

impl Lines for Parameters<'_> {
    fn lines(&self, name: &str) -> Vec<Vec<u8>> {
        self.0.headers().get(name)
    }
}

/// The body of a request, untouched until the protocol asks for it.
struct Incoming<'a>(&'a IncomingRequest);

impl Body for Incoming<'_> {
    async fn read(self, limit: usize) -> Result<Vec<u8>, BodyError> {
        let body = self.0.consume().map_err(|()| BodyError::Broken)?;
        let stream = body.stream().map_err(|()| BodyError::Broken)?;
        let bytes = read(&stream, limit);
        drop(stream);
        drop(body);
        bytes
    }
}

fn read(stream: &InputStream, limit: usize) -> Result<Vec<u8>, BodyError> {
    let mut bytes = Vec::new();
    while bytes.len() <= limit {
        match next(stream, limit + 1 - bytes.len()) {
            // The host hands a buffered body over in one piece, which then is the result without being copied.
            Ok(chunk) if bytes.is_empty() => bytes = chunk,
            Ok(chunk) => bytes.extend_from_slice(&chunk),
            Err(StreamError::Closed) => return Ok(bytes),
            Err(StreamError::LastOperationFailed(_)) => return Err(BodyError::Broken),
        }
    }
    Err(BodyError::TooLarge)
}

/// At least one byte and at most `most`. What is there already is read without the machinery of a blocking call.
fn next(stream: &InputStream, most: usize) -> Result<Vec<u8>, StreamError> {
    let most = most as u64;
    let chunk = stream.read(most)?;
    if chunk.is_empty() { stream.blocking_read(most) } else { Ok(chunk) }
}

/// Sends an answer. A client that is gone is no error: there is nobody to tell.
fn respond(answer: HttpResponse, out: ResponseOutparam) {
    let response = OutgoingResponse::new(fields(&answer));
    // Statuses of the protocol are valid ones; an invalid one would leave the answer at 200.
    let _ = response.set_status_code(answer.status);
    // Taken and finished even where it is empty: not every runtime copes with a body that nobody asked for.
    let body = response.body().ok();
    ResponseOutparam::set(out, Ok(response));
    if let Some(body) = body {
        if !answer.body.is_empty()
            && let Ok(stream) = body.write()
        {
            let _ = write(&stream, &answer.body);
        }
        let _ = OutgoingBody::finish(body, None);
    }
}

fn fields(answer: &HttpResponse) -> Fields {
    let mut lines: Vec<(String, Vec<u8>)> = Vec::with_capacity(answer.headers.len() + 1);
    for (name, value) in &answer.headers {
        lines.push(((*name).to_owned(), value.as_bytes().to_vec()));
    }
    if !answer.body.is_empty() || answer.status == 202 {
        // The host tells by it that an answer is whole. One to HEAD, and a 204, have no length to tell (RFC 9110 §8.6).
        lines.push(("content-length".to_owned(), answer.body.len().to_string().into_bytes()));
    }
    Fields::from_list(&lines).unwrap_or_else(|_| Fields::new())
}

fn write(stream: &OutputStream, bytes: &[u8]) -> Result<(), StreamError> {
    if bytes.len() <= ONE_WRITE {
        return stream.blocking_write_and_flush(bytes);
    }
    let mut rest = bytes;
    while !rest.is_empty() {
        let permit = usize::try_from(stream.check_write()?).unwrap_or(usize::MAX);
        if permit == 0 {
            stream.subscribe().block();
            continue;
        }
        let (chunk, later) = rest.split_at(permit.min(rest.len()));
        stream.write(chunk)?;
        rest = later;
    }
    stream.blocking_flush()
}
