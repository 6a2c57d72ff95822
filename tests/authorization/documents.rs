//! Clients whose id is the address of a document about them.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::browser::{Browser, Redirect};
use super::client::{ANA, CALLBACK, Client, Tokens, patient, server};
use crate::harness::{Answer, Server};

/// A web server that says one thing, however often it is asked.
struct Publisher {
    id: String,
    asked: Arc<AtomicUsize>,
}

impl Publisher {
    /// Says what `answer` makes of the address of the document.
    fn new(answer: impl Fn(&str) -> Option<Vec<u8>> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let id = format!("http://{}/client.json", listener.local_addr().expect("an address"));
        let asked = Arc::new(AtomicUsize::new(0));
        let (about, count) = (id.clone(), Arc::clone(&asked));
        std::thread::spawn(move || {
            let mut silent = Vec::new();
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                count.fetch_add(1, Ordering::SeqCst);
                let _ = stream.read(&mut [0; 4096]);
                match answer(&about) {
                    Some(answer) => {
                        let _ = stream.write_all(&answer);
                        let _ = stream.shutdown(Shutdown::Both);
                    }
                    // It keeps the connection and says nothing.
                    None => silent.push(stream),
                }
            }
        });
        Self { id, asked }
    }

    /// Publishes a document; the changes are made to what a good one says.
    fn of(changes: Value) -> Self {
        Self::new(move |id| Some(ok(&document(id, &changes).to_string(), "")))
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

fn document(id: &str, changes: &Value) -> Value {
    let mut document = json!({
        "client_id": id,
        "client_name": "Published Client",
        "redirect_uris": [CALLBACK],
        "grant_types": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_method": "none",
    });
    for (name, value) in changes.as_object().expect("an object") {
        document[name] = value.clone();
    }
    document
}

fn ok(body: &str, headers: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{headers}Content-Length: {length}\r\n\r\n{body}")
        .into()
}

#[track_caller]
fn first_page(server: &Server, id: &str) -> Answer {
    Browser::new(server).get(&Client::published(server, id).path())
}

#[track_caller]
fn unknown(server: &Server, id: &str) -> String {
    let page = first_page(server, id);
    page.is(400).lacks("location");
    page.text()
}

#[test]
fn a_published_client_needs_no_registration() {
    let server = server();
    let publisher = Publisher::of(json!({}));
    let client = Client::published(&server, &publisher.id);
    let mut browser = Browser::new(&server);
    let page = client.consent_page(&mut browser, ANA);
    let html = page.text();
    let host = publisher.id.split('/').nth(2).expect("a host");
    assert!(html.contains("Published Client") && html.contains(host), "{html}");
    // Its name is proven, but not who listens on this computer.
    assert!(html.contains("Another program on this computer could pretend to be it"), "{html}");
    let back = Redirect::of(&browser.submit(&page, "consent", &[("decision", "allow")]));
    let tokens = Tokens::of(&client.redeem(back.parameter("code").expect("a code")));
    assert!(client.me(&tokens.access).contains("Ana Souza"));
    Tokens::of(&client.refresh(&tokens.refresh));
    // One sign-in of four requests reads it once.
    assert_eq!(publisher.asked(), 1);
}

#[test]
fn a_site_that_publishes_itself_is_who_it_says() {
    let server = server();
    let site = "https://app.example.com/callback";
    let publisher = Publisher::of(json!({ "redirect_uris": [site] }));
    let client = Client::published(&server, &publisher.id).with("redirect_uri", site);
    let html = client.consent_page(&mut Browser::new(&server), ANA).text();
    assert!(html.contains("app.example.com") && !html.contains("id=\"unproven\""), "{html}");
}

#[test]
fn what_the_document_does_not_name_is_not_the_clients() {
    let server = server();
    let publisher = Publisher::of(json!({ "redirect_uris": ["https://app.example.com/callback"] }));
    let html = unknown(&server, &publisher.id);
    assert!(html.contains("redirect_uri"), "{html}");
}

#[test]
fn a_document_that_is_not_good_makes_no_client() {
    let server = server();
    let bad = [
        Publisher::of(json!({ "client_id": "http://127.0.0.1:1/other.json" })),
        Publisher::of(json!({ "client_id": null })),
        Publisher::of(json!({ "redirect_uris": [] })),
        Publisher::of(json!({ "token_endpoint_auth_method": "client_secret_basic" })),
        Publisher::of(json!({ "client_secret": "s" })),
        // Oversized, announced or not.
        Publisher::of(json!({ "padding": "x".repeat(6_000) })),
        Publisher::new(|id| {
            let body = document(id, &json!({ "padding": "x".repeat(6_000) })).to_string();
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n";
            Some(format!("{head}{body}").into())
        }),
        Publisher::new(|id| {
            let whole = String::from_utf8(ok(&document(id, &json!({})).to_string(), "")).expect("text");
            Some(whole.replace("application/json", "text/html").into())
        }),
        Publisher::new(|_| Some(ok("[]", ""))),
        Publisher::new(|_| Some(ok("{", ""))),
        Publisher::new(|_| Some(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec())),
        Publisher::new(|_| Some(b"nonsense".to_vec())),
    ];
    for (number, publisher) in bad.iter().enumerate() {
        let html = unknown(&server, &publisher.id);
        assert!(html.contains("the document about the client"), "{number}: {html}");
        // A failure is not kept.
        unknown(&server, &publisher.id);
        assert_eq!(publisher.asked(), 2, "{number}");
    }
}

#[test]
fn no_redirect_is_followed() {
    let server = server();
    let good = Publisher::of(json!({}));
    let target = good.id.clone();
    let moved = Publisher::new(move |_| {
        Some(format!("HTTP/1.1 302 Found\r\nLocation: {target}\r\nContent-Length: 0\r\n\r\n").into())
    });
    unknown(&server, &moved.id);
    assert_eq!((moved.asked(), good.asked()), (1, 0));
}

#[test]
fn nobody_waits_for_a_silent_publisher_for_long() {
    let server = server();
    let silent = Publisher::new(|_| None);
    let html = unknown(&server, &silent.id);
    assert!(html.contains("cannot be fetched") && !html.contains("seconds"), "{html}");
    // Why is in the log.
    server.wait_for_log("no answer within 5 seconds");
}

#[test]
fn no_document_is_fetched_from_an_address_that_is_not_public() {
    let demo = server();
    for id in [
        "http://10.0.0.1/client.json",
        "https://192.168.0.1/client.json",
        "https://169.254.169.254/latest/meta-data",
        "http://intranet.example/client.json",
        "https://client.internal/client.json",
        "https://user@client.example/client.json",
        "https://client.example",
        "https://client.example/a/../client.json",
        "https://client.example/client.json#x",
        "https://client.example/client.json?x=y",
        "ftp://client.example/client.json",
    ] {
        unknown(&demo, id);
    }
    // Loopback is for the demo, and can be switched off there.
    let strict = patient().env("KOBANA_LOGIN__ALLOW_LOOPBACK", "false").start();
    let publisher = Publisher::of(json!({}));
    unknown(&strict, &publisher.id);
    unknown(&strict, &publisher.id.replace("127.0.0.1", "localhost"));
    assert_eq!(publisher.asked(), 0);
}

#[test]
fn documents_are_fetched_for_an_address_only_so_often() {
    let server = Server::demo().env("KOBANA_LOGIN__REGISTRATIONS", "2").start();
    let publisher = Publisher::new(|_| Some(ok("{}", "")));
    unknown(&server, &publisher.id);
    unknown(&server, &publisher.id);
    let page = first_page(&server, &publisher.id);
    assert!(page.is(429).number("retry-after") >= 1);
    assert_eq!(publisher.asked(), 2);
}
