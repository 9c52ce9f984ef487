//! Writes OTLP: one profile per metric, in the numbering of protocol 1.10.

use std::io::{self, Write};

use hashbrown::HashMap;

use crate::format::otlp::attributes::{PID, PROCESS, THREAD, TID};
use crate::format::otlp::frames::BUILD_ID;
use crate::format::otlp::read::DEFAULT_METRIC;
use crate::format::otlp::sniff::NAME;
use crate::format::otlp::waits;
use crate::format::pprof::{
    IntegerScale, LocationMessage, PackedStacks, WrittenLocations, file_ends, scales,
};
use crate::format::wire::{push_bytes, push_varint};
use crate::format::write::{notes_of_empty_texts, rows_in_time};
use crate::profile::{Addresses, Id, Label, LabelSetId, LabelValue, Profile, StackId, Strings};

/// Writes a profile with all its metrics.
pub(super) fn write(profile: &Profile, _metric: usize, out: &mut dyn Write) -> io::Result<Vec<String>> {
    let mut encoder = Encoder::of(profile);
    let (scales, mut changes) = scales(profile, NAME);
    changes.extend(notes_of_empty_texts(profile, NAME, false));
    let (locations, stacks) = WrittenLocations::of(profile);
    let mut scope = Vec::new();
    push_bytes(&mut scope, 1, &scope_of_prof(profile.meta.default_metric));
    for (metric, scale) in scales.iter().enumerate() {
        push_bytes(&mut scope, 2, &encoder.profile(metric, scale, &stacks));
    }
    encoder.tables(&locations, &stacks);
    let mut resource = Vec::new();
    push_bytes(&mut resource, 2, &scope);
    let mut header = Vec::new();
    push_bytes(&mut header, 1, &resource);
    out.write_all(&header)?;
    header.clear();
    push_bytes(&mut header, 2, &encoder.dictionary());
    out.write_all(&header)?;
    Ok(changes)
}

/// The scope of profiles that `prof` wrote, with the number of the default metric.
fn scope_of_prof(default_metric: usize) -> Vec<u8> {
    let (mut any, mut attribute, mut scope) = (Vec::new(), Vec::new(), Vec::new());
    push_varint(&mut any, 3 << 3);
    push_varint(&mut any, default_metric as u64);
    push_bytes(&mut attribute, 1, DEFAULT_METRIC.as_bytes());
    push_bytes(&mut attribute, 2, &any);
    push_bytes(&mut scope, 1, b"prof");
    push_bytes(&mut scope, 2, env!("CARGO_PKG_VERSION").as_bytes());
    push_bytes(&mut scope, 3, &attribute);
    scope
}

/// Encodes the parts of a message.
struct Encoder<'p> {
    profile: &'p Profile,
    strings: Strings,
    /// Rows of the tables of mappings, locations, functions, attributes and stacks.
    tables: [Vec<u8>; 8],
    attributes: HashMap<Vec<u8>, u64>,
    /// The packed rows of the attributes of each set of labels.
    sets: HashMap<LabelSetId, Vec<u8>>,
}

const MAPPINGS: usize = 1;
const LOCATIONS: usize = 2;
const FUNCTIONS: usize = 3;
const LINKS: usize = 4;
const STRINGS: usize = 5;
const ATTRIBUTES: usize = 6;
const STACKS: usize = 7;

impl<'p> Encoder<'p> {
    fn of(profile: &'p Profile) -> Encoder<'p> {
        let mut encoder = Encoder {
            profile,
            strings: profile.symbols.strings.clone(),
            tables: Default::default(),
            attributes: HashMap::new(),
            sets: HashMap::new(),
        };
        // Row 0 of every table stands for nothing.
        for table in [MAPPINGS, LOCATIONS, FUNCTIONS, LINKS, ATTRIBUTES, STACKS] {
            encoder.row(table, &[]);
        }
        encoder
    }

    fn row(&mut self, table: usize, bytes: &[u8]) {
        push_bytes(&mut self.tables[table], table as u32, bytes);
    }

    fn string(&mut self, text: &str) -> u64 {
        self.strings.intern(text).index() as u64
    }

    /// A profile of one metric.
    fn profile(&mut self, metric: usize, scale: &IntegerScale, stacks: &PackedStacks) -> Vec<u8> {
        let meta = &self.profile.meta;
        let mut out = Vec::new();
        let kind = self.kind(&meta.metrics[metric].name, &scale.unit);
        push_bytes(&mut out, 1, &kind);
        let samples = &self.profile.samples;
        let ended = waits::ended(&meta.metrics[metric]);
        let mut rounding = scale.rounding();
        let mut sample = Vec::new();
        for row in rows_in_time(self.profile, &[metric]) {
            let value = samples.values[metric][row];
            if value == 0 {
                continue;
            }
            sample.clear();
            let stack = samples.stack[row];
            // Stack 0 is the empty one.
            let stack = if stacks.ids(stack).is_empty() { 0 } else { stack.index() as u64 + 1 };
            number(&mut sample, 1, stack);
            let attributes = self.label_set(samples.labels[row]);
            if !attributes.is_empty() {
                push_bytes(&mut sample, 2, attributes);
            }
            let mut values = Vec::new();
            push_varint(&mut values, rounding.next(value) as u64);
            push_bytes(&mut sample, 4, &values);
            if let Some(time) = samples.time_of(row) {
                let length = ended.map_or(0, |lengths| lengths.length(value));
                push_bytes(&mut sample, 5, &time.saturating_add(length).to_le_bytes());
            }
            push_bytes(&mut out, 2, &sample);
        }
        if let Some(time) = meta.time_ns {
            push_varint(&mut out, 3 << 3 | 1);
            out.extend_from_slice(&time.to_le_bytes());
        }
        number(&mut out, 4, meta.duration_ns.unwrap_or(0) as u64);
        if let Some(period) = &meta.period {
            let kind = self.kind(&period.name, &period.unit);
            push_bytes(&mut out, 5, &kind);
            number(&mut out, 6, period.value as u64);
        }
        out
    }

    fn kind(&mut self, name: &str, unit: &str) -> Vec<u8> {
        let mut out = Vec::new();
        number(&mut out, 1, self.string(name));
        number(&mut out, 2, self.string(unit));
        out
    }

    /// The packed rows of the attributes of a set of labels.
    fn label_set(&mut self, set: LabelSetId) -> &[u8] {
        if !self.sets.contains_key(&set) {
            let mut rows = Vec::new();
            for label in self.profile.label_sets.labels(set) {
                push_varint(&mut rows, self.label(label));
            }
            self.sets.insert(set, rows);
        }
        &self.sets[&set]
    }

    /// The row of the attribute for a label.
    fn label(&mut self, label: &Label) -> u64 {
        let key = self.strings.get(label.key);
        let key = match (key, label.value) {
            ("thread", _) => THREAD,
            ("tid", _) => TID,
            ("process", LabelValue::Number(..)) => PID,
            ("process", LabelValue::Text(_)) => PROCESS[0],
            (key, _) => key,
        };
        let key = key.to_string();
        let (mut any, mut unit_of_number) = (Vec::new(), 0);
        match label.value {
            LabelValue::Text(text) => push_bytes(&mut any, 1, self.strings.get(text).as_bytes()),
            LabelValue::Number(value, unit) => {
                push_varint(&mut any, 3 << 3);
                push_varint(&mut any, value as u64);
                unit_of_number = unit.index() as u64;
            }
        }
        self.attribute(&key, &any, unit_of_number)
    }

    /// The row of an attribute; `any` is its encoded value.
    fn attribute(&mut self, key: &str, any: &[u8], unit: u64) -> u64 {
        let mut attribute = Vec::new();
        number(&mut attribute, 1, self.string(key));
        push_bytes(&mut attribute, 2, any);
        number(&mut attribute, 3, unit);
        if let Some(&row) = self.attributes.get(&attribute) {
            return row;
        }
        self.row(ATTRIBUTES, &attribute);
        let row = self.attributes.len() as u64 + 1;
        self.attributes.insert(attribute, row);
        row
    }

    fn tables(&mut self, locations: &WrittenLocations, stacks: &PackedStacks) {
        let symbols = &self.profile.symbols;
        let file_ends = file_ends(symbols);
        for id in locations.mappings.in_order() {
            let mapping = symbols.mappings[id];
            let mut out = Vec::new();
            // If the file is mapped as a whole at address 0, its offsets are addresses.
            let limit = if mapping.addresses == Addresses::File { file_ends[id] } else { mapping.limit };
            for (field, value) in
                [(1, mapping.start), (2, limit), (3, mapping.offset), (4, mapping.file.index() as u64)]
            {
                number(&mut out, field, value);
            }
            let build_id = symbols.strings.get(mapping.build_id);
            if !build_id.is_empty() {
                let mut any = Vec::new();
                push_bytes(&mut any, 1, build_id.as_bytes());
                let mut rows = Vec::new();
                push_varint(&mut rows, self.attribute(BUILD_ID, &any, 0));
                push_bytes(&mut out, 5, &rows);
            }
            self.row(MAPPINGS, &out);
        }
        for location in &locations.rows {
            self.row(LOCATIONS, &encoded_location(location));
        }
        for function in &symbols.functions {
            let mut out = Vec::new();
            number(&mut out, 1, function.name.index() as u64);
            number(&mut out, 3, function.file.index() as u64);
            number(&mut out, 4, u64::from(function.line));
            self.row(FUNCTIONS, &out);
        }
        for stack in 0..self.profile.stacks.len() {
            let mut out = Vec::new();
            let ids = stacks.ids(StackId::new(stack));
            if !ids.is_empty() {
                push_bytes(&mut out, 1, ids);
            }
            self.row(STACKS, &out);
        }
    }

    fn dictionary(mut self) -> Vec<u8> {
        let strings = std::mem::take(&mut self.strings);
        for id in strings.ids() {
            self.row(STRINGS, strings.get(id).as_bytes());
        }
        self.tables.concat()
    }
}

fn encoded_location(location: &LocationMessage) -> Vec<u8> {
    let mut out = Vec::new();
    number(&mut out, 1, location.mapping_id);
    number(&mut out, 2, location.address);
    for line in &location.line {
        let mut inner = Vec::new();
        number(&mut inner, 1, line.function_id);
        number(&mut inner, 2, line.line as u64);
        push_bytes(&mut out, 3, &inner);
    }
    out
}

/// Writes a field, which is omitted if it is 0 as usual in protobuf.
fn number(out: &mut Vec<u8>, field: u32, value: u64) {
    if value != 0 {
        push_varint(out, u64::from(field) << 3);
        push_varint(out, value);
    }
}
