//! Numbers of calls that are not known.

use std::sync::Arc;

use crate::profile::Profile;

/// Removes the last metric, the number of calls, and says why.
pub(super) fn drop_call_counts(profile: &mut Profile, why: &str) {
    let metrics: Vec<usize> = (0..profile.meta.metrics.len() - 1).collect();
    profile.meta.metrics.truncate(metrics.len());
    profile.samples = Arc::new(profile.samples.with_values(profile.samples.values[..metrics.len()].to_vec()));
    profile.calls = profile.calls.take().map(|calls| Arc::new(calls.pick(&metrics)));
    profile.meta.notes.push(format!("how often functions were called is not known: {why}"));
}
