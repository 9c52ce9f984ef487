//! Running the statistical tests on the counted values.

use crate::profile::Id;
use crate::stats::attribution::attribute;
use crate::stats::compare::{Comparison, Evidence, compare, untested_verdict};
use crate::stats::effective::heap_unit;
use crate::stats::{Incomparable, ProfileCounts, SampleCounts, SampleUnit, TestOptions};
use crate::tree::{Flat, Subject};
use crate::view::diff::call_graph::CountedGraph;
use crate::view::diff::history::learned;
use crate::view::diff::idle::idle_functions;
use crate::view::diff::options::{DiffOptions, DiffSides};
use crate::view::diff::parts::parts;
use crate::view::diff::sample_size::SampleSize;
use crate::view::diff::stacks::CountedStacks;

/// The counts of both sides.
pub(super) fn counts(counted: &Flat, sides: &DiffSides) -> SampleCounts {
    let size = sides.size.of_sample();
    let count = sides.old.profiles + sides.new.profiles;
    let mut sampled: Vec<ProfileCounts> = (0..count)
        .map(|series| ProfileCounts {
            self_counts: counted.self_value[series].iter().map(|&value| value as f64 / size).collect(),
            total_counts: counted.total[series].iter().map(|&value| value as f64 / size).collect(),
        })
        .collect();
    let sample_unit = match sides.size {
        SampleSize::Known(_) | SampleSize::Mean(_) | SampleSize::ByClock(_) => SampleUnit::Samples,
        SampleSize::ByVariance(scale) => units(&sampled, counted, count, scale),
        SampleSize::Unknown => SampleUnit::Unknown,
    };
    let new = sampled.split_off(sides.old.profiles);
    SampleCounts { old: sampled, new, sample_unit }
}

/// Runs the tests, or returns the reason why there are none.
pub(super) fn test(
    (subject, counted): (&Subject<'_>, &Flat),
    counts: &SampleCounts,
    sides: &DiffSides,
    options: &DiffOptions,
) -> Result<(Option<Comparison>, Option<String>), Incomparable> {
    let size = sides.size.of_sample();
    let count = sides.old.profiles + sides.new.profiles;
    let functions = options.functions.as_ref().map(|marks| {
        let frames = subject.profile.symbols.frames.ids().filter(|&frame| marks.contain(frame));
        let mut keys: Vec<usize> = frames.map(|frame| subject.keys.of_frame(frame).index()).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    });
    let learned = options.history.as_ref().map(|history| learned(history, subject));
    let old = sides.old.profiles;
    let idle = if subject.calls.is_some() { Vec::new() } else { idle_functions(subject, counted, count) };
    let test = TestOptions { learned, idle, functions, ..options.test.clone() };
    let compared = compare(counts, &test).and_then(|comparison| {
        let is_far = comparison.model.as_ref().is_some_and(|model| model.is_far_from_same_work(&test));
        if !is_far || subject.calls.is_some() {
            return Ok(comparison);
        }
        let in_samples = |values: Vec<i64>| values.into_iter().map(|value| value as f64 / size).collect();
        let parts = parts(subject, counted, (old, count)).into_iter().map(in_samples).collect();
        compare(counts, &TestOptions { parts, ..test })
    });
    match compared {
        Ok(mut comparison) => {
            if is_unsure(sides.size, options) {
                withhold_verdicts(&mut comparison);
                return Ok((Some(comparison), Some(UNKNOWN_VARIATION.to_string())));
            }
            if subject.calls.is_some() {
                attribute(&mut comparison, &CountedGraph::new(subject, old, count, size));
            } else {
                // A caller has much of a function that is tested.
                let least_share = options.test.min_tested / 4.0;
                let stacks = CountedStacks::new((subject, counted), (old, count), size, least_share);
                attribute(&mut comparison, &stacks);
            }
            Ok((Some(comparison), None))
        }
        Err(error @ (Incomparable::NeedsReplicates | Incomparable::Count(_))) => {
            let values = match error {
                Incomparable::Count(_) => "negative values cannot be tested".to_string(),
                _ => error.to_string(),
            };
            Ok((None, Some(values)))
        }
        Err(error) => Err(error),
    }
}

/// Whether nothing says how much the runs of a pair differ. Earlier runs do, if samples are of equal size.
fn is_unsure(size: SampleSize, options: &DiffOptions) -> bool {
    match size {
        SampleSize::Mean(_) => true,
        SampleSize::ByClock(_) => options.history.is_none(),
        _ => false,
    }
}

/// Why costs of such a pair are compared without a verdict.
const UNKNOWN_VARIATION: &str = "profiles of this kind differ from run to run by more than sampling explains, so two or more profiles per side are needed";

/// Leaves what functions cost, but not whether a change is significant.
fn withhold_verdicts(comparison: &mut Comparison) {
    let none = Evidence { p: 1.0, q: 1.0, reachable: false };
    for row in &mut comparison.hypotheses {
        (row.increase, row.decrease) = (none, none);
        row.verdict = untested_verdict(row.old, row.new);
    }
    comparison.tested = 0;
}

/// The size of a sample for each function, from the variances in the columns after the profiles.
fn units(sampled: &[ProfileCounts], counted: &Flat, variances: usize, scale: f64) -> SampleUnit {
    let units = |of: fn(&ProfileCounts) -> &[f64], variance: &[i64]| -> Vec<f64> {
        let total = |function: usize| sampled.iter().map(|profile| of(profile)[function]).sum::<f64>();
        let unit = |(function, &variance): (usize, &i64)| heap_unit(total(function), variance as f64 * scale);
        variance.iter().enumerate().map(unit).collect()
    };
    SampleUnit::PerFunction {
        self_units: units(|profile| &profile.self_counts, counted.self_value[variances].as_slice()),
        total_units: units(|profile| &profile.total_counts, counted.total[variances].as_slice()),
    }
}
