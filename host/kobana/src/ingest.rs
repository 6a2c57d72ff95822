//! `kobana ingest`: hands messages in files in, as if they had arrived at an inbox's address. It works on the data directory
//! itself, whether or not a server runs on it; the worker of that server goes on from there.

use std::path::Path;
use std::process::ExitCode;

use kobana_api::ApiError;
use kobana_api::intake::Intake;
use kobana_api::worker::Wake;
use kobana_store::rows::InboxRow;
use kobana_store::{Location, Store, operator};

use crate::cli;
use crate::failure::Failure;
use crate::settings::Settings;

/// Takes the files in, and says of each what became of it. Success means that the inbox holds all of them now.
pub(crate) fn run(options: &cli::Ingest) -> Result<ExitCode, Failure> {
    let settings = Settings::read(options.config.as_deref())?;
    let data = options.data.clone().or(settings.data).ok_or_else(|| {
        Failure::Config(
            "data: expected a directory, by --data or in the configuration; a demo in memory is its process's own"
                .to_owned(),
        )
    })?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|cause| Failure::System { what: "cannot start threads", cause })?;
    runtime.block_on(ingest(options, Location::Directory(data)))
}

async fn ingest(options: &cli::Ingest, location: Location) -> Result<ExitCode, Failure> {
    let store = Store::open(location).await?;
    let inbox = find(&store, options).await?;
    let intake = Intake::new(store, Wake::default());
    let mut missing = 0_usize;
    for file in &options.files {
        missing += usize::from(!take(&intake, &inbox, file).await);
    }
    if missing > 0 {
        eprintln!("kobana: {missing} of {} files were not taken in", options.files.len());
    }
    Ok(if missing == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Answers whether the inbox holds the message now.
async fn take(intake: &Intake, inbox: &InboxRow, file: &Path) -> bool {
    let name = file.display();
    match intake.file(inbox, file).await {
        Ok(taken) => {
            println!("{name}: taken in as {} {}", taken.id, taken.message_id);
            true
        }
        Err(ApiError::Conflict { .. }) => {
            println!("{name}: already there, the inbox holds its Message-ID");
            true
        }
        Err(error) => {
            eprintln!("{name}: not taken in, {}", reason(&error));
            false
        }
    }
}

fn reason(error: &ApiError) -> String {
    match error {
        ApiError::Invalid(_) => "it is no message in the form of RFC 5322".to_owned(),
        ApiError::PayloadTooLarge => "it has more than 40 MB".to_owned(),
        ApiError::Unavailable { cause: Some(cause), .. } => cause.to_string(),
        ApiError::Internal(cause) => cause.to_string(),
        other => other.to_string(),
    }
}

async fn find(store: &Store, options: &cli::Ingest) -> Result<InboxRow, Failure> {
    let database = |error: kobana_store::sea_orm::DbErr| Failure::Data(error.to_string());
    let workspace = match &options.workspace {
        None => None,
        Some(name) => {
            let found = operator::workspaces(store.reads(), name).await.map_err(database)?;
            Some(only(found, "--workspace", name, "its UUID")?.id)
        }
    };
    let found = operator::inboxes(store.reads(), &options.inbox, workspace).await.map_err(database)?;
    only(found, "--inbox", &options.inbox, "--workspace, its UUID or its address")
}

/// The one that is meant.
fn only<T>(found: Vec<T>, option: &str, name: &str, better: &str) -> Result<T, Failure> {
    let several = found.len() > 1;
    match found.into_iter().next() {
        Some(_) if several => Err(Failure::Config(format!("{option} {name}: there are several; name it by {better}"))),
        Some(one) => Ok(one),
        None => Err(Failure::Config(format!("{option} {name}: there is none"))),
    }
}
