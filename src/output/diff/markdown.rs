//! A comment for a pull request, ready to post.

use std::io::{self, Write};

use crate::name::clean;
use crate::output::diff::causes::{self, Shown};
use crate::output::diff::evidence::evidence;
use crate::output::diff::words::{self, PerRun};
use crate::output::markdown::cells::{Cells, code, escape, sentence, table};
use crate::output::style::{Explain, Style};
use crate::output::table::Form;
use crate::output::tables;
use crate::report::{Diff, DiffOutcome, DiffRow, DiffVerdict, RowVerdict};
use crate::unit::{Unit, human};

/// Writes the verdict, the rows that have one, what was detectable, and a collapsed section with the
/// rest.
pub(in crate::output) fn comment(diff: &Diff, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "### {}\n", escape(&headline(diff)))?;
    for budget in diff.exceeded() {
        writeln!(out, "- **{}**", sentence(&words::budget(&diff.header, budget)))?;
    }
    if diff.exceeded().next().is_some() {
        writeln!(out)?;
    }
    let (with_verdict, others): (Vec<&DiffRow>, Vec<&DiffRow>) = diff
        .rows
        .iter()
        .filter(|row| row.p.is_some() || diff.tested == 0)
        .partition(|row| row.verdict.is_significant());
    let is_explained = causes(diff, out)?;
    if !with_verdict.is_empty() && !is_explained {
        rows(diff, &with_verdict, out)?;
        writeln!(out)?;
    }
    writeln!(out, "{}\n", sentence(&words::evidence(diff)))?;
    let calls = words::changed_calls(diff, |name| clean(name).into_owned());
    for text in words::doubts(diff).chain(calls).chain(words::one_pair(diff)) {
        writeln!(out, "{}\n", sentence(&text))?;
    }
    writeln!(out, "<details><summary>What was compared</summary>\n")?;
    sides(diff, out)?;
    writeln!(out)?;
    for note in notes(diff, style) {
        writeln!(out, "- {}", sentence(&note))?;
    }
    let listed = if is_explained { [with_verdict, others].concat() } else { others };
    if !listed.is_empty() {
        writeln!(out)?;
        rows(diff, &listed, out)?;
        if let Some(cut) = words::cut(diff) {
            writeln!(out, "\n… {cut}")?;
        }
    }
    writeln!(out, "\n</details>")
}

/// Writes a list of the causes and a sentence on what only moved. Returns whether there are causes.
fn causes(diff: &Diff, out: &mut dyn Write) -> io::Result<bool> {
    let both = Shown::both(diff, Explain::Most);
    for shown in &both {
        writeln!(out, "{}:\n", escape(&shown.headline(diff)))?;
        for cause in &shown.causes {
            let (change, points) = (causes::change(cause), words::change(diff, cause.points));
            writeln!(out, "1. {} {}, {}", code(&cause.function), escape(&change), escape(&points))?;
            writeln!(out, "   <br>{}", escape(&evidence(diff, cause, |name| clean(name).into_owned())))?;
            if let Some(command) = causes::command(diff, cause) {
                let how = causes::completed(diff).map(|how| format!(" ({how})")).unwrap_or_default();
                writeln!(out, "   <br>{}{how}", code(&command))?;
            }
        }
        writeln!(out)?;
        if let Some(rest) = shown.rest(diff) {
            writeln!(out, "{}\n", escape(&rest))?;
        }
    }
    if let Some(moves) = causes::moves(diff, Explain::Most, |name| clean(name).into_owned()) {
        writeln!(out, "{}\n", escape(&moves))?;
    }
    Ok(!both.is_empty())
}

/// The verdict in one line.
fn headline(diff: &Diff) -> String {
    let sign = match diff.outcome() {
        DiffOutcome::Failed => "❌ ",
        DiffOutcome::Passed if diff.verdict != DiffVerdict::Inconclusive => "✅ ",
        _ => "⚠️ ",
    };
    format!("{sign}{}: {}", diff.header.metric.name, words::headline(diff))
}

fn rows(diff: &Diff, rows: &[&DiffRow], out: &mut dyn Write) -> io::Result<()> {
    let per_run = PerRun::automatic(diff);
    let table = tables::diff::table(diff, rows.to_vec(), Form::Markdown, per_run);
    let mut cells = Cells::of(&table, &Style::plain());
    cells.titles.push(escape(&diff.header.by.title()));
    for (cells, row) in cells.rows.iter_mut().zip(rows) {
        if row.verdict == RowVerdict::Regressed {
            cells[0] = format!("**{}**", cells[0]);
        }
        cells.push(format!("{}{}", code(&row.name), escape(&words::after_name(diff, row, str::to_string))));
    }
    cells.write(out)
}

fn sides(diff: &Diff, out: &mut dyn Write) -> io::Result<()> {
    let metric = &diff.header.metric;
    let cells = [("old", &diff.old), ("new", &diff.new)].map(|(which, side)| {
        let value = |value| human(value, &Unit::parse(&metric.unit), metric.divisor);
        vec![which.to_string(), escape(&words::inputs(side)), escape(&words::side(diff, side, value))]
    });
    let titles = ["", "inputs", "contents"].map(str::to_string);
    table(&titles, &cells, &[], out)
}

fn notes(diff: &Diff, style: &Style) -> Vec<String> {
    let mut notes = vec![words::summary(diff)];
    notes.extend(words::folded(diff));
    notes.extend(words::filters(diff));
    notes.push(words::scales(diff, !words::is_per_run(diff)));
    notes.extend(words::learned(diff));
    notes.extend(words::matched(diff, style.all_matches, |name| clean(name).into_owned()));
    notes.extend(words::upgrades(diff, style.all_matches));
    notes.extend(words::legend(&diff.rows.iter()));
    notes.extend(words::on_one_side(diff));
    notes.extend(words::idle(diff));
    notes.extend(diff.budgets.iter().map(|budget| words::budget(&diff.header, budget)));
    notes.extend(diff.header.warnings.iter().map(ToString::to_string));
    notes
}
