//! `kobana extension add`, `list`, `show`, `enable`, `disable`, `rollback`, `remove` and `prefix`.

use std::path::PathBuf;
use std::process::ExitCode;

use kobana_api::ApiError;
use kobana_api::extensions::{Added, By, Lifecycle};
use kobana_contract::operations::extensions::Extension;
use kobana_store::directory::Workspace;
use serde_json::{Value, json};

use super::args::{Add, At, Enable, List, Named, Prefix, Remove, Show, Switch};
use super::show;
use crate::admin::{self, Desk, find, output};
use crate::extensions::Extensions;
use crate::failure::Failure;

/// What a command works with.
struct Bench<'a> {
    desk: &'a Desk,
    workspace: Workspace,
    extensions: Lifecycle,
    /// The data directory, where an option named it.
    data: Option<PathBuf>,
}

impl Bench<'_> {
    /// Whoever runs the installation, here and now.
    fn by(&self) -> By {
        By { workspace: self.workspace.id, person: None, now: self.desk.now }
    }

    /// The extension of this name.
    async fn extension(&self, name: &str) -> Result<Extension, Failure> {
        let all = self.extensions.list(self.workspace.id).await.map_err(failed)?;
        let known: Vec<_> = all.iter().map(|extension| extension.name.clone()).collect();
        let missing = || {
            let instead = find::instead(name, &known, "kobana extension add FILE.wasm");
            Failure::Admin(format!("extension {name}: there is none in {}; {instead}", self.workspace.external_id))
        };
        all.into_iter().find(|extension| extension.name == name).ok_or_else(missing)
    }

    /// The version of an extension, as the extension calls it.
    fn version(extension: &Extension, wanted: &str) -> Result<String, Failure> {
        let found = extension.versions.iter().find(|version| version.version == wanted || version.digest == wanted);
        found.map(|version| version.version.clone()).ok_or_else(|| {
            let known: Vec<_> = extension.versions.iter().map(|version| version.version.clone()).collect();
            let instead = find::instead(wanted, &known, "kobana extension add FILE.wasm");
            Failure::Admin(format!("--version {wanted}: {} has none; {instead}", extension.name))
        })
    }

    /// What to type after a command so that it works on the same workspace.
    fn place(&self) -> String {
        let data = self.data.as_ref().map(|data| format!(" --data {}", data.display())).unwrap_or_default();
        format!("--workspace {}{data}", self.workspace.external_id)
    }
}

fn work(at: &At, command: impl AsyncFnOnce(&Bench<'_>) -> Result<(), Failure>) -> Result<ExitCode, Failure> {
    admin::work(&at.place, false, async |desk| {
        let workspace = find::workspace_or_only(desk, at.workspace.as_deref()).await?;
        let inspector = Extensions::of(&desk.settings).inspector();
        let extensions = Lifecycle::new(desk.store.clone(), inspector);
        command(&Bench { desk, workspace, extensions, data: at.place.data.clone() }).await
    })
}

pub(super) fn add(options: &Add) -> Result<ExitCode, Failure> {
    work(&options.at, async |bench| {
        let file = options.file.display();
        let added = bench.extensions.add_file(bench.by(), &options.file).await;
        let Added { description, new } = added.map_err(|error| match error {
            ApiError::Invalid(problems) => {
                let head = format!("{file}: it is not taken, and nothing was changed");
                Failure::Unusable([head].into_iter().chain(problems.lines().map(|line| format!("  {line}"))).collect())
            }
            ApiError::PayloadTooLarge => Failure::Admin(format!("{file}: it has more than 64 MB")),
            ApiError::Unavailable { cause: Some(cause), .. } => Failure::Admin(format!("{file}: {cause}")),
            other => Failure::Admin(format!("{file}: {other}")),
        })?;
        let (name, version) = (&description.name, &description.version.version);
        if options.enable {
            bench.extensions.enable(bench.by(), name, Some(version)).await.map_err(|error| {
                let kept = if new { "is added but not enabled" } else { "is there but not enabled" };
                Failure::Admin(format!("{name} {version} {kept}: {error}"))
            })?;
        }
        let offers = show::count(&description);
        let place = &bench.workspace.external_id;
        let sentence = match (new, options.enable) {
            (true, true) => format!("Added and enabled {name} {version} in {place}: {offers}"),
            (true, false) => format!("Added {name} {version} to {place}: {offers}"),
            (false, true) => format!("{name} {version} is there already, and enabled in {place}: {offers}"),
            (false, false) => format!("{name} {version} is there already in {place}: {offers}"),
        };
        let enabled = options.enable || description.enabled;
        let mut value = json!(description);
        if let Some(members) = value.as_object_mut() {
            members.insert("enabled".to_owned(), Value::Bool(enabled));
            members.insert("new".to_owned(), Value::Bool(new));
        }
        output::done(bench.desk, &sentence, &value);
        if !enabled && !bench.desk.json {
            let latest = format!("kobana extension enable {name} --version {version} {}", bench.place());
            output::note(&format!("callers see it once it is enabled: `{latest}`"));
        }
        Ok(())
    })
}

pub(super) fn list(options: &List) -> Result<ExitCode, Failure> {
    work(&options.at, async |bench| {
        let all = bench.extensions.list(bench.workspace.id).await.map_err(failed)?;
        let headings = ["NAME", "ENABLED", "ROLLBACK", "VERSIONS", "CHANGED"];
        output::list(bench.desk, headings, all.iter().map(|extension| (show::cells(extension), json!(extension))));
        Ok(())
    })
}

pub(super) fn show(options: &Show) -> Result<ExitCode, Failure> {
    work(&options.at, async |bench| {
        let extension = bench.extension(&options.name).await?;
        let last = extension.versions.last().map(|version| version.version.clone());
        let shown = match &options.version {
            Some(wanted) => Bench::version(&extension, wanted)?,
            None => extension.enabled_version.clone().or(last).unwrap_or_default(),
        };
        let described = bench.extensions.describe(bench.workspace.id, &extension.name, &shown).await;
        let described = described.map_err(failed)?;
        let settings = bench.extensions.settings(bench.workspace.id).await.map_err(failed)?;
        if bench.desk.json {
            output::json(&json!({ "extension": extension, "version": described, "settings": settings }));
            return Ok(());
        }
        show::page(bench.desk, &extension, &described, settings.prefix).await
    })
}

pub(super) fn enable(options: &Enable) -> Result<ExitCode, Failure> {
    work(&options.at, async |bench| {
        let extension = bench.extension(&options.name).await?;
        let version = match &options.version {
            Some(wanted) => Some(Bench::version(&extension, wanted)?),
            None => None,
        };
        let now = bench.extensions.enable(bench.by(), &extension.name, version.as_deref()).await;
        let now = now.map_err(|error| refused(&extension.name, &error))?;
        enabled(bench, &extension, &now);
        Ok(())
    })
}

pub(super) fn roll_back(options: &Named) -> Result<ExitCode, Failure> {
    work(&options.at, async |bench| {
        let extension = bench.extension(&options.name).await?;
        let now = bench.extensions.roll_back(bench.by(), &extension.name).await;
        let now = now.map_err(|error| refused(&extension.name, &error))?;
        enabled(bench, &extension, &now);
        Ok(())
    })
}

/// Says what is enabled now, and what was.
fn enabled(bench: &Bench<'_>, before: &Extension, now: &Extension) {
    let (name, place) = (&now.name, &bench.workspace.external_id);
    let version = now.enabled_version.as_deref().unwrap_or_default();
    let sentence = match &before.enabled_version {
        Some(old) if old == version => format!("{name} {version} is enabled in {place} already"),
        Some(old) => format!("{name} {version} is enabled in {place} in place of {old}"),
        None => format!("{name} {version} is enabled in {place}"),
    };
    output::done(bench.desk, &sentence, &json!(now));
}

pub(super) fn disable(options: &Named) -> Result<ExitCode, Failure> {
    work(&options.at, async |bench| {
        let before = bench.extension(&options.name).await?;
        let now = bench.extensions.disable(bench.by(), &before.name).await;
        let now = now.map_err(|error| refused(&before.name, &error))?;
        let (name, place) = (&now.name, &bench.workspace.external_id);
        let sentence = match before.enabled_version {
            Some(version) => format!("{name} is disabled in {place}; it was {version}"),
            None => format!("{name} is disabled in {place} already"),
        };
        output::done(bench.desk, &sentence, &json!(now));
        Ok(())
    })
}

pub(super) fn remove(options: &Remove) -> Result<ExitCode, Failure> {
    work(&options.at, async |bench| {
        let extension = bench.extension(&options.name).await?;
        let (name, place) = (&extension.name, &bench.workspace.external_id);
        let version = match &options.version {
            Some(wanted) => Some(Bench::version(&extension, wanted)?),
            None => None,
        };
        bench.extensions.remove(bench.by(), name, version.as_deref()).await.map_err(|error| match error {
            ApiError::InTheWay { .. } => {
                let why = error.to_string();
                let why = why.trim_end_matches('.');
                Failure::Admin(format!("{why}, with `kobana extension disable {name} {}`", bench.place()))
            }
            other => refused(name, &other),
        })?;
        let gone: Vec<_> = match version {
            Some(version) => vec![version],
            None => extension.versions.iter().map(|version| version.version.clone()).collect(),
        };
        let sentence = format!("Removed {name} {} from {place}", gone.join(", "));
        output::done(bench.desk, &sentence, &json!({ "name": name, "removed": gone }));
        Ok(())
    })
}

pub(super) fn prefix(options: &Prefix) -> Result<ExitCode, Failure> {
    work(&options.at, async |bench| {
        let settings = match options.switch {
            Some(switch) => bench.extensions.set_prefix(bench.by(), switch == Switch::On).await,
            None => bench.extensions.settings(bench.workspace.id).await,
        };
        let settings = settings.map_err(|error| refused("prefix off", &error))?;
        let sentence = match settings.prefix {
            true => "callers see tools and prompts of extensions as ext.EXTENSION.NAME",
            false => "callers see tools and prompts of extensions without a prefix",
        };
        output::done(bench.desk, &format!("In {} {sentence}", bench.workspace.external_id), &json!(settings));
        Ok(())
    })
}

/// What was asked for cannot be done, and the API says why.
fn refused(what: &str, error: &ApiError) -> Failure {
    match error {
        ApiError::Invalid(problems) => {
            Failure::Unusable(problems.lines().map(|line| format!("{what}: {line}")).collect())
        }
        other => failure(other),
    }
}

#[allow(clippy::needless_pass_by_value, reason = "it is what map_err hands over")]
fn failed(error: ApiError) -> Failure {
    failure(&error)
}

/// What has nothing to do with what was asked for.
fn failure(error: &ApiError) -> Failure {
    match error {
        ApiError::Internal(cause) | ApiError::Unavailable { cause: Some(cause), .. } => {
            Failure::Data(cause.to_string())
        }
        other => Failure::Admin(other.to_string()),
    }
}
