//! Finding out whether counts of samples are multiples of one number.

use crate::kind;
use crate::profile::Profile;
use crate::stats::effective::CommonDivisor;
use crate::unit::{Family, Unit};

/// Computes [`Metric::effective_samples`] of metrics that count samples, if each sample was counted many times: collapsed stacks say
/// nothing of the unit of their numbers, and 735470936 may be 367 samples of 2004008 ns. Filters do not change it, because the few
/// stacks that they leave would say less about this.
///
/// ```
/// use prof::profile::from_notation;
/// use prof::transform::note_multiples;
///
/// let mut profile = from_notation("main 20000000\nmain;a 30000000\nmain;b 10000000");
/// note_multiples(&mut profile);
/// assert_eq!(profile.meta.metrics[0].effective_samples, Some(6));
/// ```
///
/// [`Metric::effective_samples`]: crate::profile::Metric::effective_samples
pub fn note_multiples(profile: &mut Profile) {
    if profile.calls.is_some() || profile.meta.is_latency {
        return;
    }
    for (metric, values) in profile.meta.metrics.iter_mut().zip(&profile.samples.values) {
        let is_count = Unit::parse(&metric.unit).family() == Family::Count;
        if !is_count || metric.too_large || metric.divisor != 1 || !kind::is(&metric.name, "samples") {
            continue;
        }
        let multiplier = CommonDivisor::of(values.iter().copied()).multiplier();
        metric.effective_samples = multiplier.map(|multiplier| metric.total.unsigned_abs() / multiplier);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::from_notation;

    #[test]
    fn only_counts_of_samples_are_multiples() {
        let samples = |name: &str, text: &str| {
            let mut profile = from_notation(text);
            profile.meta.metrics[0].name = name.to_string();
            note_multiples(&mut profile);
            profile.meta.metrics[0].effective_samples
        };
        assert_eq!(samples("samples", "a 4000000\nb 2000000\nc 12000000"), Some(9));
        assert_eq!(samples("samples", "a 400\nb 200\nc 300"), None, "may be chance");
        assert_eq!(samples("alloc_objects", "a 4000000\nb 2000000\nc 12000000"), None);
    }
}
