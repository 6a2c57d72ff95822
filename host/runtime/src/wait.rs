//! Waiting, for no longer than one may.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use tokio::time::timeout;

/// The output of `work`, unless it takes longer than `time`. Setting a timer costs more than many an answer, so there is one only for
/// what has to wait. The work stays where it is, since moving it costs something, too.
pub(crate) async fn within<F: Future>(time: Duration, mut work: Pin<&mut F>) -> Option<F::Output> {
    match poll_fn(|cx| Poll::Ready(work.as_mut().poll(cx))).await {
        Poll::Ready(output) => Some(output),
        Poll::Pending => timeout(time, work).await.ok(),
    }
}
