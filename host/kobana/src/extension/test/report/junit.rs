//! The report in the form that JUnit made common.

use std::path::Path;
use std::time::Duration;

use quick_junit::{NonSuccessKind, Report as Xml, TestCase, TestCaseStatus, TestSuite};

use super::Report;
use crate::extension::test::fuzz::Fuzzed;
use crate::extension::test::runner::Judged;
use crate::failure::Failure;

/// Writes the file.
pub(crate) fn write(report: &Report<'_>, path: &Path) -> Result<(), Failure> {
    let failed = |cause| Failure::Write { file: path.to_owned(), cause };
    let text = xml(report).to_string().map_err(|error| failed(std::io::Error::other(error)))?;
    std::fs::write(path, text).map_err(failed)
}

fn xml(report: &Report<'_>) -> Xml {
    let mut xml = Xml::new("kobana extension test");
    if !report.cases.is_empty() {
        let mut suite = TestSuite::new(report.component.name.as_str());
        suite.add_property(("component", report.component.file.as_str()));
        suite.add_property(("version", report.component.version.as_str()));
        suite.add_property(("digest", report.component.digest.as_str()));
        let tests = report.cases.iter().map(|(case, judged)| {
            let mut test = TestCase::new(case.name.as_str(), status(judged));
            test.set_classname(report.component.name.as_str()).set_time(judged.ran.spent.time);
            for (name, value) in [
                ("outcome", judged.ran.answer.outcome.to_string()),
                ("fuel", judged.ran.spent.fuel.to_string()),
                ("memory", judged.ran.spent.memory.to_string()),
                ("host_calls", judged.ran.spent.host_calls.to_string()),
            ] {
                test.add_property((name, value.as_str()));
            }
            let log: Vec<_> = judged.ran.log.iter().map(|line| format!("{} {}", line.level, line.message)).collect();
            if !log.is_empty() {
                test.set_system_out(log.join("\n"));
            }
            test
        });
        suite.add_test_cases(tests);
        add(&mut xml, suite);
    }
    if let Some(fuzz) = &report.fuzz {
        let mut suite = TestSuite::new(format!("{} with made-up arguments", report.component.name));
        suite.add_property(("seed", fuzz.seed.to_string().as_str()));
        suite.add_test_cases(fuzz.tools.iter().map(|tool| {
            let mut test = TestCase::new(tool.tool.as_str(), fuzzed(tool));
            test.set_classname(report.component.name.as_str()).set_time(tool.most.time);
            test
        }));
        add(&mut xml, suite);
    }
    xml
}

/// Adds a suite with the time that its tests took.
fn add(xml: &mut Xml, mut suite: TestSuite) {
    let time: Duration = suite.test_cases.iter().filter_map(|test| test.time).sum();
    suite.set_time(time);
    xml.add_test_suite(suite);
}

fn status(judged: &Judged) -> TestCaseStatus {
    let Some(first) = judged.findings.first() else { return TestCaseStatus::success() };
    let lines = judged
        .findings
        .iter()
        .map(|finding| format!("{}\n  expected  {}\n  got       {}", finding.field, finding.expected, finding.actual));
    failure(&format!("{}: expected {}", first.field, first.expected), &lines.collect::<Vec<_>>().join("\n"))
}

fn fuzzed(tool: &Fuzzed) -> TestCaseStatus {
    let Some(first) = tool.faults.first() else {
        return match &tool.note {
            Some(note) => failure(note, ""),
            None => TestCaseStatus::success(),
        };
    };
    let all = tool.faults.iter().map(|fault| format!("{}\n{}\n{}", fault.kind, fault.detail, fault.case(&tool.tool)));
    failure(&format!("{}: {}", first.kind, first.detail), &all.collect::<Vec<_>>().join("\n"))
}

fn failure(message: &str, description: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_message(message).set_description(description);
    status
}
