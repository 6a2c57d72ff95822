//! What a guest prints goes to the log, at level debug: it may hold anything.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

/// The most of one write that is logged, in bytes.
const MOST: usize = 4096;

/// One of a guest's two outputs, by its name.
#[derive(Clone, Copy)]
pub(crate) struct GuestLog(pub(crate) &'static str);

impl GuestLog {
    fn log(self, bytes: &[u8]) {
        if tracing::enabled!(tracing::Level::DEBUG) {
            let text = String::from_utf8_lossy(bytes.get(..MOST).unwrap_or(bytes));
            tracing::debug!(stream = self.0, text = text.trim_end(), "guest output");
        }
    }
}

impl IsTerminal for GuestLog {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for GuestLog {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(*self)
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(*self)
    }
}

#[async_trait::async_trait]
impl Pollable for GuestLog {
    async fn ready(&mut self) {}
}

impl OutputStream for GuestLog {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.log(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(MOST)
    }
}

impl AsyncWrite for GuestLog {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.log(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
