//! A TCP connection, and what of HTTP/1.1 it takes to read answers byte by byte.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use super::{Answer, Server};

/// Long enough that only a server that will never answer is found out by it.
const PATIENCE: Duration = Duration::from_secs(60);

/// A connection on which nothing is hidden: what is written goes out as it stands. It keeps its server running.
pub(crate) struct Connection {
    stream: TcpStream,
    _server: Server,
    unread: Vec<u8>,
}

impl Connection {
    #[track_caller]
    pub(crate) fn open(server: &Server) -> Self {
        Self::open_to(server.address(), server)
    }

    /// To something else that stands before the server.
    #[track_caller]
    pub(crate) fn open_to(address: SocketAddr, server: &Server) -> Self {
        let stream = TcpStream::connect(address).expect("the server takes connections");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout can be set");
        stream.set_write_timeout(Some(PATIENCE)).expect("a timeout can be set");
        stream.set_nodelay(true).expect("small writes can be sent at once");
        Self { stream, _server: server.clone(), unread: Vec::new() }
    }

    /// Sends bytes.
    #[track_caller]
    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.try_send(bytes).expect("the server takes what is sent");
    }

    /// Sends bytes to a server that may have hung up.
    pub(crate) fn try_send(&mut self, bytes: impl AsRef<[u8]>) -> std::io::Result<()> {
        self.stream.write_all(bytes.as_ref())
    }

    /// Says that nothing more will be sent.
    pub(crate) fn finish_sending(&mut self) {
        self.stream.shutdown(Shutdown::Write).expect("the connection stands");
    }

    /// Reads the next answer.
    #[track_caller]
    pub(crate) fn answer(&mut self) -> Answer {
        self.try_answer().expect("an answer, not the end of the connection")
    }

    /// Reads the next answer, or finds that the server has hung up.
    #[track_caller]
    pub(crate) fn try_answer(&mut self) -> Option<Answer> {
        let head = self.take_head()?;
        let mut answer = Answer::from_head(&head);
        answer.body = match answer.header("content-length") {
            Some(length) => self.take(length.parse().expect("content-length is a number")),
            None if answer.header("transfer-encoding").is_some() => self.take_chunks(),
            None => Vec::new(),
        };
        Some(answer)
    }

    /// Whether nothing has come yet.
    pub(crate) fn is_silent(&self) -> bool {
        self.stream.set_nonblocking(true).expect("the mode can be set");
        let peeked = self.stream.peek(&mut [0]);
        self.stream.set_nonblocking(false).expect("the mode can be set");
        self.unread.is_empty() && peeked.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    }

    /// Whether the server has hung up, with nothing left to read.
    pub(crate) fn is_closed(&mut self) -> bool {
        self.unread.is_empty() && !self.fill()
    }

    fn take_head(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.unread.windows(4).position(|window| window == b"\r\n\r\n") {
                let head = self.take(end + 4);
                return Some(String::from_utf8(head).expect("a head is text"));
            }
            if !self.fill() {
                assert!(self.unread.is_empty(), "the answer broke off: {}", String::from_utf8_lossy(&self.unread));
                return None;
            }
        }
    }

    fn take(&mut self, count: usize) -> Vec<u8> {
        while self.unread.len() < count {
            assert!(self.fill(), "the answer broke off");
        }
        self.unread.drain(..count).collect()
    }

    fn take_chunks(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        loop {
            let size = usize::from_str_radix(self.take_line().trim(), 16).expect("a chunk begins with its size");
            body.extend(self.take(size));
            self.take(2);
            if size == 0 {
                return body;
            }
        }
    }

    fn take_line(&mut self) -> String {
        loop {
            if let Some(end) = self.unread.iter().position(|&byte| byte == b'\n') {
                return String::from_utf8(self.take(end + 1)).expect("a line is text");
            }
            assert!(self.fill(), "the answer broke off");
        }
    }

    /// Reads some more; false at the end of the connection.
    fn fill(&mut self) -> bool {
        let mut chunk = [0; 16 * 1024];
        match self.stream.read(&mut chunk) {
            Ok(0) => false,
            Ok(count) => {
                self.unread.extend_from_slice(&chunk[..count]);
                true
            }
            Err(error) if error.kind() == ErrorKind::ConnectionReset => false,
            Err(error) => panic!("no answer: {error}"),
        }
    }
}
