//! The same with real connections: what a client sees on the wire.

use std::convert::Infallible;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use kobana_runtime::{Limits, Runtime};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

use super::tight;
use crate::support::hostile;

/// A connection to a server that passes everything to `runtime`.
async fn connect(runtime: &Runtime) -> TcpStream {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let runtime = runtime.clone();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let service = service_fn(|request| async { Ok::<_, Infallible>(runtime.handle(request).await) });
        let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
    });
    TcpStream::connect(address).await.unwrap()
}

/// Reads until `end` has come.
async fn until(client: &mut TcpStream, end: &str) -> String {
    let mut text = Vec::new();
    let mut buffer = [0; 4096];
    while !text.ends_with(end.as_bytes()) {
        let read = timeout(Duration::from_secs(60), client.read(&mut buffer)).await.expect("an answer").unwrap();
        assert_ne!(read, 0, "closed after {}", String::from_utf8_lossy(&text));
        text.extend_from_slice(&buffer[..read]);
    }
    String::from_utf8(text).unwrap()
}

fn post(path: &str, length: usize, more: &str) -> String {
    format!("POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n{more}\r\n")
}

/// The client sends all that it has before it looks for an answer, which has long been there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_body_still_gets_its_answer() {
    let (runtime, _) = hostile(tight());
    let mut client = connect(&runtime).await;
    client.write_all(post("/unread", 3 << 20, "").as_bytes()).await.unwrap();
    sleep(Duration::from_millis(200)).await;
    for _ in 0..3 {
        client.write_all(&vec![b'x'; 1 << 20]).await.unwrap();
    }
    assert!(until(&mut client, "not read").await.starts_with("HTTP/1.1 413 "));
    client.write_all(post("/read", 3, "").as_bytes()).await.unwrap();
    client.write_all(b"abc").await.unwrap();
    assert!(until(&mut client, "\r\n\r\n3").await.starts_with("HTTP/1.1 200 "), "the connection goes on");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn leave_to_send_is_given_only_to_what_is_read() {
    let (runtime, _) = hostile(tight());
    let mut client = connect(&runtime).await;
    client.write_all(post("/read", 3, "expect: 100-continue\r\n").as_bytes()).await.unwrap();
    assert!(until(&mut client, "\r\n\r\n").await.starts_with("HTTP/1.1 100 "));
    client.write_all(b"abc").await.unwrap();
    assert!(until(&mut client, "\r\n\r\n3").await.starts_with("HTTP/1.1 200 "));
    client.write_all(post("/unread", 3 << 20, "expect: 100-continue\r\n").as_bytes()).await.unwrap();
    assert!(until(&mut client, "not read").await.starts_with("HTTP/1.1 413 "));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_body_is_told_so() {
    let (runtime, _) = hostile(tight());
    let mut client = connect(&runtime).await;
    client.write_all(post("/read", 3, "").as_bytes()).await.unwrap();
    client.write_all(b"a").await.unwrap();
    let answer = until(&mut client, "in time.\"}}").await;
    assert!(answer.starts_with("HTTP/1.1 408 ") && answer.contains("connection: close"), "{answer}");
}

/// Reading an answer slowly is between the client and its connection.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_reader_holds_no_instance() {
    // However busy the machine is, what is long takes its time.
    let patient = Limits { cpu_ms: 60_000, deadline_ms: 60_000, queue_wait_ms: 60_000, ..tight() };
    let (runtime, _) = hostile(Limits { instances: 1, response: 32 << 20, memory: 64 << 20, ..patient });
    let mut slow = connect(&runtime).await;
    slow.write_all(post("/large?20000000", 0, "").as_bytes()).await.unwrap();
    let mut begun = [0; 12];
    slow.read_exact(&mut begun).await.unwrap();
    assert_eq!(&begun, b"HTTP/1.1 200");
    let mut other = connect(&runtime).await;
    other.write_all(post("/seen", 0, "").as_bytes()).await.unwrap();
    until(&mut other, "\r\n\r\n1").await;
    assert_eq!(runtime.stats().started, 1);
    drop(slow);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hanging_up_ends_the_work() {
    let (runtime, api) = hostile(Limits { instances: 1, ..tight() });
    let mut client = connect(&runtime).await;
    client.write_all(post("/call?wait/60000", 0, "").as_bytes()).await.unwrap();
    sleep(Duration::from_millis(300)).await;
    assert_eq!(api.begun(), 1);
    drop(client);
    let mut other = connect(&runtime).await;
    other.write_all(post("/seen", 0, "").as_bytes()).await.unwrap();
    until(&mut other, "\r\n\r\n1").await;
    assert_eq!((api.ended(), runtime.stats().started), (0, 1));
}
