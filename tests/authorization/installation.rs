//! Signing in on an installation of one's own: persons that the command line made, keys that change, several servers.

use std::path::Path;

use serde_json::{Value, json};

use super::browser::send;
use super::client::{Client, metadata, refused};
use crate::harness::{Server, Setup};
use crate::identity::{Installation, done, kobana};

const PASSWORD: &str = "correct horse battery staple";
const ANA: (&str, &str) = ("ana@example.com", PASSWORD);

/// Ana's installation, and her password set.
fn installation() -> Installation {
    let new = Installation::with_ana();
    set_password(&new, PASSWORD);
    new
}

fn set_password(new: &Installation, password: &str) {
    let set = ["admin", "person", "set-password", "ana@example.com", "--password-stdin"];
    done(&kobana(new.data(), &set, &format!("{password}\n")));
}

fn client(server: &Server) -> Client {
    Client::registered(server, &metadata(super::client::CALLBACK))
}

#[test]
fn a_person_that_the_command_line_made_signs_in() {
    let new = installation();
    let client = client(&new.server);
    let tokens = client.tokens(ANA);
    let me = client.me(&tokens.access);
    assert!(me.contains("ana@example.com") && me.contains("finance") && me.contains("owner"), "{me}");
    new.does(&["admin", "person", "disable", "ana@example.com"]);
    assert!(!client.opens(&tokens.access));
    refused(&client.refresh(&tokens.refresh), 400, "invalid_grant");
}

#[test]
fn a_new_password_signs_out_whoever_came_in_with_the_old_one() {
    let new = installation();
    let client = client(&new.server);
    let tokens = client.tokens(ANA);
    assert!(client.opens(&tokens.access));
    let script = new.mint(&[]);
    set_password(&new, "another one that is long enough");
    assert!(!client.opens(&tokens.access));
    refused(&client.refresh(&tokens.refresh), 400, "invalid_grant");
    let again = client.tokens(("ANA@example.com", "another one that is long enough"));
    assert!(client.opens(&again.access));
    assert!(client.opens(&script), "tokens for scripts have nothing to do with it");
}

#[test]
fn signing_somebody_out_ends_their_programs_and_nothing_else() {
    let new = installation();
    let client = client(&new.server);
    let (tokens, script) = (client.tokens(ANA), new.mint(&[]));
    new.does(&["admin", "person", "sign-out", "ana@example.com"]);
    assert!(!client.opens(&tokens.access) && client.opens(&script));
    refused(&client.refresh(&tokens.refresh), 400, "invalid_grant");
    assert!(client.opens(&client.tokens(ANA).access), "they may come back");
}

/// The keys that a server publishes.
fn published(server: &Server) -> Value {
    send(server, &server.http("GET", "/oauth/jwks")).is(200).json()
}

/// A further server on the same data and for the same resource, with keys of its own if any are given.
fn replica(new: &Installation, folder: &Path, keys: &[(&str, &str)]) -> Server {
    let sections: String =
        keys.iter().map(|(id, key)| format!("[[signing.keys]]\nid = \"{id}\"\nkey = \"\"\"{key}\"\"\"\n")).collect();
    let file = folder.join(keys.iter().map(|(id, _)| *id).collect::<String>() + ".toml");
    std::fs::write(&file, sections).expect("a file");
    let setup: Setup = Server::command(&["serve", "--data"]).arg(new.data()).arg("--config").arg(file);
    setup.env("KOBANA_RESOURCE", &format!("http://127.0.0.1:{}/mcp", new.server.port())).start()
}

#[test]
fn servers_on_one_database_know_each_others_tokens_without_any_configuration() {
    let new = installation();
    let tokens = client(&new.server).tokens(ANA);
    let folder = tempfile::tempdir().expect("a folder");
    let other = replica(&new, folder.path(), &[]);
    other.modern("tools/list").token(&tokens.access).send().is(200);
    assert_eq!(published(&other), published(&new.server));
}

#[test]
fn a_rotation_of_keys_signs_nobody_out_until_the_old_key_goes() {
    let new = installation();
    let folder = tempfile::tempdir().expect("a folder");
    // RFC 8410 §10.3 as openssl writes it, and 32 bytes in base64.
    let old = (
        "old",
        "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n-----END PRIVATE KEY-----",
    );
    let fresh = ("fresh", "nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=");
    let before = replica(&new, folder.path(), &[old]);
    // Its pages are for the same issuer, wherever it listens.
    let client = client(&new.server);
    let code = client.code(ANA);
    let redeemed = Client::published(&before, &client.id).token(&[
        ("grant_type", "authorization_code"),
        ("code", &code),
        ("code_verifier", super::client::VERIFIER),
        ("redirect_uri", super::client::CALLBACK),
        ("resource", &client.resource()),
    ]);
    let access = redeemed.is(200).json()["access_token"].as_str().expect("a token").to_owned();
    let opens = |server: &Server| server.modern("tools/list").token(&access).send().status;
    assert_eq!(opens(&before), 200);
    assert_eq!(opens(&new.server), 401, "it has the database's key alone");
    let during = replica(&new, folder.path(), &[fresh, old]);
    assert_eq!(opens(&during), 200);
    let published = published(&during);
    let ids: Vec<_> = published["keys"].as_array().expect("a list").iter().map(|key| key["kid"].clone()).collect();
    assert_eq!(ids, [json!("fresh"), json!("old")]);
    assert!(published.to_string().matches("\"d\"").next().is_none(), "public halves alone: {published}");
    let after = replica(&new, folder.path(), &[fresh]);
    assert_eq!(opens(&after), 401);
}
