//! Codes, and how they become tokens.

use serde_json::json;

use super::browser::{Browser, Redirect, encode, send};
use super::client::{ANA, CALLBACK, CHALLENGE, Client, MARCOS, Tokens, VERIFIER, metadata, refused, server};

#[test]
fn a_person_signs_in_allows_and_the_client_works() {
    let client = Client::new(&server());
    let mut browser = Browser::new(&client.server);
    let page = client.consent_page(&mut browser, ANA);
    let back = Redirect::of(&browser.submit(&page, "consent", &[("decision", "allow")]));
    assert_eq!(back.address, CALLBACK);
    assert_eq!(back.parameter("state"), Some("a state & more"));
    assert_eq!(back.parameter("iss"), Some(client.issuer().as_str()));
    assert_eq!(back.parameter("error"), None);
    let tokens = Tokens::of(&client.redeem(back.parameter("code").expect("a code")));
    assert!(client.me(&tokens.access).contains("Ana Souza"));
    // What a client gets that asks for nothing: everything that only reads.
    assert!(tokens.scope.contains("inbox.emails") && !tokens.scope.contains(".write"), "{}", tokens.scope);
    client.server.modern("tools/call").name("emails_list").token(&tokens.access).send().document();
    let write = client.server.modern("tools/call").name("inboxes_create").arguments(json!({ "label": "x" }));
    let step_up = write.token(&tokens.access).send();
    step_up.fails(403, -31403);
    assert!(step_up.header("www-authenticate").is_some_and(|value| value.contains("inbox.inboxes.write")));
    // An MCP token opens no other door.
    client.server.http("GET", "/api/v1/me").token(&tokens.access).send().is(401);
}

#[test]
fn a_code_that_comes_again_is_refused_and_ends_what_came_of_it() {
    let client = Client::new(&server());
    let code = client.code(ANA);
    let tokens = Tokens::of(&client.redeem(&code));
    assert!(client.opens(&tokens.access));
    refused(&client.redeem(&code), 400, "invalid_grant");
    assert!(!client.opens(&tokens.access));
    refused(&client.refresh(&tokens.refresh), 400, "invalid_grant");
}

#[test]
fn a_code_is_for_its_client_its_verifier_and_its_address() {
    let client = Client::new(&server());
    let other = Client::new(&client.server);
    let resource = client.resource();
    let right = [
        ("grant_type", "authorization_code"),
        ("code_verifier", VERIFIER),
        ("redirect_uri", CALLBACK),
        ("resource", resource.as_str()),
    ];
    for (name, value) in [
        ("code_verifier", "x".repeat(43).as_str()),
        ("code_verifier", CHALLENGE),
        ("redirect_uri", "http://127.0.0.1:49153/callback"),
        ("redirect_uri", "http://127.0.0.1:49152/callback/"),
    ] {
        let code = client.code(ANA);
        let mut pairs: Vec<_> = right.iter().copied().filter(|(known, _)| *known != name).collect();
        pairs.extend([(name, value), ("code", &code)]);
        refused(&client.token(&pairs), 400, "invalid_grant");
        // It is spent: nobody tries verifiers one after the other.
        refused(&client.redeem(&code), 400, "invalid_grant");
    }
    let code = client.code(ANA);
    refused(&other.redeem(&code), 400, "invalid_grant");
    refused(&client.redeem("no-such-code"), 400, "invalid_grant");
}

#[test]
fn what_is_missing_or_too_much_is_named() {
    let client = Client::new(&server());
    let code = client.code(ANA);
    let full = [("grant_type", "authorization_code"), ("code", code.as_str()), ("code_verifier", VERIFIER)];
    for missing in ["grant_type", "code", "code_verifier"] {
        let pairs: Vec<_> = full.iter().copied().filter(|(name, _)| *name != missing).collect();
        let answer = client.token(&pairs);
        refused(&answer, 400, "invalid_request");
        assert!(answer.json()["error_description"].as_str().is_some_and(|text| text.contains(missing)), "{answer}");
    }
    refused(&client.form("/oauth/token", &full), 400, "invalid_request");
    refused(&client.token(&[&full[..], &[("code", "x")]].concat()), 400, "invalid_request");
    refused(
        &client.token(&[&full[..], &[("resource", "https://elsewhere.example/mcp")]].concat()),
        400,
        "invalid_target",
    );
    refused(&client.token(&[("grant_type", "password")]), 400, "unsupported_grant_type");
    refused(&client.token(&[("grant_type", "client_credentials")]), 400, "unsupported_grant_type");
    refused(&client.token(&[&full[..], &[("client_secret", "s")]].concat()), 400, "invalid_client");
    let unknown = [&[("client_id", "no-such-client")], &full[..]].concat();
    refused(&client.form("/oauth/token", &unknown), 400, "invalid_client");
    // None of that spent it. OAuth 2.1 leaves redirect_uri and resource out.
    Tokens::of(&client.token(&full));
}

#[test]
fn the_token_endpoint_reads_forms_of_public_clients_only() {
    let client = Client::new(&server());
    let call = client.server.http("POST", "/oauth/token");
    let body = encode(&[("grant_type", "refresh_token"), ("client_id", &client.id), ("refresh_token", "x")]);
    let json = call.clone().header("Content-Type", "application/json").body(json!({}).to_string());
    refused(&send(&client.server, &json), 400, "invalid_request");
    refused(&send(&client.server, &call.clone().body(body.clone())), 400, "invalid_request");
    let form = call.header("Content-Type", "application/x-www-form-urlencoded; charset=utf-8").body(body);
    refused(&send(&client.server, &form), 400, "invalid_grant");
    let basic = send(&client.server, &form.clone().header("Authorization", "Basic eDp5"));
    refused(&basic, 401, "invalid_client");
    assert!(basic.header("www-authenticate").is_some_and(|value| value.starts_with("Basic ")), "{basic}");
    let long = form.body("x".repeat(20_000));
    send(&client.server, &long).is(413);
}

#[test]
fn a_client_that_asks_for_no_refresh_token_gets_none() {
    let server = server();
    let mut once = metadata(CALLBACK);
    once["grant_types"] = json!(["authorization_code"]);
    let client = Client::registered(&server, &once);
    let tokens = client.tokens(ANA);
    assert!(tokens.refresh.is_empty() && client.opens(&tokens.access));
}

#[test]
fn a_token_is_limited_to_the_workspace_that_was_picked() {
    let client = Client::new(&server());
    let reach = |access: &str| {
        let call = client.server.modern("tools/call").name("workspaces_list").token(access);
        call.send().document()["data"].as_array().expect("workspaces are listed").len()
    };
    let all = client.tokens(MARCOS);
    assert_eq!(reach(&all.access), 2);
    let mut browser = Browser::new(&client.server);
    let page = client.consent_page(&mut browser, MARCOS);
    let html = page.text();
    let labs = html.split("<label").find(|label| label.contains("Acme Laboratório")).expect("the workspace is offered");
    let id = labs.split("value=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("it has an id");
    let back = Redirect::of(&browser.submit(&page, "consent", &[("workspace", id), ("decision", "allow")]));
    let one = Tokens::of(&client.redeem(back.parameter("code").expect("a code")));
    assert_eq!(reach(&one.access), 1);
}
