//! Copying a profile into a builder, which may already contain other profiles.

use std::convert::Infallible;
use std::ops::Range;
use std::sync::Arc;

use crate::profile::{
    CallTable, Column, Frame, FrameId, Function, FunctionId, Id, Label, LabelSetId, LabelValue, Mapping,
    MappingId, Profile, ProfileBuilder, StackId, Stacks, StringId, Symbols,
};

/// The column of the copied profile that corresponds to a metric of the builder, and the factor for its values.
#[derive(Clone, Copy, Debug)]
pub(super) struct SourceMetric {
    pub(super) column: usize,
    pub(super) factor: i64,
}

/// The tables of a profile in a builder: the id there of every row.
pub(super) struct CopiedTables {
    /// The tables that were copied, which several profiles may share.
    from: (Arc<Symbols>, Arc<Stacks>),
    strings: Column<StringId, StringId>,
    functions: Column<FunctionId, FunctionId>,
    frames: Column<FrameId, FrameId>,
    stacks: Column<StackId, StackId>,
}

impl CopiedTables {
    /// Copies each row once.
    pub(super) fn new(builder: &mut ProfileBuilder, profile: &Profile) -> Self {
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
        let stack =
            |_: &mut ProfileBuilder, number: usize, copy: &mut Vec<FrameId>| -> Result<(), Infallible> {
                let original = profile.stacks.frames(StackId::new(number));
                copy.extend(original.iter().map(|&frame| frames[frame]));
                Ok(())
            };
        let Ok(stacks) = builder.stacks_with(profile.stacks.len(), stack);
        CopiedTables {
            from: (profile.symbols.clone(), profile.stacks.clone()),
            strings,
            functions,
            frames,
            stacks,
        }
    }

    /// The id of a stack in the builder.
    pub(super) fn stack(&self, stack: StackId) -> StackId {
        self.stacks[stack]
    }

    /// Whether these are the tables of `profile`.
    pub(super) fn are_of(&self, profile: &Profile) -> bool {
        let (symbols, stacks) = &self.from;
        Arc::ptr_eq(symbols, &profile.symbols) && Arc::ptr_eq(stacks, &profile.stacks)
    }
}

/// Copies a profile, whose tables were copied, into a builder.
pub(super) struct Copier<'b, 'p> {
    builder: &'b mut ProfileBuilder,
    profile: &'p Profile,
    /// The copied tables; `None` if the builder has the tables of the profile.
    tables: Option<&'p CopiedTables>,
    label_sets: Column<LabelSetId, LabelSetId>,
}

impl<'b, 'p> Copier<'b, 'p> {
    /// Copies everything that is left except samples; labels only if requested.
    pub(super) fn new(
        builder: &'b mut ProfileBuilder,
        profile: &'p Profile,
        tables: Option<&'p CopiedTables>,
        labels: bool,
    ) -> Self {
        let mut copier = Copier { builder, profile, tables, label_sets: Column::new() };
        copier.label_sets = if labels {
            profile.label_sets.ids().map(|set| copier.label_set(set)).collect()
        } else {
            Column::filled(LabelSetId::default(), profile.label_sets.len())
        };
        copier
    }

    fn label_set(&mut self, set: LabelSetId) -> LabelSetId {
        let string = |id: StringId| self.tables.map_or(id, |tables| tables.strings[id]);
        let copy = |label: &Label| Label {
            key: string(label.key),
            value: match label.value {
                LabelValue::Text(text) => LabelValue::Text(string(text)),
                LabelValue::Number(number, unit) => LabelValue::Number(number, string(unit)),
            },
        };
        let mut labels: Vec<Label> = self.profile.label_sets.labels(set).iter().map(copy).collect();
        self.builder.label_set(&mut labels)
    }

    pub(super) fn copy_samples(self, columns: &[Option<SourceMetric>]) {
        let samples = Arc::clone(&self.profile.samples);
        self.copy_rows(0..columns.len(), |builder, row, values| {
            for (number, taken) in columns.iter().enumerate() {
                let Some(taken) = taken else {
                    values[number] = 0;
                    continue;
                };
                let value = samples.values[taken.column][row];
                values[number] = value.checked_mul(taken.factor).unwrap_or_else(|| {
                    builder.overflow(number);
                    0
                });
            }
        });
    }

    /// Copies functions and calls. `taken` gives the source of each metric of the builder.
    pub(super) fn copy_calls(self, calls: &CallTable, taken: &[Option<SourceMetric>]) {
        let Copier { builder, tables, .. } = self;
        let copied = |id: FunctionId| tables.map_or(id, |tables| tables.functions[id]);
        let copied_frame = |id: FrameId| tables.map_or(id, |tables| tables.frames[id]);
        for (metric, taken) in taken.iter().enumerate() {
            if taken.is_some_and(|taken| calls.counts_calls(taken.column)) {
                builder.calls_metric(metric);
            }
        }
        let values = |builder: &mut ProfileBuilder, value: &dyn Fn(usize) -> i64| -> Vec<i64> {
            let of_metric = |(number, taken): (usize, &Option<SourceMetric>)| {
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
            let copy = copied(function);
            builder.call_node(copy, &own);
            builder.call_total(copy, &total);
            if calls.has_bounds[function] {
                builder.call_bound(copy);
            }
            let mapping = builder.frame_row(copied_frame(frame)).mapping;
            builder.call_mapping(copy, mapping);
        }
        for (row, &place) in calls.lines.place.iter().enumerate() {
            let own = values(builder, &|metric| calls.lines.self_values[metric][row]);
            builder.call_line(copied(calls.lines.function[row]), copied_frame(place), &own);
        }
        for edge in 0..calls.edge_count() {
            let (caller, callee) = (copied(calls.caller[edge]), copied(calls.callee[edge]));
            let cost = values(builder, &|metric| calls.edge_values[metric][edge]);
            builder.call_edge(caller, callee, calls.site[edge].map(copied_frame), &cost);
        }
    }

    /// Copies the samples; `fill` writes the values of a row, one for each of `metrics` of the builder. All others are 0.
    pub(super) fn copy_rows(
        self,
        metrics: Range<usize>,
        mut fill: impl FnMut(&mut ProfileBuilder, usize, &mut [i64]),
    ) {
        let samples = &self.profile.samples;
        let mut values = vec![0; metrics.len()];
        for row in 0..samples.len() {
            fill(self.builder, row, &mut values);
            let time = samples.time_of(row);
            let labels = self.label_sets[samples.labels[row]];
            let stack = samples.stack[row];
            let stack = self.tables.map_or(stack, |tables| tables.stacks[stack]);
            self.builder.sample_from(metrics.start, stack, labels, time, &values);
        }
    }
}
