//! What the host keeps for each instance.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::Poll;

use wasmtime::component::{HasData, ResourceTable};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody, WasiHttpCtx, WasiHttpCtxView, WasiHttpHooks, WasiHttpView};

use crate::dispatch::Dispatch;
use crate::limits::Limits;
use crate::stdio::GuestLog;
use crate::ticker::{Cpu, Ticks};

/// The data of a store.
pub(crate) struct State {
    pub(crate) table: ResourceTable,
    pub(crate) dispatch: Arc<dyn Dispatch>,
    pub(crate) cpu: Cpu,
    /// Whether nobody waits for the answer to the current request any longer.
    pub(crate) gone: Arc<AtomicBool>,
    /// The longest answer that the API may give.
    pub(crate) response: usize,
    ticks: Ticks,
    wasi: WasiCtx,
    http: WasiHttpCtx,
    hooks: Hooks,
}

impl State {
    pub(crate) fn new(
        limits: &Limits,
        environment: &[(String, String)],
        dispatch: Arc<dyn Dispatch>,
        ticks: Ticks,
    ) -> Self {
        let mut table = ResourceTable::new();
        table.set_max_capacity(limits.resources);
        let wasi = WasiCtx::builder().envs(environment).stdout(GuestLog("stdout")).stderr(GuestLog("stderr")).build();
        let mut cpu = Cpu::default();
        cpu.refill(limits.cpu_ticks());
        Self {
            table,
            dispatch,
            cpu,
            gone: Arc::default(),
            response: limits.response,
            ticks,
            wasi,
            http: WasiHttpCtx::new(),
            hooks: Hooks { chunk: limits.host_call / 2 },
        }
    }

    /// Lets the guest wait for `work`. What it waits is not charged to it. When nobody wants the answer any longer, the
    /// work is dropped and there is no output: the guest goes on, comes to its end soon and can be used again.
    pub(crate) async fn wait<F: Future>(&mut self, work: F) -> Option<F::Output> {
        let before = self.ticks.now();
        let mut work = pin!(work);
        let output = std::future::poll_fn(|cx| match work.as_mut().poll(cx) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            // Whoever says so polls once more, and so nobody has to be woken for it.
            Poll::Pending if self.gone.load(Relaxed) => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        })
        .await;
        if self.ticks.now() != before {
            self.cpu.waited();
        }
        output
    }
}

impl HasData for State {
    type Data<'a> = &'a mut Self;
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl WasiHttpView for State {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        WasiHttpCtxView { hooks: &mut self.hooks, table: &mut self.table, ctx: &mut self.http }
    }
}

/// How `wasi:http` behaves.
struct Hooks {
    /// What a guest may write in one go, in bytes.
    chunk: usize,
}

/// What ends with an outgoing request.
type RequestEnd = Box<dyn Future<Output = Result<(), Error>> + Send>;

impl WasiHttpHooks for Hooks {
    /// Not linked: the only way out of a guest is `kobana:api/dispatch`.
    fn send_request(
        &mut self,
        _request: http::Request<WasiBody>,
        _options: Option<RequestOptions>,
        _end: RequestEnd,
    ) -> Box<dyn Future<Output = Result<(http::Response<WasiBody>, RequestEnd), Error>> + Send> {
        Box::new(std::future::ready(Err(Error::HttpRequestDenied)))
    }

    fn p2_outgoing_body_chunk_size(&mut self) -> usize {
        self.chunk
    }
}
