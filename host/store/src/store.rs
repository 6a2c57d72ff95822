//! Opening the database, reading from it and writing to it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use sea_orm::{
    ConnectOptions, ConnectionTrait, Database, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, RuntimeErr,
    SqliteTransactionMode, TransactionOptions, TransactionTrait,
};
use sea_orm_migration::MigratorTrait;
use thiserror::Error;
use uuid::Uuid;

use crate::blobs::{self, Blobs};
use crate::migration::Migrator;
use crate::watch::Watch;

/// A transaction that may write. Dropping it without `commit` undoes it.
pub type Write = DatabaseTransaction;

/// Connections that read at the same time.
const READERS: u32 = 4;
/// How long a connection waits for another process that writes to the same file.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a request waits for a free connection before it counts as unavailable.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);
/// The file in the data directory.
const FILE_NAME: &str = "kobana.sqlite";

/// Where the database lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// In this process's memory; it ends with the last clone of the [`Store`].
    Memory,
    /// In the file `kobana.sqlite` of this directory, which is made if it is missing.
    Directory(PathBuf),
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Memory => f.write_str("the database in memory"),
            Self::Directory(path) => write!(f, "the database {}", path.join(FILE_NAME).display()),
        }
    }
}

/// Why the database could not be opened.
#[derive(Debug, Error)]
pub enum OpenError {
    /// The data directory is missing and cannot be made.
    #[error("cannot make the data directory {path}: {source}", path = path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The directory of raw messages is missing and cannot be made.
    #[error("cannot make the directory of raw messages for {location}: {source}")]
    Blobs {
        /// Where the database is.
        location: Location,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The file cannot be opened, or is no database.
    #[error("cannot open {location}: {source}")]
    Connect {
        /// Where it was looked for.
        location: Location,
        /// What the database said.
        source: DbErr,
    },
    /// Its tables cannot be brought up to date.
    #[error("cannot bring the tables of {location} up to date: {source}")]
    Migrate {
        /// Where the database is.
        location: Location,
        /// What the database said.
        source: DbErr,
    },
}

/// The database. Clones share its connections.
///
/// Reads come from a pool. Writes go through one connection, in transactions that take the write lock at once
/// (`BEGIN IMMEDIATE`): SQLite has one writer anyway, and waiting in our own queue neither starves nor fails, while a
/// transaction that turns from reading to writing halfway can be refused. Other processes on the same file are waited
/// for through the busy timeout.
#[derive(Debug, Clone)]
pub struct Store {
    readers: DatabaseConnection,
    writer: DatabaseConnection,
    watch: Arc<Watch>,
    blobs: Blobs,
}

impl Store {
    /// Opens the database and brings its tables up to date.
    ///
    /// # Errors
    /// [`OpenError`] says which step failed, where and why.
    pub async fn open(location: Location) -> Result<Self, OpenError> {
        if let Location::Directory(path) = &location {
            blobs::directory(path).map_err(|source| OpenError::Directory { path: path.clone(), source })?;
        }
        let file = DatabaseFile::of(&location);
        let url = file.url();
        let connect = async |connections| {
            let opened = Database::connect(options(&url, &location, connections)).await;
            opened.map_err(|source| OpenError::Connect { location: location.clone(), source })
        };
        // The writer first: it makes the file, and keeps a database in memory alive.
        let writer = connect(1).await?;
        migrate(&writer, &location)
            .await
            .map_err(|source| OpenError::Migrate { location: location.clone(), source })?;
        let optimized = optimize(&writer, EVERY_TABLE).await;
        optimized.map_err(|source| OpenError::Connect { location: location.clone(), source })?;
        let readers = connect(READERS).await?;
        let look = file.open().map_err(|error| DbErr::Conn(RuntimeErr::Internal(error.to_string())));
        let look = look.map_err(|source| OpenError::Connect { location: location.clone(), source })?;
        let watch = Arc::new(Watch::new(look));
        let blobs = Blobs::open(&location).map_err(|source| OpenError::Blobs { location, source })?;
        Ok(Self { readers, writer, watch, blobs })
    }

    /// A connection for reading. Nothing stops a statement that writes here but the rule that all writing goes through
    /// [`Store::begin`]; this crate offers no way to write tenant rows without a [`Write`].
    #[must_use]
    pub const fn reads(&self) -> &DatabaseConnection {
        &self.readers
    }

    /// Begins a transaction that may write, after those that asked before.
    ///
    /// # Errors
    /// When the database is out of reach, or another process keeps it locked.
    pub async fn begin(&self) -> Result<Write, DbErr> {
        let mode = Some(SqliteTransactionMode::Immediate);
        self.writer.begin_with_options(TransactionOptions { sqlite_transaction_mode: mode, ..Default::default() }).await
    }

    /// Sees whether something was committed.
    pub(crate) fn watch(&self) -> &Watch {
        &self.watch
    }

    /// The files that raw messages are in.
    #[must_use]
    pub const fn blobs(&self) -> &Blobs {
        &self.blobs
    }

    /// Lets the database count its rows where they have changed a lot, so that of two filters it looks up the one that
    /// leaves fewer. It is done at every start; a server that runs for weeks does well to repeat it now and then.
    ///
    /// # Errors
    /// What the database answers.
    pub async fn optimize(&self) -> Result<(), DbErr> {
        optimize(&self.writer, CHANGED_TABLES).await
    }

    /// Whether the database answers.
    ///
    /// # Errors
    /// When it does not.
    pub async fn ping(&self) -> Result<(), DbErr> {
        self.readers.ping().await
    }
}

/// SQLite's advice for a connection that was just opened, and for one that has been open for long.
const EVERY_TABLE: &str = "PRAGMA optimize=0x10002";
const CHANGED_TABLES: &str = "PRAGMA optimize";

/// Brings the tables to the form that this version knows. On a disk that is worth a line in the log.
async fn migrate(writer: &DatabaseConnection, location: &Location) -> Result<(), DbErr> {
    let pending = Migrator::get_pending_migrations(writer).await?.len();
    if let (Location::Directory(directory), 1..) = (location, pending) {
        tracing::info!(directory = %directory.display(), steps = pending, "the database is brought to this version's form");
    }
    Migrator::up(writer, None).await
}

async fn optimize(connection: &DatabaseConnection, pragma: &str) -> Result<(), DbErr> {
    // Postgres keeps its own statistics.
    if connection.get_database_backend() == DbBackend::Sqlite {
        connection.execute_unprepared(pragma).await?;
    }
    Ok(())
}

/// What SQLite opens.
struct DatabaseFile {
    path: PathBuf,
    /// The file system that it is in, where that is not the operating system's.
    vfs: Option<&'static str>,
}

impl DatabaseFile {
    fn of(location: &Location) -> Self {
        match location {
            // The `memdb` file system is shared by name between the connections of a process, and locks like a file, so
            // that waiting for a lock works; SQLite's older shared cache answers SQLITE_LOCKED at once.
            Location::Memory => {
                Self { path: format!("/kobana-{}", Uuid::now_v7().simple()).into(), vfs: Some("memdb") }
            }
            Location::Directory(path) => Self { path: path.join(FILE_NAME), vfs: None },
        }
    }

    fn url(&self) -> String {
        let vfs = self.vfs.map(|vfs| format!("&vfs={vfs}")).unwrap_or_default();
        format!("sqlite://{}?mode=rwc{vfs}", percent(&self.path))
    }

    /// A connection for the calling thread, which answers at once that the file is locked. It may write like the others, and never
    /// does but once: the last connection that is closed clears the write-ahead log away.
    fn open(&self) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = match self.vfs {
            Some(vfs) => Connection::open_with_flags_and_vfs(&self.path, flags, vfs)?,
            None => Connection::open_with_flags(&self.path, flags)?,
        };
        connection.busy_timeout(Duration::ZERO)?;
        Ok(connection)
    }
}

/// A path as part of a URL, where `?`, `#` and `%` would mean something else.
fn percent(path: &Path) -> String {
    path.to_string_lossy().replace('%', "%25").replace('?', "%3F").replace('#', "%23")
}

fn options(url: &str, location: &Location, connections: u32) -> ConnectOptions {
    let mut options = ConnectOptions::new(url);
    let in_file = matches!(location, Location::Directory(_));
    options
        .max_connections(connections)
        .min_connections(1)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .idle_timeout(None)
        .max_lifetime(None)
        .test_before_acquire(false)
        // Statements would show mail content in the log.
        .sqlx_logging(false)
        .map_sqlx_sqlite_opts(move |sqlite| {
            let sqlite = sqlite.busy_timeout(BUSY_TIMEOUT).foreign_keys(true).pragma("synchronous", "NORMAL");
            if in_file { sqlite.pragma("journal_mode", "WAL") } else { sqlite }
        });
    options
}
