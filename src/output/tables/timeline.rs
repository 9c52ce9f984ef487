//! The tables of `timeline`: activity row by row, and the phases.

use crate::name::clean;
use crate::output::command::ManyFiles;
use crate::output::label::Label;
use crate::output::names::DisplayNames;
use crate::output::scale;
use crate::output::style::{Glyphs, Style};
use crate::output::table::{Cell, Columns, Emphasis, Form, Group, Kind, Note, Rank, ReportPart, Table};
use crate::output::tables::values::{Wholes, add_shares};
use crate::report::{
    Header, MetricName, Name, TimeAxis, Timeline, TimelineFunction, TimelinePauses, TimelinePhase,
    TimelineRow, busy_bins,
};
use crate::unit::{
    IncompatibleUnits, Scale, duration, group_thousands, moment, plural, share, timestamp_seconds,
};

/// The activity in each metric, and the phases; for programs the rows alone.
pub(super) fn tables<'r>(
    timeline: &'r Timeline,
    form: Form,
    style: &'r Style,
) -> Result<Vec<Table<'r>>, IncompatibleUnits> {
    if form == Form::Csv {
        return Ok(vec![rows_for_programs(timeline)]);
    }
    if timeline.rows.is_empty() {
        let nothing = Note::faint("no sample with a time has a value");
        return Ok(vec![Table::of_notes(vec![nothing])]);
    }
    let mut tables = Vec::new();
    for metric in 0..timeline.largest.len() {
        tables.push(activity(timeline, metric, form, style)?);
    }
    tables.push(phases(timeline, form, style)?);
    Ok(tables)
}

fn rows_for_programs(timeline: &Timeline) -> Table<'_> {
    fn heaviest<T>(row: &TimelineRow, of: impl Fn(&TimelineFunction) -> T) -> Option<T> {
        row.heaviest.as_ref().map(of)
    }
    let mut columns = Columns::new();
    columns.add("name", Kind::Name, |row: &&'_ TimelineRow| row.name.to_string());
    columns.add("total", Kind::Number, |row| row.total);
    columns.add("first_ns", Kind::Number, |row| row.first_ns);
    columns.add("last_ns", Kind::Number, |row| row.last_ns);
    columns.add("heaviest.name", Kind::Text, |row| heaviest(row, |found| found.name.to_string()));
    columns.add("heaviest.self", Kind::Number, |row| heaviest(row, |found| found.self_value));
    columns.add("bins", Kind::Text, |row| list(&row.bins));
    if timeline.rows.iter().any(|row| !row.idle.is_empty()) {
        columns.add("idle", Kind::Text, |row| list(&row.idle));
    }
    for number in 0..timeline.largest.len().saturating_sub(1) {
        let metric = timeline.header.metrics.get(number + 1).map_or("", |metric| &metric.metric.name);
        columns.add(format!("further.{metric}.total"), Kind::Number, move |row| row.further[number].total);
        columns.add(format!("further.{metric}.bins"), Kind::Text, move |row| list(&row.further[number].bins));
    }
    columns.table(Form::Csv, &[], || timeline.rows.iter(), [])
}

/// The numbers as in JSON: `[18,25]`.
fn list(numbers: &[i64]) -> Cell<'static> {
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    Cell::Text(format!("[{}]", numbers.join(",")).into())
}

/// A row, the sum of those that were cut, or what has no time.
#[derive(Clone, Copy)]
enum TimelineLine<'r> {
    Row(&'r TimelineRow),
    More(&'r TimelineRow, u64),
    Untimed(i64),
    Pauses(&'r TimelinePauses),
}

impl<'r> TimelineLine<'r> {
    fn row(self) -> Option<&'r TimelineRow> {
        match self {
            TimelineLine::Row(row) | TimelineLine::More(row, _) => Some(row),
            TimelineLine::Untimed(_) | TimelineLine::Pauses(_) => None,
        }
    }

    /// The value in one of the metrics; only that of the first is known of what has no time.
    fn total(self, metric: usize) -> Option<i64> {
        match (self, metric) {
            (TimelineLine::Untimed(value), 0) => Some(value),
            (line, 0) => Some(line.row()?.total),
            (line, _) => Some(line.row()?.further[metric - 1].total),
        }
    }

    /// The values of all bins, and the part of them that is idle.
    fn bins(self, metric: usize) -> (&'r [i64], &'r [i64]) {
        self.row().map_or((&[], &[]), |row| row.bins_of(metric))
    }
}

/// One line per row: its total, and a character per bin.
fn activity<'r>(
    timeline: &'r Timeline,
    metric: usize,
    form: Form,
    style: &'r Style,
) -> Result<Table<'r>, IncompatibleUnits> {
    let header = &timeline.header;
    let (name, total, shown) = match header.metrics.get(metric) {
        Some(several) => (&several.metric, several.total, several.shown),
        None => (&header.metric, header.total, header.shown),
    };
    let value_scale = scale(name, shown, style.unit.as_ref())?;
    let mut columns = Columns::new();
    let value = move |line: &TimelineLine| line.total(metric);
    columns.show("TOTAL", Kind::Value(value_scale), value);
    let wholes = Wholes::new(header, total, shown);
    add_shares(&mut columns, wholes, Group::Always, value);
    let largest = timeline.largest[metric];
    let strip = move |line: &TimelineLine| {
        let (bins, idle) = line.bins(metric);
        match line {
            TimelineLine::Pauses(pauses) => {
                Some(strip(&pauses.bins, &[], timeline.axis.bin_ns, style.glyphs))
            }
            _ => (!bins.is_empty()).then(|| strip(bins, idle, largest, style.glyphs)),
        }
    };
    columns.show(scale_of_time(&timeline.axis), Kind::Word, strip);
    add_names(&mut columns, timeline, style);
    let heaviest = || timeline.rows.iter().filter_map(|row| row.heaviest.as_ref());
    let names = DisplayNames::of(header, heaviest().map(|found| &found.name), form, style);
    if metric == 0 {
        columns
            .show("HEAVIEST", Kind::Text, move |line: &TimelineLine| {
                let found = line.row()?.heaviest.as_ref()?;
                Some(names.get(&found.name).to_string())
            })
            .asked(true);
    }
    columns.emphasis(|line| match line {
        TimelineLine::Row(..) => Emphasis::None,
        _ => Emphasis::Faint,
    });
    columns.part(|_, place| Some(ReportPart::Activity(place)));
    let more = timeline.more.as_ref().map(|row| TimelineLine::More(row, header.elided_rows));
    let untimed = (timeline.untimed != 0 && metric == 0).then_some(TimelineLine::Untimed(timeline.untimed));
    let rows = move || timeline.rows.iter().map(TimelineLine::Row);
    let pauses = timeline.pauses.as_ref().filter(|_| metric == 0);
    let last = more.into_iter().chain(untimed).chain(pauses.map(TimelineLine::Pauses));
    let mut table = columns.table(form, &[], rows, last);
    if !header.metrics.is_empty() {
        table.above.push(Note::title(clean(&name.name).into_owned()));
    }
    let has_idle = timeline.rows.iter().chain(&timeline.more).any(|row| !row.bins_of(metric).1.is_empty());
    table.below.push(Note::faint(legend(timeline, name, largest, has_idle, style)?));
    table.below.extend(pauses.map(|pauses| Note::faint(sum_of_pauses(pauses, &timeline.axis))));
    if form == Form::Text {
        table.below.push(Note::default());
    }
    Ok(table)
}

/// What each row is: a thread, or what `--by` says.
fn add_names<'r>(columns: &mut Columns<'r, TimelineLine<'r>>, timeline: &'r Timeline, style: &'r Style) {
    let (one, several) = noun(&timeline.rows_by);
    let label = move |line: &TimelineLine| {
        Label::new(match line {
            TimelineLine::Row(row) => clean(&row.name).into_owned(),
            TimelineLine::More(_, count) => {
                let noun = plural(*count, one, several);
                format!("{} {} more {noun}", style.glyphs.ellipsis, group_thousands((*count).into()))
            }
            TimelineLine::Untimed(_) => "(no time)".to_string(),
            TimelineLine::Pauses(_) => "(GC pauses)".to_string(),
        })
    };
    columns.show(one.to_uppercase(), Kind::Name, label);
}

/// `47 GC pauses, 427.66ms in all (12.3%); the longest from 2.49s to 2.583s (+91.73ms): System.gc()`.
fn sum_of_pauses(pauses: &TimelinePauses, axis: &TimeAxis) -> String {
    let noun = plural(pauses.count, "GC pause", "GC pauses");
    let total = duration(pauses.total_ns);
    let share = share(pauses.total_ns, axis.to_ns.saturating_sub(axis.from_ns));
    // As short as a command line can take it, but not longer than the pause by more than a tenth.
    let step = 10_i64.pow((pauses.longest_ns / 20).checked_ilog10().unwrap_or(0));
    let from = pauses.longest_from_ns - pauses.longest_from_ns.rem_euclid(step);
    let end = pauses.longest_from_ns.saturating_add(pauses.longest_ns);
    let to = end.saturating_add((-end).rem_euclid(step));
    let which = if pauses.count == 1 { "" } else { "the longest " };
    let why = if pauses.longest_cause.is_empty() { "" } else { ": " };
    format!(
        "{} {noun}, {total} in all ({share}); {which}from {} to {} (+{}){why}{}",
        group_thousands(pauses.count.into()),
        moment(from),
        moment(to),
        duration(pauses.longest_ns),
        clean(&pauses.longest_cause)
    )
}

/// `a character is 200ms; █ is 197ms of cpu`, and when the recording started.
fn legend(
    timeline: &Timeline,
    metric: &MetricName,
    largest: i64,
    has_idle: bool,
    style: &Style,
) -> Result<String, IncompatibleUnits> {
    let full = style.glyphs.levels.chars().last().unwrap_or(' ');
    let idle = if has_idle { format!(", {} is idle", style.glyphs.idle) } else { String::new() };
    let value = scale(metric, largest, style.unit.as_ref())?.format(largest);
    let start =
        timeline.start_ns.map(|start| format!("; 0s is {}", timestamp_seconds(start))).unwrap_or_default();
    let (width, metric) = (readable(timeline.axis.bin_ns), clean(&metric.name).into_owned());
    let full = if largest == 0 { String::new() } else { format!(", {full} is {value} of {metric}") };
    Ok(format!("a character is {width}, a blank is nothing{idle}{full}{start}"))
}

/// The noun for one row, and for several.
fn noun(rows_by: &str) -> (&str, &str) {
    match rows_by {
        "thread" => ("thread", "threads"),
        "process" => ("process", "processes"),
        "package" => ("package", "packages"),
        label => (label.strip_prefix("label:").unwrap_or(label), "values"),
    }
}

/// A moment of the axis: as it can be typed, but many hours as hours.
fn readable(nanoseconds: i64) -> String {
    const HOURS: i64 = 3 * 3_600_000_000_000;
    if nanoseconds < HOURS { moment(nanoseconds) } else { duration(nanoseconds) }
}

/// The title of the activity: where it begins and ends, `0s        12.4s`, as wide as the bins.
fn scale_of_time(axis: &TimeAxis) -> String {
    let (start, end) = (readable(axis.from_ns), readable(axis.round_end()));
    let blanks = axis.bins.saturating_sub(start.len() + end.len()).max(1);
    format!("{start}{}{end}", " ".repeat(blanks))
}

/// A character per bin: a blank for nothing, the highest one for the largest value of all rows. What is idle has no height.
fn strip(bins: &[i64], idle: &[i64], largest: i64, glyphs: &Glyphs) -> String {
    let levels: Vec<char> = glyphs.levels.chars().collect();
    let largest = u128::from(largest.unsigned_abs()).max(1);
    let block = |(busy, &all): (i64, &i64)| match u128::from(busy.unsigned_abs()) {
        0 if all != 0 => glyphs.idle,
        0 => ' ',
        // Rounded up, so that the least activity is visible. The sum of cut rows may be larger than any row.
        size => levels[((size * levels.len() as u128).div_ceil(largest) as usize).clamp(1, levels.len()) - 1],
    };
    busy_bins(bins, idle).zip(bins).map(block).collect()
}

/// One line per phase, then the commands that look closer.
fn phases<'r>(timeline: &'r Timeline, form: Form, style: &'r Style) -> Result<Table<'r>, IncompatibleUnits> {
    let header = &timeline.header;
    let phases = &timeline.phases;
    if phases.len() < 2 {
        let text = "one phase: the mix of functions does not change noticeably";
        return Ok(Table::of_notes(vec![Note::faint(text)]));
    }
    let functions = phases.iter().filter_map(|phase| phase.function.as_ref());
    let names = DisplayNames::of(header, functions.map(|found| &found.name), form, style);
    let largest = phases.iter().map(|phase| phase.total).max().unwrap_or(0);
    let scale = scale(&header.metric, largest, style.unit.as_ref())?;
    let mut columns = phase_columns(header, &timeline.axis, scale);
    columns.show("FUNCTION", Kind::Name, move |phase: &&TimelinePhase| {
        let name: Option<&Name> = phase.function.as_ref().map(|found| &found.name);
        Label::new(name.map_or("(no stack)", |name| names.get(name)))
    });
    let mut table = columns.table(form, &[], || phases.iter(), []);
    let count = group_thousands(phases.len() as i128);
    let title = format!("{count} phases: in each, the function that sets it apart, or else the heaviest");
    table.above.push(Note::title(title));
    let many = ManyFiles::of(header);
    let command = |(place, phase): (usize, &TimelinePhase)| {
        let command = match &many {
            Some(many) => many.shortened(&phase.command),
            None => phase.command.clone(),
        };
        Note::command(clean(&command).into_owned()).about(ReportPart::Phase(place))
    };
    table.below.extend(phases.iter().enumerate().map(command));
    table.below.extend(many.iter().map(|many| Note::faint(many.says())));
    Ok(table)
}

fn phase_columns<'r>(header: &Header, axis: &TimeAxis, scale: Scale) -> Columns<'r, &'r TimelinePhase> {
    let (end, round_end) = (axis.to_ns, axis.round_end());
    let to = move |phase: &TimelinePhase| if phase.to_ns == end { round_end } else { phase.to_ns };
    let mut columns = Columns::new();
    columns.show("FROM", Kind::Word, |phase: &&TimelinePhase| moment(phase.from_ns));
    columns.show("TO", Kind::Word, move |phase| moment(to(phase)));
    let length = move |phase: &&TimelinePhase| format!("+{}", moment(to(phase) - phase.from_ns));
    columns.show("LENGTH", Kind::Word, length).rank(Rank::OtherForm);
    columns.show("TOTAL", Kind::Value(scale), |phase| phase.total);
    let wholes = Wholes { total: header.total, shown: None };
    add_shares(&mut columns, wholes, Group::Always, |phase: &&TimelinePhase| Some(phase.total));
    columns.part(|_, place| Some(ReportPart::Phase(place)));
    columns.show("OF PHASE", Kind::Share, |phase| {
        let part = phase.function.as_ref()?.total?;
        Some(Cell::Share { part, whole: phase.total })
    });
    columns
}
