//! Which extension answers whom.
//!
//! What is enabled is read from the database and remembered until something is committed there, by whatever process, so every
//! replica sees a change with the next request. Descriptions and compiled components are kept while there is room, by the version
//! and by the content; those that nobody uses take none. A call holds what it began with: enabling, disabling and removing end
//! no call.

use std::sync::Arc;

use kobana_api::LocalApi;
use kobana_contract::Caller;
use kobana_runtime::extension::{Artifact, Level, Sandbox, Stopped};
use kobana_store::extensions::{self, Enabled};
use kobana_store::sea_orm::DbErr;
use kobana_store::{Remembered, Store, fault};
use kobana_wire::Failure;
use kobana_wire::extension::{self as wire, Kind, Offer, Outcome, Use};
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use uuid::Uuid;

use crate::breaker::End;
use crate::breakers::{Breakers, Call, Resting};
use crate::catalogue::{Catalogue, Source};
use crate::desk::{Visit, both};
use crate::extension::{Asked, Extension, Ready};
use crate::lanes::{Lanes, Turn};
use crate::lazy::Lazy;
use crate::settings::Settings;
use crate::{loaded, log};

/// Seconds to wait when the database cannot be asked, or when too many calls wait.
const RETRY_AFTER: u32 = 1;
/// How many things a cache is told to expect. So few that it keeps them in one piece: in several, each has a part of the room
/// only, and what is larger than a part is never kept.
const USUAL: usize = 32;
/// The extensions of all workspaces. Clones share everything.
#[derive(Debug, Clone)]
pub struct Registry(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    store: Store,
    settings: Settings,
    sandbox: Lazy,
    enabled: Remembered<Uuid, Arc<[Enabled]>>,
    catalogues: Cache<Uuid, Arc<Catalogue>, Weight>,
    extensions: Cache<Uuid, Arc<Extension>, Weight>,
    compiled: Cache<String, Artifact, Weight>,
    lanes: Lanes,
    breakers: Breakers,
}

/// How much room things take in caches.
#[derive(Debug, Clone, Copy)]
struct Weight;

impl Weighter<Uuid, Arc<Catalogue>> for Weight {
    fn weight(&self, _: &Uuid, catalogue: &Arc<Catalogue>) -> u64 {
        catalogue.weight()
    }
}

impl Weighter<Uuid, Arc<Extension>> for Weight {
    fn weight(&self, _: &Uuid, extension: &Arc<Extension>) -> u64 {
        extension.weight()
    }
}

impl Weighter<String, Artifact> for Weight {
    fn weight(&self, _: &String, artifact: &Artifact) -> u64 {
        (artifact.size() as u64).max(1)
    }
}

/// A call that may be made now.
struct Entered<'a> {
    workspace: Uuid,
    watched: Call<'a>,
    turn: Turn,
    sandbox: &'a Sandbox,
    ready: Ready,
}

/// A call that cannot be made now.
enum Turned {
    /// The caller is to blame, or there is nothing of this name.
    Refused(Outcome),
    /// The extension is to blame, or there is no room for it.
    Away(wire::Stopped),
    /// The server is.
    Failed(Failure),
}

impl Registry {
    /// The extensions of the workspaces in a database. Settings are taken as they are: see [`Settings::validate`].
    #[must_use]
    pub fn new(store: Store, settings: Settings, sandbox: Lazy) -> Self {
        let described = settings.descriptions as u64;
        let lanes = Lanes::new(settings.concurrency, settings.queue, settings.queue_wait(), settings.share.clone());
        let breakers = Breakers::new(settings.breaker.clone());
        Self(Arc::new(Inner {
            enabled: Remembered::default(),
            catalogues: Cache::with_weighter(USUAL, described / 2, Weight),
            extensions: Cache::with_weighter(USUAL, described / 2, Weight),
            compiled: Cache::with_weighter(USUAL, settings.compiled as u64, Weight),
            lanes,
            breakers,
            store,
            settings,
            sandbox,
        }))
    }

    /// What the extensions of the caller's workspace offer to the caller, in the order of their names and of their own lists. What
    /// the caller lacks every scope for is left out.
    ///
    /// # Errors
    /// When the database cannot be asked.
    pub async fn offers(&self, caller: &Caller, kind: Kind) -> Result<Vec<Offer>, Failure> {
        let Some(catalogue) = self.catalogue(caller).await? else { return Ok(Vec::new()) };
        let usable = catalogue.all(kind).filter(|found| missing_scope(caller, &found.source.extension).is_none());
        Ok(usable.map(|found| found.offer(None)).collect())
    }

    /// The one offer of a name, or the one that leads to a URI; with the scope to ask for where the caller lacks them all.
    ///
    /// # Errors
    /// When the database cannot be asked.
    pub async fn find_offer(&self, caller: &Caller, kind: Kind, name: &str) -> Result<Option<Offer>, Failure> {
        let Some(catalogue) = self.catalogue(caller).await? else { return Ok(None) };
        Ok(catalogue.find(kind, name).map(|found| found.offer(missing_scope(caller, &found.source.extension))))
    }

    /// Uses what is offered, as this caller and through this router of `/api/v1`.
    ///
    /// # Errors
    /// When the database cannot be asked, or the sandbox cannot be set up.
    pub async fn use_offer(&self, caller: &Arc<Caller>, api: &LocalApi, wanted: Use) -> Result<Outcome, Failure> {
        let (Some(catalogue), Some(member)) = (self.catalogue(caller).await?, caller.workspace()) else {
            return Ok(Outcome::Missing);
        };
        let Use { kind, name, version, arguments, client, answers, check_only } = wanted;
        let Some(found) = catalogue.find(kind, &name) else { return Ok(Outcome::Missing) };
        let source = found.source;
        if source.row.digest != version || missing_scope(caller, &source.extension).is_some() {
            return Ok(Outcome::Missing);
        }
        let name = if matches!(kind, Kind::Tool | Kind::Prompt) { found.own_name().to_owned() } else { name };
        let asked = Asked { kind, name, arguments, client, answers };
        let called = async {
            let entered = self.0.enter(member.workspace_id, source, caller, asked).await?;
            if check_only { Ok(Outcome::Checked) } else { self.0.call(entered, source, caller, api).await }
        };
        match called.await {
            Ok(outcome) => Ok(outcome),
            Err(Turned::Refused(outcome)) => Ok(outcome),
            Err(Turned::Away(stopped)) => Ok(Outcome::Stopped(stopped)),
            Err(Turned::Failed(failure)) => Err(failure),
        }
    }

    /// What is offered in the caller's workspace; none while no workspace is picked.
    async fn catalogue(&self, caller: &Caller) -> Result<Option<Arc<Catalogue>>, Failure> {
        let Some(member) = caller.workspace().filter(|_| self.0.settings.enabled) else { return Ok(None) };
        self.0.catalogue(member.workspace_id).await.map(Some)
    }
}

impl Inner {
    async fn catalogue(&self, workspace: Uuid) -> Result<Arc<Catalogue>, Failure> {
        let read =
            async |_: &Uuid| extensions::enabled(self.store.reads(), workspace).await.map(|rows| Some(Arc::from(rows)));
        let rows = self.enabled.get(&self.store.moment(), workspace, read).await.map_err(|error| failure(&error))?;
        let rows: Arc<[Enabled]> = rows.unwrap_or_default();
        if let Some(known) = self.catalogues.get(&workspace).filter(|known| *known.rows() == *rows) {
            return Ok(known);
        }
        let mut sources = Vec::with_capacity(rows.len());
        for row in rows.iter() {
            if let Some(extension) = self.extension(workspace, row).await? {
                sources.push(Source { row: row.clone(), extension });
            }
        }
        let catalogue = Arc::new(Catalogue::new(rows, sources));
        self.catalogues.insert(workspace, Arc::clone(&catalogue));
        Ok(catalogue)
    }

    /// What a version says of itself; none where that is gone, or cannot be read any more.
    async fn extension(&self, workspace: Uuid, row: &Enabled) -> Result<Option<Arc<Extension>>, Failure> {
        if let Some(known) = self.extensions.get(&row.id) {
            return Ok(Some(known));
        }
        let texts = extensions::texts(self.store.reads(), workspace, row.id).await.map_err(|error| failure(&error))?;
        let Some(texts) = texts else { return Ok(None) };
        match Extension::read(&texts.description, &texts.definitions) {
            Ok(extension) => {
                let extension = Arc::new(extension);
                self.extensions.insert(row.id, Arc::clone(&extension));
                Ok(Some(extension))
            }
            Err(error) => {
                // Written by a version of the server that knew other things. Adding the component again helps.
                tracing::error!(%error, %workspace, extension = row.extension, version = row.version, "cannot be read any more");
                Ok(None)
            }
        }
    }

    /// Everything that stands before the extension itself: rest, turn and arguments.
    async fn enter<'a>(
        &'a self,
        workspace: Uuid,
        source: &Source,
        caller: &Caller,
        asked: Asked,
    ) -> Result<Entered<'a>, Turned> {
        let watched = self.breakers.enter(source.row.id, caller.person_id);
        let watched = watched.map_err(|resting| Turned::Away(rests(resting)))?;
        let turn = self.lanes.enter(workspace).await.ok_or_else(|| Turned::Away(crowded()))?;
        let sandbox = self.sandbox.get().await.map_err(|error| {
            tracing::error!(%error, "extensions cannot run");
            Turned::Failed(Failure::Internal)
        })?;
        // What is refused here was not asked, so it says nothing about how well the extension is.
        source.extension.check(sandbox, turn.credit(), &asked).await.map_err(Turned::Refused)?;
        let ready = source.extension.ready(asked).map_err(Turned::Refused)?;
        Ok(Entered { workspace, watched, turn, sandbox, ready })
    }

    async fn call(
        &self,
        entered: Entered<'_>,
        source: &Source,
        caller: &Arc<Caller>,
        api: &LocalApi,
    ) -> Result<Outcome, Turned> {
        let Entered { workspace, watched, turn, sandbox, ready } = entered;
        let row = &source.row;
        let artifact = self.artifact(&row.digest).await?;
        let limits = self.settings.limits_of(workspace, &row.extension);
        let visit = Visit { caller: Arc::clone(caller), api: api.clone(), log: log::of(workspace, row) };
        let (extension, version) = (&row.extension, &row.version);
        tracing::debug!(target: log::TARGET, %workspace, extension, version, "a call begins");
        let credit = turn.credit();
        let (usage, outcome) = loaded::run(&source.extension, &artifact, sandbox, &limits, credit, visit, ready).await;
        drop(turn);
        tracing::debug!(target: log::TARGET, %workspace, extension, version, ?usage, stopped = outcome.is_err(), "a call ended");
        log::changed(workspace, row, caller.person_id, watched.ends(end_of(&outcome)));
        outcome.map_err(|stopped| {
            // With lines of its own: those of the call may be used up.
            tell(&log::of(workspace, row), &stopped);
            Turned::Away((&stopped).into())
        })
    }

    /// The compiled component of a digest. Of several who wait for it, one has it compiled.
    async fn artifact(&self, digest: &String) -> Result<Artifact, Turned> {
        let compile = async {
            let component = extensions::component(&self.store, digest).await.map_err(|error| {
                tracing::error!(%error, digest, "a component cannot be read");
                Turned::Failed(Failure::Internal)
            })?;
            // Removed a moment ago, by whoever has the right to.
            let component = component.ok_or_else(|| Turned::Away(gone()))?;
            let sandbox = self.sandbox.get().await.map_err(|_| Turned::Failed(Failure::Internal))?;
            sandbox.compile(component.into()).await.map_err(|error| {
                // It compiled when it was added: the engine, or what it has room for, is another one now.
                tracing::error!(%error, digest, "a component does not fit any more");
                Turned::Away(unfit())
            })
        };
        self.compiled.get_or_insert_async(digest, compile).await
    }
}

/// The scope to ask for where an extension declares some and the caller has none of them.
pub(crate) fn missing_scope(caller: &Caller, extension: &Extension) -> Option<String> {
    let declared = extension.scopes();
    let first = declared.first().filter(|_| both(&caller.scopes, declared).is_empty());
    first.map(ToString::to_string)
}

fn end_of(outcome: &Result<Outcome, Stopped>) -> End {
    match outcome {
        Ok(_) => End::Good,
        Err(Stopped::Busy) => End::Unknown,
        Err(_) => End::Broken(None),
    }
}

/// Tells whoever reads the extension's log what ended it, with what only its developer should see.
fn tell(log: &crate::desk::Log, stopped: &Stopped) {
    log(Level::Warn, &format!("stopped: {stopped}"));
    if let Stopped::Trap(trap) = stopped {
        for frame in &trap.frames {
            log(Level::Warn, &format!("  in {frame}"));
        }
    }
}

fn unavailable(message: String, retry_after: u32) -> wire::Stopped {
    wire::Stopped { code: "extension_unavailable".to_owned(), message, limit: None, retry_after: Some(retry_after) }
}

fn rests(resting: Resting) -> wire::Stopped {
    let seconds = u32::try_from(resting.wait.as_millis().div_ceil(1_000)).unwrap_or(u32::MAX).max(1);
    let why = if resting.for_caller { "too often in your calls" } else { "for too many callers" };
    unavailable(format!("The extension broke {why} and rests for {seconds} more seconds."), seconds)
}

fn crowded() -> wire::Stopped {
    unavailable(
        "Too many calls of this workspace's extensions are running. Try again in a moment.".to_owned(),
        RETRY_AFTER,
    )
}

fn gone() -> wire::Stopped {
    unavailable("The extension has just been removed.".to_owned(), RETRY_AFTER)
}

fn unfit() -> wire::Stopped {
    let message = "The extension does not run on this version of the server. Whoever manages it has to add it anew.";
    wire::Stopped { retry_after: None, ..unavailable(message.to_owned(), RETRY_AFTER) }
}

fn failure(error: &DbErr) -> Failure {
    if fault::is_temporary(error) {
        tracing::warn!(%error, "extensions cannot be looked up now");
        return Failure::Unavailable(RETRY_AFTER);
    }
    tracing::error!(%error, "extensions cannot be looked up");
    Failure::Internal
}
