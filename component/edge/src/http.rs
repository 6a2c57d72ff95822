//! One request to the host over `wasi:http` 0.2, and its whole answer.
//!
//! Handles of children are dropped before those of their parents on every path, or an instance that is used again would leak
//! them: here that is the reverse order in which they are declared.

use kobana_wire::{LONGEST_ANSWER, MEDIA_TYPE, VERSION_HEADER};

use crate::config::Config;
use crate::wit::wasi::clocks::monotonic_clock::{now, subscribe_instant};
use crate::wit::wasi::http::outgoing_handler::handle;
use crate::wit::wasi::http::types::{
    ErrorCode, Fields, FutureIncomingResponse, IncomingResponse, Method, OutgoingBody, OutgoingRequest, Scheme,
};
use crate::wit::wasi::io::poll::{Pollable, poll};
use crate::wit::wasi::io::streams::{InputStream, OutputStream, StreamError};

/// The most that is asked for in one read.
const ONE_READ: u64 = 1 << 20;

/// What came back, whole.
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// The version of the language that the other side says it speaks.
    pub(crate) version: Option<String>,
    /// Seconds to wait.
    pub(crate) retry_after: Option<u32>,
    pub(crate) body: Vec<u8>,
}

/// Why there is no whole answer.
pub(crate) enum Broken {
    /// The request never left: nothing happened at the other side.
    Unsent(String),
    /// No answer by the deadline. What happened at the other side is unknown.
    Late,
    /// The connection ended, or something else came. What happened at the other side is unknown.
    Cut(String),
}

/// Posts a message. `deadline` is an instant of the monotonic clock.
pub(crate) fn post(config: &Config, path: &str, message: &[u8], deadline: u64) -> Result<Answer, Broken> {
    // Nothing is sent that nobody waits for.
    if now() >= deadline {
        return Err(Broken::Late);
    }
    let timer = subscribe_instant(deadline);
    let (request, body) = request(config, path, message.len()).ok_or_else(|| unsent("the request cannot be made"))?;
    // Without options, and so without timeouts of the runtime: wasmtime 48 never lets go of the handle, and the timer
    // covers all of it anyway.
    let pending = handle(request, None).map_err(|code| broken(&code))?;
    send(body, message, &timer)?;
    let response = response(&pending, &timer)?;
    let (version, retry_after, length) = headers(&response);
    let status = response.status();
    let body = receive(&response, &timer)?;
    // Runtimes need not check it, and a connection that ends may look like the end of a body.
    match length {
        Some(length) if length != body.len() as u64 => {
            Err(Broken::Cut(format!("the answer ended after {} of {length} bytes", body.len())))
        }
        _ => Ok(Answer { status, version, retry_after, body }),
    }
}

fn unsent(what: &str) -> Broken {
    Broken::Unsent(what.to_owned())
}

fn request(config: &Config, path: &str, length: usize) -> Option<(OutgoingRequest, OutgoingBody)> {
    let line = |name: &str, value: &str| (name.to_owned(), value.as_bytes().to_vec());
    let headers = Fields::from_list(&[
        line("authorization", &config.authorization),
        line("content-type", MEDIA_TYPE),
        line("content-length", &length.to_string()),
    ]);
    let request = OutgoingRequest::new(headers.ok()?);
    request.set_method(&Method::Post).ok()?;
    request.set_scheme(Some(if config.tls { &Scheme::Https } else { &Scheme::Http })).ok()?;
    request.set_authority(Some(&config.authority)).ok()?;
    request.set_path_with_query(Some(&format!("{}{path}", config.prefix))).ok()?;
    let body = request.body().ok()?;
    Some((request, body))
}

/// Sends the body. One that the other side does not want to the end is no error: its answer says why.
fn send(body: OutgoingBody, message: &[u8], timer: &Pollable) -> Result<(), Broken> {
    if let Ok(stream) = body.write() {
        write(&stream, message, timer)?;
    }
    let _ = OutgoingBody::finish(body, None);
    Ok(())
}

fn write(stream: &OutputStream, message: &[u8], timer: &Pollable) -> Result<(), Broken> {
    let mut rest = message;
    while !rest.is_empty() {
        let Ok(permit) = stream.check_write() else { return Ok(()) };
        let permit = usize::try_from(permit).unwrap_or(usize::MAX);
        if permit == 0 {
            wait(&stream.subscribe(), timer)?;
            continue;
        }
        let (chunk, later) = rest.split_at(permit.min(rest.len()));
        if stream.write(chunk).is_err() {
            return Ok(());
        }
        rest = later;
    }
    Ok(())
}

fn response(pending: &FutureIncomingResponse, timer: &Pollable) -> Result<IncomingResponse, Broken> {
    loop {
        match pending.get() {
            Some(Ok(Ok(response))) => return Ok(response),
            Some(Ok(Err(code))) => return Err(broken(&code)),
            // Only a second look at the same answer gives this.
            Some(Err(())) => return Err(Broken::Cut("the answer is gone".to_owned())),
            None => wait(&pending.subscribe(), timer)?,
        }
    }
}

/// What the headers say: version, seconds to wait, length.
fn headers(response: &IncomingResponse) -> (Option<String>, Option<u32>, Option<u64>) {
    let headers = response.headers();
    let text = |name: &str| headers.get(name).pop().and_then(|value| String::from_utf8(value).ok());
    let number = |name: &str| text(name).and_then(|value| value.parse::<u64>().ok());
    let retry_after = number("retry-after").and_then(|seconds| u32::try_from(seconds).ok());
    (text(VERSION_HEADER), retry_after, number("content-length"))
}

fn receive(response: &IncomingResponse, timer: &Pollable) -> Result<Vec<u8>, Broken> {
    let cut = |()| Broken::Cut("the answer has no body".to_owned());
    let body = response.consume().map_err(cut)?;
    let stream = body.stream().map_err(cut)?;
    read(&stream, timer)
}

fn read(stream: &InputStream, timer: &Pollable) -> Result<Vec<u8>, Broken> {
    let mut bytes = Vec::new();
    loop {
        match stream.read(ONE_READ) {
            Ok(chunk) if chunk.is_empty() => wait(&stream.subscribe(), timer)?,
            Ok(chunk) if bytes.is_empty() => bytes = chunk,
            Ok(chunk) => bytes.extend_from_slice(&chunk),
            Err(StreamError::Closed) => return Ok(bytes),
            Err(StreamError::LastOperationFailed(error)) => {
                return Err(Broken::Cut(format!("the answer broke off: {}", error.to_debug_string())));
            }
        }
        if bytes.len() > LONGEST_ANSWER {
            return Err(Broken::Cut("the answer is too long".to_owned()));
        }
    }
}

/// Waits until something can go on, or for the deadline.
fn wait(pollable: &Pollable, timer: &Pollable) -> Result<(), Broken> {
    if poll(&[pollable, timer]).contains(&0) { Ok(()) } else { Err(Broken::Late) }
}

/// Tells what happened before anything was sent from what happened after.
fn broken(code: &ErrorCode) -> Broken {
    match code {
        ErrorCode::DnsTimeout
        | ErrorCode::DnsError(_)
        | ErrorCode::DestinationNotFound
        | ErrorCode::DestinationUnavailable
        | ErrorCode::DestinationIpProhibited
        | ErrorCode::DestinationIpUnroutable
        | ErrorCode::ConnectionRefused
        | ErrorCode::ConnectionTimeout
        | ErrorCode::ConnectionLimitReached
        | ErrorCode::TlsProtocolError
        | ErrorCode::TlsCertificateError
        | ErrorCode::TlsAlertReceived(_)
        | ErrorCode::HttpRequestDenied
        | ErrorCode::HttpRequestUriInvalid
        | ErrorCode::HttpRequestMethodInvalid => Broken::Unsent(format!("{code:?}")),
        ErrorCode::ConnectionReadTimeout | ErrorCode::HttpResponseTimeout => Broken::Late,
        _ => Broken::Cut(format!("{code:?}")),
    }
}
