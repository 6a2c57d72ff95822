//! What a database error means to the caller.

use sea_orm::{DbErr, RuntimeErr, SqlErr};

/// Columns that hold unique values which callers choose.
const UNIQUE: &[&str] = &["external_id", "email", "message_id"];

/// The column whose unique value is taken, if that is what the error says.
#[must_use]
pub fn taken(error: &DbErr) -> Option<&'static str> {
    let Some(SqlErr::UniqueConstraintViolation(message)) = error.sql_err() else { return None };
    // SQLite names `table.column`, Postgres the index, which ends in the column's name.
    let names = |column: &&&str| message.contains(&format!(".{column}")) || message.contains(&format!("_by_{column}"));
    UNIQUE.iter().find(names).copied()
}

/// Whether the same request may succeed a little later: no free connection, a broken one, or a lock held elsewhere.
#[must_use]
pub fn is_temporary(error: &DbErr) -> bool {
    match error {
        DbErr::ConnectionAcquire(_) | DbErr::Conn(_) => true,
        DbErr::Exec(RuntimeErr::SqlxError(cause)) | DbErr::Query(RuntimeErr::SqlxError(cause)) => {
            let code = cause.as_database_error().and_then(|database| database.code());
            let code = code.and_then(|code| code.parse::<u32>().ok());
            // The low byte of an SQLite code: 5 busy, 6 locked, 10 input or output, 13 full.
            code.is_some_and(|code| matches!(code & 0xff, 5 | 6 | 10 | 13))
        }
        _ => false,
    }
}
