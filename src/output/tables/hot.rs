//! The heaviest path, then the repeated sequences and their callers.

use std::rc::Rc;

use crate::name::Anchor;
use crate::output::Scaled;
use crate::output::label::{Joined, Label};
use crate::output::names::{DisplayNames, joined};
use crate::output::style::Style;
use crate::output::table::{Columns, Emphasis, Form, Kind, Note, Rank, ReportPart, Table};
use crate::output::tables::values::{
    HasValues, Measured, RowSides, ValueColumns, Which, artefact_note, side_only,
};
use crate::report::{Header, Hot, HotSequence, Name, Neighbour, Pair, PathStep};
use crate::unit::{self};

/// A line of either table.
struct HotLine<'r> {
    what: What<'r>,
    /// The sequence, on the line with its numbers.
    sequence: Option<&'r HotSequence>,
    part: Option<ReportPart>,
    new: Measured,
    old: Measured,
}

enum What<'r> {
    /// Functions that call one another, after an arrow if they continue the sequence above.
    Chain { names: Vec<&'r Name>, is_continued: bool, side: &'static str },
    /// The callers of a sequence.
    Callers(&'r HotSequence),
    /// How many rows were cut from the middle of the path.
    Cut(usize),
}

impl HasValues for HotLine<'_> {
    fn sides(&self) -> RowSides {
        RowSides { new: self.new, old: self.old }
    }
}

impl<'r> HotLine<'r> {
    fn without_numbers(what: What<'r>) -> Self {
        HotLine { what, sequence: None, part: None, new: Measured::default(), old: Measured::default() }
    }

    fn chain(
        header: &Header,
        names: Vec<&'r Name>,
        is_continued: bool,
        new: Pair,
        old: Option<Pair>,
    ) -> Self {
        let what = What::Chain { names, is_continued, side: side_only(header, new, old) };
        HotLine { what, sequence: None, part: None, new: new.into(), old: old.unwrap_or_default().into() }
    }
}

/// The path and the sequences; for programs the sequences alone.
pub(super) fn tables<'r>(hot: &'r Hot, form: Form, style: &'r Style) -> Scaled<Vec<Table<'r>>> {
    let header = &hot.header;
    let values = ValueColumns::new(header, header.shown.max(header.old_sum()), style)?;
    let names = DisplayNames::of(header, all_names(hot), form, style);
    let view = Rc::new(HotView { hot, style, names });
    let mut sequences = sequences(&view, &values, form);
    if form == Form::Csv {
        return Ok(vec![sequences]);
    }
    let mut path = path(&view, &values, form);
    if form == Form::Text {
        path.below.push(Note::default());
    }
    sequences.below.extend(values.highlight_note(style));
    sequences.below.extend(artefact_note(header, all_names(hot), style));
    Ok(vec![path, sequences])
}

fn all_names(hot: &Hot) -> impl Iterator<Item = &Name> {
    let path = hot.path.iter().chain(&hot.next).map(|step| &step.name);
    let frames = hot.sequences.iter().flat_map(|sequence| &sequence.frames);
    let callers = hot.sequences.iter().flat_map(|sequence| &sequence.callers).map(|caller| &caller.name);
    path.chain(frames).chain(callers)
}

/// TOTAL with its shares, or both sides of a comparison, then SELF.
fn add_values<'r>(columns: &mut Columns<'r, HotLine<'r>>, values: &ValueColumns<'r>) {
    values.value(columns, Which::Total, false);
    values.raw(columns, Which::Own).titled("SELF").group(Which::Own.group());
    values.sides(columns, &[Which::Total], &[Which::Total]);
}

fn path<'r>(view: &Rc<HotView<'r>>, values: &ValueColumns<'r>, form: Form) -> Table<'r> {
    let hot = view.hot;
    if hot.path.is_empty() {
        return Table::of_notes(vec![Note::faint("no heaviest path: no sample has a stack")]);
    }
    let mut columns = Columns::new();
    add_values(&mut columns, values);
    view.add_names(&mut columns, format!("{}{}CALLEES", hot.header.by.title(), view.style.glyphs.calls));
    let groups = [Which::Total.group(), Which::Own.group()];
    let mut table = columns.table(form, &groups, || path_lines(hot).into_iter(), []);
    table.above.push(Note::title("heaviest path: each row has at least half the total of the row above"));
    table.below.push(Note::faint(match &hot.next {
        Some(next) => {
            let (name, value) = (view.names.get(&next.name), values.scale.format(next.values.new.total));
            format!("the path ends here: the heaviest callee, {name}, has only {value}, less than half")
        }
        None => "the path ends here: the last function calls nothing".to_string(),
    }));
    table
}

/// The lines of the path. Of a recursion of thousands of rows, only both ends are shown.
fn path_lines(hot: &Hot) -> Vec<HotLine<'_>> {
    let groups: Vec<&[PathStep]> = hot.path.chunk_by(passes_on).collect();
    let cut = groups.len().saturating_sub(MOST_PATH);
    let head = if cut > 0 { MOST_PATH / 2 } else { groups.len() };
    let mut lines = Vec::new();
    let mut steps = 0;
    for (index, group) in groups.into_iter().enumerate() {
        steps += group.len();
        if index == head && cut > 0 {
            lines.push(HotLine::without_numbers(What::Cut(cut)));
        }
        if let Some(last) = group.last()
            && (index < head || index >= head + cut)
        {
            let names = group.iter().map(|step| &step.name).collect();
            // The numbers are those of the last step.
            let part = Some(ReportPart::Step(steps - 1));
            let line = HotLine::chain(&hot.header, names, false, last.values.new, last.values.old);
            lines.push(HotLine { part, ..line });
        }
    }
    lines
}

/// Whether a step shares a line with the next because its numbers are the same.
fn passes_on(a: &PathStep, b: &PathStep) -> bool {
    let passes = |a: Pair, b: Pair| a.self_value == 0 && a.total == b.total;
    let old = |step: &PathStep| step.values.old.unwrap_or_default();
    passes(a.values.new, b.values.new) && passes(old(a), old(b))
}

/// A path with more rows is cut in the middle.
const MOST_PATH: usize = 60;

/// The sequences; for people with the callers of the first function.
fn sequences<'r>(view: &Rc<HotView<'r>>, values: &ValueColumns<'r>, form: Form) -> Table<'r> {
    let hot = view.hot;
    let mut columns = Columns::new();
    columns.add("frames", Kind::Text, |line: &HotLine| line.sequence.map(|found| joined(&found.frames)));
    add_values(&mut columns, values);
    let contexts = columns.add("contexts", Kind::Count, |line| Some(line.sequence?.contexts as i64));
    contexts.titled("CONTEXTS").rank(Rank::Contexts);
    columns.add("callers", Kind::Text, |line| {
        let caller = |caller: &Neighbour| format!("{} {}", caller.name.replace(';', ":"), caller.value);
        Some(line.sequence?.callers.iter().map(caller).collect::<Vec<_>>().join(";"))
    });
    view.add_names(&mut columns, "SEQUENCE".to_string());
    let groups = [Which::Total.group(), Which::Own.group()];
    let rows = move || sequence_lines(hot, form);
    let mut table = columns.table(form, &groups, rows, []);
    if form != Form::Csv && hot.sequences.is_empty() {
        table = Table::default();
    }
    table.above.push(Note::title(sequences_title(hot)));
    table
}

/// A line for each sequence. One that continues the sequence above shows only what it adds; the others have a second
/// line with their callers.
fn sequence_lines(hot: &Hot, form: Form) -> impl Iterator<Item = HotLine<'_>> {
    let sequences = &hot.sequences;
    let before = std::iter::once(&[][..]).chain(sequences.iter().map(|sequence| &sequence.frames[..]));
    sequences.iter().zip(before).enumerate().flat_map(move |(place, (sequence, before))| {
        let is_continued = form != Form::Csv && !before.is_empty() && sequence.frames.starts_with(before);
        let from = if is_continued { before.len() } else { 0 };
        let new = Pair { self_value: sequence.self_value, total: sequence.total };
        let names = sequence.frames[from..].iter().collect();
        let part = Some(ReportPart::Sequence(place));
        let line = HotLine {
            sequence: Some(sequence),
            part,
            ..HotLine::chain(&hot.header, names, is_continued, new, sequence.old)
        };
        let has_callers = form != Form::Csv && !is_continued;
        let callers = || HotLine { part, ..HotLine::without_numbers(What::Callers(sequence)) };
        let callers = has_callers.then(callers);
        std::iter::once(line).chain(callers)
    })
}

fn sequences_title(hot: &Hot) -> String {
    let shown = hot.sequences.len();
    let count = unit::group_thousands((shown as u64 + hot.header.elided_rows).into());
    let rank = if hot.header.base.is_some() { "most changed" } else { "heaviest" };
    let which = match (shown, hot.header.elided_rows) {
        (0, _) => {
            return format!("repeated sequences: none with a share of at least {}%", hot.min_share);
        }
        (_, 0) => count,
        (1, _) => format!("the {rank} of {count}"),
        (shown, _) => format!("the {} {rank} of {count}", unit::group_thousands(shown as i128)),
    };
    format!("repeated sequences: {which}, with callers of the first function")
}

/// What names look like.
struct HotView<'r> {
    hot: &'r Hot,
    style: &'r Style,
    names: DisplayNames,
}

impl<'r> HotView<'r> {
    /// Adds the column of names, and says how rows stand out.
    fn add_names(self: &Rc<Self>, columns: &mut Columns<'r, HotLine<'r>>, title: String) {
        let view = self.clone();
        columns.show(title, Kind::Name, move |line| view.label(line));
        let hot = self.hot;
        columns.part(|line, _| line.part);
        columns.emphasis(move |line| match &line.what {
            What::Chain { names, .. } if names.iter().any(|name| hot.header.is_highlighted(name)) => {
                Emphasis::Marked
            }
            What::Chain { .. } => Emphasis::None,
            What::Callers(_) | What::Cut(_) => Emphasis::Faint,
        });
    }

    fn label(self: &Rc<Self>, line: &HotLine<'r>) -> Label<'r> {
        let glyphs = self.style.glyphs;
        match &line.what {
            What::Chain { names, is_continued, side } => {
                let arrow = glyphs.calls.trim_start();
                let prefix = if *is_continued { format!("{INDENT}{arrow}") } else { String::new() };
                let (view, all) = (self.clone(), names.clone());
                let is_own = Box::new(move |index: usize| view.names.is_own(all[index], None));
                let full = self.style.full_chains;
                let chain = Joined { arrow: glyphs.calls.into(), anchor: Anchor::Last, is_own, full };
                Label {
                    names: names
                        .iter()
                        .map(|name| self.names.marked(&self.hot.header, name, self.style))
                        .collect(),
                    below: prefix.clone(),
                    prefix,
                    suffix: (*side).to_string(),
                    chain: Some(chain),
                    ..Label::default()
                }
            }
            What::Callers(sequence) => self.callers(sequence),
            What::Cut(count) => {
                let count = unit::group_thousands(*count as i128);
                Label::new(format!("{} {count} more rows", glyphs.ellipsis))
            }
        }
    }

    /// `77% gob.(*Decoder).recvType · 23% .DecodeValue`: two callers if both fit whole, else one, and how many more
    /// there are.
    fn callers(&self, sequence: &HotSequence) -> Label<'r> {
        let glyphs = self.style.glyphs;
        let shares = shares_of_callers(sequence);
        let name = |index: usize| self.names.get(&sequence.callers[index].name).to_string();
        let label = |names: Vec<String>, arrow: String| {
            let more = match shares.len().saturating_sub(names.len()) {
                0 => String::new(),
                more => format!("{}{} more", glyphs.dot, unit::group_thousands(more as i128)),
            };
            let is_own = Box::new(|_| true);
            let chain = Joined { arrow: arrow.into(), anchor: Anchor::First, is_own, full: false };
            let prefix = format!("{INDENT}{} ", shares[0]);
            Label { names, prefix, suffix: more, chain: Some(chain), ..Label::default() }
        };
        match &shares[..] {
            [] => Label::default(),
            [_] => label(vec![name(0)], String::new()),
            [_, second, ..] => Label {
                shorter: Some(Box::new(label(vec![name(0)], String::new()))),
                ..label(vec![name(0), name(1)], format!("{}{second} ", glyphs.dot))
            },
        }
    }
}

/// The indent of a line that continues the one above.
const INDENT: &str = "  ";

/// How much of a sequence comes from each of its callers: `77%`.
fn shares_of_callers(sequence: &HotSequence) -> Vec<String> {
    // If the new side has nothing, the shares are those of the old side.
    let is_gone = sequence.total == 0;
    let whole = if is_gone { sequence.old.map_or(0, |old| old.total) } else { sequence.total };
    let value = |caller: &Neighbour| if is_gone { caller.old.unwrap_or(0) } else { caller.value };
    sequence.callers.iter().map(|caller| whole_percent(value(caller), whole)).collect()
}

/// A share without decimals: `77%`.
fn whole_percent(part: i64, whole: i64) -> String {
    let [part, whole] = [part, whole].map(|value| u128::from(value.unsigned_abs()));
    match (part * 200 + whole).checked_div(whole * 2) {
        Some(0) if part > 0 => "<1%".to_string(),
        Some(percent) => format!("{percent}%"),
        None => "0%".to_string(),
    }
}
