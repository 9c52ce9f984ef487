//! Learning the noise of a program from runs of one build.

use crate::profile::{Id, Profile};
use crate::report::{CountNoise, DiffSide, FunctionNoise, NOISE_VERSION, NoiseHistory};
use crate::stats::learned::{Variation, learn};
use crate::stats::{Incomparable, Normalization};
use crate::tree::{By, KeyId, Subject, flat};
use crate::view::diff::options::{DiffSides, normalization_name};
use crate::view::diff::sample_size::SampleSize;
use crate::view::diff::significance::counts;
use crate::view::{grouping_name, metric_name};

/// Learns from the first `runs` metrics of an aligned profile, each of which is one run of one build. Fails if a run is
/// empty, or if values are negative.
pub fn learn_noise(
    profile: &Profile,
    runs: usize,
    size: SampleSize,
    by: &By,
    normalize: Normalization,
) -> Result<NoiseHistory, Incomparable> {
    let columns: Vec<usize> = (0..profile.meta.metrics.len()).collect();
    let subject = Subject::new(profile, by, &columns);
    let counted = flat(&subject);
    let side = |profiles: usize| DiffSide { profiles, ..DiffSide::default() };
    // Any division into two sides will do: all runs are of one build.
    let sides = DiffSides::new(side(runs.saturating_sub(1)), side(1), size);
    let lesson = learn(&counts(&counted, &sides), normalize == Normalization::Run)?;
    let percent = |variation: Variation| CountNoise {
        share: variation.share * 100.0,
        variation: variation.variation * 100.0,
    };
    let function = |key: KeyId| {
        let (own, total) = (lesson.own[key.index()], lesson.total[key.index()]);
        let runs = [own, total].into_iter().flatten().map(|variation| variation.runs).max()?;
        let name = subject.keys.name(key).clone();
        Some(FunctionNoise { name, runs, own: own.map(percent), total: total.map(percent) })
    };
    let mut functions: Vec<FunctionNoise> = subject.keys.ids().filter_map(function).collect();
    let share = |count: Option<CountNoise>| count.map_or(0.0, |count| count.share);
    functions.sort_by(|a, b| {
        share(b.own)
            .total_cmp(&share(a.own))
            .then(share(b.total).total_cmp(&share(a.total)))
            .then_with(|| a.name.cmp(&b.name))
    });
    let metric = metric_name(profile, 0);
    Ok(NoiseHistory {
        version: NOISE_VERSION,
        metric: metric.name.clone(),
        unit: metric.unit.clone(),
        by: grouping_name(by),
        normalize: normalization_name(normalize).to_string(),
        runs,
        samples_per_run: lesson.samples,
        dispersion: lesson.dispersion,
        freedom: lesson.freedom,
        unlisted: lesson.unlisted * 100.0,
        functions,
    })
}
