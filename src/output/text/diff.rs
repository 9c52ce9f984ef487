//! The comparison of two sides as text.

use std::collections::{HashMap, HashSet};

use crate::name::{clean, display_width, fit, fit_distinct};
use crate::output::diff::causes::{self, Shown};
use crate::output::diff::evidence::evidence;
use crate::output::diff::words::{self, PerRun};
use crate::output::names::DisplayNames;
use crate::output::style::Style;
use crate::output::table::{Emphasis, Form, Kind, Rank, Table};
use crate::output::text::grid::{self, GAP};
use crate::output::text::header::shorten;
use crate::output::text::line::TextLine;
use crate::output::width::{pad, wrap};
use crate::output::{Scaled, scale, tables};
use crate::report::{Diff, DiffRow, DiffSide, DiffVerdict};

/// The two sides, the rows, what was detectable, and the verdict with the exit code.
pub(super) fn lines(diff: &Diff, style: &Style) -> Scaled<Vec<TextLine>> {
    let mut lines = sides(diff, style)?;
    for text in words::folded(diff).into_iter().chain(words::filters(diff)).chain(words::outside_costs(diff))
    {
        let text = broken(&style.glyphs.plain(&text), style.layout_width());
        lines.extend(text.into_iter().map(|line| TextLine::new(line, Emphasis::Faint)));
    }
    let mut has_shares = false;
    if diff.rows.is_empty() {
        lines.push(TextLine::new(words::NO_SAMPLES, Emphasis::Faint));
    } else {
        let rows = table(diff, style)?;
        has_shares = rows.has_shares;
        lines.extend(rows.lines);
    }
    lines.extend(causes(diff, style));
    let matched = diff.matched.iter().flat_map(|matched| [&matched.old, &matched.new]);
    let names = DisplayNames::new(matched.chain(diff.calls.iter().map(|calls| &calls.function)), style);
    let name = |name: &str| clean(names.get(name)).into_owned();
    let mut notes: Vec<(String, Emphasis)> = Vec::new();
    let faint = |text: String| (text, Emphasis::Faint);
    notes.extend(words::legend(&diff.rows.iter()).map(faint));
    notes.extend(words::matched(diff, style.all_matches, name).map(faint));
    notes.extend(words::upgrades(diff, style.all_matches).map(faint));
    notes.extend(words::on_one_side(diff).map(faint));
    notes.extend(words::idle(diff).map(faint));
    notes.push(faint(words::scales(diff, has_shares)));
    notes.extend(words::learned(diff).map(faint));
    notes.extend(words::doubts(diff).map(|text| (text, Emphasis::Strong)));
    notes.extend(words::changed_calls(diff, name).map(|text| (text, Emphasis::None)));
    for budget in &diff.budgets {
        let emphasis = if budget.exceeded { Emphasis::Strong } else { Emphasis::Faint };
        notes.push((words::budget(&diff.header, budget), emphasis));
    }
    notes.push((words::evidence(diff), Emphasis::None));
    let inconclusive = diff.verdict == DiffVerdict::Inconclusive;
    let one_pair = words::one_pair(diff);
    // With neither a verdict nor replicates, the counts would say nothing.
    if !inconclusive || one_pair.is_none() || !diff.budgets.is_empty() {
        notes.push((words::summary(diff), Emphasis::None));
    }
    notes.extend(one_pair.map(|text| (text, Emphasis::None)));
    notes.extend(words::strict(diff).map(|text| (text, Emphasis::None)));
    if let (Some((last, _)), Some(code)) = (notes.last_mut(), style.exit_code) {
        last.push_str(&format!(" · exit {code}"));
    }
    for (note, emphasis) in notes {
        let note = style.glyphs.plain(&note).into_owned();
        lines.extend(
            broken(&note, style.layout_width()).into_iter().map(|line| TextLine::new(line, emphasis)),
        );
    }
    Ok(lines)
}

/// Why costs changed, with an empty line before and after it; nothing if that is not known.
fn causes(diff: &Diff, style: &Style) -> Vec<TextLine> {
    let names =
        diff.causes.iter().flat_map(|cause| cause.path.iter().chain(&cause.of).chain([&cause.function]));
    let names = DisplayNames::new(names, style);
    let name = |name: &str| clean(names.get(name)).into_owned();
    let prose = |indent: &str, text: &str, emphasis: Emphasis| -> Vec<TextLine> {
        let text = style.glyphs.plain(text).into_owned();
        let wrapped = broken(&text, style.layout_width().saturating_sub(indent.len()));
        wrapped.into_iter().map(|line| TextLine::new(format!("{indent}{line}"), emphasis)).collect()
    };
    let mut lines = Vec::new();
    for shown in Shown::both(diff, style.explain) {
        lines.extend(prose("", &shown.headline(diff), Emphasis::Bold));
        let below = "   ";
        for (number, cause) in shown.causes.iter().enumerate() {
            let change = format!("{}  {}", causes::change(cause), words::change(diff, cause.points));
            let change = style.glyphs.plain(&change).into_owned();
            let function = name(&cause.function);
            let room = style.width.map_or(usize::MAX, |width| width.saturating_sub(below.len()));
            if display_width(&function) + GAP + display_width(&change) <= room {
                lines.push(TextLine::row(format!("{:<3}{function}  {change}", number + 1), Emphasis::Strong));
            } else {
                // What changed is the one name that must not be cut.
                let function = fit(&function, room, style.glyphs.ellipsis);
                lines.push(TextLine::row(format!("{:<3}{function}", number + 1), Emphasis::Strong));
                lines.extend(prose(below, &change, Emphasis::Strong));
            }
            lines.extend(prose(below, &evidence(diff, cause, name), Emphasis::None));
            let command = causes::command(diff, cause);
            if let Some(command) = command {
                let command = style.glyphs.plain(&command).into_owned();
                let room = style.width.map_or(usize::MAX, |width| width.saturating_sub(below.len()));
                let command = continued(&command, room).unwrap_or_else(|| broken(&command, room));
                lines.extend(
                    command.into_iter().map(|line| TextLine::new(format!("{below}{line}"), Emphasis::Faint)),
                );
                let how = causes::completed(diff);
                lines.extend(how.into_iter().flat_map(|how| prose(below, &how, Emphasis::Faint)));
            }
        }
        lines.extend(shown.rest(diff).into_iter().flat_map(|rest| prose(below, &rest, Emphasis::Faint)));
    }
    let moves = causes::moves(diff, style.explain, name);
    lines.extend(moves.into_iter().flat_map(|moves| prose("", &moves, Emphasis::None)));
    if !lines.is_empty() {
        lines.insert(0, TextLine::default());
        lines.push(TextLine::default());
    }
    lines
}

fn sides(diff: &Diff, style: &Style) -> Scaled<Vec<TextLine>> {
    let scale = scale(&diff.header.metric, diff.old.total.max(diff.new.total), style.unit.as_ref())?;
    let both = [("old", &diff.old), ("new", &diff.new)];
    let rests = both.map(|(_, side)| {
        let rest = words::side(diff, side, |value| scale.format(value));
        style.glyphs.plain(&rest).into_owned()
    });
    let beside = style.layout_width().saturating_sub(BEFORE_INPUTS + GAP);
    let beside = rests.iter().map(|rest| beside.saturating_sub(display_width(rest))).min().unwrap_or(beside);
    // On a narrow terminal, the numbers of a side get a line of their own.
    let is_narrow = style.width.is_some() && beside < LEAST_INPUTS;
    let room = if is_narrow { style.layout_width().saturating_sub(BEFORE_INPUTS) } else { beside };
    let inputs = |side: &DiffSide| {
        let inputs = words::inputs(side);
        let inputs = style.glyphs.plain(&inputs).into_owned();
        if style.width.is_some() { end_of(&inputs, room, style) } else { inputs }
    };
    let names = both.map(|(_, side)| inputs(side));
    let width = names.iter().map(|name| display_width(name)).max().unwrap_or(0);
    let mut lines = Vec::new();
    for ((which, _), (name, rest)) in both.into_iter().zip(names.iter().zip(&rests)) {
        if is_narrow {
            lines.push(format!("{which}  {name}"));
            let rest = broken(rest, room).into_iter();
            lines.extend(rest.map(|rest| format!("{}{rest}", " ".repeat(BEFORE_INPUTS))));
        } else {
            lines.push(format!("{which}  {}  {rest}", pad(name, width)));
        }
    }
    Ok(lines.into_iter().map(|line| TextLine::new(line, Emphasis::None)).collect())
}

/// A path, without its first folders if it is too long: what tells the sides apart is often the folder before the last.
fn end_of(path: &str, width: usize, style: &Style) -> String {
    let mut rest = path;
    let shown = |rest: &str| {
        if rest.len() == path.len() { rest.to_string() } else { format!("{}/{rest}", style.glyphs.ellipsis) }
    };
    while display_width(&shown(rest)) > width {
        let Some((_, after)) =
            rest.trim_start_matches('/').split_once('/').filter(|(_, after)| !after.is_empty())
        else {
            return shorten(path, width, style);
        };
        rest = after;
    }
    shown(rest)
}

/// The width of `old` and the gap after it.
const BEFORE_INPUTS: usize = 5;
/// If the inputs would get fewer columns than this, the numbers get a line of their own.
const LEAST_INPUTS: usize = 12;

/// The rows as they are printed.
struct PrintedRows {
    lines: Vec<TextLine>,
    /// Whether the shares of both sides are among the columns.
    has_shares: bool,
}

fn table(diff: &Diff, style: &Style) -> Scaled<PrintedRows> {
    let names = DisplayNames::new(diff.rows.iter().map(|row| &row.name), style);
    let rows: Vec<&DiffRow> = diff.rows.iter().filter(|row| is_shown(row, diff)).collect();
    let full: Vec<FullName> = rows.iter().map(|row| FullName::new(diff, row, &names)).collect();
    let others = first_of_others(diff, &rows);
    let table = tables::diff::table(diff, rows, Form::Text, PerRun::new(diff, style.unit.as_ref())?);
    let widest = full.iter().map(|name| display_width(&name.text())).max().unwrap_or(0);
    let Fitting { rows, is_left, has_shares, room } = fitting(&table, widest.min(LEAST_NAME), style);
    let mut names = vec![Some(diff.header.by.title())];
    names.extend(fit_all(&full, room, style.glyphs.ellipsis));
    let mut lines = Vec::new();
    for (number, mut line) in grid::laid_out(&rows, &is_left).into_iter().enumerate() {
        let emphasis = line.emphasis;
        // The titles come first.
        if others.is_some_and(|row| row + 1 == number) {
            lines.push(TextLine::new(words::above_others(diff), Emphasis::Faint));
        }
        line.text.push_str(names[number].as_deref().unwrap_or_default());
        lines.push(line);
        if names[number].is_none() {
            let width = style.layout_width().saturating_sub(INDENT.len());
            // The titles come first.
            let parts = broken(&full[number - 1].text(), width).into_iter();
            lines.extend(parts.map(|part| TextLine::new(format!("{INDENT}{part}"), emphasis)));
        }
    }
    let cut = words::cut(diff).map(|cut| format!("{} {cut}", style.glyphs.ellipsis));
    let cut = cut.into_iter().flat_map(|cut| broken(&cut, style.layout_width()));
    lines.extend(cut.map(|line| TextLine::new(line, Emphasis::Faint)));
    Ok(PrintedRows { lines, has_shares })
}

/// The first row that is not significant, if these rows are the last ones.
fn first_of_others(diff: &Diff, rows: &[&DiffRow]) -> Option<usize> {
    let first = rows.iter().position(|row| !row.verdict.is_significant())?;
    let is_last = rows[first..].iter().all(|row| !row.verdict.is_significant());
    (is_last && diff.tested > 0).then_some(first)
}

/// Names get at least this many columns, as long as there is a column of numbers to drop for them.
const LEAST_NAME: usize = 30;

/// The indentation of a name on a line of its own, because it does not fit next to its numbers.
const INDENT: &str = "    ";

/// Whether to show a row: if anything could be tested, rows without a test are left out.
fn is_shown(row: &DiffRow, diff: &Diff) -> bool {
    row.p.is_some() || diff.tested == 0
}

/// The columns that fit.
struct Fitting {
    /// The titles and the cells of the rows.
    rows: Vec<(Vec<String>, Emphasis)>,
    /// Whether a column is aligned to the left.
    is_left: Vec<bool>,
    /// Whether the shares of both sides are among them.
    has_shares: bool,
    /// The width left for names; `None` if it is unlimited.
    room: Option<usize>,
}

/// As many columns as leave enough space for names. Evidence is dropped before results.
fn fitting(table: &Table, wanted: usize, style: &Style) -> Fitting {
    let rows = grid::rows(table, style);
    let widest = |index: usize| rows.iter().map(|(cells, _)| display_width(&cells[index])).max().unwrap_or(0);
    let widths: Vec<usize> = (0..table.columns.len()).map(widest).collect();
    let rank = |index: usize| table.columns[index].rank;
    // The number of samples is shown only on wide terminals.
    let is_wide = |index: &usize| style.is_wide() || rank(*index) != Rank::Samples;
    // Without a test, some columns are empty in all rows, the first of which has the titles.
    let is_empty = |index: usize| rows.iter().skip(1).all(|(cells, _)| cells[index].is_empty());
    let has_content = |index: &usize| widths[*index] > 0 && !is_empty(*index);
    let mut shown: Vec<usize> = (0..widths.len()).filter(has_content).filter(is_wide).collect();
    let room = |shown: &[usize]| {
        let taken: usize = shown.iter().map(|&index| widths[index] + GAP).sum();
        style.width.map(|width| width.saturating_sub(taken))
    };
    while room(&shown).is_some_and(|room| room < wanted) {
        // All columns of a rank go together: the share of one side says little without that of the other.
        let ranks = shown.iter().map(|&index| rank(index));
        let Some(first) = ranks.filter(|rank| *rank != Rank::Essential).min() else { break };
        shown.retain(|&index| rank(index) != first);
    }
    let cells = |cells: &[String]| shown.iter().map(|&index| cells[index].clone()).collect();
    Fitting {
        rows: rows.iter().map(|(all, emphasis)| (cells(all), *emphasis)).collect(),
        is_left: shown.iter().map(|&index| matches!(table.columns[index].kind, Kind::Key)).collect(),
        has_shares: shown.iter().any(|&index| rank(index) == Rank::OtherForm),
        room: room(&shown),
    }
}

/// A name, and the text after it.
struct FullName {
    name: String,
    after: String,
}

impl FullName {
    fn new(diff: &Diff, row: &DiffRow, names: &DisplayNames) -> Self {
        let after = words::after_name(diff, row, |name| crate::name::clean(names.get(name)).into_owned());
        FullName { name: names.get(&row.name).to_string(), after }
    }

    fn text(&self) -> String {
        format!("{}{}", self.name, self.after)
    }
}

/// Names fitted to `room` columns so that distinct names remain distinct; `None` for names that need a
/// line of their own.
fn fit_all(names: &[FullName], room: Option<usize>, ellipsis: &str) -> Vec<Option<String>> {
    let Some(room) = room else { return names.iter().map(|name| Some(name.text())).collect() };
    let fitted = |name: &FullName| {
        let for_name = room.checked_sub(display_width(&name.after))?;
        Some(format!("{}{}", fit_distinct(&name.name, for_name, ellipsis)?, name.after))
    };
    let shown: Vec<Option<String>> = names.iter().map(fitted).collect();
    let mut meant: HashMap<&str, HashSet<&str>> = HashMap::new();
    for (name, shown) in names.iter().zip(&shown) {
        meant.entry(shown.as_deref().unwrap_or_default()).or_default().insert(&name.name);
    }
    let is_clear = |shown: &&String| meant[shown.as_str()].len() == 1;
    shown.iter().map(|shown| shown.as_ref().filter(is_clear).cloned()).collect()
}

/// Breaks a command between words so that a shell reads its lines as one command: each but the last ends with a backslash.
/// `None` if a word is longer than a line.
fn continued(command: &str, width: usize) -> Option<Vec<String>> {
    const MARK: &str = " \\";
    if display_width(command) <= width {
        return Some(vec![command.to_string()]);
    }
    let room = width.checked_sub(MARK.len())?;
    let mut is_quoted = false;
    let words = command.split(|c| {
        is_quoted ^= c == '\'';
        c == ' ' && !is_quoted
    });
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if display_width(line) + 1 + display_width(word) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ if display_width(word) > room => return None,
            _ => lines.push(word.to_string()),
        }
    }
    let last = lines.len() - 1;
    lines[..last].iter_mut().for_each(|line| line.push_str(MARK));
    Some(lines)
}

/// Breaks text between words, and words that are too long within the word.
fn broken(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in wrap(text, width) {
        let mut part = String::new();
        for c in line.chars() {
            if !part.is_empty() && display_width(&part) + display_width(c.encode_utf8(&mut [0; 4])) > width {
                lines.push(std::mem::take(&mut part));
            }
            part.push(c);
        }
        lines.push(part);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_break_at_blanks_and_long_words_within() {
        assert_eq!(broken("no verdict: so few samples", 12), ["no verdict:", "so few", "samples"]);
        assert_eq!(broken("incomprehensible", 7), ["incompr", "ehensib", "le"]);
        assert_eq!(broken("関数関数", 5), ["関数", "関数"]);
    }

    #[test]
    fn a_command_can_be_pasted_whatever_its_length() {
        let command = r"prof focus -F 'f(a b)' --base a/1 'it'\''s'";
        assert_eq!(continued(command, 60).unwrap(), [command]);
        assert_eq!(continued(command, 24).unwrap(), [r"prof focus -F 'f(a b)' \", r"--base a/1 'it'\''s'"]);
        assert_eq!(
            continued(command, 13).unwrap(),
            [r"prof focus \", r"-F 'f(a b)' \", r"--base a/1 \", r"'it'\''s'"]
        );
        assert_eq!(continued(command, 9), None);
    }

    #[test]
    fn the_end_of_a_path_is_kept() {
        let end = |path: &str, width| end_of(path, width, &Style::plain());
        assert_eq!(end("/srv/app/parse/old", 18), "/srv/app/parse/old");
        assert_eq!(end("/srv/app/parse/old", 17), "…/app/parse/old");
        assert_eq!(end("/srv/app/parse/old", 11), "…/parse/old");
        assert_eq!(end("/srv/app/parse/old", 9), "…/old");
        assert_eq!(end("runs/old/", 8), "…/old/");
        assert_eq!(end("cpu.pb.gz", 5).chars().count(), 5);
    }

    #[test]
    fn names_that_differ_still_do_when_they_are_cut() {
        let fit = |names: &[&str], room| {
            let name = |name: &&str| FullName { name: name.to_string(), after: " (self)".to_string() };
            let names: Vec<FullName> = names.iter().map(name).collect();
            fit_all(&names, Some(room), "…")
        };
        let some = |text: &str| Some(text.to_string());
        let both = ["matching.Engine.matchInstance", "matching.Engine.matchOrder"];
        assert_eq!(
            fit(&both, 36),
            [some("matching.Engine.matchInstance (self)"), some("matching.Engine.matchOrder (self)")]
        );
        assert_eq!(fit(&both, 28), [some("…Engine.matchInstance (self)"), some("…Engine.matchOrder (self)")]);
        // Only the parts that are cut distinguish these two: each gets a line of its own.
        assert_eq!(fit(&["first.Engine.matchOrders", "second.Engine.matchOrders"], 28), [None, None]);
        // Two rows for the same function may look alike.
        assert_eq!(
            fit(&["first.Engine.matchOrders", "first.Engine.matchOrders"], 28).iter().flatten().count(),
            2
        );
        assert_eq!(fit(&["a_single_long_word"], 20), [None]);
    }
}
