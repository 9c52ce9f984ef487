//! The profiles and samples of a part that is exported.

use std::collections::{BTreeMap, BTreeSet, HashMap, btree_map};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::data_type::ByteArray;

use crate::dataset::files::{Partition, WriteTable, file_name};
use crate::dataset::ids::{Collision, Hasher, WideId};
use crate::dataset::schema;
use crate::dataset::symbols::{Known, ROWS_IN_GROUP, SymbolRows};
use crate::format::parquet::file::{Cells, TableFile};
use crate::name::base_name;
use crate::profile::{Column, Id, Label, LabelSetId, LabelValue, Meta, Profile, StackId};
use crate::transform::RecordingSpan;
use crate::unit::date;

/// The labels of a sample, sorted by key, each key once.
type Labels = Vec<(String, String)>;

/// The profiles of a part that is being collected.
#[derive(Default)]
pub(super) struct Batch {
    profiles: Vec<ProfileRow>,
    pub(super) symbols: SymbolRows,
    /// The distinct sets of labels, and their numbers by their hashes.
    label_sets: Vec<Labels>,
    number_of: HashMap<u64, u32>,
    /// The keys of labels with numbers.
    numeric: BTreeSet<String>,
    /// The number of samples.
    rows: usize,
}

/// A profile, and its samples.
struct ProfileRow {
    id: u64,
    source: String,
    meta: Meta,
    program: String,
    build_id: String,
    metrics: Vec<MetricRows>,
    labels: Labels,
}

/// The samples of a profile that have a value of a metric.
struct MetricRows {
    name: String,
    unit: String,
    divisor: u64,
    rows: Vec<Row>,
    /// When each was taken; empty if samples have no times.
    times: Vec<Option<i64>>,
}

impl MetricRows {
    /// Σ |value|, which fits.
    fn total(&self) -> i64 {
        self.rows.iter().fold(0, |sum: i64, row| sum.saturating_add(row.value.saturating_abs()))
    }

    /// The samples with their times.
    fn samples(&self) -> impl Iterator<Item = (&Row, Option<i64>)> {
        self.rows.iter().enumerate().map(|(number, row)| (row, self.times.get(number).copied().flatten()))
    }
}

/// A sample. There may be a million of them in memory, so their times are elsewhere: most have none.
#[derive(Clone, Copy)]
struct Row {
    stack: StackId,
    /// The number of its set of labels: in the profile first, then in the part.
    labels: u32,
    value: i64,
}

/// A file of a part that is to be written.
pub(super) struct PartFile<'b> {
    /// Where it belongs in the folder of the dataset.
    pub(super) path: PathBuf,
    /// About how many rows it will have.
    pub(super) rows: usize,
    pub(super) write: Box<WriteTable<'b>>,
}

/// A sample with its profile, its metric and its time.
type SampleRow<'b> = (&'b ProfileRow, &'b MetricRows, &'b Row, Option<i64>);

impl Batch {
    pub(super) fn is_empty(&self) -> bool {
        self.profiles.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.profiles.len()
    }

    /// The program of the profile that was added last, if it is known.
    pub(super) fn last_program(&self) -> Option<&str> {
        self.profiles.last().map(|profile| &*profile.program).filter(|program| !program.is_empty())
    }

    /// Whether the part is large enough to be written.
    pub(super) fn is_full(&self) -> bool {
        self.rows >= MOST_ROWS || self.symbols.frames_of_stacks() >= MOST_FRAMES
    }

    /// Adds a profile, unless `is_known` says that it was exported already. Returns whether it is new.
    pub(super) fn add(
        &mut self,
        source: &str,
        profile: &Profile,
        known: &mut Known,
        is_known: impl FnOnce(u64) -> bool,
    ) -> Result<bool, Collision> {
        let stacks = self.symbols.add(profile, known)?;
        let labels = ProfileLabels::of(profile);
        let metrics = metric_rows(profile, &self.symbols, &stacks, &labels);
        let main = profile.symbols.mappings.iter().nth(1).copied().unwrap_or_default();
        let mut row = ProfileRow {
            id: 0,
            source: source.to_string(),
            meta: profile.meta.clone(),
            program: base_name(profile.symbols.strings.get(main.file)).to_string(),
            build_id: profile.symbols.strings.get(main.build_id).to_string(),
            labels: labels.common(&metrics),
            metrics,
        };
        let id = row.hash(&self.symbols, &labels);
        known.profiles.check(id)?;
        if is_known(id.id) {
            return Ok(false);
        }
        row.id = id.id;
        let ProfileLabels { sets, hashes, numeric } = labels;
        self.numeric.extend(numeric);
        let numbers = sets.into_iter().zip(hashes).map(|(set, hash)| self.label_set(set, hash));
        let numbers = numbers.collect::<Result<Vec<u32>, _>>()?;
        for row in row.metrics.iter_mut().flat_map(|metric| &mut metric.rows) {
            row.labels = numbers[row.labels as usize];
        }
        self.rows += row.metrics.iter().map(|metric| metric.rows.len()).sum::<usize>();
        self.profiles.push(row);
        Ok(true)
    }

    /// The number of a set of labels.
    fn label_set(&mut self, labels: Labels, hash: u64) -> Result<u32, Collision> {
        let next = self.label_sets.len() as u32;
        let number = *self.number_of.entry(hash).or_insert(next);
        if number == next {
            self.label_sets.push(labels);
        } else if self.label_sets[number as usize] != labels {
            return Err(Collision(hash));
        }
        Ok(number)
    }

    /// The stacks with samples. Those of profiles that the dataset had already have none.
    fn used_stacks(&self) -> Column<StackId, bool> {
        let metrics = self.profiles.iter().flat_map(|profile| &profile.metrics);
        let rows = metrics.flat_map(|metric| &metric.rows);
        Column::marking(rows.map(|row| row.stack), self.symbols.len())
    }

    /// Sorts the profiles, and returns the id of the part: the hash of those of its profiles.
    pub(super) fn seal(&mut self) -> u64 {
        self.symbols.forget_profile();
        self.profiles.sort_by_key(|profile| (profile.meta.time_ns, profile.id));
        let mut hasher = Hasher::new("part");
        hasher.number(self.profiles.len() as u64);
        hasher.numbers(self.profiles.iter().map(|profile| profile.id));
        hasher.finish().id
    }

    /// The files of the part but that of its profiles. They can be written at the same time.
    pub(super) fn files(&self, part: u64) -> Vec<PartFile<'_>> {
        let used = Arc::new(self.used_stacks());
        let of_stacks = used.clone();
        let file = |table: &str| Path::new(table).join(file_name(part));
        let mut files = vec![
            PartFile {
                path: file("frames"),
                rows: self.symbols.frames(),
                write: Box::new(move |out| self.symbols.write_frames(&used, out)),
            },
            PartFile {
                path: file("stacks"),
                rows: self.symbols.len(),
                write: Box::new(move |out| self.symbols.write_stacks(&of_stacks, out)),
            },
        ];
        files.extend(self.partitions().into_iter().map(|(partition, rows)| PartFile {
            path: partition.file(part),
            rows,
            write: Box::new(move |out| self.write_samples(part, &partition, out)),
        }));
        files
    }

    /// The partitions with samples, and their numbers of samples.
    fn partitions(&self) -> BTreeMap<Partition, usize> {
        let mut partitions = BTreeMap::new();
        for profile in &self.profiles {
            for metric in profile.metrics.iter().filter(|metric| !metric.rows.is_empty()) {
                let partition = Partition { date: profile.date(), metric: metric.name.clone() };
                *partitions.entry(partition).or_default() += metric.rows.len();
            }
        }
        partitions
    }

    /// Writes the samples of a partition.
    fn write_samples(
        &self,
        part: u64,
        partition: &Partition,
        out: &mut (dyn Write + Send),
    ) -> parquet::errors::Result<()> {
        let mut notes = schema::notes("samples");
        let numeric: Vec<&String> = self.numeric.iter().collect();
        notes.push((schema::NUMBERS_KEY, serde_json::json!(numeric).to_string()));
        let mut file = TableFile::new(out, schema::SAMPLES, &notes)?;
        let profiles = self.profiles.iter().filter(|profile| profile.date() == partition.date);
        let rows = profiles.flat_map(|profile| {
            let metrics = profile.metrics.iter().filter(|metric| metric.name == partition.metric);
            metrics
                .flat_map(move |metric| metric.samples().map(move |(row, time)| (profile, metric, row, time)))
        });
        let mut rows = rows.peekable();
        while rows.peek().is_some() {
            self.write_group(&mut file, part, rows.by_ref().take(ROWS_IN_GROUP))?;
        }
        file.finish()
    }

    fn write_group<'b, W: Write + Send>(
        &'b self,
        file: &mut TableFile<W>,
        part: u64,
        rows: impl Iterator<Item = SampleRow<'b>>,
    ) -> parquet::errors::Result<()> {
        let rows: Vec<SampleRow> = rows.collect();
        let longs = |of: &dyn Fn(&SampleRow) -> i64| rows.iter().map(of).collect::<Vec<i64>>();
        let mut group = file.begin_group()?;
        group.column(&Cells::Longs(&longs(&|(profile, ..)| profile.id as i64)))?;
        group.column(&Cells::Longs(&vec![part as i64; rows.len()]))?;
        group.column(&Cells::Longs(&longs(&|(_, _, row, _)| self.symbols.id(row.stack) as i64)))?;
        group.column(&Cells::Texts(&texts_of_metrics(&rows, |metric| &metric.name)))?;
        group.column(&Cells::Texts(&texts_of_metrics(&rows, |metric| &metric.unit)))?;
        group.column(&Cells::Longs(&longs(&|(_, metric, ..)| metric.divisor as i64)))?;
        group.column(&Cells::Longs(&longs(&|(_, _, row, _)| row.value)))?;
        group.column(&Cells::OptionalLongs(&rows.iter().map(|&(.., time)| time).collect::<Vec<_>>()))?;
        let sets: Vec<u32> = rows.iter().map(|(_, _, row, _)| row.labels).collect();
        let (ends, keys, values) = self.maps(&sets);
        group.column(&Cells::TextMaps(&ends, &keys, &values))?;
        group.finish()
    }

    /// Sets of labels as maps.
    fn maps(&self, sets: &[u32]) -> (Vec<usize>, Vec<ByteArray>, Vec<ByteArray>) {
        let mut made: HashMap<u32, Vec<(ByteArray, ByteArray)>> = HashMap::new();
        let (mut ends, mut keys, mut values) = (vec![], vec![], vec![]);
        for &set in sets {
            let labels = made.entry(set).or_insert_with(|| {
                let labels = self.label_sets[set as usize].iter();
                labels.map(|(key, value)| (ByteArray::from(&**key), ByteArray::from(&**value))).collect()
            });
            for (key, value) in labels {
                keys.push(key.clone());
                values.push(value.clone());
            }
            ends.push(keys.len());
        }
        (ends, keys, values)
    }

    /// Writes the table of profiles.
    pub(super) fn write_profiles(
        &self,
        part: u64,
        out: &mut (dyn Write + Send),
    ) -> parquet::errors::Result<()> {
        let rows = &self.profiles;
        let longs = |of: fn(&ProfileRow) -> i64| -> Vec<i64> { rows.iter().map(of).collect() };
        let optional =
            |of: fn(&ProfileRow) -> Option<i64>| -> Vec<Option<i64>> { rows.iter().map(of).collect() };
        let texts = |of: fn(&ProfileRow) -> &str| -> Vec<ByteArray> {
            rows.iter().map(|row| ByteArray::from(of(row))).collect()
        };
        let some = |of: fn(&ProfileRow) -> &str| -> Vec<Option<ByteArray>> {
            let text = |row| Some(of(row)).filter(|text| !text.is_empty()).map(ByteArray::from);
            rows.iter().map(text).collect()
        };
        let of_metrics = |of: fn(&MetricRows) -> ByteArray| -> Vec<ByteArray> {
            rows.iter().flat_map(|row| row.metrics.iter().map(of)).collect()
        };
        let divisors: Vec<i64> =
            rows.iter().flat_map(|row| row.metrics.iter().map(|metric| metric.divisor as i64)).collect();
        let totals: Vec<i64> =
            rows.iter().flat_map(|row| row.metrics.iter().map(MetricRows::total)).collect();
        let metric_ends = ends(rows.iter().map(|row| row.metrics.len()));
        let label_ends = ends(rows.iter().map(|row| row.labels.len()));
        let labels = || rows.iter().flat_map(|row| &row.labels);
        let keys: Vec<ByteArray> = labels().map(|(key, _)| ByteArray::from(&**key)).collect();
        let values: Vec<ByteArray> = labels().map(|(_, value)| ByteArray::from(&**value)).collect();
        let mut file = TableFile::new(out, schema::PROFILES, &schema::notes("profiles"))?;
        file.group(&[
            Cells::Longs(&longs(|row| row.id as i64)),
            Cells::Longs(&vec![part as i64; rows.len()]),
            Cells::Texts(&texts(|row| &row.source)),
            Cells::Texts(&texts(|row| row.meta.format)),
            Cells::OptionalTexts(&some(|row| &row.program)),
            Cells::OptionalTexts(&some(|row| &row.build_id)),
            Cells::OptionalLongs(&optional(|row| row.meta.time_ns)),
            Cells::OptionalLongs(&optional(|row| row.meta.duration_ns)),
            Cells::OptionalLongs(&optional(|row| Some(row.meta.period.as_ref()?.value))),
            Cells::OptionalTexts(&some(|row| row.meta.period.as_ref().map_or("", |period| &period.name))),
            Cells::OptionalTexts(&some(|row| row.meta.period.as_ref().map_or("", |period| &period.unit))),
            Cells::OptionalLongs(&optional(|row| row.meta.processors)),
            Cells::Longs(&longs(|row| row.meta.rows as i64)),
            Cells::Longs(&longs(|row| row.meta.labelled_rows as i64)),
            Cells::TextLists(&metric_ends, &of_metrics(|metric| ByteArray::from(&*metric.name))),
            Cells::TextLists(&metric_ends, &of_metrics(|metric| ByteArray::from(&*metric.unit))),
            Cells::LongLists(&metric_ends, &divisors),
            Cells::LongLists(&metric_ends, &totals),
            Cells::Texts(&texts(|row| {
                row.metrics.get(row.meta.default_metric).map_or("", |metric| &metric.name)
            })),
            Cells::TextMaps(&label_ends, &keys, &values),
        ])?;
        file.finish()
    }
}

/// A text of the metric of each sample. Clones of a text share it.
fn texts_of_metrics(rows: &[SampleRow], of: fn(&MetricRows) -> &str) -> Vec<ByteArray> {
    let mut last: Option<(*const MetricRows, ByteArray)> = None;
    let mut text = |metric: &MetricRows| match &last {
        Some((known, text)) if std::ptr::eq(*known, metric) => text.clone(),
        _ => last.insert((std::ptr::from_ref(metric), ByteArray::from(of(metric)))).1.clone(),
    };
    rows.iter().map(|(_, metric, ..)| text(metric)).collect()
}

/// The number of samples with which a part is written, in 24 MB: several row groups.
const MOST_ROWS: usize = 3 << 19;

/// The number of frames of distinct stacks with which a part is written.
const MOST_FRAMES: usize = 4 << 20;

impl ProfileRow {
    fn date(&self) -> Option<String> {
        self.meta.time_ns.map(date)
    }

    /// The id: the hash of what was measured, wherever it was stored.
    fn hash(&self, symbols: &SymbolRows, labels: &ProfileLabels) -> WideId {
        let mut hasher = Hasher::new("profile");
        hasher.text(&self.program);
        hasher.text(&self.build_id);
        for number in [self.meta.time_ns, self.meta.duration_ns] {
            hasher.optional(number);
        }
        hasher.number(self.metrics.len() as u64);
        for metric in &self.metrics {
            hasher.text(&metric.name);
            hasher.text(&metric.unit);
            hasher.number(metric.divisor);
            hasher.number(metric.rows.len() as u64);
            hasher.numbers(metric.samples().flat_map(|(row, time)| {
                let (is_timed, time) = (u64::from(time.is_some()), time.unwrap_or(0) as u64);
                let (stack, labels) = (symbols.id(row.stack), labels.hashes[row.labels as usize]);
                [is_timed, time, stack, labels, row.value as u64]
            }));
        }
        hasher.finish()
    }
}

/// The sets of labels of a profile, as texts. Those that no sample has are empty.
struct ProfileLabels {
    sets: Vec<Labels>,
    hashes: Vec<u64>,
    /// The keys of labels with numbers.
    numeric: BTreeSet<String>,
}

impl ProfileLabels {
    fn of(profile: &Profile) -> Self {
        let used: Column<LabelSetId, bool> =
            Column::marking(profile.samples.labels.iter().copied(), profile.label_sets.len());
        let mut numeric = BTreeSet::new();
        let sets: Vec<Labels> = profile
            .label_sets
            .ids()
            .map(|set| {
                if used[set] {
                    label_texts(profile, profile.label_sets.labels(set), &mut numeric)
                } else {
                    Labels::new()
                }
            })
            .collect();
        ProfileLabels { hashes: sets.iter().map(hash_of_labels).collect(), sets, numeric }
    }

    /// The labels that all samples have.
    fn common(&self, metrics: &[MetricRows]) -> Labels {
        let sets: BTreeSet<u32> =
            metrics.iter().flat_map(|metric| metric.rows.iter().map(|row| row.labels)).collect();
        let mut sets = sets.into_iter().map(|set| &self.sets[set as usize]);
        let mut common = sets.next().cloned().unwrap_or_default();
        sets.for_each(|set| common.retain(|label| set.contains(label)));
        common
    }
}

/// Labels as texts. A map has each key once, so several values of one key are joined.
fn label_texts(profile: &Profile, labels: &[Label], numeric: &mut BTreeSet<String>) -> Labels {
    let strings = &profile.symbols.strings;
    let mut texts: BTreeMap<&str, String> = BTreeMap::new();
    for label in labels {
        let key = strings.get(label.key);
        let value = match label.value {
            LabelValue::Text(text) => strings.get(text).to_string(),
            LabelValue::Number(number, unit) => {
                if !numeric.contains(key) {
                    numeric.insert(key.to_string());
                }
                match strings.get(unit) {
                    "" => number.to_string(),
                    unit => format!("{number} {unit}"),
                }
            }
        };
        match texts.entry(key) {
            btree_map::Entry::Vacant(entry) => drop(entry.insert(value)),
            btree_map::Entry::Occupied(mut entry) => entry.get_mut().push_str(&format!(", {value}")),
        }
    }
    texts.into_iter().map(|(key, value)| (key.to_string(), value)).collect()
}

/// The samples of each metric, sorted by time, stack, labels and value. Equal ones are added up, unless their signs differ.
fn metric_rows(
    profile: &Profile,
    symbols: &SymbolRows,
    stacks: &Column<StackId, Option<StackId>>,
    labels: &ProfileLabels,
) -> Vec<MetricRows> {
    let times = sample_times(profile);
    let samples = &profile.samples;
    let time = |row: usize| times.as_ref().and_then(|times| times[row]);
    let stack = |row: usize| stacks[samples.stack[row]].unwrap_or_default();
    // The numbers of labels depend on the order of the samples; their hashes do not.
    let key = |row: usize| (time(row), symbols.id(stack(row)), labels.hashes[samples.labels[row].index()]);
    let mut order: Vec<_> = (0..samples.len()).map(|row| (key(row), row)).collect();
    order.sort_unstable();
    let of_metric = |(number, name): (usize, String)| {
        let metric = &profile.meta.metrics[number];
        let (mut rows, mut found): (Vec<Row>, Vec<Option<i64>>) = (Vec::new(), Vec::new());
        let values = order.iter().filter(|&&(_, row)| samples.values[number][row] != 0);
        for same in values.collect::<Vec<_>>().chunk_by(|a, b| a.0 == b.0) {
            let value = |row: usize| samples.values[number][row];
            for is_wanted in [i64::is_negative, i64::is_positive] {
                let values = same.iter().map(|&&(_, row)| value(row)).filter(|&value| is_wanted(value));
                // The sum of all absolute values fits.
                let Some(value) = values.reduce(i64::saturating_add) else { continue };
                let row = same[0].1;
                rows.push(Row { stack: stack(row), labels: samples.labels[row].index() as u32, value });
                if times.is_some() {
                    found.push(time(row));
                }
            }
        }
        rows.shrink_to_fit();
        MetricRows { name, unit: metric.unit.clone(), divisor: metric.divisor, rows, times: found }
    };
    distinct_names(&profile.meta).into_iter().enumerate().map(of_metric).collect()
}

/// Where lists of these lengths end in all their items.
fn ends(lengths: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut end = 0;
    lengths
        .map(|length| {
            end += length;
            end
        })
        .collect()
}

/// The names of the metrics. Engines know metrics by name, so the second of one name gets a number: `count#2`.
fn distinct_names(meta: &Meta) -> Vec<String> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let name = |metric: &crate::profile::Metric, times: usize| match times {
        1 => metric.name.clone(),
        times => format!("{}#{times}", metric.name),
    };
    let mut names = Vec::new();
    for metric in &meta.metrics {
        let times = seen.entry(&metric.name).or_default();
        *times += 1;
        names.push(name(metric, *times));
    }
    names
}

fn hash_of_labels(labels: &Labels) -> u64 {
    let mut hasher = Hasher::new("labels");
    hasher.number(labels.len() as u64);
    for (key, value) in labels {
        hasher.text(key);
        hasher.text(value);
    }
    hasher.finish().id
}

/// When each sample was taken, since 1970 if the profile says when it began; `None` if samples have no times.
fn sample_times(profile: &Profile) -> Option<Vec<Option<i64>>> {
    profile.samples.time.as_ref()?;
    let span = RecordingSpan::of(profile).ok()?;
    // Some formats count from the start of the recording.
    let shift = match profile.meta.time_ns {
        Some(start) if !span.is_dated => start.saturating_sub(span.began),
        _ => 0,
    };
    let time = |row| profile.samples.time_of(row).map(|time| time.saturating_add(shift));
    Some((0..profile.samples.len()).map(time).collect())
}
