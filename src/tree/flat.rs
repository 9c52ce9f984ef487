//! The flat view: self and total of every key.

use std::ops::Range;

use crate::parallel;
use crate::profile::{Column, Id, StackId};
use crate::tree::{KeyId, SeenKeys, Series, Subject};

/// Self and total of every key, one column per series.
#[derive(Clone, Debug, Default)]
pub struct Flat {
    /// The value of the samples whose leaf has this key.
    pub self_value: Vec<Column<KeyId, i64>>,
    /// The value of the samples with this key anywhere on the stack; each sample counts once.
    pub total: Vec<Column<KeyId, i64>>,
}

/// Counts self and total of every key.
///
/// ```
/// use prof::profile::from_notation;
/// use prof::tree::{By, Subject, flat};
///
/// let profile = from_notation("main;a;a 4\nmain 1");
/// let subject = Subject::new(&profile, &By::Function, &[0]);
/// let counted = flat(&subject);
/// let a = subject.keys.ids().find(|&key| &**subject.keys.name(key) == "a").unwrap();
/// assert_eq!((counted.self_value[0][a], counted.total[0][a]), (4, 4));
/// ```
pub fn flat(subject: &Subject<'_>) -> Flat {
    if let Some(calls) = &subject.calls {
        return calls.flat.clone();
    }
    // A million stacks take 30 ms, so slices of some ten thousand are worth a thread.
    let (series, stacks): (Vec<&[i64]>, _) =
        (subject.series.iter().map(Series::as_slice).collect(), subject.profile.stacks.len());
    let passes: Vec<&[&[i64]]> = series.chunks(AT_ONCE).collect();
    if passes.len() > parallel::processors() {
        // The series of a hundred runs need not be added up afterwards.
        let least = 1 + 20_000 / (stacks + 1);
        let parts = parallel::ranges(passes.len(), least, |some| {
            count(subject, &series[some.start * AT_ONCE..series.len().min(some.end * AT_ONCE)], 0..stacks)
        });
        return parts.into_iter().fold(Flat::default(), Flat::join);
    }
    let parts = parallel::ranges(stacks, 20_000, |stacks| count(subject, &series, stacks));
    parts.into_iter().reduce(|sum, part| sum.add(&part)).unwrap_or_else(|| count(subject, &series, 0..0))
}

/// Counts a slice of the stacks.
fn count(subject: &Subject<'_>, series: &[&[i64]], stacks: Range<usize>) -> Flat {
    let mut flat = Flat::default();
    let mut seen = SeenKeys::new(subject.keys.len());
    for some in series.chunks(AT_ONCE) {
        if some.len() < FEWEST_AT_ONCE {
            for series in some {
                count_one(subject, series, stacks.clone(), &mut seen, &mut flat);
            }
        } else {
            count_several(subject, some, stacks.clone(), &mut seen, &mut flat);
        }
    }
    flat
}

/// The series that are counted in one pass over the stacks: as many numbers as fill a cache line.
const AT_ONCE: usize = 8;

/// Fewer series than this are counted one by one.
const FEWEST_AT_ONCE: usize = 3;

fn count_one(
    subject: &Subject<'_>,
    series: &[i64],
    stacks: Range<usize>,
    seen: &mut SeenKeys,
    flat: &mut Flat,
) {
    let mut own = Column::filled(0, subject.keys.len());
    let mut total = Column::filled(0, subject.keys.len());
    for stack in stacks.map(StackId::new) {
        let (frames, value) = (subject.profile.stacks.frames(stack), series[stack.index()]);
        let (Some(&leaf), true) = (frames.last(), value != 0) else { continue };
        own[subject.keys.of_frame(leaf)] += value;
        seen.next();
        for &frame in frames {
            let key = subject.keys.of_frame(frame);
            if seen.first(key) {
                total[key] += value;
            }
        }
    }
    flat.self_value.push(own);
    flat.total.push(total);
}

/// Counts up to [`AT_ONCE`] series: the functions on a stack are found once for all of them.
fn count_several(
    subject: &Subject<'_>,
    some: &[&[i64]],
    stacks: Range<usize>,
    seen: &mut SeenKeys,
    flat: &mut Flat,
) {
    let mut own = Column::filled([0; AT_ONCE], subject.keys.len());
    let mut total = Column::filled([0; AT_ONCE], subject.keys.len());
    // Zipped iterators are not inlined here.
    let add = |sums: &mut [i64; AT_ONCE], values: &[i64; AT_ONCE]| {
        sums.iter_mut().enumerate().for_each(|(number, sum)| *sum += values[number]);
    };
    for stack in stacks.map(StackId::new) {
        let mut values = [0; AT_ONCE];
        some.iter().enumerate().for_each(|(number, series)| values[number] = series[stack.index()]);
        let frames = subject.profile.stacks.frames(stack);
        let (Some(&leaf), true) = (frames.last(), values != [0; AT_ONCE]) else { continue };
        add(&mut own[subject.keys.of_frame(leaf)], &values);
        seen.next();
        for &frame in frames {
            let key = subject.keys.of_frame(frame);
            if seen.first(key) {
                add(&mut total[key], &values);
            }
        }
    }
    let column = |sums: &Column<KeyId, [i64; AT_ONCE]>, number: usize| sums.map(|sums| sums[number]);
    flat.self_value.extend((0..some.len()).map(|number| column(&own, number)));
    flat.total.extend((0..some.len()).map(|number| column(&total, number)));
}

impl Flat {
    /// The series of both, one after the other.
    fn join(mut self, other: Flat) -> Flat {
        self.self_value.extend(other.self_value);
        self.total.extend(other.total);
        self
    }

    fn add(mut self, other: &Flat) -> Flat {
        let columns = self.self_value.iter_mut().chain(&mut self.total);
        for (column, other) in columns.zip(other.self_value.iter().chain(&other.total)) {
            for (key, &value) in other.enumerate() {
                column[key] += value;
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{LoadOptions, Profile, from_notation};
    use crate::transform::{ProfileMetric, align};
    use crate::tree::By;

    #[test]
    fn several_series_are_counted_like_each_of_them() {
        let sides: Vec<Profile> = (1..=11)
            .map(|side| {
                from_notation(&format!("main;a;b;a {side}\nmain;a {}\nmain;c{} 7\nb -3", 20 - side, side % 3))
            })
            .collect();
        let parts: Vec<ProfileMetric<'_>> =
            sides.iter().map(|profile| ProfileMetric { profile, metric: 0, extra: None }).collect();
        let whole = align(&parts, LoadOptions::default()).unwrap();
        let all: Vec<usize> = (0..sides.len()).collect();
        let together = flat(&Subject::new(&whole, &By::Function, &all));
        for series in all {
            let alone = flat(&Subject::new(&whole, &By::Function, &[series]));
            assert_eq!(together.self_value[series], alone.self_value[0]);
            assert_eq!(together.total[series], alone.total[0]);
        }
    }
}
