//! Clients: many, slow, gone, or with more to say than anybody wants to hear.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::Full;
use kobana_runtime::Limits;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use super::tight;
use crate::support::{get, hostile, read, request};

/// A body that is fed by hand.
struct Fed {
    chunks: mpsc::Receiver<Bytes>,
    length: Option<u64>,
}

fn fed(length: Option<u64>) -> (mpsc::Sender<Bytes>, Fed) {
    let (feed, chunks) = mpsc::channel(1);
    (feed, Fed { chunks, length })
}

impl Body for Fed {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.chunks.poll_recv(cx).map(|chunk| chunk.map(|chunk| Ok(Frame::data(chunk))))
    }

    fn size_hint(&self) -> SizeHint {
        self.length.map_or_else(SizeHint::new, SizeHint::with_exact)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_queue_is_bounded_and_drains() {
    let (runtime, _) =
        hostile(Limits { instances: 2, queue: 1, queue_wait_ms: 60_000, deadline_ms: 60_000, ..tight() });
    let slow = || {
        let runtime = runtime.clone();
        tokio::spawn(async move { get(&runtime, "/call?wait/1500").await })
    };
    let running = [slow(), slow()];
    sleep(Duration::from_millis(100)).await;
    let waiting = slow();
    sleep(Duration::from_millis(100)).await;

    // Whoever is not turned away at once waits for its turn, and is answered.
    let refused = runtime.handle(request("GET", "/seen", Full::default())).await;
    assert_eq!(refused.headers()["retry-after"], "1");
    assert_eq!(refused.headers()["cache-control"], "no-store");
    let (status, body) = read(refused).await;
    assert_eq!(status, 503);
    assert!(body.contains(r#""code":"unavailable""#), "{body}");

    for slow in running.into_iter().chain([waiting]) {
        assert_eq!(slow.await.unwrap(), (200, "waited".to_owned()));
    }
    assert_eq!(get(&runtime, "/seen").await.0, 200);
    let stats = runtime.stats();
    assert_eq!((stats.failed, stats.refused), (0, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_for_an_instance_ends() {
    let (runtime, _) = hostile(Limits { instances: 1, queue_wait_ms: 100, ..tight() });
    let (slow, late) = tokio::join!(get(&runtime, "/call?wait/600"), async {
        sleep(Duration::from_millis(50)).await;
        get(&runtime, "/seen").await
    });
    assert_eq!((slow.0, late.0), (200, 503));
}

/// More requests than instances, from many tasks at once: each is answered, and the pool is never too small.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd_is_served() {
    let (runtime, _) = hostile(Limits { instances: 4, queue: 1_000, queue_wait_ms: 20_000, reuse: 7, ..tight() });
    let crowd: Vec<_> = (0..64)
        .map(|_| {
            let runtime = runtime.clone();
            tokio::spawn(async move {
                for _ in 0..20 {
                    assert_eq!(get(&runtime, "/call?wait/1").await, (200, "waited".to_owned()));
                }
            })
        })
        .collect();
    for one in crowd {
        one.await.unwrap();
    }
    let stats = runtime.stats();
    assert_eq!((stats.failed, stats.refused, stats.leaked), (0, 0, 0));
}

/// Requests that may run but find no memory wait for it, and are turned away when that takes too long.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_exhausted_pool_is_no_failure() {
    let (runtime, _) = hostile(Limits { instances: 8, pool: Some(1), queue_wait_ms: 450, ..tight() });
    let crowd: Vec<_> = (0..8)
        .map(|_| {
            let runtime = runtime.clone();
            tokio::spawn(async move { get(&runtime, "/call?wait/200").await.0 })
        })
        .collect();
    let mut answers = Vec::new();
    for one in crowd {
        answers.push(one.await.unwrap());
    }
    let count = |status| answers.iter().filter(|answer| **answer == status).count();
    assert!((2..=5).contains(&count(200)), "{answers:?}");
    assert_eq!(count(200) + count(503), 8, "{answers:?}");
    assert_eq!(get(&runtime, "/seen").await.0, 200);
    assert_eq!((runtime.stats().started, runtime.stats().failed), (1, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trickling_body_holds_no_instance() {
    let (runtime, _) = hostile(Limits { instances: 1, ..tight() });
    let (feed, body) = fed(Some(5));
    feed.send(Bytes::from_static(b"h")).await.unwrap();
    let (slow, ()) = tokio::join!(runtime.handle(request("POST", "/read", body)), async {
        assert_eq!(get(&runtime, "/seen").await.0, 200, "others are served meanwhile");
    });
    assert_eq!(slow.status(), 408);
    assert_eq!(slow.headers()["connection"], "close");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_together_are_bounded() {
    let (runtime, _) = hostile(Limits { request_buffer: 1_000, request_buffers: 1_500, ..tight() });
    let post = |length| runtime.handle(request("POST", "/read", Full::new(Bytes::from(vec![b'x'; length]))));
    let (feed, body) = fed(Some(1_000));
    feed.send(Bytes::from(vec![b'x'; 900])).await.unwrap();
    let (slow, ()) = tokio::join!(runtime.handle(request("POST", "/read", body)), async {
        let refused = post(700).await;
        assert_eq!((refused.status().as_u16(), &refused.headers()["retry-after"]), (503, &"1".parse().unwrap()));
        assert_eq!(post(600).await.status(), 200);
    });
    assert_eq!(slow.status(), 408);
    assert_eq!(post(1_000).await.status(), 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_arrive_whole() {
    let (runtime, _) = hostile(Limits { request_buffer: 1_000, ..tight() });
    for length in [0, 1, 999, 1_000, 1_001, 100_000] {
        let body = Full::new(Bytes::from(vec![b'x'; length]));
        let answer = read(runtime.handle(request("POST", "/read", body)).await).await;
        assert_eq!(answer, (200, length.to_string()));
    }
    let (feed, body) = fed(None);
    let (answer, ()) = tokio::join!(runtime.handle(request("POST", "/read", body)), async move {
        for _ in 0..5 {
            feed.send(Bytes::from(vec![b'x'; 300])).await.unwrap();
        }
    });
    assert_eq!(read(answer).await, (200, "1500".to_owned()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_is_too_long_is_not_waited_for() {
    let (runtime, _) = hostile(Limits { request_buffer: 1_000, drain: 5_000, ..tight() });
    let (feed, body) = fed(Some(10_000));
    let answer = timeout(Duration::from_millis(200), runtime.handle(request("POST", "/unread", body))).await.unwrap();
    assert_eq!(answer.status(), 413);
    // The rest is drained, so that the client gets to read the answer, but not for ever.
    let mut taken = 0;
    while feed.send(Bytes::from(vec![b'x'; 1_000])).await.is_ok() {
        taken += 1;
    }
    assert!((5..=8).contains(&taken), "{taken}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_waits_for_leave_to_send_is_not_drained() {
    let (runtime, _) = hostile(Limits { request_buffer: 1_000, ..tight() });
    let (feed, body) = fed(Some(10_000));
    let mut request = request("POST", "/unread", body);
    request.headers_mut().insert("expect", "100-continue".parse().unwrap());
    assert_eq!(runtime.handle(request).await.status(), 413);
    assert!(feed.is_closed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_ends_when_its_client_is_gone() {
    let (runtime, api) = hostile(Limits { instances: 1, ..tight() });
    assert_eq!(get(&runtime, "/seen").await.1, "1");
    let gone = timeout(Duration::from_millis(100), get(&runtime, "/call?wait/2000")).await;
    assert!(gone.is_err());
    assert_eq!(get(&runtime, "/seen").await, (200, "2".to_owned()), "the instance is used again");
    assert_eq!((api.begun(), api.ended()), (1, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_cannot_be_read_costs_no_instance() {
    let (runtime, _) = hostile(tight());
    let ask = |build: fn(http::request::Builder) -> http::request::Builder| {
        let request = build(http::Request::builder().uri("/seen")).body(Full::<Bytes>::default()).unwrap();
        runtime.handle(request)
    };
    assert_eq!(ask(|request| request).await.status(), 400);
    assert_eq!(ask(|request| request.header("host", "a").header("host", "b")).await.status(), 400);
    assert_eq!(ask(|request| request.header("host", &b"\xff"[..])).await.status(), 400);
    assert_eq!(ask(|request| request.version(http::Version::HTTP_10)).await.status(), 200);
    assert_eq!(ask(|request| request.uri("http://localhost/seen")).await.status(), 200);
    assert_eq!(runtime.stats().failed, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_requests_leave_nothing_behind() {
    let (runtime, _) = hostile(Limits { instances: 1, reuse: 10_000, ..tight() });
    for _ in 0..2_500 {
        let body = Full::new(Bytes::from_static(b"twelve bytes"));
        assert_eq!(read(runtime.handle(request("POST", "/read", body)).await).await.1, "12");
        assert_eq!(get(&runtime, "/call?me").await.1, "me");
        assert_eq!(get(&runtime, "/unread").await.0, 413);
        assert_eq!(get(&runtime, "/large?10000").await.0, 200);
    }
    sleep(Duration::from_millis(100)).await;
    let stats = runtime.stats();
    assert_eq!((stats.started, stats.ended, stats.leaked, stats.failed), (1, 1, 0, 0));
}
