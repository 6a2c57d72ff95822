//! A guest that does what its path says, most of it forbidden.
#![cfg(target_arch = "wasm32")]

#[allow(unsafe_code, missing_docs, reason = "generated")]
mod bindings;

use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use bindings::exports::kobana::api::exchange;
use bindings::exports::wasi::http::incoming_handler;
use bindings::kobana::api::dispatch::{Caller, Credentials, Method, Request, authenticate};
use bindings::wasi::http::types::{Fields, IncomingRequest, OutgoingBody, OutgoingResponse, ResponseOutparam};
use bindings::wasi::io::streams::StreamError;

/// Requests that this instance has seen.
static SEEN: AtomicU32 = AtomicU32::new(0);

struct Hostile;

impl incoming_handler::Guest for Hostile {
    fn handle(request: IncomingRequest, out: ResponseOutparam) {
        let target = request.path_with_query().unwrap_or_default();
        match target.as_str() {
            "/silent" => {}
            // The answer is out and begun when the guest breaks.
            "/half" => {
                let response = OutgoingResponse::new(Fields::new());
                let body = response.body().unwrap();
                ResponseOutparam::set(out, Ok(response));
                body.write().unwrap().blocking_write_and_flush(b"half of").unwrap();
                panic!("as told")
            }
            "/short" => answer(out, 200, Some(100), b"not a hundred bytes"),
            "/read" => answer(out, 200, None, read(&request).as_bytes()),
            target => {
                let (status, body) = act(target);
                answer(out, status, None, &body)
            }
        }
    }
}

impl exchange::Guest for Hostile {
    fn answer(request: exchange::Request) -> exchange::Response {
        let whole = |status, fields: &str, body: &[u8]| exchange::Response {
            status,
            fields: fields.as_bytes().to_vec(),
            body: body.to_vec(),
        };
        let line = request.head.split(|byte| *byte == b'\r').next().unwrap();
        let (_, target) = std::str::from_utf8(line).unwrap().split_once(' ').unwrap();
        match target {
            "/silent" => whole(0, "", b""),
            "/half" => panic!("as told"),
            "/short" => whole(200, "content-length:100\r\n", b"not a hundred bytes"),
            "/read" => whole(200, "", request.body.len().to_string().as_bytes()),
            target => {
                let (status, body) = act(target);
                whole(status, "", &body)
            }
        }
    }
}

/// What both doors lead to.
fn act(target: &str) -> (u16, Vec<u8>) {
    let (path, argument) = target.split_once('?').unwrap_or((target, ""));
    match path {
        // How many requests this instance has seen, this one included.
        "/seen" => (200, (SEEN.fetch_add(1, Relaxed) + 1).to_string().into_bytes()),
        "/spin" => spin(),
        "/trap" => panic!("as told"),
        "/exit" => std::process::exit(3),
        "/bomb" => bomb(),
        "/handles" => loop {
            std::mem::forget(Fields::new());
        },
        "/forget" => {
            std::mem::forget(Fields::new());
            (200, b"forgot".to_vec())
        }
        "/large" => (200, vec![b'x'; argument.parse().unwrap()]),
        "/unread" => (413, b"not read".to_vec()),
        // Calls the API with the argument as path.
        "/call" => (200, call(&caller(), argument)),
        // Calls the API over and over, whatever it says.
        "/pester" => {
            let caller = caller();
            loop {
                call(&caller, argument);
            }
        }
        _ => (404, Vec::new()),
    }
}

fn spin() -> ! {
    let mut turns = 0_u64;
    loop {
        turns = black_box(turns.wrapping_add(1));
    }
}

fn bomb() -> ! {
    let mut hoard = Vec::new();
    loop {
        hoard.push(black_box(vec![1_u8; 1 << 20]));
    }
}

fn caller() -> Caller {
    authenticate(&Credentials { authorization: Some("me".to_owned()), workspace: None }).expect("anybody may").caller
}

fn call(caller: &Caller, path: &str) -> Vec<u8> {
    let request =
        Request { method: Method::Get, path: path.to_owned(), query: Vec::new(), body: None, idempotency_key: None };
    caller.call(&request).map_or_else(|failure| format!("{failure:?}").into_bytes(), |response| response.body)
}

/// Reads to the end, and says how far it got.
fn read(request: &IncomingRequest) -> String {
    let body = request.consume().unwrap();
    let stream = body.stream().unwrap();
    let mut length = 0;
    loop {
        match stream.blocking_read(1 << 20) {
            Ok(bytes) => length += bytes.len(),
            Err(StreamError::Closed) => return length.to_string(),
            Err(StreamError::LastOperationFailed(_)) => return format!("broken after {length}"),
        }
    }
}

fn answer(out: ResponseOutparam, status: u16, length: Option<usize>, bytes: &[u8]) {
    let fields = Fields::new();
    if let Some(length) = length {
        fields.set("content-length", &[length.to_string().into_bytes()]).unwrap();
    }
    let response = OutgoingResponse::new(fields);
    response.set_status_code(status).unwrap();
    let body = response.body().unwrap();
    ResponseOutparam::set(out, Ok(response));
    let stream = body.write().unwrap();
    for chunk in bytes.chunks(4096) {
        if stream.blocking_write_and_flush(chunk).is_err() {
            break;
        }
    }
    drop(stream);
    let _ = OutgoingBody::finish(body, None);
}
