//! The noise of functions, looked up in what was learned from earlier runs.

use hashbrown::{HashMap, HashSet};

use crate::profile::{Id, Profile};
use crate::report::{CountNoise, FunctionNoise, NoiseHistory};
use crate::stats::learned::LearnedNoise;
use crate::tree::{By, Keys, Subject};

/// A typical function has at least this share, in percent.
const TYPICAL: f64 = 0.5;

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
