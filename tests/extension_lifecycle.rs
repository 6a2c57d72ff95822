//! Extensions from adding to removing, on the command line and over REST, beside a server that runs.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::harness::{Answer, Card, Server};
use crate::identity::{Installation, done, kobana};

const ONE: Card<'static> = Card { name: "card", version: "1.0.0", tools: &["hello"], prompts: &[], uris: &[] };

/// A server with a workspace `finance` of its own, its command line, and a token for each door.
struct Place {
    new: Installation,
    mcp: String,
    rest: String,
}

impl Place {
    fn new() -> Self {
        let new = Installation::with_ana();
        let (mcp, rest) = (new.mint(&[]), new.mint(&["--audience", "rest"]));
        Self { new, mcp, rest }
    }

    fn server(&self) -> &Server {
        &self.new.server
    }

    /// A file that holds a component.
    fn file(&self, card: Card<'_>) -> PathBuf {
        let file = self.new.data().join(format!("{}-{}.wasm", card.name, card.version));
        std::fs::write(&file, card.component()).expect("it is written");
        file
    }

    /// `kobana extension` with these arguments.
    #[track_caller]
    fn does(&self, arguments: &[&str]) -> String {
        self.new.does(&[&["extension"], arguments].concat())
    }

    #[track_caller]
    fn json(&self, arguments: &[&str]) -> Value {
        self.new.json(&[&["extension"], arguments].concat())
    }

    #[track_caller]
    fn refuses(&self, arguments: &[&str], words: &[&str]) {
        self.new.refuses(&[&["extension"], arguments].concat(), words);
    }

    #[track_caller]
    fn add(&self, card: Card<'_>, more: &[&str]) -> String {
        let file = self.file(card);
        self.does(&[&["add", file.to_str().expect("it is UTF-8")], more].concat())
    }

    /// The tools that are no built-in ones.
    #[track_caller]
    fn tools(&self) -> Vec<String> {
        tools(self.server(), &self.mcp)
    }

    fn call(&self, tool: &str) -> Answer {
        self.server().legacy("tools/call").name(tool).token(&self.mcp).send()
    }

    /// What a tool says.
    #[track_caller]
    fn says(&self, tool: &str) -> String {
        self.call(tool).result()["content"][0]["text"].as_str().expect("text").to_owned()
    }

    /// A request of the API, and its answer.
    fn api(&self, method: &str, path: &str, media_type: &str, body: impl Into<Vec<u8>>) -> Answer {
        let call = self.server().http(method, &format!("/api/v1{path}")).token(&self.rest);
        call.set("content-type", media_type).body(body).send()
    }
}

/// The tools that a caller sees and that are no built-in ones.
#[track_caller]
fn tools(server: &Server, token: &str) -> Vec<String> {
    let listed = server.legacy("tools/list").token(token).send().result();
    let names = listed["tools"].as_array().expect("a list").iter().map(|tool| tool["name"].as_str().expect("a name"));
    let built_in: Vec<_> = kobana_contract::operations::tools().into_iter().map(|tool| tool.name).collect();
    names.filter(|name| !built_in.contains(name)).map(str::to_owned).collect()
}

#[test]
fn versions_come_and_go_while_the_server_runs() {
    let place = Place::new();
    assert!(place.add(ONE, &[]).contains("Added card 1.0.0 to finance: 1 tool"));
    assert_eq!(place.tools(), Vec::<String>::new());
    place.call("ext.card.hello").fails(200, -32602);
    assert!(place.does(&["enable", "card"]).contains("card 1.0.0 is enabled in finance"));
    assert_eq!(place.tools(), ["ext.card.hello"]);
    assert_eq!(place.says("ext.card.hello"), "card 1.0.0");
    place.add(Card { version: "1.1.0", tools: &["hello", "more"], ..ONE }, &["--enable"]);
    assert_eq!(place.tools(), ["ext.card.hello", "ext.card.more"]);
    assert_eq!(place.says("ext.card.hello"), "card 1.1.0");
    assert!(place.does(&["rollback", "card"]).contains("card 1.0.0 is enabled in finance in place of 1.1.0"));
    assert_eq!(
        (place.tools(), place.says("ext.card.hello")),
        (vec!["ext.card.hello".to_owned()], "card 1.0.0".to_owned())
    );
    place.refuses(&["remove", "card"], &["card is enabled", "kobana extension disable card"]);
    assert!(place.does(&["disable", "card"]).contains("it was 1.0.0"));
    assert_eq!(place.tools(), Vec::<String>::new());
    place.call("ext.card.hello").fails(200, -32602);
    assert!(place.does(&["remove", "card", "--version", "1.1.0"]).contains("Removed card 1.1.0"));
    assert!(place.does(&["remove", "card"]).contains("Removed card 1.0.0"));
    assert_eq!(place.json(&["list"]), json!([]));
    let left = std::fs::read_dir(place.new.data().join("blobs/extensions")).expect("a folder").count();
    assert_eq!(left, 0, "components stay that nobody has");
}

#[test]
fn people_and_machines_are_told_what_there_is() {
    let place = Place::new();
    place.add(Card { prompts: &["greet"], uris: &["card://one"], ..ONE }, &["--enable"]);
    place.add(Card { version: "2.0.0", ..ONE }, &[]);
    let list = place.does(&["list"]);
    let line = list.lines().nth(1).expect("a row").split_whitespace().collect::<Vec<_>>();
    assert_eq!(line[..4], ["card", "1.0.0", "-", "2"], "{list}");
    let shown = place.does(&["show", "card"]);
    for words in ["card 1.0.0, enabled", "ext.card.hello", "reads", "ext.card.greet", "card://one", "command line"] {
        assert!(shown.contains(words), "{words:?} is not in\n{shown}");
    }
    assert!(place.does(&["show", "card", "--version", "2.0.0"]).contains("card 2.0.0, not enabled"));
    let shown = place.json(&["show", "card"]);
    assert_eq!(shown["extension"], place.json(&["list"])[0]);
    assert_eq!(
        (&shown["version"]["tools"][0]["name"], &shown["settings"]),
        (&json!("hello"), &json!({ "prefix": true }))
    );
    let answer = place.api("GET", "/extensions/card", "application/json", "");
    assert_eq!(answer.is(200).json()["data"], shown["extension"]);
    let wit = Server::command(&["extension", "wit"]).listen(None).run();
    assert!(wit.code == Some(0) && wit.stdout.starts_with("package kobana:extension"), "{wit:?}");
}

#[test]
fn what_cannot_be_done_is_said_and_changes_nothing() {
    let place = Place::new();
    place.add(ONE, &[]);
    for command in ["enable", "disable", "rollback", "show", "remove"] {
        place.refuses(&[command, "cart"], &["extension cart: there is none in finance", "did you mean card?"]);
    }
    place.refuses(&["enable", "card", "--version", "1.0.1"], &["--version 1.0.1", "did you mean 1.0.0?"]);
    place.refuses(&["rollback", "card"], &["No other version of card was enabled before"]);
    let other = place.file(Card { tools: &["other"], ..ONE });
    let other = other.to_str().expect("it is UTF-8");
    place.refuses(&["add", other], &[other, "Version 1.0.0 of card is there with other bytes"]);
    place.refuses(&["add", "nowhere.wasm"], &["nowhere.wasm", "No such file"]);
    std::fs::write(place.new.data().join("text.wasm"), "no component").expect("it is written");
    place.refuses(&["add", "text.wasm"], &["text.wasm: it is not taken", "nothing was changed"]);
    let reserved = place.file(Card { name: "settings", ..ONE });
    place.refuses(&["add", reserved.to_str().expect("it is UTF-8")], &["name: is the API's own"]);
    place.refuses(&["list", "--workspace", "financ"], &["workspace financ", "did you mean finance?"]);
    assert_eq!(place.json(&["list"]).as_array().map(Vec::len), Some(1));
    assert_eq!(place.json(&["show", "card"])["extension"]["versions"].as_array().map(Vec::len), Some(1));
    assert!(place.add(ONE, &[]).contains("card 1.0.0 is there already in finance"));
}

#[test]
fn without_the_prefix_no_tool_passes_for_a_built_in_one() {
    let place = Place::new();
    place.add(Card { name: "copy", tools: &["emails_list"], ..ONE }, &["--enable"]);
    place.refuses(&["prefix", "off"], &["emails_list of copy is called like a built-in one"]);
    assert_eq!(place.tools(), ["ext.copy.emails_list"]);
    place.does(&["disable", "copy"]);
    assert!(place.does(&["prefix", "off"]).contains("without a prefix"));
    place.refuses(&["enable", "copy"], &["emails_list of copy is called like a built-in one"]);
    place.add(ONE, &["--enable"]);
    assert_eq!((place.tools(), place.says("hello")), (vec!["hello".to_owned()], "card 1.0.0".to_owned()));
    place.add(Card { name: "same", ..ONE }, &[]);
    place.refuses(&["enable", "same"], &["hello of same is called like one of card"]);
    assert!(place.does(&["prefix", "on"]).contains("ext.EXTENSION.NAME"));
    assert_eq!(place.json(&["prefix"]), json!({ "prefix": true }));
    place.does(&["enable", "same"]);
    assert_eq!(place.tools(), ["ext.card.hello", "ext.same.hello"]);
}

#[test]
fn the_api_does_the_same() {
    let place = Place::new();
    let post = |path: &str| place.api("POST", path, "application/json", "{}");
    let described =
        place.api("POST", "/extensions", "application/wasm", ONE.component()).is(201).json()["data"].clone();
    assert_eq!(
        (&described["name"], &described["version"], &described["enabled"]),
        (&json!("card"), &json!("1.0.0"), &json!(false))
    );
    assert_eq!(described["tools"][0]["name"], "hello");
    assert_eq!(place.api("POST", "/extensions", "application/wasm", ONE.component()).is(200).json()["data"], described);
    let refused = place.api("POST", "/extensions", "application/wasm", "no component").is(400).json();
    assert_eq!(refused["error"]["code"], "validation_failed");
    assert!(!refused["error"]["details"]["field_errors"].as_object().expect("fields").is_empty(), "{refused}");
    assert_eq!(post("/extensions/card/enable").is(200).json()["data"]["enabled_version"], "1.0.0");
    assert_eq!(
        (place.tools(), place.says("ext.card.hello")),
        (vec!["ext.card.hello".to_owned()], "card 1.0.0".to_owned())
    );
    assert!(place.does(&["show", "card"]).contains("ana@example.com"));
    let next = Card { version: "1.0.1", ..ONE };
    place.api("POST", "/extensions", "application/wasm", next.component()).is(201);
    post("/extensions/card/enable").is(200);
    assert_eq!(place.says("ext.card.hello"), "card 1.0.1");
    assert_eq!(post("/extensions/card/rollback").is(200).json()["data"]["enabled_version"], "1.0.0");
    assert_eq!(place.says("ext.card.hello"), "card 1.0.0");
    assert_eq!(
        place.api("DELETE", "/extensions/card", "", "").is(409).json()["error"]["details"]["field"],
        "enabled_version"
    );
    post("/extensions/card/disable").is(200);
    assert_eq!(place.tools(), Vec::<String>::new());
    place.api("DELETE", "/extensions/card", "", "").is(204);
    place.api("GET", "/extensions/card", "", "").is(404);
}

#[test]
fn every_server_on_the_directory_sees_it_and_no_other_workspace() {
    let folder = tempfile::tempdir().expect("a folder");
    let start = || Server::demo().arg("--data").arg(folder.path()).start();
    let (here, there) = (start(), start());
    let file = folder.path().join("card.wasm");
    std::fs::write(&file, ONE.component()).expect("it is written");
    let does = |arguments: &[&str]| done(&kobana(folder.path(), &[&["extension"], arguments].concat(), ""));
    does(&["add", "card.wasm", "--enable", "--workspace", "acme"]);
    for server in [&here, &there] {
        assert_eq!(tools(server, "demo-owner"), ["ext.card.hello"]);
        // Globex is another tenant.
        assert_eq!(tools(server, "demo-globex"), Vec::<String>::new());
    }
    does(&["disable", "card", "--workspace", "acme"]);
    for server in [&here, &there] {
        assert_eq!(tools(server, "demo-owner"), Vec::<String>::new());
    }
}
