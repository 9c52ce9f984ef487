//! `trend`: in which functions the level of a series of profiles changed for good, and which rise and do not come back.

mod history;

pub use history::{History, HistoryError, Snapshot, TrendOrder};

use self::history::Point;
use crate::kind;
use crate::parallel;
use crate::report::{Header, Name, Trend, TrendPoint, TrendRise, TrendRow, TrendStep, TrendVerdict};
use crate::stats::distributions::t_upper_quantile;
use crate::stats::multiplicity::holm;
use crate::stats::rise::{self, rise, rise_p};
use crate::stats::scales::unchanged;
use crate::stats::steps::{Step, StepSearch, information, kept_by_most, large_steps, levels, steps};
use crate::stats::{CountKind, Normalization};
use crate::tree::By;
use crate::unit::{Family, Unit};
use crate::view::{grouping, normalization_name};

/// Options for `trend`.
#[derive(Clone, Debug)]
pub struct TrendOptions {
    /// What rows stand for.
    pub by: By,
    /// The value of a function that is followed.
    pub value: CountKind,
    /// What the order of the profiles follows.
    pub order: TrendOrder,
    /// What costs are relative to; `None` for unchanged code if the metric is time, and otherwise the run.
    pub normalize: Option<Normalization>,
    /// The accepted probability of a false alarm, in all functions together.
    pub alpha: f64,
    /// The smallest change that counts, as a part of the level: 0.05 means by 5 %.
    pub min_effect: f64,
    /// The smallest change that counts, as a part of a profile; `None` for 1 % for steps and 0.1 % for leaks.
    pub min_points: Option<f64>,
    /// Functions with a smaller share of all profiles are not tested; `None` for 0.5 % for steps and 0.05 % for leaks.
    pub min_tested: Option<f64>,
}

impl Default for TrendOptions {
    fn default() -> Self {
        TrendOptions {
            by: By::Function,
            value: CountKind::SelfCount,
            order: TrendOrder::Time,
            normalize: None,
            alpha: 0.01,
            min_effect: 0.05,
            min_points: None,
            min_tested: None,
        }
    }
}

/// Tells steps and leaks from noise.
pub fn trend(history: &History, options: &TrendOptions) -> Trend {
    let metric = &history.metric;
    let is_memory = Unit::parse(&metric.unit).family() == Family::Bytes;
    let is_quantity = is_memory || kind::is_quantity(&metric.name);
    let usual = if is_quantity { Normalization::Run } else { Normalization::Core };
    let normalize = options.normalize.unwrap_or(usual);
    let scales = scales(history, normalize);
    let mean_total = history.points.iter().zip(&scales).map(|(point, scale)| point.total as f64 * scale);
    let mean_total = mean_total.sum::<f64>() / history.len().max(1) as f64;
    let series = Series { history, options, scales: &scales, mean_total };

    let leaks = if kind::is_level(&metric.name) { series.leaks() } else { Vec::new() };
    let leaking: Vec<u32> =
        leaks.iter().filter(|row| row.1.verdict == TrendVerdict::Leak).map(|row| row.0).collect();
    let (searched, needed) = series.steps(&leaking);
    let tested = if leaks.is_empty() { searched.len() } else { leaks.len() };
    let mut rows: Vec<TrendRow> = searched;
    rows.extend(leaks.into_iter().filter(|(number, _)| leaking.contains(number)).map(|(_, row)| row));
    sort_by_importance(&mut rows, &scales);
    let count = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    let (leaking, regressed, improved) =
        (count(TrendVerdict::Leak), count(TrendVerdict::Regressed), count(TrendVerdict::Improved));
    let can_find = needed.is_some() || (kind::is_level(&metric.name) && history.len() >= rise::FEWEST);
    let verdict = match rows.first().map_or(TrendVerdict::None, |row| row.verdict) {
        TrendVerdict::None if !can_find => TrendVerdict::Inconclusive,
        verdict => verdict,
    };
    let points = history.points.iter().zip(&scales);
    let total = history.points.iter().fold(0_i64, |sum, point| sum.saturating_add(point.total));
    Trend {
        header: Header {
            schema: "prof.trend.v1",
            metric: metric.clone(),
            total,
            shown: total,
            profiles: history.len() as u32,
            by: grouping(&options.by),
            ..Header::default()
        },
        value: options.value.word(),
        order: options.order.word(),
        relative_to: normalization_name(normalize),
        verdict,
        alpha: options.alpha,
        tested,
        regressed,
        improved,
        leaking,
        needed,
        series: points
            .map(|(point, &scale)| TrendPoint {
                input: point.input.clone(),
                time_ns: point.time_ns,
                total: point.total,
                scale,
            })
            .collect(),
        rows,
        matched: Vec::new(),
    }
}

/// The most important first: leaks and regressions by how much they grew, then improvements, then the rest by their sum.
fn sort_by_importance(rows: &mut Vec<TrendRow>, scales: &[f64]) {
    let sum =
        |row: &TrendRow| row.values.iter().zip(scales).map(|(value, scale)| *value as f64 * scale).sum();
    let weight = |row: &TrendRow| match (&row.step, row.verdict) {
        (Some(step), TrendVerdict::Regressed | TrendVerdict::Improved) => (step.new - step.old).abs(),
        (_, TrendVerdict::Leak) => row.last - row.first,
        _ => sum(row),
    };
    // A row has a value for each of perhaps thousands of profiles, so it is added up once.
    let mut weighed: Vec<(f64, TrendRow)> = rows.drain(..).map(|row| (weight(&row), row)).collect();
    weighed.sort_by(|(of_a, a), (of_b, b)| {
        let verdicts = a.verdict.cmp(&b.verdict);
        verdicts.then_with(|| of_b.total_cmp(of_a)).then_with(|| a.name.cmp(&b.name))
    });
    rows.extend(weighed.into_iter().map(|(_, row)| row));
}

/// The factors that make the values of profiles comparable: a profile of average size keeps its values.
fn scales(history: &History, normalize: Normalization) -> Vec<f64> {
    let own: Vec<f64> = history.points.iter().map(own_sum).collect();
    let mean = own.iter().sum::<f64>() / own.len().max(1) as f64;
    let ratios = match normalize {
        Normalization::Run | Normalization::Per { .. } => return vec![1.0; own.len()],
        Normalization::Total => vec![1.0; own.len()],
        Normalization::Core => unchanged(&core_costs(history)),
    };
    let scale = |(own, ratio): (&f64, f64)| if *own > 0.0 { mean / own / ratio } else { 1.0 };
    own.iter().zip(ratios).map(scale).collect()
}

fn own_sum(point: &Point) -> f64 {
    point.functions.iter().map(|(_, [own, _])| *own as f64).sum()
}

/// The self of the heaviest functions in each profile, and of all others together. Light functions say little about what
/// unchanged code costs, but there may be a hundred thousand of them.
fn core_costs(history: &History) -> Vec<Vec<f64>> {
    const MOST: usize = 500;
    let mut sums: Vec<(f64, u32)> = (0..history.names.len() as u32).map(|number| (0.0, number)).collect();
    for (number, [own, _]) in history.points.iter().flat_map(|point| &point.functions) {
        sums[*number as usize].0 += *own as f64;
    }
    sums.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut place = vec![MOST.min(sums.len()); sums.len()];
    sums.iter().take(MOST).enumerate().for_each(|(rank, (_, number))| place[*number as usize] = rank);
    let count = MOST.min(sums.len()) + 1;
    let costs = |point: &Point| {
        let mut costs = vec![0.0; count];
        for (number, [own, _]) in &point.functions {
            costs[place[*number as usize]] += *own as f64;
        }
        costs
    };
    history.points.iter().map(costs).collect()
}

/// A history on its way to rows.
struct Series<'h> {
    history: &'h History,
    options: &'h TrendOptions,
    scales: &'h [f64],
    /// The mean of the totals of all profiles, rescaled.
    mean_total: f64,
}

/// The share that a function needs to be tested, and the smallest change that counts.
#[derive(Clone, Copy)]
struct Floors {
    tested: f64,
    points: f64,
}

const OF_STEPS: Floors = Floors { tested: 0.005, points: 0.01 };
/// A leak may be found while it is small.
const OF_LEAKS: Floors = Floors { tested: 0.0005, points: 0.001 };

/// The recorded values of a function, and the same rescaled.
struct Followed {
    number: u32,
    recorded: Vec<i64>,
    costs: Vec<f64>,
}

impl Series<'_> {
    fn floors(&self, usual: Floors) -> Floors {
        let TrendOptions { min_points, min_tested, .. } = *self.options;
        Floors { tested: min_tested.unwrap_or(usual.tested), points: min_points.unwrap_or(usual.points) }
    }

    /// The functions whose share of all profiles is large enough, without some.
    fn followed(&self, least_share: f64, without: &[u32]) -> Vec<Followed> {
        let History { names, points, .. } = self.history;
        let place = usize::from(self.options.value == CountKind::Total);
        let mut sums = vec![0.0; names.len()];
        for (point, scale) in points.iter().zip(self.scales) {
            point.functions.iter().for_each(|(number, sums_of)| {
                sums[*number as usize] += (sums_of[place] as f64 * scale).abs();
            });
        }
        let least = least_share * self.mean_total * points.len() as f64;
        let mut row_of = vec![None; names.len()];
        let mut followed = Vec::new();
        for number in 0..names.len() as u32 {
            let sum = sums[number as usize];
            if sum > 0.0 && sum >= least && !without.contains(&number) {
                row_of[number as usize] = Some(followed.len());
                followed.push(Followed {
                    number,
                    recorded: vec![0; points.len()],
                    costs: vec![0.0; points.len()],
                });
            }
        }
        for (at, (point, scale)) in points.iter().zip(self.scales).enumerate() {
            for (number, sums) in &point.functions {
                if let Some(row) = row_of[*number as usize] {
                    followed[row].recorded[at] = sums[place];
                    followed[row].costs[at] = sums[place] as f64 * scale;
                }
            }
        }
        followed
    }

    /// All functions that were tested for leaks, with their numbers.
    fn leaks(&self) -> Vec<(u32, TrendRow)> {
        let floors = self.floors(OF_LEAKS);
        let followed = self.followed(floors.tested, &[]);
        let kept = kept_by_most(followed.iter().map(|function| &function.costs[..]));
        let p: Vec<f64> = followed.iter().map(|function| rise_p(&function.costs, kept)).collect();
        let q = holm(&p);
        let rows = followed.into_iter().zip(q).map(|(function, q)| {
            let rise =
                (q < self.options.alpha).then(|| self.rise(&function.costs, kept, q, floors)).flatten();
            (function.number, self.row(function, rise, &[], 1, kept))
        });
        rows.collect()
    }

    /// How a function rises, if that is a leak, with its level at both ends.
    fn rise(&self, costs: &[f64], kept: f64, q: f64, floors: Floors) -> Option<(TrendRise, f64, f64)> {
        let points = &self.history.points;
        let times: Option<Vec<i64>> = points.iter().map(|point| point.time_ns).collect();
        // Hours are only known if the profiles are in the order of their times.
        let times = times.filter(|times| times.is_sorted() && times.first() < times.last());
        let by_number: Vec<f64> = (0..costs.len()).map(|number| number as f64).collect();
        let hours =
            times.map(|times| times.iter().map(|time| (time - times[0]) as f64 / HOUR).collect::<Vec<f64>>());
        let found = rise(hours.as_ref().unwrap_or(&by_number), costs, kept)?;
        let growth = found.last - found.first;
        let is_large = growth >= self.options.min_effect * found.first.max(0.0)
            && growth >= floors.points * self.mean_total;
        if !found.lasts || !is_large || found.slope <= 0.0 {
            return None;
        }
        let per_hour = hours.is_some().then_some(found.slope);
        let rise = TrendRise {
            per_hour,
            per_profile: growth / (costs.len() - 1) as f64,
            low: found.low / found.slope,
            high: found.high / found.slope,
            in_an_hour: per_hour.map(|slope| found.last + slope),
            in_a_day: per_hour.map(|slope| found.last + 24.0 * slope),
            p: found.p,
            q,
        };
        Some((rise, found.first.max(0.0), found.last))
    }

    /// The rows of all functions that were searched for steps, and how many profiles a step has to last to be found.
    fn steps(&self, without: &[u32]) -> (Vec<TrendRow>, Option<usize>) {
        let floors = self.floors(OF_STEPS);
        let followed = self.followed(floors.tested, without);
        let kept = kept_by_most(followed.iter().map(|function| &function.costs[..]));
        let search = StepSearch { kept, ..StepSearch::new(self.options.alpha, followed.len()) };
        let needed = needed(self.history.len(), &search);
        let found = parallel::ranges(followed.len(), 1, |range| {
            range.map(|number| steps(&followed[number].costs, &search)).collect::<Vec<_>>()
        });
        let size = |old: f64, new: f64| {
            let effect = (old.max(new) / old.min(new).max(f64::MIN_POSITIVE) - 1.0) / self.options.min_effect;
            effect.min((new - old).abs() / (floors.points * self.mean_total))
        };
        let tests = followed.len();
        let rows = followed.into_iter().zip(found.into_iter().flatten()).map(|(function, found)| {
            let found = large_steps(&function.costs, found, size);
            self.row(function, None, &found, tests, kept)
        });
        (rows.collect(), needed)
    }

    fn row(
        &self,
        function: Followed,
        rise: Option<(TrendRise, f64, f64)>,
        steps: &[Step],
        tests: usize,
        kept: f64,
    ) -> TrendRow {
        let name: &Name = &self.history.names[function.number as usize];
        // Without a step, a mean would be neither the first nor the last: `main.leak` that grows from 130 to 280 is not `205 205`.
        let means = if steps.is_empty() { function.costs.clone() } else { levels(&function.costs, steps) };
        let step = self.last_step(&function.costs, steps, tests, kept);
        let verdict = match (&rise, &step) {
            (Some(_), _) => TrendVerdict::Leak,
            (None, Some(step)) if step.new > step.old => TrendVerdict::Regressed,
            (None, Some(_)) => TrendVerdict::Improved,
            (None, None) => TrendVerdict::None,
        };
        let ends = (means.first().copied().unwrap_or(0.0), means.last().copied().unwrap_or(0.0));
        let (first, last) = rise.map_or(ends, |(_, first, last)| (first, last));
        TrendRow {
            name: name.clone(),
            verdict,
            first,
            last,
            step,
            rise: rise.map(|(rise, ..)| rise),
            steps: steps.iter().map(|step| step.at).collect(),
            values: function.recorded,
        }
    }

    fn last_step(&self, costs: &[f64], steps: &[Step], tests: usize, kept: f64) -> Option<TrendStep> {
        let &Step { at, p } = steps.last()?;
        let start = steps.len().checked_sub(2).map_or(0, |before| steps[before].at);
        let (before, after) = (Sample::of(&costs[start..at]), Sample::of(&costs[at..]));
        let ratio = (before.mean > 0.0 && after.mean > 0.0).then(|| after.mean / before.mean);
        // Of the logarithm of the ratio.
        let error = ((before.error() + after.error()) / information(kept)).sqrt();
        let freedom = ((costs.len() - start) as f64 - 2.0).max(1.0);
        let width = (t_upper_quantile(0.025, freedom) * error).exp();
        let point = &self.history.points[at];
        Some(TrendStep {
            after: self.history.points[at - 1].input.clone(),
            since_ns: point.time_ns,
            old: before.mean,
            new: after.mean,
            ratio,
            ratio_low: ratio.map(|ratio| ratio / width).filter(|low| low.is_finite()),
            ratio_high: ratio.map(|ratio| ratio * width).filter(|high| high.is_finite()),
            p,
            q: (p * tests as f64).min(1.0),
        })
    }
}

/// Nanoseconds.
const HOUR: f64 = 3.6e12;

/// Values of one level.
struct Sample {
    mean: f64,
    variance: f64,
    count: f64,
}

impl Sample {
    fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let variance =
            values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
        Sample { mean, variance, count }
    }

    /// The squared error of the mean as a part of it.
    fn error(&self) -> f64 {
        self.variance / self.count / (self.mean * self.mean).max(f64::MIN_POSITIVE)
    }
}

/// How many profiles the step of one of these series has to last at least to be found among so many; `None` if there are too
/// few for any step. Of n values, the m largest are last in one of n! / (m! (n - m)!) orders.
fn needed(profiles: usize, search: &StepSearch) -> Option<usize> {
    let mut orders = 1.0;
    let blocks = (profiles as f64 * information(search.kept)).round() as usize;
    (1..=blocks / 2).find_map(|last| {
        orders *= (blocks - last + 1) as f64 / last as f64;
        let length = (last as f64 / information(search.kept)).ceil() as usize;
        (1.0 / orders <= search.threshold).then_some(length.max(search.least))
    })
}

#[cfg(test)]
mod tests;
