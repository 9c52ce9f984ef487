use super::*;
use crate::profile::from_notation;

/// A history of profiles of `metric`, one an hour.
fn history(metric: &str, unit: &str, profiles: impl IntoIterator<Item = String>) -> History {
    let mut history = History::default();
    for (number, text) in profiles.into_iter().enumerate() {
        let mut profile = from_notation(&text);
        profile.meta.metrics[0].name = metric.to_string();
        profile.meta.metrics[0].unit = unit.to_string();
        profile.meta.time_ns = Some(number as i64 * HOUR as i64);
        history.add(Snapshot::of(format!("{number:02}"), &profile, 0, &By::Function)).unwrap();
    }
    history
}

/// A number that looks random, from 0 to 99.
fn noise(seed: usize) -> usize {
    crate::stats::random::Random::new(seed as u64).number() as usize % 100
}

/// Functions that cost the same in each profile, apart from noise and the load of the machine.
fn steady(number: usize) -> String {
    let cost = |f: usize| (900 + 100 * f + noise(100 * number + f)) * load(number);
    (0..12).map(|f| format!("main;f{f} {}\n", cost(f))).collect::<Vec<_>>().concat()
}

fn load(number: usize) -> usize {
    1 + number % 3
}

#[test]
fn a_step_is_found_in_spite_of_the_load() {
    let profiles = (0..30).map(|number| {
        let slow = if number < 18 { 1000 } else { 1500 };
        format!("{}main;slow {}", steady(number), (slow + noise(number)) * load(number))
    });
    let found = trend(&history("cpu", "ns", profiles), &TrendOptions::default());
    assert_eq!((found.verdict, found.regressed, found.improved), (TrendVerdict::Regressed, 1, 0));
    assert_eq!(found.tested, 13);
    let row = &found.rows[0];
    assert_eq!((&*row.name, &row.steps[..], row.verdict), ("slow", &[18][..], TrendVerdict::Regressed));
    let step = row.step.as_ref().unwrap();
    assert_eq!((&*step.after, step.since_ns), ("17", Some(18 * HOUR as i64)));
    let ratio = step.ratio.unwrap();
    assert!((ratio - 1548.0 / 1048.0).abs() < 0.04, "{ratio}");
    assert!(
        step.ratio_low.unwrap() < ratio && ratio < step.ratio_high.unwrap() && step.ratio_low.unwrap() > 1.4
    );
    // What was recorded stays as it is.
    assert_eq!(row.values[0], 1000 + noise(0) as i64);
    // A third of the load is the same cost at three times the scale.
    let scale = |number: usize| found.series[number].scale;
    assert!((scale(0) / scale(2) - 3.0).abs() < 0.1, "{} {}", scale(0), scale(2));
}

#[test]
fn what_becomes_cheaper_makes_nothing_else_dearer() {
    let profiles = (0..30).map(|number| {
        let cheap = if number < 15 { 6000 } else { 2000 };
        format!("{}main;cheap {}", steady(number), (cheap + noise(number)) * load(number))
    });
    let found = trend(&history("cpu", "ns", profiles), &TrendOptions::default());
    assert_eq!((found.verdict, found.regressed, found.improved), (TrendVerdict::Improved, 0, 1));
    assert_eq!((&*found.rows[0].name, &found.rows[0].steps[..]), ("cheap", &[15][..]));
}

#[test]
fn a_leak_is_not_a_step_and_a_sawtooth_is_neither() {
    let profiles = |drop: usize| {
        (0..60).map(move |number| {
            let leak = 1_000_000 + 20_000 * (number % drop) + 500 * noise(number);
            let other = (0..30).map(|f| format!("main;f{f} {}\n", 300_000 + 300 * noise(60 * f + number)));
            let other = other.collect::<Vec<_>>().concat();
            format!("{other}main;cache {leak}")
        })
    };
    let found = trend(&history("inuse_space", "bytes", profiles(1000)), &TrendOptions::default());
    assert_eq!((found.verdict, found.leaking, found.regressed), (TrendVerdict::Leak, 1, 0));
    let (row, rise) = (&found.rows[0], found.rows[0].rise.unwrap());
    assert_eq!(&*row.name, "cache");
    // 20,000 bytes per hour.
    assert!((rise.per_hour.unwrap() / 20_000.0 - 1.0).abs() < 0.03, "{rise:?}");
    assert!(rise.low < 1.0 && rise.high > 1.0 && rise.low > 0.95);
    let day = rise.in_a_day.unwrap();
    assert!((day - (1_025_000.0 + 83.0 * 20_000.0)).abs() < 30_000.0, "{day}");

    for drop in [20, 30, 45] {
        let found = trend(&history("inuse_space", "bytes", profiles(drop)), &TrendOptions::default());
        assert_eq!(found.leaking, 0, "{drop}");
    }
    // CPU time that grows is no leak.
    let found = trend(&history("cpu", "ns", profiles(1000)), &TrendOptions::default());
    assert_eq!(found.leaking, 0);
}

#[test]
fn few_profiles_show_nothing() {
    for count in 0..6 {
        let found = trend(&history("cpu", "ns", (0..count).map(steady)), &TrendOptions::default());
        assert_eq!((found.verdict, found.needed), (TrendVerdict::Inconclusive, None), "{count}");
    }
    let found = trend(&history("cpu", "ns", (0..30).map(steady)), &TrendOptions::default());
    // One of 27,405 orders of 30 profiles has a given set of 4 at its end; among 12 functions, one in 1,200 may.
    assert_eq!((found.verdict, found.needed), (TrendVerdict::None, Some(3)));
    let empty = (0..20).map(|_| "main 0".to_string());
    assert_eq!(trend(&history("cpu", "ns", empty), &TrendOptions::default()).rows.len(), 0);
}

#[test]
fn without_a_step_the_ends_are_those_of_the_series() {
    let grown =
        (0..6).map(|number| format!("main;leak {}\nmain;once {}", 130 + 30 * number, 3000 * (number % 2)));
    let found = trend(&history("alloc_space", "bytes", grown), &TrendOptions::default());
    let ends: Vec<_> = found.rows.iter().map(|row| (&*row.name, row.first, row.last)).collect();
    assert_eq!(ends, [("once", 0.0, 3000.0), ("leak", 130.0, 280.0)]);
}

#[test]
fn rows_are_cut_after_those_with_a_verdict() {
    let profiles = || {
        (0..30).map(|number| {
            let slow = if number < 18 { 1000 } else { 3000 } * load(number);
            format!("{}main;slow {slow}", steady(number))
        })
    };
    let cut = |limit, others| {
        let mut found = trend(&history("cpu", "ns", profiles()), &TrendOptions::default());
        found.cut(limit, others);
        (found.rows.len(), found.header.elided_rows)
    };
    assert_eq!(cut(usize::MAX, None), (13, 0));
    assert_eq!(cut(usize::MAX, Some(2)), (3, 10));
    assert_eq!((cut(1, None), cut(0, Some(5))), ((1, 12), (0, 13)));
}
