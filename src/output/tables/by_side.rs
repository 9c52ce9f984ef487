//! Several builds compared with the first: one row per build, then one per function.

use crate::name::{clean, display_width};
use crate::output::Scaled;
use crate::output::diff::causes::{self, Shown, digits_of_growth};
use crate::output::diff::words::{self, PerRun};
use crate::output::label::Label;
use crate::output::names::DisplayNames;
use crate::output::scale;
use crate::output::style::Style;
use crate::output::table::{Columns, Emphasis, Form, Kind, Note, Rank, Table, wrapped};
use crate::output::tables::diff::add_keys;
use crate::report::{
    BySide, BySideRow, Diff, DiffCause, DiffOutcome, DiffRow, DiffSide, DiffVerdict, RowTest, RowVerdict,
    TotalGrowth,
};
use crate::unit::{decimals, percentage, significance};

/// The tables; for programs, a single one with a row per function and build.
pub(super) fn tables<'r>(all: &'r BySide, form: Form, style: &'r Style) -> Scaled<Vec<Table<'r>>> {
    if form == Form::Csv {
        return Ok(vec![flat(all)]);
    }
    let mut builds = builds(all, form, style)?;
    let metric = clean(&all.header.metric.name).into_owned();
    builds.above.push(Note::plain(format!("{metric}, each build compared with {}", words::inputs(&all.old))));
    builds.below.push(Note::default());
    let mut functions = functions(all, form, style)?;
    functions.below = notes(all, form, style);
    Ok(vec![builds, functions])
}

/// One row per function and build, with the columns of an ordinary comparison.
fn flat(all: &BySide) -> Table<'_> {
    let mut columns = Columns::new();
    columns.add("function", Kind::Name, |(function, ..): &(&BySideRow, &Diff, &DiffRow)| &*function.name);
    columns.add("build", Kind::Text, |(_, diff, _)| diff.new.inputs.join(" "));
    add_keys(&mut columns, |(.., row)| row);
    let rows = || {
        all.rows.iter().flat_map(|function| {
            let cells = function.builds.iter().zip(&all.builds);
            cells.filter_map(move |(row, diff)| Some((function, diff, row.as_ref()?)))
        })
    };
    columns.table(Form::Csv, &[], rows, [])
}

/// What columns are called: the ends of the paths of the builds that tell them apart if these are short, else numbers.
struct Labels {
    old: String,
    builds: Vec<String>,
    are_numbers: bool,
}

impl Labels {
    fn of(all: &BySide) -> Self {
        let sides = || std::iter::once(&all.old).chain(all.builds.iter().map(|diff| &diff.new));
        let is_clear = |names: &Vec<String>| {
            let mut distinct: Vec<&String> = names.iter().collect();
            distinct.sort_unstable();
            distinct.dedup();
            let is_short = |name: &String| (1..=WIDEST_LABEL).contains(&display_width(name));
            distinct.len() == names.len() && names.iter().all(is_short)
        };
        let ends = |parts: usize| sides().map(|side| end_of(&words::inputs(side), parts)).collect::<Vec<_>>();
        if let Some(mut builds) = (1..=2).map(ends).find(is_clear) {
            let old = builds.remove(0);
            return Labels { old, builds, are_numbers: false };
        }
        let builds = (1..=all.builds.len()).map(|number| number.to_string()).collect();
        Labels { old: "old".to_string(), builds, are_numbers: true }
    }
}

/// The last components of a path: `old/cpu.pb.gz` are two.
fn end_of(path: &str, parts: usize) -> String {
    let path = path.trim_end_matches(['/', '\\']);
    let start = path.rmatch_indices(['/', '\\']).nth(parts - 1).map_or(0, |(at, _)| at + 1);
    path[start..].to_string()
}

/// Longer file names do not become the title of a column.
const WIDEST_LABEL: usize = 16;

/// One row per build: its runs, and the verdict on it.
fn builds<'r>(all: &'r BySide, form: Form, style: &Style) -> Scaled<Table<'r>> {
    let labels = Labels::of(all);
    let metric = &all.header.metric;
    let mean = |side: &DiffSide| words::mean_of_runs(side, side.total);
    let sides = || all.builds.iter().map(|diff| &diff.new).chain([&all.old]);
    let scale = scale(metric, sides().map(mean).max().unwrap_or_default(), style.unit.as_ref())?;
    let side = |build: &Option<usize>| build.map_or(&all.old, |number| &all.builds[number].new);
    let diff = |build: &Option<usize>| build.map(|number| &all.builds[number]);
    let mut columns = Columns::new();
    columns.show("RUNS", Kind::Count, move |build: &Option<usize>| side(build).profiles as i64);
    columns.show("SAMPLES", Kind::Count, move |build| match build {
        // Every comparison counts those of the first build.
        None => all.builds.first()?.old.samples,
        Some(number) => all.builds[*number].new.samples,
    });
    columns.show("TOTAL/RUN", Kind::Word, move |build| scale.format(mean(side(build)))).rank(Rank::OtherForm);
    // The values of TOTAL/RUN are recorded, so their change is, too.
    if all.builds.iter().any(causes::is_rescaled) {
        let recorded = move |build: &Option<usize>| {
            causes::recorded_growth(diff(build)?)
                .map(|percent| percentage(percent, digits_of_growth(percent)))
        };
        columns.show("CHANGE IN TOTAL", Kind::Word, recorded).rank(Rank::OtherForm);
        columns.show(RESCALED, Kind::Word, move |build| growth(diff(build)?)).rank(Rank::Interval);
    } else {
        columns.show("CHANGE IN TOTAL", Kind::Word, move |build| growth(diff(build)?)).rank(Rank::Interval);
    }
    columns.show("VERDICT", Kind::Word, move |build| diff(build).map(words::short_verdict));
    columns.show("BUILD", Kind::Name, move |build| {
        let number = match build {
            Some(number) if labels.are_numbers => &labels.builds[*number],
            None if labels.are_numbers => &labels.old,
            _ => "",
        };
        let number = if number.is_empty() { String::new() } else { format!("{number:<4} ") };
        Label::new(words::inputs(side(build))).prefix(number)
    });
    columns.emphasis(move |build| match diff(build).map(Diff::outcome) {
        Some(DiffOutcome::Failed) => Emphasis::Strong,
        _ => Emphasis::None,
    });
    let count = all.builds.len();
    Ok(columns.table(form, &[], move || std::iter::once(None).chain((0..count).map(Some)), []))
}

/// The title of the change in total once unchanged code costs the same.
const RESCALED: &str = "AFTER RESCALING";

/// `+9.8% (7.1 to 12.6)`
fn growth(diff: &Diff) -> Option<String> {
    let TotalGrowth { percent, low, high } = diff.growth?;
    let digits = digits_of_growth(percent);
    let [from, to] = [low, high].map(|percent| decimals(percent, digits));
    let interval = if low < high { format!(" ({from} to {to})") } else { String::new() };
    Some(format!("{}{}", percentage(percent, digits), interval.replace('-', "−")))
}

/// One row per function: its value in each build, and how much more it costs than in the first.
fn functions<'r>(all: &'r BySide, form: Form, style: &'r Style) -> Scaled<Table<'r>> {
    let labels = Labels::of(all);
    let names = DisplayNames::new(all.rows.iter().map(|row| &row.name), style);
    let per_run = all.builds.iter().map(|diff| PerRun::new(diff, style.unit.as_ref()));
    let per_run: Vec<PerRun> = per_run.collect::<Result<_, _>>()?;
    let of_builds = per_run.clone();
    let mut columns = Columns::new();
    let old = move |row: &&BySideRow| {
        let mut cells = row.builds.iter().zip(&of_builds);
        cells.find_map(|(cell, per_run)| Some(per_run.old(cell.as_ref()?)))
    };
    columns.show(labels.old, Kind::Word, old).rank(Rank::Old);
    for (number, (label, per_run)) in labels.builds.into_iter().zip(per_run).enumerate() {
        let cost = format!("COST {label}");
        let new = move |row: &&BySideRow| match &row.builds[number] {
            Some(cell) => per_run.new_side(cell),
            None => "0".to_string(),
        };
        columns.show(label, Kind::Word, new).rank(Rank::OtherForm);
        columns.show(cost, Kind::Word, move |row| row.builds[number].as_ref().map(cost_cell));
    }
    columns.show(all.header.by.title(), Kind::Name, move |row| {
        let own = if row.test == RowTest::SelfCount { " (self)" } else { "" };
        Label::new(names.get(&row.name)).suffix(own)
    });
    columns.emphasis(|row| {
        let has = |is: fn(&DiffRow) -> bool| row.builds.iter().flatten().any(is);
        if has(|row| row.verdict == RowVerdict::Regressed) {
            Emphasis::Strong
        } else if has(|row| row.verdict.is_significant()) {
            Emphasis::None
        } else {
            Emphasis::Faint
        }
    });
    let has_tests = all.builds.iter().any(|diff| diff.tested > 0);
    let is_shown =
        move |row: &&BySideRow| !has_tests || row.builds.iter().flatten().any(|row| row.p.is_some());
    Ok(columns.table(form, &[], move || all.rows.iter().filter(is_shown), []))
}

/// `REGRESSED ×1.16`
fn cost_cell(row: &DiffRow) -> String {
    format!("{} {}", words::verdict(row), words::cost(row)).trim().to_string()
}

/// Why each build differs and what could have been seen, then what the words and numbers mean, and the result.
fn notes(all: &BySide, form: Form, style: &Style) -> Vec<Note> {
    let labels = Labels::of(all);
    let mut notes = Vec::new();
    let cut = words::not_shown(all.elided_tested);
    notes.extend(cut.map(|cut| Note::faint(format!("{} {cut}", style.glyphs.ellipsis))));
    notes.push(Note::default());
    for (label, diff) in labels.builds.iter().zip(&all.builds) {
        let notes_of_build = of_build(diff, style);
        notes.extend(notes_of_build.map(|note| Note { text: format!("{label}: {}", note.text), ..note }));
    }
    let cells = all.rows.iter().flat_map(|row| row.builds.iter().flatten());
    notes.extend(words::legend(&cells).map(Note::faint));
    notes.extend(all.builds.first().map(|diff| Note::faint(words::scales_of_builds(diff, &labels.old))));
    notes.extend(all.builds.first().and_then(words::one_pair).map(Note::plain));
    notes.push(Note::plain(result(all, &labels, style)));
    if form == Form::Markdown { notes } else { wrapped(notes, style) }
}

/// What there is to say about one build.
fn of_build(diff: &Diff, style: &Style) -> impl Iterator<Item = Note> + use<> {
    let explain = style.explain;
    let name = |name: &str| clean(name).into_owned();
    let shown = Shown::both(diff, explain).into_iter().map(|shown| {
        let cause = |cause: &&DiffCause| format!("{} {}", name(&cause.function), causes::change(cause));
        let list = shown.causes.iter().map(cause).collect::<Vec<_>>().join("; ");
        Note::plain(format!("{}: {list}", shown.headline(diff)))
    });
    let budgets = diff.budgets.iter().map(|budget| {
        let emphasis = if budget.exceeded { Emphasis::Strong } else { Emphasis::Faint };
        Note { text: words::budget(&diff.header, budget), emphasis, ..Note::default() }
    });
    let moved = causes::moves(diff, explain, name).map(Note::plain);
    let matched = words::matched(diff, style.all_matches, name).map(Note::faint);
    let upgrades = words::upgrades(diff, style.all_matches).map(Note::faint);
    let noisy = words::doubts(diff).map(Note::plain);
    let strict = words::strict(diff).map(Note::plain);
    let notes = shown.into_iter().chain(moved).chain(matched).chain(upgrades).chain(budgets).chain(noisy);
    notes.chain([Note::plain(words::short_evidence(diff))]).chain(strict).collect::<Vec<_>>().into_iter()
}

/// `1 of 3 builds regressed: v2; no verdict on v4 · alpha 1% for all builds together, thresholds 1.05× and 1.0pt · exit 1`
fn result(all: &BySide, labels: &Labels, style: &Style) -> String {
    let those = |is: &dyn Fn(&Diff) -> bool| -> Vec<&str> {
        let builds = labels.builds.iter().zip(&all.builds).filter(|(_, diff)| is(diff));
        builds.map(|(label, _)| label.as_str()).collect()
    };
    let failed = those(&|diff| diff.outcome() == DiffOutcome::Failed);
    let unknown = those(&|diff| diff.verdict == DiffVerdict::Inconclusive);
    let count = all.builds.len();
    let mut text = match (failed.len(), count) {
        (0, 1) => "the build did not regress".to_string(),
        (0, _) => format!("none of {count} builds regressed"),
        (failures, _) => format!("{failures} of {count} builds regressed: {}", failed.join(", ")),
    };
    if !unknown.is_empty() {
        text.push_str(&format!("; no verdict on {}", unknown.join(", ")));
    }
    if let Some(diff) = all.builds.first() {
        let (alpha, thresholds) = (significance(all.alpha), words::thresholds(diff));
        text.push_str(&format!(" · alpha {alpha} for all builds together, {thresholds}"));
    }
    text.extend(style.exit_code.map(|code| format!(" · exit {code}")));
    text
}
