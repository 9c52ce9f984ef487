//! What the samples of a comparison could show: which changes would have been found, and how many samples would find others.

use crate::report::{Detectable, SMALL_SHARE, SUGGESTED_RUNS, TYPICAL_SHARE};
use crate::stats::compare::Comparison;
use crate::stats::detect::{Sensitivity, detectable_ratio, samples_needed, samples_needed_per_run};

/// The shares for which detectable ratios are reported.
const SHARES: [f64; 5] = [0.01, SMALL_SHARE, 0.05, TYPICAL_SHARE, 0.2];

/// How well changes could be seen. Without a test, nothing could.
#[derive(Default)]
pub(super) struct Power {
    /// The smallest ratios that would have been found, for functions of several sizes.
    pub(super) detectable: Vec<Detectable>,
    /// Whether the change that is to be found would have been, in a function of a typical share.
    pub(super) suffices: bool,
    /// How many samples of one run a side would find it.
    pub(super) samples_needed: Option<f64>,
    /// The same for several runs a side.
    pub(super) samples_needed_per_run: Option<f64>,
}

impl Power {
    /// The power of a comparison to find costs that changed by `wanted_ratio`, such as 1.2.
    pub(super) fn of(comparison: &Comparison, wanted_ratio: f64) -> Self {
        let Some(sensitivity) = Sensitivity::of(comparison) else { return Self::default() };
        let detectable =
            SHARES.map(|share| Detectable { share, ratio: detectable_ratio(share, &sensitivity) });
        let seen = detectable_ratio(TYPICAL_SHARE, &sensitivity);
        // More samples make only their own noise smaller.
        let pure = Sensitivity {
            tests: sensitivity.tests,
            alpha: sensitivity.alpha,
            ..Sensitivity::pure_sampling(sensitivity.old_samples, sensitivity.new_samples)
        };
        Self {
            detectable: detectable.to_vec(),
            suffices: seen.is_some_and(|ratio| ratio <= wanted_ratio),
            samples_needed: samples_needed(TYPICAL_SHARE, wanted_ratio, &pure),
            samples_needed_per_run: samples_needed_per_run(
                TYPICAL_SHARE,
                wanted_ratio,
                SUGGESTED_RUNS,
                &pure,
            ),
        }
    }
}
