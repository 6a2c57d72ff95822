//! A guest that does what its path says, most of it forbidden.
#![cfg(target_arch = "wasm32")]

#[allow(unsafe_code, missing_docs, reason = "generated")]
mod bindings;

use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use bindings::exports::wasi::http::incoming_handler::Guest;
use bindings::kobana::api::dispatch::{Caller, Credentials, Method, Request, authenticate};
use bindings::wasi::http::types::{Fields, IncomingRequest, OutgoingBody, OutgoingResponse, ResponseOutparam};
use bindings::wasi::io::streams::StreamError;

/// Requests that this instance has seen.
static SEEN: AtomicU32 = AtomicU32::new(0);

struct Hostile;

impl Guest for Hostile {
    fn handle(request: IncomingRequest, out: ResponseOutparam) {
        let target = request.path_with_query().unwrap_or_default();
        let (path, argument) = target.split_once('?').unwrap_or((&target, ""));
        match path {
            // How many requests this instance has seen, this one included.
            "/seen" => answer(out, 200, None, (SEEN.fetch_add(1, Relaxed) + 1).to_string().as_bytes()),
            "/spin" => spin(),
            "/trap" => panic!("as told"),
            "/exit" => std::process::exit(3),
            "/silent" => {}
            "/bomb" => bomb(),
            "/handles" => loop {
                std::mem::forget(Fields::new());
            },
            "/forget" => {
                std::mem::forget(Fields::new());
                answer(out, 200, None, b"forgot")
            }
            // The answer is out and begun when the guest breaks.
            "/half" => {
                let response = OutgoingResponse::new(Fields::new());
                let body = response.body().unwrap();
                ResponseOutparam::set(out, Ok(response));
                body.write().unwrap().blocking_write_and_flush(b"half of").unwrap();
                panic!("as told")
            }
            "/short" => answer(out, 200, Some(100), b"not a hundred bytes"),
            "/large" => answer(out, 200, None, &vec![b'x'; argument.parse().unwrap()]),
            "/unread" => answer(out, 413, None, b"not read"),
            "/read" => {
                let length = read(&request);
                answer(out, 200, None, length.as_bytes())
            }
            // Calls the API with the argument as path.
            "/call" => {
                let text = call(&caller(), argument);
                answer(out, 200, None, &text)
            }
            // Calls the API over and over, whatever it says.
            "/pester" => {
                let caller = caller();
                loop {
                    call(&caller, argument);
                }
            }
            _ => answer(out, 404, None, b""),
        }
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
    authenticate(&Credentials { authorization: Some("me".to_owned()), workspace: None }).expect("anybody may")
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
