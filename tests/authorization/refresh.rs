//! Refresh tokens and revocation.

use super::client::{ANA, Client, Tokens, patient, refused, server};
use crate::harness::Server;

#[test]
fn each_use_gives_a_new_token() {
    let client = Client::new(&server());
    let first = client.tokens(ANA);
    let second = Tokens::of(&client.refresh(&first.refresh));
    assert_ne!(first.refresh, second.refresh);
    assert_ne!(first.access, second.access);
    assert_eq!(first.scope, second.scope);
    let third = Tokens::of(&client.refresh(&second.refresh));
    assert!(client.opens(&third.access) && client.opens(&first.access));
}

#[test]
fn access_tokens_may_last_less_than_an_hour_and_not_more() {
    let client = Client::new(&patient().env("KOBANA_LOGIN__ACCESS_LIFETIME", "120").start());
    let answer = client.redeem(&client.code(ANA)).json();
    assert_eq!(answer["expires_in"], 120, "{answer}");
    for wrong in ["0", "3601", "-1"] {
        let ended = Server::demo().env("KOBANA_LOGIN__ACCESS_LIFETIME", wrong).run();
        assert!(ended.code != Some(0) && ended.stderr.contains("login.access_lifetime"), "{wrong}: {ended:?}");
    }
}

#[test]
fn a_lost_answer_is_given_again_while_its_successor_is_unused() {
    let client = Client::new(&server());
    let first = client.tokens(ANA);
    let lost = Tokens::of(&client.refresh(&first.refresh));
    let again = Tokens::of(&client.refresh(&first.refresh));
    assert_eq!(lost.refresh, again.refresh);
    assert!(client.opens(&again.access));
}

#[test]
fn a_stolen_token_ends_the_family_and_the_access_token_that_is_in_use() {
    let client = Client::new(&server());
    let stolen = client.tokens(ANA);
    let second = Tokens::of(&client.refresh(&stolen.refresh));
    let third = Tokens::of(&client.refresh(&second.refresh));
    assert!(client.opens(&third.access));
    refused(&client.refresh(&stolen.refresh), 400, "invalid_grant");
    for tokens in [&stolen, &second, &third] {
        assert!(!client.opens(&tokens.access));
        refused(&client.refresh(&tokens.refresh), 400, "invalid_grant");
    }
}

#[test]
fn a_token_is_for_its_client() {
    let client = Client::new(&server());
    let other = Client::new(&client.server);
    let tokens = client.tokens(ANA);
    refused(&other.refresh(&tokens.refresh), 400, "invalid_grant");
    refused(&client.refresh("no-such-token"), 400, "invalid_grant");
    refused(&client.refresh(&tokens.access), 400, "invalid_grant");
    Tokens::of(&client.refresh(&tokens.refresh));
}

#[test]
fn less_can_be_asked_for_and_more_cannot() {
    let client = Client::new(&server()).with("scope", "inbox.emails inbox.agents.write");
    let tokens = client.tokens(ANA);
    let ask = |token: &str, scope: &str| {
        client.token(&[("grant_type", "refresh_token"), ("refresh_token", token), ("scope", scope)])
    };
    for more in ["inbox.emails.write", "inbox.emails inbox.inboxes", "openid"] {
        refused(&ask(&tokens.refresh, more), 400, "invalid_scope");
    }
    let less = Tokens::of(&ask(&tokens.refresh, "inbox.emails"));
    assert_eq!(less.scope, "inbox.emails");
    client.server.modern("tools/call").name("agents_list").token(&less.access).send().fails(403, -31403);
    // What includes reading can be narrowed down to it; the grant itself stays what it was (RFC 6749 §6).
    let read = Tokens::of(&ask(&less.refresh, "inbox.agents"));
    assert_eq!(read.scope, "inbox.agents");
    let whole = Tokens::of(&client.refresh(&read.refresh));
    assert_eq!(whole.scope, "inbox.agents.write inbox.emails");
    let foreign = client.token(&[
        ("grant_type", "refresh_token"),
        ("refresh_token", &whole.refresh),
        ("resource", "https://elsewhere.example/"),
    ]);
    refused(&foreign, 400, "invalid_target");
}

#[test]
fn whoever_is_switched_off_gets_nothing_more() {
    let data = tempfile::tempdir().expect("a directory");
    let path = data.path().to_str().expect("a path in UTF-8");
    let server = patient().arg("--data").arg(path).start();
    let client = Client::new(&server);
    let tokens = client.tokens(ANA);
    assert!(client.opens(&tokens.access));
    let switch = |verb: &str| {
        let ended = Server::command(&["admin", "person", verb, ANA.0, "--data", path]).listen(None).run();
        assert_eq!(ended.code, Some(0), "{ended:?}");
    };
    switch("disable");
    assert!(!client.opens(&tokens.access));
    refused(&client.refresh(&tokens.refresh), 400, "invalid_grant");
    let mut browser = super::browser::Browser::new(&server);
    let login = browser.get(&client.path());
    browser.submit(&login, "login", &[("email", ANA.0), ("password", ANA.1)]).is(422);
    switch("enable");
    assert!(client.opens(&tokens.access));
    Tokens::of(&client.refresh(&tokens.refresh));
}

#[test]
fn a_client_gives_back_what_it_has() {
    let client = Client::new(&server());
    let other = Client::new(&client.server);
    for by_access_token in [false, true] {
        let tokens = client.tokens(ANA);
        let given_back = if by_access_token { &tokens.access } else { &tokens.refresh };
        refused(&other.form("/oauth/revoke", &[("token", given_back), ("client_id", &other.id)]), 400, "invalid_grant");
        assert!(client.opens(&tokens.access));
        let pairs = [("token", given_back.as_str()), ("client_id", &client.id), ("token_type_hint", "refresh_token")];
        client.form("/oauth/revoke", &pairs).is(200).has("cache-control", "no-store");
        assert!(!client.opens(&tokens.access));
        refused(&client.refresh(&tokens.refresh), 400, "invalid_grant");
        // RFC 7009 §2.2: it is as it should be.
        client.form("/oauth/revoke", &pairs).is(200);
    }
    client.form("/oauth/revoke", &[("token", "no-such-token")]).is(200);
    refused(&client.form("/oauth/revoke", &[("client_id", &client.id)]), 400, "invalid_request");
    refused(&client.form("/oauth/revoke", &[("token", "x"), ("token", "y")]), 400, "invalid_request");
}
