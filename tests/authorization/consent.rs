//! What a person is asked, and what comes of the answer.

use super::browser::{Browser, Form, Redirect};
use super::client::{ANA, CALLBACK, Client, MARCOS, Tokens, metadata, server};

#[test]
fn the_page_says_who_asks_for_whom_and_for_what() {
    let client = Client::new(&server()).with("scope", "inbox.emails inbox.inboxes.write");
    let page = client.consent_page(&mut Browser::new(&client.server), ANA);
    let html = page.text();
    for text in [
        "Test Client",
        "a program on this computer",
        "Ana Souza",
        "ana.souza@acme.example",
        "Acme Distribuidora Ltda.",
        "Acme Financeiro",
        "received e-mails",
        "inboxes: create, change, delete",
        "is what the program says of itself",
    ] {
        assert!(html.contains(text), "{text}: {html}");
    }
    let (reading, writing) = html.split_once("id=\"writing\"").expect("what changes something stands apart");
    assert!(reading.contains("value=\"inbox.emails\"") && !reading.contains("value=\"inbox.inboxes.write\""));
    assert!(writing.contains("value=\"inbox.inboxes.write\""));
    assert_eq!(Form::on(&page, "consent").all("scope"), ["inbox.emails", "inbox.inboxes.write"]);
}

#[test]
fn what_a_client_calls_itself_is_text_and_nothing_else() {
    let server = server();
    let mut named = metadata(CALLBACK);
    named["client_name"] = "<b onclick=x>\"Evil\" & 'co'</b>\u{202e}".into();
    let client = Client::registered(&server, &named);
    let mut browser = Browser::new(&server);
    for page in [browser.get(&client.path()), client.consent_page(&mut browser, ANA)] {
        let html = page.text();
        assert!(!html.contains("<b ") && !html.contains('\u{202e}'), "{html}");
        assert!(super::browser::unescape(&html).contains("<b onclick=x>\"Evil\" & 'co'</b>"), "{html}");
    }
}

#[test]
fn less_can_be_granted_than_was_asked_for() {
    let client = Client::new(&server()).with("scope", "inbox.emails inbox.agents inbox.inboxes.write");
    let mut browser = Browser::new(&client.server);
    let page = client.consent_page(&mut browser, ANA);
    let changes = [("scope", "inbox.emails"), ("decision", "allow")];
    let back = Redirect::of(&browser.submit(&page, "consent", &changes));
    let tokens = Tokens::of(&client.redeem(back.parameter("code").expect("a code")));
    assert_eq!(tokens.scope, "inbox.emails");
    client.server.modern("tools/call").name("agents_list").token(&tokens.access).send().fails(403, -31403);
}

#[test]
fn more_cannot_be_granted_than_was_asked_for() {
    let client = Client::new(&server()).with("scope", "inbox.emails");
    let mut browser = Browser::new(&client.server);
    let page = client.consent_page(&mut browser, ANA);
    let changes = [("scope", "inbox.emails"), ("scope", "inbox.webhooks.write"), ("decision", "allow")];
    let back = Redirect::of(&browser.submit(&page, "consent", &changes));
    assert_eq!(Tokens::of(&client.redeem(back.parameter("code").expect("a code"))).scope, "inbox.emails");
}

#[test]
fn a_choice_that_is_none_is_asked_for_again() {
    let client = Client::new(&server()).with("scope", "inbox.emails inbox.agents");
    let mut browser = Browser::new(&client.server);
    let page = client.consent_page(&mut browser, MARCOS);
    let nothing = browser.submit(&page, "consent", &[("scope", ""), ("decision", "allow")]);
    assert!(nothing.is(422).text().contains("role=\"alert\""));
    assert!(Form::on(&nothing, "consent").all("scope").is_empty());
    for workspace in ["", "00000000-0000-7000-8000-00000000c003", "acme", "x"] {
        let changes = [("workspace", workspace), ("scope", "inbox.agents"), ("decision", "allow")];
        let again = browser.submit(&page, "consent", &changes);
        assert!(again.is(422).text().contains("role=\"alert\""), "{workspace}");
        // What was chosen stays chosen.
        assert_eq!(Form::on(&again, "consent").all("scope"), ["inbox.agents"]);
    }
}

#[test]
fn a_person_may_say_no() {
    let client = Client::new(&server());
    let mut browser = Browser::new(&client.server);
    let page = client.consent_page(&mut browser, ANA);
    for decision in ["deny", "", "Allow"] {
        let back = Redirect::of(&browser.submit(&page, "consent", &[("decision", decision)]));
        assert_eq!((back.address.as_str(), back.parameter("error")), (CALLBACK, Some("access_denied")));
        assert_eq!(back.parameter("state"), Some("a state & more"));
        assert_eq!(back.parameter("iss"), Some(client.issuer().as_str()));
        assert_eq!(back.parameter("code"), None);
    }
}

#[test]
fn nobody_is_made_to_say_yes_from_elsewhere() {
    let client = Client::new(&server());
    let (mut browser, mut other) = (Browser::new(&client.server), Browser::new(&client.server));
    let page = client.consent_page(&mut browser, ANA);
    let foreign = Form::on(&client.consent_page(&mut other, MARCOS), "consent");
    let login = Form::on(&Browser::new(&client.server).get(&client.path()), "login");
    for token in ["", "x", foreign.all("token")[0], login.all("token")[0]] {
        let answer = browser.submit(&page, "consent", &[("token", token), ("decision", "allow")]);
        answer.is(403).lacks("location");
        let answer = browser.submit(&page, "logout", &[("token", token)]);
        answer.is(403).lacks("location");
    }
    // Without a session there is nobody to say it.
    let stranger = Browser::new(&client.server).submit(&page, "consent", &[("decision", "allow")]);
    assert!(Redirect::of(&stranger).address.ends_with("/oauth/authorize"));
    Redirect::of(&browser.submit(&page, "consent", &[("decision", "allow")])).parameter("code").expect("a code");
}

#[test]
fn a_request_that_was_changed_on_the_way_is_checked_again() {
    let client = Client::new(&server());
    let mut browser = Browser::new(&client.server);
    let page = client.consent_page(&mut browser, ANA);
    for (name, value) in [("redirect_uri", "https://evil.example/"), ("client_id", "no-such-client")] {
        let path = client.clone().with(name, value).path();
        let query = path.split_once('?').expect("a query").1.to_owned();
        browser.submit(&page, "consent", &[("request", &query), ("decision", "allow")]).is(400).lacks("location");
    }
    browser.submit(&page, "consent", &[("request", "a\r\nSet-Cookie: x=y"), ("decision", "allow")]).is(400);
    let plain = client.clone().with("code_challenge_method", "plain").path();
    let query = plain.split_once('?').expect("a query").1.to_owned();
    let back = Redirect::of(&browser.submit(&page, "consent", &[("request", &query), ("decision", "allow")]));
    assert_eq!((back.parameter("error"), back.parameter("code")), (Some("invalid_request"), None));
}

#[test]
fn consent_is_asked_for_every_time_and_what_is_new_is_marked() {
    let client = Client::new(&server()).with("scope", "inbox.emails");
    let mut browser = Browser::new(&client.server);
    let page = client.consent_page(&mut browser, ANA);
    assert!(!page.text().contains("class=\"badge\""));
    let back = Redirect::of(&browser.submit(&page, "consent", &[("decision", "allow")]));
    Tokens::of(&client.redeem(back.parameter("code").expect("a code")));
    // Signed in already, and yet asked.
    let more = client.with("scope", "inbox.emails inbox.emails.write");
    let page = browser.get(&more.path());
    let html = page.is(200).text();
    assert!(html.contains("id=\"step-up\""), "{html}");
    let marked: Vec<_> = html.split("<label").filter(|label| label.contains("class=\"badge\"")).collect();
    assert!(marked.len() == 1 && marked[0].contains("inbox.emails.write"), "{marked:?}");
    let back = Redirect::of(&browser.submit(&page, "consent", &[("decision", "allow")]));
    let tokens = Tokens::of(&more.redeem(back.parameter("code").expect("a code")));
    assert_eq!(tokens.scope, "inbox.emails inbox.emails.write");
}

#[test]
fn somebody_else_may_sign_in_instead() {
    let client = Client::new(&server());
    let mut browser = Browser::new(&client.server);
    let page = client.consent_page(&mut browser, ANA);
    let answer = browser.submit(&page, "logout", &[]);
    assert_eq!(answer.is(303).header("location"), Some(client.path().as_str()));
    // The old page is of no use any more.
    let page = client.consent_page(&mut browser, MARCOS);
    assert!(page.text().contains("Marcos Reis") && !page.text().contains("Ana Souza"));
}
