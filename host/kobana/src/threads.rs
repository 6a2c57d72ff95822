//! Threads of their own for connections.
//!
//! A connection stays on one thread, and so does whatever answers its requests: nobody has to be woken for it and nobody takes work
//! from anybody, either of which costs more than many an answer. What waits for long or computes for long does so elsewhere, SQLite,
//! extensions and workers on their threads; a guest steps aside with every tick.

use std::future::Future;
use std::io;
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread::{self, JoinHandle};

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// As many threads as there are cores. They end when this is dropped, and with them whatever still runs there.
pub(crate) struct Threads(Vec<Thread>);

struct Thread {
    runtime: Handle,
    /// How much runs on it.
    busy: Arc<AtomicUsize>,
    /// Ends it when dropped.
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// A share of a thread's work, given back on drop.
struct Share(Arc<AtomicUsize>);

impl Threads {
    pub(crate) fn start() -> io::Result<Self> {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        (0..cores).map(Thread::start).collect::<io::Result<_>>().map(Self)
    }

    /// Runs something on the thread that has the fewest to run.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let Some(thread) = self.0.iter().min_by_key(|thread| thread.busy.load(Relaxed)) else { return };
        thread.busy.fetch_add(1, Relaxed);
        let share = Share(Arc::clone(&thread.busy));
        thread.runtime.spawn(async move {
            let _share = share;
            work.await;
        });
    }
}

impl Thread {
    fn start(number: usize) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (handle, (stop, stopped)) = (runtime.handle().clone(), oneshot::channel());
        let thread = thread::Builder::new().name(format!("connections-{number}")).spawn(move || {
            // Nothing is ever sent: the other end is dropped.
            let _ = runtime.block_on(stopped);
            runtime.shutdown_background();
        })?;
        Ok(Self { runtime: handle, busy: Arc::default(), stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.0.iter_mut().for_each(|thread| drop(thread.stop.take()));
        for thread in self.0.iter_mut().filter_map(|thread| thread.thread.take()) {
            // It says itself if it panicked.
            let _ = thread.join();
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread::ThreadId;

    use super::*;

    /// On which thread something runs that goes on for as long as what it is given is there.
    fn place(threads: &Threads) -> (ThreadId, oneshot::Sender<()>) {
        let ((sender, place), (end, ended)) = (mpsc::channel(), oneshot::channel());
        threads.spawn(async move {
            sender.send(thread::current().id()).unwrap();
            let _ = ended.await;
        });
        (place.recv().unwrap(), end)
    }

    #[test]
    fn work_goes_where_there_is_least() {
        let threads = Threads((0..2).map(|number| Thread::start(number).unwrap()).collect());
        let (first, end_of_first) = place(&threads);
        let (second, _end_of_second) = place(&threads);
        assert_ne!(first, second);
        drop(end_of_first);
        while threads.0[0].busy.load(Relaxed) > 0 {
            thread::yield_now();
        }
        assert_eq!(place(&threads).0, first);
    }

    #[test]
    fn what_still_runs_ends_with_them() {
        let threads = Threads::start().unwrap();
        let (sender, ended) = oneshot::channel::<()>();
        threads.spawn(async move {
            std::future::pending::<()>().await;
            drop(sender);
        });
        drop(threads);
        assert!(ended.blocking_recv().is_err());
    }
}
