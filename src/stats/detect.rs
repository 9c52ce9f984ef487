//! What a comparison could have detected: "no regression" means little if nothing below 2.8× was
//! detectable.

use super::compare::Comparison;
use super::distributions::{normal_upper_quantile, t_upper_quantile};

/// What determines how small a change a comparison can detect.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sensitivity {
    /// Effective samples of all old profiles.
    pub old_samples: f64,
    /// Effective samples of all new profiles.
    pub new_samples: f64,
    /// φ, how many times larger the variance is than that of independent samples.
    pub overdispersion: f64,
    /// τ, the part of a log ratio's standard error that more samples do not reduce.
    pub run_to_run: f64,
    /// How many tests share α.
    pub tests: usize,
    /// The probability of any false alarm among all tests.
    pub alpha: f64,
    /// The probability of detecting a real change, usually 0.8.
    pub power: f64,
    /// Degrees of freedom of the noise estimate; infinite if the noise is known.
    pub freedom: f64,
}

impl Sensitivity {
    /// One test with a 1 % probability of a false alarm and 80 % power, with sampling noise only.
    pub fn pure_sampling(old_samples: f64, new_samples: f64) -> Self {
        Self {
            old_samples,
            new_samples,
            overdispersion: 1.0,
            run_to_run: 0.0,
            tests: 1,
            alpha: 0.01,
            power: 0.8,
            freedom: f64::INFINITY,
        }
    }

    /// The sensitivity of a comparison that was made; `None` if a side has no samples.
    pub fn of(comparison: &Comparison) -> Option<Self> {
        let model = comparison.model.as_ref()?;
        let (overdispersion, constant) = model.typical_variance();
        let (old_samples, new_samples) = model.samples();
        Some(Self {
            overdispersion,
            run_to_run: constant.sqrt(),
            tests: comparison.tested.max(1),
            alpha: comparison.options.alpha,
            freedom: model.freedom,
            ..Self::pure_sampling(old_samples, new_samples)
        })
    }

    /// How many standard errors a true change must be away from zero to be detected with the required
    /// power.
    fn distance(&self) -> f64 {
        t_upper_quantile(self.alpha / self.tests.max(1) as f64, self.freedom)
            + normal_upper_quantile(1.0 - self.power)
    }

    /// Whether all numbers are in the range for which there is an answer.
    fn is_sound(&self, share: f64) -> bool {
        let finite = [self.old_samples, self.new_samples, self.overdispersion, self.run_to_run];
        share > 0.0
            && share < 1.0
            && finite.iter().all(|value| value.is_finite())
            && self.distance().is_finite()
    }
}

/// The largest change considered, as a logarithm: 403×.
const LARGEST: f64 = 6.0;

/// The smallest cost ratio that is detected with the required power for a function with `share` (0 to 1)
/// of the old samples; `None` if not even 400× is.
///
/// ```
/// # use prof::stats::detect::{Sensitivity, detectable_ratio};
/// // 300 samples per side, 60 functions tested: 3 seconds of a Go profile.
/// let sensitivity = Sensitivity { tests: 60, ..Sensitivity::pure_sampling(300.0, 300.0) };
/// assert_eq!((detectable_ratio(0.1, &sensitivity).unwrap() * 10.0).round(), 28.0);
/// ```
pub fn detectable_ratio(share: f64, sensitivity: &Sensitivity) -> Option<f64> {
    if !sensitivity.is_sound(share) || sensitivity.old_samples <= 0.0 || sensitivity.new_samples <= 0.0 {
        return None;
    }
    let distance = sensitivity.distance();
    let (mut low, mut high) = (0.0, LARGEST);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        let (old, new) = sampling_variance(share, middle);
        let variance = sensitivity.overdispersion
            * (old / sensitivity.old_samples + new / sensitivity.new_samples)
            + sensitivity.run_to_run.powi(2);
        if middle < distance * variance.sqrt() { low = middle } else { high = middle }
    }
    Some(high).filter(|log| *log < LARGEST).map(f64::exp)
}

/// How many samples each side needs to detect a change by `ratio` of a function with `share`, if both
/// sides are alike and have the noise of `sensitivity`. `None` if no number suffices, because costs vary too
/// much from run to run: then more runs help, but not longer ones.
pub fn samples_needed(share: f64, ratio: f64, sensitivity: &Sensitivity) -> Option<f64> {
    let log = ratio.ln();
    if !sensitivity.is_sound(share) || log.is_nan() || log <= 0.0 {
        return None;
    }
    let (old, new) = sampling_variance(share, log);
    let left_for_sampling = (log / sensitivity.distance()).powi(2) - sensitivity.run_to_run.powi(2);
    let samples = sensitivity.overdispersion * (old + new) / left_for_sampling;
    Some(samples).filter(|samples| left_for_sampling > 0.0 && samples.is_finite())
}

/// How many samples each of `runs` profiles per side needs, with the noise of a typical steady program
/// (φ 1.1, and a trend worth 20 degrees of freedom).
pub fn samples_needed_per_run(share: f64, ratio: f64, runs: usize, sensitivity: &Sensitivity) -> Option<f64> {
    let runs = runs.max(2) as f64;
    let usual = Sensitivity {
        overdispersion: 1.1,
        run_to_run: 0.0,
        freedom: 2.0 * (runs - 1.0) + 20.0,
        ..*sensitivity
    };
    samples_needed(share, ratio, &usual).map(|samples| samples / runs)
}

/// The variance of a log cost ratio, times the samples of the old and of the new side, if the function's
/// cost grows by the factor e^`log`: that of the function's share and that of all other code.
fn sampling_variance(share: f64, log: f64) -> (f64, f64) {
    let grown = share * log.exp() / (1.0 + share * (log.exp() - 1.0));
    let variance = |share: f64| 1.0 / share + 1.0 / (1.0 - share);
    (variance(share), variance(grown))
}
