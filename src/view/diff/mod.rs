//! `diff`: what changed between two sides, and whether it is noise.

mod budget;
mod by_side;
mod call_graph;
mod calls;
mod causes;
mod changed_calls;
mod cut;
mod history;
mod idle;
mod lines;
mod mix;
mod noise;
mod options;
mod outliers;
mod parts;
mod plain_counts;
mod power;
mod reduced;
mod rows;
mod sample_size;
mod significance;
mod stacks;
mod tested;
mod totals;

use crate::profile::{Id, LoadOptions, Profile};
use crate::report::{Diff, DiffNoise, DiffSide, DiffVerdict, DoubtfulCore, Header, Rescaling, Strictness};
use crate::stats::compare::Comparison;
use crate::stats::model::{Doubt, Scale};
use crate::stats::{Incomparable, Normalization};
use crate::transform::{AlignError, AlignedInput, align_owned};
use crate::tree::{KeyId, Subject, flat};
use crate::view::diff::causes::{Explanation, savings};
use crate::view::diff::changed_calls::changed_calls;
use crate::view::diff::cut::{Rows, is_heavy};
use crate::view::diff::idle::idle_processors;
use crate::view::diff::mix::Mix;
use crate::view::diff::power::Power;
use crate::view::diff::rows::{COUNTLESS, RowBuilder};
use crate::view::diff::tested::{Tested, test_sides};
use crate::view::diff::totals::{SideTotals, check_common};
use crate::view::{grouping, metric_name, note_of_negatives, warnings_of};

pub use budget::{BudgetLimit, BudgetRule, check_budgets};
pub use by_side::{BySideOptions, by_side, limit_by_side};
pub use calls::{CallCounts, count_calls};
pub use history::count_listed;
pub use noise::learn_noise;
pub use options::{DiffOptions, DiffSides, DiffSort, normalization_name, usual_normalization};
pub use outliers::{NoOutliers, limit_outliers, outliers};
pub(crate) use plain_counts::{Reconciled, reconcile as reconcile_counts};
pub use sample_size::SampleSize;
use sample_size::{Recorded, heap_variances, sample_size};

/// Aligns profiles for [`diff()`], each given with the number of its metric, the old ones first. Also
/// returns how much of the metric makes one sample. `keep` lists the labels and times that filters need.
/// Fails like [`crate::transform::align`].
pub fn align_sides(
    profiles: &[(&Profile, usize)],
    keep: LoadOptions,
) -> Result<(Profile, SampleSize), AlignError> {
    align_owned_sides(profiles.iter().map(|&(profile, metric)| (profile.clone(), metric)).collect(), keep)
}

/// [`align_sides`], but the profiles are dropped on the way, which saves memory.
pub(crate) fn align_owned_sides(
    mut profiles: Vec<(Profile, usize)>,
    keep: LoadOptions,
) -> Result<(Profile, SampleSize), AlignError> {
    let mut inputs: Vec<_> = profiles.iter_mut().map(|(profile, metric)| (profile, *metric)).collect();
    let reconciled = reconcile_counts(&mut inputs);
    let given: Vec<(&Profile, usize)> = profiles.iter().map(|(profile, metric)| (profile, *metric)).collect();
    let recorded = Recorded::of(&given);
    let (rows, scale) = heap_variances(&given).map(|heap| (heap.rows, heap.scale)).unzip();
    let mut rows = rows.into_iter().flatten();
    let part = |(profile, metric)| AlignedInput { profile, metric, extra: rows.next() };
    let mut whole = align_owned(profiles.into_iter().map(part).collect(), keep)?;
    let note = note_of_negatives(&whole, 0..whole.meta.metrics.len());
    whole.meta.notes.extend(note.map(|note| note.text));
    if let Some(scale) = scale {
        return Ok((whole, SampleSize::ByVariance(scale)));
    }
    whole.meta.warnings.extend(reconciled.as_ref().map(|found| found.warning().to_string()));
    if matches!(reconciled, Some(Reconciled::Shares(_))) {
        return Ok((whole, SampleSize::Unknown));
    }
    let (size, note) = sample_size(&recorded, &whole, 0);
    whole.meta.warnings.extend(note);
    Ok((whole, size))
}

/// Compares the two sides of `profile`. Fails if an option is out of range.
pub fn diff(profile: &Profile, sides: DiffSides, options: &DiffOptions) -> Result<Diff, Incomparable> {
    let count = sides.old.profiles + sides.new.profiles;
    let columns: Vec<usize> = (0..profile.meta.metrics.len()).collect();
    let subject = Subject::new(profile, &options.by, &columns);
    let counted = flat(&subject);
    let Tested { comparison, samples, untestable, mix } = test_sides(&subject, &counted, &sides, options)?;

    let (old, new) = (0..sides.old.profiles, sides.old.profiles..count);
    let (old, new) = (SideTotals::new(profile, &counted, old), SideTotals::new(profile, &counted, new));
    // The values of all inputs have been converted to the finest of their units.
    let sides = DiffSides {
        old: DiffSide { total: old.recorded, compared: old.compared, ..sides.old },
        new: DiffSide { total: new.recorded, compared: new.compared, ..sides.new },
        ..sides
    };
    check_common(&subject, &old, &new, &options.by)?;
    let core_ratio = core_ratio(comparison.as_ref(), options.test.normalize, &sides, [&old, &new]);
    let tested = mix.as_ref().map_or((&subject, &counted), |mix| (&mix.subject, &mix.counted));
    let explained = causes::explain(tested, comparison.as_ref(), &sides, mix.as_ref());
    let is_tested = untestable.is_none();
    let made = RowBuilder {
        subject: &subject,
        old: &old,
        new: &new,
        comparison: comparison.as_ref(),
        core_ratio,
        new_series: sides.old.profiles..count,
        sort: options.sort,
        causes: &explained.causes,
        has_tests: is_tested,
    }
    .build();
    let power = comparison.as_ref().filter(|_| is_tested);
    let power = power.map_or_else(Power::default, |comparison| Power::of(comparison, options.wanted_ratio));
    let budget = |rule| budget::check(rule, &subject, sides.old.profiles..count, sides.new.total);
    let budgets = options.budgets.iter().map(budget).collect();
    let is_doubtful = comparison.as_ref().and_then(doubt).is_some_and(|doubt| !doubt.by_most);
    let samples = samples.filter(|_| comparison.as_ref().is_some_and(Comparison::counts_samples));
    let calls = if is_tested { Vec::new() } else { changed_calls(&subject, &counted, &sides) };
    let has_idle = is_tested && subject.calls.is_none();
    let idle = has_idle.then(|| idle_processors(&subject, sides.old.profiles, count)).flatten();
    // Rows say what only moved, whether or not the causes are listed.
    let mut explained = if options.explain { explained } else { Explanation::default() };
    if let (Some(comparison), Some(growth), None) = (comparison.as_ref(), explained.growth, &mix)
        && made.improved > 0
    {
        explained.causes.extend(savings((&subject, &counted), &sides, options, comparison, growth)?);
    }
    let mut diff = Diff {
        header: header(&subject, &sides, comparison.as_ref(), mix.as_ref(), options),
        noise: comparison.as_ref().and_then(estimated_noise),
        learned_runs: options.history.as_ref().map(|history| history.runs),
        samples_estimated: matches!(sides.size, SampleSize::ByVariance(_) | SampleSize::Unknown),
        tested: made.tested,
        verdict: overall(&made, power.suffices, is_doubtful),
        regressed: made.regressed,
        improved: made.improved,
        detectable: power.detectable,
        folded: Vec::new(),
        matched: sides.matched,
        upgrades: sides.upgrades,
        causes: explained.causes,
        growth: explained.growth,
        unexplained: explained.unexplained,
        mix: mix.map(|mix| mix.change),
        budgets,
        old: DiffSide { samples: samples.and_then(|(old, _)| countable(old)), ..sides.old },
        new: DiffSide { samples: samples.and_then(|(_, new)| countable(new)), ..sides.new },
        rows: made.rows,
        strictness: strictness(options),
        core_ratio,
        untestable,
        samples_needed: power.samples_needed,
        samples_needed_per_run: power.samples_needed_per_run,
        too_noisy: comparison.as_ref().filter(|_| is_tested).and_then(too_noisy),
        doubt: doubtful_core(&subject, &old, comparison.as_ref()),
        shifted: 0,
        default_metric: true,
        options: Vec::new(),
        elided_tested: 0,
        appeared: made.appeared,
        vanished: made.vanished,
        idle,
        calls,
    };
    cut_rows(&mut diff, options);
    Ok(diff)
}

fn strictness(options: &DiffOptions) -> Strictness {
    Strictness {
        alpha: options.test.alpha,
        min_effect: options.test.min_effect,
        min_points: options.test.min_points * 100.0,
        detect: options.wanted_ratio,
        named: options.functions.is_some(),
        strict: options.strict,
    }
}

/// A number of samples, unless it is too large to be one.
fn countable(samples: f64) -> Option<i64> {
    let samples = samples.round();
    (samples < COUNTLESS).then_some(samples as i64)
}

/// Leaves out the rows that are not asked for, and counts them.
fn cut_rows(diff: &mut Diff, options: &DiffOptions) {
    let recorded = (diff.old.total, diff.new.total);
    // Without a test, rows are in the order of what they cost if that is known at all.
    let is_ordered = diff.untestable.is_some() && diff.rows.iter().any(|row| row.ratio.is_some());
    let mut rows = Rows::of_diff(diff);
    rows.keep(|row| is_heavy(row, options.min_share / 100.0, recorded));
    rows.limit_others(options.others.unwrap_or(usize::MAX), is_ordered);
    rows.limit(options.limit.unwrap_or(usize::MAX));
}

/// Leaves out all rows but the first `limit`, and counts those left out.
pub fn limit_rows(diff: &mut Diff, limit: usize) {
    Rows::of_diff(diff).limit(limit);
}

/// Why the sides were not rescaled.
fn no_scale(scale: Scale) -> Option<String> {
    match scale {
        Scale::Known => None,
        Scale::TooFew => {
            Some("too few functions have enough samples on both sides to compare what they cost".to_string())
        }
        Scale::Uncertain(factor) => Some(format!(
            "how much unchanged code costs on each side is known only within a factor of {factor:.2} up or down"
        )),
    }
}

/// How much functions of all sizes changed, if that is more than runs of one program do.
fn too_noisy(comparison: &Comparison) -> Option<f64> {
    let is_noisy = comparison.is_bulk_too_noisy();
    comparison.model.as_ref().filter(|_| is_noisy).map(|model| model.noise().1)
}

fn doubt(comparison: &Comparison) -> Option<Doubt> {
    comparison.model.as_ref()?.doubt
}

/// Why the code that costs are relative to may not be unchanged.
fn doubtful_core(
    subject: &Subject<'_>,
    old: &SideTotals,
    comparison: Option<&Comparison>,
) -> Option<DoubtfulCore> {
    let doubt = comparison.and_then(doubt)?;
    Some(DoubtfulCore {
        function: subject.keys.name(KeyId::new(doubt.function)).clone(),
        share: old.self_value[doubt.function] as f64 / old.recorded as f64 * 100.0,
        ratio: doubt.ratio,
        by_most: doubt.by_most,
    })
}

fn overall(made: &rows::DiffRows, suffices: bool, is_doubtful: bool) -> DiffVerdict {
    match (made.regressed, made.improved) {
        (1.., _) => DiffVerdict::Regressed,
        (0, _) if is_doubtful => DiffVerdict::Inconclusive,
        (0, 1..) => DiffVerdict::Improved,
        (0, 0) if suffices => DiffVerdict::None,
        (0, 0) => DiffVerdict::Inconclusive,
    }
}

/// The noise between runs, if there is enough to estimate it from.
fn estimated_noise(comparison: &Comparison) -> Option<DiffNoise> {
    let (phi, tau) = comparison.model.as_ref()?.noise();
    Some(DiffNoise { phi, tau })
}

/// The ratio by which the share of unchanged code changed. Where nothing could be tested, no code is known to be unchanged,
/// but given amounts of work, or runs, still say how the sides compare.
fn core_ratio(
    comparison: Option<&Comparison>,
    normalize: Normalization,
    sides: &DiffSides,
    [old, new]: [&SideTotals; 2],
) -> f64 {
    let per = |old_work: f64, new_work: f64| {
        let ratio = (old.compared / old_work) / (new.compared / new_work);
        if ratio.is_finite() && ratio > 0.0 { ratio } else { 1.0 }
    };
    match (comparison.filter(|comparison| comparison.model.is_some()), normalize) {
        (Some(comparison), _) => comparison.core_ratio(),
        (None, Normalization::Run) => per(sides.old.profiles as f64, sides.new.profiles as f64),
        (None, Normalization::Per { old, new }) => per(old, new),
        (None, _) => 1.0,
    }
}

fn header(
    subject: &Subject<'_>,
    sides: &DiffSides,
    comparison: Option<&Comparison>,
    mix: Option<&Mix<'_>>,
    options: &DiffOptions,
) -> Header {
    let profile = subject.profile;
    let new = sides.old.profiles..sides.old.profiles + sides.new.profiles;
    let by_total = mix.map_or_else(
        || sides.new.total as f64 / sides.old.total as f64,
        |mix| mix.by_total(sides.old.profiles),
    );
    // Exact ratios are computed directly, without the rounding of the logarithms that the statistics
    // use.
    let ratio = match (comparison, options.test.normalize) {
        (_, Normalization::Per { old, new }) => new / old,
        (_, Normalization::Run) => sides.new.profiles as f64 / sides.old.profiles as f64,
        (Some(comparison), Normalization::Core) => comparison.core_ratio() * by_total,
        _ => by_total,
    };
    Header {
        schema: "prof.diff.v1",
        metric: metric_name(profile, 0),
        total: sides.new.total,
        shown: new.clone().map(|metric| profile.shown_total(metric)).sum(),
        no_stack: subject.no_stack()[new].iter().sum(),
        profiles: (sides.old.profiles + sides.new.profiles) as u32,
        warnings: warnings_of(profile).collect(),
        normalize: Some(Rescaling {
            method: normalization_name(options.test.normalize),
            ratio: if ratio.is_finite() && ratio > 0.0 { ratio } else { 1.0 },
            reason: comparison.and_then(|comparison| no_scale(comparison.model.as_ref()?.scale)),
        }),
        by: grouping(&options.by),
        ..Header::default()
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;
    use crate::profile::from_notation;
    use crate::report::{DiffRow, RowTest, RowVerdict};
    use crate::tree::By;

    #[test]
    fn the_sum_of_a_side_is_made_once_however_many_functions_there_are() {
        const FUNCTIONS: usize = 3_000;
        let side = |count: usize| {
            let mut picture = String::new();
            for function in 0..FUNCTIONS {
                writeln!(picture, "main;f{function} {}", 1 + (function + count) % 7).unwrap();
            }
            from_notation(&picture)
        };
        let (old, new) = (side(0), side(1));
        let (whole, size) = align_sides(&[(&old, 0), (&new, 0)], LoadOptions::default()).unwrap();
        let one = DiffSide { profiles: 1, ..DiffSide::default() };
        let sides = DiffSides::new(one.clone(), one, size);
        totals::ADDED.set(0);
        let diff = diff(&whole, sides, &DiffOptions::new(By::Function)).unwrap();
        assert!(diff.rows.len() > FUNCTIONS, "{}", diff.rows.len());
        // Both sides, each including `main` and the function without a name.
        assert_eq!(totals::ADDED.get(), 2 * (FUNCTIONS + 2));
    }

    #[test]
    fn of_negative_values_shares_are_compared() {
        let [old, new] = ["a;b 5\na;c -5", "a;b -5\na;c -8"].map(from_notation);
        let (whole, size) = align_sides(&[(&old, 0), (&new, 0)], LoadOptions::default()).unwrap();
        assert!(whole.meta.notes[0].contains("are negative"), "{:?}", whole.meta.notes);
        let one = DiffSide { profiles: 1, ..DiffSide::default() };
        let sides = DiffSides::new(one.clone(), one, size);
        let diff = diff(&whole, sides, &DiffOptions::new(By::Function)).unwrap();
        let row = |row: &DiffRow| (row.name.to_string(), row.points.round() as i64, row.verdict);
        let rows: Vec<_> = diff.rows.iter().map(row).collect();
        // 5 of 10 and -5 of 13.
        let expected = [("a", -100), ("b", -88), ("c", -12)];
        let expected = expected.map(|(name, points)| (name.to_string(), points, RowVerdict::Unchanged));
        assert_eq!(rows, expected);
    }

    #[test]
    fn rows_are_counted_as_left_out_whenever_they_are() {
        let side = |a: i64| from_notation(&format!("main;a {a}\nmain;b 900\nmain;c 900\nmain;d 3"));
        let (whole, size) =
            align_sides(&[(&side(900), 0), (&side(1800), 0)], LoadOptions::default()).unwrap();
        let one = DiffSide { profiles: 1, ..DiffSide::default() };
        let compared = |limit| {
            let sides = DiffSides::new(one.clone(), one.clone(), size);
            diff(&whole, sides, &DiffOptions { limit, ..DiffOptions::new(By::Function) }).unwrap()
        };
        let counted = |diff: &Diff| {
            let names: Vec<String> = diff.rows.iter().map(|row| row.name.to_string()).collect();
            (names, diff.header.elided, diff.header.elided_rows, diff.elided_tested)
        };
        let mut later = compared(None);
        assert_eq!((later.header.elided, later.header.elided_rows), (0, 0));
        let all = later.rows.len();
        limit_rows(&mut later, 2);
        assert_eq!(counted(&later), counted(&compared(Some(2))));
        let own: i64 = later
            .rows
            .iter()
            .filter(|row| row.test == RowTest::SelfCount)
            .map(|row| row.new.self_value)
            .sum();
        assert_eq!(
            (later.header.elided_rows, later.header.elided),
            (all as u64 - 2, 1800 + 900 + 900 + 3 - own)
        );
    }
}
