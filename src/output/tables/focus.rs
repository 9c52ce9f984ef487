//! One function between its callers and its callees.

use crate::name::{clean, split_shown};
use crate::output::Scaled;
use crate::output::label::Label;
use crate::output::names::{DisplayNames, short_file};
use crate::output::style::Style;
use crate::output::table::{Cell, Columns, Emphasis, Form, Kind, Note, Rank, Table};
use crate::output::tables::values::{
    HasValues, RowSides, ValueColumns, Which, artefact_note, more, side_only,
};
use crate::report::{
    CountedFrom, CutRows, Focus, FocusMatch, Grouping, Neighbour, NeighbourKind, Overlap, Pair,
};
use crate::unit::{self};

/// A caller, the function, its self, or a callee.
#[derive(Clone)]
struct FocusLine<'r> {
    role: &'static str,
    what: What<'r>,
    /// The branch before the name.
    branch: &'static str,
    value: i64,
    old: Option<i64>,
}

#[derive(Clone, Copy)]
enum What<'r> {
    Neighbour(&'r Neighbour),
    Function,
    Own,
    /// How many callers or callees were cut.
    More(u64),
}

impl HasValues for FocusLine<'_> {
    fn sides(&self) -> RowSides {
        RowSides::of_total(self.value, self.old)
    }
}

/// The function between callers and callees, and the functions that match if there are several.
pub(super) fn tables<'r>(focus: &'r Focus, form: Form, style: &'r Style) -> Scaled<Vec<Table<'r>>> {
    let header = &focus.header;
    let values = ValueColumns::new(header, focus.values.new.total.max(old(focus).total), style)?;
    let neighbours = || focus.callers.iter().chain(&focus.callees).map(|row| &row.name);
    let mut columns = Columns::new();
    columns.add("role", Kind::Text, |line: &FocusLine| line.role);
    columns.add("name", Kind::Name, |line: &FocusLine| match line.what {
        What::Neighbour(row) => &*row.name,
        _ => &*focus.name,
    });
    let names = neighbours().chain(focus.matches.iter().map(|row| &row.name));
    let names = DisplayNames::of(header, names, form, style);
    let label = move |line: &FocusLine| label(focus, line, &names, style).branch(line.branch);
    columns.show(format!("CALLERS, {}, CALLEES", header.by.title()), Kind::Name, label);
    let kind = Kind::Value(values.scale.clone());
    let title = if focus.counts_calls { "CALLS" } else { "TOTAL" };
    columns.add("value", kind, |line| line.value).titled(title);
    if header.base.is_none() {
        add_all_shares(&mut columns, focus);
    }
    values.side(&mut columns, Which::Total);
    columns.emphasis(move |line| match line.what {
        What::Neighbour(row) if header.is_highlighted(&row.name) => Emphasis::Marked,
        What::Function => Emphasis::Strong,
        What::More(_) => Emphasis::Faint,
        What::Neighbour(_) | What::Own => Emphasis::None,
    });
    let lines = lines(focus, form, style);
    let mut table = columns.table(form, &[], move || lines.clone().into_iter(), []);
    if form == Form::Csv {
        return Ok(vec![table]);
    }
    table.below.extend(overlap_note(focus).or_else(|| calls_note(focus)).map(Note::faint));
    table.below.extend(values.highlight_note(style));
    let mut tables = vec![table];
    if focus.matches.len() > 1 {
        tables.push(matches(focus, &values, form, style));
    }
    if let Some(last) = tables.last_mut() {
        last.below.extend(artefact_note(header, neighbours(), style));
    }
    Ok(tables)
}

/// The value as a share of the function, and of all.
fn add_all_shares<'r>(columns: &mut Columns<'r, FocusLine<'r>>, focus: &'r Focus) {
    let whole = focus.values.new.total;
    // The calls that a function makes are no part of the calls to it: 4 calls to `report` may make 48 to `round`.
    let is_part = move |line: &&FocusLine| !focus.counts_calls || line.role != "callee";
    let share = move |line: &FocusLine| {
        Some(line).filter(is_part).map(|line| Cell::Share { part: line.value, whole })
    };
    columns.show("%FUNC", Kind::Share, share).rank(Rank::ShareOfFunction);
    let (total, left) = (focus.header.total, focus.header.shown);
    columns
        .show("%ALL", Kind::Share, move |line| Cell::Share { part: line.value, whole: total })
        .rank(Rank::Share);
    if !focus.header.filters.is_empty() {
        let share = move |line: &FocusLine| Cell::Share { part: line.value, whole: left };
        columns.show("%SHOWN", Kind::Share, share).rank(Rank::ShareOfShown);
    }
}

/// Callers, the function, its self, callees. People see how many were cut, and what is no function last.
fn lines<'r>(focus: &'r Focus, form: Form, style: &Style) -> Vec<FocusLine<'r>> {
    let glyphs = style.glyphs;
    let line = |role, what, value, old| FocusLine { role, what, branch: glyphs.branch, value, old };
    let side = |role: &'static str, rows: &'r [Neighbour], cut: CutRows| {
        let neighbour = move |row: &'r Neighbour| line(role, What::Neighbour(row), row.value, row.old);
        if form == Form::Csv {
            return rows.iter().map(neighbour).collect::<Vec<_>>();
        }
        let is_function = |row: &&Neighbour| row.kind == NeighbourKind::Function;
        let functions = rows.iter().filter(is_function).map(neighbour);
        let more = (cut.rows > 0).then(|| line(role, What::More(cut.rows), cut.value, cut.old));
        let others = rows.iter().filter(|row| !is_function(row)).map(neighbour);
        functions.chain(more).chain(others).collect()
    };
    let Pair { self_value, total } = focus.values.new;
    let old = focus.values.old;
    let mut lines = side("caller", &focus.callers, focus.more_callers);
    if let Some(first) = lines.first_mut() {
        first.branch = glyphs.first;
    }
    let function = line("function", What::Function, total, old.map(|old| old.total));
    lines.push(FocusLine { branch: glyphs.focus, ..function });
    if !focus.counts_calls || form == Form::Csv {
        lines.push(line("self", What::Own, self_value, old.map(|old| old.self_value)));
    }
    lines.extend(side("callee", &focus.callees, focus.more_callees));
    if let Some(last) = lines.last_mut().filter(|last| !matches!(last.what, What::Function)) {
        last.branch = glyphs.last;
    }
    lines
}

fn label<'r>(focus: &Focus, line: &FocusLine, names: &DisplayNames, style: &Style) -> Label<'r> {
    match line.what {
        What::Neighbour(row) => {
            // The function may be on both sides; it is the call that is not.
            let side = match side_only(&focus.header, row.value, row.old) {
                _ if row.kind == NeighbourKind::Root => "",
                "" => "",
                _ if row.value == 0 => " (call removed)",
                _ => " (new call)",
            };
            Label::new(names.marked(&focus.header, &row.name, style) + side)
        }
        What::Own => Label::new("(self)"),
        What::More(count) => {
            let nouns = match line.role {
                "caller" => Grouping { one: "caller", several: "callers", ..Grouping::default() },
                _ => Grouping { one: "callee", several: "callees", ..Grouping::default() },
            };
            Label::new(more(count, &nouns, style))
        }
        What::Function => {
            let name = match &focus.matches[..] {
                [one] => names.get(&one.name).to_string(),
                several => {
                    let count = unit::group_thousands(several.len() as i128);
                    let noun = focus.header.by.several;
                    format!("{count} {noun} matching {}, combined", clean(&focus.name))
                }
            };
            // A name such as `pay app.mjs:52:19` shows the file already.
            let file = focus.file.as_deref();
            let file = file.filter(|_| style.is_wide() && split_shown(&focus.name).is_none());
            Label::new(name + side_only(&focus.header, line.value, line.old))
                .suffix(file.map(|file| format!("   {}", short_file(file))).unwrap_or_default())
        }
    }
}

/// A matching function, or `None` for those that are not listed.
struct MatchRow<'r>(Option<&'r FocusMatch>);

/// The matching functions, one row each.
fn matches<'r>(focus: &'r Focus, values: &ValueColumns<'r>, form: Form, style: &'r Style) -> Table<'r> {
    let shown = &focus.matches[..focus.matches.len().min(MOST_MATCHES)];
    let hidden = (focus.matches.len() - shown.len()) as u64;
    let by = &focus.header.by;
    let names = DisplayNames::of(&focus.header, shown.iter().map(|row| &row.name), form, style);
    let kind = Kind::Value(values.scale.clone());
    let mut columns = Columns::new();
    columns.show("TOTAL", kind.clone(), |row: &MatchRow| Some(row.0?.total));
    let whole = focus.header.total;
    let share = move |row: &MatchRow| Some(Cell::Share { part: row.0?.total, whole });
    columns.show("%ALL", Kind::Share, share).rank(Rank::Share);
    columns.show("SELF", kind, |row| Some(row.0?.self_value));
    let label = move |row: &MatchRow| match row.0 {
        Some(row) => Label::new(names.get(&row.name)),
        None => Label::new(more(hidden, by, style)),
    };
    columns.show(format!("MATCHING {}", by.several.to_uppercase()), Kind::Name, label);
    columns.emphasis(|row| if row.0.is_some() { Emphasis::None } else { Emphasis::Faint });
    let rows = || shown.iter().map(|row| MatchRow(Some(row)));
    let mut table = columns.table(form, &[], rows, (hidden > 0).then_some(MatchRow(None)));
    if form == Form::Text {
        table.above.push(Note::default());
    }
    table
}

/// The number of matching functions that are listed. A longer list would push the answer off the screen.
const MOST_MATCHES: usize = 5;

/// A note on why the rows do not add up to the total, if they do not.
fn overlap_note(focus: &Focus) -> Option<String> {
    let is_of_old = focus.overlap == Overlap::default();
    let (overlap, total, of_old) = if is_of_old {
        (focus.old_overlap.unwrap_or_default(), old(focus).total, " on the old side")
    } else {
        (focus.overlap, focus.values.new.total, "")
    };
    let sides = [("callers", overlap.callers), ("self and callees", overlap.callees)];
    // A sum that is shown as 100% adds up for every reader.
    let sum = |excess: i64| unit::share(total.saturating_add(excess), total);
    let uneven = sides.iter().filter(|(_, excess)| *excess != 0).map(|(side, excess)| (side, sum(*excess)));
    let uneven = uneven.filter(|(_, share)| share != "100.0%").enumerate();
    let sums: Vec<String> = uneven
        .map(|(index, (side, share))| match index {
            0 => format!("{side} {share} of the total{of_old}"),
            _ => format!("{side} {share}"),
        })
        .collect();
    let why = match focus.counted_from {
        CountedFrom::Stacks => {
            "rows add up to more than 100%, because one sample can pass through several of them"
        }
        CountedFrom::RecursiveCalls => {
            "rows do not add up to 100%, because the cost of a recursive call is also part of the call around it"
        }
        CountedFrom::Calls => {
            "rows do not add up to 100%, because the call costs in the profile do not match its totals"
        }
    };
    (!sums.is_empty()).then(|| format!("{why}: {}", sums.join(", ")))
}

/// What the numbers of calls mean on either side of the function.
fn calls_note(focus: &Focus) -> Option<String> {
    let note = "CALLS: above the function, the calls to it; below it, the calls that it makes";
    focus.counts_calls.then(|| note.to_string())
}

/// The old side of the function.
fn old(focus: &Focus) -> Pair {
    focus.values.old.unwrap_or_default()
}
