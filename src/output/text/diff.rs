//! Two sides compared, as text.

use crate::name::{display_width, fit};
use crate::output::diff::words;
use crate::output::text::Style;
use crate::output::text::columns::{Columns, Emphasis, Line, pad};
use crate::output::text::header::{scale, shorten};
use crate::output::text::names::Names;
use crate::report::{Diff, DiffRow, DiffSide, DiffVerdict, RowVerdict};
use crate::unit::{self, IncompatibleUnits};

/// The two sides, the rows, what could have been seen, and the verdict with the exit code.
pub(super) fn lines(diff: &Diff, style: &Style) -> Result<Vec<Line>, IncompatibleUnits> {
    let mut lines = sides(diff, style)?;
    lines.extend(words::filters(diff).map(|filters| Line::new(filters, Emphasis::Faint)));
    if diff.rows.is_empty() {
        lines.push(Line::new("no samples on either side", Emphasis::Faint));
    } else {
        lines.extend(table(diff, style));
    }
    let mut notes: Vec<(String, Emphasis)> = Vec::new();
    let faint = |text: String| (text, Emphasis::Faint);
    notes.extend(words::on_one_side(diff).map(faint));
    notes.extend(words::unchanged_code(diff).map(faint));
    notes.extend(words::too_noisy(diff).map(|text| (text, Emphasis::Strong)));
    for budget in &diff.budgets {
        let emphasis = if budget.exceeded { Emphasis::Strong } else { Emphasis::Faint };
        notes.push((words::budget(diff, budget), emphasis));
    }
    notes.push((words::evidence(diff), Emphasis::None));
    let inconclusive = diff.verdict == DiffVerdict::Inconclusive;
    let one_pair = words::one_pair(diff);
    // With neither a verdict nor replicates the counts would say nothing.
    if !inconclusive || one_pair.is_none() || !diff.budgets.is_empty() {
        notes.push((words::summary(diff), Emphasis::None));
    }
    notes.extend(one_pair.map(|text| (text, Emphasis::None)));
    if let Some((last, _)) = notes.last_mut() {
        last.push_str(&format!(" · exit {}", diff.about.exit));
    }
    for (note, emphasis) in notes {
        let note = style.glyphs.plain(&note).into_owned();
        lines.extend(wrap(&note, style.layout_width()).into_iter().map(|line| Line::new(line, emphasis)));
    }
    Ok(lines)
}

fn sides(diff: &Diff, style: &Style) -> Result<Vec<Line>, IncompatibleUnits> {
    let scale = scale(&diff.header.metric, diff.old.total.max(diff.new.total), style)?;
    let both = [("old", &diff.old), ("new", &diff.new)];
    let rests = both.map(|(_, side)| words::side(diff, side, &scale.format(side.total)));
    let room = style.layout_width().saturating_sub(BEFORE_INPUTS + GAP);
    let room = rests.iter().map(|rest| room.saturating_sub(display_width(rest))).min().unwrap_or(room);
    let inputs = |side: &DiffSide| {
        let inputs = words::inputs(side);
        let inputs = style.glyphs.plain(&inputs).into_owned();
        match style.width {
            Some(_) => shorten(&inputs, room.max(LEAST_INPUTS), style),
            None => inputs,
        }
    };
    let names = both.map(|(_, side)| inputs(side));
    let width = names.iter().map(|name| display_width(name)).max().unwrap_or(0);
    let line = |((which, _), (name, rest)): ((&str, &DiffSide), (&String, &String))| {
        Line::new(format!("{which}  {}  {}", pad(name, width), style.glyphs.plain(rest)), Emphasis::None)
    };
    Ok(both.into_iter().zip(names.iter().zip(&rests)).map(line).collect())
}

/// Columns of `old` and the gap behind it.
const BEFORE_INPUTS: usize = 5;
/// Blanks between inputs and numbers.
const GAP: usize = 2;
/// Inputs are never shortened below this many columns.
const LEAST_INPUTS: usize = 12;

fn table(diff: &Diff, style: &Style) -> Vec<Line> {
    let names = Names::new(diff.rows.iter().map(|row| &row.name), style);
    // The samples behind each row stand where there is room, and where they can be told.
    let samples = style.is_wide() && diff.rows.iter().any(|row| row.about.samples.is_some());
    let rows: Vec<&DiffRow> = diff.rows.iter().filter(|row| is_shown(row, diff)).collect();
    let mut titles = vec!["", "COST", "95% CI", "OLD", "NEW", "Δ", "q"];
    if samples {
        titles.push("SAMPLES");
    }
    let noun = diff.header.about.noun.0.to_uppercase();
    titles.push(&noun);
    let titles: Vec<String> =
        titles.into_iter().map(|title| style.glyphs.plain(title).into_owned()).collect();
    let numbers: Vec<Vec<String>> = rows.iter().map(|row| numbers(row, samples, style)).collect();
    let title_refs: Vec<&str> = titles.iter().map(String::as_str).collect();
    let taken = Columns::width_of_numbers(&title_refs, &numbers);
    let room = style.layout_width().saturating_sub(taken).max(LEAST_NAME);

    let mut columns = Columns::new(titles.iter().map(String::as_str)).first_left();
    for (row, numbers) in rows.iter().zip(numbers) {
        let emphasis = match row.verdict {
            RowVerdict::Regressed => Emphasis::Strong,
            RowVerdict::Unchanged => Emphasis::Faint,
            _ => Emphasis::None,
        };
        columns.row(numbers, name(row, &names, room, style), emphasis);
    }
    if diff.about.cut > 0 {
        let cut = unit::group_thousands(diff.about.cut as i128);
        let rest = format!("{} {cut} more tested", style.glyphs.ellipsis);
        columns.row(vec![String::new(); titles.len() - 1], rest, Emphasis::Faint);
    }
    columns.lines()
}

/// Names get at least this many columns, even where the terminal has fewer.
const LEAST_NAME: usize = 16;

/// Whether a row says anything: where something could be tested, what could not be only says so much.
fn is_shown(row: &DiffRow, diff: &Diff) -> bool {
    row.p.is_some() || diff.tested == 0
}

fn numbers(row: &DiffRow, samples: bool, style: &Style) -> Vec<String> {
    let indent = if row.about.indented { "  " } else { "" };
    let mut cells = vec![
        format!("{indent}{}", words::verdict(row)),
        words::cost(row),
        words::interval(row),
        words::percent(row.about.old_share),
        words::percent(row.about.new_share),
        words::points(row.points),
        row.q.map(words::probability).unwrap_or_default(),
    ];
    if samples {
        let count = |value: f64| unit::group_thousands(value.round() as i128);
        let both = row.about.samples.map(|(old, new)| format!("{} → {}", count(old), count(new)));
        cells.push(both.unwrap_or_default());
    }
    cells.into_iter().map(|cell| style.glyphs.plain(&cell).into_owned()).collect()
}

fn name(row: &DiffRow, names: &Names, room: usize, style: &Style) -> String {
    let behind = words::behind_name(row, |name| crate::name::clean(names.get(name)).into_owned());
    let name = names.get(&row.name);
    match style.width {
        Some(_) => {
            let least = room.saturating_sub(display_width(&behind)).max(LEAST_NAME / 2);
            let name = fit(name, least, style.glyphs.ellipsis);
            fit(&format!("{name}{behind}"), room, style.glyphs.ellipsis)
        }
        None => format!("{name}{behind}"),
    }
}

/// Breaks a sentence into lines at its blanks.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if display_width(line) + 1 + display_width(word) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_break_at_blanks() {
        assert_eq!(wrap("no verdict: so few samples", 12), ["no verdict:", "so few", "samples"]);
        assert_eq!(wrap("incomprehensibilities", 5), ["incomprehensibilities"]);
    }
}
