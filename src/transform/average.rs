//! `--merge mean`: several profiles averaged.

use crate::profile::Profile;

/// The average of the profiles that were summed in `sum`; a stack that is missing in a profile counts as 0
/// there. Values remain integers, and the divisor of every metric is multiplied by the number of profiles. The
/// duration is the mean duration.
pub fn average(sum: &Profile) -> Profile {
    let count = sum.meta.profiles.max(1);
    let mut mean = sum.clone();
    for metric in &mut mean.meta.metrics {
        metric.divisor *= u64::from(count);
    }
    let half = i64::from(count / 2);
    mean.meta.duration_ns = sum.meta.duration_ns.map(|sum| sum.saturating_add(half) / i64::from(count));
    mean
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{from_notation, to_notation};
    use crate::transform::merge;

    #[test]
    fn values_are_sums_and_the_divisor_says_of_how_many() {
        let mut profiles =
            [from_notation("main;a 4"), from_notation("main;a 1\nmain 2"), from_notation("main 1")];
        for (profile, seconds) in profiles.iter_mut().zip([1, 2, 4]) {
            profile.meta.duration_ns = Some(seconds * 1_000_000_000);
        }
        let mean = average(&merge(&profiles).unwrap());
        assert_eq!(to_notation(&mean), "main 3\nmain;a 5");
        assert_eq!((mean.meta.metrics[0].divisor, mean.meta.metrics[0].total), (3, 8));
        assert_eq!(mean.meta.duration_ns, Some(2_333_333_333));
    }
}
