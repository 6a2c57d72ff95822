//! Where raw messages live: one file each, beside the database, under the opaque name that its row keeps.
//!
//! A message is first staged: written to a file of its own as it comes, with a digest over it, and forgotten again
//! unless it is kept. Keeping makes it durable (its bytes, then its name) before anybody refers to it. Nothing here holds
//! a message in memory as a whole.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use tempfile::TempDir;
use uuid::Uuid;

use crate::Location;

/// Where staged files are, below the root.
const STAGING: &str = "staging";
/// A staged file this old belongs to a process that died. Another process may be writing a younger one right now.
const FORGOTTEN: Duration = Duration::from_secs(24 * 60 * 60);
/// Bytes that are gathered before they are written.
const CHUNK: usize = 256 * 1024;

/// The files. Clones share them.
#[derive(Debug, Clone)]
pub struct Blobs {
    root: Arc<Root>,
}

/// A directory that stays, or one that goes with the process.
#[derive(Debug)]
enum Root {
    Kept(PathBuf),
    Private(TempDir),
}

impl Root {
    fn path(&self) -> &Path {
        match self {
            Self::Kept(path) => path,
            Self::Private(directory) => directory.path(),
        }
    }
}

impl Blobs {
    /// The files that belong to a database: in its directory, or in a private one that is removed with the last clone.
    ///
    /// # Errors
    /// When the directory cannot be made.
    pub fn open(location: &Location) -> io::Result<Self> {
        let root = match location {
            Location::Directory(path) => Root::Kept(path.join("blobs")),
            Location::Memory => Root::Private(tempfile::Builder::new().prefix("kobana-").tempdir()?),
        };
        let staging = root.path().join(STAGING);
        directory(&staging)?;
        clear(&staging)?;
        Ok(Self { root: Arc::new(root) })
    }

    /// A new file, to be written bit by bit.
    ///
    /// # Errors
    /// When it cannot be made.
    pub async fn stage(&self) -> io::Result<Staging> {
        let path = self.root.path().join(STAGING).join(Uuid::now_v7().simple().to_string());
        let made = path.clone();
        let file = blocking(move || private().create_new(true).open(made)).await?;
        let unkept = Unkept { path, root: Arc::clone(&self.root) };
        Ok(Staging { file: Some(file), unkept, buffer: Vec::new(), digest: Sha256::new(), length: 0 })
    }

    /// Keeps a staged file under a name, durably. The name must be free.
    ///
    /// # Errors
    /// When the system cannot, or when the name is none.
    pub async fn keep(&self, staged: Staged, key: &str) -> io::Result<()> {
        let to = self.path(key)?;
        blocking(move || {
            let parent = to.parent().ok_or(io::ErrorKind::InvalidInput)?;
            directory(parent)?;
            std::fs::rename(&staged.unkept.path, &to)?;
            // The name is as durable as the bytes only once its directory is written too.
            File::open(parent)?.sync_all()
        })
        .await
    }

    /// Writes a file at once, if there is none of this name, without waiting for it to be durable.
    ///
    /// # Errors
    /// When the system cannot, or when the name is none.
    pub fn put_if_absent(&self, key: &str, content: impl FnOnce() -> Vec<u8>) -> io::Result<()> {
        let to = self.path(key)?;
        if to.exists() {
            return Ok(());
        }
        directory(to.parent().ok_or(io::ErrorKind::InvalidInput)?)?;
        let staged = self.root.path().join(STAGING).join(Uuid::now_v7().simple().to_string());
        private().create_new(true).open(&staged)?.write_all(&content())?;
        std::fs::rename(staged, to)
    }

    /// Opens a file for reading, and answers its length in bytes too; none if there is none.
    ///
    /// # Errors
    /// When the system cannot, or when the name is none.
    pub async fn open_file(&self, key: &str) -> io::Result<Option<(File, u64)>> {
        let path = self.path(key)?;
        blocking(move || match File::open(path) {
            Ok(file) => file.metadata().map(|about| Some((file, about.len()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        })
        .await
    }

    /// Removes a file that nobody refers to.
    ///
    /// # Errors
    /// When the system cannot, or when the name is none.
    pub async fn remove(&self, key: &str) -> io::Result<()> {
        let path = self.path(key)?;
        blocking(move || match std::fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        })
        .await
    }

    /// The path of a name: plain segments only, so that no name leads out of the directory.
    fn path(&self, key: &str) -> io::Result<PathBuf> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let is_segment = |part: &str| !part.is_empty() && !part.starts_with('.') && part.bytes().all(plain);
        match key.split('/').all(is_segment) && key.len() <= 255 && !key.starts_with(STAGING) {
            true => Ok(self.root.path().join(key)),
            false => Err(io::Error::new(io::ErrorKind::InvalidInput, "this is no name of a stored file")),
        }
    }
}

/// A file that is being written.
#[derive(Debug)]
pub struct Staging {
    file: Option<File>,
    unkept: Unkept,
    buffer: Vec<u8>,
    digest: Sha256,
    length: u64,
}

impl Staging {
    /// Adds bytes.
    ///
    /// # Errors
    /// When the system cannot.
    pub async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.digest.update(bytes);
        self.length = self.length.saturating_add(bytes.len() as u64);
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= CHUNK { self.flush(false).await } else { Ok(()) }
    }

    /// How many bytes came so far.
    #[must_use]
    pub const fn length(&self) -> u64 {
        self.length
    }

    /// Ends it, its bytes durable.
    ///
    /// # Errors
    /// When the system cannot.
    pub async fn end(mut self) -> io::Result<Staged> {
        self.flush(true).await?;
        let digest = self.digest.finalize().into();
        Ok(Staged { unkept: self.unkept, digest, length: self.length })
    }

    async fn flush(&mut self, durable: bool) -> io::Result<()> {
        let (buffer, file) = (std::mem::take(&mut self.buffer), self.file.take());
        let mut file = file.ok_or_else(|| io::Error::other("an earlier write to this file failed"))?;
        let written = blocking(move || {
            file.write_all(&buffer)?;
            if durable {
                file.sync_all()?;
            }
            Ok(file)
        });
        self.file = Some(written.await?);
        Ok(())
    }
}

/// A whole file that nobody refers to yet. Dropping it removes it.
#[derive(Debug)]
pub struct Staged {
    unkept: Unkept,
    digest: [u8; 32],
    length: u64,
}

impl Staged {
    /// SHA-256 of its bytes.
    #[must_use]
    pub const fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// How many bytes it has.
    #[must_use]
    pub const fn length(&self) -> u64 {
        self.length
    }

    /// Opens it for reading.
    ///
    /// # Errors
    /// When the system cannot.
    pub async fn open(&self) -> io::Result<File> {
        let path = self.unkept.path.clone();
        blocking(move || File::open(path)).await
    }
}

/// Removes the staged file, if it is still where it was staged.
#[derive(Debug)]
struct Unkept {
    path: PathBuf,
    /// Keeps a private directory from going first.
    root: Arc<Root>,
}

impl Drop for Unkept {
    fn drop(&mut self) {
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(%error, root = %self.root.path().display(), "a staged file could not be removed");
            }
            _ => {}
        }
    }
}

/// Mail is nobody else's business: owner only.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600);
    options
}

/// Makes a directory that is its owner's alone; one that is there stays as it is.
pub(crate) fn directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Removes what processes that died left behind.
fn clear(staging: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(staging)? {
        let entry = entry?;
        // Whatever is gone already, or younger by a clock that was set, is left alone.
        let modified = entry.metadata().and_then(|about| about.modified()).ok();
        if modified.and_then(|time| time.elapsed().ok()).is_some_and(|age| age > FORGOTTEN) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
    Ok(())
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)?
}
