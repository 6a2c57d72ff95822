//! Extensions of workspaces: which are enabled, and where their components are.
//!
//! A version is a row that only its turn changes, with texts that never change and a file that is named by its digest. Several
//! versions of several workspaces share the file of one component. Rows are read and written through [`crate::Scope`] as
//! others are; here is what goes beyond that.

use std::io::{self, Read as _};

use sea_orm::{
    ColumnTrait, ConnectionTrait, DbErr, EntityTrait, FromQueryResult, PaginatorTrait, QueryFilter, QuerySelect,
    Statement,
};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::blobs::{Blobs, Staged};
use crate::entity::{extension_versions, extensions};
use crate::rows::{ExtensionTextRow, ExtensionTexts, ExtensionVersions};
use crate::{InWorkspace, Scope as _, Store, Write};

/// The enabled version of an extension.
#[derive(Debug, Clone, PartialEq, Eq, FromQueryResult)]
pub struct Enabled {
    /// UUID of the version.
    pub id: Uuid,
    /// The extension's name.
    pub extension: String,
    /// The semantic version.
    pub version: String,
    /// SHA-256 of the component in lower-case hexadecimal.
    pub digest: String,
    /// Whether names carry a prefix in this workspace.
    pub prefix: bool,
}

/// The enabled extensions of a workspace, by name.
///
/// # Errors
/// What the database answers.
pub async fn enabled(connection: &impl ConnectionTrait, workspace: Uuid) -> Result<Vec<Enabled>, DbErr> {
    const SQL: &str = "SELECT v.id, e.name AS extension, v.version, v.digest, w.extension_prefix AS prefix \
        FROM extensions e JOIN extension_versions v ON v.id = e.enabled_id JOIN workspaces w ON w.id = e.workspace_id \
        WHERE e.workspace_id = $1 AND e.enabled_id IS NOT NULL ORDER BY e.name";
    let backend = connection.get_database_backend();
    let statement = Statement::from_sql_and_values(backend, SQL, [workspace.into()]);
    Enabled::find_by_statement(statement).all(connection).await
}

/// What a version says of itself. It never changes, so whoever has read it may keep it.
///
/// # Errors
/// What the database answers.
pub async fn texts(
    connection: &impl ConnectionTrait,
    workspace: Uuid,
    version: Uuid,
) -> Result<Option<ExtensionTextRow>, DbErr> {
    InWorkspace(workspace).find_by_id::<ExtensionTexts>(version).one(connection).await
}

/// Whether names of extensions carry a prefix in a workspace.
///
/// # Errors
/// What the database answers.
pub async fn prefix(connection: &impl ConnectionTrait, workspace: Uuid) -> Result<bool, DbErr> {
    let sql = "SELECT extension_prefix FROM workspaces WHERE id = $1";
    let statement = Statement::from_sql_and_values(connection.get_database_backend(), sql, [workspace.into()]);
    let row = connection.query_one_raw(statement).await?;
    row.map_or(Ok(true), |row| row.try_get_by_index(0))
}

/// Says whether names of extensions carry a prefix in a workspace.
///
/// # Errors
/// What the database answers.
pub async fn set_prefix(tx: &Write, workspace: Uuid, prefix: bool) -> Result<(), DbErr> {
    let sql = "UPDATE workspaces SET extension_prefix = $1 WHERE id = $2";
    let statement = Statement::from_sql_and_values(tx.get_database_backend(), sql, [prefix.into(), workspace.into()]);
    tx.execute_raw(statement).await.map(|_| ())
}

/// Removes an extension of a workspace with all its versions.
///
/// # Errors
/// What the database answers.
pub async fn remove(tx: &Write, rows: InWorkspace, extension: Uuid) -> Result<(), DbErr> {
    let row = extensions::Entity::delete_many().filter(extensions::Column::WorkspaceId.eq(rows.tenant()));
    row.filter(extensions::Column::Id.eq(extension)).exec(tx).await.map(|_| ())
}

/// Removes all extensions of a workspace, and answers the digests of their components, for [`sweep`].
///
/// # Errors
/// What the database answers.
pub async fn remove_all(tx: &Write, rows: InWorkspace) -> Result<Vec<String>, DbErr> {
    let digests = rows.find::<ExtensionVersions>().select_only().column(extension_versions::Column::Digest).distinct();
    let digests = digests.into_tuple().all(tx).await?;
    let row = extensions::Entity::delete_many().filter(extensions::Column::WorkspaceId.eq(rows.tenant()));
    row.exec(tx).await?;
    Ok(digests)
}

/// Removes a version of a workspace's extension.
///
/// # Errors
/// What the database answers.
pub async fn remove_version(tx: &Write, rows: InWorkspace, version: Uuid) -> Result<(), DbErr> {
    use extension_versions::{Column, Entity};
    let row = Entity::delete_many().filter(Column::WorkspaceId.eq(rows.tenant())).filter(Column::Id.eq(version));
    row.exec(tx).await.map(|_| ())
}

/// Keeps the file of a component, unless it is there. Call it in the transaction that writes the version's row: nobody removes the
/// file meanwhile.
///
/// # Errors
/// When the system cannot.
pub async fn keep(_tx: &Write, blobs: &Blobs, file: Staged, digest: &str) -> io::Result<()> {
    // One that is cut short, say by a disk that was full, is replaced.
    match blobs.open_file(&key(digest)).await? {
        Some((_, length)) if length == file.length() => Ok(()),
        _ => blobs.keep(file, &key(digest)).await,
    }
}

/// Removes the files of those components that no version of any workspace has any more. A file that cannot be removed is left
/// where it is, with a line in the log.
///
/// # Errors
/// What the database answers.
pub async fn sweep(store: &Store, digests: &[String]) -> Result<(), DbErr> {
    // Under the lock of the writer, and after the rows are gone for good: whoever adds the same component again waits, and
    // then finds no file.
    let tx = store.begin().await?;
    for digest in digests {
        let versions = extension_versions::Entity::find().filter(extension_versions::Column::Digest.eq(digest));
        if versions.count(&tx).await? > 0 {
            continue;
        }
        if let Err(error) = store.blobs().remove(&key(digest)).await {
            tracing::warn!(%error, digest, "a component that no extension has could not be removed");
        }
    }
    tx.rollback().await
}

/// The bytes of a component; none where there is none with this digest.
///
/// # Errors
/// When the system cannot read them, or when they are not those of the digest.
pub async fn component(store: &Store, digest: &str) -> io::Result<Option<Vec<u8>>> {
    let Some((mut file, length)) = store.blobs().open_file(&key(digest)).await? else { return Ok(None) };
    let wanted = digest.to_owned();
    let read = move || {
        let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
        file.read_to_end(&mut bytes)?;
        match hexadecimal(&Sha256::digest(&bytes)) == wanted {
            true => Ok(Some(bytes)),
            false => Err(io::Error::new(io::ErrorKind::InvalidData, "the stored component is not what it was")),
        }
    };
    tokio::task::spawn_blocking(read).await.map_err(io::Error::other)?
}

/// A digest as rows have it.
#[must_use]
pub fn hexadecimal(digest: &[u8]) -> String {
    digest.iter().fold(String::new(), |mut text, byte| {
        for half in [byte >> 4, byte & 15] {
            text.extend(char::from_digit(half.into(), 16));
        }
        text
    })
}

/// The name of a component's file.
fn key(digest: &str) -> String {
    format!("extensions/{digest}.wasm")
}
