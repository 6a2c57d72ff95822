//! What clients discover before they begin.

use serde_json::json;

use super::browser::send;
use super::client::{Client, server};
use crate::harness::Server;

const METADATA: &str = "/.well-known/oauth-authorization-server";

#[test]
fn a_client_without_a_token_finds_its_way_from_the_challenge_to_the_endpoints() {
    let server = server();
    let refused = server.modern("tools/list").without("Authorization").send();
    let challenge = refused.is(401).header("www-authenticate").expect("a challenge").to_owned();
    let origin = format!("http://127.0.0.1:{}", server.port());
    let path = challenge.split('"').find_map(|part| part.strip_prefix(&origin)).expect("the metadata of the resource");
    let resource = server.http("GET", path).send().is(200).json();
    assert_eq!(resource["authorization_servers"], json!([origin]));
    let metadata = send(&server, &server.http("GET", METADATA));
    let metadata = metadata.is(200).has("content-type", "application/json").json();
    assert_eq!(metadata["issuer"], json!(origin));
    for (name, expected) in [
        ("response_types_supported", json!(["code"])),
        ("grant_types_supported", json!(["authorization_code", "refresh_token"])),
        ("token_endpoint_auth_methods_supported", json!(["none"])),
        ("code_challenge_methods_supported", json!(["S256"])),
        ("authorization_response_iss_parameter_supported", json!(true)),
        ("client_id_metadata_document_supported", json!(true)),
    ] {
        assert_eq!(metadata[name], expected, "{name}");
    }
    let scopes = metadata["scopes_supported"].as_array().expect("scopes");
    assert_eq!(scopes.len(), 14);
    for (name, verb) in [
        ("authorization_endpoint", "GET"),
        ("token_endpoint", "POST"),
        ("registration_endpoint", "POST"),
        ("revocation_endpoint", "POST"),
        ("jwks_uri", "GET"),
    ] {
        let path = metadata[name].as_str().and_then(|url| url.strip_prefix(&origin)).expect("an endpoint of ours");
        let other = send(&server, &server.http("DELETE", path));
        assert!(other.is(405).header("allow").is_some_and(|allow| allow.contains(verb)), "{other}");
    }
}

#[test]
fn the_issuer_is_configured_and_not_what_a_request_says() {
    let server = Server::demo().env("KOBANA_RESOURCE", "https://inbox.example.com/mcp").start();
    let metadata = send(&server, &server.http("GET", METADATA).set("Host", "evil.example"));
    let metadata = metadata.is(200).json();
    assert_eq!(metadata["issuer"], "https://inbox.example.com");
    assert_eq!(metadata["token_endpoint"], "https://inbox.example.com/oauth/token");
}

#[test]
fn the_keys_are_public_and_verify_what_is_issued() {
    let client = Client::new(&server());
    let keys = send(&client.server, &client.server.http("GET", "/oauth/jwks"));
    let keys = keys.is(200).json();
    let key = &keys["keys"][0];
    assert_eq!((&key["kty"], &key["crv"], &key["alg"]), (&json!("OKP"), &json!("Ed25519"), &json!("EdDSA")));
    assert!(key.get("d").is_none(), "{keys}");
    let token = client.tokens(super::client::ANA).access;
    let header = token.split('.').next().expect("a token has parts");
    let header = base64::Engine::decode(&base64::engine::general_purpose::URL_SAFE_NO_PAD, header).expect("base64url");
    let header: serde_json::Value = serde_json::from_slice(&header).expect("JSON");
    assert_eq!((&header["typ"], &header["kid"]), (&json!("at+jwt"), &key["kid"]));
}

#[test]
fn pages_of_any_origin_may_talk_to_the_endpoints_of_programs_and_to_nothing_else() {
    let server = server();
    for (path, verb) in [
        (METADATA, "GET"),
        ("/oauth/jwks", "GET"),
        ("/oauth/token", "POST"),
        ("/oauth/register", "POST"),
        ("/oauth/revoke", "POST"),
    ] {
        let asks = server
            .http("OPTIONS", path)
            .header("Origin", "https://inspector.example")
            .header("Access-Control-Request-Method", verb)
            .header("Access-Control-Request-Headers", "content-type,mcp-protocol-version");
        let preflight = send(&server, &asks);
        assert_eq!(preflight.header("access-control-allow-origin"), Some("*"), "{path}: {preflight}");
        assert!(preflight.header("access-control-allow-methods").is_some_and(|all| all.contains(verb)), "{preflight}");
        assert!(
            preflight.header("access-control-allow-headers").is_some_and(|all| all.contains("mcp-protocol-version")),
            "{preflight}"
        );
        preflight.lacks("access-control-allow-credentials");
        let answer = send(&server, &server.http(verb, path).header("Origin", "https://inspector.example"));
        answer.has("access-control-allow-origin", "*").lacks("access-control-allow-credentials");
    }
    let client = Client::new(&server);
    for path in [client.path().as_str(), "/oauth/logout", "/oauth/style.css"] {
        let answer = send(&server, &server.http("GET", path).header("Origin", "https://inspector.example"));
        answer.lacks("access-control-allow-origin");
    }
}

#[test]
fn with_an_issuer_elsewhere_nobody_signs_in_here() {
    // It cannot be reached, which is no reason to stand in for it.
    let server = Server::demo().env("KOBANA_ISSUER__URL", "http://127.0.0.1:9").start();
    for path in [METADATA, "/oauth/authorize", "/oauth/jwks", "/oauth/logout", "/oauth/style.css"] {
        send(&server, &server.http("GET", path)).is(404);
    }
    for path in ["/oauth/token", "/oauth/register", "/oauth/revoke", "/oauth/login", "/oauth/consent"] {
        send(&server, &server.http("POST", path)).is(404);
    }
    let resource = send(&server, &server.http("GET", "/.well-known/oauth-protected-resource"));
    assert_eq!(resource.is(200).json()["authorization_servers"], json!(["http://127.0.0.1:9"]));
}

#[test]
fn what_leads_nowhere_says_so() {
    let server = server();
    for path in ["/oauth", "/oauth/", "/oauth/userinfo", "/oauth/authorize/x"] {
        send(&server, &server.http("GET", path)).is(404);
    }
    // No OpenID provider: it would have to answer for more.
    send(&server, &server.http("GET", "/.well-known/openid-configuration")).is(404);
}
