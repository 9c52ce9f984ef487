//! Workflow commands of GitHub Actions, which become annotations next to the lines of a pull request.

use std::io::{self, Write};

use crate::name::clean;
use crate::output::diff::causes::{self, Shown};
use crate::output::diff::words;
use crate::output::style::Explain;
use crate::report::{
    BudgetCheck, BudgetReport, CauseKind, Diff, DiffCause, DiffRow, DiffVerdict, Header, Name, RowVerdict,
};

/// Writes one annotation per cause of a regression (per regression if none is known) and per exceeded budget, and one with the summary and what was
/// detectable. Fails if `out` does.
pub fn github(diff: &Diff, out: &mut dyn Write) -> io::Result<()> {
    let is_mix = |cause: &&DiffCause| cause.cause == CauseKind::Mix;
    let of_row = |kind, title, row: &DiffRow| {
        let about = annotation(kind, title, words::sentence(diff, row));
        Annotation { file: row.file.clone(), line: row.line, ..about }
    };
    let mut all = Vec::new();
    for cause in diff.causes.iter().filter(is_mix) {
        all.push(annotation("notice", "different mix of work", causes::sentence(diff, cause)));
    }
    let causes = Shown::growth(diff, Explain::Most).filter(|_| diff.verdict == DiffVerdict::Regressed);
    if let Some(shown) = causes.filter(|shown| !shown.causes.iter().all(is_mix)) {
        for cause in shown.causes.into_iter().filter(|cause| !is_mix(cause)) {
            let text = causes::sentence(diff, cause);
            let about = annotation("error", "cause of a performance regression", text);
            all.push(Annotation { file: cause.file.clone(), line: cause.line, ..about });
        }
    } else {
        let rows = diff.with_verdict(RowVerdict::Regressed);
        all.extend(rows.map(|row| of_row("error", "performance regression", row)));
    }
    all.extend(diff.exceeded().map(|check| budget(&diff.header, check)));
    let title = "performance improvement";
    if let Some(shown) = Shown::savings(diff, Explain::Most) {
        for cause in shown.causes {
            let about = annotation("notice", title, causes::sentence(diff, cause));
            all.push(Annotation { file: cause.file.clone(), line: cause.line, ..about });
        }
    } else {
        let rows = diff.with_verdict(RowVerdict::Improved);
        all.extend(rows.map(|row| of_row("notice", title, row)));
    }
    let doubts = words::doubts(diff).chain(words::one_pair(diff));
    all.extend(warnings(&diff.header).chain(doubts.map(|text| annotation("warning", TITLE, text))));
    let kind = if diff.verdict == DiffVerdict::Inconclusive { "warning" } else { "notice" };
    all.push(annotation(kind, TITLE, format!("{}\n{}", words::summary(diff), words::evidence(diff))));
    all.iter().try_for_each(|annotation| annotation.write(out))
}

/// Writes one annotation per budget, and one per warning. Fails if `out` does.
pub fn github_budgets(report: &BudgetReport, out: &mut dyn Write) -> io::Result<()> {
    let budgets = report.budgets.iter().map(|check| budget(&report.header, check));
    budgets.chain(warnings(&report.header)).try_for_each(|annotation| annotation.write(out))
}

/// The title of what is about the comparison as a whole.
const TITLE: &str = "prof diff";

/// A message, and the line that it is shown next to.
struct Annotation {
    kind: &'static str,
    title: &'static str,
    text: String,
    file: Option<Name>,
    line: Option<u32>,
}

fn annotation(kind: &'static str, title: &'static str, text: String) -> Annotation {
    Annotation { kind, title, text, file: None, line: None }
}

fn budget(header: &Header, check: &BudgetCheck) -> Annotation {
    let (kind, title) = if check.exceeded {
        ("error", "performance budget exceeded")
    } else {
        ("notice", "within performance budget")
    };
    annotation(kind, title, words::budget(header, check))
}

fn warnings(header: &Header) -> impl Iterator<Item = Annotation> {
    header.warnings.iter().map(|warning| annotation("warning", TITLE, warning.text.clone()))
}

impl Annotation {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "::{} ", self.kind)?;
        if let Some(file) = &self.file {
            write!(out, "file={},", property(words::path(file)))?;
            if let Some(line) = self.line {
                write!(out, "line={line},")?;
            }
        }
        writeln!(out, "title={}::{}", property(self.title), data(&self.text))
    }
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
        let about = annotation("error", "cause", "dearer".to_string());
        let about = Annotation { file: Some("file:///srv/app/cart.js".into()), line: Some(7), ..about };
        about.write(&mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, "::error file=/srv/app/cart.js,line=7,title=cause::dearer\n");
    }
}
