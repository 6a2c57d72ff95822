//! What the commands write: aligned tables for people, JSON for machines.

use std::io::Write as _;

use comfy_table::{Table, presets};
use kobana_contract::Timestamp;
use serde::Serialize;
use serde_json::Value;

use super::Desk;

/// Writes a list: its rows as a table under these headings, or as one JSON array.
pub(crate) fn list<const COLUMNS: usize>(
    desk: &Desk,
    headings: [&str; COLUMNS],
    rows: impl IntoIterator<Item = ([String; COLUMNS], Value)>,
) {
    let (cells, values): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
    if desk.json {
        return json(&values);
    }
    if cells.is_empty() {
        return note("there is none");
    }
    table(headings, cells);
}

/// Writes rows under headings, aligned.
pub(crate) fn table<const COLUMNS: usize>(
    headings: [&str; COLUMNS],
    cells: impl IntoIterator<Item = [String; COLUMNS]>,
) {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(headings).add_rows(cells);
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    for row in table.lines() {
        line(row.trim_end());
    }
}

/// Writes what became of something: a sentence, or its JSON object.
pub(crate) fn done(desk: &Desk, sentence: &str, value: &Value) {
    if desk.json { json(value) } else { line(sentence) }
}

/// Tells a person something that is no part of the output.
pub(crate) fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "kobana: {text}");
}

/// Writes one line. Whoever closed standard output does not want to read it.
pub(crate) fn line(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

pub(crate) fn json(value: &impl Serialize) {
    line(&serde_json::to_string_pretty(value).unwrap_or_default());
}

/// A time in RFC 3339.
pub(crate) fn time(at: i64) -> String {
    Timestamp(at).to_string()
}

/// A day, for tables.
pub(crate) fn day(at: i64) -> String {
    time(at).chars().take(10).collect()
}

/// A day that may not be there.
pub(crate) fn day_or(at: Option<i64>, otherwise: &str) -> String {
    at.map_or_else(|| otherwise.to_owned(), day)
}

/// Whether something is switched on.
pub(crate) fn state(active: bool) -> String {
    if active { "active" } else { "disabled" }.to_owned()
}
