//! Bodies: taken from slow clients before an instance is, and given to them after it is free again.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};
use http_body_util::{BodyExt, Full};
use tokio::time::timeout;
use wasmtime_wasi_http::{Error, WasiBody};

/// The most that is set aside for what has been announced and is not there yet, in bytes.
const MOST_AHEAD: usize = 1 << 20;

/// A request's body as far as it has been read.
pub(crate) struct Buffered<B> {
    prefix: Bytes,
    /// What may still come.
    rest: Option<B>,
}

/// Why a body could not be read.
#[derive(Debug)]
pub(crate) enum Unread {
    /// The client went away in the middle.
    Interrupted,
    /// There is no room left for it.
    NoRoom,
}

/// The room that is left for bodies, in bytes.
pub(crate) struct Room(AtomicUsize);

impl Room {
    pub(crate) fn new(bytes: usize) -> Self {
        Self(AtomicUsize::new(bytes))
    }
}

/// The room that one body takes, given back on drop.
pub(crate) struct Taken<'a> {
    room: &'a Room,
    bytes: usize,
}

impl<'a> Taken<'a> {
    pub(crate) fn none(room: &'a Room) -> Self {
        Self { room, bytes: 0 }
    }

    fn more(&mut self, bytes: usize) -> Result<(), Unread> {
        let left = |left: usize| left.checked_sub(bytes);
        self.room.0.fetch_update(Relaxed, Relaxed, left).map_err(|_| Unread::NoRoom)?;
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.room.0.fetch_add(self.bytes, Relaxed);
    }
}

/// Reads a body up to its end, or until it is longer than `limit` bytes. Nothing is read of one that says that it is.
pub(crate) async fn buffer<B>(mut body: B, limit: usize, taken: &mut Taken<'_>) -> Result<Buffered<B>, Unread>
where
    B: Body<Data = Bytes> + Unpin,
{
    if body.size_hint().lower() > limit as u64 {
        return Ok(Buffered { prefix: Bytes::new(), rest: Some(body) });
    }
    let mut read = Growing::default();
    while read.len() <= limit {
        match body.frame().await {
            None => return Ok(Buffered { prefix: read.into(), rest: None }),
            Some(Err(_)) => return Err(Unread::Interrupted),
            // Trailers mean nothing here.
            Some(Ok(frame)) => {
                let chunk = frame.into_data().unwrap_or_default();
                taken.more(chunk.len())?;
                read.push(chunk, body.size_hint().lower());
            }
        }
    }
    let rest = if body.is_end_stream() { None } else { Some(body) };
    Ok(Buffered { prefix: read.into(), rest })
}

/// Reads a body up to its end; none if it is longer than `limit` bytes or breaks off.
pub(crate) async fn collect<B>(mut body: B, limit: usize) -> Option<Bytes>
where
    B: Body<Data = Bytes> + Unpin,
{
    let mut read = Growing::default();
    while let Some(frame) = body.frame().await {
        read.push(frame.ok()?.into_data().unwrap_or_default(), body.size_hint().lower());
        if read.len() > limit {
            return None;
        }
    }
    Some(read.into())
}

/// Bytes that are copied only when they come in more than one piece.
#[derive(Default)]
struct Growing {
    first: Bytes,
    more: BytesMut,
}

impl Growing {
    fn len(&self) -> usize {
        self.first.len().max(self.more.len())
    }

    /// Takes a piece, and makes room for as much as is still to come, so that it need not be made again and again.
    fn push(&mut self, chunk: Bytes, to_come: u64) {
        if self.len() == 0 {
            self.first = chunk;
            return;
        }
        if self.more.is_empty() {
            let to_come = usize::try_from(to_come).unwrap_or(usize::MAX).min(MOST_AHEAD);
            self.more.reserve(self.first.len() + chunk.len() + to_come);
            self.more.extend_from_slice(&std::mem::take(&mut self.first));
        }
        self.more.extend_from_slice(&chunk);
    }
}

impl From<Growing> for Bytes {
    fn from(read: Growing) -> Self {
        if read.more.is_empty() { read.first } else { read.more.freeze() }
    }
}

impl<B> Buffered<B>
where
    B: Body<Data = Bytes> + Unpin + Send + 'static,
{
    /// The body, if all of it is there.
    pub(crate) fn into_whole(self) -> Result<Bytes, Self> {
        if self.rest.is_none() { Ok(self.prefix) } else { Err(self) }
    }

    /// The body as a guest gets it piece by piece, and the handle on what the guest leaves of it.
    pub(crate) fn split(self) -> (WasiBody, Option<Rest<B>>) {
        match self.rest {
            None => (whole(self.prefix), None),
            Some(rest) => {
                let rest = Rest(Arc::new(Mutex::new(Some(rest))));
                let body = Relay { prefix: self.prefix, rest: rest.clone() };
                (body.boxed_unsync(), Some(rest))
            }
        }
    }
}

/// A body that is there, as `wasi:http` wants it.
pub(crate) fn whole(bytes: Bytes) -> WasiBody {
    Full::new(bytes).map_err(|never| match never {}).boxed_unsync()
}

/// What is left of a body, shared by the guest that may read it and the host that must not forget it.
pub(crate) struct Rest<B>(Arc<Mutex<Option<B>>>);

impl<B> Clone for Rest<B> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<B> Rest<B> {
    fn lock(&self) -> MutexGuard<'_, Option<B>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<B> Rest<B>
where
    B: Body<Data = Bytes> + Unpin + Send + 'static,
{
    /// Goes on reading in the background, up to a number of bytes and a time. A client that is still sending when its
    /// connection is closed gets a reset and loses the answer.
    pub(crate) fn drain(self, most: usize, time: Duration) {
        let Some(mut body) = self.lock().take() else { return };
        tokio::spawn(timeout(time, async move {
            let mut read = 0;
            while let Some(Ok(frame)) = body.frame().await {
                read += frame.data_ref().map_or(0, Bytes::len);
                if read > most {
                    return;
                }
            }
        }));
    }
}

/// A buffered prefix, then the rest, straight from the client.
struct Relay<B> {
    prefix: Bytes,
    rest: Rest<B>,
}

impl<B> Body for Relay<B>
where
    B: Body<Data = Bytes> + Unpin,
{
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        if !self.prefix.is_empty() {
            let prefix = std::mem::take(&mut self.prefix);
            return Poll::Ready(Some(Ok(Frame::data(prefix))));
        }
        match self.rest.lock().as_mut() {
            None => Poll::Ready(None),
            Some(body) => Pin::new(body).poll_frame(cx).map_err(|_| Error::ConnectionTerminated),
        }
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::new()
    }
}
