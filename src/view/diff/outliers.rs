//! `labels --outliers`: which values of a label differ from the others, and in which functions.
//!
//! Each value is one side of a comparison, and every other value is a run of the other side. So a value stands out only if it
//! differs from the others by more than they differ among themselves.

use std::cmp::Reverse;

use hashbrown::{HashMap, HashSet};

use crate::profile::{Column, Id, LabelSetId, LabelValue, Profile, StackId};
use crate::report::{DiffSide, OutlierRow, Outliers, PartOfWhole};
use crate::stats::compare::Hypothesis;
use crate::stats::effective::heap_unit;
use crate::stats::{CountKind, Incomparable, TestOptions, Verdict};
use crate::tree::{Flat, KeyId, Series, Subject, flat};
use crate::view::Scope;
use crate::view::diff::options::{DiffOptions, DiffSides};
use crate::view::diff::sample_size::{Recorded, SampleSize, heap_variances, sample_size};
use crate::view::diff::significance::{counts, test};
use crate::view::labels::label_text;

/// Values with fewer samples are not tested: nothing below a difference of about 2× would be detectable.
const FEWEST_SAMPLES: f64 = 100.0;

/// At most so many values are tested, the heaviest ones: the work grows with the square of their number.
const MOST_VALUES: usize = 50;

/// Why no values can be compared.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoOutliers {
    /// No sample has the label.
    #[error("no sample has the label {0}")]
    NoLabel(String),
    /// The counts cannot be compared.
    #[error(transparent)]
    Incomparable(#[from] Incomparable),
}

/// Which values of the label `key` differ from the others. The profile must have been loaded with labels.
pub fn outliers(profile: &Profile, scope: &Scope, key: &str) -> Result<Outliers, NoOutliers> {
    let metric = scope.metrics[0];
    let (mut subject, header) = scope.open(profile, "prof.outliers.v1");
    let of_set: Column<LabelSetId, Option<LabelValue>> =
        profile.label_sets.ids().map(|set| profile.label(set, key)).collect();
    if of_set.iter().all(Option::is_none) {
        return Err(NoOutliers::NoLabel(key.to_string()));
    }
    let heap = heap_variances(&[(profile, metric)]);
    let variances = heap.as_ref().map(|heap| &heap.rows[0][..]);
    let size = heap.as_ref().map_or_else(
        || sample_size(&Recorded::of(&[(profile, metric)]), profile, metric).0,
        |heap| SampleSize::ByVariance(heap.scale),
    );
    let (tested, others) = choose(profile, metric, &of_set, size, variances);
    let columns = series(profile, metric, &of_set, &tested, !others.is_empty(), variances);
    subject.series = columns.into_iter().map(Series::from).collect();
    let runs = subject.series.len() - usize::from(variances.is_some());
    let mut search = Search {
        counted: flat(&subject),
        subject,
        runs,
        size,
        tests: 0,
        functions: HashSet::new(),
        untestable: None,
    };
    let mut found = Vec::new();
    if runs == 2 && size == SampleSize::Unknown {
        search.untestable = Some(
            "the profile does not say how much of the metric is one sample, so three or more values are needed".into(),
        );
    } else if runs > 1 {
        // Of two values, both differ by the same amount, in opposite directions.
        let candidates = if runs == 2 { tested.len() - 1..tested.len() } else { 0..tested.len() };
        search.tests = candidates.len() * 2;
        for column in candidates {
            found.extend(search.rows_of(column)?.into_iter().map(|row| (column, row)));
        }
    }
    let differing: HashSet<usize> = found.iter().map(|(column, _)| *column).collect();
    let mut rows: Vec<OutlierRow> =
        found.into_iter().map(|(column, row)| search.row(profile, tested[column], column, &row)).collect();
    let difference = |row: &OutlierRow| (row.inside.fraction() - row.outside.fraction()).abs();
    rows.sort_by(|a, b| difference(b).total_cmp(&difference(a)));
    Ok(Outliers {
        header,
        key: key.to_string(),
        values: tested.len(),
        skipped: others.len(),
        tested: search.functions.len(),
        alpha: TestOptions::default().alpha,
        untestable: search.untestable,
        differing: differing.len(),
        rows,
    })
}

/// Cuts rows of functions whose share is below `min_share` percent, with the value and with the others, and all after the first
/// `limit`.
pub fn limit_outliers(found: &mut Outliers, limit: Option<usize>, min_share: f64) {
    let is_large = |row: &OutlierRow| row.inside.fraction().max(row.outside.fraction()) * 100.0 >= min_share;
    let before = found.rows.len();
    found.rows.retain(is_large);
    found.rows.truncate(limit.unwrap_or(usize::MAX));
    found.header.elided_rows = (before - found.rows.len()) as u64;
}

/// The values to test, the heaviest first, and the others.
fn choose(
    profile: &Profile,
    metric: usize,
    of_set: &Column<LabelSetId, Option<LabelValue>>,
    size: SampleSize,
    variances: Option<&[i64]>,
) -> (Vec<LabelValue>, Vec<LabelValue>) {
    let mut sums: HashMap<LabelValue, (i64, f64)> = HashMap::new();
    for (row, &set) in profile.samples.labels.iter().enumerate() {
        let value = profile.samples.values[metric][row];
        if let Some(of_label) = of_set[set].filter(|_| value != 0) {
            let (sum, variance) = sums.entry(of_label).or_default();
            *sum += value;
            *variance += variances.map_or(0.0, |variances| variances[row] as f64);
        }
    }
    let whole: i64 = sums.values().map(|(sum, _)| sum).sum();
    let has_enough = |&(sum, variance): &(i64, f64)| match size {
        SampleSize::Known(size) | SampleSize::Mean(size) | SampleSize::ByClock(size) => {
            sum as f64 >= FEWEST_SAMPLES * size as f64
        }
        SampleSize::ByVariance(scale) => {
            sum as f64 >= FEWEST_SAMPLES * heap_unit(sum as f64, variance * scale)
        }
        SampleSize::Unknown => sum as f64 >= whole as f64 / FEWEST_SAMPLES,
    };
    let (mut tested, mut others): (Vec<_>, Vec<_>) = sums.iter().partition(|(_, sums)| has_enough(sums));
    tested.sort_by_key(|(value, (sum, _))| (Reverse(*sum), value_text(profile, **value)));
    others.extend(tested.split_off(tested.len().min(MOST_VALUES)));
    let values = |some: Vec<(&LabelValue, _)>| some.into_iter().map(|(value, _)| *value).collect();
    (values(tested), values(others))
}

fn value_text(profile: &Profile, value: LabelValue) -> (i64, &str) {
    match value {
        LabelValue::Text(text) => (0, profile.symbols.strings.get(text)),
        LabelValue::Number(number, unit) => (number, profile.symbols.strings.get(unit)),
    }
}

/// The values of every stack: one column for each value that is tested, one for all others if there are any, and one for the
/// variances of a heap.
fn series(
    profile: &Profile,
    metric: usize,
    of_set: &Column<LabelSetId, Option<LabelValue>>,
    tested: &[LabelValue],
    has_others: bool,
    variances: Option<&[i64]>,
) -> Vec<Column<StackId, i64>> {
    let columns: HashMap<LabelValue, usize> =
        tested.iter().enumerate().map(|(column, value)| (*value, column)).collect();
    let runs = tested.len() + usize::from(has_others);
    let mut series = vec![Column::filled(0, profile.stacks.len()); runs + usize::from(variances.is_some())];
    for (row, &set) in profile.samples.labels.iter().enumerate() {
        let value = profile.samples.values[metric][row];
        let Some(of_label) = of_set[set].filter(|_| value != 0) else { continue };
        let stack = profile.samples.stack[row];
        series[columns.get(&of_label).copied().unwrap_or(tested.len())][stack] += value;
        if let Some(variances) = variances {
            series[runs][stack] += variances[row];
        }
    }
    series
}

/// The comparisons of one label.
struct Search<'p> {
    subject: Subject<'p>,
    counted: Flat,
    /// The number of columns that are values of the label.
    runs: usize,
    size: SampleSize,
    /// How many comparisons share α: two directions for each value.
    tests: usize,
    /// The functions that were tested.
    functions: HashSet<usize>,
    untestable: Option<String>,
}

impl Search<'_> {
    /// What differs between the value in `column` and all others.
    fn rows_of(&mut self, column: usize) -> Result<Vec<Hypothesis>, Incomparable> {
        let side = |profiles| DiffSide { profiles, ..DiffSide::default() };
        let sides = DiffSides::new(side(self.runs - 1), side(1), self.size);
        let usual = TestOptions::default();
        let strict = TestOptions { alpha: usual.alpha / self.tests as f64, one_build: true, ..usual };
        let options = DiffOptions { test: strict, ..DiffOptions::default() };
        self.swap(column);
        let result = test((&self.subject, &self.counted), &counts(&self.counted, &sides), &sides, &options);
        self.swap(column);
        let (comparison, untestable) = result?;
        self.untestable = untestable.or(self.untestable.take());
        let rows = comparison.map(|comparison| comparison.hypotheses).unwrap_or_default();
        let is_tested = |row: &&Hypothesis| row.increase.reachable || row.decrease.reachable;
        self.functions.extend(rows.iter().filter(is_tested).map(|row| row.function));
        Ok(rows
            .into_iter()
            .filter(|row| matches!(row.verdict, Verdict::Regressed | Verdict::Improved))
            .collect())
    }

    /// Moves a column to where the new side is, or back.
    fn swap(&mut self, column: usize) {
        let last = self.runs - 1;
        self.subject.series.swap(column, last);
        self.counted.self_value.swap(column, last);
        self.counted.total.swap(column, last);
    }

    fn row(&self, profile: &Profile, value: LabelValue, column: usize, row: &Hypothesis) -> OutlierRow {
        let key = KeyId::new(row.function);
        let counts = match row.measure {
            CountKind::SelfCount => &self.counted.self_value,
            CountKind::Total => &self.counted.total,
        };
        let sum = |columns: &[usize]| PartOfWhole {
            part: columns.iter().map(|&column| counts[column][key]).sum(),
            whole: columns.iter().flat_map(|&column| self.counted.self_value[column].iter()).sum(),
        };
        let others: Vec<usize> = (0..self.runs).filter(|&other| other != column).collect();
        let evidence = row.evidence();
        let (value, unit) = label_text(profile, value);
        OutlierRow {
            value,
            unit,
            name: self.subject.keys.name(key).clone(),
            file: self.subject.keys.get(key).file.clone(),
            test: row.measure,
            inside: sum(&[column]),
            outside: sum(&others),
            ratio: row.ratio,
            ratio_low: row.ratio_low,
            ratio_high: row.ratio_high,
            p: evidence.p,
            q: (evidence.q * self.tests as f64).min(1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::from_notation;
    use crate::report::LabelText;
    use crate::stats::random::Random;

    /// One row per function and region; the counts of a region follow its name.
    fn regions(counts: &[(&str, [i64; 8])]) -> Profile {
        let row = |region: &str, (function, count): (usize, &i64)| {
            format!("main;f{function} {count} {{region={region}}}\n")
        };
        let rows = counts.iter().flat_map(|(region, counts)| {
            counts.iter().enumerate().map(|one| row(region, one)).collect::<Vec<_>>()
        });
        from_notation(rows.collect::<String>().trim_end())
    }

    fn search(profile: &Profile) -> Outliers {
        outliers(profile, &Scope::metric(0), "region").unwrap()
    }

    const USUAL: [i64; 8] = [1001, 900, 800, 700, 600, 500, 400, 99];

    #[test]
    fn the_odd_region_is_found_however_much_traffic_it_has() {
        // f1 takes 3,600 of 7,700 samples in eu, and 900 of 5,000 in each of the others: four times as much per sample of
        // the other functions.
        let mut odd = USUAL;
        odd[1] = 3600;
        for scale in [1, 3] {
            let eu = odd.map(|count| count * scale);
            let found = search(&regions(&[("us", USUAL), ("eu", eu), ("ap", USUAL), ("sa", USUAL)]));
            let [row] = &found.rows[..] else { panic!("{:?}", found.rows) };
            assert_eq!((&row.value, &*row.name), (&LabelText::Text("eu".to_string()), "f1"));
            assert_eq!(row.test, CountKind::SelfCount);
            assert_eq!(row.inside, PartOfWhole { part: 3600 * scale, whole: 7700 * scale });
            assert_eq!(row.outside, PartOfWhole { part: 2700, whole: 15_000 });
            assert!((row.ratio.unwrap() - 4.0).abs() < 0.02, "{:?}", row.ratio);
            assert!(row.q < 0.01 && row.p <= row.q, "{} {}", row.p, row.q);
            assert_eq!((found.values, found.skipped, found.differing), (4, 0, 1));
        }
    }

    #[test]
    fn more_traffic_is_no_difference() {
        let busy = USUAL.map(|count| count * 5);
        let found = search(&regions(&[("us", USUAL), ("eu", busy), ("ap", USUAL)]));
        assert_eq!((found.rows.len(), found.differing, found.values), (0, 0, 3));
        // All eight functions; main is on every stack, so its total cannot differ.
        assert!(found.tested >= 8, "{}", found.tested);
    }

    #[test]
    fn of_two_values_the_lighter_is_compared_with_the_other() {
        let mut odd = USUAL;
        odd[1] = 90;
        let found = search(&regions(&[("us", USUAL), ("eu", odd)]));
        let [row] = &found.rows[..] else { panic!("{:?}", found.rows) };
        assert_eq!((&row.value, &*row.name), (&LabelText::Text("eu".to_string()), "f1"));
        assert!((row.ratio.unwrap() - 0.1).abs() < 0.005, "{:?}", row.ratio);
    }

    #[test]
    fn light_values_count_among_the_others() {
        let light = [12, 12, 12, 12, 12, 12, 12, 15]; // 99 samples, one too few
        let found = search(&regions(&[("us", USUAL), ("eu", light), ("ap", light)]));
        assert_eq!((found.values, found.skipped), (1, 2));
        let found = search(&regions(&[("us", light), ("eu", light)]));
        assert_eq!((found.values, found.skipped, found.tested), (0, 2, 0));
    }

    #[test]
    fn one_value_has_nothing_to_differ_from() {
        let found = search(&regions(&[("us", USUAL)]));
        assert_eq!((found.values, found.skipped, found.tested, found.rows.len()), (1, 0, 0, 0));
        let unknown = outliers(&regions(&[("us", USUAL)]), &Scope::metric(0), "zone");
        assert_eq!(unknown.unwrap_err(), NoOutliers::NoLabel("zone".to_string()));
    }

    #[test]
    fn samples_without_the_label_are_no_value() {
        let profile = from_notation("main;f0 9000\nmain;f1 500 {region=us}\nmain;f1 300 {region=eu}");
        let found = search(&profile);
        assert_eq!((found.values, found.rows.len()), (2, 0));
    }

    /// A profile of regions that all do the same: each sample is of a random function, `f0` the most likely.
    fn drawn(seed: u64, values: usize) -> Profile {
        let mut random = Random::new(seed);
        let mut text = String::new();
        for region in 0..values {
            let mut counts = [0; 24];
            for _ in 0..1000 * (region + 1) {
                let (a, b) = (random.number() % 24, random.number() % 24);
                counts[a.min(b) as usize] += 1;
            }
            for (function, count) in counts.iter().enumerate() {
                text += &format!("main;g{};f{function} {count} {{region=r{region}}}\n", function % 5);
            }
        }
        from_notation(text.trim_end())
    }

    #[test]
    fn chance_is_no_difference() {
        for (seed, values) in [2, 3, 5, 8].repeat(10).into_iter().enumerate() {
            let found = search(&drawn(seed as u64, values));
            assert_eq!(found.rows.len(), 0, "{seed}: {:?}", found.rows);
        }
    }

    #[test]
    fn events_that_depend_on_each_other_need_three_values() {
        let mut profile = regions(&[("us", USUAL), ("eu", USUAL)]);
        profile.meta.metrics[0].name = "contentions".into();
        assert!(search(&profile).untestable.is_some());
        let mut profile = regions(&[("us", USUAL), ("eu", USUAL), ("ap", USUAL.map(|count| count + 20))]);
        profile.meta.metrics[0].name = "contentions".into();
        assert_eq!(search(&profile).untestable, None);
    }

    #[test]
    fn rows_are_cut_and_counted() {
        let mut odd = USUAL;
        (odd[1], odd[5]) = (3600, 2500);
        let mut found = search(&regions(&[("us", USUAL), ("eu", odd), ("ap", USUAL), ("sa", USUAL)]));
        assert_eq!(found.rows.len(), 2);
        limit_outliers(&mut found, Some(1), 0.0);
        assert_eq!((found.rows.len(), found.header.elided_rows, &*found.rows[0].name), (1, 1, "f1"));
        limit_outliers(&mut found, None, 90.0);
        assert_eq!((found.rows.len(), found.header.elided_rows), (0, 1));
    }
}
