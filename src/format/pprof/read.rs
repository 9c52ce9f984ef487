//! The streaming reader of pprof profiles.
//!
//! Top-level fields are decoded one by one as the bytes arrive: samples by hand, since there are millions,
//! and the small messages of the tables by prost. Strings come last, so references to them are kept as
//! table indexes until the end.

use prost::Message;

use crate::format::pprof::buffers::Buffers;
use crate::format::pprof::collect::{Batch, Collecting};
use crate::format::pprof::expand::{Expander, expand_all};
use crate::format::pprof::messages::{FunctionMessage, LabelMessage, ValueType};
use crate::format::pprof::raw_stacks::{FirstSeen, Lists, LookUp, RawStacks};
use crate::format::pprof::sniff::NAME;
use crate::format::pprof::tables::Tables;
use crate::format::wire::{Field, Value, Wire, WireError, push_varint};
use crate::format::{LoadError, ParseError, Source};
use crate::profile::{
    Id, LabelKinds, LabelValue, LoadOptions, Meta, Period, Profile, ProfileBuilder, Reservation,
    SharedTables, StringId,
};

/// Reads a profile.
pub(super) fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let shared = source.tables().cloned();
    let buffers = shared.as_ref().map(SharedTables::take_buffers).unwrap_or_default();
    let mut reader = PprofReader::new(options, source.may_use_threads(), buffers);
    loop {
        let at = source.position();
        let mut wire = Wire::new(source.bytes());
        match wire.field() {
            Ok(Some(field)) => {
                reader.field(field, at)?;
                let length = wire.position();
                source.consume(length);
            }
            // The window is empty or ends inside a field: more may come with the next block.
            Ok(None) | Err(WireError::Truncated) => {
                reader.reservation.set((reader.tables.size() + reader.stacks.size()) as u64)?;
                if !source.more()? {
                    if source.bytes().is_empty() {
                        break;
                    }
                    return Err(
                        ParseError::at_byte(NAME, at, "file is truncated within a protobuf field").into()
                    );
                }
            }
            Err(WireError::Malformed) => {
                return Err(ParseError::at_byte(NAME, at, "not a valid protobuf field").into());
            }
        }
    }
    reader.tables.end = source.position();
    let (profile, buffers) = reader.finish(source)?;
    if let (Some(shared), Some(buffers)) = (shared, buffers.emptied()) {
        shared.keep_buffers(buffers);
    }
    Ok(profile)
}

/// Everything read so far.
struct PprofReader {
    /// Where samples are added; `None` once all were.
    collecting: Option<Collecting>,
    batch: Batch,
    /// The stacks of the batch, before they are looked up.
    lists: Lists,
    stacks: RawStacks,
    found: LookUp,
    may_use_threads: bool,
    wants: Wanted,
    /// Those of the labels with text that are not kept.
    skipped: Option<LabelKinds>,
    tables: Tables,
    metrics: Vec<ValueType>,
    /// The number of values per sample, set by the first one.
    width: Option<usize>,
    samples: u64,
    /// Singular fields by number. A repeated one means that profiles were concatenated.
    singular: [Option<i64>; 16],
    period_type: Option<ValueType>,
    comments: Vec<i64>,
    /// The location ids of the current sample, if they are not in a single field.
    ids: Vec<u8>,
    /// The memory used by the tables and stacks.
    reservation: Reservation,
}

/// The labels that are kept. What they are called is known only at the end of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    None,
    /// Those that may be the sizes of allocations: numbers.
    Sizes,
    All,
}

impl Wanted {
    pub(super) fn of(options: &LoadOptions) -> Self {
        match options {
            LoadOptions { labels: true, .. } => Wanted::All,
            LoadOptions { sizes: true, .. } => Wanted::Sizes,
            _ => Wanted::None,
        }
    }
}

/// From this size in bytes on, memory that is only needed for adding stacks is freed before they are expanded.
const LARGE: usize = 8 << 20;

/// The maximum number of samples in a batch: enough to make the cost of passing it to another thread negligible, but few enough to fit
/// into the L2 cache.
const SAMPLES: usize = 4096;

/// The maximum size of a batch in bytes; only its last sample may exceed it.
const BYTES: usize = 256 << 10;

const DROP_FRAMES: usize = 7;
const KEEP_FRAMES: usize = 8;
const TIME: usize = 9;
const DURATION: usize = 10;
const PERIOD: usize = 12;
const DEFAULT_METRIC: usize = 14;

impl PprofReader {
    fn new(options: LoadOptions, may_use_threads: bool, buffers: Buffers) -> Self {
        let (wants, reservation) = (Wanted::of(&options), options.budget.reservation());
        let Buffers { batch, lists, stacks, found, tables } = buffers;
        PprofReader {
            batch,
            lists,
            stacks,
            found,
            collecting: Some(Collecting::OnReader(Box::new(ProfileBuilder::new(NAME, options)))),
            may_use_threads,
            wants,
            skipped: None,
            tables,
            metrics: Vec::new(),
            width: None,
            samples: 0,
            singular: [None; 16],
            period_type: None,
            comments: Vec::new(),
            ids: Vec::new(),
            reservation,
        }
    }

    /// Processes one top-level field, which starts at byte `at`.
    fn field(&mut self, field: Field<'_>, at: u64) -> Result<(), LoadError> {
        match (field.number, field.value) {
            (1, Value::Bytes(bytes)) => self.metrics.push(message(bytes, at)?),
            (2, Value::Bytes(bytes)) => self.sample(bytes, at)?,
            (3, Value::Bytes(bytes)) => self.tables.mapping(message(bytes, at)?, at)?,
            (4, Value::Bytes(bytes)) => {
                self.tables.locations.add(bytes, at).map_err(|_| malformed("location", at))?;
            }
            (5, Value::Bytes(bytes)) => {
                // Decoded by hand, since there are thousands. If that fails, decode again with prost for its error message.
                let function = FunctionMessage::decode(bytes).map_or_else(|_| message(bytes, at), Ok)?;
                self.tables.function(function, at)?;
            }
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
            (1..=15, _) => return Err(malformed("field", at).into()),
            // Fields that are newer than this reader.
            _ => {}
        }
        Ok(())
    }

    fn sample(&mut self, bytes: &[u8], at: u64) -> Result<(), LoadError> {
        self.samples += 1;
        self.ids.clear();
        let (values, labels) = (self.batch.values.len(), self.batch.labels.len());
        let (direct, has_labels) = self
            .decode_sample(bytes)
            .map_err(|_| ParseError::at_byte(NAME, at, format!("sample {} is malformed", self.samples)))?;
        self.check_width(self.batch.values.len() - values, at)?;
        let seen = FirstSeen { sample: self.samples, byte: at };
        self.lists.push(direct.unwrap_or(&self.ids), seen);
        let is_kept = self.batch.labels.len() > labels;
        if self.wants != Wanted::None {
            self.batch.end_labels(labels);
        }
        if has_labels && !is_kept {
            self.batch.skip_labels();
        }
        if self.is_full() { self.hand_over(self.may_use_threads) } else { Ok(()) }
    }

    /// Whether the batch is large enough to be collected.
    fn is_full(&self) -> bool {
        let Batch { values, labels, .. } = &self.batch;
        self.lists.len() >= SAMPLES
            || self.lists.bytes() + size_of_val(&**values) + size_of_val(&**labels) > BYTES
    }

    /// Looks up the stacks of the batch, and adds its samples; `on_thread` allows later ones to be added on another thread.
    fn hand_over(&mut self, on_thread: bool) -> Result<(), LoadError> {
        let PprofReader {
            collecting: Some(collecting), width: Some(width), stacks, lists, found, batch, ..
        } = self
        else {
            return Ok(());
        };
        let too_many = || ParseError::whole(NAME, "more than 2^32 distinct stacks");
        stacks.intern_all(lists, found, &mut batch.stacks).ok_or_else(too_many)?;
        lists.clear();
        batch.width = *width;
        collecting.add(batch, on_thread);
        Ok(())
    }

    /// Decodes values and labels of a sample. Its location ids are returned as the slice they arrived in, or
    /// collected in `self.ids` if the writer did not pack them.
    fn decode_sample<'a>(&mut self, bytes: &'a [u8]) -> Result<(Option<&'a [u8]>, bool), WireError> {
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
                        self.batch.values.push(values.varint()? as i64);
                    }
                }
                (2, Value::Varint(value)) => self.batch.values.push(value as i64),
                (3, Value::Bytes(label)) => {
                    has_labels = true;
                    if self.wants != Wanted::None {
                        let label = LabelMessage::decode(label).map_err(|_| WireError::Malformed)?;
                        if self.wants == Wanted::All || label.str == 0 {
                            self.batch.labels.push(provisional_label(label)?);
                        } else {
                            let kinds = self.skipped.get_or_insert_default();
                            kinds.is_kind(string_id(label.key)?, string_id(label.str)?);
                        }
                    }
                }
                (1..=3, _) => return Err(WireError::Malformed),
                _ => {}
            }
        }
        Ok((direct, has_labels))
    }

    fn check_width(&mut self, values: usize, at: u64) -> Result<(), ParseError> {
        let width = *self.width.get_or_insert(values);
        if values == width && width > 0 {
            return Ok(());
        }
        let message = format!("sample {} has {values} values, expected {}", self.samples, width.max(1));
        Err(ParseError::at_byte(NAME, at, message))
    }

    /// The profile, and the buffers, which still have their contents.
    fn finish(mut self, source: &mut Source) -> Result<(Profile, Buffers), LoadError> {
        self.hand_over(false)?;
        self.check_that_it_is_a_profile()?;
        let Some(builder) = self.collecting.take().and_then(Collecting::finish) else {
            return Err(ParseError::whole(NAME, "the samples could not be collected").into());
        };
        let mut builder = *builder;
        self.tables.end_strings(&mut builder);
        self.name_metrics(&mut builder)?;
        self.describe(&mut builder.meta)?;
        builder.meta.skipped_kinds = self.skipped.as_ref().map(LabelKinds::any);
        let (mut tables, mut stacks) = (self.tables, self.stacks);
        // Frames are dropped from each profile by its own rules.
        if builder.meta.drop_frames.is_empty() {
            tables.share(&mut builder, source)?;
        }
        if builder.has_labels() {
            let ids = tables.intern_all(&mut builder);
            builder.map_label_strings(|index| ids.get(index.index()).copied().unwrap_or_default());
        }
        let locations = tables.expand(&mut builder)?;
        if stacks.size() > LARGE {
            stacks = stacks.finish();
        }
        let are_distinct = !builder.shares_tables() && stacks.differ_in_ids() && locations.are_distinct();
        let profile = if are_distinct {
            let all = expand_all(&stacks, &locations, &builder.options().budget)?;
            builder.finish_with(all)
        } else {
            let mut expander = Expander::new(&stacks, &locations);
            builder.finish_provisional(stacks.len(), |_, number, frames| expander.expand(number, frames))?
        };
        let profile = profile.map_err(|error| ParseError::whole(NAME, error.to_string()))?;
        Ok((profile, Buffers { batch: self.batch, lists: self.lists, stacks, found: self.found, tables }))
    }

    /// Other protobuf messages can start like a profile.
    fn check_that_it_is_a_profile(&self) -> Result<(), ParseError> {
        if self.tables.first_string().is_some_and(|first| !first.is_empty()) {
            let message = "the string table does not start with an empty string: this is probably a different protobuf message";
            return Err(ParseError::whole(NAME, message));
        }
        if self.metrics.is_empty() {
            return Err(ParseError::whole(NAME, "no sample_type is declared"));
        }
        Ok(())
    }

    fn name_metrics(&self, builder: &mut ProfileBuilder) -> Result<(), ParseError> {
        if let Some(width) = self.width.filter(|&width| width != self.metrics.len()) {
            let message =
                format!("samples have {width} values, but {} sample types are declared", self.metrics.len());
            return Err(ParseError::whole(NAME, message));
        }
        for (number, metric) in self.metrics.iter().enumerate() {
            let name = self.tables.text(metric.r#type)?.into_owned();
            let unit = self.tables.text(metric.unit)?.into_owned();
            if self.width.is_none() {
                builder.metric(&name, &unit);
            } else {
                let metric = &mut builder.meta.metrics[number];
                (metric.name, metric.unit) = (name, unit);
            }
        }
        let meta = &mut builder.meta;
        meta.default_metric = meta.metrics.len() - 1;
        if let Some(index) = self.singular[DEFAULT_METRIC].filter(|&index| index != 0) {
            let name = self.tables.text(index)?;
            if let Some(number) = meta.metric_named(&name) {
                meta.default_metric = number;
            }
        }
        Ok(())
    }

    fn describe(&self, meta: &mut Meta) -> Result<(), ParseError> {
        let text =
            |index: Option<i64>| self.tables.text(index.unwrap_or(0)).map(std::borrow::Cow::into_owned);
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

/// A label whose strings are still indexes into the string table.
fn provisional_label(label: LabelMessage) -> Result<crate::profile::Label, WireError> {
    // A label with neither text nor number is the number 0, because protobuf omits zeros.
    let value = match label.str {
        0 => LabelValue::Number(label.num, string_id(label.num_unit)?),
        text => LabelValue::Text(string_id(text)?),
    };
    Ok(crate::profile::Label { key: string_id(label.key)?, value })
}

/// The id of a string that is still an index into the string table.
fn string_id(index: i64) -> Result<StringId, WireError> {
    let index = u32::try_from(index).map_err(|_| WireError::Malformed)?;
    Ok(StringId::new(index as usize))
}

fn message<M: Message + Default>(bytes: &[u8], at: u64) -> Result<M, ParseError> {
    M::decode(bytes).map_err(|error| ParseError::at_byte(NAME, at, error.to_string()))
}

fn malformed(what: &str, at: u64) -> ParseError {
    ParseError::at_byte(NAME, at, format!("malformed {what}"))
}

/// Sets a field that a profile has at most once. A second one means that profiles were concatenated, which is
/// valid protobuf, but would mix up their tables.
fn once<T>(field: &mut Option<T>, value: T, at: u64) -> Result<(), ParseError> {
    if field.replace(value).is_none() {
        return Ok(());
    }
    let message = "a second profile starts here; pass concatenated profiles as separate files";
    Err(ParseError::at_byte(NAME, at, message))
}
