//! Reads OTLP.

use hashbrown::HashMap;

use crate::format::group::SampleGroup;
use crate::format::json::Json;
use crate::format::labels::label_set;
use crate::format::otlp::attributes::{Attribute, add_labels};
use crate::format::otlp::dictionary::Dictionary;
use crate::format::otlp::frames::Frames;
use crate::format::otlp::json;
use crate::format::otlp::message::{Header, Kind, Recorded, Resource, messages, parts, samples};
use crate::format::otlp::numbering::{Numbering, VALUES_LAST};
use crate::format::otlp::sample::RawSample;
use crate::format::otlp::sniff::{LENGTH, NAME, framed, is_json};
use crate::format::otlp::versions::{self, Found};
use crate::format::otlp::waits;
use crate::format::{LoadError, ParseError, Source, finished};
use crate::profile::{LabelSetId, Lengths, LoadOptions, MOST_METRICS, Profile, ProfileBuilder};

pub(super) fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let mut reader = OtlpReader::new(options, source.may_use_threads());
    if is_json(source.head(1 << 16)?) {
        let text = source.read_all()?;
        let mut json = Json::new(NAME, &text);
        while !json.is_at_end() {
            let (message, numbering) = json::to_protobuf(&mut json, &text)?;
            reader.message(&message, Some(numbering))?;
        }
    } else if framed(source.head(LENGTH)?).is_some() {
        while let Some(length) = framed(source.head(LENGTH)?) {
            let at = source.position();
            let head = source.head(LENGTH + length)?;
            let Some(message) = head.get(LENGTH..LENGTH + length) else {
                return Err(ParseError::at_byte(NAME, at, "file is truncated within a message").into());
            };
            reader.message(message, None)?;
            source.consume(LENGTH + length);
        }
        if !source.head(1)?.is_empty() {
            let message = "expected the length of a message";
            return Err(ParseError::at_byte(NAME, source.position(), message).into());
        }
    } else {
        let bytes = source.read_all()?;
        reader.message(&bytes, None)?;
    }
    Ok(reader.finish()?)
}

/// The attribute of the scope for the number of the default metric, which only `prof` writes.
pub(super) const DEFAULT_METRIC: &str = "prof.default_metric";

/// Reads messages, one after another, into a profile.
struct OtlpReader {
    builder: ProfileBuilder,
    /// The numbering that was found before, for messages that fit two.
    numbering: Option<&'static Numbering>,
    is_ambiguous: bool,
    default_metric: Option<i64>,
    /// When the recording began and ended.
    span: Option<(i64, i64)>,
    sample: RawSample,
    /// The values of a row.
    row: Vec<i64>,
    group: SampleGroup,
}

impl OtlpReader {
    fn new(options: LoadOptions, may_use_threads: bool) -> OtlpReader {
        OtlpReader {
            builder: ProfileBuilder::new(NAME, options),
            numbering: None,
            is_ambiguous: false,
            default_metric: None,
            span: None,
            sample: RawSample::default(),
            row: Vec::new(),
            group: SampleGroup::on_thread(may_use_threads),
        }
    }

    /// Reads a message; JSON says by its names which numbering it has.
    fn message(&mut self, bytes: &[u8], numbering: Option<&'static Numbering>) -> Result<(), ParseError> {
        let malformed = |_| ParseError::whole(NAME, "a message is malformed or truncated");
        let (mut dictionary, mut recorded) = (Dictionary::default(), Recorded::default());
        for (number, part) in messages(bytes).map_err(malformed)? {
            match number {
                1 => recorded.resources.push(Resource::read(part).map_err(malformed)?),
                2 => dictionary.add(part).map_err(malformed)?,
                _ => {}
            }
        }
        if dictionary.is_empty() && recorded.profiles().next().is_some() {
            let message = "the profiles have no dictionary: they were written for a version of the protocol before 1.6, \
                           which is not supported";
            return Err(ParseError::whole(NAME, message));
        }
        let numbering = match numbering {
            Some(numbering) => numbering,
            None => self.numbering(&recorded, &dictionary)?,
        };
        let mut headers = Vec::new();
        for profile in recorded.profiles() {
            headers.push(Header::read(profile, &dictionary, numbering).map_err(malformed)?);
        }
        let kinds: Vec<Kind> = headers.iter().flat_map(|header| header.kinds.iter().cloned()).collect();
        let mut frames = Frames::read(&dictionary, &mut self.builder)?;
        let mut headers = headers.iter();
        for resource in &recorded.resources {
            for scope in &resource.scopes {
                for bytes in parts(scope, 3).map_err(malformed)? {
                    let attribute = Attribute::read(bytes, &dictionary).map_err(malformed)?;
                    let attribute = attribute.filter(|attribute| attribute.key == DEFAULT_METRIC);
                    self.default_metric =
                        attribute.and_then(|attribute| attribute.number()).or(self.default_metric);
                }
            }
            let attributes: Result<Vec<_>, _> =
                resource.attributes.iter().map(|bytes| Attribute::read(bytes, &dictionary)).collect();
            let attributes = attributes.map_err(malformed)?.into_iter().flatten().collect();
            let mut labels = Labels { dictionary: &dictionary, attributes, known: HashMap::new() };
            for (profile, header) in resource.profiles.iter().zip(&mut headers) {
                let columns = self.columns(header, &kinds);
                self.note_time(header);
                for sample in samples(profile) {
                    self.sample
                        .decode(sample, numbering)
                        .map_err(|_| ParseError::whole(NAME, "a sample is malformed"))?;
                    self.sample(header, &columns, &mut frames, &mut labels)?;
                }
            }
        }
        Ok(())
    }

    fn numbering(
        &mut self,
        recorded: &Recorded<'_>,
        dictionary: &Dictionary<'_>,
    ) -> Result<&'static Numbering, ParseError> {
        match (versions::find(recorded, dictionary)?, self.numbering) {
            (Found::One(numbering), _) => {
                self.numbering = Some(numbering);
                Ok(numbering)
            }
            (Found::Either, Some(numbering)) => Ok(numbering),
            (Found::Either, None) => {
                self.is_ambiguous |= recorded.profiles().flat_map(samples).next().is_some();
                Ok(&VALUES_LAST)
            }
        }
    }

    /// Declares the metrics of a profile.
    fn columns(&mut self, header: &Header, kinds: &[Kind]) -> Columns {
        let mut of_values: Vec<Vec<(usize, i64)>> =
            header.kinds.iter().map(|kind| vec![(self.metric(kind), 1)]).collect();
        if let Some((kind, value)) = header.time_of_sample().filter(|(kind, _)| !kinds.contains(kind)) {
            let metric = self.metric(&kind);
            of_values[0].push((metric, value));
        }
        let ended = match &of_values[..] {
            [of_value] => waits::ended(&self.builder.meta.metrics[of_value[0].0]),
            _ => None,
        };
        Columns { of_values, ended }
    }

    fn metric(&mut self, (name, unit): &Kind) -> usize {
        let metrics = &self.builder.meta.metrics;
        let known = metrics.iter().position(|metric| metric.name == *name && metric.unit == *unit);
        match known {
            Some(known) => known,
            // The profile is refused in the end, and each new name would be compared with all others.
            None if metrics.len() > MOST_METRICS => metrics.len() - 1,
            None => self.builder.metric(name, unit),
        }
    }

    fn note_time(&mut self, header: &Header) {
        if header.time > 0 {
            let end = header.time.saturating_add(header.duration.max(0));
            let (first, last) = self.span.unwrap_or((header.time, end));
            self.span = Some((first.min(header.time), last.max(end)));
        } else if header.duration > 0 {
            // The profiles of a file are the metrics of one recording.
            let longest = self.builder.meta.duration_ns.unwrap_or(0);
            self.builder.meta.duration_ns = Some(longest.max(header.duration));
        }
        let period = &mut self.builder.meta.period;
        *period = period.take().or_else(|| header.period.clone());
    }

    /// Adds the sample that was decoded last.
    fn sample(
        &mut self,
        header: &Header,
        columns: &Columns,
        frames: &mut Frames<'_, '_>,
        labels: &mut Labels<'_, '_>,
    ) -> Result<(), ParseError> {
        let sample = &self.sample;
        let (group, builder) = (&mut self.group, &mut self.builder);
        let stack = if header.locations.is_empty() && sample.length == 0 {
            frames.stack(sample.stack, group, builder)?
        } else {
            let range = usize::try_from(sample.stack).ok().zip(usize::try_from(sample.length).ok());
            let locations = range.and_then(|(start, length)| header.locations.get(start..)?.get(..length));
            let locations = locations.ok_or_else(|| {
                ParseError::whole(NAME, "a sample refers to locations that are not in its profile's list")
            })?;
            frames.stack_of(locations, group, builder)?
        };
        let label_set = labels.of(sample, builder)?;
        let row = &mut self.row;
        row.resize(builder.meta.metrics.len(), 0);
        let mut add = |time: Option<i64>, values: &[i64]| {
            row.fill(0);
            for (value, column) in values.iter().zip(&columns.of_values) {
                for &(metric, factor) in column {
                    row[metric] = value.saturating_mul(factor);
                }
            }
            group.sample(stack, label_set, time, row, builder);
        };
        let (times, has_one_value) = (&sample.times, columns.of_values.len() == 1);
        if sample.values.is_empty() {
            // Each time stands for one event.
            for &time in times {
                add(Some(time), &[1]);
            }
        } else if has_one_value && sample.values.len() == times.len() {
            for (&time, &value) in times.iter().zip(&sample.values) {
                let length = columns.ended.map_or(0, |lengths| lengths.length(value));
                add(Some(time.saturating_sub(length)), &[value]);
            }
        } else if has_one_value {
            let sum = sample.values.iter().fold(0i64, |sum, value| sum.saturating_add(*value));
            add(times.first().copied(), &[sum]);
        } else {
            add(times.first().copied(), &sample.values);
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Profile, ParseError> {
        self.group.write(&mut self.builder);
        let meta = &mut self.builder.meta;
        if meta.metrics.is_empty() {
            return Err(ParseError::whole(NAME, "the file has no profiles"));
        }
        let noted = self.default_metric.and_then(|number| usize::try_from(number).ok());
        meta.default_metric = noted
            .filter(|&number| number < meta.metrics.len())
            .or_else(|| meta.metric_named("cpu"))
            .unwrap_or(0);
        if let Some((first, last)) = self.span {
            meta.time_ns = Some(first);
            meta.duration_ns = Some(last - first).filter(|&duration| duration > 0);
        }
        if self.is_ambiguous {
            let warning = "the numbers of the samples' fields fit two versions of the protocol; they were read as those of 1.10";
            self.builder.warn(warning.to_string());
        }
        finished(self.builder)
    }
}

/// Where the values of the samples of a profile go.
struct Columns {
    /// The metrics of each value, and by what it is multiplied.
    of_values: Vec<Vec<(usize, i64)>>,
    /// How long the only value of a sample lasts, if the sample's time is that of its end.
    ended: Option<Lengths>,
}

/// The labels of the samples of a resource.
struct Labels<'d, 'a> {
    dictionary: &'d Dictionary<'a>,
    /// Those that all of them have.
    attributes: Vec<Attribute<'a>>,
    /// Sets that were needed before, by attributes and link.
    known: HashMap<Vec<u64>, LabelSetId>,
}

impl Labels<'_, '_> {
    fn of(&mut self, sample: &RawSample, builder: &mut ProfileBuilder) -> Result<LabelSetId, ParseError> {
        let has_labels = !(self.attributes.is_empty() && sample.attributes.is_empty() && sample.link == 0);
        if !builder.options().labels || !has_labels {
            if has_labels {
                builder.skipped_labels();
            }
            return Ok(LabelSetId::default());
        }
        let mut key = sample.attributes.clone();
        key.push(sample.link);
        if let Some(&set) = self.known.get(&key) {
            return Ok(set);
        }
        let mut own = Vec::new();
        for &row in &sample.attributes {
            own.extend(Attribute::of_row(row, self.dictionary)?);
        }
        let link = if sample.link == 0 {
            [const { String::new() }; 2]
        } else {
            self.dictionary.link(sample.link)?
        };
        let set = label_set(builder, |labels| {
            add_labels(labels, &self.attributes, &own);
            labels.text_if_known("trace_id", &link[0]);
            labels.text_if_known("span_id", &link[1]);
        });
        self.known.insert(key, set);
        Ok(set)
    }
}
