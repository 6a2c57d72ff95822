//! Clients that are broken, slow or hostile: they are refused, and the others are served meanwhile.

use std::thread::sleep;
use std::time::Duration;

use crate::harness::{Call, Connection, Server, shared};

const MIB: usize = 1 << 20;

/// The server answers somebody else.
#[track_caller]
fn others_are_served(server: &Server) {
    server.legacy("ping").send().result();
    server.modern("tools/call").name("me_get").send().document();
}

#[test]
fn a_mebibyte_of_nesting_is_refused() {
    let server = shared();
    let open = "[".repeat(MIB);
    let closed = format!("{}{}", "[".repeat(MIB / 2), "]".repeat(MIB / 2));
    let objects = r#"{"a":"#.repeat(MIB / 5);
    let inside = |inner: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":{inner}}}}}"#);
    let deep = "[".repeat(MIB / 2 - 100) + &"]".repeat(MIB / 2 - 100);
    for body in [open, closed, objects, inside(&deep), inside(&"[".repeat(MIB - 100))] {
        let answer = server.legacy("ping").body(body).send();
        let code = answer.is(400).json()["error"]["code"].clone();
        assert!(code == -32700 || code == -32600, "{answer}");
        others_are_served(&server);
    }
}

#[test]
fn large_and_odd_but_flat_bodies_are_read() {
    let server = shared();
    let wide =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":[{}0]}}}}"#, "0,".repeat(MIB / 2 - 100));
    server.legacy("ping").body(wide).send().result();
    let text =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":"{}"}}}}"#, "\\u0000".repeat(MIB / 6 - 100));
    server.legacy("ping").body(text).send().result();
}

/// A request whose body comes byte by byte. It holds no instance while it does: there is only one.
#[test]
fn trickling_bodies_keep_nobody_waiting() {
    let server = Server::demo().env("KOBANA_RUNTIME__INSTANCES", "1").start();
    let bytes = server.legacy("ping").bytes();
    let (most, last) = bytes.split_at(bytes.len() - 3);
    let mut slow: Vec<_> = (0..20).map(|_| server.connect()).collect();
    slow.iter_mut().for_each(|connection| connection.send(most));
    for byte in last {
        sleep(Duration::from_secs(1));
        others_are_served(&server);
        slow.iter_mut().for_each(|connection| connection.send([*byte]));
    }
    for connection in &mut slow {
        connection.answer().result();
    }
}

#[test]
fn a_body_that_does_not_come_is_given_up() {
    let server = Server::demo().env("KOBANA_RUNTIME__REQUEST_BODY_MS", "300").start();
    let bytes = server.legacy("ping").bytes();
    let mut connection = server.connect();
    connection.send(&bytes[..bytes.len() - 1]);
    connection.answer().is(408);
    others_are_served(&server);
}

#[test]
fn a_head_that_does_not_come_is_given_up() {
    let server = Server::demo().env("KOBANA_HTTP__HEAD_TIMEOUT", "1").start();
    let mut slow: Vec<_> = (0..20).map(|_| server.connect()).collect();
    slow.iter_mut().for_each(|connection| connection.send("POST /mcp HTTP/1.1\r\nHost: x\r\nX-Slow:"));
    let mut idle = server.connect();
    server.legacy("ping").send_on(&mut idle).result();
    for mut connection in slow {
        // It may say 408 before it hangs up.
        if let Some(answer) = connection.try_answer() {
            answer.is(408);
        }
        assert!(connection.is_closed());
    }
    assert!(idle.is_closed(), "a connection without a request is given up as well");
    others_are_served(&server);
}

/// Beyond the limit a connection waits until another one ends; it is not refused, and none of the open ones is lost.
#[test]
fn connections_are_limited() {
    let server = Server::demo().env("KOBANA_HTTP__MAX_CONNECTIONS", "8").start();
    let mut open: Vec<_> = (0..8).map(|_| server.connect()).collect();
    // Each is known to be taken, not just queued.
    open.iter_mut().for_each(|connection| {
        server.legacy("ping").send_on(connection).result();
    });
    let mut waiting = server.connect();
    waiting.send(server.legacy("ping").id("9").bytes());
    for connection in &mut open {
        connection.send("POST /mcp HTTP/1.1\r\n");
    }
    let mut last = open.pop().expect("there are eight");
    last.send(&server.legacy("ping").bytes()["POST /mcp HTTP/1.1\r\n".len()..]);
    last.answer().result();
    assert!(waiting.is_silent(), "there is no ninth connection");
    drop(last);
    assert_eq!(waiting.answer().json()["id"], 9);
    server.legacy("ping").send_on(&mut waiting).result();
}

#[test]
fn thousands_of_half_open_requests_keep_nobody_waiting() {
    const HALF_OPEN: usize = 2_000;
    let room = rlimit::increase_nofile_limit(HALF_OPEN as u64 + 500).expect("the limit can be read");
    let count = HALF_OPEN.min(usize::try_from(room).unwrap_or(usize::MAX).saturating_sub(500));
    assert!(count >= 500, "the system allows too few open files to say anything: {room}");
    let server = Server::demo().start();
    let bytes = server.legacy("ping").bytes();
    let mut half_open: Vec<_> = (0..count)
        .map(|n| {
            let mut connection = server.connect();
            // Some stop in the head, some in the body, some before they begin.
            connection.send(&bytes[..[0, 20, bytes.len() - 1][n % 3]]);
            connection
        })
        .collect();
    for _ in 0..20 {
        others_are_served(&server);
    }
    for (n, connection) in half_open.iter_mut().enumerate().take(60) {
        connection.send(&bytes[[0, 20, bytes.len() - 1][n % 3]..]);
        connection.answer().result();
    }
}

#[test]
fn heads_are_limited() {
    let server = shared();
    for call in [
        server.legacy("ping").header("X-Long", vec![b'a'; 300_000]),
        server.legacy("ping").set("Authorization", &format!("Bearer {}", "a".repeat(300_000))),
        (0..200).fold(server.legacy("ping"), |call, n| call.header(&format!("X-{n}"), "y")),
    ] {
        let mut connection = server.connect();
        let _ = connection.try_send(call.bytes());
        connection.answer().is(431);
        assert!(connection.is_closed());
    }
    server.legacy("ping").header("X-Long", vec![b'a'; 30_000]).send().result();
    others_are_served(&server);
}

/// What is refused by its head is refused before its body comes.
#[test]
fn a_large_upload_is_answered_early() {
    let server = shared();
    let announced = |call: Call| {
        let mut connection = server.connect();
        connection.send(call.set("Content-Length", "1073741824").head());
        connection.answer()
    };
    announced(server.legacy("ping")).fails_without_id(413, -32600);
    announced(server.legacy("ping").without("Authorization")).is(401);
    announced(server.legacy("ping").header("Origin", "https://evil.example")).is(403);
    announced(server.legacy("ping").set("Content-Type", "text/plain")).is(415);
}

/// A client that sends all of a body that is too large still gets to read why it was refused.
#[test]
fn an_upload_that_is_sent_all_the_same_gets_its_answer() {
    let server = shared();
    for call in [server.legacy("ping"), server.legacy("ping").without("Authorization")] {
        let status = if call.head().windows(13).any(|bytes| bytes == b"Authorization") { 413 } else { 401 };
        let mut connection = server.connect();
        let _ = connection.try_send(call.body(vec![b' '; 3 * MIB]).bytes());
        connection.answer().is(status);
    }
}

#[test]
fn bodies_that_are_framed_wrong_are_refused() {
    let server = shared();
    let with = |line: &str, body: &str| {
        let mut head = String::from_utf8(server.legacy("ping").head()).unwrap();
        head.insert_str(head.len() - 2, line);
        head + body
    };
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    for request in [
        with("Content-Length: 40\r\nContent-Length: 41\r\n", ping),
        with("Content-Length: x\r\n", ping),
        with("Content-Length: -1\r\n", ping),
        with("Transfer-Encoding: gzip\r\n", ping),
        with("Transfer-Encoding: chunked\r\n", "zz\r\n"),
        with("Bad Header\r\n", ""),
        "POST /mcp HTTP/9.9\r\n\r\n".to_owned(),
        "\0\0\0\0\r\n\r\n".to_owned(),
    ] {
        refuses(&mut server.connect(), request.as_bytes());
    }
    others_are_served(&server);
}

/// Expects that the server does not take this for a request: it says 4xx or nothing, and hangs up.
#[track_caller]
fn refuses(connection: &mut Connection, bytes: &[u8]) {
    let _ = connection.try_send(bytes);
    if let Some(answer) = connection.try_answer() {
        assert!((400..500).contains(&answer.status), "{answer}");
    }
    assert!(connection.is_closed(), "after {:?}", String::from_utf8_lossy(bytes));
}

#[test]
fn other_protocols_are_refused() {
    let server = shared();
    let tls = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    let http2 = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    for bytes in [tls.as_slice(), http2, b"EHLO example.com\r\n\r\n"] {
        refuses(&mut server.connect(), bytes);
    }
    others_are_served(&server);
}

#[test]
fn clients_that_hang_up_take_nothing_along() {
    let server = Server::demo().env("KOBANA_RUNTIME__INSTANCES", "2").start();
    let bytes = server.modern("tools/call").name("emails_list").bytes();
    for n in 0..200 {
        let mut connection = server.connect();
        connection.send(&bytes[..[bytes.len(), bytes.len() - 1, 30][n % 3]]);
        if n % 2 == 0 {
            connection.finish_sending();
        }
    }
    others_are_served(&server);
}
