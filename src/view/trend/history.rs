//! What is kept of a series of profiles: the sums of each function per profile, and nothing else, so that thousands of
//! profiles fit in memory.

use hashbrown::HashMap;

use crate::name::natural;
use crate::profile::Profile;
use crate::report::{MetricName, Name};
use crate::transform::common_divisor;
use crate::tree::{By, Flat, Subject, flat};
use crate::unit::Unit;
use crate::view::metric_name;

/// The sums of one profile.
#[derive(Clone, Debug)]
pub struct Snapshot {
    input: String,
    time_ns: Option<i64>,
    metric: MetricName,
    total: i64,
    /// Self and total of each function that has any.
    functions: Vec<(Name, Sums)>,
}

/// Self and total.
type Sums = [i64; 2];

impl Snapshot {
    /// The sums of a metric of a profile, which was read from `input`.
    pub fn of(input: String, profile: &Profile, metric: usize, by: &By) -> Self {
        let subject = Subject::new(profile, by, &[metric]);
        let Flat { self_value, total } = flat(&subject);
        let sums = subject.keys.ids().map(|key| (key, [self_value[0][key], total[0][key]]));
        let sums = sums.filter(|(_, sums)| *sums != [0, 0]);
        Snapshot {
            input,
            time_ns: profile.meta.time_ns,
            metric: metric_name(profile, metric),
            total: profile.shown_total(metric),
            functions: sums.map(|(key, sums)| (subject.keys.name(key).clone(), sums)).collect(),
        }
    }

    /// The name of the input.
    pub fn input(&self) -> &str {
        &self.input
    }

    /// A profile in which nothing is left after filtering.
    pub fn empty(input: String, profile: &Profile, metric: usize) -> Self {
        let (metric, time_ns) = (metric_name(profile, metric), profile.meta.time_ns);
        Snapshot { input, time_ns, metric, total: 0, functions: Vec::new() }
    }
}

/// Series of profiles in some order.
#[derive(Clone, Debug, Default)]
pub struct History {
    pub(super) metric: MetricName,
    pub(super) names: Vec<Name>,
    pub(super) points: Vec<Point>,
    numbers: HashMap<Name, u32>,
}

/// One profile of a series.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub(super) input: String,
    pub(super) time_ns: Option<i64>,
    pub(super) total: i64,
    /// The functions by number, in ascending order.
    pub(super) functions: Vec<(u32, Sums)>,
}

/// Which order profiles are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum TrendOrder {
    /// When they were recorded
    Time,
    /// By name; numbers in names count as numbers
    Name,
    /// As given
    Given,
}

impl TrendOrder {
    /// The word in options and reports.
    pub fn word(self) -> &'static str {
        match self {
            TrendOrder::Time => "time",
            TrendOrder::Name => "name",
            TrendOrder::Given => "given",
        }
    }
}

/// Why a profile cannot be part of a series.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// Its metric has another kind of unit: the input, its unit, and that of the others.
    #[error("{0}: the metric is in {1}, but in other profiles it is in {2}")]
    Units(String, String, String),
    /// Its values do not fit in 64 bits in the finest unit of all profiles.
    #[error("{0}: the values do not fit 64 bits in the finest unit of all profiles")]
    TooLarge(String),
    /// The sums of so many profiles exceed the memory limit.
    #[error("the functions of {0} profiles exceed the memory limit")]
    TooMany(usize),
}

impl History {
    /// Adds a profile after the others. If it is a copy of one that was added, which has the same time and the same values,
    /// it is left out, and the other one is returned.
    pub fn add(&mut self, snapshot: Snapshot) -> Result<Option<&str>, HistoryError> {
        let Snapshot { input, time_ns, metric, total, functions } = snapshot;
        let factor = self.unify(&metric, &input)?;
        let scaled =
            |value: i64| value.checked_mul(factor).ok_or_else(|| HistoryError::TooLarge(input.clone()));
        let mut numbered = Vec::with_capacity(functions.len());
        for (name, [own, total]) in functions {
            let next = self.names.len() as u32;
            let number = *self.numbers.entry_ref(&name).or_insert_with(|| next);
            if number == next {
                self.names.push(name);
            }
            numbered.push((number, [scaled(own)?, scaled(total)?]));
        }
        numbered.sort_unstable();
        let total = scaled(total)?;
        let point = Point { input, time_ns, total, functions: numbered };
        if let Some(copy) = self.points.iter().position(|other| other.is_copy_of(&point)) {
            return Ok(Some(&self.points[copy].input));
        }
        self.points.push(point);
        Ok(None)
    }

    /// Makes the metric of this history as fine as `metric`. Returns the factor by which values of that have to be
    /// multiplied.
    fn unify(&mut self, metric: &MetricName, input: &str) -> Result<i64, HistoryError> {
        if self.points.is_empty() {
            self.metric = metric.clone();
            return Ok(1);
        }
        let too_large = || HistoryError::TooLarge(input.to_string());
        let (mut own, mut other) = (1_i64, 1_i64);
        if self.metric.unit != metric.unit {
            let (unit, new) = (Unit::parse(&self.metric.unit), Unit::parse(&metric.unit));
            if let Some(factor) = new.factor_to(&unit) {
                other = factor;
            } else {
                let units =
                    || HistoryError::Units(input.into(), metric.unit.clone(), self.metric.unit.clone());
                own = unit.factor_to(&new).ok_or_else(units)?;
                self.metric.unit.clone_from(&metric.unit);
            }
        }
        let divisor = common_divisor(self.metric.divisor, metric.divisor).ok_or_else(too_large)?;
        let finer = |divisor_of: u64| i64::try_from(divisor / divisor_of.max(1)).map_err(|_| too_large());
        own = own.checked_mul(finer(self.metric.divisor)?).ok_or_else(too_large)?;
        other = other.checked_mul(finer(metric.divisor)?).ok_or_else(too_large)?;
        self.metric.divisor = divisor;
        if own != 1 {
            for point in &mut self.points {
                let values = point.functions.iter_mut().flat_map(|(_, sums)| sums);
                for value in values.chain([&mut point.total]) {
                    *value = value.checked_mul(own).ok_or_else(too_large)?;
                }
            }
        }
        if own != 1 || other != 1 {
            self.metric.resolution = None;
        }
        Ok(other)
    }

    /// Puts the profiles in order. Those recorded at the same time are in the order of their names.
    pub fn sort(&mut self, order: TrendOrder) {
        let by_name = |a: &Point, b: &Point| natural(&a.input, &b.input);
        match order {
            TrendOrder::Time => {
                self.points.sort_by(|a, b| a.time_ns.cmp(&b.time_ns).then_with(|| by_name(a, b)));
            }
            TrendOrder::Name => self.points.sort_by(by_name),
            TrendOrder::Given => {}
        }
    }

    /// Reverses the order.
    pub fn reverse(&mut self) {
        self.points.reverse();
    }

    /// Joins a function with one of another name that replaced it, if no profile has both, and those that have the one come
    /// before those that have the other. Returns whether they were joined. Of two functions that were merely seen by
    /// chance, neither replaces the other.
    pub fn join(&mut self, old: &str, new: &str) -> bool {
        let number = |name: &str| self.numbers.get(name).copied();
        let (Some(old), Some(new)) = (number(old), number(new)) else { return false };
        let has = |point: &Point, number: u32| {
            point.functions.binary_search_by_key(&number, |(own, _)| *own).is_ok()
        };
        let found = |number: u32| -> Vec<usize> {
            (0..self.points.len()).filter(|&point| has(&self.points[point], number)).collect()
        };
        let (of_old, of_new) = (found(old), found(new));
        let is_before = |one: &[usize], other: &[usize]| one.last() < other.first();
        if of_old.is_empty()
            || of_new.is_empty()
            || !(is_before(&of_old, &of_new) || is_before(&of_new, &of_old))
        {
            return false;
        }
        for point in of_old {
            let functions = &mut self.points[point].functions;
            functions.iter_mut().filter(|(number, _)| *number == old).for_each(|(number, _)| *number = new);
            functions.sort_unstable();
        }
        true
    }

    /// How many profiles there are.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// The profiles with the time at which each was recorded.
    pub fn times(&self) -> impl Iterator<Item = (&str, Option<i64>)> {
        self.points.iter().map(|point| (&*point.input, point.time_ns))
    }

    /// About how much memory it takes, in bytes.
    pub fn bytes(&self) -> u64 {
        let sums: usize = self.points.iter().map(|point| size_of_val(&point.functions[..])).sum();
        let names: usize = self.names.iter().map(|name| name.len() + 64).sum();
        (sums + names) as u64
    }

    /// Profiles that have hardly a function in common with the others, by the share of their total.
    pub fn strangers(&self) -> Vec<&str> {
        const LEAST: f64 = 0.05;
        if self.points.len() < 2 {
            return Vec::new();
        }
        let mut found = vec![0_u32; self.names.len()];
        for (function, _) in self.points.iter().flat_map(|point| &point.functions) {
            found[*function as usize] += 1;
        }
        let is_strange = |point: &&Point| {
            let own = |sums: &Sums| sums[0].unsigned_abs() as f64;
            let all: f64 = point.functions.iter().map(|(_, sums)| own(sums)).sum();
            let shared = point.functions.iter().filter(|(function, _)| found[*function as usize] > 1);
            let shared: f64 = shared.map(|(_, sums)| own(sums)).sum();
            all > 0.0 && shared < LEAST * all
        };
        self.points.iter().filter(is_strange).map(|point| &*point.input).collect()
    }
}

impl Point {
    fn is_copy_of(&self, other: &Point) -> bool {
        self.time_ns.is_some()
            && (self.time_ns, self.total) == (other.time_ns, other.total)
            && self.functions == other.functions
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::from_notation;

    fn snapshot(input: &str, text: &str, unit: &str, time_ns: Option<i64>) -> Snapshot {
        let mut profile = from_notation(text);
        profile.meta.metrics[0].unit = unit.to_string();
        profile.meta.time_ns = time_ns;
        Snapshot::of(input.to_string(), &profile, 0, &By::Function)
    }

    #[test]
    fn units_become_the_finest() {
        let mut history = History::default();
        history.add(snapshot("a", "main;f 3", "ms", None)).unwrap();
        history.add(snapshot("b", "main;f 5", "us", None)).unwrap();
        history.add(snapshot("c", "main;f 7", "s", None)).unwrap();
        let totals: Vec<i64> = history.points.iter().map(|point| point.total).collect();
        assert_eq!((totals, &*history.metric.unit), (vec![3000, 5, 7_000_000], "us"));
        let error = history.add(snapshot("d", "main;f 7", "bytes", None)).unwrap_err();
        assert_eq!(error, HistoryError::Units("d".into(), "bytes".into(), "us".into()));
        let error = history.add(snapshot("e", "main;f 9223372036854775807", "s", None)).unwrap_err();
        assert_eq!(error, HistoryError::TooLarge("e".into()));
    }

    #[test]
    fn copies_are_left_out_if_their_time_is_known() {
        let mut history = History::default();
        for (input, time, copy_of) in [
            ("a", Some(1), None),
            ("b", Some(1), Some("a")),
            ("c", Some(2), None),
            ("d", None, None),
            ("e", None, None),
        ] {
            assert_eq!(history.add(snapshot(input, "main;f 3", "ms", time)), Ok(copy_of), "{input}");
        }
        assert_eq!(history.len(), 4);
    }

    #[test]
    fn only_what_was_replaced_is_joined() {
        let mut history = History::default();
        for (number, text) in
            ["parse 3\na 1", "parse 4\nb 1", "read 5\na 1", "read 6\na 1\nb 1"].iter().enumerate()
        {
            history.add(snapshot(&number.to_string(), text, "ms", None)).unwrap();
        }
        assert!(history.join("parse", "read"));
        assert!(!history.join("a", "b"), "one profile has both");
        assert!(!history.join("parse", "b") && !history.join("nothing", "a"));
        let read = history.numbers["read"];
        let sums = |point: &Point| {
            point.functions.iter().find(|(number, _)| *number == read).map(|(_, sums)| sums[0])
        };
        assert_eq!(history.points.iter().map(sums).collect::<Vec<_>>(), [Some(3), Some(4), Some(5), Some(6)]);
    }

    #[test]
    fn another_program_is_noticed() {
        let mut history = History::default();
        for (input, text) in [("a", "main;f 3"), ("b", "main;f 3\nmain;g 2"), ("c", "other;h 9\nmain 0")] {
            history.add(snapshot(input, text, "ms", None)).unwrap();
        }
        assert_eq!(history.strangers(), ["c"]);
    }
}
