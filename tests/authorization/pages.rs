//! What is true of every page.

use super::browser::{Browser, send};
use super::client::{ANA, Client, metadata, server};
use crate::harness::Answer;

/// Every page there is, by name.
fn every_page(language: &'static str) -> Vec<(&'static str, Answer)> {
    let server = server();
    let client = Client::new(&server);
    let new = || Browser::new(&server).speaking(language);
    let mut browser = new();
    let login = browser.get(&client.path());
    let wrong = browser.submit(&login, "login", &[("email", ANA.0), ("password", "wrong-password")]);
    let stale = new().submit(&login, "login", &[]);
    let consent = client.consent_page(&mut browser, ANA);
    let nothing = browser.submit(&consent, "consent", &[("scope", ""), ("decision", "allow")]);
    let sign_out = browser.get("/oauth/logout");
    let app = "cursor://callback/";
    let app = Client::registered(&server, &metadata(app)).with("redirect_uri", app);
    let ask = browser.get(&app.path());
    let opened = browser.submit(&ask, "consent", &[("decision", "deny")]);
    vec![
        ("login", login),
        ("wrong password", wrong),
        ("stale form", stale),
        ("consent", consent),
        ("nothing chosen", nothing),
        ("sign out", sign_out),
        ("signed out", new().get("/oauth/logout")),
        ("app", opened),
        ("error", new().get("/oauth/authorize")),
        ("not found", new().get("/oauth/nowhere")),
        ("wrong method", new().get("/oauth/login")),
    ]
}

#[test]
fn no_page_can_be_framed_scripted_kept_or_sent_elsewhere() {
    for (name, page) in every_page("en") {
        page.has("content-type", "text/html; charset=utf-8")
            .has("x-frame-options", "DENY")
            .has("x-content-type-options", "nosniff")
            .has("referrer-policy", "no-referrer")
            .has("cross-origin-opener-policy", "same-origin")
            .has("cache-control", "no-store");
        let policy = page.header("content-security-policy").unwrap_or_else(|| panic!("{name}: no policy"));
        for rule in ["default-src 'none'", "style-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"] {
            assert!(policy.split("; ").any(|part| part == rule), "{name}: {policy}");
        }
        assert!(!policy.contains("unsafe") && !policy.contains("script-src"), "{name}: {policy}");
        let html = page.text();
        for forbidden in ["<script", "<style", " style=", " onclick=", "javascript:", "<iframe", "<img"] {
            assert!(!html.contains(forbidden), "{name}: {forbidden}");
        }
    }
}

#[test]
fn a_path_of_forms_says_what_it_takes() {
    let mut browser = Browser::new(&server());
    for path in ["/oauth/login", "/oauth/consent"] {
        browser.get(path).is(405).has("allow", "POST").has("content-type", "text/html; charset=utf-8");
    }
    browser.post("/oauth/authorize", &[]).is(405).has("allow", "GET,HEAD");
}

#[test]
fn forms_lead_to_this_server_and_to_the_client_that_asks() {
    let client = Client::new(&server());
    let mut browser = Browser::new(&client.server);
    for page in [browser.get(&client.path()), client.consent_page(&mut browser, ANA)] {
        let policy = page.header("content-security-policy").expect("a policy");
        assert!(policy.contains("form-action 'self' http://127.0.0.1:49152;"), "{policy}");
    }
    let site = "https://app.example.com:8443/callback";
    let client = Client::registered(&client.server, &metadata(site)).with("redirect_uri", site);
    let page = browser.get(&client.path());
    let policy = page.header("content-security-policy").expect("a policy");
    assert!(policy.contains("form-action 'self' https://app.example.com:8443;"), "{policy}");
    let nowhere = browser.get("/oauth/nowhere");
    let policy = nowhere.header("content-security-policy").expect("a policy");
    assert!(policy.contains("form-action 'self';"), "{policy}");
}

#[test]
fn pages_speak_the_language_that_is_liked_best() {
    for (language, tag, words) in [
        ("pt-BR,pt;q=0.9,en;q=0.8", "pt-BR", "Permitir"),
        ("de,en-GB;q=0.7,pt;q=0.3", "en", "Allow"),
        ("xx", "en", "Allow"),
    ] {
        for (name, page) in every_page(language) {
            let html = page.text();
            assert!(html.starts_with("<!doctype html>"), "{name}");
            assert!(html.contains(&format!("<html lang=\"{tag}\">")), "{name} {language}");
            if name == "consent" {
                assert!(html.contains(words), "{html}");
            }
        }
    }
}

#[test]
fn every_field_has_a_label_and_every_page_a_heading() {
    for (name, page) in every_page("en") {
        let html = page.text();
        assert_eq!(html.matches("<h1").count(), 1, "{name}");
        assert!(html.contains("<main") && html.contains("<title>"), "{name}");
        for tag in html.split('<').filter(|tag| tag.starts_with("input ")) {
            let id = tag.split(" id=\"").nth(1).and_then(|rest| rest.split('"').next());
            let labelled = id.is_some_and(|id| html.contains(&format!("<label for=\"{id}\"")));
            // The others stand within their labels.
            let within =
                tag.contains("type=\"hidden\"") || html.contains(&format!("<label class=\"choice\"><{tag}")[..40]);
            assert!(labelled || within, "{name}: {tag}");
        }
    }
}

#[test]
fn style_and_icon_are_what_they_say() {
    let server = server();
    for (path, media_type) in [("/oauth/style.css", "text/css; charset=utf-8"), ("/oauth/icon.svg", "image/svg+xml")] {
        let answer = send(&server, &server.http("GET", path));
        answer.is(200).has("content-type", media_type).has("x-content-type-options", "nosniff");
        assert!(!answer.text().contains("url(") && !answer.text().contains("@import"), "{path}");
    }
}
