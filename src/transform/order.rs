//! Clocks that went back while a program was recorded.

use hashbrown::HashMap;

use crate::profile::{LabelSetId, Profile, WAITS};

/// Formats that list the samples of a thread in the order in which they were taken.
const IN_ORDER: &[&str] = &["gecko", "perf-script", "safari", "stackprof"];

/// How many samples are earlier than the one before them on their thread, where that means something.
pub(crate) fn samples_back(profile: &Profile, metric: usize) -> u64 {
    let Profile { meta, samples, .. } = profile;
    // Each of several recordings begins anew.
    let in_order = meta.profiles == 1 && IN_ORDER.contains(&meta.format) && !meta.holds_spans;
    // A wait is known when it ends, and has the time at which it began.
    if !in_order || samples.time.is_none() || WAITS.contains(&&*meta.metrics[metric].name) {
        return 0;
    }
    let mut latest: HashMap<LabelSetId, i64> = HashMap::new();
    let mut back = 0;
    for row in 0..samples.len() {
        let Some(time) = samples.time_of(row).filter(|_| samples.values[metric][row] != 0) else { continue };
        let before = latest.insert(samples.labels[row], time);
        back += u64::from(before.is_some_and(|before| time < before));
    }
    back
}
