//! `diff`: what changed between two sides, and whether it is noise.

mod budget;
mod rows;
mod sample_size;
mod stacks;

use crate::profile::{Column, Id, LoadOptions, Profile};
use crate::report::{
    About, Detectable, Diff, DiffAbout, DiffNoise, DiffSide, DiffVerdict, Header, Normalize,
};
use crate::stats::attribution::attribute;
use crate::stats::compare::{Comparison, compare};
use crate::stats::detect::{Sensitivity, detectable_ratio, samples_needed, samples_needed_per_run};
use crate::stats::effective::heap_unit;
use crate::stats::{Incomparable, ProfileCounts, SampleCounts, SampleUnit, TestOptions};
use crate::transform::{AlignError, Marks, ProfileMetric, align};
use crate::tree::{By, Flat, KeyId, Subject, flat};
use crate::view::diff::rows::{COUNTLESS, RowBuilder};
use crate::view::diff::stacks::CountedStacks;
use crate::view::metric_name;

pub use budget::{BudgetLimit, BudgetRule};
pub use sample_size::{SampleSize, is_sampled_heap};
use sample_size::{heap_variances, sample_size};

/// Options for [`diff()`].
#[derive(Clone, Debug)]
pub struct DiffOptions {
    /// What to group frames by.
    pub by: By,
    /// How strict the test is. Its own `functions` are ignored in favour of those below.
    pub test: TestOptions,
    /// The functions to test; `None` for all.
    pub functions: Option<Marks>,
    /// The cost ratio that should be detectable for a function with a 10 % share; otherwise, finding
    /// nothing means little.
    pub wanted_ratio: f64,
    /// Whether too little evidence has an exit code of its own.
    pub strict: bool,
    /// The maximum number of rows; `None` for all.
    pub limit: Option<usize>,
    /// Rows with a smaller share on both sides are cut, in percent.
    pub min_share: f64,
    /// The maximum costs on the new side.
    pub budgets: Vec<BudgetRule>,
}

/// The sides of a profile with one column per input, the old ones first.
#[derive(Clone, Debug)]
pub struct DiffSides {
    /// The inputs of the old side.
    pub old: DiffSide,
    /// The inputs of the new side.
    pub new: DiffSide,
    /// How much of the metric makes one sample.
    pub size: SampleSize,
}

/// Exit code if a check failed.
const FAILED: u8 = 1;
/// Exit code if there is too little evidence.
const TOO_LITTLE: u8 = 3;
/// The share of the example function in messages about what is detectable.
const TYPICAL_SHARE: f64 = 0.1;
/// The shares for which detectable ratios are reported.
const SHARES: [f64; 5] = [0.01, 0.02, 0.05, TYPICAL_SHARE, 0.2];
/// The number of runs per side that messages suggest.
const RUNS: usize = 5;

impl DiffOptions {
    /// All functions, tested with the default strictness.
    pub fn new(by: By) -> Self {
        DiffOptions {
            by,
            test: TestOptions::default(),
            functions: None,
            wanted_ratio: 1.2,
            strict: false,
            limit: None,
            min_share: 0.0,
            budgets: Vec::new(),
        }
    }
}

/// Aligns profiles for [`diff()`], each given with the number of its metric, the old ones first. Also
/// returns how much of the metric makes one sample. `keep` lists the labels and times that filters need.
/// Fails like [`crate::transform::align`].
pub fn align_sides(
    profiles: &[(&Profile, usize)],
    keep: LoadOptions,
) -> Result<(Profile, SampleSize), AlignError> {
    let heap = heap_variances(profiles);
    let extra = |number: usize| heap.as_ref().map(|heap| heap.rows[number].as_slice());
    let parts: Vec<ProfileMetric<'_>> = profiles
        .iter()
        .enumerate()
        .map(|(number, &(profile, metric))| ProfileMetric { profile, metric, extra: extra(number) })
        .collect();
    let mut whole = align(&parts, keep)?;
    if let Some(heap) = heap {
        return Ok((whole, SampleSize::ByVariance(heap.scale)));
    }
    let (size, note) = sample_size(profiles, &whole);
    whole.meta.warnings.extend(note);
    Ok((whole, size))
}

/// Compares the two sides of `profile`. Fails if an option is out of range.
pub fn diff(profile: &Profile, sides: DiffSides, options: &DiffOptions) -> Result<Diff, Incomparable> {
    let count = sides.old.profiles + sides.new.profiles;
    let columns: Vec<usize> = (0..profile.meta.metrics.len()).collect();
    let subject = Subject::new(profile, &options.by, &columns);
    let counted = flat(&subject);
    let (comparison, untestable) = test(&subject, &counted, &sides, options)?;

    let (old, new) = (0..sides.old.profiles, sides.old.profiles..count);
    let (old, new) = (SideTotals::new(profile, &counted, old), SideTotals::new(profile, &counted, new));
    // The values of all inputs have been converted to the finest of their units.
    let sides = DiffSides {
        old: DiffSide { total: old.recorded, ..sides.old },
        new: DiffSide { total: new.recorded, ..sides.new },
        ..sides
    };
    check_common(&old, &new, &options.by)?;
    let made = RowBuilder {
        subject: &subject,
        old: &old,
        new: &new,
        comparison: comparison.as_ref(),
        options,
        new_series: sides.old.profiles..count,
    }
    .build();
    let sensitivity = comparison.as_ref().and_then(Sensitivity::of);
    let seen = |share: f64| sensitivity.as_ref().and_then(|sensitivity| detectable_ratio(share, sensitivity));
    let suffices = seen(TYPICAL_SHARE).is_some_and(|ratio| ratio <= options.wanted_ratio);
    let budgets: Vec<_> = options
        .budgets
        .iter()
        .map(|rule| budget::check(rule, &subject, sides.old.profiles..count, sides.new.total))
        .collect();
    let verdict = overall(&made, suffices);
    let failed = verdict == DiffVerdict::Regressed || budgets.iter().any(|budget| budget.exceeded);
    let pure = sensitivity.map(|sensitivity| Sensitivity {
        tests: sensitivity.tests,
        alpha: sensitivity.alpha,
        ..Sensitivity::pure_sampling(sensitivity.old_samples, sensitivity.new_samples)
    });
    let about = DiffAbout {
        core_ratio: comparison.as_ref().map_or(1.0, Comparison::core_ratio),
        alpha: options.test.alpha,
        min_effect: options.test.min_effect,
        min_points: options.test.min_points * 100.0,
        named: options.functions.is_some(),
        untestable,
        wanted_ratio: options.wanted_ratio,
        samples_needed: pure
            .as_ref()
            .and_then(|sensitivity| samples_needed(TYPICAL_SHARE, options.wanted_ratio, sensitivity)),
        samples_needed_per_run: pure.as_ref().and_then(|sensitivity| {
            samples_needed_per_run(TYPICAL_SHARE, options.wanted_ratio, RUNS, sensitivity)
        }),
        too_noisy: comparison
            .as_ref()
            .filter(|comparison| comparison.is_bulk_too_noisy())
            .and_then(|comparison| comparison.model.as_ref().map(|model| model.noise().1)),
        shifted: 0,
        cut: made.cut_tested,
        appeared: made.appeared,
        vanished: made.vanished,
        exit: match (failed, options.strict && !suffices) {
            (true, _) => FAILED,
            (false, true) => TOO_LITTLE,
            (false, false) => 0,
        },
    };
    let samples = |side: fn((f64, f64)) -> f64| {
        let model = comparison.as_ref().and_then(|comparison| comparison.model.as_ref());
        let samples = model.map(|model| side(model.samples()).round());
        samples.filter(|&samples| samples < COUNTLESS).map(|samples| samples as i64)
    };
    Ok(Diff {
        header: header(&subject, &sides, comparison.as_ref(), options, &made),
        noise: comparison.as_ref().and_then(|comparison| comparison.model.as_ref()).map(|model| {
            let (phi, tau) = model.noise();
            DiffNoise { phi, tau }
        }),
        tested: comparison.as_ref().map_or(0, |comparison| comparison.tested),
        verdict,
        regressed: made.regressed,
        improved: made.improved,
        detectable: if sensitivity.is_some() {
            SHARES.map(|share| Detectable { share, ratio: seen(share) }).to_vec()
        } else {
            Vec::new()
        },
        folded: Vec::new(),
        matched: Vec::new(),
        budgets,
        old: DiffSide { samples: samples(|both| both.0), ..sides.old },
        new: DiffSide { samples: samples(|both| both.1), ..sides.new },
        rows: made.rows,
        about,
    })
}

/// Runs the tests, or returns the reason why there are none.
fn test(
    subject: &Subject<'_>,
    counted: &Flat,
    sides: &DiffSides,
    options: &DiffOptions,
) -> Result<(Option<Comparison>, Option<String>), Incomparable> {
    let size = match sides.size {
        SampleSize::Known(size) => size as f64,
        SampleSize::ByVariance(_) | SampleSize::Unknown => 1.0,
    };
    let count = sides.old.profiles + sides.new.profiles;
    let mut sampled: Vec<ProfileCounts> = (0..count)
        .map(|series| ProfileCounts {
            self_counts: counted.self_value[series].iter().map(|&value| value as f64 / size).collect(),
            total_counts: counted.total[series].iter().map(|&value| value as f64 / size).collect(),
        })
        .collect();
    let sample_unit = match sides.size {
        SampleSize::Known(_) => SampleUnit::Samples,
        SampleSize::ByVariance(scale) => units(&sampled, counted, count, scale),
        SampleSize::Unknown => SampleUnit::Unknown,
    };
    let functions = options.functions.as_ref().map(|marks| {
        let frames = subject.profile.symbols.frames.ids().filter(|&frame| marks.contain(frame));
        let mut keys: Vec<usize> = frames.map(|frame| subject.keys.of_frame(frame).index()).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    });
    let new = sampled.split_off(sides.old.profiles);
    let counts = SampleCounts { old: sampled, new, sample_unit };
    match compare(&counts, &TestOptions { functions, ..options.test.clone() }) {
        Ok(mut comparison) => {
            attribute(&mut comparison, &CountedStacks::new(subject, sides.old.profiles, count, size));
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

/// The sums over all profiles of a side.
struct SideTotals {
    /// The self of every function.
    self_value: Vec<i64>,
    /// The total of every function.
    total: Vec<i64>,
    /// Σ |value| of all samples, before filters: displayed shares are relative to this.
    recorded: i64,
    /// The sum of `self_value`: the statistics compare fractions of this.
    compared: f64,
}

impl SideTotals {
    fn new(profile: &Profile, counted: &Flat, series: std::ops::Range<usize>) -> Self {
        let sum = |columns: &[Column<KeyId, i64>]| {
            let mut sums = vec![0; columns.first().map_or(0, Column::len)];
            for column in columns {
                for (sum, value) in sums.iter_mut().zip(column) {
                    *sum += value;
                }
            }
            sums
        };
        let self_value = sum(&counted.self_value[series.clone()]);
        SideTotals {
            compared: add_up(&self_value),
            self_value,
            total: sum(&counted.total[series.clone()]),
            recorded: profile.meta.metrics[series].iter().map(|metric| metric.total).sum(),
        }
    }
}

/// Refuses to compare different programs: nearly all of their code would be gone on the one side and new on the other,
/// and what little has the same name would pass for the unchanged code that costs are relative to.
fn check_common(old: &SideTotals, new: &SideTotals, by: &By) -> Result<(), Incomparable> {
    let has_names = matches!(by, By::Function | By::Name);
    let functions = |side: &SideTotals| side.self_value.iter().filter(|&&value| value > 0).count();
    if !has_names || functions(old).min(functions(new)) < FEWEST_TO_COMPARE {
        return Ok(());
    }
    let common = |side: &SideTotals| {
        let both = side.self_value.iter().zip(&old.self_value).zip(&new.self_value);
        let both = both.filter(|((_, old), new)| **old > 0 && **new > 0).map(|((value, _), _)| *value as f64);
        both.fold(0.0, |sum, value| sum + value) / side.compared
    };
    let (of_old, of_new) = (common(old), common(new));
    if of_old.min(of_new) < LEAST_COMMON {
        Err(Incomparable::NothingInCommon(of_old, of_new))
    } else {
        Ok(())
    }
}

/// Sides with fewer functions than this may have nothing in common.
const FEWEST_TO_COMPARE: usize = 20;
/// The part of each side, from 0 to 1, that must be in functions that both sides have.
const LEAST_COMMON: f64 = 0.05;

/// The sum of the values of all functions. With a hundred thousand functions it must be computed once,
/// not once per row.
fn add_up(values: &[i64]) -> f64 {
    #[cfg(test)]
    tests::ADDED.with(|added| added.set(added.get() + values.len()));
    values.iter().map(|&value| value as f64).fold(0.0, |sum, value| sum + value)
}

fn overall(made: &rows::DiffRows, suffices: bool) -> DiffVerdict {
    match (made.regressed, made.improved) {
        (1.., _) => DiffVerdict::Regressed,
        (0, 1..) => DiffVerdict::Improved,
        (0, 0) if suffices => DiffVerdict::None,
        (0, 0) => DiffVerdict::Inconclusive,
    }
}

fn header(
    subject: &Subject<'_>,
    sides: &DiffSides,
    comparison: Option<&Comparison>,
    options: &DiffOptions,
    made: &rows::DiffRows,
) -> Header {
    let profile = subject.profile;
    let new = sides.old.profiles..sides.old.profiles + sides.new.profiles;
    let by_total = sides.new.total as f64 / sides.old.total as f64;
    // Exact ratios are computed directly, without the rounding of the logarithms that the statistics
    // use.
    let ratio = match (comparison, options.test.normalize) {
        (_, crate::stats::Normalization::Per { old, new }) => new / old,
        (_, crate::stats::Normalization::Run) => sides.new.profiles as f64 / sides.old.profiles as f64,
        (Some(comparison), crate::stats::Normalization::Core) => comparison.core_ratio() * by_total,
        _ => by_total,
    };
    Header {
        schema: "prof.diff.v1",
        metric: metric_name(profile, 0),
        total: sides.new.total,
        shown: new.clone().map(|metric| profile.shown_total(metric)).sum(),
        no_stack: subject.no_stack()[new].iter().sum(),
        profiles: (sides.old.profiles + sides.new.profiles) as u32,
        elided: made.cut_value,
        elided_rows: made.cut,
        warnings: profile.meta.warnings.clone(),
        normalize: Some(Normalize {
            method: method(&options.test.normalize),
            ratio: if ratio.is_finite() && ratio > 0.0 { ratio } else { 1.0 },
        }),
        about: About { noun: options.by.noun(), ..About::default() },
        ..Header::default()
    }
}

fn method(normalize: &crate::stats::Normalization) -> &'static str {
    match normalize {
        crate::stats::Normalization::Core => "core",
        crate::stats::Normalization::Total => "total",
        crate::stats::Normalization::Per { .. } => "per",
        crate::stats::Normalization::Run => "none",
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fmt::Write;

    use super::*;
    use crate::profile::from_notation;

    thread_local! {
        /// The number of values that [`add_up`] has added up.
        pub(super) static ADDED: Cell<usize> = const { Cell::new(0) };
    }

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
        let sides = DiffSides { old: one.clone(), new: one, size };
        ADDED.set(0);
        let diff = diff(&whole, sides, &DiffOptions::new(By::Function)).unwrap();
        assert!(diff.rows.len() > FUNCTIONS, "{}", diff.rows.len());
        // Both sides, each including `main` and the function without a name.
        assert_eq!(ADDED.get(), 2 * (FUNCTIONS + 2));
    }
}
