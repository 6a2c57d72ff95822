//! What extensions may do and what becomes of those that do more, over HTTP with real components.

use std::net::SocketAddr;
use std::path::Path;

use kobana_wire::extension::{Kind, Offer, Outcome, Use};
use kobana_wire::{As, Authenticate, Credentials, FindOffer, Function, Offers, PREFIX, UseOffer};
use serde_json::{Value, json};

use crate::harness::{Answer, Call, Card, ENVELOPE, MODERN, Server, Setup, component, wait_until};
use crate::identity::{Installation, done, kobana};

const CARD: Card<'static> = Card { name: "card", version: "1.0.0", tools: &["hello"], prompts: &[], uris: &[] };

/// A demo server on a directory, where extensions can be added beside it.
struct Demo {
    folder: tempfile::TempDir,
    server: Server,
}

impl Demo {
    fn new() -> Self {
        Self::with(|setup| setup)
    }

    fn with(more: impl FnOnce(Setup) -> Setup) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let server = more(Server::demo().arg("--data").arg(folder.path())).start();
        Self { folder, server }
    }

    /// Adds an extension to a workspace and enables it.
    #[track_caller]
    fn add(&self, workspace: &str, component: &[u8]) {
        add(self.folder.path(), workspace, component, true);
    }

    /// One with the extension whose tools do what they should not, in `acme`.
    fn hostile(more: impl FnOnce(Setup) -> Setup) -> Self {
        let demo = Self::with(more);
        demo.add("acme", &component("kobana-hostile-extension"));
        demo
    }

    /// A call of a tool in the stateless era, by a client that can show a form.
    fn call(&self, tool: &str, arguments: &Value) -> Call {
        self.server.modern("tools/call").name(tool).arguments(arguments.clone()).meta(asking())
    }

    /// What a tool of the hostile extension says.
    #[track_caller]
    fn says(&self, tool: &str, arguments: &Value) -> String {
        says(&self.call(&format!("ext.hostile.{tool}"), arguments).send())
    }
}

#[track_caller]
fn add(data: &Path, workspace: &str, component: &[u8], enable: bool) {
    let file = data.join("extension.wasm");
    std::fs::write(&file, component).expect("it is written");
    let enable: &[&str] = if enable { &["--enable"] } else { &[] };
    let add = ["extension", "add", file.to_str().expect("UTF-8"), "--workspace", workspace];
    done(&kobana(data, &[&add[..], enable].concat(), ""));
}

/// `_meta` of a client that can show a form.
fn asking() -> Value {
    json!({ ENVELOPE[0]: MODERN, ENVELOPE[1]: { "elicitation": { "form": {} } } })
}

/// The text of a tool's result.
#[track_caller]
fn says(answer: &Answer) -> String {
    let result = answer.result();
    assert_ne!(result["isError"], true, "{answer}");
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}")).to_owned()
}

/// What is asked before a call goes on: the requests, and the state.
#[track_caller]
fn asks(answer: &Answer) -> (Value, String) {
    let result = answer.result();
    assert_eq!(result["resultType"], "input_required", "{answer}");
    (result["inputRequests"].clone(), result["requestState"].as_str().expect("a state").to_owned())
}

fn names(listed: &Value, list: &str, name: &str) -> Vec<String> {
    let list = listed[list].as_array().expect("a list").iter();
    list.map(|entry| entry[name].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn an_extension_has_the_scopes_that_it_and_its_caller_have_and_no_more() {
    let demo = Demo::hostile(|setup| setup);
    let ask =
        |token: &str, path: &str| says(&demo.call("ext.hostile.call", &json!({ "path": path })).token(token).send());
    for token in ["demo-owner", "demo-emails"] {
        assert!(ask(token, "/emails").starts_with("200 {\"data\":["), "{token}");
    }
    // The owner has every scope, the extension declares those of e-mails.
    for path in ["/inboxes", "/agents", "/webhooks", "/workspaces"] {
        let refused = ask("demo-owner", path);
        assert!(refused.starts_with("403 ") && refused.contains("insufficient_scope"), "{path}: {refused}");
        assert!(refused.contains(r#""granted":["inbox.emails","inbox.emails.write"]"#), "{refused}");
    }
    let me = ask("demo-viewer", "/me");
    assert!(me.contains("vera") || me.contains("Vera"), "it is the caller, and nobody else: {me}");
}

#[test]
fn no_extension_reaches_another_tenant() {
    let demo = Demo::hostile(|setup| setup);
    let theirs = demo.server.modern("tools/call").name("emails_list").token("demo-globex").send().document();
    let id = theirs["data"][0]["id"].as_str().expect("globex has e-mails");
    let answer = demo.says("call", &json!({ "path": format!("/emails/{id}") }));
    assert!(answer.starts_with("404 ") && answer.contains("not_found"), "{answer}");
    let ours = demo.server.modern("tools/call").name("emails_list").send().document();
    let id = ours["data"][0]["id"].as_str().expect("acme has e-mails");
    let answer = demo.says("call", &json!({ "path": format!("/emails/{id}") }));
    assert!(answer.starts_with("200 ") && answer.contains(id), "{answer}");
    // To others it is not there at all.
    for token in ["demo-globex", "demo-multi"] {
        let listed = demo.server.modern("tools/list").token(token).send().result();
        assert!(names(&listed, "tools", "name").iter().all(|name| !name.starts_with("ext.")), "{token}");
    }
    demo.call("ext.hostile.echo", &json!({})).token("demo-globex").send().fails(200, -32602);
    demo.call("ext.hostile.echo", &json!({}))
        .token("demo-multi")
        .set("X-Workspace-Id", "acme-labs")
        .send()
        .fails(200, -32602);
    assert_eq!(
        says(&demo.call("ext.hostile.echo", &json!({})).token("demo-multi").set("X-Workspace-Id", "acme").send()),
        "{}"
    );
}

#[test]
fn no_extension_manages_extensions_or_leaves_the_api() {
    let demo = Demo::hostile(|setup| setup);
    for path in ["/extensions", "/extensions/hostile", "//extensions", "extensions"] {
        assert!(demo.says("call", &json!({ "path": path })).contains("Refused"), "{path}");
    }
    for path in
        ["/%65xtensions", "/emails?limit=1", "/emails#x", "http://127.0.0.1/emails", "/../extensions", "/nothing"]
    {
        let answer = demo.says("call", &json!({ "path": path }));
        assert!(answer.starts_with("404 "), "{path}: {answer}");
    }
    demo.server.wait_for_log("no extension manages extensions");
}

#[test]
fn who_only_reads_cannot_write() {
    let demo = Demo::hostile(|setup| setup);
    assert!(demo.says("lie", &json!({})).contains("Refused"));
    demo.server.wait_for_log("what only reads can only get");
}

#[test]
fn who_has_none_of_its_scopes_does_not_see_it_and_is_told_which_to_ask_for() {
    let new = Installation::with_ana();
    add(new.data(), "finance", &component("kobana-hostile-extension"), true);
    let mint = ["token", "mint", "--person", "ana@example.com", "--name", "inboxes", "--scope", "inbox.inboxes"];
    let (token, all) = (new.does(&mint), new.mint(&[]));
    let tools = |token: &str| names(&new.server.legacy("tools/list").token(token).send().result(), "tools", "name");
    assert!(tools(&all).contains(&"ext.hostile.echo".to_owned()));
    assert!(!tools(token.trim()).iter().any(|name| name.starts_with("ext.")));
    let answer = new.server.legacy("tools/call").name("ext.hostile.echo").token(token.trim()).send();
    answer.fails(403, -31403);
    let challenge = answer.header("www-authenticate").expect("a challenge");
    assert!(challenge.contains("insufficient_scope") && challenge.contains("inbox.emails"), "{challenge}");
}

#[test]
fn what_may_write_runs_once_and_only_when_a_person_has_said_so() {
    let demo = Demo::hostile(|setup| setup.env("KOBANA_LOG__LEVEL", "info,kobana::extension=debug"));
    let tool = "ext.hostile.write_and_trap";
    let nobody_asked = demo.server.modern("tools/call").name(tool).arguments(json!({})).send();
    assert_eq!(nobody_asked.fails(400, -32021)["data"]["code"], "confirmation_required");
    demo.server.legacy("tools/call").name(tool).send().tool_error("confirmation_required");
    let call = || demo.call(tool, &json!({}));
    let (requests, state) = asks(&call().send());
    let message = requests["confirm"]["params"]["message"].as_str().expect("a question");
    assert!(message.contains("hostile"), "{message}");
    let answered =
        |state: &str, answer: Value| call().param("requestState", json!(state)).param("inputResponses", answer);
    answered(&state, json!({ "confirm": { "action": "decline" } })).send().tool_error("confirmation_declined");
    let yes = json!({ "confirm": { "action": "accept", "content": { "confirm": true } } });
    let spent = answered(&state, yes.clone()).send().fails(200, -32602);
    assert_eq!(spent["data"]["code"], "confirmation_invalid");
    let (_, state) = asks(&call().send());
    assert!(!demo.server.log().contains("a call begins"), "{}", demo.server.log());
    answered(&state, yes).send().tool_error("extension_trap");
    assert_eq!(demo.server.log().matches("a call begins").count(), 1);
}

#[test]
fn nobody_is_asked_about_a_call_that_would_be_refused() {
    let demo = Demo::with(|setup| setup);
    demo.add("acme", &component("kobana-payments-extension"));
    let call = |arguments: Value| demo.call("ext.payments.rename", &arguments).send();
    assert!(call(json!({ "id": 7 })).tool_error("validation_failed")["details"]["field_errors"]["label"].is_array());
    asks(&call(json!({ "id": "acme-support", "label": "Suporte" })));
}

#[test]
fn a_question_goes_to_the_client_and_its_answer_and_the_state_come_back() {
    let demo = Demo::hostile(|setup| setup);
    let call = || demo.call("ext.hostile.ask", &json!({}));
    let (requests, state) = asks(&call().send());
    assert_eq!(requests["name"]["method"], "elicitation/create");
    assert!(!state.contains("AQID") && state.len() > 60, "nobody reads the state on the way: {state}");
    let answers = json!({ "name": { "action": "accept", "content": { "name": "Ana" } } });
    let retry = |state: &str| call().param("requestState", json!(state)).param("inputResponses", answers.clone());
    let altered = format!("{}{}", &state[..state.len() - 2], if state.ends_with('A') { "BB" } else { "AA" });
    let refused = [
        retry(&altered),
        retry(&state).token("demo-multi").set("X-Workspace-Id", "acme"),
        retry(&state).arguments(json!({ "other": 1 })),
        retry(&state).name("ext.hostile.echo"),
    ];
    for call in refused {
        assert_eq!(call.send().fails(200, -32602)["data"]["code"], "request_state_invalid");
    }
    let said = says(&retry(&state).send());
    assert!(said.contains("[1, 2, 3]") && said.contains("Ana"), "{said}");
    assert_eq!(retry(&state).send().fails(200, -32602)["data"]["code"], "request_state_invalid");
    // A client that cannot be asked is told what is missing.
    let missing =
        demo.server.modern("tools/call").name("ext.hostile.ask").arguments(json!({})).send().fails(400, -32021);
    assert!(missing["data"]["requiredCapabilities"]["elicitation"].is_object(), "{missing}");
}

#[test]
fn each_limit_is_named_and_nobody_else_notices() {
    let demo = Demo::hostile(|setup| {
        // The machine may be busy: nothing is to end by time, and nothing to wait until the machine is not.
        let settings = [
            ("LIMITS__TIME_MS", "600000"),
            ("LIMITS__FUEL", "100000000"),
            ("LIMITS__LOG", "4096"),
            ("LIMITS__HOST_CALLS", "1000"),
            ("LIMITS__API_CALLS", "20"),
            ("SHARE__CALL_MS", "1000000"),
            ("SHARE__COMPUTE_MS", "1000000"),
            ("SHARE__API_MS", "1000000"),
            ("BREAKER__TRIPS_AFTER", "0"),
        ];
        settings.iter().fold(setup, |setup, (name, value)| setup.env(&format!("KOBANA_EXTENSIONS__{name}"), value))
    });
    let ends = [
        ("spin", json!({}), "fuel"),
        ("regex", json!({}), "fuel"),
        ("hoard", json!({}), "memory"),
        ("recurse", json!({}), "stack"),
        ("flood", json!({ "bytes": 50_000_000 }), "output"),
        ("log", json!({}), "log"),
        ("print", json!({}), "log"),
        ("pester", json!({}), "host_calls"),
        ("call_forever", json!({ "path": "/me" }), "api_calls"),
    ];
    for (tool, arguments, limit) in &ends {
        let call = demo.call(&format!("ext.hostile.{tool}"), arguments);
        let error = call.send().tool_error("extension_limit");
        assert_eq!(error["details"]["limit"], *limit, "{tool}: {error}");
        assert!(error["message"].as_str().expect("a sentence").starts_with("The extension"), "{error}");
        let legacy = demo.server.legacy("tools/call").name(&format!("ext.hostile.{tool}")).arguments(arguments.clone());
        assert_eq!(legacy.send().tool_error("extension_limit")["details"]["limit"], *limit, "{tool}");
        // The next one is well, and begins with nothing.
        assert_eq!(demo.says("count", &json!({})), "1");
    }
    for tool in ["trap", "exit"] {
        demo.call(&format!("ext.hostile.{tool}"), &json!({})).send().tool_error("extension_trap");
    }
    for tool in ["not_json", "deep_json", "bad_priority", "same_keys", "bad_form"] {
        demo.call(&format!("ext.hostile.{tool}"), &json!({})).send().tool_error("extension_invalid_answer");
    }
    assert_eq!(demo.says("count", &json!({})), "1");
}

#[test]
fn who_takes_too_long_is_stopped_by_time() {
    let demo = Demo::hostile(|setup| setup.env("KOBANA_EXTENSIONS__LIMITS__TIME_MS", "500"));
    let error = demo.call("ext.hostile.sleep", &json!({ "ms": 60_000 })).send().tool_error("extension_limit");
    assert_eq!(error["details"]["limit"], "time_ms", "{error}");
}

#[test]
fn one_that_breaks_again_and_again_rests_and_comes_back() {
    let demo = Demo::hostile(|setup| {
        setup.env("KOBANA_EXTENSIONS__BREAKER__TRIPS_AFTER", "3").env("KOBANA_EXTENSIONS__BREAKER__RESTS_S", "2")
    });
    demo.add("acme", &CARD.component());
    for _ in 0..3 {
        demo.call("ext.hostile.trap", &json!({})).send().tool_error("extension_trap");
    }
    let error = demo.call("ext.hostile.echo", &json!({})).send().tool_error("extension_unavailable");
    assert!(error["details"]["retry_after"].as_u64().is_some_and(|seconds| (1..=2).contains(&seconds)), "{error}");
    assert!(error["message"].as_str().expect("a sentence").starts_with("The extension broke too often in your calls"));
    demo.server.wait_for_log("it broke too often for one caller and rests for them");
    assert_eq!(says(&demo.call("ext.card.hello", &json!({})).send()), "card 1.0.0", "the others work");
    wait_until("the trial", || demo.call("ext.hostile.echo", &json!({})).send().result()["isError"] != true);
    demo.server.wait_for_log("it is well again for this caller");
    // Two more are not three.
    for _ in 0..2 {
        demo.call("ext.hostile.trap", &json!({})).send().tool_error("extension_trap");
    }
    assert_eq!(demo.says("echo", &json!({})), "{}");
}

#[test]
fn who_makes_it_break_keeps_nobody_else_from_it_unless_it_breaks_for_others_too() {
    let demo = Demo::hostile(|setup| {
        setup.env("KOBANA_EXTENSIONS__BREAKER__TRIPS_AFTER", "2").env("KOBANA_EXTENSIONS__BREAKER__RESTS_S", "600")
    });
    let call = |token: &str, tool: &str| {
        let call = demo.call(&format!("ext.hostile.{tool}"), &json!({}));
        call.token(token).set("X-Workspace-Id", "acme").send()
    };
    for _ in 0..2 {
        call("demo-owner", "trap").tool_error("extension_trap");
    }
    call("demo-owner", "echo").tool_error("extension_unavailable");
    // Another credential of the same person makes no difference.
    call("demo-emails", "echo").tool_error("extension_unavailable");
    assert_eq!(says(&call("demo-viewer", "echo")), "{}");
    // It has broken for the owner; with the viewer these are two.
    call("demo-viewer", "trap").tool_error("extension_trap");
    let error = call("demo-multi", "echo").tool_error("extension_unavailable");
    assert!(error["message"].as_str().expect("a sentence").starts_with("The extension broke for too many callers"));
    demo.server.wait_for_log("it broke for too many callers and rests for a while");
}

/// Without credit a call computes when nothing else does, and waits for the API: it is slower, and nothing else.
#[test]
fn a_workspace_that_has_had_its_share_gets_its_answers() {
    let demo = Demo::hostile(|setup| {
        let share =
            [("CALL_MS", "1"), ("COMPUTE_MS", "1"), ("COMPUTE_SAVED_MS", "1"), ("API_MS", "10"), ("API_SAVED_MS", "1")];
        share.iter().fold(setup, |setup, (name, value)| setup.env(&format!("KOBANA_EXTENSIONS__SHARE__{name}"), value))
    });
    for _ in 0..3 {
        demo.says("compute", &json!({}));
        assert!(demo.says("call", &json!({ "path": "/emails" })).starts_with("200 "));
    }
}

#[test]
fn a_call_finishes_on_the_version_that_it_began_with() {
    let new = Installation::with_ana();
    let (mcp, rest) = (new.mint(&[]), new.mint(&["--audience", "rest"]));
    let slow = Card { tools: &["slow", "hello"], ..CARD };
    add(new.data(), "finance", &slow.component(), true);
    add(new.data(), "finance", &Card { version: "2.0.0", ..slow }.component(), false);
    let call = |tool: &str| new.server.legacy("tools/call").name(tool).token(&mcp);
    let enable = |version: &str| {
        let enable = new.server.http("POST", "/api/v1/extensions/card/enable").token(&rest);
        enable.set("content-type", "application/json").body(json!({ "version": version }).to_string()).send().is(200);
    };
    // Whether the change came in the middle depends on the machine; it does at one of these tries.
    let in_the_middle = (0..5).any(|_| {
        enable("1.0.0");
        let began = std::sync::Barrier::new(2);
        std::thread::scope(|scope| {
            let slow = scope.spawn(|| {
                let mut connection = new.server.connect();
                connection.send(call("ext.card.slow").bytes());
                began.wait();
                says(&connection.answer())
            });
            began.wait();
            // Answered after the one before it was taken up: both wait for the same gate.
            assert_eq!(says(&call("ext.card.hello").send()), "card 1.0.0");
            enable("2.0.0");
            assert_eq!(says(&call("ext.card.hello").send()), "card 2.0.0");
            let in_the_middle = !slow.is_finished();
            let said = slow.join().expect("it ends");
            assert!(said == "card 1.0.0" || said == "card 2.0.0", "{said}");
            in_the_middle && said == "card 1.0.0"
        })
    });
    assert!(in_the_middle);
}

#[test]
fn a_workspace_that_calls_too_much_is_turned_away_and_others_are_not() {
    let demo = Demo::with(|setup| {
        let setup = setup.env("KOBANA_EXTENSIONS__CONCURRENCY", "1").env("KOBANA_EXTENSIONS__QUEUE", "0");
        setup.env("KOBANA_LOG__LEVEL", "info,kobana::extension=debug")
    });
    let slow = Card { tools: &["slow", "hello"], ..CARD }.component();
    demo.add("acme", &slow);
    demo.add("globex", &slow);
    std::thread::scope(|scope| {
        let slow = scope.spawn(|| says(&demo.call("ext.card.slow", &json!({})).send()));
        demo.server.wait_for_log("a call begins");
        let turned = demo.call("ext.card.hello", &json!({})).send();
        let theirs = says(&demo.call("ext.card.hello", &json!({})).token("demo-globex").send());
        if !slow.is_finished() {
            assert_eq!(turned.tool_error("extension_unavailable")["details"]["retry_after"], 1);
        }
        assert_eq!((theirs.as_str(), slow.join().expect("it ends").as_str()), ("card 1.0.0", "card 1.0.0"));
    });
}

#[test]
fn arguments_are_checked_before_anything_runs() {
    let demo = Demo::with(|setup| setup.env("KOBANA_LOG__LEVEL", "info,kobana::extension=debug"));
    demo.add("acme", &component("kobana-conformance-extension"));
    let tool = "ext.conformance.json_schema_2020_12_tool";
    let wrong = json!({ "name": 7, "address": { "city": ["geheim"] }, "contactMethod": "geheim", "colour": "geheim", "phone": "1" });
    for call in [demo.call(tool, &wrong), demo.server.legacy("tools/call").name(tool).arguments(wrong.clone())] {
        let answer = call.send();
        let error = answer.tool_error("validation_failed");
        let fields = &error["details"]["field_errors"];
        assert_eq!(fields["name"], json!(["expected a string"]));
        assert_eq!(fields["address"], json!(["city: expected a string"]));
        assert_eq!(fields["contactMethod"], json!(["expected one of phone, email"]));
        assert_eq!(fields["colour"], json!(["is not accepted here"]));
        assert!(!answer.text().contains("geheim"), "{answer}");
    }
    let prompt = |arguments: Value| {
        let call = demo.server.modern("prompts/get").name("ext.conformance.test_prompt_with_arguments");
        call.arguments(arguments).send()
    };
    let refused = prompt(json!({ "arg1": "a", "arg3": "b" }));
    assert!(refused.fails(200, -32602).to_string().contains("arg2"), "{refused}");
    assert!(!demo.server.log().contains("a call begins"), "{}", demo.server.log());
    assert!(prompt(json!({ "arg1": "a", "arg2": "b" })).result()["messages"].to_string().contains('a'));
}

#[test]
fn documents_are_found_by_their_uri_and_by_templates() {
    let demo = Demo::new();
    demo.add("acme", &component("kobana-conformance-extension"));
    let read = |uri: &str| demo.server.modern("resources/read").param("uri", json!(uri)).send();
    assert!(read("test://static-text").result()["contents"][0]["text"].is_string());
    assert!(read("test://template/42/data").result()["contents"][0]["text"].to_string().contains("42"));
    for uri in [
        "test://template//data",
        "test://template/4/2/data",
        "test://template/42",
        "test://nothing",
        "kobana://nothing",
    ] {
        let answer = read(uri);
        assert!(answer.json()["error"].is_object(), "{uri}: {answer}");
    }
    let listed = demo.server.modern("resources/list").send().result();
    assert!(names(&listed, "resources", "uri").contains(&"test://static-text".to_owned()));
    let listed = demo.server.modern("resources/templates/list").send().result();
    assert!(names(&listed, "resourceTemplates", "uriTemplate").contains(&"test://template/{id}/data".to_owned()));
}

#[test]
fn turned_off_there_are_none_and_none_can_be_added() {
    let demo = Demo::new();
    demo.add("acme", &CARD.component());
    let off = Server::demo().arg("--data").arg(demo.folder.path()).env("KOBANA_EXTENSIONS__ENABLED", "false").start();
    let tools = |server: &Server| names(&server.modern("tools/list").send().result(), "tools", "name");
    assert!(tools(&demo.server).contains(&"ext.card.hello".to_owned()));
    assert!(!tools(&off).contains(&"ext.card.hello".to_owned()));
    off.modern("tools/call").name("ext.card.hello").arguments(json!({})).send().fails(200, -32602);
    let upload = off.http("POST", "/api/v1/extensions").token("rest-owner").set("content-type", "application/wasm");
    upload.body(CARD.component()).send().is(503);
}

#[test]
fn settings_that_make_no_sense_are_named() {
    let somewhere = r#"{"0198c0de-0000-7000-8000-000000000001/risk" = {memory = 1}}"#;
    let wrong = [
        ("CONCURRENCY", "0", "extensions.concurrency: must be 1 to 1000"),
        ("LIMITS__MEMORY", "1", "extensions.limits.memory: must be at least"),
        ("SANDBOX__TICK_MS", "0", "extensions.sandbox.tick_ms: must be"),
        ("BREAKER__RESTS_S", "0", "extensions.breaker.rests_s: must be"),
        ("SHARE__API_MS", "0", "extensions.share.api_ms: must be 1 to 1000000"),
        ("NAMED", r#"{risk = {fuel = 1}}"#, "extensions.named.risk: must be named by the UUID of a workspace"),
        ("NAMED", somewhere, "extensions.named.0198c0de-0000-7000-8000-000000000001/risk.memory: must be at least"),
        ("LIMITS__FULE", "1", "extensions.limits.fule: unknown field: found `fule`"),
    ];
    for (name, value, said) in wrong {
        let ended = Server::demo().env(&format!("KOBANA_EXTENSIONS__{name}"), value).run();
        assert_eq!(ended.code, Some(2), "{name}");
        assert!(ended.stderr.contains(said), "{name}: {}", ended.stderr);
    }
}

#[test]
fn whoever_asks_through_the_edge_sees_the_same() {
    const KEY: &str = "b25lIGtleSBvZiBhbiBlZGdlIGNvbXBvbmVudC4uLi4=";
    let demo = Demo::with(|setup| {
        let keys = format!(r#"[{{id = "one", key = "{KEY}"}}]"#);
        setup.env("KOBANA_EDGE__LISTEN", "127.0.0.1:0").env("KOBANA_EDGE__KEYS", &keys)
    });
    demo.add("acme", &CARD.component());
    let line = demo.server.banner().lines().find_map(|line| line.trim().strip_prefix("Edge")).expect("its address");
    let address: SocketAddr = line.trim().trim_start_matches("http://").parse().expect("an address");
    fn ask<F: Function>(server: &Server, address: SocketAddr, question: &F::Question) -> F::Reply {
        let call = server.http("POST", &format!("{PREFIX}{}", F::NAME));
        let call = call.header("Authorization", format!("Bearer {KEY}")).body(kobana_wire::write(question).unwrap());
        kobana_wire::read(&call.send_to(address).is(200).body).unwrap()
    }
    let tools = |token: &str| -> Vec<Offer> {
        let credentials = Credentials { authorization: Some(format!("Bearer {token}")), workspace: None };
        let ticket = ask::<Authenticate>(&demo.server, address, &credentials).expect("it is let in").ticket;
        ask::<Offers>(&demo.server, address, &As { ticket, question: Kind::Tool }).expect("a list")
    };
    assert!(tools("demo-globex").is_empty());
    let offers = tools("demo-owner");
    assert_eq!(offers.iter().map(|offer| offer.name.as_str()).collect::<Vec<_>>(), ["ext.card.hello"]);
    let credentials = Credentials { authorization: Some("Bearer demo-owner".to_owned()), workspace: None };
    let ticket = ask::<Authenticate>(&demo.server, address, &credentials).expect("it is let in").ticket;
    let find = As { ticket: ticket.clone(), question: (Kind::Tool, "ext.card.hello".to_owned()) };
    let found = ask::<FindOffer>(&demo.server, address, &find).expect("an answer").expect("an offer");
    assert_eq!(found, offers[0]);
    let wanted = |version: &str| Use {
        kind: Kind::Tool,
        name: "ext.card.hello".to_owned(),
        version: version.to_owned(),
        arguments: "{}".to_owned(),
        client: kobana_wire::extension::Client::default(),
        answers: None,
        check_only: false,
    };
    let used = |version: &str| {
        let question = As { ticket: ticket.clone(), question: wanted(version) };
        ask::<UseOffer>(&demo.server, address, &question).expect("an outcome")
    };
    assert!(matches!(used(&found.version), Outcome::Tool { is_error: false, .. }));
    assert_eq!(used("another"), Outcome::Missing);
}
