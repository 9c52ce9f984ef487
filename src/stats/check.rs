//! Rejects input that cannot be compared before anything is computed, so that the other modules can rely
//! on it.

use std::ops::RangeInclusive;

use super::columns::profiles;
use super::{Incomparable, Noise, Normalization, SampleCounts, SampleUnit, TestOptions};

/// Checks that the counts have consistent lengths and that options are within their ranges.
pub(super) fn check(counts: &SampleCounts, options: &TestOptions) -> Result<(), Incomparable> {
    let Some(first) = counts.old.first() else { return Err(Incomparable::NoProfile) };
    if counts.new.is_empty() {
        return Err(Incomparable::NoProfile);
    }
    let functions = first.self_counts.len();
    for profile in profiles(counts) {
        if profile.self_counts.len() != functions || profile.total_counts.len() != functions {
            return Err(Incomparable::Shape);
        }
        let counts = profile.self_counts.iter().chain(&profile.total_counts);
        if let Some(&count) = counts.clone().find(|count| **count != 0.0 && !USABLE.contains(*count)) {
            return Err(Incomparable::Count(count));
        }
    }
    match &counts.sample_unit {
        SampleUnit::PerFunction { self_units, total_units } => {
            if self_units.len() != functions || total_units.len() != functions {
                return Err(Incomparable::Shape);
            }
            let units = self_units.iter().chain(total_units);
            if let Some(&unit) = units.clone().find(|unit| !USABLE.contains(*unit)) {
                return Err(Incomparable::Unit(unit));
            }
        }
        SampleUnit::Unknown if counts.old.len() + counts.new.len() == 2 => {
            return Err(Incomparable::NeedsReplicates);
        }
        SampleUnit::Unknown | SampleUnit::Samples => {}
    }
    check_options(options)
}

/// Far above any real count or unit, but small enough that no ratio, product or square of two of them
/// overflows.
const USABLE: RangeInclusive<f64> = 1e-60..=1e60;

fn check_options(options: &TestOptions) -> Result<(), Incomparable> {
    let mut wrong = Vec::new();
    if !(options.alpha > 0.0 && options.alpha < 1.0) {
        wrong.push(("alpha", options.alpha));
    }
    for (name, value) in [
        ("the minimum effect", options.min_effect),
        ("the minimum increase in points", options.min_points),
        ("the minimum share to test", options.min_tested),
    ] {
        if !(value >= 0.0 && value.is_finite()) {
            wrong.push((name, value));
        }
    }
    match options.noise {
        Noise::Fixed(sigma) if !(sigma >= 0.0 && sigma.is_finite()) => wrong.push(("the noise", sigma)),
        _ => {}
    }
    if let Normalization::Per { old, new } = options.normalize {
        for work in [old, new] {
            if !USABLE.contains(&work) {
                wrong.push(("the amount of work", work));
            }
        }
    }
    wrong.first().map_or(Ok(()), |&(name, value)| Err(Incomparable::Option(name, value)))
}
