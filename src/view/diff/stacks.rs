//! The stacks that the counts were made from, which show where a change began.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use hashbrown::HashMap;

use crate::profile::{Column, Id, StackId};
use crate::stats::CountKind;
use crate::stats::attribution::{Caller, ExcludedStacks, Side, StackSource};
use crate::tree::{KeyId, SeenKeys, Subject};

/// The stacks of a subject whose series are profiles, the old ones first, indexed by key. Functions have
/// the numbers of their keys.
pub(super) struct CountedStacks<'s, 'p> {
    subject: &'s Subject<'p>,
    /// How many series are old profiles, and how many are profiles at all.
    old: usize,
    profiles: usize,
    /// How much of the metric makes one sample.
    size: f64,
    /// Whether there are negative values, so that those of several stacks may cancel out.
    has_negative: bool,
    /// The stacks of every key, found on first use: in most comparisons there is no change to follow.
    by_key: OnceCell<StacksByKey>,
    /// Results by function: after large changes, each function is looked up once for every other one.
    known: RefCell<HashMap<usize, Rc<FunctionStacks>>>,
}

/// The callees of a function, and its full total.
struct FunctionStacks {
    total: Vec<f64>,
    /// For every key, whether it occurs below the function's outermost occurrence on any stack with a value.
    below: Vec<bool>,
}

/// The stacks of every key.
struct StacksByKey {
    /// The stacks of key k are those from `start[k]` to `start[k + 1]`.
    start: Vec<usize>,
    stacks: Vec<StackId>,
}

impl StacksByKey {
    fn new(subject: &Subject<'_>) -> Self {
        let keys = subject.keys.len();
        let mut seen = SeenKeys::new(keys);
        // Count first, then fill: one list per key would be a hundred thousand small allocations.
        let mut start = vec![0; keys + 2];
        for stack in subject.stacks() {
            seen.next();
            for key in subject.stack_keys(stack).filter(|&key| seen.first(key)) {
                start[key.index() + 2] += 1;
            }
        }
        for index in 2..start.len() {
            start[index] += start[index - 1];
        }
        let mut stacks = vec![StackId::new(0); start[keys + 1]];
        let mut seen = SeenKeys::new(keys);
        for stack in subject.stacks() {
            seen.next();
            for key in subject.stack_keys(stack).filter(|&key| seen.first(key)) {
                let place = &mut start[key.index() + 1];
                stacks[*place] = stack;
                *place += 1;
            }
        }
        StacksByKey { start, stacks }
    }

    fn of(&self, key: usize) -> &[StackId] {
        &self.stacks[self.start[key]..self.start[key + 1]]
    }
}

impl<'s, 'p> CountedStacks<'s, 'p> {
    pub(super) fn new(subject: &'s Subject<'p>, old: usize, profiles: usize, size: f64) -> Self {
        let has_negative =
            subject.series[..profiles].iter().any(|series| series.iter().any(|&value| value < 0));
        CountedStacks {
            subject,
            old,
            profiles,
            size,
            has_negative,
            by_key: OnceCell::new(),
            known: RefCell::default(),
        }
    }

    /// The stacks that contain a function.
    fn through(&self, function: usize) -> &[StackId] {
        self.by_key.get_or_init(|| StacksByKey::new(self.subject)).of(function)
    }

    /// The functions of a stack, root first.
    fn functions(&self, stack: StackId) -> impl DoubleEndedIterator<Item = usize> + ExactSizeIterator + '_ {
        let frames = self.subject.profile.stacks.frames(stack);
        frames.iter().map(|&frame| self.subject.keys.of_frame(frame).index())
    }

    /// The position of the occurrence of `function` nearest to the leaf.
    fn leafmost_at(&self, stack: StackId, function: usize) -> Option<usize> {
        self.functions(stack).rposition(|other| other == function)
    }

    fn known(&self, function: usize) -> Rc<FunctionStacks> {
        if let Some(known) = self.known.borrow().get(&function) {
            return Rc::clone(known);
        }
        let mut below = vec![false; self.subject.keys.len()];
        let series = &self.subject.series[..self.profiles];
        let has_value = |stack: &&StackId| series.iter().any(|series| series[**stack] != 0);
        for &stack in self.through(function).iter().filter(has_value) {
            for callee in self.functions(stack).skip_while(|&above| above != function).skip(1) {
                below[callee] = true;
            }
        }
        let total = self.sums(function, CountKind::Total, ExcludedStacks::default());
        let known = Rc::new(FunctionStacks { total, below });
        self.known.borrow_mut().insert(function, Rc::clone(&known));
        known
    }

    fn sums(&self, function: usize, measure: CountKind, cut: ExcludedStacks<'_>) -> Vec<f64> {
        let mut sums = vec![0; self.profiles];
        let mut is_cut = vec![false; if cut.through.is_empty() { 0 } else { self.subject.keys.len() }];
        cut.through.iter().for_each(|&callee| is_cut[callee] = true);
        for &stack in self.through(function) {
            if !self.is_cut(stack, function, measure, (&is_cut, cut.ending)) {
                for (sum, series) in sums.iter_mut().zip(&self.subject.series) {
                    *sum += series[stack];
                }
            }
        }
        sums.into_iter().map(|sum| sum as f64 / self.size).collect()
    }

    /// Whether a stack through the function is left out of a count: because of the functions that `through` marks, if it
    /// marks any, or because it is to be left out if it ends with the function.
    fn is_cut(
        &self,
        stack: StackId,
        function: usize,
        measure: CountKind,
        (through, ending): (&[bool], bool),
    ) -> bool {
        let ends = || self.functions(stack).next_back() == Some(function);
        if (measure == CountKind::SelfCount && !ends()) || (ending && ends()) {
            return true;
        }
        let below = || self.functions(stack).skip_while(|&above| above != function).skip(1);
        !through.is_empty() && below().any(|callee| through[callee])
    }
}

impl StackSource for CountedStacks<'_, '_> {
    fn counts(&self, function: usize, measure: CountKind, cut: ExcludedStacks<'_>) -> Vec<f64> {
        if measure == CountKind::Total && !cut.ending {
            let known = self.known(function);
            if !cut.through.iter().any(|&callee| known.below[callee]) {
                return known.total.clone();
            }
        }
        self.sums(function, measure, cut)
    }

    fn includes(&self, function: usize, callee: usize) -> bool {
        let known = self.known(function);
        let without = ExcludedStacks { through: &[callee], ending: false };
        // Finding one stack is enough, unless others cancel it out.
        known.below[callee]
            && (!self.has_negative || self.sums(function, CountKind::Total, without) != known.total)
    }

    fn callers(&self, function: usize, measure: CountKind, side: Side) -> Vec<Caller> {
        let series = match side {
            Side::Old => &self.subject.series[..self.old],
            Side::New => &self.subject.series[self.old..self.profiles],
        };
        // The count of each caller, and the count times its distance.
        let mut found: Column<KeyId, (i64, f64)> = Column::filled((0, 0.0), self.subject.keys.len());
        let mut seen = SeenKeys::new(self.subject.keys.len());
        let mut callers = Vec::new();
        for &stack in self.through(function) {
            let count: i64 = series.iter().map(|series| series[stack]).sum();
            let Some(at) = self.leafmost_at(stack, function) else { continue };
            let above = &self.subject.profile.stacks.frames(stack)[..at];
            let is_leaf = at + 1 == self.functions(stack).len();
            if count == 0 || (measure == CountKind::SelfCount && !is_leaf) {
                continue;
            }
            seen.next();
            for (distance, &frame) in above.iter().rev().enumerate() {
                let caller = self.subject.keys.of_frame(frame);
                if caller.index() != function && seen.first(caller) {
                    if found[caller].0 == 0 {
                        callers.push(caller);
                    }
                    found[caller].0 += count;
                    found[caller].1 += count as f64 * distance as f64;
                }
            }
        }
        let distance = |caller: &KeyId| found[*caller].1 / found[*caller].0 as f64;
        callers.sort_by(|a, b| distance(a).total_cmp(&distance(b)).then(a.cmp(b)));
        let caller = |key: KeyId| Caller { function: key.index(), count: found[key].0 as f64 / self.size };
        callers.into_iter().map(caller).collect()
    }

    fn leafmost(&self, functions: &[usize]) -> usize {
        let deepest = |&function: &usize| {
            self.through(function).iter().filter_map(|&stack| self.leafmost_at(stack, function)).max()
        };
        functions.iter().copied().max_by_key(deepest).unwrap_or_default()
    }
}
