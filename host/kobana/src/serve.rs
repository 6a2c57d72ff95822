//! `kobana serve`: puts the parts together and runs them.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use kobana_api::Api;
use kobana_api::worker::Worker;
use kobana_identity::{Confirmations, DemoTokens, Identity, Key, KeyRing};
use kobana_runtime::{Runtime, Source};
use kobana_store::{Location, Store, demo};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use crate::app::App;
use crate::cli;
use crate::failure::Failure;
use crate::gateway::InProcess;
use crate::settings::{DEFAULT_PORT, Settings};
use crate::{banner, listener, log, rest, webhooks};

/// The gateway component that `build.rs` made.
static GATEWAY: &[u8] = include_bytes!(env!("KOBANA_GATEWAY_WASM"));

/// The web page that may talk to the demo, beside those on loopback.
const DEMO_ORIGIN: &str = "https://app.example.com";

/// Runs the server until it is told to stop.
pub(crate) fn run(options: &cli::Serve) -> Result<(), Failure> {
    let settings = Settings::load(options)?;
    log::start(&settings.log)?;
    if !options.demo {
        return Err(Failure::Config(
            "there is no way to sign in yet: this version serves the demo profile only, by `kobana serve --demo`"
                .to_owned(),
        ));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|cause| Failure::System { what: "cannot start threads", cause })?;
    runtime.block_on(serve(options, settings))
}

async fn serve(options: &cli::Serve, mut settings: Settings) -> Result<(), Failure> {
    // The address comes first: a port in use is found before anything is written.
    let listener = TcpListener::bind(settings.listen).await;
    let listener = listener.map_err(|cause| Failure::Listen { address: settings.listen, cause })?;
    let address = listener.local_addr().map_err(|cause| Failure::System { what: "cannot read the address", cause })?;
    settings.http.max_connections = raise_file_limit(settings.http.max_connections)?;

    let base = format!("http://{address}");
    let resource = settings.resource.clone().unwrap_or_else(|| format!("{base}/mcp"));
    let environment = environment(&settings, options.demo, address, &base, &resource);
    let endpoint = check(&environment)?.endpoint;
    let (app, workers) = assemble(options, &settings, environment, endpoint).await?;
    if !app.is_ready().await {
        return Err(Failure::Unfit);
    }
    let stop = stop_signal()?;
    // Whoever closed standard output does not want to read it.
    let _ = writeln!(std::io::stdout(), "{}", banner::text(&base, &resource, options.demo));
    listener::serve(listener, Arc::new(app), &settings.http, stop).await;
    for worker in workers {
        worker.stop(settings.http.shutdown_grace()).await;
    }
    Ok(())
}

async fn assemble(
    options: &cli::Serve,
    settings: &Settings,
    environment: Vec<(String, String)>,
    endpoint: String,
) -> Result<(App, Vec<Worker>), Failure> {
    let store = Store::open(settings.data.clone().map_or(Location::Memory, Location::Directory)).await?;
    demo::seed(&store).await.map_err(|error| Failure::Data(error.to_string()))?;
    let identity = Arc::new(Identity::new(store.clone(), DemoTokens::starting_now()));
    let inbox_domain = settings.inbox_domain.clone().unwrap_or_else(|| demo::INBOX_DOMAIN.to_owned());
    let about_webhooks = settings.webhooks.settings(options.demo)?;
    let whole = Api::with_webhooks(store.clone(), kobana_api::Settings { inbox_domain }, about_webhooks).await;
    let whole = whole.map_err(|error| Failure::Data(error.to_string()))?;
    let api = whole.router();

    let source = match &options.component {
        Some(file) => Source::File(file.clone()),
        None => Source::Bytes(GATEWAY.into()),
    };
    let dispatch = Arc::new(InProcess::new(Arc::clone(&identity), confirmations(settings, &store).await?, api.clone()));
    let runtime = Runtime::new(source, settings.runtime.clone(), environment, dispatch, cache_dir(settings))?;
    // Last of all: until here the start may still fail, and nothing is to be half done then.
    let worker = settings.worker.start(&settings.engines, store.clone(), whole.wake())?;
    let courier = webhooks::start(&settings.worker, &whole)?;
    let workers = worker.into_iter().chain(courier).collect();
    Ok((App { runtime, rest: rest::router(identity, api), store, endpoint }, workers))
}

/// The seal of confirmations: the configured keys, which replicas share, or the one that the database keeps for all that use it.
async fn confirmations(settings: &Settings, store: &Store) -> Result<Confirmations, Failure> {
    let keys = match settings.confirmations.keys()? {
        keys if keys.is_empty() => {
            let secret = kobana_store::settings::key(store, "confirmations").await;
            let secret = secret.map_err(|error| Failure::Data(error.to_string()))?;
            vec![Key::new("database", &secret).map_err(|error| Failure::Data(error.to_string()))?]
        }
        keys => keys,
    };
    let ring = KeyRing::new(keys).map_err(|error| Failure::Config(format!("confirmations.keys: {error}")))?;
    Ok(Confirmations::new(store.clone(), ring))
}

/// What the component knows of the deployment.
fn environment(
    settings: &Settings,
    demo: bool,
    address: SocketAddr,
    base: &str,
    resource: &str,
) -> Vec<(String, String)> {
    let servers = match settings.authorization_servers.as_slice() {
        [] => base.to_owned(),
        servers => servers.join(" "),
    };
    let mut origins = settings.allowed_origins.clone();
    if demo {
        for port in [address.port(), DEFAULT_PORT] {
            origins.extend([format!("http://127.0.0.1:{port}"), format!("http://localhost:{port}")]);
        }
        origins.push(DEMO_ORIGIN.to_owned());
    }
    vec![
        ("KOBANA_RESOURCE".to_owned(), resource.to_owned()),
        ("KOBANA_AUTHORIZATION_SERVERS".to_owned(), servers),
        ("KOBANA_ALLOWED_ORIGINS".to_owned(), origins.join(" ")),
    ]
}

/// Checks what the component is going to read, by the component's own rules: it could only answer 500 to everything.
fn check(environment: &[(String, String)]) -> Result<kobana_protocol::Config, Failure> {
    let variable = |name: &str| environment.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
    kobana_protocol::Config::from_env(variable).map_err(|error| {
        let setting = error.variable.trim_start_matches("KOBANA_").to_ascii_lowercase();
        Failure::Config(format!("{setting}: expected {}", error.expected))
    })
}

/// Where compiled code is kept, so that the next start is quick: beside the data, else where the user's caches are.
fn cache_dir(settings: &Settings) -> Option<PathBuf> {
    let user = || {
        let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let cache = cache.or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")));
        cache.map(|directory| directory.join("kobana"))
    };
    settings.data.as_ref().map(|data| data.join("cache")).or_else(user)
}

/// Asks the system for as many open files as there may be connections; answers how many there may really be.
fn raise_file_limit(connections: usize) -> Result<usize, Failure> {
    /// Files that are open beside connections.
    const OTHER: u64 = 256;
    let wanted = (connections as u64).saturating_add(OTHER);
    let got = rlimit::increase_nofile_limit(wanted);
    let got = got.map_err(|cause| Failure::System { what: "cannot read the limit of open files", cause })?;
    if got >= wanted {
        return Ok(connections);
    }
    let possible = usize::try_from(got.saturating_sub(OTHER)).unwrap_or(usize::MAX).max(1);
    tracing::warn!(possible, wanted = connections, "the system allows fewer connections than http.max_connections");
    Ok(possible)
}

/// Ready when the process is asked to stop. A second signal ends it at once.
fn stop_signal() -> Result<impl Future<Output = ()>, Failure> {
    let listen = |kind| signal(kind).map_err(|cause| Failure::System { what: "cannot listen for signals", cause });
    let (mut interrupt, mut terminate) = (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! { _ = interrupt.recv() => {}, _ = terminate.recv() => {} }
        tracing::info!("stopping");
        tokio::spawn(async move {
            tokio::select! { _ = interrupt.recv() => {}, _ = terminate.recv() => {} }
            std::process::exit(130);
        });
    })
}
