//! Dropping the parts of a profile that no sample uses.

use crate::profile::{
    Column, Frame, FrameId, Function, FunctionId, Id, Label, LabelSetId, LabelValue, LoadOptions, Mapping,
    MappingId, Profile, ProfileBuilder, StackId, StringId, TooLarge,
};

/// Drops the stacks, frames, functions, mappings, labels and strings that no sample uses. Filters leave them in
/// the tables, but a profile written to a file should not contain names that were filtered out. The first
/// mapping is kept, because it represents the program. The rest keeps its order, and totals are recomputed. A
/// profile of calls instead of stacks is returned unchanged. Fails if a table outgrows its ids.
pub fn compact(profile: &Profile) -> Result<Profile, TooLarge> {
    if profile.calls.is_some() {
        return Ok(profile.clone());
    }
    let used = UsedRows::of(profile);
    let meta = &profile.meta;
    let options = LoadOptions { labels: true, times: profile.samples.time.is_some(), ..LoadOptions::LEAST };
    let mut builder = ProfileBuilder::new(meta.format, options);
    for metric in &meta.metrics {
        builder.metric(&metric.name, &metric.unit);
    }
    let (stacks, label_sets) = used.copy(profile, &mut builder);
    let samples = &profile.samples;
    let mut values = vec![0; meta.metrics.len()];
    for row in 0..samples.len() {
        for (value, column) in values.iter_mut().zip(&samples.values) {
            *value = column[row];
        }
        let time = samples.time_of(row);
        builder.sample(stacks[samples.stack[row]], label_sets[samples.labels[row]], time, &values);
    }
    let mut compacted = builder.finish()?;
    let counted = std::mem::replace(&mut compacted.meta, meta.clone());
    for (metric, counted) in compacted.meta.metrics.iter_mut().zip(counted.metrics) {
        metric.total = counted.total;
    }
    Ok(compacted)
}

/// Which rows of each table are used.
struct UsedRows {
    stacks: Column<StackId, bool>,
    label_sets: Column<LabelSetId, bool>,
    frames: Column<FrameId, bool>,
    functions: Column<FunctionId, bool>,
    mappings: Column<MappingId, bool>,
}

impl UsedRows {
    fn of(profile: &Profile) -> UsedRows {
        let symbols = &profile.symbols;
        let mut used = UsedRows {
            stacks: profile.used_stacks(),
            label_sets: Column::filled(false, profile.label_sets.len()),
            frames: Column::filled(false, symbols.frames.len()),
            functions: Column::filled(false, symbols.functions.len()),
            mappings: symbols.mappings.ids().map(|id| id.index() == 1).collect(),
        };
        for &set in &profile.samples.labels {
            used.label_sets[set] = true;
        }
        for (stack, frames) in profile.stacks.ids().zip(profile.stacks.iter()) {
            if used.stacks[stack] {
                for &frame in frames {
                    used.frames[frame] = true;
                }
            }
        }
        for (frame, row) in symbols.frames.enumerate() {
            if used.frames[frame] {
                used.functions[row.function] = true;
                used.mappings[row.mapping] = true;
            }
        }
        used
    }

    /// Copies the used rows, and returns the new ids of stacks and label sets.
    fn copy(
        &self,
        profile: &Profile,
        builder: &mut ProfileBuilder,
    ) -> (Column<StackId, StackId>, Column<LabelSetId, LabelSetId>) {
        let frames = self.copy_symbols(profile, builder);
        let mut scratch = Vec::new();
        let stacks = profile.stacks.ids().map(|stack| {
            if !self.stacks[stack] {
                return StackId::default();
            }
            scratch.clear();
            scratch.extend(profile.stacks.frames(stack).iter().map(|&frame| frames[frame]));
            builder.stack(&scratch)
        });
        let stacks = stacks.collect();
        let strings = &profile.symbols.strings;
        let text = |builder: &mut ProfileBuilder, id: StringId| builder.string(strings.get(id));
        let label_sets = profile.label_sets.ids().map(|set| {
            if !self.label_sets[set] {
                return LabelSetId::default();
            }
            let mut labels = Vec::new();
            for label in profile.label_sets.labels(set) {
                let value = match label.value {
                    LabelValue::Text(value) => LabelValue::Text(text(builder, value)),
                    LabelValue::Number(number, unit) => LabelValue::Number(number, text(builder, unit)),
                };
                labels.push(Label { key: text(builder, label.key), value });
            }
            builder.label_set(&mut labels)
        });
        (stacks, label_sets.collect())
    }

    fn copy_symbols(&self, profile: &Profile, builder: &mut ProfileBuilder) -> Column<FrameId, FrameId> {
        let symbols = &profile.symbols;
        let copy = |builder: &mut ProfileBuilder, id: StringId| builder.string(symbols.strings.get(id));
        let mappings: Column<MappingId, MappingId> = symbols
            .mappings
            .enumerate()
            .map(|(id, mapping)| {
                if !self.mappings[id] {
                    return MappingId::default();
                }
                let (file, build_id) = (copy(builder, mapping.file), copy(builder, mapping.build_id));
                builder.mapping(Mapping { file, build_id, ..*mapping })
            })
            .collect();
        let functions: Column<FunctionId, FunctionId> = symbols
            .functions
            .enumerate()
            .map(|(id, function)| {
                if !self.functions[id] {
                    return FunctionId::default();
                }
                let (name, file) = (copy(builder, function.name), copy(builder, function.file));
                builder.function(Function { name, file, ..*function })
            })
            .collect();
        symbols
            .frames
            .enumerate()
            .map(|(id, frame)| {
                if !self.frames[id] {
                    return FrameId::default();
                }
                let (function, mapping) = (functions[frame.function], mappings[frame.mapping]);
                builder.frame(Frame { function, mapping, ..*frame })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{from_notation, to_notation};
    use crate::transform::engine::keep_rows;

    #[test]
    fn filtered_names_are_removed() {
        let profile = from_notation("main;a@a.c:1 3 {k=v}\nmain;secret@s.c:2 4 {password=x}");
        let kept = keep_rows(&profile, |row| row == 0);
        let compacted = compact(&kept).unwrap();
        assert_eq!(to_notation(&compacted), "main;a@a.c:1 3 {k=v}");
        for gone in ["secret", "s.c", "password", "x"] {
            assert_eq!(compacted.symbols.strings.find(gone), None, "{gone}");
        }
        assert_eq!((compacted.stacks.len(), compacted.symbols.frames.len()), (1, 2));
        assert_eq!((compacted.label_sets.len(), compacted.meta.metrics[0].total), (2, 3));
    }

    #[test]
    fn samples_keep_their_signs_and_those_without_a_stack_stay() {
        let profile = from_notation("main 3\nmain -2\n 5");
        assert_eq!(to_notation(&compact(&profile).unwrap()), to_notation(&profile));
    }
}
