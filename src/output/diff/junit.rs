//! JUnit XML, which most build servers show as a list of tests.

use std::io::{self, Write};

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};

use crate::name::clean;
use crate::output::diff::{causes, words};
use crate::report::{Diff, DiffRow, DiffVerdict, RowTest, RowVerdict};

/// Writes a test case for each tested row and for each budget: regressions and exceeded budgets are
/// failures, and a comparison without a verdict is a skipped test.
pub fn junit(diff: &Diff, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = Writer::new_with_indent(&mut *out, b' ', 2);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let cases: Vec<&DiffRow> = diff.rows.iter().filter(|row| row.tested).collect();
    let failures = diff.with_verdict(RowVerdict::Regressed).count() + diff.exceeded().count();
    let tests = 1 + cases.len() + diff.budgets.len();
    let skipped = usize::from(diff.verdict == DiffVerdict::Inconclusive);
    let numbers = [("tests", tests), ("failures", failures), ("skipped", skipped)];
    let numbers: Vec<(&str, String)> =
        numbers.iter().map(|(key, number)| (*key, number.to_string())).collect();
    let mut suites = BytesStart::new("testsuites");
    let mut suite = BytesStart::new("testsuite");
    suite.push_attribute(("name", "prof diff"));
    for (key, number) in &numbers {
        suites.push_attribute((*key, number.as_str()));
        suite.push_attribute((*key, number.as_str()));
    }
    writer.write_event(Event::Start(suites))?;
    writer.write_event(Event::Start(suite))?;

    let summary = format!("{}\n{}", words::summary(diff), words::evidence(diff));
    let outcome = if skipped == 1 { Outcome::Skipped(&summary) } else { Outcome::Passed };
    case(&mut writer, "evidence", None, outcome)?;
    for row in cases {
        let measure = if row.test == RowTest::SelfValue { "self" } else { "total" };
        let name = format!("{} of {}", measure, clean(&row.name));
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
    for budget in &diff.budgets {
        let text = words::budget(diff, budget);
        let outcome = if budget.exceeded { Outcome::Failed(&text) } else { Outcome::Passed };
        case(&mut writer, &format!("budget: {}", clean(&budget.rule)), None, outcome)?;
    }
    writer.write_event(Event::Start(BytesStart::new("system-out")))?;
    let causes = diff
        .causes
        .iter()
        .filter(|cause| cause.cause.explains_growth())
        .map(|cause| causes::sentence(diff, cause));
    let lines: Vec<String> = std::iter::once(summary.clone()).chain(causes).collect();
    writer.write_event(Event::Text(BytesText::new(&printable(&lines.join("\n")))))?;
    writer.write_event(Event::End(BytesEnd::new("system-out")))?;
    writer.write_event(Event::End(BytesEnd::new("testsuite")))?;
    writer.write_event(Event::End(BytesEnd::new("testsuites")))?;
    drop(writer);
    out.write_all(b"\n")
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

/// Makes control characters visible: most of them cannot be written in XML.
fn printable(text: &str) -> String {
    text.lines().map(|line| clean(line).into_owned()).collect::<Vec<String>>().join("; ")
}
