//! Workflow commands of GitHub Actions, which become annotations next to the lines of a pull request.

use std::io::{self, Write};

use crate::name::clean;
use crate::output::diff::words;
use crate::report::{Diff, DiffRow, DiffVerdict, RowVerdict};

/// Writes one annotation per regression and per exceeded budget, and one with the summary and what was
/// detectable. Fails if `out` does.
pub fn github(diff: &Diff, out: &mut dyn Write) -> io::Result<()> {
    for row in diff.with_verdict(RowVerdict::Regressed) {
        annotation(out, "error", Some(row), "performance regression", &words::sentence(diff, row))?;
    }
    for budget in diff.exceeded() {
        annotation(out, "error", None, "performance budget exceeded", &words::budget(diff, budget))?;
    }
    for row in diff.with_verdict(RowVerdict::Improved) {
        annotation(out, "notice", Some(row), "performance improvement", &words::sentence(diff, row))?;
    }
    for warning in &diff.header.warnings {
        annotation(out, "warning", None, "prof diff", warning)?;
    }
    for text in words::too_noisy(diff).into_iter().chain(words::one_pair(diff)) {
        annotation(out, "warning", None, "prof diff", &text)?;
    }
    let kind = if diff.verdict == DiffVerdict::Inconclusive { "warning" } else { "notice" };
    let text = format!("{}\n{}", words::summary(diff), words::evidence(diff));
    annotation(out, kind, None, "prof diff", &text)
}

fn annotation(
    out: &mut dyn Write,
    kind: &str,
    row: Option<&DiffRow>,
    title: &str,
    message: &str,
) -> io::Result<()> {
    write!(out, "::{kind} ")?;
    if let Some(file) = row.and_then(|row| row.file.as_deref()) {
        write!(out, "file={},", property(file))?;
        if let Some(line) = row.and_then(|row| row.about.line) {
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
}
