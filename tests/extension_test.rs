//! `kobana extension test`: what it runs, what it finds, and how it tells.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{Server, component};

/// A folder with a component, and cases beside it.
struct Desk {
    folder: TempDir,
    component: PathBuf,
}

/// What a run printed, and how it ended.
struct Run {
    code: i32,
    out: String,
    err: String,
}

impl Desk {
    fn with(package: &str) -> Self {
        Self::of(&component(package))
    }

    fn of(bytes: &[u8]) -> Self {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let component = folder.path().join("extension.wasm");
        fs::write(&component, bytes).expect("it is written");
        Self { folder, component }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let file = self.file(name);
        fs::write(&file, text).expect("it is written");
        file
    }

    #[track_caller]
    fn run(&self, arguments: &[&str]) -> Run {
        let setup = Server::command(&["extension", "test"]).listen(None).directory(self.folder.path());
        let ended = arguments.iter().fold(setup.arg(&self.component), |setup, argument| setup.arg(*argument)).run();
        Run { code: ended.code.expect("it ends by itself"), out: ended.stdout, err: ended.stderr }
    }

    /// Runs cases, given without the first line of the file.
    #[track_caller]
    fn cases(&self, cases: &str, more: &[&str]) -> Run {
        self.write("cases.yaml", &format!("cases:\n{cases}"));
        self.run(&[&["--cases", "cases.yaml"], more].concat())
    }

    /// The JSON document about cases.
    #[track_caller]
    fn told(&self, cases: &str, code: i32) -> Value {
        let run = self.cases(cases, &["--json"]);
        assert_eq!(run.code, code, "{}{}", run.out, run.err);
        serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {}", run.out))
    }
}

impl Run {
    #[track_caller]
    fn ended(&self, code: i32) -> &Self {
        assert_eq!(self.code, code, "{}{}", self.out, self.err);
        self
    }

    #[track_caller]
    fn says(&self, parts: &[&str]) -> &Self {
        for part in parts {
            assert!(self.out.contains(part), "{part:?} is not in: {}", self.out);
        }
        self
    }

    #[track_caller]
    fn complains(&self, parts: &[&str]) {
        assert_eq!(self.code, 2, "{}{}", self.out, self.err);
        for part in parts {
            assert!(self.err.contains(part), "{part:?} is not in: {}", self.err);
        }
    }
}

const PAYMENTS: &str = "kobana-payments-extension";

const GOOD: &str = "
  - name: pays
    tool: pay
    arguments: {amount: 7, to: Ana}
    expect:
      text: {equals: 7 to Ana}
      structured: {total: 7}
      content: [text]
    effects: {none: true}
    budgets: {fuel: 5 M, memory: 4 MiB}
  - name: renames
    tool: rename
    arguments: {id: acme-support, label: Renamed}
    expect: {text: {contains: renamed}}
    effects:
      calls:
        - {method: GET, path: '/inboxes/{id}', status: 200, count: 1}
        - {method: PATCH, path: /inboxes/acme-support, body: {label: Renamed}, status: 200}
      only: true
    after:
      - {get: /inboxes/acme-support, body: {data: {label: Renamed}}}
  - name: finds everything as it was
    tool: rename
    arguments: {id: acme-gone, label: Renamed}
    expect: {outcome: error, text: {contains: '404'}}
    after:
      - {get: /inboxes/acme-support, body: {data: {label: Atendimento ao cliente}}}
  - name: a viewer renames nothing
    as: {role: viewer}
    tool: rename
    arguments: {id: acme-support, label: Renamed}
    expect: {outcome: error, text: {contains: '403'}}
    effects: {calls: [{method: PATCH, path: /inboxes/*, status: 403}]}
    after:
      - {get: /inboxes/acme-support, body: {data: {label: {$not: Renamed}}}}
  - name: an admin does
    as: {role: admin}
    tool: rename
    arguments: {id: acme-support, label: Renamed}
  - name: a scope to read is not one to write
    as: {scopes: [inbox.inboxes]}
    tool: rename
    arguments: {id: acme-support, label: Renamed}
    expect: {outcome: error, text: {regex: cannot be (renamed|read)}}
    after:
      - {get: /inboxes/acme-support, body: {data: {label: {$not: Renamed}}}}
  - name: without any of its scopes it is not there
    as: {scopes: [inbox.emails]}
    tool: pay
    arguments: {amount: 7, to: Ana}
    expect: {outcome: missing_scope}
  - name: asks and greets
    tool: greet
    answers: [{name: {action: accept, content: {name: Ana}}}]
    expect: {text: {equals: 'Hello, Ana'}}
  - name: takes no for an answer
    tool: greet
    answers: [{name: {action: decline}}]
    expect: {outcome: error}
  - name: asks
    tool: greet
    expect:
      outcome: input_required
      text: {equals: What is your name?}
      result: {inputRequests: {name: {method: elicitation/create, params: {requestedSchema: {required: [name]}}}}}
  - name: asks whom it cannot ask
    tool: greet
    client: [url, roots]
    expect: {outcome: unanswerable}
  - name: refuses what its schema does not allow
    tool: pay
    arguments: {amount: 0, to: Ana}
    expect: {outcome: invalid, text: {contains: amount}}
    budgets: {fuel: 0}
  - name: tells its rules
    resource: payments://rules
    expect: {text: {contains: Nobody}, result: {contents: [{uri: payments://rules, mimeType: text/plain}]}}
  - name: has no other rules
    resource: payments://more
    expect: {outcome: missing}
  - name: reminds
    prompt: remind
    arguments: {tone: firm}
    expect: {text: {contains: firm}, result: {messages: [{role: user}]}}
  - name: reminds in two tones
    prompt: remind
    arguments: {tone: rude}
    expect: {outcome: invalid, text: {contains: kind or firm}}
  - name: breaks at 1000
    tool: pay
    arguments: {amount: 1000, to: Ana}
    expect: {outcome: {stopped: trap}}
  - name: answers what its schema does not allow
    tool: pay
    arguments: {amount: 7, to: Ana, tags: [a, b, c, d, e, f]}
    expect: {outcome: {stopped: invalid_answer}}
";

#[test]
fn what_is_as_expected_passes_and_each_case_has_data_of_its_own() {
    let desk = Desk::with(PAYMENTS);
    let run = desk.cases(GOOD, &[]);
    run.ended(0).says(&["payments 1.2.0", "CASE", "HOST CALLS", "asks and greets", "18 cases: 18 passed, 0 failed"]);
    assert!(!run.out.contains("FAILED") && !run.out.contains('\u{1b}'), "{}", run.out);
    assert_eq!(run.err, "", "no progress where nobody watches");
}

#[test]
fn what_is_not_as_expected_is_told_with_what_came_instead() {
    let desk = Desk::with(PAYMENTS);
    let cases = "
  - name: pays
    tool: pay
    arguments: {amount: 7, to: Ana}
    expect: {structured: {total: {$gt: 7}, more: 1}, text: {equals: 8 to Ana}, content: [text, text]}
    budgets: {fuel: 10, memory: 1 KiB}
  - name: renames
    tool: rename
    arguments: {id: acme-support, label: Renamed}
    effects: {reads_only: true, calls: [{method: GET, path: /emails}]}
    after: [{get: /inboxes/acme-support, status: 404}]
  - name: breaks
    tool: pay
    arguments: {amount: 1000, to: Ana}
  - name: greets
    tool: greet
    answers: [{nme: {action: accept}}]
  - name: is fine
    tool: pay
    arguments: {amount: 7, to: Ana}
";
    let run = desk.cases(cases, &["--junit", "results.xml"]);
    run.ended(1).says(&[
        "FAILED  pays (cases.yaml:3)",
        "  expect.structured.total\n    expected  a number > 7\n    got       7",
        "  expect.structured.more\n    expected  1\n    got       nothing",
        "  expect.text\n    expected  \"8 to Ana\"\n    got       \"7 to Ana\"",
        "  expect.content\n    expected  text, text\n    got       text",
        "  budgets.fuel\n    expected  at most 10",
        "  budgets.memory\n    expected  at most 1.0 KiB",
        "  effects.reads_only\n    expected  no call but by GET\n    got       PATCH /inboxes/acme-support → 200",
        "  effects.calls[0]\n    expected  GET /emails\n    got       GET /inboxes/acme-support → 200, PATCH",
        "  after[0].status\n    expected  GET /inboxes/acme-support to answer 404\n    got       200",
        "    info  renamed an inbox",
        "  expect.outcome\n    expected  complete\n    got       stopped: trap",
        "  answers\n    expected  a question \"nme\"\n    got       questions name",
        "ok      is fine",
        "5 cases: 1 passed, 4 failed",
    ]);
    let xml = fs::read_to_string(desk.file("results.xml")).expect("the results are written");
    for part in
        ["tests=\"5\"", "failures=\"4\"", "name=\"payments\"", "<failure message=\"expect.text", "renamed an inbox"]
    {
        assert!(xml.contains(part), "{part:?} is not in: {xml}");
    }
}

#[test]
fn machines_get_one_document() {
    let desk = Desk::with(PAYMENTS);
    let cases = "
  - {name: pays, tool: pay, arguments: {amount: 7, to: Ana}}
  - {name: renames, tool: rename, arguments: {id: acme-support, label: R}, expect: {text: {equals: x}}}
";
    let told = desk.told(cases, 1);
    assert_eq!((&told["ok"], &told["passed"], &told["failed"]), (&json!(false), &json!(1), &json!(1)));
    assert_eq!(told["component"]["name"], "payments");
    assert_eq!(told["component"]["digest"].as_str().map(str::len), Some(64));
    let [pays, renames] = told["cases"].as_array().expect("cases").as_slice() else { panic!("two cases") };
    assert_eq!((&pays["passed"], &pays["outcome"], &pays["line"]), (&json!(true), &json!("complete"), &json!(3)));
    assert_eq!(pays["result"]["structuredContent"], json!({"total": 7}));
    assert!(pays["used"]["fuel"].as_u64() > Some(1_000) && pays["used"]["memory"].as_u64() >= Some(65_536), "{pays}");
    assert_eq!(pays["used"]["host_calls"], 0);
    assert_eq!(renames["findings"], json!([{"field": "expect.text", "expected": "\"x\"", "actual": "\"renamed\""}]));
    assert_eq!(renames["calls"][1]["method"], "PATCH");
    assert_eq!(renames["log"], json!([{"level": "info", "message": "renamed an inbox"}]));
}

#[test]
fn each_way_to_be_stopped_has_its_name() {
    let desk = Desk::with("kobana-hostile-extension");
    desk.write(
        "kobana.toml",
        "[extensions.limits]\nfuel = 20000000\nmemory = 8388608\nlog = 1024\noutput = 65536\nhost_calls = 300\napi_calls = 5\n",
    );
    let reasons = [
        ("spin", "fuel"),
        ("hoard", "memory"),
        ("recurse", "stack"),
        ("trap", "trap"),
        ("exit", "exit"),
        ("log", "log"),
        ("print", "log"),
        ("pester", "host_calls"),
        ("not_json", "invalid_answer"),
    ];
    let cases: String = reasons
        .map(|(tool, reason)| {
            format!("  - {{name: {tool}, tool: {tool}, expect: {{outcome: {{stopped: {reason}}}}}}}\n")
        })
        .concat();
    let rest = "
  - {name: flood, tool: flood, arguments: {n: 1000000}, expect: {outcome: {stopped: output}}}
  - {name: calls, tool: call_forever, arguments: {path: /emails}, expect: {outcome: {stopped: api_calls}}}
  - {name: lies, tool: lie, expect: {text: {contains: Refused}}, effects: {none: true}}
  - {name: reaches out, tool: call, arguments: {path: /extensions}, expect: {text: {contains: Refused}}, effects: {none: true}}
  - {name: works after all that, tool: echo, arguments: {a: 1}, expect: {text: {json: {a: 1}}}}
";
    desk.cases(&format!("{cases}{rest}"), &[]).ended(0).says(&["14 cases: 14 passed, 0 failed"]);
}

#[test]
fn what_cannot_be_run_is_named() {
    let desk = Desk::with(PAYMENTS);
    desk.run(&["--cases", "nowhere.yaml"]).complains(&["nowhere.yaml", "No such file"]);
    desk.cases("  - {name: a, tool: pay, expects: {}}\n", &[]).complains(&["cases.yaml", "line 2", "expects"]);
    desk.cases("  - {name: a}\n  - {name: a, tool: b}\n", &[])
        .complains(&["line 2: expected one of tool", "line 3: name"]);
    desk.cases("  - {name: a, tool: pay}\n", &["--filter", "^b"]).complains(&["--filter", "/^b/"]);
    desk.cases("  - {name: a, tool: pay}\n", &["--filter", "("]).complains(&["--filter", "regular expression"]);
    desk.run(&[]).complains(&["--cases"]);
    desk.run(&["--cases", "cases.yaml", "--json", "--watch"]).complains(&["--json", "--watch"]);
    let nothing = Desk::of(b"no component");
    nothing
        .cases("  - {name: a, tool: pay}\n", &[])
        .complains(&["extension.wasm", "no extension that a server would take"]);
    let gateway = Desk::with("kobana-gateway");
    gateway
        .cases("  - {name: a, tool: pay}\n", &[])
        .complains(&["imports.kobana:api/dispatch", "imports.wasi:http/types"]);
    fs::remove_file(&nothing.component).expect("it is there");
    nothing.cases("  - {name: a, tool: pay}\n", &[]).complains(&["cannot read", "extension.wasm"]);
}

#[test]
fn a_filter_picks_cases() {
    let desk = Desk::with(PAYMENTS);
    let run = desk.cases(GOOD, &["--filter", "^reminds"]);
    run.ended(0).says(&["2 cases: 2 passed, 0 failed, 16 left out"]);
    assert!(!run.out.contains("asks"), "{}", run.out);
}

#[test]
fn made_up_arguments_find_what_breaks_and_tell_it_as_a_case() {
    let desk = Desk::with(PAYMENTS);
    let run = desk.run(&["--fuzz", "120", "--seed", "7", "--json"]);
    run.ended(1);
    let told: Value = serde_json::from_str(&run.out).expect("one document");
    assert_eq!(told["fuzz"]["seed"], 7);
    let [pay, rename, greet] = told["fuzz"]["tools"].as_array().expect("tools").as_slice() else { panic!("{told}") };
    assert_eq!((&pay["calls"], &pay["refused"]), (&json!(120), &json!(24)), "every fifth is refused");
    assert_eq!((&rename["faults"], &greet["faults"]), (&json!([]), &json!([])));
    let faults = pay["faults"].as_array().expect("faults");
    let find =
        |kind: &str| faults.iter().find(|fault| fault["kind"] == kind).unwrap_or_else(|| panic!("{kind}: {pay}"));
    let (trap, answer) = (find("stopped: trap"), find("stopped: invalid_answer"));
    assert_eq!(faults.len(), 2);
    // Nothing is left that is not needed.
    assert_eq!(trap["arguments"].as_object().expect("an object").len(), 2);
    assert_eq!((&trap["arguments"]["amount"], &trap["alone"]), (&json!(1000), &json!(true)));
    assert_eq!(answer["arguments"]["tags"], json!(["", "", "", "", "", ""]));

    // What is printed can be pasted, and fails as long as the fault is there.
    let case = trap["case"].as_str().expect("YAML");
    let case: String = case.lines().map(|line| format!("  {line}\n")).collect();
    desk.cases(&case, &[]).ended(1).says(&["expected  answered", "got       stopped: trap"]);

    // The same seed finds the same, in words too.
    let again = desk.run(&["--fuzz", "120", "--seed", "7", "--filter", "pay"]);
    again.ended(1).says(&[
        "seed 7",
        "pay: stopped: trap",
        "amount: 1000",
        "120 calls with made-up arguments: 2 faults",
    ]);
    assert!(!again.out.contains("rename"), "{}", again.out);
}

#[test]
fn made_up_arguments_stay_within_the_budgets_of_the_file() {
    let desk = Desk::with(PAYMENTS);
    desk.write(
        "cases.yaml",
        "defaults: {budgets: {fuel: 10}}\ncases: [{name: pay, tool: pay, arguments: {amount: 1, to: Ana}, budgets: {fuel: 5 M}}]\n",
    );
    let run = desk.run(&["--cases", "cases.yaml", "--fuzz", "4", "--filter", "greet|pay"]);
    run.ended(1).says(&["1 case: 1 passed, 0 failed; 8 calls", "greet: budgets.fuel, 4 times", "at most 10, used"]);
}

/// A process that does not outlive its test.
struct Watching {
    process: Child,
    lines: Receiver<String>,
}

impl Drop for Watching {
    fn drop(&mut self) {
        // Both fail where it has ended, which is as well.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Watching {
    fn start(folder: &Path) -> Self {
        // Both outputs go into one pipe, so that their order is that of the process.
        let mut command = Command::new("sh");
        command.args(["-c", "exec \"$0\" extension test extension.wasm --cases cases.yaml --watch 2>&1"]);
        command.arg(env!("CARGO_BIN_EXE_kobana")).current_dir(folder).stdout(Stdio::piped());
        command.env("XDG_CACHE_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"));
        // No configuration but what the test gives.
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("KOBANA_")) {
            command.env_remove(name);
        }
        let mut process = command.spawn().expect("there is a shell");
        let output = BufReader::new(process.stdout.take().expect("it is captured"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        Self { process, lines }
    }

    /// Waits for a line that says this.
    #[track_caller]
    fn says(&self, part: &str) {
        let mut seen = String::new();
        while let Ok(line) = self.lines.recv_timeout(Duration::from_secs(60)) {
            if line.contains(part) {
                return;
            }
            seen.push_str(&line);
            seen.push('\n');
        }
        panic!("waited in vain for {part:?} after: {seen}");
    }
}

#[test]
fn what_changes_is_run_again() {
    let desk = Desk::with(PAYMENTS);
    let cases = |text: &str| {
        format!(
            "cases: [{{name: pays, tool: pay, arguments: {{amount: 7, to: Ana}}, expect: {{text: {{equals: {text}}}}}}}]\n"
        )
    };
    desk.write("cases.yaml", &cases("nothing"));
    let mut watching = Watching::start(desk.folder.path());
    watching.says("1 case: 0 passed, 1 failed");
    watching.says("waiting for a change");
    // As editors do it: another file that gets the name.
    let new = desk.write("cases.new", &cases("7 to Ana"));
    fs::rename(new, desk.file("cases.yaml")).expect("it gets the name");
    watching.says("1 case: 1 passed, 0 failed");
    watching.says("waiting for a change");
    desk.write("cases.yaml", "cases: [{}]\n");
    watching.says("missing field `name`");
    watching.says("waiting for a change");
    fs::write(&desk.component, b"no component").expect("it is written");
    watching.says("no extension that a server would take");
    watching.says("waiting for a change");
    desk.write("cases.yaml", &cases("7 to Ana"));
    fs::write(&desk.component, component(PAYMENTS)).expect("it is written");
    watching.says("1 case: 1 passed, 0 failed");
    watching.says("waiting for a change");
    let sent = Command::new("sh").args(["-c", &format!("kill -INT {}", watching.process.id())]).status();
    assert!(sent.expect("there is a shell").success());
    assert_eq!(watching.process.wait().expect("it ends").code(), Some(0));
}
