//! Threads for extensions to compute on.
//!
//! An extension that computes is in nobody's way but that of other extensions: it has threads of its own, which the system lets
//! run when the server's own threads leave a processor free, and little otherwise. They are there from the first call on.

use std::io;

use rayon::{ThreadPool, ThreadPoolBuilder};
use tokio::runtime::{Builder, Handle, Runtime};

/// The priority of the threads, as a nice value: each step is about a tenth less of a contended processor.
#[cfg(target_os = "linux")]
const NICE: i32 = 10;

/// An async runtime of its own.
pub(super) struct Threads(Option<Runtime>);

impl Threads {
    pub(super) fn start(threads: usize) -> io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(threads)
            // For compiling: each component takes a lot of memory meanwhile, and one that takes long is not to hold up all others.
            .max_blocking_threads(2)
            .thread_name("extensions")
            .enable_time()
            .on_thread_start(step_back)
            .build()?;
        Ok(Self(Some(runtime)))
    }

    pub(super) fn handle(&self) -> Option<&Handle> {
        self.0.as_ref().map(Runtime::handle)
    }
}

/// An async runtime cannot wait for its threads inside of another one.
impl Drop for Threads {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Threads for the compiler, of the same low priority. They end when the pool is dropped.
pub(super) fn for_compiling() -> Result<ThreadPool, String> {
    let pool = ThreadPoolBuilder::new().thread_name(|_| "compiler".to_owned()).start_handler(|_| step_back()).build();
    pool.map_err(|problem| problem.to_string())
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

#[cfg(test)]
mod tests {
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn extensions_and_the_compiler_step_back_and_nobody_else_does() {
        use super::*;

        let niceness = || rustix::process::getpriority_process(None).unwrap();
        let before = niceness();
        let threads = Threads::start(1).unwrap();
        let computing = threads.handle().unwrap().spawn(async move { niceness() }).await.unwrap();
        let compiling = threads.handle().unwrap().spawn_blocking(niceness).await.unwrap();
        let in_parallel = for_compiling().unwrap().install(niceness);
        let lowest = before.max(NICE);
        assert_eq!((computing, compiling, in_parallel), (lowest, lowest, lowest));
        assert_eq!(niceness(), before);
    }
}
