//! What was read is good until something is committed.
//!
//! What was read for an earlier request is used again only where nothing at all was committed in between, as [`Moment`] sees it.
//! Nothing is ever taken for true because it was true a moment ago.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

use sea_orm::DbErr;

use crate::watch::{Moment, State};

/// How many answers are kept at a time; they are small.
const MOST: usize = 10_000;

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
        moment: &Moment<'_>,
        key: K,
        read: impl AsyncFnOnce(&K) -> Result<Option<V>, DbErr>,
    ) -> Result<Option<V>, DbErr> {
        // Before reading: what is committed meanwhile makes the next request read again.
        let state = moment.state().await?;
        if let Some(answer) = self.at(state, &key) {
            return Ok(Some(answer));
        }
        let answer = read(&key).await?;
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
