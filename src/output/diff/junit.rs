//! JUnit XML, which most build servers show as a list of tests.

use std::io::{self, Write};

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};

use crate::name::clean;
use crate::output::diff::{causes, words};
use crate::report::{BudgetCheck, BudgetReport, Diff, DiffRow, DiffVerdict, Header, RowVerdict};

/// Writes a test case for each tested row and for each budget: regressions and exceeded budgets are
/// failures, and a comparison without a verdict is a skipped test.
pub fn junit(diff: &Diff, out: &mut dyn Write) -> io::Result<()> {
    let cases: Vec<&DiffRow> = diff.rows.iter().filter(|row| row.tested).collect();
    let failures = diff.with_verdict(RowVerdict::Regressed).count() + diff.exceeded().count();
    let tests = 1 + cases.len() + diff.budgets.len();
    let skipped = usize::from(diff.verdict == DiffVerdict::Inconclusive);
    let mut writer = start(out, [("tests", tests), ("failures", failures), ("skipped", skipped)])?;
    let summary = format!("{}\n{}", words::summary(diff), words::evidence(diff));
    let outcome = if skipped == 1 { Outcome::Skipped(&summary) } else { Outcome::Passed };
    case(&mut writer, "evidence", None, outcome)?;
    for row in cases {
        let name = format!("{} of {}", row.test.word(), clean(&row.name));
        let mut sentence = words::sentence(diff, row);
        if let Some(cause) =
            diff.causes.iter().find(|cause| cause.function == row.name && cause.cause.explains_growth())
        {
            sentence
                .push_str(&format!("; {}", causes::evidence(diff, cause, |name| clean(name).into_owned())));
        }
        let failed = row.verdict == RowVerdict::Regressed;
        let outcome = if failed { Outcome::Failed(&sentence) } else { Outcome::Passed };
        case(&mut writer, &name, row.file.as_deref(), outcome)?;
    }
    budget_cases(&mut writer, &diff.header, &diff.budgets)?;
    writer.write_event(Event::Start(BytesStart::new("system-out")))?;
    let causes = diff
        .causes
        .iter()
        .filter(|cause| cause.cause.explains_growth())
        .map(|cause| causes::sentence(diff, cause));
    let lines: Vec<String> = std::iter::once(summary.clone()).chain(causes).collect();
    writer.write_event(Event::Text(BytesText::new(&printable(&lines.join("\n")))))?;
    writer.write_event(Event::End(BytesEnd::new("system-out")))?;
    end(writer)
}

/// Writes a test case for each budget. Fails if `out` does.
pub fn junit_budgets(report: &BudgetReport, out: &mut dyn Write) -> io::Result<()> {
    let failures = report.budgets.iter().filter(|budget| budget.exceeded).count();
    let numbers = [("tests", report.budgets.len()), ("failures", failures), ("skipped", 0)];
    let mut writer = start(out, numbers)?;
    budget_cases(&mut writer, &report.header, &report.budgets)?;
    end(writer)
}

/// The start of a document with one suite of tests, given how many there are.
fn start<'w>(out: &'w mut dyn Write, numbers: [(&str, usize); 3]) -> io::Result<Writer<&'w mut dyn Write>> {
    let mut writer = Writer::new_with_indent(out, b' ', 2);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let mut suites = BytesStart::new("testsuites");
    let mut suite = BytesStart::new("testsuite");
    suite.push_attribute(("name", "prof diff"));
    for (key, number) in numbers {
        let number = number.to_string();
        suites.push_attribute((key, number.as_str()));
        suite.push_attribute((key, number.as_str()));
    }
    writer.write_event(Event::Start(suites))?;
    writer.write_event(Event::Start(suite))?;
    Ok(writer)
}

fn end(mut writer: Writer<&mut dyn Write>) -> io::Result<()> {
    writer.write_event(Event::End(BytesEnd::new("testsuite")))?;
    writer.write_event(Event::End(BytesEnd::new("testsuites")))?;
    writer.into_inner().write_all(b"\n")
}

fn budget_cases<W: Write>(
    writer: &mut Writer<W>,
    header: &Header,
    budgets: &[BudgetCheck],
) -> io::Result<()> {
    for budget in budgets {
        let text = words::budget(header, budget);
        let outcome = if budget.exceeded { Outcome::Failed(&text) } else { Outcome::Passed };
        case(writer, &format!("budget: {}", clean(&budget.rule)), None, outcome)?;
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum Outcome<'t> {
    Passed,
    Failed(&'t str),
    Skipped(&'t str),
}

fn case<W: Write>(
    writer: &mut Writer<W>,
    name: &str,
    file: Option<&str>,
    outcome: Outcome<'_>,
) -> io::Result<()> {
    let mut case = BytesStart::new("testcase");
    case.push_attribute(("classname", "prof diff"));
    case.push_attribute(("name", printable(name).as_str()));
    if let Some(file) = file {
        case.push_attribute(("file", printable(words::path(file)).as_str()));
    }
    let (element, message) = match outcome {
        Outcome::Passed => return writer.write_event(Event::Empty(case)),
        Outcome::Failed(message) => ("failure", message),
        Outcome::Skipped(message) => ("skipped", message),
    };
    writer.write_event(Event::Start(case))?;
    let mut inner = BytesStart::new(element);
    inner.push_attribute(("message", printable(message).as_str()));
    writer.write_event(Event::Empty(inner))?;
    writer.write_event(Event::End(BytesEnd::new("testcase")))
}

/// Makes control characters visible: most of them cannot be written in XML, and neither can two code points that are no
/// characters.
fn printable(text: &str) -> String {
    let text = text.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}");
    text.lines().map(|line| clean(line).into_owned()).collect::<Vec<String>>().join("; ")
}
