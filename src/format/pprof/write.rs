//! Writes pprof.
//!
//! The model has a frame for every function of a stack; a pprof location is a frame together with everything
//! inlined into it. So a stack is split before each frame that was not inlined:
//!
//! ```text
//! main;work;+helper;+get;loop    →    [main] [work +helper +get] [loop]
//! ```

use std::cmp::Reverse;
use std::io::{self, Write};

use hashbrown::HashMap;
use prost::Message;

use crate::format::pprof::messages::{Function, Label, Line, Location, Mapping, ValueType};
use crate::format::wire::{push_bytes, push_varint};
use crate::profile::{
    Addresses, Column, FrameId, Id, LabelValue, MappingId, Metric, Profile, StackId, Strings, Symbols,
};
use crate::unit::{Family, Unit};

/// Writes a profile with all its metrics.
pub(super) fn write(profile: &Profile, _metric: usize, out: &mut dyn Write) -> io::Result<Vec<String>> {
    let mut encoder = Encoder { strings: profile.symbols.strings.clone(), bytes: Vec::new() };
    let (scales, mut changes) = scales(profile);
    encoder.metrics(profile, &scales);
    let (locations, stacks) = Locations::of(profile);
    encoder.samples(profile, &scales, &stacks);
    encoder.symbols(profile, &locations);
    changes.extend(encoder.meta(profile));
    out.write_all(&encoder.bytes)?;
    // The strings come last, because only now all are known.
    let mut table = Vec::new();
    for id in encoder.strings.ids() {
        table.clear();
        push_bytes(&mut table, 6, encoder.strings.get(id).as_bytes());
        out.write_all(&table)?;
    }
    Ok(changes)
}

/// Converts the values of a metric to integers, because pprof has no others.
struct Scale {
    unit: String,
    factor: i64,
    divisor: i64,
}

impl Scale {
    fn value(&self, value: i64) -> i64 {
        if self.divisor == 1 {
            return value;
        }
        let scaled = i128::from(value) * i128::from(self.factor);
        let half = i128::from(self.divisor / 2) * scaled.signum();
        // `scale` only chooses a factor with which all values fit.
        ((scaled + half) / i128::from(self.divisor)) as i64
    }
}

/// Fractional times are converted to nanoseconds and sizes to bytes, rounded. If there is no smaller unit, as for
/// 0.25 samples, values are multiplied by the divisor instead, so that small ones are not lost.
fn scale(metric: &Metric) -> Scale {
    let as_is = Scale { unit: metric.unit.clone(), factor: 1, divisor: 1 };
    let unit = Unit::parse(&metric.unit);
    let (finest, name) = match unit.family() {
        Family::Time => (Unit::NANOSECONDS, "nanoseconds"),
        Family::Bytes => (Unit::BYTES, "bytes"),
        _ => return as_is,
    };
    let (Some(factor), Ok(divisor)) = (unit.factor_to(&finest), i64::try_from(metric.divisor)) else {
        return as_is;
    };
    let total = i128::from(metric.total) * i128::from(factor) / i128::from(divisor);
    if divisor == 1 || i64::try_from(total).is_err() {
        return as_is;
    }
    Scale { unit: name.to_string(), factor, divisor }
}

fn scales(profile: &Profile) -> (Vec<Scale>, Vec<String>) {
    let mut changes = Vec::new();
    let scales = profile.meta.metrics.iter().map(|metric| {
        let scale = scale(metric);
        if scale.divisor != 1 {
            changes.push(format!("pprof: values of {} are rounded to whole {}", metric.name, scale.unit));
        } else if metric.divisor != 1 {
            let factor = metric.divisor;
            changes.push(format!(
                "pprof: values of {} are multiplied by {factor}, because pprof only stores integers",
                metric.name
            ));
        }
        scale
    });
    (scales.collect(), changes)
}

/// Encodes the fields of a profile.
struct Encoder {
    strings: Strings,
    bytes: Vec<u8>,
}

impl Encoder {
    fn string(&mut self, text: &str) -> i64 {
        self.strings.intern(text).index() as i64
    }

    fn message(&mut self, field: u32, message: &impl Message) {
        push_bytes(&mut self.bytes, field, &message.encode_to_vec());
    }

    /// Writes a field, which is omitted if it is 0 as usual in protobuf.
    fn number(&mut self, field: u32, number: i64) {
        if number != 0 {
            push_varint(&mut self.bytes, u64::from(field) << 3);
            push_varint(&mut self.bytes, number as u64);
        }
    }

    fn metrics(&mut self, profile: &Profile, scales: &[Scale]) {
        for (metric, scale) in profile.meta.metrics.iter().zip(scales) {
            let (r#type, unit) = (self.string(&metric.name), self.string(&scale.unit));
            self.message(1, &ValueType { r#type, unit });
        }
    }

    fn samples(&mut self, profile: &Profile, scales: &[Scale], stacks: &PackedStacks) {
        let samples = &profile.samples;
        let (mut sample, mut values) = (Vec::new(), Vec::new());
        for row in 0..samples.len() {
            sample.clear();
            values.clear();
            for (column, scale) in samples.values.iter().zip(scales) {
                push_varint(&mut values, scale.value(column[row]) as u64);
            }
            let ids = stacks.ids(samples.stack[row]);
            if !ids.is_empty() {
                push_bytes(&mut sample, 1, ids);
            }
            push_bytes(&mut sample, 2, &values);
            for label in profile.label_sets.labels(samples.labels[row]) {
                let key = label.key.index() as i64;
                let label = match label.value {
                    LabelValue::Text(text) => Label { key, str: text.index() as i64, ..Label::default() },
                    LabelValue::Number(num, unit) => {
                        Label { key, num, num_unit: unit.index() as i64, ..Label::default() }
                    }
                };
                push_bytes(&mut sample, 3, &label.encode_to_vec());
            }
            push_bytes(&mut self.bytes, 2, &sample);
        }
    }

    fn symbols(&mut self, profile: &Profile, locations: &Locations) {
        let symbols = &profile.symbols;
        let file_ends = file_ends(symbols);
        for id in locations.mappings.in_order() {
            let mapping = symbols.mappings[id];
            // If the file is mapped as a whole at address 0, its offsets are addresses.
            let limit = if mapping.addresses == Addresses::File { file_ends[id] } else { mapping.limit };
            let made = Mapping {
                id: locations.mappings.number(id),
                memory_start: mapping.start,
                memory_limit: limit,
                file_offset: mapping.offset,
                filename: mapping.file.index() as i64,
                build_id: mapping.build_id.index() as i64,
                // Frames that already have names need not be symbolized.
                has_functions: locations.named[id],
            };
            self.message(3, &made);
        }
        for location in &locations.rows {
            self.message(4, location);
        }
        for (id, function) in symbols.functions.enumerate() {
            let made = Function {
                id: id.index() as u64 + 1,
                name: function.name.index() as i64,
                system_name: 0,
                filename: function.file.index() as i64,
                start_line: i64::from(function.line),
            };
            self.message(5, &made);
        }
    }

    /// Writes the metadata. Returns a message if some of it cannot be stored.
    fn meta(&mut self, profile: &Profile) -> Option<String> {
        let meta = &profile.meta;
        let expressions = [(7, &meta.drop_frames), (8, &meta.keep_frames)];
        for (field, text) in expressions {
            let text = self.string(text);
            self.number(field, text);
        }
        self.number(9, meta.time_ns.unwrap_or(0));
        self.number(10, meta.duration_ns.unwrap_or(0));
        if let Some(period) = &meta.period {
            let (r#type, unit) = (self.string(&period.name), self.string(&period.unit));
            self.message(11, &ValueType { r#type, unit });
            self.number(12, period.value);
        }
        let mut comments = Vec::new();
        for comment in &meta.comments {
            push_varint(&mut comments, self.string(comment) as u64);
        }
        if !comments.is_empty() {
            push_bytes(&mut self.bytes, 13, &comments);
        }
        // Without this field, the last metric is the default.
        let default = meta.metrics.get(meta.default_metric)?;
        if meta.default_metric + 1 == meta.metrics.len() {
            return None;
        }
        let name = self.string(&default.name);
        self.number(14, name);
        let found = meta.metric_named(&default.name) == Some(meta.default_metric) && name != 0;
        (!found).then(|| {
            format!("pprof: the default metric is lost, because its name is not unique: {:?}", default.name)
        })
    }
}

/// The highest address of each mapping, plus one.
fn file_ends(symbols: &Symbols) -> Column<MappingId, u64> {
    let mut ends = Column::filled(0, symbols.mappings.len());
    for frame in &symbols.frames {
        let end = &mut ends[frame.mapping];
        *end = frame.address.saturating_add(1).max(*end);
    }
    ends
}

/// The order in which mappings are written: pprof's tools assume that the first one is the program.
struct MappingOrder {
    first: MappingId,
    count: usize,
}

impl MappingOrder {
    /// Chooses the first mapping. A profile read from pprof already has the program first. Other formats list mappings
    /// in any order, perf the kernel first; there the program is the executable with the largest part of the
    /// default metric.
    fn of(profile: &Profile) -> MappingOrder {
        let symbols = &profile.symbols;
        let count = symbols.mappings.len();
        let mut first = MappingId::new(1);
        if !profile.meta.format.starts_with("pprof") && count > 1 {
            let weights = weights(profile);
            let programs = symbols.mappings.ids().filter(|&id| is_program(symbols.mapping_file(id)));
            // The first of equal weights.
            first = programs.max_by_key(|&id| (weights[id], Reverse(id))).unwrap_or(first);
        }
        MappingOrder { first, count }
    }

    /// The id of a mapping in the file; 0 means none.
    fn number(&self, id: MappingId) -> u64 {
        let shifted = id.index() > 0 && id.index() < self.first.index();
        if id == self.first { 1 } else { id.index() as u64 + u64::from(shifted) }
    }

    fn in_order(&self) -> impl Iterator<Item = MappingId> + use<> {
        let (first, count) = (self.first, self.count);
        let others = (1..count).map(MappingId::new).filter(move |&id| id != first);
        (count > 1).then_some(first).into_iter().chain(others)
    }
}

/// Whether a mapping's file is an executable rather than a library, the kernel or anonymous memory.
fn is_program(file: &str) -> bool {
    let file = file.strip_suffix(" (deleted)").unwrap_or(file);
    let name = file.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_library =
        [".so", ".dylib", ".dll", ".ko", ".ko.xz", ".ko.zst"].iter().any(|end| name.ends_with(end))
            || name.contains(".so.");
    let is_special = file.starts_with(['[', '<']) || file.starts_with("//") || file.starts_with("/memfd:");
    !name.is_empty() && !is_library && !is_special && !file.starts_with("/tmp/perf-")
}

/// For each mapping, the sum of |value| of the default metric over the stacks that contain its code.
fn weights(profile: &Profile) -> Column<MappingId, u128> {
    let frames = &profile.symbols.frames;
    let mut weights = Column::filled(0, profile.symbols.mappings.len());
    let mut of_stack = Column::<StackId, u128>::filled(0, profile.stacks.len());
    for (&stack, value) in
        profile.samples.stack.iter().zip(&profile.samples.values[profile.meta.default_metric])
    {
        of_stack[stack] += u128::from(value.unsigned_abs());
    }
    let mut met = Vec::new();
    for (stack, &weight) in of_stack.enumerate() {
        met.clear();
        met.extend(profile.stacks.frames(stack).iter().map(|&frame| frames[frame].mapping));
        met.sort_unstable();
        met.dedup();
        for &mapping in &met {
            weights[mapping] += weight;
        }
    }
    weights
}

/// The locations of a profile, in the order of their first occurrence in its stacks.
struct Locations {
    rows: Vec<Location>,
    mappings: MappingOrder,
    /// Whether any frame of a mapping has a name.
    named: Column<MappingId, bool>,
}

/// The encoded location ids of every stack, leaf first.
struct PackedStacks {
    bytes: Vec<u8>,
    end: Column<StackId, usize>,
}

impl PackedStacks {
    fn ids(&self, stack: StackId) -> &[u8] {
        let start = if stack.index() == 0 { 0 } else { self.end[StackId::new(stack.index() - 1)] };
        &self.bytes[start..self.end[stack]]
    }
}

impl Locations {
    fn of(profile: &Profile) -> (Locations, PackedStacks) {
        let symbols = &profile.symbols;
        let mut locations = Locations {
            rows: Vec::new(),
            mappings: MappingOrder::of(profile),
            named: Column::filled(false, symbols.mappings.len()),
        };
        let mut ids: HashMap<&[FrameId], u64> = HashMap::new();
        let mut stacks = PackedStacks { bytes: Vec::new(), end: Column::new() };
        let unnamed = symbols.unnamed_frames();
        for stack in profile.stacks.iter() {
            let mut rest = stack;
            while !rest.is_empty() {
                let start = last_group(symbols, rest);
                let group = &rest[start..];
                rest = &rest[..start];
                let id = *ids.entry(group).or_insert_with(|| {
                    let id = locations.rows.len() as u64 + 1;
                    let mapping = symbols.frames[group[0]].mapping;
                    let location = Location {
                        mapping_id: locations.mappings.number(mapping),
                        ..location(id, symbols, group, &unnamed)
                    };
                    locations.named[mapping] |= !location.line.is_empty();
                    locations.rows.push(location);
                    id
                });
                push_varint(&mut stacks.bytes, id);
            }
            stacks.end.push(stacks.bytes.len());
        }
        (locations, stacks)
    }
}

/// The index of the last frame of `frames` that was not inlined, provided that the frames after it have the same
/// address.
fn last_group(symbols: &Symbols, frames: &[FrameId]) -> usize {
    let mut start = frames.len() - 1;
    while start > 0 {
        let (frame, caller) = (symbols.frames[frames[start]], symbols.frames[frames[start - 1]]);
        let same_place = (frame.address, frame.mapping) == (caller.address, caller.mapping);
        if !(frame.inlined && same_place) {
            break;
        }
        start -= 1;
    }
    start
}

/// The location of frames that share an address, outermost first, without its mapping.
fn location(id: u64, symbols: &Symbols, frames: &[FrameId], unnamed: &Column<FrameId, bool>) -> Location {
    let first = symbols.frames[frames[0]];
    let line = |&frame: &FrameId| {
        let frame = symbols.frames[frame];
        Line { function_id: frame.function.index() as u64 + 1, line: i64::from(frame.line) }
    };
    let line = match frames {
        [frame] if unnamed[*frame] => Vec::new(),
        frames => frames.iter().rev().map(line).collect(),
    };
    Location { id, mapping_id: 0, address: first.address, line }
}
