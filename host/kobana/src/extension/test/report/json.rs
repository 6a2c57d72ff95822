//! The report as one JSON document, for machines.

use serde_json::{Value, json};

use super::{Fuzz, Report};
use crate::extension::test::cases::Case;
use crate::extension::test::fuzz::{Fault, Fuzzed};
use crate::extension::test::runner::{Judged, Spent};
use crate::extension::test::units::milliseconds;

/// The document. Members are added to it, never renamed.
pub(crate) fn document(report: &Report<'_>) -> Value {
    let failed = report.failed();
    json!({
        "ok": report.is_good(),
        "component": report.component,
        "file": report.file,
        "passed": report.cases.len().saturating_sub(failed),
        "failed": failed,
        "skipped": report.skipped,
        "cases": report.cases.iter().map(|(case, judged)| self::case(case, judged)).collect::<Vec<_>>(),
        "fuzz": report.fuzz.as_ref().map(fuzz),
    })
}

fn case(case: &Case, judged: &Judged) -> Value {
    let ran = &judged.ran;
    let calls = ran
        .calls
        .iter()
        .map(|call| json!({ "method": call.method, "path": call.path, "query": call.query, "status": call.status }));
    json!({
        "name": case.name,
        "line": case.line,
        "passed": judged.findings.is_empty(),
        "outcome": ran.answer.outcome.to_string(),
        "used": used(&ran.spent),
        "findings": judged.findings,
        "text": ran.answer.text,
        "result": ran.answer.result,
        "calls": calls.collect::<Vec<_>>(),
        "log": ran.log,
    })
}

fn used(spent: &Spent) -> Value {
    json!({
        "time_ms": milliseconds(spent.time),
        "fuel": spent.fuel,
        "memory": spent.memory,
        "host_calls": spent.host_calls,
        "log": spent.log,
    })
}

fn fuzz(fuzz: &Fuzz) -> Value {
    json!({ "seed": fuzz.seed, "faults": fuzz.faults(), "tools": fuzz.tools.iter().map(tool).collect::<Vec<_>>() })
}

fn tool(fuzzed: &Fuzzed) -> Value {
    json!({
        "tool": fuzzed.tool,
        "calls": fuzzed.calls,
        "refused": fuzzed.refused,
        "most": used(&fuzzed.most),
        "note": fuzzed.note,
        "faults": fuzzed.faults.iter().map(|fault| self::fault(fault, &fuzzed.tool)).collect::<Vec<_>>(),
    })
}

fn fault(fault: &Fault, tool: &str) -> Value {
    json!({
        "kind": fault.kind,
        "detail": fault.detail,
        "times": fault.times,
        "alone": fault.alone,
        "arguments": fault.arguments,
        "answers": fault.answers,
        "log": fault.log,
        "case": fault.case(tool),
    })
}
