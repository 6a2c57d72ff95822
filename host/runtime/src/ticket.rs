//! What ties a request that waits for its answer to the instance that works on it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tracing::Span;

/// What a request brings along into its instance.
pub(crate) struct Ticket {
    /// The span in which the request came, so that whatever is done for it can be told from the rest in the log.
    span: Span,
    done: oneshot::Sender<()>,
    _permit: OwnedSemaphorePermit,
}

/// Resolves when the guest is done with the request: to an error if it did not come to its end.
pub(crate) type Done = oneshot::Receiver<()>;

impl Ticket {
    pub(crate) fn new(permit: OwnedSemaphorePermit) -> (Self, Done) {
        let (done, wait) = oneshot::channel();
        (Self { span: Span::current(), done, _permit: permit }, wait)
    }

    /// Tells the waiting side that the guest came to the end, and lets the next request in.
    fn finish(self) {
        // Nobody waits for it when the client is gone.
        let _ = self.done.send(());
    }
}

/// The place for the ticket of an instance's current request. It is shared by the instance's two halves: the one that the
/// guest calls into, and the one that looks after the instance from outside.
#[derive(Clone, Default)]
pub(crate) struct Slot(Arc<Mutex<Option<Ticket>>>);

impl Slot {
    /// Begins a request. The one before, if any, has come to its end.
    pub(crate) fn begin(&self, ticket: Ticket) {
        let before = self.lock().replace(ticket);
        if let Some(before) = before {
            before.finish();
        }
    }

    /// Ends the request, if there is one, as a success.
    pub(crate) fn finish(&self) {
        let ticket = self.lock().take();
        if let Some(ticket) = ticket {
            ticket.finish();
        }
    }

    /// Ends the request, if there is one, as a failure.
    pub(crate) fn fail(&self) {
        let ticket = self.lock().take();
        drop(ticket);
    }

    /// Whether there is no request.
    pub(crate) fn is_empty(&self) -> bool {
        self.lock().is_none()
    }

    /// The span of the request.
    pub(crate) fn span(&self) -> Span {
        self.lock().as_ref().map_or_else(Span::none, |ticket| ticket.span.clone())
    }

    /// Resolves when nobody waits for the answer any longer.
    pub(crate) fn poll_gone(&self, cx: &mut Context<'_>) -> Poll<()> {
        match self.lock().as_mut() {
            Some(ticket) => ticket.done.poll_closed(cx),
            None => Poll::Ready(()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Ticket>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
