//! What was read is good until something is committed.
//!
//! SQLite tells a connection whether any other one, of this process or another, has committed since it was last asked (`PRAGMA
//! data_version`). One connection does nothing but ask that. Its answer serves everybody who was waiting when it was asked, so
//! many requests at once cost as much as one; and what was read for an earlier request is used again only where nothing at all
//! was committed in between. Nothing is ever taken for true because it was true a moment ago.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, DbErr, Statement};

use crate::Store;

/// How many answers are kept at a time; they are small.
const MOST: usize = 10_000;

/// A state of the database. Between two equal ones nothing was committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct State {
    /// Counts the connections that asked: a new one begins to count anew.
    connection: u64,
    version: i64,
}

/// Sees whether something was committed.
#[derive(Debug)]
pub(crate) struct Watch {
    connection: DatabaseConnection,
    /// How many have asked.
    asked: AtomicU64,
    last: tokio::sync::Mutex<Look>,
}

/// The last look at the database.
#[derive(Debug, Default)]
struct Look {
    /// How many had asked when it began: it answers these, and nobody who came later.
    answers: u64,
    state: State,
}

impl Watch {
    /// `connection` must be a pool of one, and nobody else's.
    pub(crate) fn new(connection: DatabaseConnection) -> Self {
        Self { connection, asked: AtomicU64::new(0), last: tokio::sync::Mutex::default() }
    }

    /// The state now, or a little later: in any case nothing that was committed before the call is missing.
    pub(crate) async fn state(&self) -> Result<State, DbErr> {
        let number = self.asked.fetch_add(1, Ordering::SeqCst);
        let mut last = self.last.lock().await;
        if number < last.answers {
            return Ok(last.state);
        }
        let answers = self.asked.load(Ordering::SeqCst);
        match self.version().await {
            Ok(Some(version)) => *last = Look { answers, state: State { version, ..last.state } },
            Ok(None) => last.state.connection += 1,
            Err(error) => {
                last.state.connection += 1;
                return Err(error);
            }
        }
        Ok(last.state)
    }

    /// None where the database does not say such a thing; then no state equals another one.
    async fn version(&self) -> Result<Option<i64>, DbErr> {
        let backend = self.connection.get_database_backend();
        if backend != DbBackend::Sqlite {
            return Ok(None);
        }
        let row = self.connection.query_one_raw(Statement::from_string(backend, "PRAGMA data_version")).await?;
        row.map(|row| row.try_get_by_index(0)).transpose()
    }
}

/// Answers of the database, each good until something is committed.
pub struct Remembered<K, V>(Mutex<Answers<K, V>>);

struct Answers<K, V> {
    state: State,
    by_key: HashMap<K, V>,
}

impl<K, V> Default for Remembered<K, V> {
    fn default() -> Self {
        Self(Mutex::new(Answers { state: State::default(), by_key: HashMap::new() }))
    }
}

impl<K, V> fmt::Debug for Remembered<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remembered").finish_non_exhaustive()
    }
}

impl<K: Eq + Hash, V: Clone> Remembered<K, V> {
    /// What `read` answers, or answered before with nothing committed since. What is not there is asked for again each time,
    /// so that made-up keys take no room.
    ///
    /// # Errors
    /// What the database answers.
    pub async fn get(
        &self,
        store: &Store,
        key: K,
        read: impl AsyncFnOnce() -> Result<Option<V>, DbErr>,
    ) -> Result<Option<V>, DbErr> {
        // Before reading: what is committed meanwhile makes the next request read again.
        let state = store.watch().state().await?;
        if let Some(answer) = self.at(state, &key) {
            return Ok(Some(answer));
        }
        let answer = read().await?;
        if let Some(answer) = &answer {
            self.keep(state, key, answer.clone());
        }
        Ok(answer)
    }

    fn at(&self, state: State, key: &K) -> Option<V> {
        let answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        answers.by_key.get(key).filter(|_| answers.state == state).cloned()
    }

    fn keep(&self, state: State, key: K, answer: V) {
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if answers.state != state || answers.by_key.len() >= MOST {
            answers.by_key.clear();
            answers.state = state;
        }
        answers.by_key.insert(key, answer);
    }
}
