//! Back-pressure: only so many requests run at once, only so many wait, and none waits for long.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::limits::Limits;

/// What requests pass one by one.
pub(crate) struct Gate {
    running: Arc<Semaphore>,
    waiting: AtomicU32,
    queue: u32,
    wait: Duration,
}

/// A place in the queue, given back on drop.
struct Place<'a>(&'a AtomicU32);

impl Gate {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            running: Arc::new(Semaphore::new(limits.instances as usize)),
            waiting: AtomicU32::new(0),
            queue: limits.queue,
            wait: limits.queue_wait(),
        }
    }

    /// Waits for the right to run; none if the queue is full or the wait was too long.
    pub(crate) async fn pass(&self) -> Option<OwnedSemaphorePermit> {
        if let Ok(permit) = Arc::clone(&self.running).try_acquire_owned() {
            return Some(permit);
        }
        // In a box, so that who need not wait does not carry the room for it about.
        Box::pin(self.queue()).await
    }

    async fn queue(&self) -> Option<OwnedSemaphorePermit> {
        let _place = self.place()?;
        timeout(self.wait, Arc::clone(&self.running).acquire_owned()).await.ok()?.ok()
    }

    fn place(&self) -> Option<Place<'_>> {
        let place = Place(&self.waiting);
        // Taken first and given back by the drop, so that two cannot take the last one.
        (self.waiting.fetch_add(1, Relaxed) < self.queue).then_some(place)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(queue: u32) -> Gate {
        Gate::new(&Limits { instances: 1, queue, queue_wait_ms: 20, ..Limits::default() })
    }

    #[tokio::test]
    async fn the_queue_is_bounded_and_so_is_the_wait() {
        let gate = gate(1);
        let running = gate.pass().await.unwrap();
        let (first, second) = tokio::join!(gate.pass(), gate.pass());
        assert!(first.is_none() && second.is_none());
        assert_eq!(gate.waiting.load(Relaxed), 0);
        drop(running);
        assert!(gate.pass().await.is_some());
    }

    #[tokio::test]
    async fn who_waits_is_next() {
        let gate = gate(1);
        let running = gate.pass().await.unwrap();
        let (next, ()) = tokio::join!(gate.pass(), async { drop(running) });
        assert!(next.is_some());
    }
}
