//! The process: how it starts, why it does not, how it ends.

use std::fs;
use std::net::TcpListener;
use std::path::Path;

use crate::harness::{Server, Setup, shared};

/// Expects that the server does not start, and gives the one line that says why.
#[track_caller]
fn refusal(setup: Setup) -> String {
    let ended = setup.run();
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stdout.is_empty(), "{ended:?}");
    let lines: Vec<_> = ended.stderr.lines().filter(|line| line.starts_with("kobana: ")).collect();
    assert_eq!(lines.len(), 1, "one line says why: {ended:?}");
    assert_eq!(ended.stderr.lines().last(), Some(lines[0]), "{ended:?}");
    assert!(!ended.stderr.contains("panicked"), "{ended:?}");
    lines[0].to_owned()
}

/// Expects that the reason names all of these.
#[track_caller]
fn refused(setup: Setup, words: &[&str]) {
    let line = refusal(setup);
    for word in words {
        assert!(line.contains(word), "{word:?} is not in {line:?}");
    }
}

#[test]
fn a_port_in_use_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    refused(Server::demo().listen(Some(&address)), &["cannot listen", &address, "in use"]);
}

#[test]
fn the_demo_is_on_loopback_only() {
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        refused(Server::demo().listen(Some(address)), &["listen", "demo", "loopback"]);
    }
    refused(Server::demo().listen(None).env("KOBANA_LISTEN", "0.0.0.0:3028"), &["listen", "loopback"]);
}

#[test]
fn the_demo_is_on_either_loopback() {
    if TcpListener::bind("[::1]:0").is_err() {
        eprintln!("this machine has no IPv6");
        return;
    }
    let server = Server::demo().listen(Some("[::1]:0")).start();
    server.legacy("ping").send().result();
}

#[test]
fn without_the_demo_there_must_be_a_place_for_the_data() {
    refused(Server::command(&["serve"]), &["configuration", "data", "--data", "serve --demo"]);
}

#[test]
fn the_demos_persons_are_served_as_a_demo_only() {
    let folder = tempfile::tempdir().unwrap();
    let data = |setup: Setup| setup.arg("--data").arg(folder.path());
    drop(data(Server::demo()).start());
    let path = folder.path().display().to_string();
    refused(data(Server::command(&["serve"])), &["data", &path, "password is well known", "--demo"]);
    data(Server::demo()).start();
}

#[test]
fn off_loopback_the_endpoint_has_an_https_url() {
    let folder = tempfile::tempdir().unwrap();
    let serve = || Server::command(&["serve", "--data"]).arg(folder.path()).listen(Some("0.0.0.0:0"));
    refused(serve(), &["resource", "https", "listen = 0.0.0.0:0"]);
    for url in ["http://inbox.example.com/mcp", "http://127.0.0.1:3028/mcp"] {
        refused(serve().env("KOBANA_RESOURCE", url), &["resource", url, "https"]);
    }
    assert!(folder.path().read_dir().unwrap().next().is_none(), "nothing is written before the settings are good");
}

#[test]
fn a_bad_setting_is_named_with_its_source() {
    let environment = "KOBANA_";
    for (name, value, setting) in [
        ("KOBANA_LISTEN", "nowhere", "listen"),
        ("KOBANA_HTTP__MAX_CONNECTIONS", "many", "http.max_connections"),
        ("KOBANA_LOG__FORMAT", "xml", "log.format"),
        ("KOBANA_RUNTIME__MEMORY", "-1", "runtime.memory"),
        ("KOBANA_NOPE", "1", "nope"),
        ("KOBANA_HTTP__NOPE", "1", "http.nope"),
    ] {
        refused(Server::demo().listen(None).env(name, value), &["configuration", setting, environment]);
    }
}

#[test]
fn numbers_that_make_no_sense_are_named() {
    for (name, value, setting) in [
        ("KOBANA_HTTP__MAX_CONNECTIONS", "0", "http.max_connections"),
        ("KOBANA_HTTP__HEAD_TIMEOUT", "0", "http.head_timeout"),
        ("KOBANA_HTTP__MAX_HEAD", "1", "http.max_head"),
        ("KOBANA_RUNTIME__INSTANCES", "0", "runtime.instances"),
        ("KOBANA_RUNTIME__CPU_MS", "0", "runtime.cpu_ms"),
        ("KOBANA_LOG__LEVEL", "loud=very", "log.level"),
    ] {
        refused(Server::demo().env(name, value), &[setting]);
    }
}

#[test]
fn addresses_that_make_no_sense_are_named() {
    for (name, value) in [
        ("resource", "no-url"),
        ("resource", "http://127.0.0.1/"),
        ("allowed_origins", r#"["not an origin"]"#),
        ("resource", "http://inbox.example.com/mcp"),
    ] {
        refused(Server::demo().env(&format!("KOBANA_{}", name.to_ascii_uppercase()), value), &[name]);
    }
}

#[test]
fn a_configuration_file_that_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let file = folder.path().join(name);
        fs::write(&file, text).unwrap();
        file
    };
    let with = |path: &Path| Server::demo().arg("--config").arg(path);
    refused(with(&folder.path().join("missing.toml")), &["configuration", "missing.toml"]);
    refused(with(folder.path()), &["configuration", "not a file"]);
    refused(with(&file("broken.toml", "listen = \n")), &["configuration", "broken.toml"]);
    refused(with(&file("unknown.toml", "nope = 1\n")), &["nope", "unknown.toml"]);
    refused(with(&file("type.toml", "[runtime]\ninstances = \"x\"\n")), &["runtime.instances", "type.toml"]);
    refused(with(&file("range.toml", "[runtime]\ninstances = 0\n")), &["runtime.instances"]);
}

#[test]
fn the_command_line_wins_over_the_environment_and_that_over_the_file() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("kobana.toml"), "listen = \"nowhere\"\n[http]\nmax_connections = 0\n").unwrap();
    refused(Server::demo().listen(None).directory(folder.path()), &["listen", "kobana.toml"]);
    let better = || Server::demo().directory(folder.path()).env("KOBANA_HTTP__MAX_CONNECTIONS", "9");
    let server = better().env("KOBANA_LISTEN", "127.0.0.1:0").listen(None).start();
    server.legacy("ping").send().result();

    fs::write(folder.path().join("kobana.toml"), "listen = \"127.0.0.1:1\"\n[http]\nmax_connections = 0\n").unwrap();
    let server = better().env("KOBANA_LISTEN", "127.0.0.1:2").start();
    assert!(server.port() > 2, "--listen decides");
}

#[test]
fn a_component_that_is_none_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let file = folder.path().join(name);
        fs::write(&file, bytes).unwrap();
        file
    };
    let with = |path: &Path| Server::demo().arg("--component").arg(path);
    refused(with(&folder.path().join("missing.wasm")), &["component", "missing.wasm"]);
    refused(with(&file("garbage.wasm", b"garbage")), &["component"]);
    refused(with(&file("empty.wasm", b"")), &["component"]);
    refused(with(&file("core.wasm", b"\0asm\x01\0\0\0")), &["component", "core module"]);
    refused(with(&file("nothing.wasm", b"\0asm\x0d\0\x01\0")), &["component", "wasi:http"]);
    refused(with(&file("cut.wasm", b"\0asm\x0d\0\x01\0\x01\xff")), &["component"]);
}

#[test]
fn a_data_directory_that_cannot_be_used_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "x").unwrap();
    refused(Server::demo().arg("--data").arg(&file), &["file"]);
    fs::create_dir(folder.path().join("bad")).unwrap();
    let probe = Server::demo().arg("--data").arg(folder.path().join("bad")).start();
    assert_eq!(probe.stop().0.code(), Some(0));
    for entry in fs::read_dir(folder.path().join("bad")).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_file() {
            fs::write(entry.path(), "this is no database").unwrap();
        }
    }
    refused(Server::demo().arg("--data").arg(folder.path().join("bad")), &["bad"]);
}

#[test]
fn help_and_version_are_no_failure() {
    for (arguments, word) in
        [(&["--help"][..], "serve"), (&["serve", "--help"], "--component"), (&["--version"], env!("CARGO_PKG_VERSION"))]
    {
        let ended = Server::command(arguments).listen(None).run();
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(ended.stdout.contains(word), "{ended:?}");
    }
    for arguments in [&[][..], &["nope"], &["serve", "--nope"], &["serve", "--listen", "nowhere"]] {
        let ended = Server::command(arguments).listen(None).run();
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.stdout.is_empty() && !ended.stderr.is_empty(), "{ended:?}");
    }
}

#[test]
fn the_start_says_where_to_connect_and_how() {
    let server = shared();
    let banner = server.banner();
    let url = format!("http://127.0.0.1:{}", server.port());
    for text in [&format!("{url}/mcp"), &format!("{url}/api/v1"), "demo-owner", "rest-owner"] {
        assert!(banner.contains(text), "{text}: {banner}");
    }
    let command = banner.lines().find(|line| line.contains("claude mcp add")).expect("a command to copy");
    assert!(command.contains(&format!("{url}/mcp")) && command.contains("Bearer demo-owner"), "{command}");
}

#[test]
fn probes_say_that_it_lives_and_that_it_is_ready() {
    let server = shared();
    for path in ["/healthz", "/readyz"] {
        assert_eq!(server.http("GET", path).send().is(200).json()["status"], "ok", "{path}");
        server.http("POST", path).send().is(405);
    }
    server.http("GET", "/healthz/x").send().is(404);
}

#[test]
fn whoever_stops_it_waits_for_the_running_request() {
    let server = Server::demo().start();
    let bytes = server.legacy("ping").header("Expect", "100-continue").bytes();
    let body = server.legacy("ping").payload().len();
    let (head, body) = bytes.split_at(bytes.len() - body);
    let mut running = server.connect();
    running.send(head);
    // The server has the head, and waits for the body.
    running.answer().is(100);
    let mut idle = server.connect();
    server.legacy("ping").send_on(&mut idle).result();
    server.terminate();
    server.wait_for_log("stopping");
    assert!(idle.is_closed(), "an idle connection ends");
    running.send(body);
    running.answer().result();
    assert!(running.is_closed());
    assert_eq!(server.wait().code(), Some(0));
}

#[test]
fn a_request_that_does_not_end_is_cut_off_when_its_time_is_over() {
    let server = Server::demo().env("KOBANA_HTTP__SHUTDOWN_GRACE", "1").start();
    let mut running = server.connect();
    running.send(server.legacy("ping").header("Expect", "100-continue").set("Content-Length", "40").head());
    running.answer().is(100);
    let (status, log) = server.stop();
    assert_eq!(status.code(), Some(0));
    assert!(log.contains("cut off"), "{log}");
    assert!(running.is_closed());
}

#[test]
fn a_head_that_does_not_come_ends_its_connection_and_no_other() {
    let server = Server::demo().env("KOBANA_HTTP__HEAD_TIMEOUT", "1").start();
    // One more than there are threads, so that two are on the same one.
    let threads = std::thread::available_parallelism().unwrap().get();
    let mut slow: Vec<_> = (0..=threads).map(|_| server.connect()).collect();
    for connection in &mut slow {
        connection.send(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n");
    }
    server.legacy("ping").send().result();
    for connection in &mut slow {
        assert!(connection.is_closed());
    }
    server.legacy("ping").send().result();
}

#[test]
fn connections_beyond_the_limit_wait_until_others_end() {
    let server = Server::demo().env("KOBANA_HTTP__MAX_CONNECTIONS", "2").start();
    let (mut first, mut second, mut third) = (server.connect(), server.connect(), server.connect());
    let ping = server.legacy("ping");
    ping.send_on(&mut first).result();
    third.send(ping.bytes());
    for _ in 0..20 {
        ping.send_on(&mut second).result();
    }
    assert!(third.is_silent(), "there is no room for a third one");
    drop(first);
    third.answer().result();
}

#[test]
fn a_log_that_cannot_be_written_takes_nothing_along() {
    let server = Server::demo().env("KOBANA_LOG__LEVEL", "debug").without_log().start();
    server.legacy("ping").send().result();
    server.modern("tools/call").name("me_get").send().document();
}

#[test]
fn who_cannot_wait_asks_twice() {
    let server = Server::demo().start();
    let mut running = server.connect();
    running.send(server.legacy("ping").header("Expect", "100-continue").set("Content-Length", "40").head());
    running.answer().is(100);
    server.terminate();
    server.wait_for_log("stopping");
    server.terminate();
    assert_eq!(server.wait().code(), Some(130));
}

#[test]
fn an_orderly_stop_is_no_error() {
    let server = Server::demo().start();
    for _ in 0..20 {
        server.legacy("ping").send().result();
    }
    let (status, log) = server.stop();
    assert_eq!(status.code(), Some(0));
    assert!(!log.contains("ERROR") && !log.contains("WARN") && !log.contains("panicked"), "{log}");
}
