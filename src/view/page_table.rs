//! The stacks of the page: distinct, in order, with the values of all metrics.

use std::hint::black_box;

use hashbrown::HashMap;

use crate::parallel;
use crate::profile::{Column, FrameId, LabelSetId, Profile, StackId};
use crate::view::page_calls::PageStacks;
use crate::view::stack_order::{self, Sequences, SortedRow};

/// The numbers of the page's stacks by those of the profile, their labels, and whether their values are negative.
pub(super) type PageRows = HashMap<(StackId, u32, bool), u32>;

/// How many stacks are asked for at once.
const AT_ONCE: usize = 32;

/// The distinct stacks of the page, in order.
pub(super) struct PageTable<'p> {
    counted: Counted<'p>,
    /// A row of each distinct stack.
    firsts: Vec<u32>,
    /// The number of the distinct stack of each row.
    numbers: Vec<u32>,
}

impl<'p> PageTable<'p> {
    /// `sides` holds the metrics of each side, as many for each; `place_of` has the place of each frame, of which there are
    /// `places`; `set_of` has the number of each set of labels.
    pub(super) fn of(
        profile: &'p Profile,
        sides: &'p [Vec<usize>],
        (place_of, places): (&'p Column<FrameId, u32>, usize),
        set_of: &Column<LabelSetId, u32>,
    ) -> Self {
        let counted = Counted::of(profile, sides, (place_of, places), set_of);
        let (mut firsts, mut numbers) = (Vec::new(), vec![0; counted.rows.len()]);
        for SortedRow { row, is_new } in stack_order::sort(counted.rows.len() as u32, &counted).iter() {
            if is_new {
                firsts.push(row);
            }
            numbers[row as usize] = firsts.len() as u32 - 1;
        }
        PageTable { counted, firsts, numbers }
    }

    /// The distinct stacks.
    pub(super) fn stacks(&self) -> PageStacks {
        let (mut ends, mut labels) = (Vec::new(), Vec::new());
        let mut end = 0;
        for &first in &self.firsts {
            end += self.counted.sequence(first).len() as u32;
            ends.push(end);
            labels.push(self.counted.rows[first as usize].labels);
        }
        let mut frames = vec![0; end as usize];
        let (mut free, mut parts) = (&mut frames[..], Vec::new());
        for stacks in parallel::parts(ends.len(), 20_000) {
            let length = frames_before(&ends, stacks.end) - frames_before(&ends, stacks.start);
            parts.push((&self.firsts[stacks], free.split_off_mut(..length).unwrap_or_default()));
        }
        parallel::each(parts, |(firsts, places)| self.write_places(firsts, places));
        PageStacks { frames, ends, labels }
    }

    /// Writes the places of some stacks one after the other. Sorted stacks are scattered in memory, so several are asked for
    /// before they are needed.
    fn write_places(&self, firsts: &[u32], places: &mut [u32]) {
        let mut places = places.iter_mut();
        for some in firsts.chunks(AT_ONCE) {
            let stacks = some.iter().map(|&first| self.counted.sequence(first));
            for stack in stacks.clone() {
                black_box((stack.first().copied(), stack.last().copied()));
            }
            for (&frame, place) in stacks.flatten().zip(&mut places) {
                *place = self.counted.number(frame);
            }
        }
    }

    /// The values of the distinct stacks: one column per metric for the first side, then for the second side.
    pub(super) fn values(&self) -> Vec<Vec<i64>> {
        let sides = self.counted.sides.iter().zip(0..);
        let columns: Vec<(u32, usize)> =
            sides.flat_map(|(metrics, side)| metrics.iter().map(move |&metric| (side, metric))).collect();
        let column = |&(side, metric): &(u32, usize)| {
            let mut values = vec![0; self.firsts.len()];
            for (row, &number) in self.counted.rows.iter().zip(&self.numbers) {
                if row.side == side {
                    values[number as usize] += self.counted.values(row, metric).sum::<i64>();
                }
            }
            values
        };
        let parts = parallel::ranges(columns.len(), 1, |some| columns[some].iter().map(column).collect());
        parts.into_iter().flat_map(|part: Vec<Vec<i64>>| part).collect()
    }

    /// The numbers of the distinct stacks.
    pub(super) fn numbers(&self) -> PageRows {
        let Counted { stacks, rows, .. } = &self.counted;
        let keys = stacks.iter().zip(rows).map(|(&stack, row)| (stack, row.labels, row.negative));
        keys.zip(self.numbers.iter().copied()).collect()
    }
}

/// How many frames the stacks before one have.
fn frames_before(ends: &[u32], stack: usize) -> usize {
    stack.checked_sub(1).map_or(0, |before| ends[before] as usize)
}

/// The samples of all sides, of which those with the same stack and labels are one row.
struct Counted<'p> {
    profile: &'p Profile,
    sides: &'p [Vec<usize>],
    place_of: &'p Column<FrameId, u32>,
    places: usize,
    /// The stack of each row. Stacks are needed more often than the rest, and alone they fit into a cache.
    stacks: Vec<StackId>,
    rows: Vec<PageRow>,
    /// The samples of all rows, next to each other.
    samples: Vec<u32>,
}

#[derive(Clone, Copy)]
struct PageRow {
    /// The set of labels.
    labels: u32,
    /// Where its samples are.
    start: u32,
    end: u32,
    side: u32,
    /// Rows with negative values are separate, because totals are sums of absolute values.
    negative: bool,
}

impl<'p> Counted<'p> {
    fn of(
        profile: &'p Profile,
        sides: &'p [Vec<usize>],
        (place_of, places): (&'p Column<FrameId, u32>, usize),
        set_of: &Column<LabelSetId, u32>,
    ) -> Self {
        let samples = &profile.samples;
        let labelled = samples.stack.iter().zip(&samples.labels).zip(0..);
        let mut order: Vec<(StackId, u32, u32)> =
            labelled.map(|((&stack, &labels), sample)| (stack, set_of[labels], sample)).collect();
        order.sort_unstable();
        let samples = order.iter().map(|&(.., sample)| sample).collect();
        let mut counted =
            Counted { profile, sides, place_of, places, stacks: Vec::new(), rows: Vec::new(), samples };
        for side in 0..sides.len() as u32 {
            let mut start = 0;
            for equal in order.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
                let (stack, labels, _) = equal[0];
                let end = start + equal.len() as u32;
                for negative in [false, true] {
                    counted.push(stack, PageRow { labels, start, end, side, negative });
                }
                start = end;
            }
        }
        counted
    }

    /// Adds a row unless all of its values are 0.
    fn push(&mut self, stack: StackId, row: PageRow) {
        let metrics = &self.sides[row.side as usize];
        if metrics.iter().any(|&metric| self.values(&row, metric).any(|value| value != 0)) {
            self.stacks.push(stack);
            self.rows.push(row);
        }
    }

    /// The values of the samples of a row.
    fn values(&self, row: &PageRow, metric: usize) -> impl Iterator<Item = i64> {
        let (values, negative) = (&self.profile.samples.values[metric], row.negative);
        let samples = &self.samples[row.start as usize..row.end as usize];
        samples.iter().map(|&sample| values[sample as usize]).filter(move |value| (*value < 0) == negative)
    }
}

impl Sequences for Counted<'_> {
    type Item = FrameId;
    type Rest = (bool, u32);

    fn sequence(&self, row: u32) -> &[FrameId] {
        self.profile.stacks.frames(self.stacks[row as usize])
    }

    fn number(&self, frame: FrameId) -> u32 {
        self.place_of[frame]
    }

    fn largest(&self) -> u32 {
        self.places as u32
    }

    fn rest(&self, row: u32) -> (bool, u32) {
        let PageRow { negative, labels, .. } = self.rows[row as usize];
        (negative, labels)
    }
}
