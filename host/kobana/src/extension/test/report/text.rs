//! The report for people.

use std::fmt::Write as _;

use comfy_table::{CellAlignment, Table, presets};

use super::{Component, Fuzz, Report};
use crate::extension::test::cases::Case;
use crate::extension::test::fuzz::{Fault, Fuzzed};
use crate::extension::test::judge::told;
use crate::extension::test::matcher::clipped;
use crate::extension::test::runner::{Judged, Spent};
use crate::extension::test::subject::LogLine;
use crate::extension::test::units::{Bytes, Count, time};

/// Log lines that the report shows of a case.
const LOG: usize = 20;

/// Writes reports for people.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text {
    /// Whether the reader sees colours.
    pub(crate) colour: bool,
}

impl Text {
    /// The whole report.
    pub(crate) fn write(self, report: &Report<'_>) -> String {
        let mut out = head(&report.component);
        if !report.cases.is_empty() {
            out.push('\n');
            out.push_str(&self.table(CASES, report.cases.iter().map(|(case, judged)| row(case, judged))));
        }
        for (case, judged) in report.cases.iter().filter(|(_, judged)| !judged.findings.is_empty()) {
            out.push('\n');
            self.failure(&mut out, report.file.as_deref().unwrap_or_default(), case, judged);
        }
        if let Some(fuzz) = &report.fuzz {
            out.push('\n');
            self.fuzz(&mut out, fuzz);
        }
        out.push('\n');
        self.sums(&mut out, report);
        out
    }

    fn table<const N: usize>(self, headings: [&str; N], rows: impl Iterator<Item = (bool, [String; N])>) -> String {
        let (good, cells): (Vec<_>, Vec<_>) = rows.unzip();
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_header(headings).add_rows(cells);
        for (index, column) in table.column_iter_mut().enumerate() {
            column.set_padding((0, 2));
            if index >= NUMBERS {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let mut out = String::new();
        for (index, line) in table.lines().enumerate() {
            let mark = match index.checked_sub(1).and_then(|index| good.get(index)) {
                Some(good) => self.mark(*good),
                None => "        ".to_owned(),
            };
            let _ = writeln!(out, "{mark}{}", line.trim_end());
        }
        out
    }

    /// What stands before a line: eight columns wide.
    fn mark(self, good: bool) -> String {
        match (good, self.colour) {
            (true, false) => "ok      ".to_owned(),
            (true, true) => "\u{1b}[32mok\u{1b}[0m      ".to_owned(),
            (false, false) => "FAILED  ".to_owned(),
            (false, true) => "\u{1b}[1;31mFAILED\u{1b}[0m  ".to_owned(),
        }
    }

    fn failure(self, out: &mut String, file: &str, case: &Case, judged: &Judged) {
        let _ = writeln!(out, "{}{} ({file}:{})", self.mark(false), case.name, case.line);
        for finding in &judged.findings {
            let _ = writeln!(out, "  {}", finding.field);
            let _ = writeln!(out, "    expected  {}", shown(&finding.expected));
            let _ = writeln!(out, "    got       {}", shown(&finding.actual));
        }
        if !judged.ran.calls.is_empty() {
            let _ = writeln!(out, "  calls of the API: {}", told(&judged.ran.calls));
        }
        log(out, &judged.ran.log);
    }

    fn fuzz(self, out: &mut String, fuzz: &Fuzz) {
        let _ = writeln!(out, "Arguments made of the schemas, seed {}\n", fuzz.seed);
        out.push_str(&self.table(TOOLS, fuzz.tools.iter().map(fuzzed)));
        for tool in &fuzz.tools {
            if let Some(note) = &tool.note {
                let _ = writeln!(out, "\n{}: {note}", tool.tool);
            }
            for fault in &tool.faults {
                self.fault(out, &tool.tool, fault);
            }
        }
    }

    fn fault(self, out: &mut String, tool: &str, fault: &Fault) {
        let times = if fault.times == 1 { "once".to_owned() } else { format!("{} times", fault.times) };
        let _ = writeln!(out, "\n{}{tool}: {}, {times}", self.mark(false), fault.kind);
        let _ = writeln!(out, "  {}", shown(&fault.detail));
        log(out, &fault.log);
        if fault.alone {
            let _ = writeln!(out, "  As a case:\n");
        } else {
            let _ =
                writeln!(out, "  Not on fresh data: only after the calls before it, or not every time. As a case:\n");
        }
        for line in fault.case(tool).lines() {
            let _ = writeln!(out, "    {line}");
        }
    }

    fn sums(self, out: &mut String, report: &Report<'_>) {
        let (all, failed) = (report.cases.len(), report.failed());
        let mut parts = Vec::new();
        if all > 0 {
            let skipped = match report.skipped {
                0 => String::new(),
                skipped => format!(", {skipped} left out"),
            };
            let passed = all.saturating_sub(failed);
            parts.push(format!("{}: {passed} passed, {failed} failed{skipped}", number(all, "case")));
        }
        if let Some(fuzz) = &report.fuzz {
            let calls: u64 = fuzz.tools.iter().map(|tool| tool.calls).sum();
            let calls = number(usize::try_from(calls).unwrap_or(usize::MAX), "call");
            parts.push(format!("{calls} with made-up arguments: {}", number(fuzz.faults(), "fault")));
        }
        let _ = writeln!(out, "{}", parts.join("; "));
    }
}

const CASES: [&str; 6] = ["CASE", "OUTCOME", "TIME", "FUEL", "MEMORY", "HOST CALLS"];
const TOOLS: [&str; 7] = ["TOOL", "CALLS", "REFUSED", "MOST TIME", "FUEL", "MEMORY", "HOST CALLS"];
/// The first column that holds numbers.
const NUMBERS: usize = 2;

fn head(component: &Component) -> String {
    let digest: String = component.digest.chars().take(12).collect();
    let size = Bytes(component.bytes);
    format!("{} {} ({}, {size}, sha256 {digest}…)\n", component.name, component.version, component.file)
}

fn costs(spent: &Spent) -> [String; 4] {
    [
        time(spent.time),
        Count(spent.fuel).to_string(),
        Bytes(spent.memory).to_string(),
        Count(spent.host_calls).to_string(),
    ]
}

fn row(case: &Case, judged: &Judged) -> (bool, [String; 6]) {
    let [time, fuel, memory, calls] = costs(&judged.ran.spent);
    let outcome = judged.ran.answer.outcome.to_string();
    (judged.findings.is_empty(), [case.name.clone(), outcome, time, fuel, memory, calls])
}

fn fuzzed(tool: &Fuzzed) -> (bool, [String; 7]) {
    let [time, fuel, memory, calls] = costs(&tool.most);
    let row = [tool.tool.clone(), tool.calls.to_string(), tool.refused.to_string(), time, fuel, memory, calls];
    (tool.faults.is_empty() && tool.note.is_none(), row)
}

/// What an extension logged.
fn log(out: &mut String, lines: &[LogLine]) {
    if !lines.is_empty() {
        let _ = writeln!(out, "  log:");
    }
    for line in lines.iter().take(LOG) {
        let _ = writeln!(out, "    {:5} {}", line.level, shown(&clipped(&line.message)));
    }
    if let Some(more @ 1..) = lines.len().checked_sub(LOG) {
        let _ = writeln!(out, "    and {more} more");
    }
}

/// Text in one line that does not steer the terminal: it may be the extension's.
fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.trim_end().chars() {
        if c.is_control() { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

/// A number of things in words, such as `1 case` and `2 cases`.
fn number(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
