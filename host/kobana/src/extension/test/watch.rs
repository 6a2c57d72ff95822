//! Runs again whenever the component or the cases change.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use notify::{Event, EventKind, RecursiveMode, Watcher as _};
use sha2::{Digest as _, Sha256};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::timeout;

use super::subject::{Bench, Subject};
use super::{Test, once, read};
use crate::failure::Failure;

/// How long nothing may change before it counts as all written.
const SETTLED: Duration = Duration::from_millis(150);

/// Runs, waits for a change, and runs again, until somebody presses Ctrl-C.
pub(super) async fn run(options: &Test, bench: Bench) -> Result<ExitCode, Failure> {
    let files: Vec<_> = [Some(&options.component), options.cases.as_ref()].into_iter().flatten().cloned().collect();
    let (sender, mut changes) = unbounded_channel();
    let names: Vec<_> = files.iter().filter_map(|file| file.file_name().map(OsStr::to_owned)).collect();
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        if event.is_ok_and(|event| concerns(&event, &names)) {
            // Nobody waits any more when the run is over.
            let _ = sender.send(());
        }
    })
    .map_err(cannot_watch)?;
    for directory in directories(&files) {
        // Many editors write another file and give it the name, so that watching the file itself would lose it.
        watcher.watch(&directory, RecursiveMode::NonRecursive).map_err(cannot_watch)?;
    }
    // It is listened for from now on, so that none is lost between two runs.
    let mut interrupted = signal(SignalKind::interrupt())
        .map_err(|cause| Failure::System { what: "cannot listen for signals", cause })?;
    tokio::select! {
        () = rounds(options, &bench, &files, &mut changes) => {}
        _ = interrupted.recv() => {}
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs, and runs again after each change.
async fn rounds(options: &Test, bench: &Bench, files: &[PathBuf], changes: &mut UnboundedReceiver<()>) {
    let mut loaded = None;
    loop {
        separate();
        if let Err(failure) = round(options, bench, &mut loaded).await {
            eprintln!("{}: {failure}", env!("CARGO_BIN_NAME"));
        }
        eprintln!("\nwaiting for a change of {}; Ctrl-C ends", named(files));
        if !settled(changes).await {
            return;
        }
    }
}

/// The component that was loaded, by its digest.
type Loaded = Option<([u8; 32], Subject)>;

/// Runs once; the component is compiled again only if its bytes have changed.
async fn round(options: &Test, bench: &Bench, loaded: &mut Loaded) -> Result<(), Failure> {
    let bytes = read(&options.component)?;
    let digest: [u8; 32] = Sha256::digest(&bytes).into();
    if loaded.as_ref().is_none_or(|(known, _)| *known != digest) {
        *loaded = None;
        *loaded = Some((digest, bench.load(bytes, &options.component).await?));
    }
    if let Some((_, subject)) = loaded {
        once(options, subject).await?;
    }
    Ok(())
}

/// Whether something was written that is one of the files.
fn concerns(event: &Event, names: &[std::ffi::OsString]) -> bool {
    let read =
        matches!(event.kind, EventKind::Access(notify::event::AccessKind::Open(_) | notify::event::AccessKind::Read));
    let ours = |path: &PathBuf| path.file_name().is_some_and(|name| names.iter().any(|ours| ours == name));
    !read && event.paths.iter().any(ours)
}

/// Waits for a change, and until nothing changes any more; false when there will be none.
async fn settled(changes: &mut UnboundedReceiver<()>) -> bool {
    if changes.recv().await.is_none() {
        return false;
    }
    while let Ok(Some(())) = timeout(SETTLED, changes.recv()).await {}
    true
}

fn directories(files: &[PathBuf]) -> Vec<PathBuf> {
    let parent = |file: &PathBuf| match file.parent() {
        Some(directory) if directory != Path::new("") => directory.to_owned(),
        _ => PathBuf::from("."),
    };
    let mut directories: Vec<_> = files.iter().map(parent).collect();
    directories.sort();
    directories.dedup();
    directories
}

fn named(files: &[PathBuf]) -> String {
    files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(" or ")
}

/// A line between one run and the next.
fn separate() {
    let now = kobana_contract::Timestamp::now().to_string();
    let line = format!("──── {} {}", now.get(11..19).unwrap_or(&now), "─".repeat(60));
    // Whoever closed standard output does not want to read it.
    let _ = writeln!(std::io::stdout(), "{line}\n");
}

#[allow(clippy::needless_pass_by_value, reason = "it is what map_err hands over")]
fn cannot_watch(error: notify::Error) -> Failure {
    Failure::System { what: "cannot watch the files", cause: std::io::Error::other(error.to_string()) }
}
