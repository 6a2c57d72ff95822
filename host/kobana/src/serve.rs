//! `kobana serve`: puts the parts together and runs them.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use kobana_api::Api;
use kobana_api::worker::Worker;
use kobana_identity::{Confirmations, Key, KeyError, KeyRing, Tickets};
use kobana_store::{Location, Store, demo, directory};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use crate::access::Access;
use crate::app::App;
use crate::banner::Banner;
use crate::cli;
use crate::component::{GATEWAY, Runtime, Source};
use crate::extensions::Extensions;
use crate::failure::Failure;
use crate::gateway::InProcess;
use crate::settings::{DEFAULT_PORT, Settings};
use crate::threads::Threads;
use crate::{access, edge, listener, log, login, rest, webhooks};

/// The web page that may talk to the demo, beside those on loopback.
const DEMO_ORIGIN: &str = "https://app.example.com";

/// Runs the server until it is told to stop.
pub(crate) fn run(options: &cli::Serve) -> Result<(), Failure> {
    let settings = Settings::load(options)?;
    log::start(&settings.log)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|cause| Failure::System { what: "cannot start threads", cause })?;
    let threads = Threads::start().map_err(|cause| Failure::System { what: "cannot start threads", cause })?;
    runtime.block_on(serve(options, settings, &threads))
}

async fn serve(options: &cli::Serve, mut settings: Settings, threads: &Threads) -> Result<(), Failure> {
    // The address comes first: a port in use is found before anything is written.
    let listener = TcpListener::bind(settings.listen).await;
    let listener = listener.map_err(|cause| Failure::Listen { address: settings.listen, cause })?;
    let address = listener.local_addr().map_err(|cause| Failure::System { what: "cannot read the address", cause })?;
    let edge = edge::Open::of(&settings.edge).await?;
    let edge_address = edge.as_ref().map(edge::Open::address).transpose()?;
    settings.http.max_connections = raise_file_limit(settings.http.max_connections)?;

    let base = format!("http://{address}");
    let resource = settings.resource.clone().unwrap_or_else(|| format!("{base}/mcp"));
    let environment = environment(&settings, options.demo, address, &resource);
    let endpoint = check(&environment)?.endpoint;
    let (app, edge, workers) = assemble(options, &settings, environment, endpoint, &resource, edge).await?;
    if !app.is_ready().await {
        return Err(Failure::Unfit);
    }
    let steps = access::first_steps(&settings, &app.store).await?;
    if let Some(steps) = &steps {
        let typed = steps.lines().map(str::trim).collect::<Vec<_>>().join(" && ");
        tracing::warn!("nobody can sign in yet, since there is no person; what to type: {typed}");
    }
    let (login, steps) = (app.login.is_some(), steps.as_deref());
    let banner = Banner { base: &base, resource: &resource, edge: edge_address, demo: options.demo, login, steps };
    let stop = stop_signal()?;
    // Whoever closed standard output does not want to read it.
    let _ = writeln!(std::io::stdout(), "{}", banner.text());
    let (stopping, mut stopped) = tokio::sync::watch::channel(());
    let stop = async move {
        stop.await;
        drop(stopping);
    };
    let edge = async {
        let Some((listener, endpoint)) = edge else { return };
        let stopped = async move {
            // An error says that the sender is gone, which is what is waited for.
            let _ = stopped.changed().await;
        };
        listener::serve(listener, Arc::new(endpoint), &settings.http, threads, stopped).await;
    };
    tokio::join!(listener::serve(listener, Arc::new(app), &settings.http, threads, stop), edge);
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
    resource: &str,
    edge: Option<edge::Open>,
) -> Result<(App, Option<(TcpListener, edge::Endpoint)>, Vec<Worker>), Failure> {
    let store = Store::open(settings.data.clone().map_or(Location::Memory, Location::Directory)).await?;
    prepare(options.demo, settings, &store).await?;
    let Access { identity, issued } = access::open(settings, options.demo, &store, resource).await?;
    let login = match issued {
        Some(tokens) => Some(login::open(&settings.login, options.demo, &store, tokens).await?),
        None => None,
    };
    let inbox_domain = settings.inbox_domain.clone().unwrap_or_else(|| inbox_domain(options.demo, resource));
    let about_webhooks = settings.webhooks.settings(options.demo)?;
    let extensions = Extensions::of(settings);
    let inspector = extensions.inspector();
    let about_inboxes = kobana_api::Settings { inbox_domain };
    let whole = Api::with_extensions(store.clone(), about_inboxes, about_webhooks, inspector).await;
    let whole = whole.map_err(|error| Failure::Data(error.to_string()))?;
    let api = whole.router();

    let source = match &options.component {
        Some(file) => Source::File(file.clone()),
        None => Source::Bytes(GATEWAY.into()),
    };
    let seal = confirmations(settings, &store).await?;
    let extensions = extensions.registry(store.clone());
    let dispatch = Arc::new(InProcess::new(Arc::clone(&identity), seal, whole.local(), extensions));
    let edge = match edge {
        Some(open) => {
            Some(open.endpoint(&settings.edge, &settings.runtime, Arc::clone(&dispatch), tickets(&store).await?))
        }
        None => None,
    };
    let runtime = Runtime::new(source, settings.runtime.clone(), environment, dispatch, cache_dir(settings))?;
    // Last of all: until here the start may still fail, and nothing is to be half done then.
    let worker = settings.worker.start(&settings.engines, store.clone(), whole.wake())?;
    let courier = webhooks::start(&settings.worker, &whole)?;
    let workers = worker.into_iter().chain(courier).collect();
    Ok((App { runtime, rest: rest::router(identity, api), login, store, endpoint }, edge, workers))
}

/// Puts the demo's rows in, or makes sure that they are not there. Their passwords are well known, so the demo keeps to data of its
/// own, and that data to the demo.
async fn prepare(demo: bool, settings: &Settings, store: &Store) -> Result<(), Failure> {
    let database = |error: kobana_store::sea_orm::DbErr| Failure::Data(error.to_string());
    let place = settings.data.as_deref().unwrap_or_else(|| std::path::Path::new("")).display();
    let refused = |why: &str| Failure::Config(format!("data = {place}: {why}, or name another directory"));
    match (demo, demo::is_there(store.reads()).await.map_err(database)?) {
        (false, true) => {
            Err(refused("it holds the demo's persons, whose password is well known; serve it with --demo"))
        }
        (true, false) if !directory::organizations(store.reads()).await.map_err(database)?.is_empty() => {
            Err(refused("it holds an installation, which is none for well-known passwords; serve it without --demo"))
        }
        (true, _) => demo::seed(store).await.map_err(database),
        (false, false) => Ok(()),
    }
}

/// The seal of tickets: the key that the database keeps for all that use it.
async fn tickets(store: &Store) -> Result<Tickets, Failure> {
    Ok(Tickets::new(KeyRing::new(vec![kept_key(store, "edge-tickets").await?]).map_err(bad_key)?))
}

/// A key that is made once for each database.
async fn kept_key(store: &Store, name: &str) -> Result<Key, Failure> {
    let secret = kobana_store::settings::key(store, name).await;
    let secret = secret.map_err(|error| Failure::Data(error.to_string()))?;
    Key::new("database", &secret).map_err(bad_key)
}

fn bad_key(error: KeyError) -> Failure {
    Failure::Data(error.to_string())
}

/// The seal of confirmations: the configured keys, which replicas share, or the one that the database keeps for all that use it.
async fn confirmations(settings: &Settings, store: &Store) -> Result<Confirmations, Failure> {
    let keys = match settings.confirmations.keys()? {
        keys if keys.is_empty() => vec![kept_key(store, "confirmations").await?],
        keys => keys,
    };
    let ring = KeyRing::new(keys).map_err(|error| Failure::Config(format!("confirmations.keys: {error}")))?;
    Ok(Confirmations::new(store.clone(), ring))
}

/// The domain of new inboxes' addresses where none is configured: that of the endpoint.
fn inbox_domain(demo: bool, resource: &str) -> String {
    let host = url::Url::parse(resource).ok().and_then(|url| url.domain().map(str::to_owned));
    if demo { demo::INBOX_DOMAIN.to_owned() } else { host.unwrap_or_else(|| "localhost".to_owned()) }
}

/// What the component knows of the deployment.
fn environment(settings: &Settings, demo: bool, address: SocketAddr, resource: &str) -> Vec<(String, String)> {
    let server = settings.issuer.url.clone().unwrap_or_else(|| access::origin(resource));
    let mut origins = settings.allowed_origins.clone();
    if demo {
        for port in [address.port(), DEFAULT_PORT] {
            origins.extend([format!("http://127.0.0.1:{port}"), format!("http://localhost:{port}")]);
        }
        origins.push(DEMO_ORIGIN.to_owned());
    }
    vec![
        ("KOBANA_RESOURCE".to_owned(), resource.to_owned()),
        ("KOBANA_AUTHORIZATION_SERVERS".to_owned(), server),
        ("KOBANA_ALLOWED_ORIGINS".to_owned(), origins.join(" ")),
    ]
}

/// Checks what the component is going to read, by the component's own rules: it could only answer 500 to everything.
fn check(environment: &[(String, String)]) -> Result<kobana_protocol::Config, Failure> {
    let variable = |name: &str| environment.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
    kobana_protocol::Config::from_env(variable).map_err(|error| {
        let setting = match error.variable {
            // It is the issuer where there is one; else it is made of `resource`, and right.
            kobana_protocol::AUTHORIZATION_SERVERS => "issuer.url".to_owned(),
            other => other.trim_start_matches("KOBANA_").to_ascii_lowercase(),
        };
        Failure::Config(format!("{setting}: expected {}", error.expected))
    })
}

/// Where compiled code is kept, so that the next start is quick: beside the data, else where the user's caches are.
pub(crate) fn cache_dir(settings: &Settings) -> Option<PathBuf> {
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
