//! The statistics of series: steps and rises against plain reimplementations, published series, and simulated ones.

use std::fs;

use prof::stats::random::Random;
use prof::stats::rise::{concordance, rise, rise_p};
use prof::stats::scales::unchanged;
use prof::stats::steps::{StepSearch, best_split, energies, kept, kept_by_most, large_steps, levels, steps};
use proptest::prelude::*;

use crate::support::fixture;
use crate::support::series::Normal;

/// The energy of each split, straight from its definition.
fn plain_energies(values: &[f64]) -> Vec<f64> {
    let mean = |pairs: Vec<f64>| pairs.iter().sum::<f64>() / pairs.len() as f64;
    let within = |part: &[f64]| {
        mean((0..part.len()).flat_map(|i| (0..i).map(move |j| (part[i] - part[j]).abs())).collect())
    };
    let of_split = |at: usize| {
        let (first, second) = values.split_at(at);
        if first.len() < 2 || second.len() < 2 {
            return 0.0;
        }
        let between = mean(first.iter().flat_map(|a| second.iter().map(move |b| (a - b).abs())).collect());
        let (n, m) = (first.len() as f64, second.len() as f64);
        n * m / (n + m) * (2.0 * between - within(first) - within(second))
    };
    (0..values.len()).map(of_split).collect()
}

fn plain_concordance(values: &[f64]) -> i64 {
    let sign = |later: f64, earlier: f64| i64::from(later > earlier) - i64::from(later < earlier);
    (0..values.len()).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| sign(values[i], values[j])).sum()
}

fn series() -> impl Strategy<Value = Vec<f64>> {
    let value = prop_oneof![(0_u32..6).prop_map(f64::from), -1e3..1e3_f64, Just(1e12)];
    prop::collection::vec(value, 0..60)
}

proptest! {
    #[test]
    fn energies_are_those_of_the_definition(values in series()) {
        let (found, expected) = (energies(&values), plain_energies(&values));
        let size = values.iter().fold(1.0_f64, |size, value| size.max(value.abs())) * values.len() as f64;
        for (found, expected) in found.iter().zip(&expected) {
            prop_assert!((found - expected).abs() <= 1e-9 * size, "{found} {expected}");
        }
    }

    #[test]
    fn pairs_are_counted(values in series()) {
        prop_assert_eq!(concordance(&values), plain_concordance(&values));
    }

    #[test]
    fn steps_are_in_order_and_leave_enough_values(values in series()) {
        let search = StepSearch::new(0.05, 1);
        let found = steps(&values, &search);
        let ends: Vec<usize> =
            [0].into_iter().chain(found.iter().map(|step| step.at)).chain([values.len()]).collect();
        prop_assert!(found.is_empty() || ends.windows(2).all(|ends| ends[1] - ends[0] >= search.least));
        prop_assert!(found.iter().all(|step| step.p > 0.0 && step.p <= 0.05));
        // Other units, and another direction, have the same steps.
        let places = |values: &[f64]| steps(values, &search).iter().map(|step| step.at).collect::<Vec<_>>();
        let doubled: Vec<f64> = values.iter().map(|value| -2.0 * value).collect();
        prop_assert_eq!(places(&doubled), places(&values));
    }

    #[test]
    fn rises_are_finite(values in series()) {
        let times: Vec<f64> = (0..values.len()).map(|time| time as f64).collect();
        let p = rise_p(&values, 0.0);
        prop_assert!((0.0..=1.0).contains(&p));
        if let Some(found) = rise(&times, &values, 0.0) {
            let numbers = [found.slope, found.low, found.high, found.first, found.last, found.p];
            prop_assert!(numbers.iter().all(|number| number.is_finite()));
            prop_assert!(found.low <= found.slope && found.slope <= found.high);
            prop_assert!((found.p - p).abs() < 1e-12);
        }
    }

    #[test]
    fn scales_undo_what_all_functions_have_in_common(
        costs in prop::collection::vec(50.0..5000.0_f64, 8..20),
        factors in prop::collection::vec(0.2..5.0_f64, 4..12),
    ) {
        let profiles: Vec<Vec<f64>> =
            factors.iter().map(|factor| costs.iter().map(|cost| cost * factor).collect()).collect();
        for ratio in unchanged(&profiles) {
            prop_assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
        }
    }
}

/// The places of the steps in a series alone, with one false alarm in a hundred series.
fn found(values: &[f64]) -> Vec<usize> {
    steps(values, &StepSearch::new(0.01, 1)).iter().map(|step| step.at).collect()
}

/// A series of levels, each with its length.
fn levels_of(parts: &[(f64, usize)]) -> Vec<f64> {
    parts.iter().flat_map(|&(level, count)| std::iter::repeat_n(level, count)).collect()
}

/// The series and the results that MongoDB's signal-processing-algorithms (tests/test_detection.py,
/// tests/test_algorithm_continuity.py) publishes for its implementation.
#[test]
fn series_of_mongodb() {
    let close =
        |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-7, "{found} {expected}");
    let small = [1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 2.0, 3.0, 3.0, 3.0];
    let published = [2.296_296_3, 3.875, 5.904_761_9, 4.333_333_33, 3.6, 3.416_666_67, 3.809_523_81, 5.25];
    for (found, expected) in energies(&small)[2..].iter().zip(published) {
        close(*found, expected);
    }

    let noise = [
        41, 18, 23, 3, 32, 11, 40, 13, 29, 48, 47, 35, 18, 21, 6, 2, 23, 3, 4, 7, 120, 103, 102, 81, 71, 62,
        115, 61, 108, 63, 70, 98, 65, 96, 64, 74, 70, 113, 90, 114, 208, 196, 153, 150, 225, 179, 206, 165,
        177, 151, 218, 217, 244, 245, 229, 195, 225, 229, 176, 250,
    ]
    .map(f64::from);
    close(best_split(&noise, 2).unwrap().energy, 2_848.116_959_064_327_6);
    close(best_split(&noise[..40], 2).unwrap().energy, 893.578_947_368_421);
    assert_eq!(found(&noise), [20, 40]);

    assert_eq!(found(&levels_of(&[(50.0, 15), (100.0, 15)])), [15]);
    assert_eq!(found(&levels_of(&[(50.0, 14), (74.0, 1), (100.0, 15)])), [15]);
    assert_eq!(found(&levels_of(&[(50.0, 14), (76.0, 1), (100.0, 15)])), [14]);
    assert!(found(&levels_of(&[(50.0, 30)])).is_empty());
    let mut outlier = levels_of(&[(50.0, 15), (100.0, 15)]);
    outlier[2] = 100.0;
    close(best_split(&outlier, 2).unwrap().energy, 650.0);
    assert_eq!(found(&outlier), [15]);
    let mut recovery = levels_of(&[(50.0, 15), (100.0, 15), (50.0, 15)]);
    recovery[2] = 100.0;
    recovery[32] = 100.0;
    // Its first step is at the edge of 1%.
    let found_more: Vec<usize> =
        steps(&recovery, &StepSearch::new(0.05, 1)).iter().map(|step| step.at).collect();
    assert_eq!(found_more, [15, 33]);
    let mut two = levels_of(&[(50.0, 15), (100.0, 15), (150.0, 15)]);
    two[2] = 100.0;
    close(best_split(&two, 2).unwrap().energy, 1_209.195_402_298_850_5);
    assert_eq!(found(&two), [15, 30]);
    for length in 10..100 {
        assert_eq!(found(&levels_of(&[(0.0, length), (1.0, length)])), [length]);
    }
}

/// A benchmark of MongoDB over 173 builds (PERF-1635). Apache Otava 0.8.0 finds steps before builds 25, 64, 70 and 114
/// (`compute_change_points`), or 25, 68 and 114 (`compute_change_points_orig`), at a p-value of 0.0001.
#[test]
fn a_benchmark_of_mongodb() {
    let text = fs::read_to_string(fixture("trend/perf-1635.txt")).unwrap();
    let values: Vec<f64> = text.split_whitespace().map(|number| number.parse().unwrap()).collect();
    assert_eq!(values.len(), 173);
    // The published energies have the factor n m / (n + m) rounded down.
    let energies = energies(&values);
    for (at, published) in
        [(25, 35_165.412), (66, 2_454.879), (67, 2_776.827), (114, 73_663.306), (115, 74_044.770)]
    {
        let factor = (at * (173 - at)) as f64 / 173.0;
        let expected = published * factor / factor.floor();
        assert!((energies[at] / expected - 1.0).abs() < 5e-5, "{at}: {} {expected}", energies[at]);
    }
    assert_eq!(found(&values), [25, 64, 69, 114]);
    // The decline in two steps is one of more than 5%.
    let size = |old: f64, new: f64| ((new / old - 1.0) / 0.05).abs();
    let large = large_steps(&values, steps(&values, &StepSearch::new(0.01, 1)), size);
    let places: Vec<usize> = large.iter().map(|step| step.at).collect();
    assert!([[25, 64, 114], [25, 69, 114]].iter().any(|expected| places == expected), "{places:?}");
    let ends: Vec<usize> = [0].into_iter().chain(places).chain([173]).collect();
    let means = ends.windows(2).map(|part| {
        let values = &values[part[0]..part[1]];
        (values.iter().sum::<f64>() / values.len() as f64).round()
    });
    let rounded: Vec<f64> = levels(&values, &large).iter().map(|level| level.round()).collect();
    assert_eq!(rounded, means.collect::<Vec<_>>());
}

/// The series in the tests of Apache Otava, which finds their steps before values 10, 6 and 4.
#[test]
fn series_of_apache_otava() {
    let twenty = [
        1.02, 0.95, 0.99, 1.00, 1.12, 1.00, 1.01, 0.98, 1.01, 0.96, 0.50, 0.51, 0.48, 0.48, 0.55, 0.50, 0.49,
        0.51, 0.50, 0.49,
    ];
    assert_eq!(found(&twenty), [10]);
    let first = [1.02, 0.95, 0.99, 1.00, 1.12, 0.90, 0.50, 0.51, 0.48, 0.48, 0.55];
    let second = [2.02, 2.03, 2.01, 2.04, 1.82, 1.85, 1.79, 1.81, 1.80, 1.76, 1.78];
    assert_eq!((found(&first), found(&second)), (vec![6], vec![4]));
}

#[test]
fn noise_has_no_steps() {
    let mut normal = Normal(Random::new(1));
    // Groups of series, each with a false alarm rate of 1% for all its series together.
    for (length, part, most) in [(20, 0.0, 6), (60, 0.0, 6), (60, 0.3, 14)] {
        let alarms = (0..100).filter(|_| {
            let group: Vec<Vec<f64>> = (0..20).map(|_| normal.with_memory(length, part)).collect();
            let kept = kept_by_most(group.iter().map(|series| &series[..]));
            let search = StepSearch { kept, ..StepSearch::new(0.01, 20) };
            group.iter().any(|series| !steps(series, &search).is_empty())
        });
        let alarms = alarms.count();
        assert!(alarms <= most, "{length} {part}: {alarms}");
    }
}

#[test]
fn memory_is_seen() {
    let mut normal = Normal(Random::new(2));
    for part in [0.0, 0.3, 0.5, 0.8] {
        let many: Vec<Vec<f64>> = (0..200).map(|_| normal.with_memory(60, part)).collect();
        let found = kept_by_most(many.iter().map(|series| &series[..]));
        assert!((found - part).abs() < 0.1, "{part} {found}");
    }
    assert!((kept(&normal.with_memory(3000, 0.8)) - 0.8).abs() < 0.1);
    // A short series, and steps, do not look like memory.
    assert!(kept(&normal.with_memory(30, 0.0)) < 1e-9);
    let mut stairs = normal.series(2000);
    stairs.iter_mut().enumerate().for_each(|(i, value)| *value += (i / 100) as f64 * 5.0);
    assert!(kept(&stairs) < 1e-9);
}

/// How many of these series leak, among so many that keep a part of their past.
fn leaks(series: &[Vec<f64>], among: usize, kept: f64) -> usize {
    let leaks = |values: &&Vec<f64>| {
        let times: Vec<f64> = (0..values.len()).map(|time| time as f64).collect();
        rise_p(values, kept) <= 0.01 / among as f64 && rise(&times, values, kept).unwrap().lasts
    };
    series.iter().filter(leaks).count()
}

#[test]
fn leaks_are_found_among_2000_functions() {
    let mut normal = Normal(Random::new(3));
    let (runs, mut found, mut alarms) = (16, 0, 0);
    for run in 0..runs {
        let part = [0.0, 0.3][run % 2];
        let noise: Vec<Vec<f64>> = (0..1999).map(|_| normal.with_memory(60, part)).collect();
        let kept = kept_by_most(noise.iter().map(|series| &series[..]));
        alarms += usize::from(leaks(&noise, 2000, kept) > 0);
        // In an hour with a profile a minute, it grows by six times the noise.
        let leak = normal
            .with_memory(60, part)
            .iter()
            .enumerate()
            .map(|(i, noise)| noise + 0.1 * i as f64)
            .collect();
        found += leaks(&[leak], 2000, kept);
    }
    assert!(found >= 15 && alarms == 0, "{found} found, {alarms} false of {runs}");
}

#[test]
fn a_sawtooth_is_no_leak() {
    let mut normal = Normal(Random::new(4));
    for (length, tooth) in [(60, 30), (60, 20), (60, 45), (60, 7), (100, 50), (200, 66), (40, 13)] {
        for noise in [0.0, 0.05, 0.2] {
            for phase in 0..tooth {
                let values: Vec<f64> = (0..length)
                    .map(|i| f64::from((i + phase) % tooth) / f64::from(tooth) + noise * normal.next())
                    .collect();
                assert_eq!(leaks(&[values], 1, 0.0), 0, "{length} {tooth} {noise} {phase}");
            }
        }
    }
}

#[test]
fn what_rises_once_is_no_leak() {
    let mut normal = Normal(Random::new(5));
    for at in (5..60).step_by(5) {
        let step: Vec<f64> = (0..60).map(|i| f64::from(i >= at) * 10.0 + normal.next()).collect();
        assert_eq!(leaks(&[step], 1, 0.0), 0, "a step at {at}");
        let filled: Vec<f64> =
            (0..60).map(|i| 10.0 * (f64::from(i.min(at)) / f64::from(at)) + 0.3 * normal.next()).collect();
        if at <= 30 {
            assert_eq!(leaks(&[filled], 1, 0.0), 0, "a cache that is full at {at}");
        }
        let freed: Vec<f64> = (0..60).map(|i| if i < 57 { f64::from(i) } else { 1.0 }).collect();
        assert_eq!(leaks(&[freed], 1, 0.0), 0);
    }
    // A leak may begin later, be curved, or come in chunks.
    let curved: Vec<f64> = (0..60).map(|i| f64::from(i * i)).collect();
    let late: Vec<f64> = (0..60).map(|i| f64::from((i - 20).max(0)) + normal.next()).collect();
    let chunks: Vec<f64> = (0..60).map(|i| f64::from(i / 7) * 4.0).collect();
    assert_eq!(leaks(&[curved, late, chunks], 2000, 0.0), 3);
}
