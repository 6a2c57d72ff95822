//! What an extension writes goes to the log, line by line, up to a limit.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamError, StreamResult};

use super::api::{Api, Level};
use super::stopped::Stopped;

/// The most that is taken in one write, in bytes.
const MOST: usize = 4096;

/// The log of a call.
pub(super) struct Journal {
    api: Arc<dyn Api>,
    limit: usize,
    written: AtomicUsize,
}

impl Journal {
    pub(super) fn new(api: Arc<dyn Api>, limit: usize) -> Self {
        Self { api, limit, written: AtomicUsize::new(0) }
    }

    /// Bytes written so far.
    pub(super) fn written(&self) -> usize {
        self.written.load(Relaxed)
    }

    /// Logs a message, if there is room for it.
    pub(super) fn write(&self, level: Level, message: &str) -> Result<(), Stopped> {
        self.charge(message.len())?;
        self.api.log(level, message);
        Ok(())
    }

    /// Nothing of what does not fit is logged.
    fn charge(&self, bytes: usize) -> Result<(), Stopped> {
        let more = |written: usize| written.checked_add(bytes).filter(|total| *total <= self.limit);
        self.written.fetch_update(Relaxed, Relaxed, more).map(|_| ()).map_err(|_| Stopped::Log(self.limit))
    }
}

/// Standard output or standard error. Clones write to the same lines.
#[derive(Clone)]
pub(super) struct Output(Arc<Lines>);

/// The line that is being written.
struct Lines {
    journal: Arc<Journal>,
    level: Level,
    line: Mutex<Vec<u8>>,
}

impl Output {
    pub(super) fn new(journal: &Arc<Journal>, level: Level) -> Self {
        Self(Arc::new(Lines { journal: Arc::clone(journal), level, line: Mutex::default() }))
    }

    fn take(&self, bytes: &[u8]) -> Result<(), Stopped> {
        self.0.journal.charge(bytes.len())?;
        let mut line = self.0.line();
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (front, back) = rest.split_at(end);
            line.extend_from_slice(front);
            self.0.log(&mut line);
            rest = back.get(1..).unwrap_or_default();
        }
        line.extend_from_slice(rest);
        Ok(())
    }
}

impl Lines {
    fn line(&self) -> MutexGuard<'_, Vec<u8>> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn log(&self, line: &mut Vec<u8>) {
        let text = String::from_utf8_lossy(line);
        self.journal.api.log(self.level, text.trim_end());
        line.clear();
    }
}

/// What was begun and not ended is a line, too.
impl Drop for Lines {
    fn drop(&mut self) {
        let mut line = std::mem::take(self.line.get_mut().unwrap_or_else(PoisonError::into_inner));
        if !line.is_empty() {
            self.log(&mut line);
        }
    }
}

impl IsTerminal for Output {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Output {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

#[async_trait::async_trait]
impl Pollable for Output {
    async fn ready(&mut self) {}
}

impl OutputStream for Output {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.take(&bytes).map_err(|stopped| StreamError::Trap(stopped.into()))
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(MOST)
    }
}

impl AsyncWrite for Output {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(self.take(bytes).map(|()| bytes.len()).map_err(io::Error::other))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::api::{ApiFailure, Request, Response, Who};
    use super::*;

    #[derive(Default)]
    struct Kept(Mutex<Vec<(Level, String)>>);

    #[async_trait::async_trait]
    impl Api for Kept {
        fn who(&self) -> Option<Who> {
            None
        }

        async fn call(&self, _request: Request) -> Result<Response, ApiFailure> {
            Err(ApiFailure::Refused)
        }

        fn log(&self, level: Level, message: &str) {
            self.0.lock().unwrap().push((level, message.to_owned()));
        }
    }

    #[test]
    fn lines_are_put_together_and_counted() {
        let kept = Arc::new(Kept::default());
        let journal = Arc::new(Journal::new(Arc::clone(&kept) as Arc<dyn Api>, 20));
        let output = Output::new(&journal, Level::Warn);
        output.take(b"one\r\ntw").unwrap();
        output.clone().take(b"o\nthree").unwrap();
        assert_eq!(journal.written(), 14);
        assert_eq!(output.take(b"\n-----------"), Err(Stopped::Log(20)));
        assert_eq!(journal.write(Level::Error, "four"), Ok(()));
        drop(output);
        let expected = [(Level::Warn, "one"), (Level::Warn, "two"), (Level::Error, "four"), (Level::Warn, "three")];
        assert_eq!(*kept.0.lock().unwrap(), expected.map(|(level, line)| (level, line.to_owned())));
    }
}
