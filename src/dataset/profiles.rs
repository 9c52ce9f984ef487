//! The table of profiles that is read.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::dataset::files::open_all;
use crate::format::LoadError;
use crate::format::parquet::table::Table;
use crate::profile::{Budget, Period, Reservation};

/// A profile of a dataset.
#[derive(Clone, Debug)]
pub(super) struct ReadProfile {
    pub(super) id: u64,
    pub(super) part: u64,
    pub(super) program: String,
    pub(super) time: Option<i64>,
    pub(super) duration: Option<i64>,
    pub(super) period: Option<Period>,
    pub(super) processors: Option<i64>,
    pub(super) samples: u64,
    pub(super) labelled: u64,
    /// The labels that all samples have, if they are wanted.
    pub(super) labels: Vec<(String, String)>,
    pub(super) metrics: Vec<ReadMetric>,
    pub(super) default_metric: String,
}

/// A metric of a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReadMetric {
    pub(super) name: String,
    pub(super) unit: String,
    pub(super) divisor: u64,
    /// Σ |value|.
    pub(super) total: i64,
}

/// The profiles of a dataset, each once.
pub(super) struct Profiles {
    /// In the order of their times.
    pub(super) rows: Vec<ReadProfile>,
    /// The part and the number of each profile.
    by_id: HashMap<u64, (u64, u32)>,
    /// How many further copies there are.
    pub(super) copies: usize,
    #[expect(dead_code, reason = "it is there to be dropped")]
    memory: Reservation,
}

impl Profiles {
    /// The number of a profile, if its samples of this part count.
    pub(super) fn number(&self, id: u64, part: u64) -> Option<usize> {
        self.by_id.get(&id).filter(|(chosen, _)| *chosen == part).map(|&(_, number)| number as usize)
    }

    /// The number of a profile, in whatever part it is.
    pub(super) fn number_of(&self, id: u64) -> Option<usize> {
        self.by_id.get(&id).map(|&(_, number)| number as usize)
    }

    /// Reads the table. Of copies of a profile, the one in the smallest part counts.
    pub(super) fn read(dataset: &Path, labels: bool, budget: &Budget) -> Result<Profiles, LoadError> {
        let mut rows = Vec::new();
        let mut memory = budget.reservation();
        for table in open_all(dataset, "profiles", budget)? {
            let table = table?;
            for group in 0..table.groups() {
                read_group(&table, group, labels, &mut rows)?;
                memory.set((rows.len() * ROW) as u64)?;
            }
        }
        rows.sort_by_key(|row| (row.id, row.part));
        let count = rows.len();
        rows.dedup_by_key(|row| row.id);
        let copies = count - rows.len();
        rows.sort_by_key(|row| (row.time.unwrap_or(i64::MAX), row.id));
        let by_id =
            rows.iter().enumerate().map(|(number, row)| (row.id, (row.part, number as u32))).collect();
        Ok(Profiles { rows, by_id, copies, memory })
    }
}

/// The approximate memory of a row.
const ROW: usize = 400;

/// The ids of the profiles of a dataset; none if it has none yet.
pub(super) fn exported(dataset: &Path) -> Result<HashSet<u64>, LoadError> {
    let mut ids = HashSet::new();
    if !dataset.join("profiles").is_dir() {
        return Ok(ids);
    }
    for table in open_all(dataset, "profiles", &Budget::UNLIMITED)? {
        let table = table?;
        for group in 0..table.groups() {
            let mut column = table.ints(group, "profile_id")?;
            while table.next_rows([("profile_id", &mut column)], [])? > 0 {
                ids.extend(column.cells.items.iter().flatten().map(|&id| id as u64));
            }
        }
    }
    Ok(ids)
}

fn read_group(
    table: &Table,
    group: usize,
    with_labels: bool,
    rows: &mut Vec<ReadProfile>,
) -> Result<(), LoadError> {
    const INTS: [&str; 8] =
        ["profile_id", "part", "time", "duration_ns", "period", "processors", "samples", "labelled_samples"];
    const TEXTS: [&str; 6] =
        ["program", "period_metric", "period_unit", "metrics", "units", "default_metric"];
    let mut ints = INTS.iter().map(|name| table.ints(group, name)).collect::<Result<Vec<_>, _>>()?;
    let mut texts = TEXTS.iter().map(|name| table.texts(group, name)).collect::<Result<Vec<_>, _>>()?;
    let (mut divisors, mut totals) = (table.ints(group, "divisors")?, table.ints(group, "totals")?);
    let mut labels = if with_labels { Some(table.maps(group, "labels")?) } else { None };
    loop {
        let lists = [("divisors", &mut divisors), ("totals", &mut totals)];
        let maps = labels.iter_mut().flatten().map(|column| ("labels", column));
        let numbers = INTS.into_iter().zip(&mut ints).chain(lists);
        let count = table.next_rows(numbers, TEXTS.into_iter().zip(&mut texts).chain(maps))?;
        if count == 0 {
            return Ok(());
        }
        for row in 0..count {
            let int = |number: usize| ints[number].cells.get(row).copied();
            let text = |number: usize| texts[number].text(row).into_owned();
            let list = |number: usize| texts[number].list(row).map(Cow::into_owned).collect::<Vec<_>>();
            let (names, units) = (list(3), list(4));
            let of_metrics = divisors.cells.row(row).iter().zip(totals.cells.row(row));
            let lengths = [units.len(), divisors.cells.row(row).len(), totals.cells.row(row).len()];
            if lengths.iter().any(|&length| length != names.len()) {
                return Err(table.error("a profile has other numbers of metrics, units, divisors and totals"));
            }
            let metrics =
                names.into_iter().zip(units).zip(of_metrics).map(|((name, unit), (number, total))| {
                    Some(ReadMetric {
                        name,
                        unit,
                        divisor: number.and_then(divisor)?,
                        total: total.unwrap_or(0),
                    })
                });
            let labels = labels.iter().flat_map(|[keys, values]| keys.list(row).zip(values.list(row)));
            let labels = labels.map(|(key, value)| (key.into_owned(), value.into_owned())).collect();
            let count = |number: usize| int(number).and_then(|count| u64::try_from(count).ok()).unwrap_or(0);
            let metrics: Option<Vec<ReadMetric>> = metrics.collect();
            let metrics = metrics
                .ok_or_else(|| table.column_error("divisors", "holds other numbers than powers of ten"))?;
            rows.push(ReadProfile {
                id: int(0).unwrap_or(0) as u64,
                part: int(1).unwrap_or(0) as u64,
                program: text(0),
                time: int(2),
                duration: int(3),
                period: int(4).filter(|&value| value != 0).map(|value| Period {
                    name: text(1),
                    unit: text(2),
                    value,
                }),
                processors: int(5),
                samples: count(6),
                labelled: count(7),
                labels,
                metrics,
                default_metric: text(5),
            });
        }
    }
}

/// A number that values are divided by; `None` for others than powers of ten.
pub(super) fn divisor(number: i64) -> Option<u64> {
    u64::try_from(number).ok().filter(|&number| (0..=18).any(|power| 10_u64.pow(power) == number))
}
