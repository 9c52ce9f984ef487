//! Transposes the counts: from a list of functions per profile to a list of profiles per function.

use std::collections::HashMap;

use super::dispersion::{Design, RunCounts, pearson_dispersion};
use super::{ProfileCounts, SampleCounts, SampleUnit};

/// The column of every function, and which totals need a test of their own.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FunctionColumns {
    /// Self samples, indexed by function.
    pub(super) own: Vec<RunCounts>,
    /// Total samples, indexed by function.
    pub(super) total: Vec<RunCounts>,
    /// The functions whose total differs from their self: each distinct column once, with all functions
    /// that share it.
    pub(super) distinct_totals: Vec<(usize, Vec<usize>)>,
}

/// The old profiles come first.
pub(super) fn profiles(counts: &SampleCounts) -> impl Iterator<Item = &ProfileCounts> {
    counts.old.iter().chain(&counts.new)
}

/// Transposes profiles × functions into one column per function, and finds the totals worth a test of
/// their own.
pub(super) fn columns(counts: &SampleCounts) -> FunctionColumns {
    let functions = counts.old.first().map_or(0, |profile| profile.self_counts.len());
    let column = |of: fn(&ProfileCounts) -> &[f64], function: usize, unit: f64| RunCounts {
        counts: profiles(counts).map(|profile| of(profile)[function] / unit).collect(),
        unit,
    };
    let units = match &counts.sample_unit {
        SampleUnit::PerFunction { self_units, total_units } => Some((self_units, total_units)),
        SampleUnit::Samples | SampleUnit::Unknown => None,
    };
    let unit = |function: usize| units.map_or((1.0, 1.0), |(own, total)| (own[function], total[function]));
    let own = (0..functions).map(|i| column(|profile| &profile.self_counts, i, unit(i).0)).collect();
    let total = (0..functions).map(|i| column(|profile| &profile.total_counts, i, unit(i).1)).collect();
    FunctionColumns { own, total, distinct_totals: distinct_totals(counts, functions) }
}

/// Groups the functions whose total differs from their self by that total. If `main` calls only `run`,
/// which calls only `serve`, the three are one test.
fn distinct_totals(counts: &SampleCounts, functions: usize) -> Vec<(usize, Vec<usize>)> {
    let mut groups: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut seen: HashMap<Vec<u64>, usize> = HashMap::new();
    for function in 0..functions {
        // Adding zero makes -0 and 0 the same bits.
        let bits = |of: fn(&ProfileCounts) -> &[f64]| -> Vec<u64> {
            profiles(counts).map(|profile| (of(profile)[function] + 0.0).to_bits()).collect()
        };
        let total = bits(|profile| &profile.total_counts);
        if total == bits(|profile| &profile.self_counts) {
            continue;
        }
        let group = *seen.entry(total).or_insert_with(|| {
            groups.push((function, Vec::new()));
            groups.len() - 1
        });
        groups[group].1.push(function);
    }
    groups
}

/// Finds the sample size for which, in the median function, replicates scatter like independent samples.
pub(super) fn calibrate(columns: &mut FunctionColumns, design: &Design, min_share: f64) -> f64 {
    let all: f64 = design.totals.iter().sum();
    let mut dispersions: Vec<f64> = columns
        .own
        .iter()
        .filter(|column| column.counts.iter().sum::<f64>() >= min_share * all)
        .map(|column| pearson_dispersion(column, design))
        .filter(|dispersion| *dispersion > 0.0)
        .collect();
    dispersions.sort_by(f64::total_cmp);
    let unit = dispersions.get(dispersions.len() / 2).copied().unwrap_or(1.0);
    for column in columns.own.iter_mut().chain(&mut columns.total) {
        column.unit = unit;
        column.counts.iter_mut().for_each(|count| *count /= unit);
    }
    unit
}
