//! Properties of all comparisons, with random counts.

use crate::support::has_regression;
use prof::stats::compare::{Comparison, compare};
use prof::stats::detect::{Sensitivity, detectable_ratio, samples_needed, samples_needed_per_run};
use prof::stats::distributions::binomial_mid_p;
use prof::stats::effective::{CommonDivisor, agrees_with_period, are_multiples, heap_row, heap_unit};
use prof::stats::{
    Incomparable, Noise, Normalization, ProfileCounts, SampleCounts, SampleUnit, TestOptions, Verdict,
};
use proptest::prelude::*;

/// A count of any size, often zero.
fn count() -> impl Strategy<Value = f64> {
    prop_oneof![
        3 => Just(0.0),
        4 => (0_u32..50).prop_map(f64::from),
        4 => (0_u32..100_000).prop_map(f64::from),
        1 => (0_u64..1_000_000_000_000_000).prop_map(|count| count as f64),
        1 => Just(1e15),
        1 => 0.0..5.0_f64,
    ]
}

/// A profile of `functions` functions, in which every third one also calls the next.
fn profile(functions: usize) -> impl Strategy<Value = ProfileCounts> {
    prop::collection::vec(count(), functions).prop_map(|self_counts| {
        let called =
            |i: usize| if i.is_multiple_of(3) { self_counts.get(i + 1).copied().unwrap_or(0.0) } else { 0.0 };
        let total_counts = self_counts.iter().enumerate().map(|(i, own)| own + called(i)).collect();
        ProfileCounts { self_counts, total_counts }
    })
}

fn any_counts() -> impl Strategy<Value = SampleCounts> {
    (0_usize..30, 1_usize..6, 1_usize..6).prop_flat_map(|(functions, old, new)| {
        let side = |profiles| prop::collection::vec(profile(functions), profiles);
        (side(old), side(new)).prop_map(|(old, new)| SampleCounts {
            old,
            new,
            sample_unit: SampleUnit::Samples,
        })
    })
}

fn any_options() -> impl Strategy<Value = TestOptions> {
    let noise = prop_oneof![Just(Noise::Auto), Just(Noise::Steady), (0.0..0.5_f64).prop_map(Noise::Fixed)];
    let normalize = prop_oneof![
        Just(Normalization::Core),
        Just(Normalization::Total),
        Just(Normalization::Run),
        (1e-9..1e9_f64, 1e-9..1e9_f64).prop_map(|(old, new)| Normalization::Per { old, new }),
    ];
    let functions = prop::option::of(prop::collection::vec(0_usize..40, 0..5));
    (noise, normalize, functions, 0.0..0.1_f64).prop_map(|(noise, normalize, functions, min_tested)| {
        TestOptions { noise, normalize, functions, min_tested, ..TestOptions::default() }
    })
}

/// Checks that all results are finite numbers.
fn is_sound(comparison: &Comparison) -> Result<(), TestCaseError> {
    for row in &comparison.hypotheses {
        let shown = [row.old, row.new, row.old_share, row.new_share, row.log_ratio, row.standard_error];
        let shown = shown.into_iter().chain([row.points, row.noise_factor]);
        let shown = shown.chain([row.ratio, row.ratio_low, row.ratio_high].into_iter().flatten());
        prop_assert!(shown.clone().all(f64::is_finite), "{row:?}");
        for evidence in [row.increase, row.decrease] {
            prop_assert!((0.0..=1.0).contains(&evidence.p) && (0.0..=1.0).contains(&evidence.q), "{row:?}");
        }
    }
    if let Some(model) = &comparison.model {
        let (phi, tau) = model.noise();
        let fit = [model.location, model.location_variance, phi, tau, model.expected_share()];
        prop_assert!(fit.into_iter().all(f64::is_finite), "{model:?}");
        prop_assert!(!model.freedom.is_nan());
    }
    let sensitivity = Sensitivity::of(comparison);
    let found = sensitivity.and_then(|sensitivity| detectable_ratio(0.1, &sensitivity));
    prop_assert!(found.is_none_or(|ratio| ratio.is_finite() && ratio >= 1.0));
    let needed = sensitivity.and_then(|sensitivity| samples_needed(0.1, 1.2, &sensitivity));
    prop_assert!(needed.is_none_or(|samples| samples.is_finite() && samples > 0.0));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_comparison_is_finite(counts in any_counts(), options in any_options()) {
        is_sound(&compare(&counts, &options).unwrap())?;
    }

    #[test]
    fn any_unit_is_finite(
        counts in any_counts(), options in any_options(),
        units in prop::collection::vec(prop_oneof![1e-3..1e12_f64, Just(1.0)], 60),
    ) {
        let functions = counts.old[0].self_counts.len();
        let self_units = units[..functions].to_vec();
        let total_units = units[30..30 + functions].to_vec();
        let counts = SampleCounts { sample_unit: SampleUnit::PerFunction { self_units, total_units }, ..counts };
        is_sound(&compare(&counts, &options).unwrap())?;
    }

    #[test]
    fn an_unknown_unit_is_estimated_or_rejected(counts in any_counts(), options in any_options()) {
        let one_pair = counts.old.len() + counts.new.len() == 2;
        match compare(&SampleCounts { sample_unit: SampleUnit::Unknown, ..counts }, &options) {
            Ok(comparison) => is_sound(&comparison)?,
            Err(error) => prop_assert!(one_pair && error == Incomparable::NeedsReplicates),
        }
    }

    #[test]
    fn equal_sides_do_not_differ(counts in any_counts(), options in any_options()) {
        let counts = SampleCounts { new: counts.old.clone(), ..counts };
        // With explicit amounts of work that differ, equal profiles do differ.
        let normalize = match options.normalize {
            Normalization::Per { old, .. } => Normalization::Per { old, new: old },
            other => other,
        };
        let comparison = compare(&counts, &TestOptions { normalize, ..options }).unwrap();
        for row in &comparison.hypotheses {
            prop_assert_eq!(row.verdict, Verdict::Unchanged);
            prop_assert!(row.log_ratio.abs() < 1e-9 && row.points.abs() < 1e-9);
        }
    }

    #[test]
    fn swapping_the_sides_mirrors_the_result(counts in any_counts(), options in any_options()) {
        // With ties, the bulk found is not symmetric in the sides; shares do not use a bulk.
        let options = TestOptions { normalize: Normalization::Total, ..options };
        let there = compare(&counts, &options).unwrap();
        let back = compare(&SampleCounts { old: counts.new, new: counts.old, sample_unit: SampleUnit::Samples }, &options).unwrap();
        prop_assert_eq!(there.hypotheses.len(), back.hypotheses.len());
        for (there, back) in there.hypotheses.iter().zip(&back.hypotheses) {
            prop_assert_eq!((there.function, there.measure), (back.function, back.measure));
            prop_assert!((there.log_ratio + back.log_ratio).abs() <= 1e-12 * there.log_ratio.abs().max(1.0));
            prop_assert!((there.points + back.points).abs() <= 1e-12);
        }
    }

    #[test]
    fn a_tail_is_a_decreasing_probability(
        new in count(), old in count(), more in 0.0..1e4_f64, share in 0.0..=1.0_f64,
    ) {
        let p = binomial_mid_p(new, old, share);
        prop_assert!((0.0..=1.0).contains(&p));
        if new + old > 0.0 {
            // The saddle-point approximation is accurate to 1% if one side has only about one sample, so allow for that.
            prop_assert!(binomial_mid_p(new + more, old, share) <= p * 1.03 + 1e-6);
        }
    }

    #[test]
    fn heap_rows_are_finite(objects in count(), bytes in count(), rate in count()) {
        let row = heap_row(objects, bytes, rate);
        prop_assert!(row.records.is_finite() && row.bytes_variance.is_finite() && row.records >= 0.0);
        let unit = heap_unit(bytes, row.bytes_variance);
        prop_assert!(unit > 0.0 && unit.is_finite());
    }

    #[test]
    fn a_divisor_divides(weights in prop::collection::vec(any::<i64>(), 0..40)) {
        if let Some(divisor) = CommonDivisor::of(weights.clone()).divisor() {
            prop_assert!(weights.iter().all(|weight| weight.unsigned_abs() % divisor == 0));
        }
        are_multiples(weights.clone(), 7);
        agrees_with_period(weights.into_iter().map(|weight| (weight, weight)), 7);
    }
}

fn leaves(counts: &[f64]) -> Vec<ProfileCounts> {
    vec![ProfileCounts { self_counts: counts.to_vec(), total_counts: counts.to_vec() }]
}

#[test]
fn unusable_input_is_rejected() {
    let compare = |old: &[f64], new: &[f64], options: TestOptions| {
        compare(
            &SampleCounts { old: leaves(old), new: leaves(new), sample_unit: SampleUnit::Samples },
            &options,
        )
    };
    let plain = TestOptions::default;
    assert_eq!(compare(&[1.0], &[1.0, 2.0], plain()), Err(Incomparable::Shape));
    assert_eq!(compare(&[-1.0], &[1.0], plain()), Err(Incomparable::Count(-1.0)));
    assert!(matches!(compare(&[f64::NAN], &[1.0], plain()), Err(Incomparable::Count(_))));
    let per = TestOptions { normalize: Normalization::Per { old: 0.0, new: 1.0 }, ..plain() };
    assert!(matches!(compare(&[1.0], &[1.0], per), Err(Incomparable::Option(..))));
    let alpha = TestOptions { alpha: 1.0, ..plain() };
    assert_eq!(compare(&[1.0], &[1.0], alpha), Err(Incomparable::Option("alpha", 1.0)));
    assert!(compare(&[], &[], plain()).unwrap().hypotheses.is_empty());
    assert!(compare(&[0.0], &[5.0], plain()).unwrap().hypotheses.is_empty());
}

#[test]
fn alpha_is_divided_among_the_selected_functions_only() {
    let old = leaves(&[300.0, 220.0, 150.0, 120.0, 80.0, 60.0, 45.0, 30.0, 25.0, 20.0]);
    let new = leaves(&[290.0, 320.0, 160.0, 110.0, 85.0, 55.0, 50.0, 28.0, 27.0, 18.0]);
    let counts = SampleCounts { old, new, sample_unit: SampleUnit::Samples };
    let all = compare(&counts, &TestOptions::default()).unwrap();
    let named =
        compare(&counts, &TestOptions { functions: Some(vec![1]), ..TestOptions::default() }).unwrap();
    assert_eq!((named.hypotheses.len(), named.tested), (1, 1));
    let (alone, among) = (named.hypotheses[0].increase, all.hypotheses[1].increase);
    assert!((alone.p - among.p).abs() < 1e-15 && (alone.q - alone.p).abs() < 1e-15);
    assert!((among.q - 10.0 * alone.q).abs() < 1e-12);
}

#[test]
fn exact_work_shows_a_uniform_slow_down() {
    let old: Vec<f64> = (1..20).map(|i| f64::from(i) * 1000.0).collect();
    let new: Vec<f64> = old.iter().map(|count| count * 1.5).collect();
    let counts = SampleCounts { old: leaves(&old), new: leaves(&new), sample_unit: SampleUnit::Samples };
    let with = |normalize| {
        compare(&counts, &TestOptions { normalize, noise: Noise::Fixed(0.03), ..TestOptions::default() })
    };
    assert!(!has_regression(&with(Normalization::Core).unwrap()));
    let per = with(Normalization::Per { old: 100.0, new: 100.0 }).unwrap();
    assert!(has_regression(&per));
    assert!((per.hypotheses[18].ratio.unwrap() - 1.5).abs() < 1e-3);
    // Of the old total, the largest function held a tenth and grew by half of that.
    assert!((per.hypotheses[18].points - 0.05).abs() < 1e-9);
    assert!(has_regression(&with(Normalization::Run).unwrap()));
}

#[test]
fn an_estimated_unit_is_that_of_independent_samples() {
    // Samples of 10 ms, drawn with a fixed generator, in nanoseconds.
    let mut state = 1_u64;
    let mut noise = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / (1_u64 << 24) as f64 - 0.5
    };
    let mut profile = || {
        // A uniform variable of variance 1 is √12 wide.
        let counts: Vec<f64> = (1..40)
            .map(|i| 1e7 * (f64::from(i * 50) + noise() * (f64::from(i * 50) * 12.0).sqrt()).round())
            .collect();
        ProfileCounts { self_counts: counts.clone(), total_counts: counts }
    };
    let counts = SampleCounts {
        old: (0..10).map(|_| profile()).collect(),
        new: (0..10).map(|_| profile()).collect(),
        sample_unit: SampleUnit::Unknown,
    };
    let comparison = compare(&counts, &TestOptions::default()).unwrap();
    assert!((0.5e7..2e7).contains(&comparison.unit), "{}", comparison.unit);
    assert!(!has_regression(&comparison));
}

#[test]
fn sample_sizes_from_weights() {
    let ten_ms = 10_000_000_i64;
    let weights: Vec<i64> = (1..30).map(|i| i * ten_ms).collect();
    let common = CommonDivisor::of(weights.iter().copied().chain([0]));
    assert_eq!((common.divisor(), common.is_sample_size()), (Some(10_000_000), true));
    // Eighteen samples that were merged into one row look like a single sample of 180 ms.
    let one = CommonDivisor::of([18 * ten_ms]);
    assert_eq!((one.divisor(), one.is_sample_size()), (Some(180_000_000), false));
    assert_eq!(CommonDivisor::of([]).divisor(), None);
    assert!(are_multiples(weights.clone(), ten_ms) && !are_multiples([5], ten_ms) && !are_multiples([5], 0));
    assert!(agrees_with_period([(3, 30), (1, 10)], 10) && !agrees_with_period([(3, 31)], 10));
}

#[test]
fn samples_needed_is_the_inverse_of_the_detectable_ratio() {
    let sensitivity = Sensitivity { tests: 60, ..Sensitivity::pure_sampling(10_000.0, 10_000.0) };
    let ratio = detectable_ratio(0.1, &sensitivity).unwrap();
    assert!((samples_needed(0.1, ratio, &sensitivity).unwrap() - 10_000.0).abs() < 0.01);
    // ×1.2 at 10 %: about 12,300 samples in one pair of profiles, or five runs of 3,300.
    assert!((samples_needed(0.1, 1.2, &sensitivity).unwrap() - 12_300.0).abs() < 100.0);
    assert!((samples_needed_per_run(0.1, 1.2, 5, &sensitivity).unwrap() - 3_300.0).abs() < 100.0);
    // If costs vary by 10% from run to run, longer runs do not make a change of 20% detectable.
    assert_eq!(samples_needed(0.1, 1.2, &Sensitivity { run_to_run: 0.1, ..sensitivity }), None);
}
