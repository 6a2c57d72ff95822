//! Clients make themselves known (RFC 7591).

use serde_json::json;

use super::browser::send;
use super::client::{CALLBACK, metadata, refused, register, server};
use crate::harness::Server;

#[test]
fn a_client_is_told_what_was_registered() {
    let server = server();
    let answer = register(&server, &metadata(CALLBACK));
    let document = answer.is(201).has("cache-control", "no-store").json();
    assert!(document["client_id"].as_str().is_some_and(|id| id.len() >= 32), "{document}");
    assert!(document["client_id_issued_at"].as_i64().is_some_and(|at| at > 1_700_000_000), "{document}");
    assert!(document.get("client_secret").is_none(), "{document}");
    for (name, value) in metadata(CALLBACK).as_object().expect("an object") {
        assert_eq!(&document[name], value, "{name}");
    }
    // RFC 7591 §2: what is left out has defaults, and what is unknown is passed over.
    let least = register(&server, &json!({ "redirect_uris": [CALLBACK], "software_id": "x", "contacts": [1] }));
    let least = least.is(201).json();
    assert_eq!(least["grant_types"], json!(["authorization_code"]));
    assert_eq!(least["token_endpoint_auth_method"], "none");
    assert_ne!(least["client_id"], document["client_id"]);
}

#[test]
fn nonsense_is_refused_with_the_rfcs_errors() {
    let server = server();
    let with = |name: &str, value: serde_json::Value| {
        let mut document = metadata(CALLBACK);
        document[name] = value;
        document
    };
    for (document, error) in [
        (with("redirect_uris", json!([])), "invalid_redirect_uri"),
        (with("redirect_uris", json!(["http://app.example/cb"])), "invalid_redirect_uri"),
        (with("redirect_uris", json!(["https://app.example/cb#x"])), "invalid_redirect_uri"),
        (with("redirect_uris", json!(["javascript:alert(1)"])), "invalid_redirect_uri"),
        (with("redirect_uris", json!([CALLBACK, "data:text/html,x"])), "invalid_redirect_uri"),
        (with("redirect_uris", json!(null)), "invalid_redirect_uri"),
        (with("redirect_uris", json!("https://app.example/cb")), "invalid_client_metadata"),
        (with("redirect_uris", json!([1])), "invalid_client_metadata"),
        (with("client_name", json!(7)), "invalid_client_metadata"),
        (with("client_name", json!("x".repeat(201))), "invalid_client_metadata"),
        (with("token_endpoint_auth_method", json!("client_secret_basic")), "invalid_client_metadata"),
        (with("grant_types", json!(["implicit"])), "invalid_client_metadata"),
        (with("response_types", json!(["token"])), "invalid_client_metadata"),
        (json!([]), "invalid_client_metadata"),
        (json!(null), "invalid_client_metadata"),
    ] {
        refused(&register(&server, &document), 400, error);
    }
    let call = server.http("POST", "/oauth/register").header("Content-Type", "application/json");
    refused(&send(&server, &call.clone().body("{")), 400, "invalid_client_metadata");
    refused(&send(&server, &call.clone().set("Content-Type", "text/plain").body("{}")), 400, "invalid_client_metadata");
    send(&server, &call.body(vec![b' '; 20_000])).is(413);
}

#[test]
fn an_address_registers_only_so_many_and_a_server_keeps_only_so_many() {
    let limited = Server::demo().env("KOBANA_LOGIN__REGISTRATIONS", "2").start();
    register(&limited, &metadata(CALLBACK)).is(201);
    // What is refused counts, too.
    register(&limited, &json!({})).is(400);
    let answer = register(&limited, &metadata(CALLBACK));
    refused(&answer, 429, "temporarily_unavailable");
    assert!((1..=1_801).contains(&answer.number("retry-after")), "{answer}");

    let full = Server::demo().env("KOBANA_LOGIN__MAX_CLIENTS", "2").start();
    register(&full, &metadata(CALLBACK)).is(201);
    register(&full, &metadata(CALLBACK)).is(201);
    refused(&register(&full, &metadata(CALLBACK)), 503, "temporarily_unavailable");
}
