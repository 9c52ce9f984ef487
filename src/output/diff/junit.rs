//! JUnit XML, which most build servers show as a list of tests.

use std::io::{self, Write};

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use crate::name::clean;
use crate::output::diff::evidence::evidence;
use crate::output::diff::{causes, words};
use crate::report::{BudgetCheck, BudgetReport, Diff, DiffCause, DiffRow, DiffVerdict, Header, RowVerdict};

/// Writes a test case for each tested row and for each budget: regressions and exceeded budgets are
/// failures, and a comparison without a verdict is a skipped test.
pub fn junit(diff: &Diff, out: &mut dyn Write) -> io::Result<()> {
    let summary = format!("{}\n{}", words::summary(diff), words::evidence(diff));
    let is_skipped = diff.verdict == DiffVerdict::Inconclusive;
    let problem = is_skipped.then(|| (SKIPPED, summary.clone()));
    let evidence = Case { name: "evidence".to_string(), file: None, problem };
    let rows = diff.rows.iter().filter(|row| row.tested).map(|row| of_row(diff, row));
    let budgets = diff.budgets.iter().map(|budget| of_budget(&diff.header, budget));
    let cases: Vec<Case> = [evidence].into_iter().chain(rows).chain(budgets).collect();
    let causes = diff.causes.iter().filter(|cause| cause.explains_growth());
    let lines: Vec<String> =
        [summary].into_iter().chain(causes.map(|cause| causes::sentence(diff, cause))).collect();
    write(&cases, Some(&lines.join("\n")), out)
}

/// Writes a test case for each budget. Fails if `out` does.
pub fn junit_budgets(report: &BudgetReport, out: &mut dyn Write) -> io::Result<()> {
    let cases: Vec<Case> = report.budgets.iter().map(|budget| of_budget(&report.header, budget)).collect();
    write(&cases, None, out)
}

/// A test.
struct Case<'d> {
    name: String,
    file: Option<&'d str>,
    /// The element that says why it did not pass, and its message.
    problem: Option<(&'static str, String)>,
}

const FAILED: &str = "failure";
const SKIPPED: &str = "skipped";

fn of_row<'d>(diff: &Diff, row: &'d DiffRow) -> Case<'d> {
    let is_cause = |cause: &&DiffCause| cause.function == row.name && cause.explains_growth();
    let problem = (row.verdict == RowVerdict::Regressed).then(|| {
        let evidence = diff
            .causes
            .iter()
            .find(is_cause)
            .map(|cause| format!("; {}", evidence(diff, cause, |name| clean(name).into_owned())));
        (FAILED, words::sentence(diff, row) + &evidence.unwrap_or_default())
    });
    let name = format!("{} of {}", row.test.word(), clean(&row.name));
    Case { name, file: row.file.as_deref(), problem }
}

fn of_budget(header: &Header, budget: &BudgetCheck) -> Case<'static> {
    let problem = budget.exceeded.then(|| (FAILED, words::budget(header, budget)));
    Case { name: format!("budget: {}", clean(&budget.rule)), file: None, problem }
}

/// Writes a document with one suite of tests.
fn write(cases: &[Case], output: Option<&str>, out: &mut dyn Write) -> io::Result<()> {
    let count = |kind: &str| {
        cases.iter().filter_map(|case| case.problem.as_ref()).filter(|why| why.0 == kind).count()
    };
    let numbers = [("tests", cases.len()), ("failures", count(FAILED)), ("skipped", count(SKIPPED))];
    let numbers = numbers.map(|(key, number)| (key, number.to_string()));
    let numbers = || numbers.iter().map(|(key, number)| (*key, number.as_str()));
    let mut writer = Writer::new_with_indent(out, b' ', 2);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    writer.create_element("testsuites").with_attributes(numbers()).write_inner_content(|writer| {
        let suite = writer.create_element("testsuite").with_attribute(("name", "prof diff"));
        suite.with_attributes(numbers()).write_inner_content(|writer| {
            cases.iter().try_for_each(|case| case.write(writer))?;
            if let Some(output) = output {
                let text = printable(output);
                writer.create_element("system-out").write_text_content(BytesText::new(&text))?;
            }
            Ok(())
        })?;
        Ok(())
    })?;
    writer.into_inner().write_all(b"\n")
}

impl Case<'_> {
    fn write<W: Write>(&self, writer: &mut Writer<W>) -> io::Result<()> {
        let name = printable(&self.name);
        let file = self.file.map(|file| printable(words::path(file)));
        let place = file.as_ref().map(|file| ("file", file.as_str()));
        let attributes = [("classname", "prof diff"), ("name", name.as_str())].into_iter().chain(place);
        let case = writer.create_element("testcase").with_attributes(attributes);
        let Some((kind, message)) = &self.problem else { return case.write_empty().map(drop) };
        let message = printable(message);
        case.write_inner_content(|writer| {
            writer.create_element(*kind).with_attribute(("message", message.as_str())).write_empty()?;
            Ok(())
        })?;
        Ok(())
    }
}

/// Makes control characters visible: most of them cannot be written in XML, and neither can two code points that are no
/// characters.
fn printable(text: &str) -> String {
    let text = text.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}");
    text.lines().map(|line| clean(line).into_owned()).collect::<Vec<String>>().join("; ")
}
