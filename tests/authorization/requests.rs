//! Authorization requests, and who is told what is wrong with them.

use super::browser::{Browser, Redirect};
use super::client::{ANA, CALLBACK, Client, metadata, server};

/// What comes back of a request by a client on this computer, before anybody signs in.
#[track_caller]
fn told(client: &Client) -> Redirect {
    let answer = Browser::new(&client.server).get(&client.path());
    let back = Redirect::of(answer.is(302));
    assert_eq!(back.address, CALLBACK);
    assert_eq!(back.parameter("iss"), Some(client.issuer().as_str()));
    assert_eq!(back.parameter("code"), None);
    assert!(back.parameter("error_description").is_some_and(|text| !text.is_empty()));
    back
}

#[test]
fn what_is_wrong_is_told_to_the_client_with_its_state() {
    let client = Client::new(&server());
    for (name, value, error) in [
        ("response_type", "token", "unsupported_response_type"),
        ("response_type", "", "invalid_request"),
        ("response_mode", "fragment", "invalid_request"),
        ("code_challenge", "", "invalid_request"),
        ("code_challenge", "short", "invalid_request"),
        ("code_challenge_method", "plain", "invalid_request"),
        ("code_challenge_method", "", "invalid_request"),
        ("scope", "inbox.emails inbox.everything", "invalid_scope"),
        ("scope", "openid", "invalid_scope"),
        ("resource", "https://elsewhere.example/mcp", "invalid_target"),
        ("resource", "http://127.0.0.1/mcp", "invalid_target"),
    ] {
        let back = told(&client.clone().with(name, value));
        assert_eq!(back.parameter("error"), Some(error), "{name}={value}");
        assert_eq!(back.parameter("state"), Some("a state & more"), "{name}={value}");
    }
    let twice = client.path() + "&scope=inbox.emails&scope=inbox.agents";
    let back = Redirect::of(&Browser::new(&client.server).get(&twice));
    assert_eq!(back.parameter("error"), Some("invalid_request"));
}

#[test]
fn nobody_is_sent_to_an_address_that_is_not_the_clients() {
    let client = Client::new(&server());
    for (name, value) in [
        ("redirect_uri", "https://evil.example/callback"),
        ("redirect_uri", "http://127.0.0.1:49152/callback/extra"),
        ("redirect_uri", "http://127.0.0.1:49152/callback?x=1"),
        ("redirect_uri", "http://127.0.0.1:49152@evil.example/callback"),
        ("redirect_uri", "http://localhost:49152/callback"),
        ("redirect_uri", "javascript:alert(1)"),
        ("redirect_uri", ""),
        ("client_id", "no-such-client"),
        ("client_id", "<script>alert(1)</script>"),
        ("client_id", ""),
    ] {
        let asking = client.clone().with(name, value);
        let mut browser = Browser::new(&client.server);
        for _ in 0..2 {
            let page = browser.get(&asking.path());
            page.is(400).has("content-type", "text/html; charset=utf-8").lacks("location");
            let html = page.text();
            assert!(html.contains("role=\"alert\"") && !html.contains("evil.example"), "{name}={value}: {html}");
            assert!(!html.contains("<script"), "{html}");
            // Whether somebody is signed in makes no difference.
            client.consent_page(&mut browser, ANA);
        }
    }
    let twice = client.path() + "&redirect_uri=" + CALLBACK;
    Browser::new(&client.server).get(&twice).is(400);
}

#[test]
fn a_program_on_this_computer_may_listen_on_any_port() {
    let client = Client::new(&server());
    let callback = "http://127.0.0.1:65000/callback";
    let elsewhere = client.clone().with("redirect_uri", callback);
    let mut browser = Browser::new(&client.server);
    let page = elsewhere.consent_page(&mut browser, ANA);
    let back = Redirect::of(&browser.submit(&page, "consent", &[("decision", "allow")]));
    assert_eq!(back.address, callback);
}

#[test]
fn a_web_site_gets_no_visitor_from_here_who_has_not_signed_in() {
    let server = server();
    let site = "https://app.example.com/callback";
    let client = Client::registered(&server, &metadata(site)).with("redirect_uri", site).with("scope", "nonsense");
    let mut browser = Browser::new(&server);
    let login = browser.get(&client.path());
    login.is(200).lacks("location");
    browser.submit(&login, "login", &[("email", ANA.0), ("password", ANA.1)]).is(303);
    let back = Redirect::of(&browser.get(&client.path()));
    assert_eq!((back.address.as_str(), back.parameter("error")), (site, Some("invalid_scope")));
}

#[test]
fn an_app_is_opened_from_a_page_that_stays() {
    let server = server();
    let app = "cursor://anysphere.cursor-retrieval/oauth/callback";
    let client = Client::registered(&server, &metadata(app)).with("redirect_uri", app);
    let mut browser = Browser::new(&server);
    let page = client.consent_page(&mut browser, ANA);
    assert!(page.text().contains("cursor:"), "{page}");
    let done = browser.submit(&page, "consent", &[("decision", "allow")]);
    let html = done.is(200).text();
    assert!(html.contains("http-equiv=\"refresh\"") && html.contains("You can close this window"), "{html}");
    let link = html.split("href=\"").find(|part| part.starts_with("cursor:")).expect("a link to the app");
    let link = super::browser::unescape(link.split('"').next().expect("a link ends"));
    let code = link.split_once("code=").and_then(|(_, rest)| rest.split('&').next()).expect("a code");
    let pairs = [
        ("grant_type", "authorization_code"),
        ("code", code),
        ("code_verifier", super::client::VERIFIER),
        ("redirect_uri", app),
    ];
    super::client::Tokens::of(&client.token(&pairs));
}

#[test]
fn a_long_state_survives_the_pages() {
    let state = "é&=\"<>".repeat(1_000);
    let client = Client::new(&server()).with("state", &state);
    let mut browser = Browser::new(&client.server);
    let page = client.consent_page(&mut browser, ANA);
    let back = Redirect::of(&browser.submit(&page, "consent", &[("decision", "allow")]));
    assert_eq!(back.parameter("state"), Some(state.as_str()));
}

#[test]
fn what_a_client_may_leave_out_it_may_leave_out() {
    // Clients of 2025-03-26 know no resource; state is the client's own affair.
    let client = Client::new(&server()).with("resource", "").with("state", "").with("scope", "");
    let mut browser = Browser::new(&client.server);
    let page = client.consent_page(&mut browser, ANA);
    let back = Redirect::of(&browser.submit(&page, "consent", &[("decision", "allow")]));
    assert_eq!(back.parameter("state"), None);
    assert!(back.parameter("code").is_some());
}
