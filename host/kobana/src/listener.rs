//! The listener: connections, their limits, and an orderly end.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::app::Body;
use crate::settings::Http;
use crate::threads::Threads;

/// How long to wait where the system has no room for another connection; it frees some by itself.
const NO_ROOM: Duration = Duration::from_millis(100);

/// The other end of the connection that a request came over; it is among the request's extensions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Connected(pub(crate) SocketAddr);

/// What answers requests.
pub(crate) trait Answers: Send + Sync + 'static {
    /// Answers one request, whatever comes.
    fn answer(&self, request: Request<Incoming>) -> impl Future<Output = Response<Body>> + Send;
}

/// Serves until `stop` is ready, then lets what is running end, for as long as the settings allow.
pub(crate) async fn serve(
    listener: TcpListener,
    app: Arc<impl Answers>,
    http: &Http,
    threads: &Threads,
    stop: impl Future<Output = ()>,
) {
    let server = builder(http);
    let graceful = GracefulShutdown::new();
    let slots = Arc::new(Semaphore::new(http.max_connections));
    let mut stop = std::pin::pin!(stop);
    loop {
        let accepted = tokio::select! {
            () = &mut stop => break,
            accepted = accept(&listener, &slots) => accepted,
        };
        let (stream, peer, slot) = match accepted {
            Ok(connection) => connection,
            Err(error) => {
                tracing::warn!(%error, "no room for another connection");
                tokio::time::sleep(NO_ROOM).await;
                continue;
            }
        };
        let (app, server, watcher) = (Arc::clone(&app), server.clone(), graceful.watcher());
        threads.spawn(async move {
            let service = service_fn(move |mut request: Request<Incoming>| {
                request.extensions_mut().insert(Connected(peer));
                let app = Arc::clone(&app);
                async move { Ok::<_, std::convert::Infallible>(app.answer(request).await) }
            });
            match TcpStream::from_std(stream) {
                Ok(stream) => converse(watcher.watch(server.serve_connection(TokioIo::new(stream), service))).await,
                Err(error) => tracing::warn!(%error, "no room for another connection"),
            }
            drop(slot);
        });
    }
    drop(listener);
    if tokio::time::timeout(http.shutdown_grace(), graceful.shutdown()).await.is_err() {
        tracing::warn!(seconds = http.shutdown_grace, "some requests did not end in time and were cut off");
    }
}

/// Sees a connection to its end. A client that breaks off or speaks no HTTP is none of our errors.
async fn converse(connection: impl Future<Output = hyper::Result<()>>) {
    if let Err(error) = connection.await {
        tracing::debug!(%error, "connection ended");
    }
}

fn builder(http: &Http) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(http.head_timeout()).max_buf_size(http.max_head);
    builder
}

/// A connection, which no thread has yet, its other end, and the slot that it takes.
type Accepted = (std::net::TcpStream, SocketAddr, OwnedSemaphorePermit);

/// Takes a connection once there is a slot for it: those beyond the limit wait in the kernel's queue.
async fn accept(listener: &TcpListener, slots: &Arc<Semaphore>) -> io::Result<Accepted> {
    let slot = Arc::clone(slots).acquire_owned().await.map_err(io::Error::other)?;
    let (stream, peer) = listener.accept().await?;
    stream.set_nodelay(true)?;
    Ok((stream.into_std()?, peer, slot))
}
