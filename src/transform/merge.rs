//! Several profiles added up.

use std::fmt;
use std::sync::Arc;

use crate::profile::{
    CallTable, Column, Frame, FrameId, Function, FunctionId, Label, LabelSetId, LabelValue, LoadOptions,
    Mapping, MappingId, Meta, Profile, ProfileBuilder, StackId, StringId, TooLarge,
};
use crate::unit::Unit;

/// Why profiles cannot be added up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergeError {
    /// A metric of one name has units of different kinds.
    Units {
        /// The metric.
        metric: String,
        /// Its units, the first profile's first.
        units: (String, String),
    },
    /// The values of a metric do not fit 64 bits in the finest of its units.
    Overflow {
        /// The metric.
        metric: String,
    },
    /// Some profiles hold stacks and others only calls: the formats of one of either.
    Kinds(&'static str, &'static str),
    /// The tables outgrow their ids.
    TooLarge(TooLarge),
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MergeError::Units { metric, units: (first, other) } => {
                write!(f, "the metric {metric} is in {first} in one input and in {other} in another")
            }
            MergeError::Overflow { metric } => {
                write!(f, "the values of {metric} do not fit 64 bits in a unit that suits all inputs")
            }
            MergeError::Kinds(stacks, calls) => {
                write!(f, "{stacks} holds stacks and {calls} calls between functions, which do not add up")
            }
            MergeError::TooLarge(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for MergeError {}

/// Adds profiles up. Metrics are matched by name, in the first profile's order; those that not all
/// profiles have are left out, with a warning. Units of one kind become the finest of them. Fails where
/// units of one metric are of different kinds, or a table outgrows its ids.
pub fn merge(profiles: &[Profile]) -> Result<Profile, MergeError> {
    let Some(first) = profiles.first() else {
        let builder = ProfileBuilder::new("none", LoadOptions::default());
        return builder.finish().map_err(MergeError::TooLarge);
    };
    same_kind(&profiles.iter().collect::<Vec<_>>())?;
    let keep_times = profiles.iter().any(|profile| profile.samples.time.is_some());
    let mut builder = ProfileBuilder::new(
        first.meta.format,
        LoadOptions { labels: true, times: keep_times, ..LoadOptions::LEAST },
    );
    let columns = match_metrics(profiles, &mut builder)?;
    for (profile, columns) in profiles.iter().zip(&columns) {
        let copier = Copier::new(&mut builder, profile, true);
        match &profile.calls {
            None => copier.copy_samples(columns),
            Some(calls) => copier.copy_calls(calls, &columns.iter().copied().map(Some).collect::<Vec<_>>()),
        }
    }
    let meta = combined_meta(profiles, &builder.meta);
    let mut merged = builder.finish().map_err(MergeError::TooLarge)?;
    let counted = std::mem::replace(&mut merged.meta, meta);
    for (metric, counted) in merged.meta.metrics.iter_mut().zip(counted.metrics) {
        (metric.total, metric.too_large) = (counted.total, counted.too_large);
    }
    Ok(merged)
}

/// Refuses stacks beside calls.
pub(super) fn same_kind(profiles: &[&Profile]) -> Result<(), MergeError> {
    let format = |calls: bool| {
        let found = profiles.iter().find(|profile| profile.calls.is_some() == calls);
        found.map(|profile| profile.meta.format)
    };
    match (format(false), format(true)) {
        (Some(stacks), Some(calls)) => Err(MergeError::Kinds(stacks, calls)),
        _ => Ok(()),
    }
}

/// Where the values of one metric of the result stand in a profile, and what they are multiplied by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    pub(super) column: usize,
    pub(super) factor: i64,
}

/// Declares the metrics that all profiles have, and says where each profile has them.
fn match_metrics(profiles: &[Profile], builder: &mut ProfileBuilder) -> Result<Vec<Vec<Taken>>, MergeError> {
    let first = &profiles[0].meta;
    let mut columns = vec![Vec::new(); profiles.len()];
    for (number, metric) in first.metrics.iter().enumerate() {
        let place = |meta: &Meta| {
            let same_place = meta.metrics.get(number).is_some_and(|other| other.name == metric.name);
            if same_place { Some(number) } else { meta.metric_named(&metric.name) }
        };
        let Some(places) =
            profiles.iter().map(|profile| place(&profile.meta)).collect::<Option<Vec<usize>>>()
        else {
            builder.warn(format!("the metric {} is left out: not all inputs have it", metric.name));
            continue;
        };
        let found: Vec<(&Meta, usize)> =
            profiles.iter().map(|profile| &profile.meta).zip(places.iter().copied()).collect();
        let factors = reconcile(&found, &metric.name)?;
        let (finest, divisor) = finest(&found);
        let made = builder.metric(&metric.name, &finest);
        builder.meta.metrics[made].divisor = divisor;
        if number == first.default_metric {
            builder.meta.default_metric = made;
        }
        for ((columns, column), factor) in columns.iter_mut().zip(places).zip(factors) {
            columns.push(Taken { column, factor });
        }
    }
    Ok(columns)
}

/// The finest of the units that a metric has, and the largest divisor. A metric is known by what its
/// profile says of itself, and its number.
pub(super) fn finest(metrics: &[(&Meta, usize)]) -> (String, u64) {
    let metrics = || metrics.iter().map(|&(meta, place)| &meta.metrics[place]);
    let mut finest = metrics().next().map(|metric| metric.unit.clone()).unwrap_or_default();
    for metric in metrics() {
        if Unit::parse(&finest).factor_to(&Unit::parse(&metric.unit)).is_some_and(|factor| factor > 1) {
            finest.clone_from(&metric.unit);
        }
    }
    (finest, metrics().map(|metric| metric.divisor).max().unwrap_or(1))
}

/// What the values of each profile are multiplied by to be in the finest unit.
pub(super) fn reconcile(metrics: &[(&Meta, usize)], name: &str) -> Result<Vec<i64>, MergeError> {
    let (finest, divisor) = finest(metrics);
    let target = Unit::parse(&finest);
    let factor = |&(meta, place): &(&Meta, usize)| {
        let metric = &meta.metrics[place];
        let factor =
            if metric.unit == finest { Some(1) } else { Unit::parse(&metric.unit).factor_to(&target) };
        let factor = factor.ok_or_else(|| MergeError::Units {
            metric: name.to_string(),
            units: (finest.clone(), metric.unit.clone()),
        })?;
        // Divisors are powers of ten: the larger is a multiple of the smaller.
        let finer = i64::try_from(divisor / metric.divisor.max(1)).ok();
        let factor = finer.and_then(|finer| factor.checked_mul(finer));
        factor.ok_or_else(|| MergeError::Overflow { metric: name.to_string() })
    };
    metrics.iter().map(factor).collect()
}

/// What the result says of itself: the earliest start, all durations, and all that was counted.
fn combined_meta(profiles: &[Profile], built: &Meta) -> Meta {
    let first = &profiles[0].meta;
    let metas = || profiles.iter().map(|profile| &profile.meta);
    let mut meta = Meta {
        encoding: first.encoding.clone(),
        bytes: metas().map(|meta| meta.bytes).sum(),
        metrics: built.metrics.clone(),
        time_ns: metas().filter_map(|meta| meta.time_ns).min(),
        duration_ns: metas().filter_map(|meta| meta.duration_ns).reduce(i64::saturating_add),
        period: first
            .period
            .clone()
            .filter(|period| metas().all(|meta| meta.period.as_ref() == Some(period))),
        profiles: metas().map(|meta| meta.profiles).sum(),
        rows: metas().map(|meta| meta.rows).sum(),
        labelled_rows: metas().map(|meta| meta.labelled_rows).sum(),
        drop_frames: first.drop_frames.clone(),
        keep_frames: first.keep_frames.clone(),
        ..built.clone()
    };
    for meta_of_one in metas() {
        for comment in &meta_of_one.comments {
            if !meta.comments.contains(comment) {
                meta.comments.push(comment.clone());
            }
        }
        for warning in &meta_of_one.warnings {
            if !meta.warnings.contains(warning) {
                meta.warnings.push(warning.clone());
            }
        }
    }
    meta
}

/// Copies the tables of one profile into a builder, each row once.
pub(super) struct Copier<'b, 'p> {
    builder: &'b mut ProfileBuilder,
    profile: &'p Profile,
    strings: Column<StringId, StringId>,
    functions: Column<FunctionId, FunctionId>,
    frames: Column<FrameId, FrameId>,
    label_sets: Column<LabelSetId, LabelSetId>,
    stacks: Column<StackId, StackId>,
}

impl<'b, 'p> Copier<'b, 'p> {
    /// Copies all but the samples; the labels only if they are wanted.
    pub(super) fn new(builder: &'b mut ProfileBuilder, profile: &'p Profile, labels: bool) -> Self {
        let symbols = &profile.symbols;
        let strings: Column<StringId, StringId> =
            symbols.strings.ids().map(|id| builder.string(symbols.strings.get(id))).collect();
        let mappings: Column<MappingId, MappingId> = symbols.mappings.map(|mapping| {
            let (file, build_id) = (strings[mapping.file], strings[mapping.build_id]);
            builder.mapping(Mapping { file, build_id, ..*mapping })
        });
        let functions: Column<FunctionId, FunctionId> = symbols.functions.map(|function| {
            let (name, file) = (strings[function.name], strings[function.file]);
            builder.function(Function { name, file, ..*function })
        });
        let frames: Column<FrameId, FrameId> = symbols.frames.map(|frame| {
            let (function, mapping) = (functions[frame.function], mappings[frame.mapping]);
            builder.frame(Frame { function, mapping, ..*frame })
        });
        let mut scratch = Vec::new();
        let stacks = profile.stacks.iter().map(|stack| {
            scratch.clear();
            scratch.extend(stack.iter().map(|&frame| frames[frame]));
            builder.stack(&scratch)
        });
        let stacks = stacks.collect();
        let label_sets = Column::new();
        let mut copier = Copier { builder, profile, strings, functions, frames, label_sets, stacks };
        copier.label_sets = if labels {
            profile.label_sets.ids().map(|set| copier.label_set(set)).collect()
        } else {
            Column::filled(LabelSetId::default(), profile.label_sets.len())
        };
        copier
    }

    fn label_set(&mut self, set: LabelSetId) -> LabelSetId {
        let strings = &self.strings;
        let copy = |label: &Label| Label {
            key: strings[label.key],
            value: match label.value {
                LabelValue::Text(text) => LabelValue::Text(strings[text]),
                LabelValue::Number(number, unit) => LabelValue::Number(number, strings[unit]),
            },
        };
        let mut labels: Vec<Label> = self.profile.label_sets.labels(set).iter().map(copy).collect();
        self.builder.label_set(&mut labels)
    }

    fn copy_samples(self, columns: &[Taken]) {
        let samples = Arc::clone(&self.profile.samples);
        self.copy_rows(columns.len(), |builder, row, values| {
            for (number, taken) in columns.iter().enumerate() {
                let value = samples.values[taken.column][row];
                values[number] = value.checked_mul(taken.factor).unwrap_or_else(|| {
                    builder.overflow(number);
                    0
                });
            }
        });
    }

    /// Copies functions and calls. `taken` says, for each metric of the builder, which it is here.
    pub(super) fn copy_calls(self, calls: &CallTable, taken: &[Option<Taken>]) {
        let Copier { builder, functions, frames, .. } = self;
        let counts =
            |taken: &Option<Taken>| taken.is_some_and(|taken| Some(taken.column) == calls.calls_metric);
        if let Some(metric) = taken.iter().position(counts) {
            builder.calls_metric(metric);
        }
        let values = |builder: &mut ProfileBuilder, value: &dyn Fn(usize) -> i64| -> Vec<i64> {
            let of_metric = |(number, taken): (usize, &Option<Taken>)| {
                let Some(taken) = taken else { return 0 };
                value(taken.column).checked_mul(taken.factor).unwrap_or_else(|| {
                    builder.overflow(number);
                    0
                })
            };
            taken.iter().enumerate().map(of_metric).collect()
        };
        for (function, frame) in calls.functions() {
            let own = values(builder, &|metric| calls.self_values[metric][function]);
            let total = values(builder, &|metric| calls.totals[metric][function]);
            let copy = functions[function];
            builder.call_node(copy, &own);
            builder.call_total(copy, &total);
            let mapping = builder.frame_row(frames[frame]).mapping;
            builder.call_mapping(copy, mapping);
        }
        for (row, &place) in calls.lines.place.iter().enumerate() {
            let own = values(builder, &|metric| calls.lines.self_values[metric][row]);
            builder.call_line(functions[calls.lines.function[row]], frames[place], &own);
        }
        for edge in 0..calls.edge_count() {
            let (caller, callee) = (functions[calls.caller[edge]], functions[calls.callee[edge]]);
            let cost = values(builder, &|metric| calls.edge_values[metric][edge]);
            builder.call_edge(caller, callee, calls.site[edge].map(|site| frames[site]), &cost);
        }
    }

    /// Copies the samples; `fill` writes the values of a row, one a metric of the builder.
    pub(super) fn copy_rows(
        self,
        metrics: usize,
        mut fill: impl FnMut(&mut ProfileBuilder, usize, &mut [i64]),
    ) {
        let samples = &self.profile.samples;
        let mut values = vec![0; metrics];
        for row in 0..samples.len() {
            fill(self.builder, row, &mut values);
            let time = samples.time.as_ref().map(|times| times[row]);
            let labels = self.label_sets[samples.labels[row]];
            self.builder.sample(self.stacks[samples.stack[row]], labels, time, &values);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{draw, from_picture};

    #[test]
    fn same_stacks_and_labels_add_up() {
        let a = from_picture("main;a 1 {k=v}\nmain;b 2");
        let b = from_picture("main;b 3\nmain;a 4 {k=v}\nmain;a 5");
        let merged = merge(&[a, b]).unwrap();
        assert_eq!(draw(&merged), "main;a 5\nmain;a 5 {k=v}\nmain;b 5");
        assert_eq!((merged.meta.metrics[0].total, merged.meta.profiles, merged.meta.rows), (15, 2, 5));
    }

    #[test]
    fn stacks_and_calls_do_not_add_up() {
        let mut builder = ProfileBuilder::new("calls", LoadOptions::default());
        builder.metric("samples", "count");
        let main = builder.named_function("main", "");
        builder.call_node(main, &[7]);
        let calls = builder.finish().unwrap();
        let twice = merge(&[calls.clone(), calls.clone()]).unwrap();
        assert_eq!(twice.calls.unwrap().totals[0].iter().copied().collect::<Vec<_>>(), [14]);
        assert_eq!(twice.meta.metrics[0].total, 14);
        let error = merge(&[from_picture("main 1"), calls]).unwrap_err();
        assert_eq!(error, MergeError::Kinds("picture", "calls"));
    }

    #[test]
    fn units_are_reconciled_to_the_finest() {
        let mut a = from_picture("main 1");
        let mut b = from_picture("main 7");
        (a.meta.metrics[0].unit, b.meta.metrics[0].unit) = ("seconds".into(), "ms".into());
        let merged = merge(&[a.clone(), b.clone()]).unwrap();
        assert_eq!((merged.meta.metrics[0].total, merged.meta.metrics[0].unit.as_str()), (1007, "ms"));
        b.meta.metrics[0].unit = "bytes".into();
        assert!(matches!(merge(&[a, b]), Err(MergeError::Units { .. })));
    }
}
