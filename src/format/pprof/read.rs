//! The streaming walk over a pprof profile.
//!
//! The top level is walked field by field as the bytes arrive. Samples are decoded by hand, since
//! there are millions; the small messages of the tables through prost. Strings come last, so all
//! that refers to them is kept as table indexes until the end.

use prost::Message;

use crate::format::pprof::locations::Locations;
use crate::format::pprof::messages::{Label, ValueType};
use crate::format::pprof::raw_stacks::{Batch, FirstSeen, RawStacks};
use crate::format::pprof::tables::Tables;
use crate::format::wire::{Field, Value, Wire, WireError, push_varint};
use crate::format::{LoadError, ParseError, Source};
use crate::parallel;
use crate::profile::{
    Budget, FrameId, Id, LabelSetId, LabelValue, LoadOptions, Period, Profile, ProfileBuilder, Share,
    StackId, Stacks, StringId,
};

pub(super) const NAME: &str = "pprof";

/// Reads a profile.
pub(super) fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let mut reader = Reader::new(options);
    loop {
        let at = source.position();
        let mut wire = Wire::new(source.bytes());
        match wire.field() {
            Ok(Some(field)) => {
                reader.field(field, at)?;
                let length = wire.position();
                source.consume(length);
            }
            // An empty window or one that ends inside a field: both may go on in the next block.
            Ok(None) | Err(WireError::Truncated) => {
                reader.share.set(reader.size())?;
                if !source.more()? {
                    if source.bytes().is_empty() {
                        break;
                    }
                    return Err(
                        ParseError::at_byte(NAME, at, "the file ends in the middle of a field").into()
                    );
                }
            }
            Err(WireError::Malformed) => {
                return Err(ParseError::at_byte(NAME, at, "this is no field of a protobuf message").into());
            }
        }
    }
    reader.tables.end = source.position();
    Ok(reader.finish()?)
}

/// All that was read so far.
struct Reader {
    builder: ProfileBuilder,
    stacks: RawStacks,
    tables: Tables,
    metrics: Vec<ValueType>,
    /// Number of values of every sample, set by the first.
    width: Option<usize>,
    samples: u64,
    /// Singular fields by number; meeting one twice means that profiles were concatenated.
    singular: [Option<i64>; 16],
    period_type: Option<ValueType>,
    comments: Vec<i64>,
    /// Samples that wait for the number of their stack: location ids, values, labels.
    batch: Batch,
    values: Vec<i64>,
    label_sets: Vec<LabelSetId>,
    /// The location ids of a sample that come in several pieces, and its labels.
    ids: Vec<u8>,
    labels: Vec<crate::profile::Label>,
    /// What stacks and tables take of the budget.
    share: Share,
}

/// Samples that are looked up together: as many as fit the first-level cache.
const BATCH: usize = 256;

/// Stacks are not deeper: this one alone takes 256 MiB.
const DEEPEST: usize = 1 << 26;

const DROP_FRAMES: usize = 7;
const KEEP_FRAMES: usize = 8;
const TIME: usize = 9;
const DURATION: usize = 10;
const PERIOD: usize = 12;
const DEFAULT_METRIC: usize = 14;

impl Reader {
    fn new(options: LoadOptions) -> Self {
        Reader {
            builder: ProfileBuilder::new(NAME, options),
            stacks: RawStacks::new(),
            tables: Tables::default(),
            metrics: Vec::new(),
            width: None,
            samples: 0,
            singular: [None; 16],
            period_type: None,
            comments: Vec::new(),
            batch: Batch::default(),
            values: Vec::new(),
            label_sets: Vec::new(),
            ids: Vec::new(),
            labels: Vec::new(),
            share: options.budget.share(),
        }
    }

    /// About how many bytes of memory the stacks and tables take, the builder's aside.
    fn size(&self) -> u64 {
        (self.stacks.size() + self.tables.size()) as u64
    }

    /// Takes one top-level field that starts at byte `at`.
    fn field(&mut self, field: Field<'_>, at: u64) -> Result<(), ParseError> {
        match (field.number, field.value) {
            (1, Value::Bytes(bytes)) => self.metrics.push(message(bytes, at)?),
            (2, Value::Bytes(bytes)) => self.sample(bytes, at)?,
            (3, Value::Bytes(bytes)) => self.tables.mapping(message(bytes, at)?, at)?,
            (4, Value::Bytes(bytes)) => {
                self.tables.locations.add(bytes, at).map_err(|_| malformed("location", at))?;
            }
            (5, Value::Bytes(bytes)) => self.tables.function(message(bytes, at)?, at)?,
            (6, Value::Bytes(bytes)) => self.tables.string(bytes),
            (11, Value::Bytes(bytes)) => once(&mut self.period_type, message(bytes, at)?, at)?,
            (13, Value::Varint(comment)) => self.comments.push(comment as i64),
            (13, Value::Bytes(packed)) => {
                let mut wire = Wire::new(packed);
                while !wire.is_at_end() {
                    self.comments.push(wire.varint().map_err(|_| malformed("comment", at))? as i64);
                }
            }
            (number @ (7..=10 | 12 | 14 | 15), Value::Varint(value)) => {
                once(&mut self.singular[number as usize], value as i64, at)?;
            }
            (1..=15, _) => return Err(malformed("field", at)),
            // Fields added to the format after this was written.
            _ => {}
        }
        Ok(())
    }

    fn sample(&mut self, bytes: &[u8], at: u64) -> Result<(), ParseError> {
        self.samples += 1;
        self.ids.clear();
        self.labels.clear();
        let values_before = self.values.len();
        let (direct, has_labels) = self.walk_sample(bytes).map_err(|_| {
            ParseError::at_byte(NAME, at, format!("sample {} is not a well-formed message", self.samples))
        })?;
        self.check_width(self.values.len() - values_before, at)?;
        let seen = FirstSeen { sample: self.samples, byte: at };
        self.stacks.wait(&mut self.batch, direct.unwrap_or(&self.ids), seen);
        self.label_sets.push(if self.labels.is_empty() {
            if has_labels {
                self.builder.skipped_labels();
            }
            LabelSetId::default()
        } else {
            self.builder.label_set(&mut self.labels)
        });
        if self.batch.len() == BATCH { self.add_batch() } else { Ok(()) }
    }

    /// Adds the samples that wait.
    fn add_batch(&mut self) -> Result<(), ParseError> {
        let too_many = || ParseError::whole(NAME, "more than 2^32 distinct stacks");
        self.stacks.intern_all(&mut self.batch).ok_or_else(too_many)?;
        let values = self.values.chunks_exact(self.width.unwrap_or(1));
        for ((&stack, &labels), values) in self.batch.numbers.iter().zip(&self.label_sets).zip(values) {
            self.builder.sample(StackId::new(stack as usize), labels, None, values);
        }
        self.batch.clear();
        self.values.clear();
        self.label_sets.clear();
        Ok(())
    }

    /// Collects values and labels of a sample. Its location ids are returned as the slice they
    /// arrived in, or gathered in `self.ids` where the writer did not pack them.
    fn walk_sample<'a>(&mut self, bytes: &'a [u8]) -> Result<(Option<&'a [u8]>, bool), WireError> {
        let mut direct: Option<&[u8]> = None;
        let mut has_labels = false;
        let mut wire = Wire::new(bytes);
        while let Some(field) = wire.field()? {
            match (field.number, field.value) {
                (1, Value::Bytes(packed)) if direct.is_none() && self.ids.is_empty() => direct = Some(packed),
                (1, Value::Bytes(packed)) => {
                    self.ids.extend_from_slice(direct.take().unwrap_or_default());
                    self.ids.extend_from_slice(packed);
                }
                (1, Value::Varint(id)) => {
                    self.ids.extend_from_slice(direct.take().unwrap_or_default());
                    push_varint(&mut self.ids, id);
                }
                (2, Value::Bytes(packed)) => {
                    let mut values = Wire::new(packed);
                    while !values.is_at_end() {
                        self.values.push(values.varint()? as i64);
                    }
                }
                (2, Value::Varint(value)) => self.values.push(value as i64),
                (3, Value::Bytes(label)) => {
                    has_labels = true;
                    if self.builder.options().labels {
                        let label = Label::decode(label).map_err(|_| WireError::Malformed)?;
                        self.labels.push(provisional_label(label)?);
                    }
                }
                (1..=3, _) => return Err(WireError::Malformed),
                _ => {}
            }
        }
        Ok((direct, has_labels))
    }

    fn check_width(&mut self, values: usize, at: u64) -> Result<(), ParseError> {
        let width = *self.width.get_or_insert_with(|| {
            for _ in 0..values {
                self.builder.metric("", "");
            }
            values
        });
        if values == width && width > 0 {
            return Ok(());
        }
        let message = format!("sample {} has {values} values, expected {}", self.samples, width.max(1));
        Err(ParseError::at_byte(NAME, at, message))
    }

    fn finish(mut self) -> Result<Profile, ParseError> {
        self.add_batch()?;
        self.check_that_it_is_a_profile()?;
        self.name_metrics()?;
        self.describe()?;
        let Reader { mut builder, stacks, mut tables, .. } = self;
        if builder.options().labels {
            let ids = tables.intern_all(&mut builder);
            builder.map_label_strings(|index| ids.get(index.index()).copied().unwrap_or_default());
        }
        let locations = tables.expand(&mut builder)?;
        let stacks = stacks.finish();
        let profile = if stacks.differ_in_ids() && locations.are_distinct() {
            let all = expand_all(&stacks, &locations, builder.options().budget)?;
            builder.finish_with(all)
        } else {
            builder.finish_provisional(stacks.len(), |_, number, frames| {
                expand(&stacks, number, &locations, frames)
            })?
        };
        profile.map_err(|error| ParseError::whole(NAME, error.to_string()))
    }

    /// Other protobuf messages can look alike at the front.
    fn check_that_it_is_a_profile(&self) -> Result<(), ParseError> {
        if self.tables.first_string().is_some_and(|first| !first.is_empty()) {
            let message =
                "the string table does not start with an empty string: probably another protobuf message";
            return Err(ParseError::whole(NAME, message));
        }
        if self.metrics.is_empty() {
            return Err(ParseError::whole(NAME, "no metric (sample_type) is declared"));
        }
        Ok(())
    }

    fn name_metrics(&mut self) -> Result<(), ParseError> {
        if let Some(width) = self.width.filter(|&width| width != self.metrics.len()) {
            let message = format!("samples have {width} values, the profile declares {}", self.metrics.len());
            return Err(ParseError::whole(NAME, message));
        }
        for (number, metric) in self.metrics.iter().enumerate() {
            let name = self.tables.text(metric.r#type)?.into_owned();
            let unit = self.tables.text(metric.unit)?.into_owned();
            if self.width.is_none() {
                self.builder.metric(&name, &unit);
            } else {
                let metric = &mut self.builder.meta.metrics[number];
                (metric.name, metric.unit) = (name, unit);
            }
        }
        let meta = &mut self.builder.meta;
        meta.default_metric = meta.metrics.len() - 1;
        if let Some(index) = self.singular[DEFAULT_METRIC].filter(|&index| index != 0) {
            let name = self.tables.text(index)?;
            if let Some(number) = meta.metric_named(&name) {
                meta.default_metric = number;
            }
        }
        Ok(())
    }

    fn describe(&mut self) -> Result<(), ParseError> {
        let text =
            |index: Option<i64>| self.tables.text(index.unwrap_or(0)).map(std::borrow::Cow::into_owned);
        let meta = &mut self.builder.meta;
        meta.drop_frames = text(self.singular[DROP_FRAMES])?;
        meta.keep_frames = text(self.singular[KEEP_FRAMES])?;
        meta.time_ns = self.singular[TIME].filter(|&time| time != 0);
        meta.duration_ns = self.singular[DURATION].filter(|&duration| duration > 0);
        for &comment in &self.comments {
            meta.comments.push(text(Some(comment))?);
        }
        if let (Some(value), Some(kind)) =
            (self.singular[PERIOD].filter(|&value| value > 0), self.period_type)
        {
            meta.period =
                Some(Period { name: text(Some(kind.r#type))?, unit: text(Some(kind.unit))?, value });
        }
        Ok(())
    }
}

/// The frames of all stacks, root first.
fn expand_all(stacks: &RawStacks, locations: &Locations, budget: Budget) -> Result<Stacks, ParseError> {
    let parts = parallel::ranges(stacks.len(), 20_000, |numbers| {
        let (mut share, mut told) = (budget.share(), 0);
        // Every id has a byte at least, and most become one frame.
        let mut part = Stacks::with_capacity(numbers.len(), stacks.bytes_of(numbers.clone()));
        for number in numbers {
            part.push_with(|frames| expand(stacks, number, locations, frames))?;
            // Five bytes of a stack may name a location of a thousand frames.
            let size = size_of_val(part.all_frames());
            if size - told > 1 << 20 {
                share.set(size as u64).map_err(|error| ParseError::whole(NAME, error.to_string()))?;
                told = size;
            }
        }
        Ok(part)
    });
    let mut parts = parts.into_iter();
    let mut all = parts.next().unwrap_or_else(|| Ok(Stacks::new()))?;
    for part in parts {
        all.append(&part?);
    }
    Ok(all)
}

/// Appends the frames of a stack, root first.
fn expand(
    stacks: &RawStacks,
    number: usize,
    locations: &Locations,
    frames: &mut Vec<FrameId>,
) -> Result<(), ParseError> {
    let bad = |what: &str| {
        let FirstSeen { sample, byte } = stacks.first_seen(number);
        ParseError::at_byte(NAME, byte, format!("sample {sample} {what}"))
    };
    let start = frames.len();
    let mut wire = Wire::new(stacks.ids(number));
    while !wire.is_at_end() {
        let id = wire.varint().map_err(|_| bad("has malformed location ids"))?;
        let location = locations
            .frames(id)
            .ok_or_else(|| bad(&format!("refers to location {id}, which does not exist")))?;
        // Most locations are one frame: pushing it is faster than copying a slice of unknown length.
        for &frame in location {
            frames.push(frame);
        }
        // A location may be a thousand inlined frames, and a stack name it a million times.
        if frames.len() - start > DEEPEST {
            return Err(bad(&format!("has a stack of more than {DEEPEST} frames")));
        }
    }
    // pprof lists the leaf first; the model wants the root first.
    frames[start..].reverse();
    Ok(())
}

/// A label whose strings are still indexes of the string table.
fn provisional_label(label: Label) -> Result<crate::profile::Label, WireError> {
    let string = |index: i64| {
        let index = u32::try_from(index).map_err(|_| WireError::Malformed)?;
        Ok(StringId::new(index as usize))
    };
    // A label with neither text nor number is the number 0: the wire format leaves zeros out.
    let value = match label.str {
        0 => LabelValue::Number(label.num, string(label.num_unit)?),
        text => LabelValue::Text(string(text)?),
    };
    Ok(crate::profile::Label { key: string(label.key)?, value })
}

fn message<M: Message + Default>(bytes: &[u8], at: u64) -> Result<M, ParseError> {
    M::decode(bytes).map_err(|error| ParseError::at_byte(NAME, at, error.to_string()))
}

fn malformed(what: &str, at: u64) -> ParseError {
    ParseError::at_byte(NAME, at, format!("malformed {what}"))
}

/// Sets a field that stands in a profile once at most. A second one means that profiles were
/// concatenated: as protobuf that is legal, and their tables would mix.
fn once<T>(field: &mut Option<T>, value: T, at: u64) -> Result<(), ParseError> {
    if field.replace(value).is_none() {
        return Ok(());
    }
    let message = "a second profile starts here: give concatenated profiles as separate files";
    Err(ParseError::at_byte(NAME, at, message))
}
