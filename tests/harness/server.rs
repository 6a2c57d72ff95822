//! The process.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::{Call, Connection};

/// Far longer than anything here takes; a server that hangs fails the test instead of stopping the run.
const PATIENCE: Duration = Duration::from_secs(60);

/// How the server is to be started.
pub(crate) struct Setup {
    command: Command,
    listen: Option<String>,
}

/// A process that does not outlive the test, however that ends.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail where it has ended, which is as well.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A running server, to be had in many hands. It is stopped when the last of them lets go of it, and has to end well.
#[derive(Clone)]
pub(crate) struct Server(Arc<Running>);

struct Running {
    address: SocketAddr,
    process: Mutex<Process>,
    banner: String,
    log: Arc<Mutex<String>>,
    readers: Mutex<Vec<JoinHandle<()>>>,
}

/// A server that ended before it served.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Server {
    /// `kobana serve --demo` on a free port.
    pub(crate) fn demo() -> Setup {
        Self::command(&["serve", "--demo"])
    }

    /// `kobana` with any arguments; where it is to listen is added unless [`Setup::listen`] says otherwise.
    pub(crate) fn command(arguments: &[&str]) -> Setup {
        let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_kobana"));
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // No configuration but what the test gives, and one place for compiled code, so that most starts are quick.
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("KOBANA_")) {
            command.env_remove(name);
        }
        command.current_dir(scratch).env("XDG_CACHE_HOME", scratch.join("cache"));
        Setup { command, listen: Some("127.0.0.1:0".to_owned()) }
    }

    /// A request of 2026-07-28.
    pub(crate) fn modern(&self, method: &str) -> Call {
        Call::modern(self, method)
    }

    /// A request of the 2025 revisions, without a version header.
    pub(crate) fn legacy(&self, method: &str) -> Call {
        Call::legacy(self, method)
    }

    /// A request that is no JSON-RPC message.
    pub(crate) fn http(&self, method: &str, path: &str) -> Call {
        Call::http(self, method, path)
    }

    /// A new connection.
    pub(crate) fn connect(&self) -> Connection {
        Connection::open(self)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.0.address
    }

    pub(crate) fn port(&self) -> u16 {
        self.0.address.port()
    }

    /// What stood on standard output once the server was ready.
    pub(crate) fn banner(&self) -> &str {
        &self.0.banner
    }

    /// What has been logged so far.
    pub(crate) fn log(&self) -> String {
        self.0.log()
    }

    /// Waits until the log says this.
    #[track_caller]
    pub(crate) fn wait_for_log(&self, text: &str) {
        wait_until(&format!("{text:?} in the log"), || self.log().contains(text));
    }

    /// Asks the server to stop, as a supervisor does.
    pub(crate) fn terminate(&self) {
        self.0.terminate();
    }

    /// Ends the server at once, as a power cut does.
    pub(crate) fn kill(&self) {
        self.0.process.lock().unwrap().0.kill().expect("the server runs");
        self.wait();
    }

    /// Waits for the end of the process and of its output.
    pub(crate) fn wait(&self) -> ExitStatus {
        self.0.wait()
    }

    /// Stops the server; how it ended, and all that it logged.
    pub(crate) fn stop(&self) -> (ExitStatus, String) {
        self.terminate();
        (self.wait(), self.log())
    }

    /// Another hand on it, if any is left.
    pub(super) fn upgrade(weak: &WeakServer) -> Option<Self> {
        weak.0.upgrade().map(Self)
    }

    pub(super) fn downgrade(&self) -> WeakServer {
        WeakServer(Arc::downgrade(&self.0))
    }
}

/// A server that is not kept running.
pub(super) struct WeakServer(Weak<Running>);

impl WeakServer {
    pub(super) const fn none() -> Self {
        Self(Weak::new())
    }
}

impl Running {
    fn terminate(&self) {
        let id = self.process.lock().unwrap().0.id();
        // The standard library sends no signal but the one that cannot be caught.
        let sent = Command::new("sh").args(["-c", &format!("kill -TERM {id}")]).status().expect("there is a shell");
        assert!(sent.success(), "the server could not be told to stop");
    }

    fn wait(&self) -> ExitStatus {
        let status = wait(&mut self.process.lock().unwrap());
        for reader in self.readers.lock().unwrap().drain(..) {
            reader.join().expect("the output is text");
        }
        status
    }

    fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let running = self.process.lock().is_ok_and(|mut process| matches!(process.0.try_wait(), Ok(None)));
        if !running {
            return;
        }
        if std::thread::panicking() {
            eprintln!("--- the server's log:\n{}", self.log());
            return;
        }
        self.terminate();
        let status = self.wait();
        assert_eq!(status.code(), Some(0), "the server did not end well:\n{}", self.log());
    }
}

impl Setup {
    /// Sets an environment variable.
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// Adds an argument.
    pub(crate) fn arg(mut self, argument: impl Into<OsString>) -> Self {
        self.command.arg(argument.into());
        self
    }

    /// Listens elsewhere; `None` leaves the choice to the server.
    pub(crate) fn listen(mut self, address: Option<&str>) -> Self {
        self.listen = address.map(str::to_owned);
        self
    }

    /// Runs the server in this directory.
    pub(crate) fn directory(mut self, directory: &Path) -> Self {
        self.command.current_dir(directory);
        self
    }

    /// Sends the log where nothing can be written.
    pub(crate) fn without_log(mut self) -> Self {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a device that is always full");
        self.command.stderr(full);
        self
    }

    fn spawn(mut self) -> Process {
        if let Some(listen) = &self.listen {
            self.command.args(["--listen", listen]);
        }
        Process(self.command.spawn().expect("the binary starts"))
    }

    /// Starts the server and waits until it says where it listens.
    #[track_caller]
    pub(crate) fn start(self) -> Server {
        let mut process = self.spawn();
        let (log, errors) = match process.0.stderr.take() {
            Some(errors) => collect(errors),
            None => collect(std::io::empty()),
        };
        let mut output = BufReader::new(process.0.stdout.take().expect("standard output is captured"));
        let mut banner = String::new();
        while !banner.contains("claude mcp add") {
            if output.read_line(&mut banner).expect("the output is text") == 0 {
                let status = wait(&mut process);
                panic!("the server did not start ({status}):\n{}", log.lock().unwrap());
            }
        }
        let address = banner.lines().find_map(address).expect("the start says where it listens");
        let (_, rest) = collect(output);
        let readers = Mutex::new(vec![errors, rest]);
        Server(Arc::new(Running { address, process: Mutex::new(process), banner, log, readers }))
    }

    /// Runs the server, which is expected to end by itself.
    #[track_caller]
    pub(crate) fn run(self) -> Ended {
        let mut process = self.spawn();
        let (stdout, out) = collect(process.0.stdout.take().expect("standard output is captured"));
        let (stderr, err) = collect(process.0.stderr.take().expect("standard error is captured"));
        wait_until("the end of the server", || {
            assert!(!stdout.lock().unwrap().contains("is ready"), "the server started");
            process.0.try_wait().expect("the process can be asked").is_some()
        });
        let status = wait(&mut process);
        for reader in [out, err] {
            reader.join().expect("the output is text");
        }
        let text = |shared: Arc<Mutex<String>>| shared.lock().unwrap().clone();
        Ended { code: status.code(), stdout: text(stdout), stderr: text(stderr) }
    }
}

/// The address in a line such as `REST  http://127.0.0.1:3028/api/v1`.
fn address(line: &str) -> Option<SocketAddr> {
    let url = line.trim().strip_prefix("REST")?.trim().strip_prefix("http://")?;
    url.strip_suffix("/api/v1")?.parse().ok()
}

/// Reads all that comes, for whoever wants to look meanwhile.
fn collect(mut from: impl std::io::Read + Send + 'static) -> (Arc<Mutex<String>>, JoinHandle<()>) {
    let text = Arc::new(Mutex::new(String::new()));
    let shared = Arc::clone(&text);
    let reader = std::thread::spawn(move || {
        let mut chunk = [0; 8192];
        let mut pending = Vec::new();
        while let Ok(count @ 1..) = from.read(&mut chunk) {
            pending.extend_from_slice(&chunk[..count]);
            // Whole lines only: a character may be cut in two.
            if let Some(end) = pending.iter().rposition(|&byte| byte == b'\n') {
                let lines: Vec<_> = pending.drain(..=end).collect();
                shared.lock().unwrap().push_str(&String::from_utf8(lines).expect("output is UTF-8"));
            }
        }
        shared.lock().unwrap().push_str(&String::from_utf8(pending).expect("output is UTF-8"));
    });
    (text, reader)
}

fn wait(process: &mut Process) -> ExitStatus {
    let mut status = None;
    wait_until("the end of the server", || {
        status = process.0.try_wait().expect("the process can be asked");
        status.is_some()
    });
    status.expect("it has ended")
}

/// Waits for something that has to happen, however slow the machine is.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut happened: impl FnMut() -> bool) {
    let start = Instant::now();
    while !happened() {
        assert!(start.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
