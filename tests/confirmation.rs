//! Nothing of a destructive tool ever runs without a redeemed confirmation, and a redeemed one runs exactly once.

use std::collections::BTreeSet;
use std::sync::Barrier;
use std::thread;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use crate::harness::{Answer, Call, ENVELOPE, MODERN, Server, nonce, shared};

/// `_meta` of a client that can show a form.
fn asking() -> Value {
    json!({ ENVELOPE[0]: MODERN, ENVELOPE[1]: { "elicitation": { "form": {} } } })
}

fn accept() -> Value {
    json!({ "confirm": { "action": "accept", "content": { "confirm": true } } })
}

/// A call of a destructive tool by a client that can be asked.
fn call(server: &Server, tool: &str, arguments: &Value) -> Call {
    server.modern("tools/call").name(tool).arguments(arguments.clone()).meta(asking())
}

/// The state of a question.
#[track_caller]
fn state_of(answer: &Answer) -> String {
    let result = answer.result();
    assert_eq!(result["resultType"], "input_required", "{answer}");
    assert!(result.get("ttlMs").is_none() && result.get("content").is_none(), "{answer}");
    result["requestState"].as_str().expect("a question has a state").to_owned()
}

fn is_question(answer: &Answer) -> bool {
    answer.json()["result"]["resultType"] == "input_required"
}

fn make_inbox(server: &Server, token: &str, workspace: &str, name: &str) {
    let arguments = json!({ "external_id": name, "label": format!("Caixa {name}") });
    let call = server.modern("tools/call").name("inboxes_create").arguments(arguments);
    call.token(token).header("X-Workspace-Id", workspace).send().document();
}

#[test]
fn a_question_says_what_will_happen_to_which_row() {
    let server = shared();
    let name = nonce("ask");
    make_inbox(&server, "demo-owner", "acme", &name);
    let answer = call(&server, "inboxes_delete", &json!({ "id": name })).send();
    state_of(&answer);
    let request = &answer.result()["inputRequests"]["confirm"];
    assert_eq!(request["method"], "elicitation/create");
    assert_eq!(request["params"]["mode"], "form");
    let message = request["params"]["message"].as_str().expect("a message");
    assert!(message.starts_with("Delete the inbox “Caixa ") && message.contains(&name), "{message}");
    assert_eq!(request["params"]["requestedSchema"]["required"], json!(["confirm"]));
    assert_eq!(request["params"]["requestedSchema"]["properties"]["confirm"]["type"], "boolean");
}

#[test]
fn how_a_confirmation_ended_is_an_event_of_the_workspace_with_the_clients_name() {
    let server = shared();
    let (name, client) = (nonce("event"), nonce("client"));
    make_inbox(&server, "demo-owner", "acme", &name);
    let meta = |capabilities: Value| {
        let mut meta = json!({ ENVELOPE[0]: MODERN, ENVELOPE[1]: capabilities });
        meta["io.modelcontextprotocol/clientInfo"] = json!({ "name": client, "version": "1" });
        meta
    };
    let tool = "inboxes_recipients_add";
    let ask = |email: &str, capabilities: Value| {
        let arguments = json!({ "id": name, "email": email });
        server.modern("tools/call").name(tool).arguments(arguments).meta(meta(capabilities))
    };
    let form = || json!({ "elicitation": { "form": {} } });
    let answered = |email: &str, answers: Value| {
        let state = state_of(&ask(email, form()).send());
        ask(email, form()).param("requestState", json!(state)).param("inputResponses", answers).send()
    };
    answered("yes@supplier.example", accept()).document();
    answered("no@supplier.example", json!({ "confirm": { "action": "decline" } })).tool_error("confirmation_declined");
    ask("never@supplier.example", json!({})).send().fails(400, -32021);
    for ending in ["accepted", "declined", "refused"] {
        let arguments = json!({ "slug": format!("confirmation.{ending}"), "limit": 200 });
        let events = server.modern("tools/call").name("system_events_list").arguments(arguments).send().document();
        let mine = |event: &&Value| event["payload"]["client_name"] == client;
        let events: Vec<_> = events["data"].as_array().expect("events").iter().filter(mine).collect();
        assert_eq!(events.len(), 1, "{ending}: {events:?}");
        assert_eq!(events[0]["payload"]["action"], tool);
    }
}

#[test]
fn of_many_redeems_of_one_state_at_once_exactly_one_wins() {
    let server = shared();
    let name = nonce("race");
    make_inbox(&server, "demo-owner", "acme", &name);
    let arguments = json!({ "id": name, "email": "once@supplier.example" });
    let state = state_of(&call(&server, "inboxes_recipients_add", &arguments).send());
    let barrier = Barrier::new(24);
    let outcomes: Vec<bool> = thread::scope(|scope| {
        let tries: Vec<_> = (0..24)
            .map(|_| {
                scope.spawn(|| {
                    let call = call(&server, "inboxes_recipients_add", &arguments);
                    let call = call.param("requestState", json!(state)).param("inputResponses", accept());
                    barrier.wait();
                    let message = call.send().json();
                    match message.get("error") {
                        Some(error) => {
                            assert_eq!(error["data"]["code"], "confirmation_invalid", "{message}");
                            false
                        }
                        None => message["result"]["isError"] != true && message["result"]["resultType"] == "complete",
                    }
                })
            })
            .collect();
        tries.into_iter().map(|tried| tried.join().expect("no try fails")).collect()
    });
    assert_eq!(outcomes.iter().filter(|won| **won).count(), 1, "{outcomes:?}");
}

/// Who calls, and where.
const SEATS: [(&str, &str); 3] = [("demo-multi", "acme"), ("demo-multi", "acme-labs"), ("demo-owner", "acme")];

#[derive(Debug, Clone)]
enum Step {
    /// Asks to allow an address in an inbox.
    Ask { seat: usize, inbox: usize, email: usize },
    /// Answers the question of an earlier step, perhaps not as it was asked.
    Answer { question: usize, reply: Reply, twist: Twist },
}

#[derive(Debug, Clone, Copy)]
enum Reply {
    Yes,
    Unticked,
    Decline,
    Nothing,
    Nonsense,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Twist {
    None,
    Tamper(usize),
    OtherSeat(usize),
    OtherInbox,
    OtherEmail,
    OtherTool,
}

/// A question that was asked, and what the model knows of it.
struct Question {
    seat: usize,
    inbox: usize,
    email: usize,
    state: String,
    answered: bool,
    /// How often the row had changed when it was asked.
    version: u32,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let ask = (0..3_usize, 0..2_usize, 0..4_usize).prop_map(|(seat, inbox, email)| Step::Ask { seat, inbox, email });
    let reply = prop_oneof![
        5 => Just(Reply::Yes), 1 => Just(Reply::Unticked), 1 => Just(Reply::Decline),
        1 => Just(Reply::Nothing), 1 => Just(Reply::Nonsense)
    ];
    let twist = prop_oneof![
        6 => Just(Twist::None), 2 => (0..120_usize).prop_map(Twist::Tamper), 1 => (0..3_usize).prop_map(Twist::OtherSeat),
        1 => Just(Twist::OtherInbox), 1 => Just(Twist::OtherEmail), 1 => Just(Twist::OtherTool)
    ];
    let answer =
        (any::<usize>(), reply, twist).prop_map(|(question, reply, twist)| Step::Answer { question, reply, twist });
    proptest::collection::vec(prop_oneof![2 => ask, 3 => answer], 4..24)
}

/// What the model expects of the rows, beside the questions that are open.
struct Model<'a> {
    server: &'a Server,
    inboxes: [String; 2],
    questions: Vec<Question>,
    /// Workspace, inbox and address of every call that ran.
    allowed: BTreeSet<(&'static str, usize, String)>,
    /// How often each inbox of each workspace changed.
    versions: std::collections::BTreeMap<(&'static str, usize), u32>,
}

impl Model<'_> {
    fn arguments(&self, inbox: usize, email: usize) -> Value {
        json!({ "id": self.inboxes[inbox], "email": address(email) })
    }

    fn version(&self, seat: usize, inbox: usize) -> u32 {
        self.versions.get(&(SEATS[seat].1, inbox)).copied().unwrap_or_default()
    }

    fn ask(&mut self, seat: usize, inbox: usize, email: usize) {
        let (token, workspace) = SEATS[seat];
        let call = call(self.server, "inboxes_recipients_add", &self.arguments(inbox, email));
        let state = state_of(&call.token(token).header("X-Workspace-Id", workspace).send());
        let version = self.version(seat, inbox);
        self.questions.push(Question { seat, inbox, email, state, answered: false, version });
    }

    fn answer(&mut self, index: usize, reply: Reply, twist: Twist) {
        let question = &self.questions[index];
        let (mut seat, mut inbox, mut email, mut state) =
            (question.seat, question.inbox, question.email, question.state.clone());
        let mut tool = "inboxes_recipients_add";
        match twist {
            Twist::None => {}
            Twist::Tamper(at) => state = tampered(&state, at),
            Twist::OtherSeat(other) => seat = other,
            Twist::OtherInbox => inbox = 1 - inbox,
            Twist::OtherEmail => email = (email + 1) % 4,
            Twist::OtherTool => tool = "inboxes_recipients_remove",
        }
        let faithful = (seat, inbox, email) == (question.seat, question.inbox, question.email)
            && tool == "inboxes_recipients_add"
            && state == question.state;
        let (token, workspace) = SEATS[seat];
        let call = call(self.server, tool, &self.arguments(inbox, email)).param("requestState", json!(state));
        let call = match reply {
            Reply::Nothing => call,
            Reply::Yes => call.param("inputResponses", accept()),
            Reply::Unticked => call
                .param("inputResponses", json!({ "confirm": { "action": "accept", "content": { "confirm": false } } })),
            Reply::Decline => call.param("inputResponses", json!({ "confirm": { "action": "decline" } })),
            Reply::Nonsense => call.param("inputResponses", json!({ "confirm": 12_345, "other": {} })),
        };
        let answer = call.token(token).header("X-Workspace-Id", workspace).send();
        self.judge(index, reply, faithful, &answer);
    }

    fn judge(&mut self, index: usize, reply: Reply, faithful: bool, answer: &Answer) {
        let current = self.version(self.questions[index].seat, self.questions[index].inbox);
        let question = &mut self.questions[index];
        if !faithful || question.answered {
            assert_eq!(answer.fails(200, -32602)["data"]["code"], "confirmation_invalid");
            return;
        }
        let fresh = question.version == current;
        match reply {
            Reply::Nothing | Reply::Nonsense => assert!(is_question(answer), "{answer}"),
            Reply::Yes | Reply::Unticked | Reply::Decline => {
                question.answered = true;
                match (reply, fresh) {
                    (_, false) => assert!(is_question(answer), "the row has changed: {answer}"),
                    (Reply::Yes, true) => self.ran(index, answer),
                    _ => drop(answer.tool_error("confirmation_declined")),
                }
            }
        }
    }

    fn ran(&mut self, index: usize, answer: &Answer) {
        answer.document();
        let (seat, inbox, email) =
            (self.questions[index].seat, self.questions[index].inbox, self.questions[index].email);
        let workspace = SEATS[seat].1;
        if self.allowed.insert((workspace, inbox, address(email))) {
            *self.versions.entry((workspace, inbox)).or_default() += 1;
        }
    }

    /// What the API really holds.
    fn found(&self) -> BTreeSet<(&'static str, usize, String)> {
        let mut found = BTreeSet::new();
        for workspace in ["acme", "acme-labs"] {
            for (inbox, name) in self.inboxes.iter().enumerate() {
                let call = self.server.modern("tools/call").name("inboxes_get").arguments(json!({ "id": name }));
                let document = call.token("demo-multi").header("X-Workspace-Id", workspace).send().document();
                let listed = document["data"]["allowed_recipients"].as_array().cloned().unwrap_or_default();
                found.extend(
                    listed.iter().map(|email| (workspace, inbox, email.as_str().unwrap_or_default().to_owned())),
                );
            }
        }
        found
    }
}

fn address(email: usize) -> String {
    format!("sender-{email}@supplier.example")
}

/// Another state of the same length.
fn tampered(state: &str, at: usize) -> String {
    let mut letters: Vec<char> = state.chars().collect();
    let at = at % letters.len();
    letters[at] = if letters[at] == 'A' { 'B' } else { 'A' };
    letters.into_iter().collect()
}

#[test]
fn whatever_is_asked_answered_tampered_or_replayed_only_confirmed_calls_run_and_each_once() {
    let server = shared();
    let config = Config { cases: 24, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&steps(), |steps| {
            let inboxes = [nonce("one"), nonce("two")];
            for name in &inboxes {
                make_inbox(&server, "demo-multi", "acme", name);
                make_inbox(&server, "demo-multi", "acme-labs", name);
            }
            let mut model = Model {
                server: &server,
                inboxes,
                questions: Vec::new(),
                allowed: BTreeSet::new(),
                versions: std::collections::BTreeMap::new(),
            };
            for step in steps {
                match step {
                    Step::Ask { seat, inbox, email } => model.ask(seat, inbox, email),
                    Step::Answer { question, reply, twist } if !model.questions.is_empty() => {
                        model.answer(question % model.questions.len(), reply, twist);
                    }
                    Step::Answer { .. } => {}
                }
            }
            prop_assert_eq!(model.found(), model.allowed);
            Ok(())
        })
        .unwrap();
}
