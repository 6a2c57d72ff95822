//! What may stand between the component and its host, and go wrong: passes requests on and tampers with the answers.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, mpsc};

/// What becomes of one request and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// Both arrive.
    Pass,
    /// The request is taken and never passed on.
    Swallow,
    /// The host answers, and the answer is kept back.
    KeepBack,
    /// The host answers, and the connection ends before the last bytes of it.
    Cut(usize),
    /// The host answers in another version of the language.
    OtherVersion,
    /// The host does not know the function.
    Unknown,
}

/// A proxy. It runs until the test is over.
pub(super) struct Proxy {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<String>>>,
    /// Ends what is kept back.
    _end: mpsc::Sender<()>,
}

impl Proxy {
    /// In front of a host's edge endpoint; `fate` decides by the name of the function.
    pub(super) fn start(upstream: &str, fate: impl Fn(&str) -> Fate + Send + Sync + 'static) -> Self {
        let upstream = upstream.trim_start_matches("http://").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (seen, fate) = (Arc::new(Mutex::new(Vec::new())), Arc::new(fate));
        let (end, ended) = mpsc::channel();
        let (record, ended) = (Arc::clone(&seen), Arc::new(Mutex::new(ended)));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (upstream, fate) = (upstream.clone(), Arc::clone(&fate));
                let (record, ended) = (Arc::clone(&record), Arc::clone(&ended));
                std::thread::spawn(move || one(stream.unwrap(), &upstream, &*fate, &record, &ended));
            }
        });
        Self { address, seen, _end: end }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// How often a function was asked for.
    pub(super) fn count(&self, function: &str) -> usize {
        self.seen.lock().unwrap().iter().filter(|seen| *seen == function).count()
    }
}

/// Serves a connection, on which one request comes.
fn one(
    mut client: TcpStream,
    upstream: &str,
    fate: &dyn Fn(&str) -> Fate,
    record: &Mutex<Vec<String>>,
    ended: &Mutex<mpsc::Receiver<()>>,
) -> Option<()> {
    let (mut head, body) = message(&mut client)?;
    let function = head.split(' ').nth(1)?.rsplit('/').next()?.to_owned();
    let fate = fate(&function);
    if fate == Fate::Unknown {
        head = head.replacen(&function, "unheard-of", 1);
    }
    record.lock().unwrap().push(function);
    if fate == Fate::Swallow {
        hold(&client, ended);
        return None;
    }
    let mut host = TcpStream::connect(upstream).ok()?;
    host.write_all(head.as_bytes()).and_then(|()| host.write_all(&body)).ok()?;
    let (mut head, body) = message(&mut host)?;
    match fate {
        Fate::KeepBack => {
            hold(&client, ended);
            return None;
        }
        Fate::OtherVersion => head = head.replace("kobana-edge-version: 2\r", "kobana-edge-version: 3\r"),
        Fate::Pass | Fate::Swallow | Fate::Unknown | Fate::Cut(_) => {}
    }
    let whole = [head.as_bytes(), &body].concat();
    let kept = if let Fate::Cut(bytes) = fate { whole.len() - bytes } else { whole.len() };
    client.write_all(&whole[..kept]).ok()?;
    client.shutdown(Shutdown::Write).ok()
}

/// Keeps a connection open until the other side lets go of it, or the test is over.
fn hold(mut client: &TcpStream, ended: &Mutex<mpsc::Receiver<()>>) {
    client.set_read_timeout(Some(std::time::Duration::from_millis(50))).unwrap();
    loop {
        match client.read(&mut [0]) {
            Ok(0) => return,
            Err(error) if !matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {
                return;
            }
            _ => {}
        }
        if ended.lock().unwrap().try_recv() == Err(mpsc::TryRecvError::Disconnected) {
            return;
        }
    }
}

/// The head and the body of a message that says how long it is.
fn message(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 16 * 1024];
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8(bytes[..end + 4].to_vec()).ok()?;
            let lower = head.to_ascii_lowercase();
            let length: usize =
                lower.lines().find_map(|line| line.strip_prefix("content-length: ")?.trim().parse().ok())?;
            if bytes.len() >= end + 4 + length {
                return Some((head, bytes[end + 4..end + 4 + length].to_vec()));
            }
        }
        match stream.read(&mut chunk) {
            Ok(count @ 1..) => bytes.extend_from_slice(&chunk[..count]),
            Ok(_) | Err(_) => return None,
        }
    }
}
