//! Signing in and out.

use super::browser::{Browser, Form, Redirect};
use super::client::{ANA, Client, MARCOS, server};
use crate::harness::{Answer, Server};

/// The attributes of a cookie that an answer sets.
#[track_caller]
fn attributes(answer: &Answer, name: &str) -> Vec<String> {
    let line = answer.values("set-cookie").find(|line| line.starts_with(&format!("{name}=")));
    let line = line.unwrap_or_else(|| panic!("no cookie {name}: {answer}"));
    line.split(';').skip(1).map(|attribute| attribute.trim().to_owned()).collect()
}

#[test]
fn a_wrong_password_and_an_unknown_account_look_the_same() {
    let client = Client::new(&server());
    let pages = [(ANA.0, "wrong-password"), ("nobody@acme.example", ANA.1), ("rui.braga@acme.example", ANA.1)];
    let pages = pages.map(|(email, password)| {
        let mut browser = Browser::new(&client.server);
        let login = browser.get(&client.path());
        let answer = browser.submit(&login, "login", &[("email", email), ("password", password)]);
        assert!(browser.cookie("kobana-session").is_none(), "{answer}");
        let html = answer.is(422).text();
        assert!(html.contains("role=\"alert\"") && !html.contains(password), "{html}");
        let token = Form::on(&answer, "login").all("token")[0].to_owned();
        html.replace(email, "").replace(&token, "")
    });
    assert!(pages.iter().all(|page| *page == pages[0]), "{pages:?}");
}

#[test]
fn what_is_left_empty_is_asked_for() {
    let client = Client::new(&server());
    let mut browser = Browser::new(&client.server);
    let login = browser.get(&client.path());
    for (email, password) in [("", ""), (ANA.0, ""), ("", ANA.1)] {
        let answer = browser.submit(&login, "login", &[("email", email), ("password", password)]);
        assert!(answer.is(422).text().contains("Enter your e-mail address and your password"), "{answer}");
    }
    let upper = ANA.0.to_uppercase();
    browser.submit(&login, "login", &[("email", &format!(" {upper} ")), ("password", ANA.1)]).is(303);
}

#[test]
fn cookies_are_out_of_reach_for_scripts_and_new_at_each_sign_in() {
    let client = Client::new(&server());
    let mut browser = Browser::new(&client.server);
    browser.set_cookie("kobana-session", "chosen-by-somebody-else");
    let login = browser.get(&client.path());
    for flag in ["HttpOnly", "SameSite=Lax", "Path=/"] {
        assert!(attributes(&login, "kobana-visitor").contains(&flag.to_owned()), "{login}");
    }
    let signed_in = browser.submit(&login, "login", &[("email", ANA.0), ("password", ANA.1)]);
    let flags = attributes(&signed_in, "kobana-session");
    for flag in ["HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=43200"] {
        assert!(flags.contains(&flag.to_owned()), "{signed_in}");
    }
    assert!(!flags.iter().any(|flag| flag.starts_with("Domain")), "{signed_in}");
    let first = browser.cookie("kobana-session").expect("a session").to_owned();
    assert!(first.len() >= 43 && browser.cookie("kobana-visitor").is_none());
    // Signing in once more, from a page that was open before, ends the old session.
    browser.get(&client.path()).is(200);
    let mut again = Browser::new(&client.server);
    let login = again.get(&client.path());
    again.set_cookie("kobana-session", &first);
    again.submit(&login, "login", &[("email", MARCOS.0), ("password", MARCOS.1)]).is(303);
    assert_ne!(again.cookie("kobana-session"), Some(first.as_str()));
    assert!(browser.get(&client.path()).text().contains("id=\"login\""));
}

#[test]
fn off_loopback_no_cookie_goes_without_tls_nor_to_other_hosts() {
    let server = Server::demo().env("KOBANA_RESOURCE", "https://inbox.example.com/mcp").start();
    let client = Client::new(&server).with("resource", "https://inbox.example.com/mcp");
    let mut browser = Browser::new(&server);
    let login = browser.get(&client.path());
    let signed_in = browser.submit(&login, "login", &[("email", ANA.0), ("password", ANA.1)]);
    for answer in [&login, &signed_in] {
        for line in answer.values("set-cookie") {
            assert!(
                line.starts_with("__Host-kobana-") && line.contains("; Secure") && line.contains("; Path=/"),
                "{line}"
            );
        }
    }
    assert!(browser.cookie("__Host-kobana-session").is_some());
    assert!(browser.get(&client.path()).text().contains("Ana Souza"));
}

#[test]
fn nobody_is_signed_in_from_elsewhere() {
    let client = Client::new(&server());
    let mut browser = Browser::new(&client.server);
    let login = browser.get(&client.path());
    let foreign = Form::on(&Browser::new(&client.server).get(&client.path()), "login");
    for token in ["", "x", foreign.all("token")[0]] {
        let changes = [("token", token), ("email", ANA.0), ("password", ANA.1)];
        browser.submit(&login, "login", &changes).is(403);
        assert!(browser.cookie("kobana-session").is_none());
    }
    // Without the cookie that ties the form to the browser.
    let mut other = Browser::new(&client.server);
    other.submit(&login, "login", &[("email", ANA.0), ("password", ANA.1)]).is(403);
    browser.submit(&login, "login", &[("email", ANA.0), ("password", ANA.1)]).is(303);
}

#[test]
fn tries_are_counted_by_account_whether_there_is_one_or_not() {
    let server = Server::demo().env("KOBANA_LOGIN__ATTEMPTS", "3").start();
    let client = Client::new(&server);
    let mut browser = Browser::new(&server);
    let login = browser.get(&client.path());
    for email in [ANA.0, "nobody@acme.example"] {
        for _ in 0..3 {
            browser.submit(&login, "login", &[("email", email), ("password", "wrong-password")]).is(422);
        }
        // The right one, too, and however it is written.
        let upper = email.to_uppercase();
        let answer = browser.submit(&login, "login", &[("email", &upper), ("password", ANA.1)]);
        assert!((1..=201).contains(&answer.is(429).number("retry-after")), "{answer}");
        assert!(answer.text().contains("role=\"alert\""), "{answer}");
        assert!(browser.cookie("kobana-session").is_none());
    }
    browser.submit(&login, "login", &[("email", MARCOS.0), ("password", MARCOS.1)]).is(303);
}

#[test]
fn tries_are_counted_by_address_which_a_believed_proxy_names() {
    let server = Server::demo()
        .env("KOBANA_LOGIN__ATTEMPTS_PER_ADDRESS", "3")
        .env("KOBANA_LOGIN__TRUSTED_PROXIES", r#"["127.0.0.0/8"]"#)
        .start();
    let client = Client::new(&server);
    let login = Browser::new(&server).get(&client.path());
    let cookie =
        login.values("set-cookie").next().and_then(|line| line.split(';').next()).expect("a cookie").to_owned();
    let attempt = |forwarded: &str, number: usize| {
        let email = format!("nobody-{number}@acme.example");
        let mut fields = Form::on(&login, "login").fields;
        fields.retain(|(name, _)| name != "email" && name != "password");
        let mut pairs: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        pairs.extend([("email", email.as_str()), ("password", "wrong-password")]);
        let call = server
            .http("POST", "/oauth/login")
            .header("Content-Type", "application/x-www-form-urlencoded")
            .header("Cookie", &cookie)
            .header("X-Forwarded-For", forwarded)
            .body(super::browser::encode(&pairs));
        call.send().status
    };
    let first: Vec<_> = (0..4).map(|number| attempt("203.0.113.9, 198.51.100.7", number)).collect();
    assert_eq!(first, [422, 422, 422, 429]);
    // What stands further left anybody may have written; the one before the proxy counts.
    assert_eq!(attempt("192.0.2.99, 198.51.100.7", 4), 429);
    assert_eq!(attempt("198.51.100.7, 198.51.100.8", 5), 422);
}

#[test]
fn a_person_signs_out() {
    let client = Client::new(&server());
    let mut browser = Browser::new(&client.server);
    client.consent_page(&mut browser, ANA);
    let session = browser.cookie("kobana-session").expect("a session").to_owned();
    let page = browser.get("/oauth/logout");
    assert!(page.is(200).text().contains("Ana Souza"));
    let answer = browser.submit(&page, "logout", &[]);
    assert_eq!(Redirect::of(&answer).address, "/oauth/logout");
    assert!(browser.cookie("kobana-session").is_none());
    assert!(browser.get("/oauth/logout").is(200).text().contains("You are signed out"));
    // The cookie itself is worth nothing any more.
    browser.set_cookie("kobana-session", &session);
    assert!(browser.get(&client.path()).text().contains("id=\"login\""));
}

#[test]
fn nothing_secret_is_logged() {
    let server = Server::demo().env("KOBANA_LOG__LEVEL", "trace").start();
    let client = Client::new(&server);
    let mut browser = Browser::new(&server);
    let page = client.consent_page(&mut browser, ANA);
    let session = browser.cookie("kobana-session").expect("a session").to_owned();
    let back = Redirect::of(&browser.submit(&page, "consent", &[("decision", "allow")]));
    let code = back.parameter("code").expect("a code").to_owned();
    let tokens = super::client::Tokens::of(&client.redeem(&code));
    client.me(&tokens.access);
    client.refresh(&tokens.refresh).is(200);
    let (status, log) = server.stop();
    assert!(status.success());
    for secret in [ANA.1, ANA.0, &session, &code, &tokens.access, &tokens.refresh, super::client::VERIFIER] {
        assert!(!log.contains(secret), "{secret}");
    }
}
