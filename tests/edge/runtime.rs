//! The composed component on wasmtime, as a stock runtime has it: no interface of ours, outgoing HTTP, few instances that are
//! used again.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, OnceLock};

use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, oneshot};
use wasmtime::component::{Component as Wasm, Linker, ResourceTable};
use wasmtime::{Engine, Store, StoreLimits, StoreLimitsBuilder};
use wasmtime_wasi::p2::pipe::MemoryOutputPipe;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};
use wasmtime_wasi_http::p2::bindings::http::types::Scheme;
use wasmtime_wasi_http::p2::bindings::{Proxy, ProxyPre};
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody, WasiHttpCtx, WasiHttpCtxView, WasiHttpHooks, WasiHttpView};

use crate::harness::{Answer, Call, Server};

/// Handles that an instance may hold at once. One that leaks some with every request runs into it.
const HANDLES: usize = 48;
/// What the component may print in all.
const OUTPUT: usize = 1 << 20;

/// What the component runs with.
#[derive(Clone)]
pub(super) struct Setup {
    instances: usize,
    memory: usize,
    environment: Vec<(String, String)>,
}

/// The component, being served. It ends with the test.
pub(super) struct Component {
    address: SocketAddr,
    inner: Arc<Inner>,
    _threads: tokio::runtime::Runtime,
}

struct Inner {
    pre: ProxyPre<State>,
    setup: Setup,
    turns: Arc<Semaphore>,
    idle: Mutex<Vec<Instance>>,
    output: MemoryOutputPipe,
    started: AtomicUsize,
    trapped: AtomicUsize,
}

struct Instance {
    store: Store<State>,
    proxy: Proxy,
}

struct State {
    table: ResourceTable,
    wasi: WasiCtx,
    http: WasiHttpCtx,
    hooks: Outgoing,
    limits: StoreLimits,
}

impl Setup {
    /// For a host's edge endpoint and one of its keys.
    pub(super) fn new(upstream: &str, key: &str) -> Self {
        let environment = [
            ("KOBANA_RESOURCE", "http://127.0.0.1:3028/mcp"),
            ("KOBANA_AUTHORIZATION_SERVERS", "http://127.0.0.1:3028"),
            ("KOBANA_EDGE_URL", upstream),
            ("KOBANA_EDGE_KEY", key),
        ];
        let environment = environment.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        Self { instances: 2, memory: 64 << 20, environment }
    }

    pub(super) fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// How many requests are worked on at once.
    pub(super) fn instances(self, instances: usize) -> Self {
        Self { instances, ..self }
    }

    /// Bytes that each memory of an instance may have.
    pub(super) fn memory(self, memory: usize) -> Self {
        Self { memory, ..self }
    }

    pub(super) fn start(self) -> Component {
        let threads = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let inner = Arc::new(Inner {
            pre: linked(),
            turns: Arc::new(Semaphore::new(self.instances)),
            setup: self,
            idle: Mutex::default(),
            output: MemoryOutputPipe::new(OUTPUT),
            started: AtomicUsize::new(0),
            trapped: AtomicUsize::new(0),
        });
        let listener = threads.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        threads.spawn(serve(listener, Arc::clone(&inner)));
        Component { address, inner, _threads: threads }
    }
}

impl Component {
    /// Sends a request that was made for a server to the component instead.
    #[track_caller]
    pub(super) fn send(&self, call: &Call) -> Answer {
        call.send_to(self.address)
    }

    /// What it has printed so far.
    pub(super) fn output(&self) -> String {
        String::from_utf8_lossy(&self.inner.output.contents()).into_owned()
    }

    /// Instances that were started, and those that trapped.
    pub(super) fn instances(&self) -> (usize, usize) {
        (self.inner.started.load(SeqCst), self.inner.trapped.load(SeqCst))
    }
}

/// What `kobana edge build` makes, compiled once for all tests.
fn linked() -> ProxyPre<State> {
    static PRE: OnceLock<ProxyPre<State>> = OnceLock::new();
    let pre = PRE.get_or_init(|| {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("edge-under-test.wasm");
        let built =
            Command::new(env!("CARGO_BIN_EXE_kobana")).args(["edge", "build", "-o"]).arg(&file).output().unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        let engine = Engine::default();
        let mut linker = Linker::new(&engine);
        wasmtime_wasi::p2::add_to_linker_async(&mut linker).unwrap();
        wasmtime_wasi_http::p2::add_only_http_to_linker_async(&mut linker).unwrap();
        let component = Wasm::from_file(&engine, &file).unwrap();
        ProxyPre::new(linker.instantiate_pre(&component).unwrap()).unwrap()
    });
    pre.clone()
}

async fn serve(listener: TcpListener, inner: Arc<Inner>) {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let inner = Arc::clone(&inner);
        let service = hyper::service::service_fn(move |request| {
            let inner = Arc::clone(&inner);
            async move { Ok::<_, std::convert::Infallible>(inner.answer(request).await) }
        });
        tokio::spawn(async move {
            let http = hyper::server::conn::http1::Builder::new();
            let _ = http.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

impl Inner {
    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Response<WasiBody> {
        let turn = Arc::clone(&self.turns).acquire_owned().await.unwrap();
        let idle = self.idle.lock().unwrap().pop();
        let mut instance = match idle {
            Some(instance) => instance,
            None => self.instance().await,
        };
        let (sender, receiver) = oneshot::channel();
        let mut http = instance.store.data_mut().http();
        let request = http.new_incoming_request(Scheme::Http, request).unwrap();
        let out = http.new_response_outparam(sender).unwrap();
        tokio::spawn(async move {
            let Instance { store, proxy } = &mut instance;
            match proxy.wasi_http_incoming_handler().call_handle(store, request, out).await {
                Ok(()) => self.idle.lock().unwrap().push(instance),
                Err(_) => _ = self.trapped.fetch_add(1, SeqCst),
            }
            drop(turn);
        });
        match receiver.await {
            Ok(Ok(response)) => response,
            Ok(Err(_)) | Err(_) => broken(),
        }
    }

    async fn instance(&self) -> Instance {
        self.started.fetch_add(1, SeqCst);
        let mut table = ResourceTable::new();
        table.set_max_capacity(HANDLES);
        let wasi = WasiCtx::builder().envs(&self.setup.environment).stderr(self.output.clone()).build();
        let limits = StoreLimitsBuilder::new().memory_size(self.setup.memory).build();
        let state = State { table, wasi, http: WasiHttpCtx::new(), hooks: Outgoing, limits };
        let mut store = Store::new(self.pre.engine(), state);
        store.limiter(|state| &mut state.limits);
        let proxy = self.pre.instantiate_async(&mut store).await.unwrap();
        Instance { store, proxy }
    }
}

/// What a runtime answers for a guest that trapped.
fn broken() -> Response<WasiBody> {
    let body = Full::default().map_err(|never: std::convert::Infallible| match never {});
    let mut response = Response::new(body.boxed_unsync());
    *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
    response.headers_mut().insert("cache-control", http::HeaderValue::from_static("no-store"));
    response
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

/// Outgoing requests: each on a connection of its own.
struct Outgoing;

type End = Box<dyn Future<Output = Result<(), Error>> + Send>;

impl WasiHttpHooks for Outgoing {
    fn send_request(
        &mut self,
        request: Request<WasiBody>,
        _options: Option<RequestOptions>,
        _end: End,
    ) -> Box<dyn Future<Output = Result<(Response<WasiBody>, End), Error>> + Send> {
        Box::new(send(request))
    }
}

/// Sends a request. Of timeouts it knows nothing, as a runtime need not: the component has to look after itself.
async fn send(mut request: Request<WasiBody>) -> Result<(Response<WasiBody>, End), Error> {
    let authority = request.uri().authority().ok_or(Error::HttpRequestUriInvalid)?.to_string();
    let stream = TcpStream::connect(authority).await.map_err(|_| Error::ConnectionRefused)?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let connection = tokio::spawn(connection);
    *request.uri_mut() = request.uri().path().parse().map_err(|_| Error::HttpRequestUriInvalid)?;
    let response = sender.send_request(request).await?;
    let end = async move {
        // How the connection ended is told by the body.
        let _ = connection.await;
        Ok(())
    };
    Ok((response.map(|body| body.map_err(Error::from).boxed_unsync()), Box::new(end)))
}

/// A server with an edge endpoint, and where that is.
pub(super) fn endpoint(server: &Server) -> String {
    let line = server.banner().lines().find_map(|line| line.trim().strip_prefix("Edge"));
    line.expect("the start says where the edge endpoint is").trim().to_owned()
}
