//! Whether something was committed since somebody last looked.
//!
//! SQLite tells a connection whether any other one, of this process or another, has committed since it was last asked
//! (`PRAGMA data_version`). One connection does nothing but ask that. It does so on the thread of whoever wants to know: the answer
//! takes a few microseconds, less than it takes to wake another thread up and wait for it.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, Error, ErrorCode};
use sea_orm::{DbErr, RuntimeErr};
use tokio::time::Instant;

use crate::Store;
use crate::store::BUSY_TIMEOUT;

/// How long to wait before a database is asked again that another connection keeps locked.
const PAUSE: Duration = Duration::from_millis(1);

/// A state of the database. Between two equal ones nothing was committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct State {
    /// Counts the looks that failed, so that none of them passes for "nothing has changed".
    failures: u64,
    version: i64,
}

/// Sees whether something was committed.
pub(crate) struct Watch {
    /// How many have asked.
    asked: AtomicU64,
    last: Mutex<Look>,
}

/// The last look at the database, and what looks.
struct Look {
    connection: Connection,
    /// How many had asked when it began: it answers these, and nobody who came later.
    answers: u64,
    state: State,
}

impl Watch {
    /// `connection` must be nobody else's, and must not wait for locks.
    pub(crate) fn new(connection: Connection) -> Self {
        let last = Look { connection, answers: 0, state: State::default() };
        Self { asked: AtomicU64::new(0), last: Mutex::new(last) }
    }

    /// The state now, or a little later: in any case nothing that was committed before the call is missing.
    async fn state(&self) -> Result<State, DbErr> {
        let number = self.asked.fetch_add(1, Ordering::SeqCst);
        let first = self.look(number);
        let seen = if is_locked(&first) { self.look_again(number).await } else { first };
        seen.map_err(|error| DbErr::Conn(RuntimeErr::Internal(error.to_string())))
    }

    /// Waits for a lock as other connections do, but without holding the thread.
    async fn look_again(&self, number: u64) -> Result<State, Error> {
        let end = Instant::now() + BUSY_TIMEOUT;
        loop {
            tokio::time::sleep(PAUSE).await;
            let seen = self.look(number);
            if !is_locked(&seen) || Instant::now() >= end {
                return seen;
            }
        }
    }

    /// Looks, unless somebody else has while this one waited for its turn.
    fn look(&self, number: u64) -> Result<State, Error> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if number < last.answers {
            return Ok(last.state);
        }
        let answers = self.asked.load(Ordering::SeqCst);
        match version(&last.connection) {
            Ok(version) => {
                last.answers = answers;
                last.state.version = version;
                Ok(last.state)
            }
            Err(error) => {
                last.state.failures += 1;
                Err(error)
            }
        }
    }
}

fn version(connection: &Connection) -> Result<i64, Error> {
    connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))
}

fn is_locked(seen: &Result<State, Error>) -> bool {
    let code = seen.as_ref().err().and_then(Error::sqlite_error_code);
    matches!(code, Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").finish_non_exhaustive()
    }
}

/// The database as one request finds it: however much is asked through it, one look tells whether it is still true. Nothing is
/// missing that was committed before the first question.
#[derive(Debug)]
pub struct Moment<'a> {
    watch: &'a Watch,
    state: OnceLock<State>,
}

impl<'a> Moment<'a> {
    pub(crate) const fn of(watch: &'a Watch) -> Self {
        Self { watch, state: OnceLock::new() }
    }

    /// The state of the database when it was first asked for.
    ///
    /// # Errors
    /// What the database answers; the next question looks again.
    pub(crate) async fn state(&self) -> Result<State, DbErr> {
        match self.state.get() {
            Some(state) => Ok(*state),
            None => self.watch.state().await.map(|state| *self.state.get_or_init(|| state)),
        }
    }
}

impl Store {
    /// The database as it is now, for one request.
    #[must_use]
    pub fn moment(&self) -> Moment<'_> {
        Moment::of(self.watch())
    }
}
