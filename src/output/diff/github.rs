//! Workflow commands of GitHub Actions, which become annotations next to the lines of a pull request.

use std::io::{self, Write};

use crate::name::clean;
use crate::output::diff::causes::{self, Shown};
use crate::output::diff::words;
use crate::output::style::Explain;
use crate::report::{BudgetReport, CauseKind, Diff, DiffCause, DiffRow, DiffVerdict, RowVerdict};

/// Writes one annotation per cause of a regression (per regression if none is known) and per exceeded budget, and one with the summary and what was
/// detectable. Fails if `out` does.
pub fn github(diff: &Diff, out: &mut dyn Write) -> io::Result<()> {
    let is_mix = |cause: &&DiffCause| cause.cause == CauseKind::Mix;
    for cause in diff.causes.iter().filter(is_mix) {
        annotation(out, "notice", Place::default(), "different mix of work", &causes::sentence(diff, cause))?;
    }
    let causes = Shown::of(diff, Explain::Most).filter(|_| diff.verdict == DiffVerdict::Regressed);
    if let Some(shown) = causes.filter(|shown| !shown.causes.iter().all(is_mix)) {
        for cause in shown.causes.into_iter().filter(|cause| !is_mix(cause)) {
            let place = Place { file: cause.file.as_deref(), line: cause.line };
            let title = "cause of a performance regression";
            annotation(out, "error", place, title, &causes::sentence(diff, cause))?;
        }
    } else {
        for row in diff.with_verdict(RowVerdict::Regressed) {
            let text = words::sentence(diff, row);
            annotation(out, "error", Place::of(row), "performance regression", &text)?;
        }
    }
    for budget in diff.exceeded() {
        annotation(
            out,
            "error",
            Place::default(),
            "performance budget exceeded",
            &words::budget(&diff.header, budget),
        )?;
    }
    for row in diff.with_verdict(RowVerdict::Improved) {
        annotation(out, "notice", Place::of(row), "performance improvement", &words::sentence(diff, row))?;
    }
    for warning in &diff.header.warnings {
        annotation(out, "warning", Place::default(), "prof diff", &warning.text)?;
    }
    for text in words::doubts(diff).chain(words::one_pair(diff)) {
        annotation(out, "warning", Place::default(), "prof diff", &text)?;
    }
    let kind = if diff.verdict == DiffVerdict::Inconclusive { "warning" } else { "notice" };
    let text = format!("{}\n{}", words::summary(diff), words::evidence(diff));
    annotation(out, kind, Place::default(), "prof diff", &text)
}

/// Writes one annotation per budget, and one per warning. Fails if `out` does.
pub fn github_budgets(report: &BudgetReport, out: &mut dyn Write) -> io::Result<()> {
    for budget in &report.budgets {
        let (kind, title) = if budget.exceeded {
            ("error", "performance budget exceeded")
        } else {
            ("notice", "within performance budget")
        };
        annotation(out, kind, Place::default(), title, &words::budget(&report.header, budget))?;
    }
    for warning in &report.header.warnings {
        annotation(out, "warning", Place::default(), "prof diff", &warning.text)?;
    }
    Ok(())
}

/// The line that an annotation is shown next to.
#[derive(Clone, Copy, Default)]
struct Place<'d> {
    file: Option<&'d str>,
    line: Option<u32>,
}

impl<'d> Place<'d> {
    fn of(row: &'d DiffRow) -> Self {
        Place { file: row.file.as_deref(), line: row.line }
    }
}

fn annotation(
    out: &mut dyn Write,
    kind: &str,
    place: Place<'_>,
    title: &str,
    message: &str,
) -> io::Result<()> {
    write!(out, "::{kind} ")?;
    if let Some(file) = place.file {
        write!(out, "file={},", property(words::path(file)))?;
        if let Some(line) = place.line {
            write!(out, "line={line},")?;
        }
    }
    writeln!(out, "title={}::{}", property(title), data(message))
}

/// Escapes the message of a command: line breaks are kept, other control characters become visible.
fn data(text: &str) -> String {
    let lines: Vec<_> = text.split('\n').map(clean).collect();
    lines.join("\n").replace('%', "%25").replace('\n', "%0A")
}

/// Escapes the value of a property of a command.
fn property(text: &str) -> String {
    data(&clean(text)).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_a_command_or_a_property_is_escaped() {
        assert_eq!(data("12% of all\nnext::\rx"), "12%25 of all%0Anext::\\rx");
        assert_eq!(property("C:\\a,b.rs"), "C%3A\\a%2Cb.rs");
    }

    #[test]
    fn modules_of_javascript_are_files() {
        let mut out = Vec::new();
        let place = Place { file: Some("file:///srv/app/cart.js"), line: Some(7) };
        annotation(&mut out, "error", place, "cause", "dearer").unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, "::error file=/srv/app/cart.js,line=7,title=cause::dearer\n");
    }
}
