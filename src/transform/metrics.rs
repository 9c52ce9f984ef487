//! Selecting metrics of a profile.

use std::sync::Arc;

use crate::profile::Profile;

/// The profile with only the given metrics, in that order; the first one becomes the default.
pub fn pick_metrics(profile: &Profile, metrics: &[usize]) -> Profile {
    let values = metrics.iter().map(|&metric| profile.samples.values[metric].clone()).collect();
    let samples = profile.samples.with_values(values);
    let calls = profile.calls.as_ref().map(|calls| Arc::new(calls.pick(metrics)));
    let mut picked = Profile { samples: Arc::new(samples), calls, ..profile.clone() };
    picked.meta.metrics = metrics.iter().map(|&metric| profile.meta.metrics[metric].clone()).collect();
    let recordings = &profile.meta.recordings;
    picked.meta.recordings = metrics.iter().filter_map(|&metric| recordings.get(metric).copied()).collect();
    picked.meta.default_metric = 0;
    picked
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{from_notation, to_notation};

    #[test]
    fn metrics_come_in_the_order_given() {
        let picked = pick_metrics(&from_notation("main 1 2 3"), &[2, 0]);
        assert_eq!(to_notation(&picked), "main 3 1");
        assert_eq!((&*picked.meta.metrics[0].name, picked.meta.default_metric), ("metric2", 0));
    }
}
