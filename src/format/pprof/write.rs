//! Writes pprof.
//!
//! The model has a frame for every function of a stack; a pprof location is a frame together with everything
//! inlined into it. So a stack is split before each frame that was not inlined:
//!
//! ```text
//! main;work;+helper;+get;loop    →    [main] [work +helper +get] [loop]
//! ```

use std::io::{self, Write};

use prost::Message;

use crate::format::pprof::integers::{IntegerScale, scales};
use crate::format::pprof::messages::{FunctionMessage, LabelMessage, MappingMessage, ValueType};
use crate::format::pprof::sniff::NAME;
use crate::format::pprof::write_locations::{PackedStacks, WrittenLocations};
use crate::format::wire::{push_bytes, push_varint};
use crate::format::write::notes_of_empty_texts;
use crate::profile::{Addresses, Column, Id, Label, LabelValue, MappingId, Profile, Strings, Symbols};

/// Writes a profile with all its metrics.
pub(super) fn write(profile: &Profile, _metric: usize, out: &mut dyn Write) -> io::Result<Vec<String>> {
    let mut encoder = Encoder { strings: profile.symbols.strings.clone(), bytes: Vec::new() };
    let (scales, mut changes) = scales(profile, NAME);
    encoder.metrics(profile, &scales);
    let (locations, stacks) = WrittenLocations::of(profile);
    encoder.samples(profile, &scales, &stacks);
    encoder.symbols(profile, &locations);
    changes.extend(encoder.meta(profile));
    changes.extend(notes_of_empty_texts(profile, NAME, true));
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

    fn metrics(&mut self, profile: &Profile, scales: &[IntegerScale]) {
        for (metric, scale) in profile.meta.metrics.iter().zip(scales) {
            let (r#type, unit) = (self.string(&metric.name), self.string(&scale.unit));
            self.message(1, &ValueType { r#type, unit });
        }
    }

    fn samples(&mut self, profile: &Profile, scales: &[IntegerScale], stacks: &PackedStacks) {
        let samples = &profile.samples;
        let (mut sample, mut values) = (Vec::new(), Vec::new());
        let mut scales: Vec<_> = scales.iter().map(IntegerScale::rounding).collect();
        for row in 0..samples.len() {
            sample.clear();
            values.clear();
            for (column, scale) in samples.values.iter().zip(&mut scales) {
                push_varint(&mut values, scale.next(column[row]) as u64);
            }
            let ids = stacks.ids(samples.stack[row]);
            if !ids.is_empty() {
                push_bytes(&mut sample, 1, ids);
            }
            push_bytes(&mut sample, 2, &values);
            // Empty text would be read as the number 0.
            let is_empty =
                |label: &&Label| matches!(label.value, LabelValue::Text(text) if text.index() == 0);
            let labels = profile.label_sets.labels(samples.labels[row]).iter();
            for label in labels.filter(|label| !is_empty(label)) {
                let key = label.key.index() as i64;
                let label = match label.value {
                    LabelValue::Text(text) => {
                        LabelMessage { key, str: text.index() as i64, ..LabelMessage::default() }
                    }
                    LabelValue::Number(num, unit) => {
                        LabelMessage { key, num, num_unit: unit.index() as i64, ..LabelMessage::default() }
                    }
                };
                push_bytes(&mut sample, 3, &label.encode_to_vec());
            }
            push_bytes(&mut self.bytes, 2, &sample);
        }
    }

    fn symbols(&mut self, profile: &Profile, locations: &WrittenLocations) {
        let symbols = &profile.symbols;
        let file_ends = file_ends(symbols);
        for id in locations.mappings.in_order() {
            let mapping = symbols.mappings[id];
            // If the file is mapped as a whole at address 0, its offsets are addresses.
            let limit = if mapping.addresses == Addresses::File { file_ends[id] } else { mapping.limit };
            let made = MappingMessage {
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
            let made = FunctionMessage {
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
pub(in crate::format) fn file_ends(symbols: &Symbols) -> Column<MappingId, u64> {
    let mut ends = Column::filled(0, symbols.mappings.len());
    for frame in &symbols.frames {
        let end = &mut ends[frame.mapping];
        *end = frame.address.saturating_add(1).max(*end);
    }
    ends
}
