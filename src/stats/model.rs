//! The fitted model: what unchanged code did and how noisy counts are, which gives a p-value for any
//! function.

use super::bulk::{Bulk, FEWEST, Prior, core_location, fit_bulk_around};
use super::columns::FunctionColumns;
use super::dispersion::{Design, RunCounts, Trend, dispersion_trend, pearson_dispersion};
use super::distributions::{binomial_mid_p, normal_to_t, t_upper_quantile};
use super::learned::LearnedNoise;
use super::majority::{is_plausible, majority, same_per_run};
use super::parts::{LEAST_APART_OF_PARTS, Part, same_parts_per_run};
use super::{CountKind, Noise, Normalization, TestOptions};

/// What has less than this fraction of its share left is gone.
pub const GONE: f64 = 0.1;

/// What the old side has less of than this fraction of the new side appeared.
pub(super) const APPEARED: f64 = 0.1;

/// With fewer residual degrees of freedom than this, replicates alone are too few to estimate the noise.
const ENOUGH_REPLICATES: usize = 4;

/// If the cost of unchanged code is known only within a larger factor than this, both sides are taken to cost the same.
const WIDEST_SCALE: f64 = 1.25;

/// How well the cost of unchanged code on one side is known, compared to the other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scale {
    /// Well enough, or it was given.
    Known,
    /// Too few functions have samples on both sides to estimate it: it is taken to be the same.
    TooFew,
    /// The 95 % interval reaches to this factor above and below, so it is taken to be the same.
    Uncertain(f64),
}

/// How the bulk of the functions scattered between one old and one new profile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PairNoise {
    own: (f64, f64),
    total: (f64, f64),
    /// Compensates for φ and τ being estimates.
    inflation: f64,
}

/// The heaviest functions and most functions disagree about what unchanged code did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Doubt {
    /// The heaviest of the functions that disagree with most.
    pub function: usize,
    /// Its cost ratio, relative to most functions.
    pub ratio: f64,
    /// Whether most functions are taken to be unchanged, because a run costs about as much in them as before, or it costs
    /// far more or less in the heaviest ones. Otherwise, these are.
    pub by_most: bool,
}

/// A fitted model.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    design: Design,
    /// All samples of the old profiles, and of the new ones, in the unit of the totals.
    pub(super) old_total: f64,
    pub(super) new_total: f64,
    /// The effective sample of the total: its variances are those of all functions together.
    unit_of_total: f64,
    /// ln of the cost ratio of code that did not change.
    pub location: f64,
    /// The variance of `location`.
    pub location_variance: f64,
    /// How well the cost of unchanged code is known.
    pub scale: Scale,
    /// Why unchanged code may not be unchanged.
    pub doubt: Option<Doubt>,
    /// The noise between one pair, if it is used.
    pair: Option<PairNoise>,
    /// The noise between replicates, if there are any.
    trend: Option<Trend>,
    /// The degrees of freedom of the noise; infinite for one pair, whose variance is inflated instead.
    pub freedom: f64,
    /// The minimum noise factor: if replicates vary less than independent samples would, that is taken
    /// as luck.
    least_factor: f64,
}

/// The effective counts of one function, summed per side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SampleSums {
    pub(super) old: f64,
    pub(super) new: f64,
}

impl SampleSums {
    pub(super) fn all(self) -> f64 {
        self.old + self.new
    }
}

/// How surprising the counts of a function are, in both directions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TestResult {
    /// How many times larger the variance is than that of independent samples.
    pub noise_factor: f64,
    /// ln of the cost ratio, relative to code that did not change.
    pub log_ratio: f64,
    /// The standard error of `log_ratio`.
    pub standard_error: f64,
    /// The one-sided p-value of an increase, and the smallest one possible with this many samples.
    pub increase: (f64, f64),
    /// The same for a decrease.
    pub decrease: (f64, f64),
}

impl Model {
    /// Fits location and noise to all functions. Both sides must have samples.
    pub(super) fn fit(
        design: Design,
        columns: &FunctionColumns,
        options: &TestOptions,
        unit_known: bool,
    ) -> Self {
        let old_total: f64 = design.totals[..design.old].iter().sum();
        let new_total: f64 = design.totals[design.old..].iter().sum();
        let mut model = Self {
            design,
            old_total,
            new_total,
            unit_of_total: 1.0,
            location: 0.0,
            location_variance: 0.0,
            scale: Scale::Known,
            doubt: None,
            pair: None,
            trend: None,
            freedom: f64::INFINITY,
            least_factor: if unit_known { 1.0 } else { 0.0 },
        };
        let variance = columns.own.iter().map(|column| model.sums(column).all() * column.unit * column.unit);
        model.unit_of_total = variance.sum::<f64>() / (old_total + new_total);
        let is_evidence = |column: &RunCounts| {
            if options.check_scale { model.is_evidence(column) } else { model.is_sizeable(column) }
        };
        let evidence: Vec<usize> = (0..columns.own.len())
            .filter(|function| options.idle.binary_search(function).is_err())
            .filter(|&function| is_evidence(&columns.own[function]))
            .collect();
        let core: Vec<&RunCounts> = evidence.iter().map(|&function| &columns.own[function]).collect();
        let (ratios, variances) = model.log_ratios(&core);
        let residual = model.design.residual();
        if let Some(learned) = &options.learned {
            model.use_learned(learned);
        } else if residual < ENOUGH_REPLICATES {
            let given = model.given_location(options.normalize).filter(|_| model.design.per_run);
            let given = given.or(options.core.map(|(location, _)| location));
            let mut bulk = fit_bulk_around(given, &ratios, &variances, prior(options.noise), 1);
            (model.location, model.location_variance) = (bulk.location, bulk.location_variance);
            if let Some(most) = model.outvoted((columns, &evidence), (&ratios, &variances), options) {
                bulk = fit_bulk_around(Some(most), &ratios, &variances, prior(options.noise), 1);
            }
            model.pair = Some(model.fit_pair(bulk, columns, options.noise));
        }
        if residual > 0 {
            let trend = model.fit_trend(&columns.own);
            model.trend = Some(trend);
            if model.pair.is_none() {
                model.freedom = trend.prior_freedom + residual as f64;
            }
            let spread: Vec<f64> = core
                .iter()
                .zip(&variances)
                .map(|(column, v)| model.replicate_factor(column, trend) * v)
                .collect();
            (model.location, model.location_variance) = core_location(&ratios, &spread);
            model.outvoted((columns, &evidence), (&ratios, &spread), options);
        }
        if let Some(learned) = &options.learned {
            let noise = |(&function, variance): (&usize, &f64)| {
                let variation = learned.variation(function, CountKind::SelfCount);
                let column = &columns.own[function];
                model.factor(column, CountKind::SelfCount, 1.0 / variance, Some(variation)) * variance
            };
            let spread: Vec<f64> = evidence.iter().zip(&variances).map(noise).collect();
            (model.location, model.location_variance) = core_location(&ratios, &spread);
            model.outvoted((columns, &evidence), (&ratios, &spread), options);
        }
        if let Some(known) = options.core {
            (model.location, model.location_variance) = known;
        }
        model.apply(options.normalize);
        if options.check_scale && options.normalize == Normalization::Core {
            model.check_scale(if options.core.is_some() { FEWEST } else { core.len() });
        }
        model
    }

    /// Sets the doubt about unchanged code, if most functions outvote the heaviest ones. Returns their location if they
    /// are believed.
    fn outvoted(
        &mut self,
        (columns, evidence): (&FunctionColumns, &[usize]),
        (ratios, variances): (&[f64], &[f64]),
        options: &TestOptions,
    ) -> Option<f64> {
        if !options.check_scale || options.normalize != Normalization::Core || options.core.is_some() {
            return None;
        }
        let none = self.same_work();
        let most = majority(ratios, variances, (self.location, self.location_variance))
            .or_else(|| self.same_per_run((columns, evidence), (ratios, variances), none))
            .or_else(|| self.same_parts_per_run(options, none))?;
        let by_most = is_plausible(most.0, self.location, none);
        // The heaviest one; if most are not believed, of those that are taken to be unchanged: what costs a hundred times as much is not.
        let gap = (most.0 - self.location).abs();
        let outvoted = |column: &RunCounts| {
            let sums = self.sums(column);
            let ratio = self.raw_log_ratio(sums);
            let is_assumed = by_most || (ratio - self.location).abs() <= gap / 2.0;
            ((ratio - most.0).abs() > gap / 2.0).then_some((
                is_assumed,
                sums.all() * column.unit,
                ratio - most.0,
            ))
        };
        let outvoted =
            evidence.iter().filter_map(|&function| Some((function, outvoted(&columns.own[function])?)));
        let (function, (_, _, changed)) =
            outvoted.max_by(|(_, a), (_, b)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)))?;
        self.doubt = Some(Doubt { function, ratio: changed.exp(), by_most });
        if !by_most {
            return None;
        }
        (self.location, self.location_variance) = most;
        Some(most.0)
    }

    /// The location at which code costs the same per run.
    fn same_work(&self) -> f64 {
        let runs = (self.design.totals.len() - self.design.old) as f64 / self.design.old as f64;
        -(self.new_total / self.old_total / runs).ln()
    }

    /// Whether runs seem to differ so much in what unchanged code costs that [`TestOptions::parts`] should be asked.
    pub fn is_far_from_same_work(&self, options: &TestOptions) -> bool {
        options.check_scale
            && options.normalize == Normalization::Core
            && options.core.is_none()
            && self.doubt.is_none()
            && (self.location - self.same_work()).abs() >= LEAST_APART_OF_PARTS
    }

    /// What [`same_parts_per_run`] finds in the parts of the call tree.
    fn same_parts_per_run(&self, options: &TestOptions, none: f64) -> Option<(f64, f64)> {
        if self.trend.is_none() && self.pair.is_none() {
            // How much parts vary is not known yet.
            return None;
        }
        let part = |counts: &Vec<f64>| {
            let column = RunCounts { counts: counts.clone(), unit: 1.0 };
            let (ratios, variances) = self.log_ratios(&[&column]);
            let noise = self.factor(&column, CountKind::Total, 1.0 / variances[0], None);
            let sums = self.sums(&column);
            let share = (sums.old / self.old_total).max(sums.new / self.new_total);
            self.is_evidence(&column).then_some(Part {
                ratio: ratios[0],
                variance: noise * variances[0],
                share,
            })
        };
        let parts: Vec<Part> = options.parts.iter().filter_map(part).collect();
        same_parts_per_run(&parts, (self.location, none), self.spread_of_runs())
    }

    /// What [`same_per_run`] finds in the functions that `ratios` and `variances` are of.
    fn same_per_run(
        &self,
        (columns, evidence): (&FunctionColumns, &[usize]),
        (ratios, variances): (&[f64], &[f64]),
        none: f64,
    ) -> Option<(f64, f64)> {
        let share = |column: &RunCounts| {
            let sums = self.sums(column);
            (sums.old / self.old_total).max(sums.new / self.new_total) * column.unit
        };
        let shares: Vec<f64> = evidence.iter().map(|&function| share(&columns.own[function])).collect();
        same_per_run(ratios, variances, &shares, (self.location, none), self.spread_of_runs())
    }

    /// The standard deviation of the totals of runs of one side, on a logarithmic scale.
    fn spread_of_runs(&self) -> f64 {
        let (old, new) = self.design.totals.split_at(self.design.old);
        let squares = |side: &[f64]| {
            let logs: Vec<f64> = side.iter().map(|total| total.max(1.0).ln()).collect();
            let mean = logs.iter().sum::<f64>() / logs.len() as f64;
            logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>()
        };
        let freedom = self.design.totals.len().saturating_sub(2).max(1);
        ((squares(old) + squares(new)) / freedom as f64).sqrt()
    }

    /// Takes the noise from earlier runs. Both sides vary, each the less the more runs it has.
    fn use_learned(&mut self, learned: &LearnedNoise) {
        let typical = (learned.dispersion, learned.typical * self.both_sides());
        self.pair = Some(PairNoise { own: typical, total: typical, inflation: 1.0 });
        self.freedom = learned.freedom;
    }

    /// How many times more the ratio of both sides varies than one run.
    fn both_sides(&self) -> f64 {
        let old = self.design.old as f64;
        (1.0 / old + 1.0 / (self.design.totals.len() as f64 - old)).sqrt()
    }

    /// Replaces the core by another measure of "unchanged".
    fn apply(&mut self, normalize: Normalization) {
        if let Some(location) = self.given_location(normalize) {
            (self.location, self.location_variance) = (location, 0.0);
        } else if normalize == Normalization::Total {
            let (old, new) = self.samples();
            (self.location, self.location_variance) = (0.0, 1.0 / old + 1.0 / new);
        }
    }

    /// Falls back to shares if the functions that both sides have do not tell how their costs compare.
    fn check_scale(&mut self, functions: usize) {
        let factor = self.half_width(self.location_variance.sqrt()).exp();
        self.scale = match functions {
            0..FEWEST => Scale::TooFew,
            // With equal totals, all other functions would seem to have become cheaper.
            _ if self.doubt.is_some_and(|doubt| doubt.by_most) => return,
            _ if factor > WIDEST_SCALE => Scale::Uncertain(factor),
            _ => return,
        };
        if matches!(self.scale, Scale::Uncertain(_)) {
            self.apply(Normalization::Total);
        }
    }

    /// The location that follows from the work done or the number of runs, if costs are relative to these.
    fn given_location(&self, normalize: Normalization) -> Option<f64> {
        let old_runs = self.design.old as f64;
        let new_runs = self.design.totals.len() as f64 - old_runs;
        let per_work = |old: f64, new: f64| (new / self.new_total).ln() - (old / self.old_total).ln();
        match normalize {
            Normalization::Core | Normalization::Total => None,
            Normalization::Per { old, new } => Some(per_work(old, new)),
            Normalization::Run => Some(per_work(old_runs, new_runs)),
        }
    }

    /// Tests one function, or any part of it.
    pub fn test(&self, column: &RunCounts, measure: CountKind) -> TestResult {
        self.test_with(column, measure, None)
    }

    /// Tests a function whose `variation` from run to run is known, if it is.
    pub(super) fn test_with(
        &self,
        column: &RunCounts,
        measure: CountKind,
        variation: Option<f64>,
    ) -> TestResult {
        let sums = self.sums(column);
        let share_new = self.expected_share();
        let information = sums.all() * share_new * (1.0 - share_new);
        let noise_factor =
            self.factor(column, measure, information, variation) + information * self.location_variance;
        let (old, new) = (sums.old / noise_factor, sums.new / noise_factor);
        let p =
            |more: f64, less: f64, share: f64| normal_to_t(binomial_mid_p(more, less, share), self.freedom);
        let least = |share: f64| {
            let smallest = binomial_mid_p(old + new, 0.0, share);
            normal_to_t(if self.freedom.is_finite() { smallest.max(1e-300) } else { smallest }, self.freedom)
        };
        TestResult {
            noise_factor,
            log_ratio: self.raw_log_ratio(sums) - self.location,
            standard_error: (noise_factor / information.max(1e-12)).sqrt(),
            increase: (p(new, old, share_new), least(share_new)),
            decrease: (p(old, new, 1.0 - share_new), least(1.0 - share_new)),
        }
    }

    /// The dispersion and the run-to-run change that the noise factors are based on: φ and τ.
    pub fn noise(&self) -> (f64, f64) {
        match (self.trend, self.pair) {
            (Some(trend), _) => (trend.overdispersion, trend.run_to_run),
            (None, Some(pair)) => pair.own,
            (None, None) => (1.0, 0.0),
        }
    }

    /// The variance of a self log ratio as a + b: a shrinks with more samples (in proportion to 1 /
    /// information), b does not. [`detect`](super::detect) computes from both what could have been
    /// detected.
    pub(super) fn typical_variance(&self) -> (f64, f64) {
        let share = self.expected_share();
        let by_pair = self
            .pair
            .map_or((1.0, 0.0), |pair| (pair.inflation * pair.own.0, pair.inflation * pair.own.1.powi(2)));
        let by_trend = self.trend.map_or((1.0, 0.0), |trend| {
            let profiles = self.design.totals.len() as f64;
            (trend.overdispersion, trend.run_to_run.powi(2) / (profiles * share * (1.0 - share)).max(1e-12))
        });
        (by_pair.0.max(by_trend.0), by_pair.1.max(by_trend.1) + self.location_variance)
    }

    /// The part of a function's samples expected on the new side if its cost did not change.
    pub fn expected_share(&self) -> f64 {
        let new = self.new_total * self.location.exp();
        if new.is_finite() { new / (self.old_total + new) } else { 1.0 }
    }

    /// The effective samples of all old profiles and of all new ones: as many as a function would have that is on every
    /// stack. Adding up those of all functions would count a heap's thousands of small objects, which are recorded exactly,
    /// and say nothing about its few large ones.
    pub fn samples(&self) -> (f64, f64) {
        (self.old_total / self.unit_of_total, self.new_total / self.unit_of_total)
    }

    /// The share of the old samples, and that of the new samples rescaled so that unchanged code has the same share on
    /// both sides.
    pub fn comparable_shares(&self, column: &RunCounts) -> (f64, f64) {
        let sums = self.sums(column);
        let new = sums.new * column.unit / self.new_total * (-self.location).exp();
        (sums.old * column.unit / self.old_total, new)
    }

    /// How much more the new side costs per unit of unchanged code, as a fraction of the old total, and the ends of its
    /// 95 % interval.
    pub fn growth(&self) -> [f64; 3] {
        let standard_error =
            if self.design.per_run { self.error_of_total() } else { self.location_variance.sqrt() };
        let error = self.half_width(standard_error);
        [0.0, error, -error].map(|shift| (-self.location - shift).exp_m1())
    }

    /// The standard error of the growth of the total, if runs are compared as they are.
    fn error_of_total(&self) -> f64 {
        let unit = self.unit_of_total;
        let runs = self.design.totals.iter().zip(&self.design.weights);
        let counts = runs.map(|(total, weight)| total / weight / unit).collect();
        self.test(&RunCounts { counts, unit }, CountKind::Total).standard_error
    }

    /// Half the width of the 95 % interval of something with this standard error.
    pub fn half_width(&self, standard_error: f64) -> f64 {
        t_upper_quantile(0.025, self.freedom) * standard_error
    }

    pub(super) fn sums(&self, column: &RunCounts) -> SampleSums {
        let mut counts = self.design.weighted(column);
        let old = counts.by_ref().take(self.design.old).sum();
        SampleSums { old, new: counts.sum() }
    }

    /// The share of all samples of both sides together.
    pub(super) fn pooled_share(&self, column: &RunCounts) -> f64 {
        self.sums(column).all() * column.unit / (self.old_total + self.new_total)
    }

    /// Its share of the old samples, with half a sample added so that a new function has a share to grow
    /// from.
    pub(super) fn old_share(&self, column: &RunCounts) -> f64 {
        (self.sums(column).old + 0.5) * column.unit / self.old_total
    }

    /// ln of the ratio of shares; the added halves keep a count of zero finite.
    fn raw_log_ratio(&self, sums: SampleSums) -> f64 {
        ((sums.new + 0.5) / self.new_total).ln() - ((sums.old + 0.5) / self.old_total).ln()
    }

    /// Whether the smaller side is expected to have five samples, enough for a meaningful log ratio.
    fn is_sizeable(&self, column: &RunCounts) -> bool {
        let share = self.new_total / (self.old_total + self.new_total);
        self.sums(column).all() * share.min(1.0 - share) >= 5.0
    }

    /// Whether a function may tell what unchanged code costs.
    fn is_evidence(&self, column: &RunCounts) -> bool {
        self.is_sizeable(column) && self.is_on_both_sides(column)
    }

    /// Whether both sides have samples: a function that only one side has says nothing about unchanged code.
    fn is_on_both_sides(&self, column: &RunCounts) -> bool {
        let sums = self.sums(column);
        sums.old > 0.0 && sums.new > 0.0
    }

    /// The log ratios and their sampling variances. The variance is that of the *pooled* count: one
    /// taken from the observed counts would be smaller the more samples happen to be on the new side,
    /// which would bias the location upwards.
    fn log_ratios(&self, columns: &[&RunCounts]) -> (Vec<f64>, Vec<f64>) {
        let share = self.new_total / (self.old_total + self.new_total);
        columns
            .iter()
            .map(|column| {
                let sums = self.sums(column);
                let variance = 1.0 / (sums.all() * share) + 1.0 / (sums.all() * (1.0 - share));
                (self.raw_log_ratio(sums), variance)
            })
            .unzip()
    }

    fn fit_trend(&self, own: &[RunCounts]) -> Trend {
        let used: Vec<&RunCounts> = own.iter().filter(|column| self.sums(column).all() >= 3.0).collect();
        let dispersions: Vec<f64> =
            used.iter().map(|column| pearson_dispersion(column, &self.design)).collect();
        let means: Vec<f64> = used.iter().map(|column| self.design.mean(column)).collect();
        let residual = self.design.residual();
        let replicated = self.design.old > 1 && self.design.totals.len() - self.design.old > 1;
        let most_freedom = if replicated { (2.0 * residual as f64 + 4.0).min(20.0) } else { 8.0 };
        dispersion_trend(&dispersions, &means, residual, most_freedom)
    }

    /// Takes φ and τ from the `bulk` of the self counts and from that of the totals, which contain the
    /// variation of whole requests.
    fn fit_pair(&self, bulk: Bulk, columns: &FunctionColumns, noise: Noise) -> PairNoise {
        if let Noise::Fixed(sigma) = noise {
            // Both runs vary, so the standard deviation of their ratio is larger by √2.
            let known = (1.0, 2.0_f64.sqrt() * sigma);
            return PairNoise { own: known, total: known, inflation: 1.0 };
        }
        let own = (bulk.overdispersion, bulk.run_to_run);
        let totals: Vec<&RunCounts> = columns
            .distinct_totals
            .iter()
            .map(|(function, _)| &columns.total[*function])
            // The outermost functions hold nearly every sample and so cannot vary.
            .filter(|column| self.is_sizeable(column) && self.pooled_share(column) < 0.9)
            .collect();
        let mut total = own;
        if totals.len() >= 8 {
            let (ratios, variances) = self.log_ratios(&totals);
            let given = Some(bulk.location).filter(|_| self.design.per_run);
            let bulk = fit_bulk_around(given, &ratios, &variances, prior(noise), 3);
            total = (own.0.max(bulk.overdispersion), own.1.max(bulk.run_to_run));
        }
        PairNoise { own, total, inflation: 1.3 }
    }

    /// The noise factor of one function: from replicates, from the pair, or the larger of the two if
    /// replicates are few.
    fn factor(
        &self,
        column: &RunCounts,
        measure: CountKind,
        information: f64,
        variation: Option<f64>,
    ) -> f64 {
        let by_pair = self.pair.map_or(0.0, |pair| {
            let (phi, typical) = if measure == CountKind::SelfCount { pair.own } else { pair.total };
            let tau = variation.map_or(typical, |variation| variation * self.both_sides());
            (phi + information * tau * tau) * pair.inflation
        });
        let by_replicates = self.trend.map_or(0.0, |trend| self.replicate_factor(column, trend));
        by_pair.max(by_replicates)
    }

    fn replicate_factor(&self, column: &RunCounts, trend: Trend) -> f64 {
        let own = pearson_dispersion(column, &self.design);
        trend.moderate(own, self.design.mean(column), self.design.residual()).max(self.least_factor)
    }
}

/// The prior of τ.
fn prior(noise: Noise) -> Prior {
    match noise {
        Noise::Auto | Noise::Fixed(_) => Prior { median: 0.10, log_sd: 0.6 },
        Noise::Steady => Prior { median: 0.04, log_sd: 0.8 },
    }
}
