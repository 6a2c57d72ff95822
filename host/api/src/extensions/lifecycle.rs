//! From the first look at a component to the last of its versions.

use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;

use kobana_contract::Timestamp;
use kobana_contract::operations::extensions::{
    Extension, ExtensionDescription, ExtensionSettings, LARGEST_COMPONENT, RESERVED,
};
use kobana_store::blobs::Staged;
use kobana_store::extensions::{self as stored, hexadecimal};
use kobana_store::rows::{
    ExtensionChanges, ExtensionColumn, ExtensionRow, ExtensionTextRow, ExtensionTexts, ExtensionVersionChanges,
    ExtensionVersionColumn, ExtensionVersionRow, ExtensionVersions, Extensions,
};
use kobana_store::{InWorkspace, Scope as _, Store, Write};
use sea_orm::{ColumnTrait as _, ConnectionTrait, PaginatorTrait as _, QueryFilter as _, QueryOrder as _, Set};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use uuid::Uuid;

use super::description::Description;
use super::names;
use super::state::{State, brief, show_version};
use super::{Inspected, Inspector, NotInspected};
use crate::error::ApiError;
use crate::intake::events::{self, Event};
use crate::intake::upload::unavailable;
use crate::problems::Problems;

/// Components that are in memory to be looked into, at a time.
const LOOKS: usize = 2;
/// The most extensions of a workspace, and versions of an extension. Nobody is meant to meet them.
const MOST_EXTENSIONS: u64 = 1_000;
const MOST_VERSIONS: usize = 100;
/// Bytes read at a time.
const CHUNK: usize = 64 * 1024;
/// The most characters of somebody else's text that are passed on.
const LONGEST_TEXT: usize = 500;

/// Who does something, where and when.
#[derive(Debug, Clone, Copy)]
pub struct By {
    /// UUID of the workspace.
    pub workspace: Uuid,
    /// UUID of the person; none where it is whoever runs the installation.
    pub person: Option<Uuid>,
    /// When.
    pub now: Timestamp,
}

/// A version that is there now.
#[derive(Debug, Clone)]
pub struct Added {
    /// What it says that it is.
    pub description: ExtensionDescription,
    /// Whether it was not there before.
    pub new: bool,
}

/// What can be done with the extensions of workspaces. The API does it for persons, the command line for whoever runs the
/// installation. Each is one transaction, and seen by every process on the same database from its next request on.
#[derive(Debug, Clone)]
pub struct Lifecycle {
    store: Store,
    inspector: Option<Arc<dyn Inspector>>,
    looks: Arc<Semaphore>,
}

impl Lifecycle {
    /// Without an inspector nothing can be added.
    #[must_use]
    pub fn new(store: Store, inspector: Option<Arc<dyn Inspector>>) -> Self {
        Self { store, inspector, looks: Arc::new(Semaphore::new(LOOKS)) }
    }

    /// Adds the component in a file.
    ///
    /// # Errors
    /// As [`Self::add`], and [`ApiError::Unavailable`] if the file cannot be read.
    pub async fn add_file(&self, by: By, path: &Path) -> Result<Added, ApiError> {
        let mut file = std::fs::File::open(path).map_err(unavailable)?;
        let mut staging = self.store.blobs().stage().await.map_err(unavailable)?;
        let mut chunk = vec![0; CHUNK];
        loop {
            let length = file.read(&mut chunk).map_err(unavailable)?;
            let Some(bytes) = chunk.get(..length).filter(|bytes| !bytes.is_empty()) else { break };
            staging.write(bytes).await.map_err(unavailable)?;
            if staging.length() > LARGEST_COMPONENT {
                return Err(ApiError::PayloadTooLarge);
            }
        }
        self.add(by, staging.end().await.map_err(unavailable)?).await
    }

    /// Looks into a component, and adds it as a version of the extension that it says it is. The same bytes again change nothing.
    ///
    /// # Errors
    /// [`ApiError::Invalid`] names what is wrong with it, [`ApiError::InTheWay`] says that the version is another component's,
    /// or that there are too many, [`ApiError::NoExtensions`] that nobody can look into it.
    pub async fn add(&self, by: By, file: Staged) -> Result<Added, ApiError> {
        let inspector = self.inspector.as_ref().ok_or(ApiError::NoExtensions)?;
        let (rows, digest) = (InWorkspace(by.workspace), hexadecimal(file.digest()));
        if let Some(description) = there(self.store.reads(), rows, &digest).await? {
            return Ok(Added { description, new: false });
        }
        let look = self.looks.acquire().await.map_err(ApiError::internal)?;
        let inspected = inspector.inspect(read(&file).await?).await.map_err(refusal)?;
        drop(look);
        if inspected.name == RESERVED {
            return Err(ApiError::invalid_field("name", "is the API's own; give the extension another one"));
        }
        // Before it is written: what cannot be shown is not kept.
        let description = Description::read(&inspected.description)?;
        let tx = self.store.begin().await?;
        if let Some(description) = there(&tx, rows, &digest).await? {
            return Ok(Added { description, new: false });
        }
        let version = insert(&tx, by, inspected, &file, &digest).await?;
        record(&tx, by, events::EXTENSION_ADDED, brief(&description.name, &version)).await?;
        stored::keep(&tx, self.store.blobs(), file, &digest).await.map_err(unavailable)?;
        tx.commit().await?;
        Ok(Added { description: description.show(show_version(&version), false)?, new: true })
    }

    /// Every extension of a workspace, by name.
    ///
    /// # Errors
    /// What the database answers.
    pub async fn list(&self, workspace: Uuid) -> Result<Vec<Extension>, ApiError> {
        let (rows, reads) = (InWorkspace(workspace), self.store.reads());
        let extensions = rows.find::<Extensions>().order_by_asc(ExtensionColumn::Name).all(reads).await?;
        self.show(rows, extensions).await
    }

    /// Extensions with their versions.
    ///
    /// # Errors
    /// What the database answers.
    pub(crate) async fn show(&self, rows: InWorkspace, list: Vec<ExtensionRow>) -> Result<Vec<Extension>, ApiError> {
        let ids: Vec<_> = list.iter().map(|row| row.id).collect();
        let mut versions = versions(self.store.reads(), rows, ids).await?;
        let mut shown = Vec::with_capacity(list.len());
        for row in list {
            let (own, others) = versions.into_iter().partition(|version| version.extension_id == row.id);
            versions = others;
            shown.push(State { row, versions: own }.show());
        }
        Ok(shown)
    }

    /// An extension with its versions.
    ///
    /// # Errors
    /// [`ApiError::NotFound`], or what the database answers.
    pub async fn get(&self, workspace: Uuid, name: &str) -> Result<Extension, ApiError> {
        Ok(load(self.store.reads(), InWorkspace(workspace), name).await?.show())
    }

    /// What a version says that it is, by semantic version or digest.
    ///
    /// # Errors
    /// [`ApiError::NotFound`], or what the database answers.
    pub async fn describe(&self, workspace: Uuid, name: &str, version: &str) -> Result<ExtensionDescription, ApiError> {
        let (rows, reads) = (InWorkspace(workspace), self.store.reads());
        let state = load(reads, rows, name).await?;
        let version = state.version(version).ok_or(ApiError::NotFound)?;
        let text = description(reads, rows, version.id).await?;
        text.show(show_version(version), state.row.enabled_id == Some(version.id))
    }

    /// Enables a version, by semantic version or digest, or the one that was added last.
    ///
    /// # Errors
    /// [`ApiError::NotFound`] where there is no such extension, [`ApiError::Invalid`] where it has no such version,
    /// [`ApiError::InTheWay`] where callers could not tell its names from others.
    pub async fn enable(&self, by: By, name: &str, version: Option<&str>) -> Result<Extension, ApiError> {
        let tx = self.store.begin().await?;
        let state = load(&tx, InWorkspace(by.workspace), name).await?;
        let wanted = version.map_or_else(|| state.versions.last(), |version| state.version(version));
        let wanted = wanted.cloned().ok_or_else(|| ApiError::invalid_field("version", NO_VERSION))?;
        switch(tx, by, state, wanted).await
    }

    /// Enables the version that was enabled last before the present one.
    ///
    /// # Errors
    /// [`ApiError::NotFound`] where there is no such extension, [`ApiError::InTheWay`] where no other version was ever enabled,
    /// or as [`Self::enable`].
    pub async fn roll_back(&self, by: By, name: &str) -> Result<Extension, ApiError> {
        let tx = self.store.begin().await?;
        let state = load(&tx, InWorkspace(by.workspace), name).await?;
        let nothing = || in_the_way("rollback_version", format!("No other version of {name} was enabled before."));
        let before = state.before().cloned().ok_or_else(nothing)?;
        switch(tx, by, state, before).await
    }

    /// Takes an extension away from callers. One that is not enabled stays so.
    ///
    /// # Errors
    /// [`ApiError::NotFound`], or what the database answers.
    pub async fn disable(&self, by: By, name: &str) -> Result<Extension, ApiError> {
        let rows = InWorkspace(by.workspace);
        let tx = self.store.begin().await?;
        let state = load(&tx, rows, name).await?;
        let Some(version) = state.enabled() else { return Ok(state.show()) };
        let about = brief(name, version);
        let changes =
            ExtensionChanges { enabled_id: Set(None), updated_at: Set(by.now.0), ..ExtensionChanges::default() };
        rows.change::<Extensions>(&tx, state.row.id, changes).await?;
        record(&tx, by, events::EXTENSION_DISABLED, about).await?;
        finish(tx, rows, name).await
    }

    /// Removes an extension with all its versions, or one of them; with the last one the extension goes, too.
    ///
    /// # Errors
    /// [`ApiError::NotFound`], or [`ApiError::InTheWay`] where it is enabled.
    pub async fn remove(&self, by: By, name: &str, version: Option<&str>) -> Result<(), ApiError> {
        let rows = InWorkspace(by.workspace);
        let tx = self.store.begin().await?;
        let state = load(&tx, rows, name).await?;
        let gone: Vec<_> = match version {
            Some(version) => vec![state.version(version).ok_or(ApiError::NotFound)?],
            None => state.versions.iter().collect(),
        };
        if gone.iter().any(|version| Some(version.id) == state.row.enabled_id) {
            return Err(in_the_way("enabled_version", format!("{name} is enabled; disable it first.")));
        }
        for version in &gone {
            stored::remove_version(&tx, rows, version.id).await?;
            record(&tx, by, events::EXTENSION_REMOVED, brief(name, version)).await?;
        }
        if gone.len() == state.versions.len() {
            stored::remove(&tx, rows, state.row.id).await?;
        }
        tx.commit().await?;
        let digests: Vec<_> = gone.into_iter().map(|version| version.digest.clone()).collect();
        Ok(stored::sweep(&self.store, &digests).await?)
    }

    /// What holds for all extensions of a workspace.
    ///
    /// # Errors
    /// What the database answers.
    pub async fn settings(&self, workspace: Uuid) -> Result<ExtensionSettings, ApiError> {
        Ok(ExtensionSettings { prefix: stored::prefix(self.store.reads(), workspace).await? })
    }

    /// Says whether names carry a prefix.
    ///
    /// # Errors
    /// [`ApiError::InTheWay`] where callers could not tell names of enabled extensions from others without it.
    pub async fn set_prefix(&self, by: By, prefix: bool) -> Result<ExtensionSettings, ApiError> {
        let tx = self.store.begin().await?;
        if stored::prefix(&tx, by.workspace).await? != prefix {
            let all = enabled(&tx, InWorkspace(by.workspace), None).await?;
            names::check(&all, prefix)?;
            stored::set_prefix(&tx, by.workspace, prefix).await?;
            let event = events::about_extensions(events::EXTENSION_SETTINGS, by.workspace, by.person);
            events::record(&tx, event.with("settings", json!({ "prefix": prefix })), by.now).await?;
            tx.commit().await?;
        }
        Ok(ExtensionSettings { prefix })
    }
}

const NO_VERSION: &str = "expected the semantic version or the digest of a version of this extension";

/// Enables a version in place of the one that is.
async fn switch(tx: Write, by: By, state: State, version: ExtensionVersionRow) -> Result<Extension, ApiError> {
    if state.row.enabled_id == Some(version.id) {
        return Ok(state.show());
    }
    let rows = InWorkspace(by.workspace);
    let mut all = enabled(&tx, rows, Some(&state.row.name)).await?;
    all.push(description(&tx, rows, version.id).await?);
    names::check(&all, stored::prefix(&tx, by.workspace).await?)?;

    let turn = ExtensionVersionChanges { turn: Set(Some(state.next_turn())), ..ExtensionVersionChanges::default() };
    rows.change::<ExtensionVersions>(&tx, version.id, turn).await?;
    let changes = ExtensionChanges {
        enabled_id: Set(Some(version.id)),
        updated_at: Set(by.now.0),
        ..ExtensionChanges::default()
    };
    rows.change::<Extensions>(&tx, state.row.id, changes).await?;
    let previous = state.enabled().map(|version| &version.version);
    let event = about(by, events::EXTENSION_ENABLED, brief(&state.row.name, &version));
    events::record(&tx, event.with("previous_version", json!(previous)), by.now).await?;
    finish(tx, rows, &state.row.name).await
}

/// Commits, and shows the extension as it is now.
async fn finish(tx: Write, rows: InWorkspace, name: &str) -> Result<Extension, ApiError> {
    let shown = load(&tx, rows, name).await?.show();
    tx.commit().await?;
    Ok(shown)
}

async fn record(tx: &Write, by: By, slug: &'static str, about: Value) -> Result<(), ApiError> {
    events::record(tx, self::about(by, slug, about), by.now).await?;
    Ok(())
}

fn about(by: By, slug: &'static str, about: Value) -> Event {
    events::about_extensions(slug, by.workspace, by.person).with("extension", about)
}

/// The enabled extensions of a workspace but one, as they describe themselves.
async fn enabled(tx: &Write, rows: InWorkspace, but: Option<&str>) -> Result<Vec<Description>, ApiError> {
    let mut all = Vec::new();
    for version in stored::enabled(tx, rows.0).await? {
        if but != Some(version.extension.as_str()) {
            all.push(description(tx, rows, version.id).await?);
        }
    }
    Ok(all)
}

async fn description(
    connection: &impl ConnectionTrait,
    rows: InWorkspace,
    version: Uuid,
) -> Result<Description, ApiError> {
    let text = stored::texts(connection, rows.0, version).await?;
    let text = text.ok_or_else(|| ApiError::internal(format!("version {version} of an extension has no texts")))?;
    Description::read(&text.description)
}

/// The extension of this name.
async fn load(connection: &impl ConnectionTrait, rows: InWorkspace, name: &str) -> Result<State, ApiError> {
    let row = rows.find::<Extensions>().filter(ExtensionColumn::Name.eq(name)).one(connection).await?;
    let row = row.ok_or(ApiError::NotFound)?;
    let versions = versions(connection, rows, vec![row.id]).await?;
    Ok(State { row, versions })
}

/// The versions of extensions, in the order in which they were added.
async fn versions(
    connection: &impl ConnectionTrait,
    rows: InWorkspace,
    extensions: Vec<Uuid>,
) -> Result<Vec<ExtensionVersionRow>, ApiError> {
    let found = rows.find::<ExtensionVersions>().filter(ExtensionVersionColumn::ExtensionId.is_in(extensions));
    let found = found.order_by_asc(ExtensionVersionColumn::CreatedAt).order_by_asc(ExtensionVersionColumn::Id);
    Ok(found.all(connection).await?)
}

/// The version of these very bytes, if the workspace has it.
async fn there(
    connection: &impl ConnectionTrait,
    rows: InWorkspace,
    digest: &str,
) -> Result<Option<ExtensionDescription>, ApiError> {
    let found = rows.find::<ExtensionVersions>().filter(ExtensionVersionColumn::Digest.eq(digest));
    let Some(version) = found.one(connection).await? else { return Ok(None) };
    let text = description(connection, rows, version.id).await?;
    let extension = rows.find_by_id::<Extensions>(version.extension_id).one(connection).await?;
    let enabled = extension.is_some_and(|row| row.enabled_id == Some(version.id));
    text.show(show_version(&version), enabled).map(Some)
}

/// Writes a version down, and the extension, where it is the first.
async fn insert(
    tx: &Write,
    by: By,
    inspected: Inspected,
    file: &Staged,
    digest: &str,
) -> Result<ExtensionVersionRow, ApiError> {
    let rows = InWorkspace(by.workspace);
    let extension_id = match load(tx, rows, &inspected.name).await {
        Ok(state) => {
            check_version(&state, &inspected)?;
            let changes = ExtensionChanges { updated_at: Set(by.now.0), ..ExtensionChanges::default() };
            rows.change::<Extensions>(tx, state.row.id, changes).await?;
            state.row.id
        }
        Err(ApiError::NotFound) => first(tx, by, inspected.name).await?,
        Err(error) => return Err(error),
    };
    let version = ExtensionVersionRow {
        id: Uuid::now_v7(),
        workspace_id: by.workspace,
        extension_id,
        version: inspected.version,
        digest: digest.to_owned(),
        size: i64::try_from(file.length()).map_err(ApiError::internal)?,
        turn: None,
        created_at: by.now.0,
        created_by: by.person,
    };
    rows.insert::<ExtensionVersions>(tx, version.clone()).await?;
    let texts = ExtensionTextRow {
        version_id: version.id,
        workspace_id: by.workspace,
        description: inspected.description,
        definitions: inspected.definitions,
    };
    rows.insert::<ExtensionTexts>(tx, texts).await?;
    Ok(version)
}

/// Makes the extension.
async fn first(tx: &Write, by: By, name: String) -> Result<Uuid, ApiError> {
    let rows = InWorkspace(by.workspace);
    if rows.find::<Extensions>().count(tx).await? >= MOST_EXTENSIONS {
        let message = format!("The workspace has {MOST_EXTENSIONS} extensions, which is the most; remove one first.");
        return Err(in_the_way("name", message));
    }
    let id = Uuid::now_v7();
    let (created_at, updated_at) = (by.now.0, by.now.0);
    let row = ExtensionRow { id, workspace_id: rows.0, name, enabled_id: None, created_at, updated_at };
    rows.insert::<Extensions>(tx, row).await?;
    Ok(id)
}

/// Refuses a second component of one version, and one version too many.
fn check_version(state: &State, inspected: &Inspected) -> Result<(), ApiError> {
    let Inspected { name, version, .. } = inspected;
    if state.versions.iter().any(|other| other.version == *version) {
        let message =
            format!("Version {version} of {name} is there with other bytes; give the component another version.");
        return Err(in_the_way("version", message));
    }
    if state.versions.len() >= MOST_VERSIONS {
        let message = format!("{name} has {MOST_VERSIONS} versions, which is the most; remove one first.");
        return Err(in_the_way("version", message));
    }
    Ok(())
}

const fn in_the_way(field: &'static str, message: String) -> ApiError {
    ApiError::InTheWay { field, message }
}

async fn read(file: &Staged) -> Result<Vec<u8>, ApiError> {
    let (mut file, length) = (file.open().await.map_err(unavailable)?, file.length());
    let read = move || {
        let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
        file.read_to_end(&mut bytes).map(|_| bytes)
    };
    tokio::task::spawn_blocking(read).await.map_err(io::Error::other).flatten().map_err(unavailable)
}

/// What is wrong with a component, for whoever brought it. It may be of somebody else's making, so nothing of it reaches a terminal
/// or a log as more than a line of plain text.
fn refusal(error: NotInspected) -> ApiError {
    match error {
        NotInspected::Refused(faults) => {
            let mut problems = Problems::default();
            for fault in faults {
                problems.field(&plain(&fault.field), plain(&fault.message));
            }
            if problems.is_empty() {
                problems.form("the component is no extension");
            }
            ApiError::Invalid(problems)
        }
        NotInspected::Unavailable { retry_after, cause } => {
            ApiError::Unavailable { retry_after, cause: Some(cause.into()) }
        }
    }
}

/// A text of somebody else's making as one line for a terminal: no control characters, nothing that turns the direction of
/// writing, and at most 500 characters.
#[must_use]
pub fn plain(text: &str) -> String {
    let turns = |letter| matches!(letter, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let clipped = text.chars().take(LONGEST_TEXT);
    let plain = clipped.map(|letter: char| if letter.is_control() || turns(letter) { ' ' } else { letter });
    plain.collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::Fault;
    use super::*;

    #[test]
    fn faults_are_lines_of_plain_text() {
        let faults = vec![
            Fault::new("imports", "wasi:sockets/tcp\u{1b}[31m\nis\u{202e} not allowed"),
            Fault::new("describe", "x".repeat(LONGEST_TEXT + 1)),
        ];
        let ApiError::Invalid(problems) = refusal(NotInspected::Refused(faults)) else { panic!("no refusal") };
        let lines: Vec<_> = problems.lines().collect();
        assert_eq!(lines[0], format!("describe: {}", "x".repeat(LONGEST_TEXT)));
        assert_eq!(lines[1], "imports: wasi:sockets/tcp [31m is  not allowed");
    }

    #[test]
    fn a_refusal_without_a_reason_is_one_all_the_same() {
        let ApiError::Invalid(problems) = refusal(NotInspected::Refused(Vec::new())) else { panic!("no refusal") };
        assert_eq!(problems.lines().count(), 1);
    }
}
