//! Creating or updating by external_id, in one transaction, and changing only what was sent.

use kobana_store::{Named, Row, Scope, Store, Write};
use sea_orm::{ActiveValue, Value};

use crate::error::ApiError;
use crate::reply::Reply;

/// A column of a change: set if the field was sent, untouched otherwise.
pub(crate) fn sent<T: Into<Value>>(field: Option<T>) -> ActiveValue<T> {
    field.map_or(ActiveValue::NotSet, ActiveValue::Set)
}

/// A row that is to be there in the end.
pub(crate) trait Upsert: Sync {
    /// Its table.
    type Table: Named;

    /// Whose row it is.
    fn rows(&self) -> <Self::Table as kobana_store::Table>::Owner;

    /// The name it is matched by.
    fn external_id(&self) -> &str;

    /// Creates it, as no live row has the name.
    fn create(&self, tx: &Write) -> impl Future<Output = Result<Row<Self::Table>, ApiError>> + Send;

    /// Changes the fields that were sent in the row that has the name.
    fn update(
        &self,
        tx: &Write,
        row: Row<Self::Table>,
    ) -> impl Future<Output = Result<Row<Self::Table>, ApiError>> + Send;
}

/// Carries an upsert out: 201 if it created the row, 200 if it updated one. If somebody else created the row between
/// our look and our insert, the second attempt finds it.
///
/// # Errors
/// What `create` and `update` answer, or the database.
pub(crate) async fn upsert<U: Upsert>(store: &Store, wanted: &U) -> Result<Reply<Row<U::Table>>, ApiError> {
    match attempt(store, wanted).await {
        Err(ApiError::Conflict { field: "external_id" }) => attempt(store, wanted).await,
        answer => answer,
    }
}

async fn attempt<U: Upsert>(store: &Store, wanted: &U) -> Result<Reply<Row<U::Table>>, ApiError> {
    let tx = store.begin().await?;
    let found = wanted.rows().find_by_name::<U::Table>(wanted.external_id()).one(&tx).await?;
    let reply = match found {
        Some(row) => Reply::ok(wanted.update(&tx, row).await?),
        None => Reply::created(wanted.create(&tx).await?),
    };
    tx.commit().await?;
    Ok(reply)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use kobana_store::rows::{InboxRow, Inboxes};
    use kobana_store::{InWorkspace, Location};

    use super::*;

    /// Somebody else's insert wins `races` times between our look and ours.
    struct Racing {
        races: u32,
        attempts: AtomicU32,
    }

    impl Upsert for Racing {
        type Table = Inboxes;

        fn rows(&self) -> InWorkspace {
            InWorkspace(uuid::Uuid::nil())
        }

        fn external_id(&self) -> &str {
            "race"
        }

        async fn create(&self, _: &Write) -> Result<InboxRow, ApiError> {
            let attempt = self.attempts.fetch_add(1, Ordering::Relaxed);
            Err(if attempt < self.races { ApiError::Conflict { field: "external_id" } } else { ApiError::NotFound })
        }

        async fn update(&self, _: &Write, row: InboxRow) -> Result<InboxRow, ApiError> {
            Ok(row)
        }
    }

    #[tokio::test]
    async fn a_lost_race_is_run_again_once() {
        let store = Store::open(Location::Memory).await.unwrap();
        for (races, attempts) in [(0, 1), (1, 2), (2, 2)] {
            let wanted = Racing { races, attempts: AtomicU32::new(0) };
            assert!(upsert(&store, &wanted).await.is_err());
            assert_eq!(wanted.attempts.into_inner(), attempts);
        }
    }
}
