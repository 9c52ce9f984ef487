//! Packs the data of the page: JSON with names and numbers, then the stacks and values as columns of
//! varints. All of it is deflated and encoded in base64.
//!
//! ```text
//! length of the JSON (u32, little endian), JSON
//! for each name: its length in UTF-16, in which scripts count       (varint)
//! the bytes of all names                                            (varint), UTF-8
//! columns of all names, then of all places: whether one value, each its own number, or a list of values
//! for each stack: number of frames shared with the previous stack   (varint)
//! for each stack: number of further frames                          (varint)
//! the further frames of all stacks                                  (all lowest bytes, then all next ones, …)
//! the number of frames that repeat a name of their stack            (varint)
//! the distance of each to the one before, in further frames         (varint)
//! for each stack: its set of labels, if there is more than one set  (varint)
//! for each column of values: the value of each stack                (zigzag varint)
//! for each column of values: what names cost besides their self     (sparse)
//! ```

use std::borrow::Cow;
use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use hashbrown::HashMap;
use serde::Serialize;

use crate::kind;
use crate::name::{base_name, block_labels, clean, short_name, short_names, split_place};
use crate::output::cell::cell_text;
use crate::output::color::{self, ColorBy, Theme};
use crate::output::error::Error;
use crate::output::headline;
use crate::output::html::HtmlOptions;
use crate::output::html::causes::CausesHead;
use crate::output::style::Style;
use crate::output::table::{Column, Row};
use crate::output::{Scaled, tables};
use crate::report::{
    ColorGroup, DiffRow, Direction, Page, PageCallSide, PageFacet, PageMetric, Recording, RowTest,
    RowVerdict, TopRow,
};
use crate::unit::{Scale, Step, Unit};

/// The JSON part.
#[derive(Serialize)]
struct Head<'p> {
    title: String,
    /// What was loaded, or empty if the title says so already.
    inputs: String,
    filters: &'p [String],
    warnings: Vec<String>,
    /// Functions that the profiler itself added.
    artefacts: Vec<&'p str>,
    noun: (&'static str, &'static str),
    icicle: bool,
    weight: bool,
    inverted: bool,
    color_by: &'static str,
    /// The pattern of functions to highlight.
    highlight: Option<&'p str>,
    /// Whether there is an old side. Its columns follow those of the new side.
    compared: bool,
    /// What was loaded for the old side, and the factor it is multiplied by, as a number and in words.
    base: String,
    ratio: f64,
    rescaled: Option<String>,
    /// The factors to choose from, by the names of `--normalize`; the first is that of `ratio`.
    ratios: &'p [(&'static str, f64)],
    /// Why the sides differ.
    causes: Option<CausesHead>,
    /// The functions that were tested.
    tested: Vec<TestedHead>,
    metrics: Vec<MetricHead>,
    metric: usize,
    stacks: usize,
    /// The number of names.
    name_count: usize,
    /// Short names that differ from the names: index and short name.
    short: Vec<(usize, String)>,
    /// Labels of blocks that differ from the short names: index, function, place.
    labels: Vec<(usize, String, String)>,
    /// Names that include a place: index, function, place.
    split: Vec<(usize, &'p str, &'p str)>,
    /// Whether all names can be shown as they are.
    plain: bool,
    places: usize,
    /// The places that are inlined.
    inlined: Vec<u32>,
    /// Full function names that differ from the name under which the function is counted.
    functions: Vec<&'p str>,
    mappings: Vec<&'p str>,
    /// Short function names that differ from the short name under which the function is counted: place and
    /// short name.
    plain_names: Vec<(usize, String)>,
    sets: &'p [(&'static str, Vec<u32>)],
    /// The patterns of the initial focus.
    focus: &'p [String],
    packages: Vec<&'p str>,
    files: Vec<&'p str>,
    /// The groups of functions that share a colour: name and tier, ranked by area.
    groups: &'p [ColorGroup],
    facets: &'p [PageFacet],
    /// The keys of labels that only the command line knows.
    left_out: &'p [String],
    label_sets: &'p [Vec<(u32, u32)>],
    sources: Vec<SourceHead<'p>>,
    /// The exact numbers of a profile that records calls.
    calls: Option<CallsHead<'p>>,
    /// The columns that the page does not count.
    further: Vec<ColumnHead>,
    light: Palette,
    dark: Palette,
    /// The inputs as typed, for commands that show the same numbers.
    given: &'p [String],
    base_given: &'p [String],
}

/// The columns of names and places. There may be a million of them, so they are not in the JSON.
#[derive(Default)]
struct Columns {
    /// For each name: package, file (index + 1, or 0 for none), line (or 0 for none), group.
    names: [Vec<u32>; 4],
    /// For each place: name, function (index + 1, or 0 if it is the same as the name), file and mapping (the same way, with
    /// 0 for none), package, line (or 0 for none).
    places: [Vec<u32>; 6],
}

#[derive(Serialize)]
struct MetricHead {
    name: String,
    /// The unit of its values, followed by smaller units for small values.
    units: Vec<UnitHead>,
    /// As text, because JavaScript reads JSON numbers as doubles, which are inexact above 2⁵³.
    total: String,
    old_total: String,
    /// Whether sums can exceed 2⁵², so that the page must count with 64-bit integers.
    big: bool,
    /// The text after the total in the header, for the new side and the old side.
    recording: String,
    old_recording: String,
    /// The number of samples, if the recording says it.
    samples: Option<i64>,
    wide: &'static str,
    measures: &'static str,
}

/// A unit in which values of a metric are formatted.
#[derive(Serialize)]
struct UnitHead {
    suffix: String,
    /// The number in this unit is the value multiplied by `times` and divided by `by`.
    times: f64,
    by: f64,
    decimals: u32,
    /// The smallest number in this unit for which it is used.
    from: i64,
}

/// What the comparison says about a function.
#[derive(Serialize)]
struct TestedHead {
    /// The number of the name.
    id: usize,
    verdict: RowVerdict,
    /// Whether self was tested rather than total.
    of_self: bool,
    /// The cost on the new side divided by that on the old one, and the ends of its 95 % interval.
    ratio: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    points: f64,
}

/// The source of a function.
#[derive(Serialize)]
struct SourceHead<'p> {
    /// The number of the name.
    id: usize,
    file: &'p str,
    /// Number and text.
    lines: Vec<(u32, Option<&'p str>)>,
    /// Self and total of each line of a profile that records calls. Of others, the page counts the lines itself.
    calls: Vec<(String, String)>,
}

/// The numbers of functions and calls. The values are texts, because doubles are inexact above 2⁵³.
#[derive(Serialize)]
struct CallsHead<'p> {
    /// How the paths are approximated.
    note: String,
    /// The new side, then the old one if there is one.
    sides: Vec<CallSideHead>,
    /// Caller and callee.
    edges: &'p [(u32, u32)],
}

/// The self and total of each name, and the values of the calls.
#[derive(Serialize)]
struct CallSideHead {
    #[serde(rename = "self")]
    self_value: Vec<String>,
    total: Vec<String>,
    edges: Vec<String>,
}

impl<'p> CallsHead<'p> {
    fn of(page: &'p Page) -> Option<Self> {
        let calls = page.calls.as_ref()?;
        let texts = |values: &[i64]| values.iter().map(i64::to_string).collect();
        let side = |side: &PageCallSide| CallSideHead {
            self_value: texts(&side.self_value),
            total: texts(&side.total),
            edges: texts(&side.edges),
        };
        Some(CallsHead {
            note: page.header.approximation.clone().unwrap_or_default(),
            sides: calls.sides.iter().map(side).collect(),
            edges: &calls.edges,
        })
    }
}

/// A column of the table of functions that the page does not count.
#[derive(Serialize)]
struct ColumnHead {
    title: String,
    /// The cells by the numbers of the names.
    cells: Vec<(usize, String)>,
}

fn further(page: &Page, options: &HtmlOptions) -> Scaled<Vec<ColumnHead>> {
    let Some(top) = &page.top else { return Ok(Vec::new()) };
    let style = Style { unit: options.unit.clone(), ..Style::plain() };
    let (table, ids) = (tables::top::further(top, &style)?, page.ids());
    let rows: Vec<Row> = table.rows().collect();
    let head = |(index, column): (usize, &Column)| {
        let cell = |(row, of): (&Row, &TopRow)| {
            Some((*ids.get(&*of.name)?, cell_text(&row.cells[index], &column.kind, style.glyphs)))
        };
        let cells = rows.iter().zip(&top.rows).filter_map(cell).filter(|(_, text)| !text.is_empty());
        ColumnHead { title: column.title.to_string(), cells: cells.collect() }
    };
    let columns = table.columns.iter().enumerate().filter(|(_, column)| !column.kind.is_name());
    Ok(columns.map(head).collect())
}

/// The colours of a theme.
#[derive(Serialize)]
struct Palette {
    /// The colours of own groups by rank; all further groups have the last one.
    own: Vec<String>,
    library: String,
    runtime: String,
}

impl Palette {
    fn of(theme: &Theme) -> Self {
        Palette {
            own: theme.of_ranks().map(|color| color.to_string()).collect(),
            library: theme.library.to_string(),
            runtime: theme.runtime.to_string(),
        }
    }
}

/// As many bytes are compressed in a few hundredths of a second, however well.
const FEW_BYTES: usize = 1 << 20;

/// The data of a page, with the costs below its names, one column for each of its values.
pub(super) fn pack(page: &Page, below_names: &[Vec<i64>], options: &HtmlOptions) -> Result<String, Error> {
    let (head, columns) = head(page, options)?;
    let head = serde_json::to_vec(&head).map_err(io::Error::from)?;
    let mut packed = deflater(head.len() + page.frames.len());
    packed.write_all(&(head.len() as u32).to_le_bytes())?;
    packed.write_all(&head)?;
    packed.write_all(&texts(page))?;
    for numbers in columns.names.iter().chain(&columns.places) {
        packed.write_all(&column(numbers))?;
    }
    packed.write_all(&stacks(page))?;
    if page.label_sets.len() > 1 {
        let mut labels = Vec::with_capacity(page.labels.len());
        page.labels.iter().for_each(|&set| varint(&mut labels, set.into()));
        packed.write_all(&labels)?;
    }
    for column in page.values.iter().chain(&page.old) {
        packed.write_all(&values(column))?;
    }
    for column in below_names {
        packed.write_all(&sparse(column))?;
    }
    Ok(STANDARD.encode(packed.finish()?))
}

/// Some bytes, deflated and encoded in base64.
pub(super) fn deflated(bytes: &[u8]) -> io::Result<String> {
    let mut packed = deflater(bytes.len());
    packed.write_all(bytes)?;
    Ok(STANDARD.encode(packed.finish()?))
}

/// Compresses about so many bytes. The best compression takes several times as long, which few bytes allow.
fn deflater(bytes: usize) -> DeflateEncoder<Vec<u8>> {
    let level = if bytes < FEW_BYTES { Compression::best() } else { Compression::default() };
    DeflateEncoder::new(Vec::new(), level)
}

/// The names and places of a page as columns of numbers, and the texts that the numbers stand for.
#[derive(Default)]
struct Packed<'p> {
    columns: Columns,
    packages: Table<'p>,
    files: Table<'p>,
    functions: Table<'p>,
    mappings: Table<'p>,
    /// The places that were inlined.
    inlined: Vec<u32>,
    /// The short names of the functions of places that differ from those of their names.
    plain_names: Vec<(usize, String)>,
}

impl<'p> Packed<'p> {
    fn of(page: &'p Page, names: &[&str], shorts: &[String]) -> Self {
        let mut packed = Packed::default();
        let Packed { columns, packages, files, functions, mappings, inlined, plain_names } = &mut packed;
        for row in &page.names {
            let file = row.file.as_deref().map_or(0, |file| files.id(file) + 1);
            let facts = [packages.id(&row.package), file, row.line.unwrap_or(0), row.group];
            columns.names.iter_mut().zip(facts).for_each(|(column, fact)| column.push(fact));
        }
        for (place, index) in page.places.iter().zip(0_u32..) {
            let name = place.name as usize;
            let is_named_so = *place.function == *names[name];
            let facts = [
                place.name,
                if is_named_so { 0 } else { functions.id(&place.function) + 1 },
                if place.file.is_empty() { 0 } else { files.id(&place.file) + 1 },
                if place.mapping.is_empty() { 0 } else { mappings.id(&place.mapping) + 1 },
                packages.id(&place.package),
                place.line,
            ];
            columns.places.iter_mut().zip(facts).for_each(|(column, fact)| column.push(fact));
            inlined.extend(place.inlined.then_some(index));
            let short = short_name(&place.function);
            if short != shorts[name] {
                plain_names.push((index as usize, short));
            }
        }
        packed
    }
}

fn head<'p>(page: &'p Page, options: &'p HtmlOptions) -> Scaled<(Head<'p>, Columns)> {
    let names: Vec<&str> = page.names.iter().map(|row| &*row.name).collect();
    let shorts = short_names(&names);
    let Packed { columns, packages, files, functions, mappings, inlined, plain_names } =
        Packed::of(page, &names, &shorts);
    let split = page.names.iter().enumerate().map(|(id, row)| {
        let (function, place) = split_place(&row.name, &row.function);
        (id, function, place)
    });
    let header = &page.header;
    let metrics: Scaled<Vec<MetricHead>> = page
        .metrics
        .iter()
        .enumerate()
        .map(|(number, metric)| metric_head(page, options, number, metric))
        .collect();
    let head = Head {
        title: clean(&page.title).into_owned(),
        inputs: inputs(page),
        filters: &header.filters,
        // The page itself says how it approximates.
        warnings: (header.warnings.iter().map(|warning| &warning.text))
            .filter(|text| Some(*text) != header.approximation.as_ref())
            .map(|text| clean(text).into_owned())
            .collect(),
        artefacts: header.artefacts.iter().map(|artefact| artefact.name.as_str()).collect(),
        noun: (header.by.one, header.by.several),
        icicle: options.icicle,
        weight: options.by_weight,
        inverted: options.direction == Direction::BottomUp,
        highlight: page.header.highlight.as_ref().map(|highlight| highlight.pattern.as_str()),
        color_by: match options.color_by {
            ColorBy::Package => "package",
            ColorBy::File => "file",
            ColorBy::SelfValue => "self",
            ColorBy::Total => "total",
            ColorBy::Delta => "delta",
        },
        compared: !page.old.is_empty(),
        base: headline::base_inputs(header),
        ratio: header.normalize.as_ref().map_or(1.0, |normalize| normalize.ratio),
        rescaled: headline::rescaled(header),
        ratios: &page.ratios,
        causes: CausesHead::of(page),
        tested: tested(page),
        metrics: metrics?,
        metric: page.default_metric,
        stacks: page.ends.len(),
        labels: labels(page, &shorts),
        split: split.filter(|(_, _, place)| !place.is_empty()).collect(),
        short: shorts.into_iter().enumerate().filter(|(id, short)| short != names[*id]).collect(),
        plain: names.iter().all(|name| !name.is_empty() && matches!(clean(name), Cow::Borrowed(_))),
        places: page.places.len(),
        inlined,
        functions: functions.rows,
        mappings: mappings.rows,
        plain_names,
        sets: &page.sets,
        focus: &options.focus,
        packages: packages.rows,
        files: files.rows,
        groups: &page.groups,
        facets: &page.facets,
        left_out: &page.facets_left_out,
        label_sets: &page.label_sets,
        sources: sources(page),
        calls: CallsHead::of(page),
        further: further(page, options)?,
        name_count: names.len(),
        light: Palette::of(&color::LIGHT),
        dark: Palette::of(&color::DARK),
        given: &header.inputs,
        base_given: header.base.as_ref().map_or(&[], |base| &base.inputs),
    };
    Ok((head, columns))
}

/// The verdicts on functions that the page has.
fn tested(page: &Page) -> Vec<TestedHead> {
    let ids = page.ids();
    let rows = page.comparison.iter().flat_map(|diff| &diff.rows);
    let head = |row: &DiffRow| {
        Some(TestedHead {
            id: *ids.get(&*row.name)?,
            verdict: row.verdict,
            of_self: row.test == RowTest::SelfCount,
            ratio: row.ratio,
            low: row.ratio_low,
            high: row.ratio_high.filter(|high| high.is_finite()),
            points: row.points,
        })
    };
    rows.filter(|row| row.tested).filter_map(head).collect()
}

/// The sources of functions that the page has.
fn sources(page: &Page) -> Vec<SourceHead<'_>> {
    let ids = page.ids();
    let mut found = Vec::new();
    for function in &page.sources {
        let (Some(&id), Some(file)) = (ids.get(&*function.name), &function.file) else { continue };
        let lines = function.lines.iter().map(|line| (line.line, line.text.as_deref())).collect();
        let values = function.lines.iter().map(|line| line.values.new).filter(|_| page.calls.is_some());
        let calls = values.map(|new| (new.self_value.to_string(), new.total.to_string())).collect();
        found.push(SourceHead { id, file, lines, calls });
    }
    found
}

/// The units in which the values of a metric are written.
pub(super) fn scale(page: &Page, options: &HtmlOptions, number: usize) -> Scaled<Scale> {
    let metric = &page.metrics[number];
    let unit = Unit::parse(&metric.metric.unit);
    let asked =
        options.unit.as_ref().filter(|asked| number == page.default_metric || asked.is_same_kind(&unit));
    crate::output::scale(&metric.metric, metric.total.max(metric.old_total), asked)
}

fn metric_head(page: &Page, options: &HtmlOptions, number: usize, metric: &PageMetric) -> Scaled<MetricHead> {
    /// Up to this value, a double can hold an integer and its zigzag code, which is twice as large.
    const EXACT: u128 = 1 << 52;
    let scale = scale(page, options, number)?;
    let unit_head = |step: &Step| {
        let (numerator, denominator, decimals) = step.factor();
        UnitHead {
            suffix: clean(&step.suffix()).into_owned(),
            times: numerator as f64,
            by: denominator as f64,
            decimals,
            from: step.from(),
        }
    };
    let kind = kind::of_recorded(&metric.metric.name, metric.recording.thread_time);
    let both = u128::from(metric.total.unsigned_abs()) + u128::from(metric.old_total.unsigned_abs());
    Ok(MetricHead {
        name: clean(&metric.metric.name).into_owned(),
        units: scale.steps().iter().map(unit_head).collect(),
        total: metric.total.to_string(),
        old_total: metric.old_total.to_string(),
        big: both > EXACT,
        recording: recording(&metric.recording),
        old_recording: page
            .header
            .base
            .as_ref()
            .map(|base| self::recording(&base.recording))
            .unwrap_or_default(),
        samples: metric.recording.samples,
        wide: kind.map_or("", |kind| kind.width),
        measures: kind.map_or("", |kind| kind.measures),
    })
}

/// The text after a metric's total: ` in 40.73s, 2.11 CPUs busy · 8,599 samples · 2024-02-26 18:40 UTC`.
fn recording(recording: &Recording) -> String {
    headline::recording("", recording, true).join(" · ")
}

/// What was loaded, or empty if that is the title.
fn inputs(page: &Page) -> String {
    let inputs = headline::inputs(&page.header);
    if [&*inputs, base_name(&inputs)].contains(&&*page.title) { String::new() } else { inputs }
}

/// Labels of blocks that differ from the short names.
fn labels(page: &Page, shorts: &[String]) -> Vec<(usize, String, String)> {
    let names: Vec<(&str, &str)> = page.names.iter().map(|row| (&*row.name, &*row.function)).collect();
    // Most names have no place, and then their labels are their short names.
    if names.iter().all(|(name, function)| split_place(name, function).1.is_empty()) {
        return Vec::new();
    }
    let labels = block_labels(&names).into_iter().enumerate();
    labels
        .filter(|(id, label)| label.name != shorts[*id] || !label.place.is_empty())
        .map(|(id, label)| (id, label.name, label.place))
        .collect()
}

/// Distinct texts, numbered in order of first use.
#[derive(Default)]
struct Table<'p> {
    rows: Vec<&'p str>,
    ids: HashMap<&'p str, u32>,
}

impl<'p> Table<'p> {
    fn id(&mut self, text: &'p str) -> u32 {
        *self.ids.entry(text).or_insert_with(|| {
            self.rows.push(text);
            self.rows.len() as u32 - 1
        })
    }
}

/// The columns that hold the stacks. Stacks are sorted, so neighbours share most of their frames.
fn stacks(page: &Page) -> Vec<u8> {
    let (mut shared, mut further, mut frames) = (Vec::new(), Vec::new(), Vec::new());
    let (mut repeats, mut repeat_count, mut last_repeat) = (Vec::new(), 0, 0);
    // How many frames of the current stack have each name.
    let mut open = vec![0_u32; page.names.len()];
    let name_of = |place: u32| page.places[place as usize].name as usize;
    let (mut before, mut start): (&[u32], usize) = (&[], 0);
    for &end in &page.ends {
        let stack = &page.frames[start..end as usize];
        let common = stack.iter().zip(before).take_while(|(a, b)| a == b).count();
        varint(&mut shared, common as u64);
        varint(&mut further, (stack.len() - common) as u64);
        before[common..].iter().for_each(|&place| open[name_of(place)] -= 1);
        for &place in &stack[common..] {
            frames.push(place);
            let open = &mut open[name_of(place)];
            if *open > 0 {
                varint(&mut repeats, (frames.len() - last_repeat) as u64);
                (repeat_count, last_repeat) = (repeat_count + 1, frames.len());
            }
            *open += 1;
        }
        (before, start) = (stack, end as usize);
    }
    let mut out = [shared, further, bytewise(&frames, page.places.len())].concat();
    varint(&mut out, repeat_count);
    out.extend(repeats);
    out
}

/// The names. A text for each in the JSON would take several times as long to read.
fn texts(page: &Page) -> Vec<u8> {
    let mut out = Vec::new();
    for row in &page.names {
        varint(&mut out, row.name.encode_utf16().count() as u64);
    }
    varint(&mut out, page.names.iter().map(|row| row.name.len() as u64).sum());
    for row in &page.names {
        out.extend(row.name.as_bytes());
    }
    out
}

/// Many columns have only one value, or a number of its own for each row: then it is written that it is so.
fn column(numbers: &[u32]) -> Vec<u8> {
    const ONE: u8 = 0;
    const OWN: u8 = 1;
    const LIST: u8 = 2;
    let first = numbers.first().copied().unwrap_or(0);
    if numbers.iter().all(|&number| number == first) {
        let mut out = vec![ONE];
        varint(&mut out, first.into());
        return out;
    }
    if numbers.iter().zip(0..).all(|(&number, row)| number == row) {
        return vec![OWN];
    }
    let mut out = vec![LIST];
    for &number in numbers {
        varint(&mut out, number.into());
    }
    out
}

/// The numbers that are not 0: how many, then the distance to the one before and the number of each.
fn sparse(numbers: &[i64]) -> Vec<u8> {
    let mut out = Vec::new();
    varint(&mut out, numbers.iter().filter(|&&number| number != 0).count() as u64);
    let mut last = 0;
    for (row, &number) in numbers.iter().enumerate().filter(|(_, number)| **number != 0) {
        varint(&mut out, (row - last) as u64);
        varint(&mut out, zigzag(number));
        last = row;
    }
    out
}

/// Numbers below a limit as all their lowest bytes, then all their next ones, and so on. This packs better than varints,
/// because the bytes of a kind are similar.
fn bytewise(numbers: &[u32], limit: usize) -> Vec<u8> {
    let bytes = (0..4).take_while(|byte| 1_u64 << (8 * byte) < limit as u64);
    bytes.flat_map(|byte| numbers.iter().map(move |number| (number >> (8 * byte)) as u8)).collect()
}

pub(super) fn values(column: &[i64]) -> Vec<u8> {
    let mut out = Vec::with_capacity(column.len() * 2);
    for &value in column {
        varint(&mut out, zigzag(value));
    }
    out
}

/// Small numbers of both signs as small numbers.
fn zigzag(value: i64) -> u64 {
    (value.cast_unsigned() << 1) ^ (value >> 63).cast_unsigned()
}

pub(super) fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
