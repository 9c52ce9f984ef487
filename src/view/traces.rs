//! `traces`: every distinct stack with its values.

use hashbrown::HashMap;

use crate::profile::{Column, FrameId, LabelSetId, LabelValue, Profile, StackId};
use crate::report::{LabelText, Name, Trace, Traces};
use crate::tree::{KeyId, Subject, first_alike};
use crate::view::Scope;
use crate::view::values::{MinTotals, RowValues};

/// Options for `traces`.
#[derive(Clone, Debug, Default)]
pub struct TracesOptions {
    /// Metrics and nodes.
    pub scope: Scope,
    /// The maximum number of stacks; `None` for all.
    pub limit: Option<usize>,
    /// Stacks with a smaller share of the shown total are left out, in percent.
    pub min_share: f64,
}

/// The distinct stacks, the heaviest first. Stacks with different labels are separate rows if the
/// profile was loaded with labels.
pub fn traces(profile: &Profile, options: &TracesOptions) -> Traces {
    let (subject, mut header) = options.scope.open(profile, "prof.traces.v1");
    let row_values = RowValues::new(&header);
    let base = options.scope.base.iter().map(|base| base.metric);
    let metrics: Vec<usize> = options.scope.metrics.iter().copied().chain(base).collect();
    let sums = Sums::of(&subject, &metrics);
    let weight = |sum: &[i64]| {
        let old = sum.last().and_then(|&old| row_values.old_value(old));
        (old.map_or(sum[0], |old| sum[0] - old).unsigned_abs(), sum[0].unsigned_abs())
    };
    let rows = sums.heaviest_first(&subject, weight);
    let names =
        |stack: StackId| subject.stack_keys(stack).map(|key| subject.keys.name(key).clone()).collect();
    let min_totals = MinTotals::of_shown(&header, options.min_share);
    let limit = options.limit.unwrap_or(usize::MAX);
    let metric_names: Vec<Name> =
        options.scope.metrics.iter().map(|&m| profile.meta.metrics[m].name.as_str().into()).collect();
    let mut traces = Vec::new();
    for row in rows {
        let ((stack, set), sum) = (sums.rows[row], sums.of_row(row));
        if traces.len() == limit || !min_totals.keep(sum.iter().copied()) {
            header.elide(sum.iter().copied());
            continue;
        }
        let named = |values: &[i64]| metric_names.iter().cloned().zip(values.iter().copied()).collect();
        let (mut old, mut delta) = (Vec::new(), Vec::new());
        let mut new = sum;
        if let Some((&last, others)) = sum.split_last().filter(|_| row_values.compares()) {
            let value = row_values.old_value(last).unwrap_or(0);
            (new, old, delta) = (others, named(&[value]), named(&[sum[0] - value]));
        }
        let labels = labels(profile, set);
        traces.push(Trace { frames: names(stack), values: named(new), old, delta, labels });
    }
    Traces { header, traces }
}

/// The sums of each distinct stack with its labels.
struct Sums {
    metrics: usize,
    /// One of the stacks with the same keys, and the labels.
    rows: Vec<(StackId, LabelSetId)>,
    /// The values of all rows, one after the other.
    values: Vec<i64>,
}

impl Sums {
    fn of(subject: &Subject<'_>, metrics: &[usize]) -> Self {
        let samples = &subject.profile.samples;
        let first = first_alike(subject.profile, &subject.keys);
        let mut sums = Sums { metrics: metrics.len(), rows: Vec::new(), values: Vec::new() };
        let mut known: HashMap<(StackId, LabelSetId), usize> = HashMap::new();
        for (sample, (&stack, &labels)) in samples.stack.iter().zip(&samples.labels).enumerate() {
            let row = *known.entry((first[stack], labels)).or_insert(sums.rows.len());
            if row == sums.rows.len() {
                sums.rows.push((first[stack], labels));
                sums.values.resize(sums.values.len() + metrics.len(), 0);
            }
            let values = &mut sums.values[row * metrics.len()..];
            for (sum, &metric) in values.iter_mut().zip(metrics) {
                *sum += samples.values[metric][sample];
            }
        }
        sums
    }

    /// The values of a row.
    fn of_row(&self, row: usize) -> &[i64] {
        &self.values[row * self.metrics..][..self.metrics]
    }

    /// The rows with values, sorted by weight. Those of equal weight are sorted by name, so that the output is deterministic.
    fn heaviest_first(&self, subject: &Subject<'_>, weight: impl Fn(&[i64]) -> (u64, u64)) -> Vec<usize> {
        let rank = ranks(subject);
        let rank = subject.profile.symbols.frames.ids().map(|frame| rank[subject.keys.of_frame(frame)]);
        let rank: Column<FrameId, u32> = rank.collect();
        let ranks = |stack: StackId| subject.profile.stacks.frames(stack).iter().map(|&frame| rank[frame]);
        let has_values = |&row: &usize| self.of_row(row).iter().any(|&value| value != 0);
        let rows = (0..self.rows.len()).filter(has_values);
        let mut rows: Vec<((u64, u64), usize)> = rows.map(|row| (weight(self.of_row(row)), row)).collect();
        rows.sort_unstable_by(|&(a_weight, a), &(b_weight, b)| {
            let ((a_stack, a_set), (b_stack, b_set)) = (self.rows[a], self.rows[b]);
            let by_name = || ranks(a_stack).cmp(ranks(b_stack));
            b_weight.cmp(&a_weight).then_with(by_name).then_with(|| a_set.cmp(&b_set)).then(a.cmp(&b))
        });
        rows.into_iter().map(|(_, row)| row).collect()
    }
}

/// The rank of each key in the order of names; keys of the same name share a rank. For a million stacks of
/// equal weight, comparing ranks takes 1 s where comparing names took 20 s.
fn ranks(subject: &Subject<'_>) -> Column<KeyId, u32> {
    let mut keys: Vec<KeyId> = subject.keys.ids().collect();
    keys.sort_by_key(|&key| subject.keys.name(key));
    let mut ranks = Column::filled(0, subject.keys.len());
    for pair in keys.windows(2) {
        let is_other = subject.keys.name(pair[0]) != subject.keys.name(pair[1]);
        ranks[pair[1]] = ranks[pair[0]] + u32::from(is_other);
    }
    ranks
}

fn labels(profile: &Profile, set: LabelSetId) -> Vec<(Name, LabelText)> {
    let strings = &profile.symbols.strings;
    let mut labels: Vec<(Name, LabelText)> = profile
        .label_sets
        .labels(set)
        .iter()
        .map(|label| {
            let value = match label.value {
                LabelValue::Text(text) => LabelText::Text(strings.get(text).to_string()),
                LabelValue::Number(number, _) => LabelText::Number(number),
            };
            (strings.get(label.key).into(), value)
        })
        .collect();
    labels.sort_by(|a, b| a.0.cmp(&b.0));
    labels
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::from_notation;

    #[test]
    fn stacks_of_the_same_functions_are_one() {
        let profile =
            from_notation("main@m.go:1;work@w.go:7 3\nmain@m.go:2;work@w.go:8 4\nmain@m.go:2 1\n 9");
        let traces =
            traces(&profile, &TracesOptions { scope: Scope::metric(0), limit: Some(2), min_share: 0.0 });
        let drawn: Vec<String> = traces
            .traces
            .iter()
            .map(|trace| format!("{} {}", trace.frames.join(";"), trace.values[0].1))
            .collect();
        assert_eq!(drawn, [" 9", "main;work 7"]);
        assert_eq!((traces.header.elided, traces.header.no_stack), (1, 9));
    }

    #[test]
    fn stacks_are_sorted_by_change_and_removed_ones_are_kept() {
        let profile = from_notation("main;a 9 8\nmain;b 0 3\nmain;c 4 0\nmain 1 1");
        let options = TracesOptions { scope: Scope::compared(), limit: Some(3), min_share: 0.0 };
        let traces = traces(&profile, &options);
        let drawn: Vec<String> = traces
            .traces
            .iter()
            .map(|trace| {
                let [value, old, delta] = [&trace.values, &trace.old, &trace.delta].map(|side| side[0].1);
                format!("{} {value} {old} {delta:+}", trace.frames.join(";"))
            })
            .collect();
        assert_eq!(drawn, ["main;c 4 0 +4", "main;b 0 3 -3", "main;a 9 8 +1"]);
        assert_eq!((traces.header.elided, traces.header.elided_rows), (1, 1));
    }
}
