//! The limit: hyper reads a request's body and answers with bytes that it has. `/ping` is answered with an empty result,
//! every other path with what the constant tool of the other peers answers.
//!
//! `peer-hyper PORT ROWS`

use std::convert::Infallible;
use std::error::Error;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

const PONG: Bytes = Bytes::from_static(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(port), Some(rows)) = (arguments.next(), arguments.next()) else {
        return Err("peer-hyper PORT ROWS".into());
    };
    let tool = Bytes::from(answer(&std::fs::read_to_string(rows)?));
    let listener = TcpListener::bind(("127.0.0.1", port.parse()?)).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let tool = tool.clone();
        let service = service_fn(move |request| respond(request, tool.clone()));
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

async fn respond(request: Request<Incoming>, tool: Bytes) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = if request.uri().path() == "/ping" { PONG } else { tool };
    // A client that breaks off gets an answer that it does not read.
    let _ = request.into_body().collect().await;
    let mut response = Response::new(Full::new(body));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

/// A tool's answer with this text, which is JSON and so holds no control characters.
fn answer(rows: &str) -> String {
    let text = rows.replace('\\', r"\\").replace('"', r#"\""#);
    format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#)
}
