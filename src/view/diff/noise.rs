//! Learning the noise of a program from earlier runs, and looking it up.

use hashbrown::{HashMap, HashSet};

use crate::profile::{Id, Profile};
use crate::report::{CountNoise, DiffSide, FunctionNoise, NoiseHistory};
use crate::stats::learned::{LearnedNoise, Variation, learn};
use crate::stats::{Incomparable, Normalization};
use crate::tree::{By, KeyId, Keys, Subject, flat};
use crate::view::diff::significance::counts;
use crate::view::diff::{DiffSides, SampleSize, normalization_name};
use crate::view::{grouping_name, metric_name};

/// A typical function has at least this share, in percent.
const TYPICAL: f64 = 0.5;

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

/// How many functions of a profile are listed.
pub fn count_listed(history: &NoiseHistory, profile: &Profile, by: &By) -> usize {
    let keys = Keys::new(profile, by);
    let names: HashSet<&str> = keys.ids().map(|key| &**keys.name(key)).collect();
    history.functions.iter().filter(|function| names.contains(&*function.name)).count()
}

/// The noise of every function of a subject.
pub(super) fn learned(history: &NoiseHistory, subject: &Subject<'_>) -> LearnedNoise {
    let of_name: HashMap<&str, &FunctionNoise> =
        history.functions.iter().map(|function| (&*function.name, function)).collect();
    let variations = |of: fn(&FunctionNoise) -> Option<CountNoise>| -> Vec<f64> {
        let mut variations = vec![history.unlisted / 100.0; subject.keys.len()];
        for key in subject.keys.ids() {
            if let Some(noise) = of_name.get(&**subject.keys.name(key)).and_then(|function| of(function)) {
                variations[key.index()] = noise.variation / 100.0;
            }
        }
        variations
    };
    let mut typical: Vec<f64> = history
        .functions
        .iter()
        .filter_map(|function| function.own)
        .filter(|count| count.share >= TYPICAL)
        .map(|count| count.variation / 100.0)
        .collect();
    typical.sort_by(f64::total_cmp);
    LearnedNoise {
        dispersion: history.dispersion,
        freedom: history.freedom,
        typical: typical.get(typical.len() / 2).copied().unwrap_or(history.unlisted / 100.0),
        self_variation: variations(|function| function.own),
        total_variation: variations(|function| function.total),
    }
}
