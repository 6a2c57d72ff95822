//! What goes wrong between the component and its host: nothing hangs, nothing runs twice, nothing is made up.

use std::thread;

use serde_json::{Value, json};

use crate::edge::proxy::{Fate, Proxy};
use crate::edge::runtime::{Component, Setup, endpoint};
use crate::edge::{KEY, OTHER_KEY, host};
use crate::errors::Held;
use crate::harness::{Call, Connection, ENVELOPE, MODERN, Server, nonce, wait_until};

/// A wait that ends soon, for what never comes.
const SOON: &str = "400";

fn create(server: &Server, name: &str) -> Call {
    let arguments = json!({ "external_id": name, "label": "An inbox of the edge" });
    server.modern("tools/call").name("inboxes_create").arguments(arguments)
}

fn read(server: &Server, name: &str) -> Call {
    server.modern("tools/call").name("inboxes_get").arguments(json!({ "id": name }))
}

/// How many inboxes of this name the host has, asked past the component.
fn inboxes(server: &Server, name: &str) -> usize {
    let list = server.modern("tools/call").name("inboxes_list").arguments(json!({ "limit": 200 })).send().document();
    list["data"].as_array().unwrap().iter().filter(|inbox| inbox["external_id"] == name).count()
}

#[track_caller]
fn is_away(component: &Component, call: &Call, seconds: u64, output: &str) {
    let answer = component.send(call);
    answer.fails(503, -31503);
    assert_eq!(answer.number("retry-after"), seconds, "{answer}");
    answer.lacks("www-authenticate");
    assert!(component.output().contains(output), "{}", component.output());
}

#[test]
fn without_a_host_there_is_a_503_and_no_second_try() {
    let server = host();
    // An address that nobody listens on: it was free a moment ago.
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let component = Setup::new(&format!("http://{nobody}"), KEY).start();
    is_away(&component, &read(&server, "x"), 1, &format!("edge: cannot reach {nobody}: "));
    assert_eq!(component.output().lines().count(), 1, "{}", component.output());
}

#[test]
fn a_wrong_key_is_our_trouble_and_never_the_clients_401() {
    let server = host();
    let component = Setup::new(&endpoint(&server), OTHER_KEY).start();
    is_away(&component, &read(&server, "x"), 30, "edge: the host does not know the key in KOBANA_EDGE_KEY");
    // Nor is one without a token told to bring one: whether that is all that is wrong, nobody can say.
    component.send(&server.modern("ping").without("Authorization")).is(503);
    server.wait_for_log("expected one of edge.keys as the bearer token");
    assert!(!component.output().contains(OTHER_KEY) && !server.log().contains(OTHER_KEY));
}

#[test]
fn whoever_is_no_host_of_this_version_is_told_apart() {
    let server = host();
    let stranger = Setup::new(&format!("http://{}", server.address()), KEY).start();
    is_away(&stranger, &read(&server, "x"), 30, "edge: KOBANA_EDGE_URL is no edge endpoint of kobana");
    let newer = Proxy::start(&endpoint(&server), |_| Fate::OtherVersion);
    let component = Setup::new(&newer.url(), KEY).start();
    is_away(&component, &read(&server, "x"), 30, "edge: the host speaks version 3 and this component version 2");
    assert_eq!(newer.count("authenticate"), 1);
    let older =
        Proxy::start(&endpoint(&server), |function| if function == "call" { Fate::Unknown } else { Fate::Pass });
    let component = Setup::new(&older.url(), KEY).start();
    is_away(&component, &read(&server, "x"), 30, "edge: the host is older: it does not know call");
}

#[test]
fn a_host_with_too_much_to_do_says_so() {
    let server = crate::edge::setup(&[KEY]).env("KOBANA_EDGE__CONCURRENCY", "1").start();
    // A question that does not come to its end takes the only place.
    let address = endpoint(&server).trim_start_matches("http://").parse().unwrap();
    let mut slow = Connection::open_to(address, &server);
    let question = server.http("POST", "/edge/v2/call").header("Authorization", format!("Bearer {KEY}"));
    slow.send(question.header("Content-Length", "10").head());
    let component = Setup::new(&endpoint(&server), KEY).start();
    wait_until("the place to be taken", || component.send(&read(&server, "x")).status == 503);
    is_away(&component, &read(&server, "x"), 1, "edge: the host is busy");
    slow.send("0123456789");
    assert_eq!(slow.answer().status, 400);
    component.send(&server.modern("tools/list")).result();
}

#[test]
fn what_the_database_holds_up_is_held_up_alike_and_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    for (deadline, code) in [("30000", -31503), ("300", -32603)] {
        let setup = crate::edge::setup(&[KEY]).directory(directory.path()).arg("--data").arg(directory.path());
        let server = setup.env("KOBANA_RUNTIME__DEADLINE_MS", deadline).start();
        let component = Setup::new(&endpoint(&server), KEY).start();
        let name = nonce("held");
        let held = Held::by_another_process(directory.path());
        let answer = component.send(&create(&server, &name));
        assert_eq!(answer.json()["error"]["code"], code, "{answer}");
        // Reading goes on meanwhile.
        component.send(&server.modern("tools/call").name("inboxes_list")).document();
        held.let_go();
        component.send(&read(&server, &name)).tool_error("not_found");
    }
}

#[test]
fn what_the_component_is_told_wrongly_is_named() {
    let server = host();
    for (url, key, output) in [
        ("http://inbox.example.com", KEY, "edge: KOBANA_EDGE_URL: expected https, since the host is not on loopback"),
        ("inbox.example.com", KEY, "edge: KOBANA_EDGE_URL: expected an https URL"),
        ("https://inbox.example.com", "secret", "edge: KOBANA_EDGE_KEY: expected 32 random bytes in base64"),
    ] {
        let component = Setup::new(url, key).start();
        is_away(&component, &read(&server, "x"), 30, output);
    }
}

#[test]
fn an_answer_that_does_not_come_in_time_is_waited_for_once() {
    let server = host();
    let name = nonce("late");
    for (fate, there) in [(Fate::Swallow, 0), (Fate::KeepBack, 1)] {
        let proxy =
            Proxy::start(&endpoint(&server), move |function| if function == "call" { fate } else { Fate::Pass });
        let component = Setup::new(&proxy.url(), KEY).env("KOBANA_EDGE_TIMEOUT_MS", SOON).start();
        for call in [read(&server, &name), create(&server, &name)] {
            let error = component.send(&call).fails(200, -32603);
            assert_eq!(error["message"], "The operation did not end in time; whether it took effect is unknown");
        }
        assert_eq!((proxy.count("call"), inboxes(&server, &name)), (2, there), "{fate:?}");
    }
}

#[test]
fn an_answer_that_is_cut_short_is_none_and_a_write_is_not_said_to_be_undone() {
    let server = host();
    for cut in [1, 40] {
        let name = nonce("cut");
        let fate = move |function: &str| if function == "call" { Fate::Cut(cut) } else { Fate::Pass };
        let proxy = Proxy::start(&endpoint(&server), fate);
        let component = Setup::new(&proxy.url(), KEY).start();
        let error = component.send(&create(&server, &name)).fails(200, -32603);
        assert_eq!(error["message"], "The operation did not end in time; whether it took effect is unknown");
        assert_eq!((proxy.count("call"), inboxes(&server, &name)), (1, 1));
        is_away(&component, &read(&server, &name), 1, " did not answer: ");
        assert_eq!(proxy.count("call"), 2);
    }
}

#[test]
fn a_confirmation_whose_answer_is_lost_runs_nothing_and_is_spent() {
    let server = host();
    let name = nonce("lost");
    create(&server, &name).send().document();
    let fate = |function: &str| if function == "redeem-confirmation" { Fate::Cut(1) } else { Fate::Pass };
    let proxy = Proxy::start(&endpoint(&server), fate);
    let component = Setup::new(&proxy.url(), KEY).start();
    let meta = json!({ ENVELOPE[0]: MODERN, ENVELOPE[1]: { "elicitation": { "form": {} } } });
    let delete = server.modern("tools/call").name("inboxes_delete").arguments(json!({ "id": name })).meta(meta);
    let question = component.send(&delete).result();
    assert_eq!(question["resultType"], "input_required");
    let accept = json!({ "confirm": { "action": "accept", "content": { "confirm": true } } });
    let answered = delete.param("requestState", question["requestState"].clone()).param("inputResponses", accept);
    is_away(&component, &answered, 1, " did not answer: ");
    assert_eq!((proxy.count("redeem-confirmation"), proxy.count("call")), (1, 0));
    assert_eq!(inboxes(&server, &name), 1);
    // Past the proxy: the state was spent, so it confirms nothing any more.
    let healthy = Setup::new(&endpoint(&server), KEY).start();
    assert_eq!(healthy.send(&answered).fails(200, -32602)["data"]["code"], "confirmation_invalid");
    assert_eq!(inboxes(&server, &name), 1);
}

#[test]
fn forty_slow_calls_against_few_instances_end_and_a_fast_one_follows() {
    let server = host();
    let fate = |function: &str| if function == "call" { Fate::Swallow } else { Fate::Pass };
    let proxy = Proxy::start(&endpoint(&server), fate);
    let component = Setup::new(&proxy.url(), KEY).instances(4).env("KOBANA_EDGE_TIMEOUT_MS", SOON).start();
    thread::scope(|scope| {
        for _ in 0..40 {
            scope.spawn(|| component.send(&read(&server, "slow")).fails(200, -32603));
        }
    });
    component.send(&server.modern("tools/list")).result();
    assert_eq!((proxy.count("call"), proxy.count("authenticate")), (40, 41));
    assert_eq!(component.instances(), (4, 0), "each instance was used again");
}

#[test]
fn a_guest_that_breaks_costs_its_own_request_and_runs_nothing() {
    let server = host();
    let name = nonce("trap");
    let component = Setup::new(&endpoint(&server), KEY).instances(1).memory(2 << 20).start();
    let mut big = create(&server, &name).arguments(json!({ "external_id": name, "label": "x".repeat(900_000) }));
    component.send(&big).is(500);
    assert_eq!(component.instances(), (1, 1));
    big = create(&server, &name);
    component.send(&big).document();
    assert_eq!((component.instances(), inboxes(&server, &name)), ((2, 1), 1));
}

#[test]
fn long_answers_and_long_headers_pass() {
    let server = host();
    let component = Setup::new(&endpoint(&server), KEY).start();
    let name = nonce("long");
    let text = "ã\n\"".repeat(150_000);
    let arguments =
        json!({ "external_id": name, "label": "Long", "llm_model": "rules", "system_message": text.clone() });
    let create = server.modern("tools/call").name("agents_create").arguments(arguments);
    component.send(&create).document();
    let answer = component.send(&server.modern("tools/call").name("agents_get").arguments(json!({ "id": name })));
    assert_eq!(answer.document()["data"]["system_message"], Value::from(text));
    assert!(answer.body.len() > 900_000, "{}", answer.body.len());

    let list = server.modern("tools/list");
    component.send(&list.clone().header("X-Long", "x".repeat(100_000))).result();
    let stranger = list.set("Authorization", &format!("Bearer {}", "x".repeat(100_000)));
    component.send(&stranger).fails_without_id(401, -31401);
    assert_eq!(component.instances().1, 0);
}

#[test]
fn an_instance_that_is_used_again_keeps_nothing() {
    let server = host();
    let component = Setup::new(&endpoint(&server), KEY).instances(1).start();
    for round in 0..100 {
        component.send(&read(&server, "acme-faturas"));
        component.send(&server.modern("ping").token("demo-expired")).is(401);
        let answer = component.send(&read(&server, &format!("nothing-{round}")));
        answer.tool_error("not_found");
    }
    // It may hold 48 handles at once: one that leaked with each of 300 requests would have ended it.
    assert_eq!(component.instances(), (1, 0));
}

#[test]
fn a_host_that_is_killed_and_comes_back_serves_on_and_nothing_is_there_twice() {
    let data = tempfile::tempdir().unwrap();
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let start = || {
        let setup = crate::edge::setup(&[KEY]).arg("--data").arg(data.path());
        setup.env("KOBANA_EDGE__LISTEN", &address).start()
    };
    let first = start();
    let component = Setup::new(&format!("http://{address}"), KEY).start();
    let names: Vec<_> = (0..60).map(|_| nonce("killed")).collect();
    let calls: Vec<_> = names.iter().map(|name| create(&first, name)).collect();
    let acknowledged: Vec<bool> = thread::scope(|scope| {
        let sent = scope.spawn(|| calls.iter().map(|call| component.send(call)).collect::<Vec<_>>());
        wait_until("some inboxes", || inboxes(&first, &names[5]) == 1);
        first.kill();
        sent.join().unwrap().iter().map(|answer| answer.status == 200 && answer.json().get("error").is_none()).collect()
    });
    assert!(acknowledged.contains(&true) && acknowledged.contains(&false), "it was killed in the middle");
    is_away(&component, &calls[0], 1, "edge: cannot reach");

    let second = start();
    for (name, acknowledged) in names.iter().zip(acknowledged) {
        let there = inboxes(&second, name);
        assert!(there <= 1 && (there == 1 || !acknowledged), "{name}: {there}");
    }
    component.send(&read(&second, &names[0])).document();
    assert_eq!(component.instances().1, 0);
}

#[test]
fn keys_are_rotated_without_a_break() {
    let both = crate::edge::setup(&[KEY, OTHER_KEY]).start();
    let (old, new) = (Setup::new(&endpoint(&both), KEY), Setup::new(&endpoint(&both), OTHER_KEY));
    for component in [old.start(), new.start()] {
        component.send(&both.modern("tools/list")).result();
    }
    let rotated = crate::edge::setup(&[OTHER_KEY]).start();
    let (old, new) = (Setup::new(&endpoint(&rotated), KEY), Setup::new(&endpoint(&rotated), OTHER_KEY));
    is_away(&old.start(), &read(&rotated, "x"), 30, "edge: the host does not know the key");
    new.start().send(&rotated.modern("tools/list")).result();
}
