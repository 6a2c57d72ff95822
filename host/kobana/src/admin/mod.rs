//! `kobana admin` and `kobana token`: who there is, who may do what, and tokens for scripts. Both work on the data directory
//! itself, whether or not a server runs on it, which sees what changed at its next request.

mod args;
pub(crate) mod find;
mod member;
mod organization;
pub(crate) mod output;
mod password;
mod person;
mod token;
mod workspace;

use std::process::ExitCode;

use kobana_contract::Timestamp;
use kobana_store::sea_orm::DbErr;
use kobana_store::{Location, Store};

pub(crate) use args::{Admin, Place, Token};

use crate::failure::Failure;
use crate::settings::Settings;
use args::AdminCommand;

/// The file whose presence tells that a directory is a data directory.
const DATABASE: &str = "kobana.sqlite";

/// What a command works with.
pub(crate) struct Desk {
    pub(crate) store: Store,
    pub(crate) now: Timestamp,
    /// Whether a machine reads along.
    pub(crate) json: bool,
    /// What is configured.
    pub(crate) settings: Settings,
}

/// `kobana admin`.
pub(crate) fn run(options: &Admin) -> Result<ExitCode, Failure> {
    // The first organization is what a data directory begins with; everything else needs one that is there.
    let begins = matches!(&options.command, AdminCommand::Organization { command } if command.begins());
    work(&options.place, begins, async |desk| match &options.command {
        AdminCommand::Organization { command } => organization::run(desk, command).await,
        AdminCommand::Workspace { command } => workspace::run(desk, command).await,
        AdminCommand::Person { command } => person::run(desk, command).await,
        AdminCommand::Member { command } => member::run(desk, command).await,
    })
}

/// `kobana token`.
pub(crate) fn run_token(options: &Token) -> Result<ExitCode, Failure> {
    work(&options.place, false, async |desk| token::run(desk, &options.command).await)
}

/// Has a command work on the data directory. `begins` says that it may make one.
pub(crate) fn work(
    place: &Place,
    begins: bool,
    command: impl AsyncFnOnce(&Desk) -> Result<(), Failure>,
) -> Result<ExitCode, Failure> {
    let mut settings = Settings::read(place.config.as_deref())?;
    let data = place.data.clone().or_else(|| settings.data.clone()).ok_or_else(|| {
        Failure::Config(
            "data: expected a directory, by --data or in the configuration; a demo in memory is its process's own"
                .to_owned(),
        )
    })?;
    if !begins && !data.join(DATABASE).is_file() {
        return Err(Failure::Admin(format!(
            "{}: holds no database; begin with `kobana admin organization create NAME --data {}`",
            data.display(),
            data.display()
        )));
    }
    settings.data = Some(data.clone());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|cause| Failure::System { what: "cannot start threads", cause })?;
    runtime.block_on(async {
        let store = Store::open(Location::Directory(data)).await?;
        command(&Desk { store, now: Timestamp::now(), json: place.json, settings }).await
    })?;
    Ok(ExitCode::SUCCESS)
}

#[allow(clippy::needless_pass_by_value, reason = "it is what map_err hands over")]
pub(crate) fn database(error: DbErr) -> Failure {
    Failure::Data(error.to_string())
}

/// A name of an organization or a person, or a label: what a person reads, in one line.
fn label(option: &str, text: &str) -> Result<String, Failure> {
    let text = text.trim();
    if (1..=120).contains(&text.chars().count()) && !text.chars().any(char::is_control) {
        Ok(text.to_owned())
    } else {
        Err(Failure::Admin(format!("{option}: expected 1 to 120 characters in one line")))
    }
}
