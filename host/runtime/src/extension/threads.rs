//! Threads for extensions to compute on: those whose turn comes soon, and those that run when nothing else does.
//!
//! A call begins on the former, which the system lets run a little less than the server's own. Most calls take some
//! microseconds. What has computed for some milliseconds, or belongs to a workspace that has computed a lot of late, goes on
//! with the latter, which give way at once to whoever wants the processor. It is a multilevel feedback queue with two levels.
//! Each has threads of its own, since on some systems a thread cannot rise again without privileges. They are there from the
//! first call on.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use rayon::{ThreadPool, ThreadPoolBuilder};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinError;

use super::credit::Credit;
use super::host::Aborting;

/// The priority of threads whose turn comes soon, as a nice value: each step is about a tenth less of a contended processor.
#[cfg(target_os = "linux")]
const NICE: i32 = 10;

/// Two async runtimes.
#[derive(Debug)]
pub(super) struct Threads {
    soon: Ending,
    spare: Ending,
}

/// An async runtime that can be dropped inside of another one, where nobody can wait for its threads.
#[derive(Debug)]
struct Ending(Option<Runtime>, Handle);

impl Ending {
    fn new(runtime: Runtime) -> Self {
        let handle = runtime.handle().clone();
        Self(Some(runtime), handle)
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

impl Threads {
    pub(super) fn start(threads: usize) -> io::Result<Self> {
        let builder = |name: &str, lower: fn()| {
            let mut builder = Builder::new_multi_thread();
            builder.worker_threads(threads).thread_name(name).enable_time().on_thread_start(lower);
            builder
        };
        // For compiling: each component takes a lot of memory meanwhile, and one that takes long is not to hold up all others.
        let soon = builder("extensions", step_back).max_blocking_threads(2).build()?;
        let spare = builder("extensions-idle", stand_back).build()?;
        Ok(Self { soon: Ending::new(soon), spare: Ending::new(spare) })
    }

    /// Does work that cannot be interrupted, such as compiling, with little priority.
    pub(super) async fn block<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, JoinError> {
        self.soon.1.spawn_blocking(work).await
    }

    /// Computes at the expense of an account, first on the one set of threads, then on the other, and ends when nobody waits any
    /// longer. It must pause every few milliseconds.
    pub(super) async fn compute<T: Send + 'static>(
        &self,
        credit: Arc<Credit>,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, JoinError> {
        let work = Metered { work: Box::pin(work), used: Duration::ZERO, credit };
        if !work.credit.hurries(Duration::ZERO) {
            return Aborting(self.spare.1.spawn(work.finish())).join().await;
        }
        let spare = self.spare.1.clone();
        let begun = async move {
            match work.hurry().await {
                Ok(done) => Ok(done),
                Err(rest) => Aborting(spare.spawn(rest.finish())).join().await,
            }
        };
        Aborting(self.soon.1.spawn(begun)).join().await?
    }
}

/// Work whose time is charged to an account.
struct Metered<T> {
    work: Pin<Box<dyn Future<Output = T> + Send>>,
    used: Duration,
    credit: Arc<Credit>,
}

impl<T> Metered<T> {
    /// Goes on until it is done, or until it should go on elsewhere.
    async fn hurry(mut self) -> Result<T, Self> {
        let step = poll_fn(|context| match self.poll(context) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending if self.credit.hurries(self.used) => Poll::Pending,
            Poll::Pending => Poll::Ready(None),
        });
        match step.await {
            Some(done) => Ok(done),
            None => Err(self),
        }
    }

    async fn finish(mut self) -> T {
        poll_fn(|context| self.poll(context)).await
    }

    fn poll(&mut self, context: &mut std::task::Context<'_>) -> Poll<T> {
        let before = cpu_time();
        let polled = self.work.as_mut().poll(context);
        let used = cpu_time().saturating_sub(before);
        self.used += used;
        self.credit.computed(used);
        polled
    }
}

/// Threads for the compiler, of the same low priority. They end when the pool is dropped.
pub(super) fn for_compiling() -> Result<ThreadPool, String> {
    let pool = ThreadPoolBuilder::new().thread_name(|_| "compiler".to_owned()).start_handler(|_| step_back()).build();
    pool.map_err(|problem| problem.to_string())
}

/// How long the current thread has been computing.
#[cfg(target_os = "linux")]
fn cpu_time() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap_or_default()
}

/// Where that cannot be asked, waiting for a processor counts, too.
#[cfg(not(target_os = "linux"))]
fn cpu_time() -> Duration {
    static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed()
}

/// Lowers the priority of the current thread. On Linux a thread has one of its own; elsewhere only the process has.
#[cfg(target_os = "linux")]
fn step_back() {
    // No process means the calling thread.
    let stepped = rustix::process::getpriority_process(None)
        .and_then(|now| rustix::process::setpriority_process(None, now.max(NICE)));
    if let Err(problem) = stepped {
        tracing::debug!(%problem, "extensions run with the server's own priority");
    }
}

#[cfg(not(target_os = "linux"))]
fn step_back() {}

/// Lets the current thread run when nothing else does: `SCHED_IDLE`, see sched(7).
#[cfg(target_os = "linux")]
fn stand_back() {
    use thread_priority::{
        NormalThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy, set_thread_priority_and_policy,
        thread_native_id,
    };
    step_back();
    let idle = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);
    if let Err(problem) = set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, idle) {
        tracing::debug!(?problem, "extensions that compute a lot only have a low priority");
    }
}

#[cfg(not(target_os = "linux"))]
fn stand_back() {}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use thread_priority::{NormalThreadSchedulePolicy, ThreadSchedulePolicy, thread_schedule_policy};
    use tokio::task::yield_now;

    use super::*;
    use crate::extension::Share;

    /// The nice value of the present thread, and whether it runs only when nothing else does.
    fn priority() -> (i32, bool) {
        let idle = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);
        (rustix::process::getpriority_process(None).unwrap(), thread_schedule_policy().unwrap() == idle)
    }

    fn lowered() -> i32 {
        priority().0.max(NICE)
    }

    /// Computes for so long, with pauses, and says on which threads it began and ended.
    async fn work(time: Duration) -> (bool, bool) {
        let (_, began) = priority();
        let until = Duration::from_millis(1);
        let mut computed = Duration::ZERO;
        while computed < time {
            let start = cpu_time();
            while cpu_time() - start < until {}
            computed += until;
            yield_now().await;
        }
        (began, priority().1)
    }

    fn credit(call_ms: u64, compute_saved_ms: u64) -> Arc<Credit> {
        // What is used up stays so for the test.
        Arc::new(Credit::new(&Share { call_ms, compute_ms: 1, compute_saved_ms, ..Share::default() }))
    }

    #[tokio::test]
    async fn what_computes_for_long_goes_on_when_nothing_else_does() {
        let threads = Threads::start(1).unwrap();
        let credit = credit(5, 10_000);
        let ended = threads.compute(Arc::clone(&credit), work(Duration::from_millis(50))).await;
        assert_eq!(ended.unwrap(), (false, true));
        // The next one begins as the first one did.
        let ended = threads.compute(credit, work(Duration::from_millis(2))).await;
        assert_eq!(ended.unwrap(), (false, false));
    }

    #[tokio::test]
    async fn whose_account_is_empty_begins_like_that() {
        let threads = Threads::start(1).unwrap();
        let credit = credit(1_000, 5);
        let ended = threads.compute(Arc::clone(&credit), work(Duration::from_millis(50))).await;
        assert_eq!(ended.unwrap(), (false, true), "what it computed was charged while it ran");
        assert_eq!(threads.compute(credit, work(Duration::from_millis(1))).await.unwrap(), (true, true));
        let free = Arc::new(Credit::unlimited());
        assert_eq!(threads.compute(free, work(Duration::from_millis(50))).await.unwrap(), (false, false));
    }

    #[tokio::test]
    async fn what_nobody_waits_for_ends_wherever_it_is() {
        struct Gone(tokio::sync::mpsc::UnboundedSender<bool>);
        impl Drop for Gone {
            fn drop(&mut self) {
                self.0.send(priority().1).unwrap();
            }
        }
        let threads = Threads::start(1).unwrap();
        for (call_ms, idle) in [(1_000_000, false), (1, true)] {
            let (sender, mut gone) = tokio::sync::mpsc::unbounded_channel();
            let (begun, has_begun) = tokio::sync::oneshot::channel();
            let endless = async move {
                let _gone = Gone(sender);
                work(Duration::from_millis(5)).await;
                begun.send(()).unwrap();
                work(Duration::MAX).await
            };
            let call = threads.compute(credit(call_ms, 10_000), endless);
            tokio::select! {
                _ = call => panic!("it is endless"),
                begun = has_begun => begun.unwrap(),
            }
            assert_eq!(gone.recv().await, Some(idle));
        }
    }

    #[tokio::test]
    async fn a_panic_is_told_from_wherever_it_is() {
        let threads = Threads::start(1).unwrap();
        for call_ms in [1_000_000, 1] {
            let broken = async {
                work(Duration::from_millis(5)).await;
                panic!("as told")
            };
            assert!(threads.compute::<()>(credit(call_ms, 10_000), broken).await.unwrap_err().is_panic());
        }
    }

    #[tokio::test]
    async fn the_compiler_steps_back_and_nobody_else_does() {
        let before = priority();
        let threads = Threads::start(1).unwrap();
        let computing = threads.compute(Arc::new(Credit::unlimited()), async { priority() }).await.unwrap();
        let compiling = threads.block(priority).await.unwrap();
        let in_parallel = for_compiling().unwrap().install(priority);
        assert_eq!([computing, compiling, in_parallel], [(lowered(), false); 3]);
        assert_eq!(priority(), before);
    }
}
