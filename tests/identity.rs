//! Organizations, persons, members and tokens, as whoever runs the installation makes them beside a running server.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::harness::{Answer, Server, wait_until};

/// A data directory with a server on it, and the command line beside it.
pub(crate) struct Installation {
    folder: tempfile::TempDir,
    pub(crate) server: Server,
}

/// `kobana` with these arguments, on a data directory, with this on its standard input.
pub(crate) fn kobana(data: &Path, arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kobana"));
    // No configuration of whoever runs the test gets in.
    command.current_dir(data).env_clear().args(arguments).arg("--data").arg(data);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
    let mut stdin = child.stdin.take().expect("it is piped");
    // A command that asks for nothing may have ended by now.
    let _ = std::io::Write::write_all(&mut stdin, input.as_bytes());
    drop(stdin);
    child.wait_with_output().expect("it ends")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("output is UTF-8")
}

/// Expects that a command does what it is told, and gives what it wrote.
#[track_caller]
pub(crate) fn done(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    text(&output.stdout)
}

/// Expects that a command refuses, changes nothing, and says why in words that hold all of these.
#[track_caller]
fn refused(output: &Output, words: &[&str]) {
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    let said = text(&output.stderr);
    for word in words {
        assert!(said.contains(word), "{word:?} is not in {said:?}");
    }
}

impl Installation {
    /// A server on an empty directory.
    fn empty() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let server = Server::command(&["serve", "--data"]).arg(folder.path()).start();
        Self { folder, server }
    }

    /// One organization with a workspace `finance`, and Ana, who owns it.
    pub(crate) fn with_ana() -> Self {
        let new = Self::empty();
        new.does(&["admin", "organization", "create", "My Company"]);
        new.does(&["admin", "workspace", "create", "finance"]);
        let ana = ["admin", "person", "create", "ana@example.com", "--name", "Ana", "--no-password"];
        new.does(&[&ana[..], &["--workspace", "finance", "--role", "owner"]].concat());
        new
    }

    pub(crate) fn data(&self) -> &Path {
        self.folder.path()
    }

    fn run(&self, arguments: &[&str]) -> Output {
        kobana(self.folder.path(), arguments, "")
    }

    #[track_caller]
    pub(crate) fn does(&self, arguments: &[&str]) -> String {
        done(&self.run(arguments))
    }

    #[track_caller]
    pub(crate) fn refuses(&self, arguments: &[&str], words: &[&str]) {
        refused(&self.run(arguments), words);
    }

    /// What a command writes for machines.
    #[track_caller]
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.does(&[arguments, &["--json"]].concat())).expect("it is JSON")
    }

    /// A token with every scope.
    #[track_caller]
    pub(crate) fn mint(&self, more: &[&str]) -> String {
        let mint = ["token", "mint", "--person", "ana@example.com", "--name", "test", "--all-scopes"];
        let token = self.does(&[&mint[..], more].concat());
        assert_eq!(token.lines().count(), 1, "the token alone: {token}");
        token.trim_end().to_owned()
    }

    fn mcp(&self, token: &str) -> Answer {
        self.server.legacy("tools/call").name("me_get").token(token).send()
    }

    fn rest(&self, token: &str) -> Answer {
        self.server.http("GET", "/api/v1/me").token(token).send()
    }
}

/// Expects that a token is refused as invalid.
#[track_caller]
fn invalid(answer: &Answer) {
    let challenge = answer.is(401).header("www-authenticate").expect("a challenge").to_owned();
    assert!(challenge.contains(r#"error="invalid_token""#), "{challenge}");
}

#[test]
fn the_first_start_says_what_to_type_and_that_works_while_it_runs() {
    let new = Installation::empty();
    let banner = new.server.banner().to_owned();
    assert!(banner.contains("Nobody can sign in yet"), "{banner}");
    new.server.wait_for_log("there is no person; what to type: kobana admin organization create 'My Company'");
    let typed: Vec<_> = banner.lines().map(str::trim).filter(|line| line.starts_with("kobana admin ")).collect();
    assert_eq!(typed.len(), 3, "{banner}");
    for line in typed {
        // As a shell would take it apart.
        let script = line.replacen("kobana", env!("CARGO_BIN_EXE_kobana"), 1);
        let output = Command::new("/bin/sh").env_clear().args(["-c", &script]).stdin(Stdio::null()).output();
        let output = output.expect("a shell");
        assert_eq!(output.status.code(), Some(0), "{line}: {output:?}");
    }
    assert_eq!(new.json(&["admin", "member", "list"])[0]["role"], "owner");
    let token = new.mint(&[]);
    let me = new.mcp(&token).result();
    let me: Value = serde_json::from_str(me["content"][0]["text"].as_str().expect("text")).expect("JSON");
    assert_eq!(me["data"]["workspaces"][0]["external_id"], "finance");
    assert_eq!(me["data"]["organization"]["name"], "My Company");

    let again = Server::command(&["serve", "--data"]).arg(new.folder.path()).start();
    assert!(!again.banner().contains("Nobody can sign in"), "{}", again.banner());
    assert!(again.banner().contains("claude mcp add --transport http kobana http://127.0.0.1:"));
}

#[test]
fn without_the_demo_its_tokens_and_its_data_are_unknown() {
    let new = Installation::with_ana();
    for token in ["demo-owner", "demo-bench", "rest-owner"] {
        invalid(&new.mcp(token));
        invalid(&new.rest(token));
    }
    assert_eq!(new.json(&["admin", "person", "list"]).as_array().map(Vec::len), Some(1));
}

#[test]
fn an_installation_is_not_served_as_a_demo() {
    let new = Installation::with_ana();
    let ended = Server::demo().arg("--data").arg(new.data()).run();
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("without --demo"), "{ended:?}");
    assert_eq!(new.json(&["admin", "person", "list"]).as_array().map(Vec::len), Some(1));
}

#[test]
fn a_token_counts_until_it_is_revoked() {
    let new = Installation::with_ana();
    let token = new.mint(&[]);
    new.mcp(&token).result();
    let listed = new.json(&["token", "list"]);
    assert_eq!((&listed[0]["state"], &listed[0]["person"]), (&json!("active"), &json!("ana@example.com")));
    wait_until("the time of the last use in the list", || !new.json(&["token", "list"])[0]["used_at"].is_null());
    let id = listed[0]["id"].as_str().expect("an id").to_owned();
    assert!(new.does(&["token", "revoke", &id]).contains("is revoked"));
    invalid(&new.mcp(&token));
    assert_eq!(new.json(&["token", "list"])[0]["state"], "revoked");
    new.refuses(&["token", "revoke", &id], &[&id, "already"]);
    new.refuses(&["token", "revoke", "nope"], &["nope", "kobana token list"]);
}

#[test]
fn a_token_for_one_resource_is_refused_by_the_other() {
    let new = Installation::with_ana();
    let (mcp, rest) = (new.mint(&[]), new.mint(&["--audience", "rest"]));
    new.mcp(&mcp).result();
    new.rest(&rest).is(200);
    for refused in [new.rest(&mcp), new.mcp(&rest)] {
        invalid(&refused);
        let challenge = refused.header("www-authenticate").expect("a challenge");
        assert!(challenge.contains("issued for another resource"), "{challenge}");
    }
}

#[test]
fn a_token_does_what_its_scopes_say_and_is_told_which_it_lacks() {
    let new = Installation::with_ana();
    let reads = ["token", "mint", "--person", "ana@example.com", "--name", "reads"];
    let token = new.does(&[&reads[..], &["--read-only"]].concat());
    let create = |token: &str| {
        let call = new.server.legacy("tools/call").name("inboxes_create").token(token.trim());
        call.arguments(json!({ "external_id": "in", "label": "In" })).send()
    };
    let refused = create(&token);
    let challenge = refused.is(403).header("www-authenticate").expect("a challenge").to_owned();
    assert!(challenge.contains(r#"error="insufficient_scope", scope="inbox.inboxes.write""#), "{challenge}");
    let token = new.does(&[&reads[..], &["--scope", "inbox.inboxes.write,inbox.emails"]].concat());
    assert_eq!(create(&token).result()["isError"], Value::Null);
    new.refuses(&[&reads[..], &["--scope", "inbox.email"]].concat(), &["inbox.email", "'inbox.emails'"]);
    new.refuses(&reads, &["--scope", "--read-only", "--all-scopes"]);
}

#[test]
fn a_token_for_one_workspace_reaches_no_other() {
    let new = Installation::with_ana();
    new.does(&["admin", "workspace", "create", "legal"]);
    new.does(&["admin", "member", "add", "ana@example.com", "legal", "--role", "viewer"]);
    let reach = |token: &str| {
        let workspaces = &new.rest(token).is(200).json()["data"]["workspaces"];
        workspaces.as_array().expect("a list").iter().map(|one| one["external_id"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(reach(&new.mint(&["--audience", "rest"])), ["finance", "legal"]);
    assert_eq!(reach(&new.mint(&["--audience", "rest", "--workspace", "legal"])), ["legal"]);
    let ana = ["token", "mint", "--person", "ana@example.com", "--name", "x", "--read-only"];
    new.refuses(&[&ana[..], &["--workspace", "legel"]].concat(), &["legel", "did you mean legal?"]);
}

#[test]
fn whoever_is_switched_off_is_out_at_the_next_request_and_back_when_switched_on() {
    let new = Installation::with_ana();
    let token = new.mint(&[]);
    for (kind, name) in [("person", "ana@example.com"), ("organization", "My Company")] {
        new.mcp(&token).result();
        new.does(&["admin", kind, "disable", name]);
        invalid(&new.mcp(&token));
        new.refuses(&["token", "mint", "--person", "ana@example.com", "--name", "x", "--read-only"], &["disabled"]);
        new.does(&["admin", kind, "enable", name]);
    }
    new.does(&["admin", "workspace", "disable", "finance"]);
    let list = || new.server.legacy("tools/call").name("emails_list").token(&token).send().result();
    assert_eq!(list()["isError"], true);
    new.does(&["admin", "workspace", "enable", "finance"]);
    assert_eq!(list()["isError"], Value::Null);
}

#[test]
fn a_change_of_role_counts_at_the_next_request() {
    let new = Installation::with_ana();
    let token = new.mint(&["--audience", "rest"]);
    let may = |permission: &str| {
        let me = new.rest(&token).is(200).json();
        let held = me["data"]["workspaces"][0]["permissions"].as_array().expect("a list").clone();
        held.contains(&json!(permission))
    };
    assert!(may("inboxes.manage"));
    let changed = new.run(&["admin", "member", "role", "ana@example.com", "finance", "viewer"]);
    assert!(text(&changed.stderr).contains("warning: workspace finance has no active owner"), "{changed:?}");
    assert!(done(&changed).contains("viewer of finance") && !may("inboxes.manage"));
    let removed = new.run(&["admin", "member", "remove", "ana@example.com", "finance"]);
    assert!(text(&removed.stderr).contains("has no member now"), "{removed:?}");
    assert_eq!(new.rest(&token).is(200).json()["data"]["workspaces"], json!([]));
    new.refuses(&["admin", "member", "remove", "ana@example.com", "finance"], &["no member of finance"]);
}

#[test]
fn the_last_owner_is_not_switched_off_without_a_word() {
    let new = Installation::with_ana();
    let disabled = new.run(&["admin", "person", "disable", "ana@example.com"]);
    assert!(text(&disabled.stderr).contains("warning: workspace finance has no active owner"), "{disabled:?}");
    done(&disabled);
}

#[test]
fn what_is_wrong_is_named_with_what_there_is() {
    let new = Installation::with_ana();
    let person = ["admin", "person", "create"];
    let refuses = |arguments: &[&str], words: &[&str]| new.refuses(&[&person[..], arguments].concat(), words);
    refuses(&["ANA@Example.com", "--name", "Ana"], &["ANA@Example.com", "My Company", "already"]);
    refuses(&["ana", "--name", "Ana"], &["person ana", "e-mail address"]);
    refuses(&["rui@example.com", "--name", " "], &["--name", "1 to 120 characters"]);
    refuses(&["rui@example.com", "--name", "Rui", "--organization", "Mine"], &["Mine", "there is My Company"]);
    refuses(&["rui@example.com", "--name", "Rui", "--workspace", "finance"], &["--role"]);
    let owner = ["--workspace", "finance", "--role", "ownr"];
    refuses(&[&["rui@example.com", "--name", "Rui"][..], &owner].concat(), &["ownr", "'owner'", "viewer"]);

    new.refuses(&["admin", "organization", "create", "my company"], &["My Company", "already"]);
    new.refuses(&["admin", "workspace", "create", "finance"], &["finance", "already"]);
    new.refuses(&["admin", "workspace", "create", "two words"], &["two words", "--label"]);
    new.refuses(
        &["admin", "member", "add", "ana@example.com", "finance", "--role", "viewer"],
        &["is owner of finance"],
    );
    new.refuses(&["admin", "member", "add", "anna@example.com", "finance", "--role", "viewer"], &["did you mean ana@"]);
    new.does(&["admin", "organization", "create", "Other"]);
    new.refuses(&["admin", "workspace", "create", "legal"], &["--organization", "My Company, Other"]);
    assert_eq!(new.json(&["admin", "person", "list"]).as_array().map(Vec::len), Some(1), "nothing is half done");

    let nowhere = tempfile::tempdir().expect("a folder");
    refused(&kobana(nowhere.path(), &["admin", "person", "list"], ""), &["no database", "organization create"]);
    assert!(nowhere.path().read_dir().expect("it is there").next().is_none(), "a wrong directory stays empty");
}

#[test]
fn passwords_are_long_enough_or_refused_and_kept_as_hashes() {
    let new = Installation::with_ana();
    let data = new.folder.path();
    let set = ["admin", "person", "set-password", "ana@example.com", "--password-stdin"];
    refused(&kobana(data, &set, "too short\n"), &["password", "12 to 1024 characters"]);
    refused(&kobana(data, &set, "two lines of it\nare not one\n"), &["password", "one line"]);
    refused(&kobana(data, &set[..4], ""), &["no terminal", "--password-stdin"]);
    let secret = "correct horse battery staple";
    done(&kobana(data, &set, &format!("{secret}\n")));
    assert_eq!(new.json(&["admin", "person", "list"])[0]["has_password"], true);
    assert_nowhere(data, secret.as_bytes());
}

#[test]
fn of_a_token_only_a_hash_is_kept() {
    let new = Installation::with_ana();
    let token = new.mint(&[]);
    new.mcp(&token).result();
    let secret = &token["kbn_".len() + 33..];
    assert_eq!(secret.len(), 43, "256 bits in base64url: {token}");
    assert_nowhere(new.folder.path(), secret.as_bytes());
    assert!(!new.server.log().contains(secret));
    assert!(!new.does(&["token", "list"]).contains(secret));
}

/// Expects that no file of the data directory holds a secret.
#[track_caller]
fn assert_nowhere(data: &Path, secret: &[u8]) {
    let mut searched = 0;
    for file in data.read_dir().expect("the folder").map(|entry| entry.expect("an entry").path()) {
        if file.is_file() {
            let bytes = std::fs::read(&file).expect("a file");
            searched += bytes.len();
            assert!(!bytes.windows(secret.len()).any(|window| window == secret), "{} holds it", file.display());
        }
    }
    assert!(searched > 0, "there is a database");
}

#[test]
fn a_token_in_the_query_is_none() {
    let new = Installation::with_ana();
    let (mcp, rest) = (new.mint(&[]), new.mint(&["--audience", "rest"]));
    for (path, token) in [("/mcp", &mcp), ("/api/v1/me", &rest)] {
        for name in ["access_token", "token", "authorization", "bearer"] {
            let path = format!("{path}?{name}={token}");
            let answer = match path.starts_with("/mcp") {
                true => new.server.legacy("ping").path(&path).without("Authorization").send(),
                false => new.server.http("GET", &path).send(),
            };
            let challenge = answer.is(401).header("www-authenticate").expect("a challenge").to_owned();
            assert!(!challenge.contains("error="), "it counts as no token at all: {challenge}");
        }
    }
}

#[test]
fn an_altered_token_is_no_token() {
    let new = Installation::with_ana();
    let token = new.mint(&[]);
    let (first, last) = (token.len() - 43, token.len() - 2);
    for place in [4, first, last] {
        let mut altered = token.clone().into_bytes();
        altered[place] = if altered[place] == b'a' { b'b' } else { b'a' };
        invalid(&new.mcp(&String::from_utf8(altered).expect("ASCII")));
    }
    for text in [&token[..token.len() - 1], &format!("{token}A"), &token.to_uppercase()] {
        invalid(&new.mcp(text));
    }
    new.mcp(&token).result();
}

#[test]
fn settings_of_an_issuer_that_make_no_sense_are_named() {
    for (name, value, words) in [
        ("URL", "id.example.com", "issuer.url: expected"),
        ("URL", "http://id.example.com", "issuer.url: http://id.example.com: expected an https URL"),
        ("ALGORITHMS", r#"["HS256"]"#, "issuer.algorithms: expected some of EdDSA"),
        ("ALGORITHMS", "[]", "issuer.algorithms: expected some of EdDSA"),
        ("CLOCK_SKEW", "301", "issuer.clock_skew: expected 0 to 300 seconds"),
        ("PERSON_CLAIM", r#""""#, "issuer.person_claim: expected the name of a claim"),
    ] {
        let setup = Server::demo().env("KOBANA_ISSUER__URL", "https://id.example.com");
        let ended = setup.env(&format!("KOBANA_ISSUER__{name}"), value).run();
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.stderr.contains(words), "{words:?} is not in {}", ended.stderr);
    }
}

#[test]
fn keys_that_cannot_sign_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let ends = |name: &str, text: &str| {
        let file = folder.path().join("kobana.toml");
        std::fs::write(&file, text).expect("a file");
        let ended = Server::demo().arg("--config").arg(&file).run();
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.stderr.contains(name), "{name} is not in {}", ended.stderr);
    };
    ends("signing.keys.0.key: expected an Ed25519 private key", "[[signing.keys]]\nid = \"a\"\nkey = \"c2hvcnQ=\"\n");
    let key = "key = \"1O5y2/kTWErVttjx92n4rTr+fCjL8dT74Jeoj0R1WEI=\"";
    ends("signing.keys.0.id", &format!("[[signing.keys]]\nid = \"a b\"\n{key}\n"));
    let twice = format!("[[signing.keys]]\nid = \"a\"\n{key}\n").repeat(2);
    ends("signing.keys: expected at least one key, and a different id for each", &twice);
}
