//! Waiting, for no longer than one may.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use tokio::time::timeout;

/// The output of `work`, unless it takes longer than `time`. Setting a timer costs more than many an answer, so there is one only for
/// what has to wait.
pub(crate) async fn within<F: Future>(time: Duration, work: F) -> Option<F::Output> {
    let mut work = pin!(work);
    match poll_fn(|cx| Poll::Ready(work.as_mut().poll(cx))).await {
        Poll::Ready(output) => Some(output),
        Poll::Pending => timeout(time, work).await.ok(),
    }
}
