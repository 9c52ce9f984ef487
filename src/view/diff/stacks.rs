//! The stacks that the counts were made from, which show where a change began.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use hashbrown::HashMap;

use crate::profile::{Column, Id};
use crate::stats::CountKind;
use crate::stats::attribution::{Caller, ExcludedStacks, Side, StackSource};
use crate::tree::{Flat, KeyId, SeenKeys, Subject};
use crate::view::diff::reduced::{ReducedStack, ReducedStacks};

/// The stacks of a subject whose series are profiles, the old ones first, indexed by key. Functions have
/// the numbers of their keys.
pub(super) struct CountedStacks<'s, 'p> {
    subject: &'s Subject<'p>,
    counted: &'s Flat,
    /// How many series are old profiles, and how many are profiles at all.
    old: usize,
    profiles: usize,
    /// How much of the metric makes one sample.
    size: f64,
    /// Functions with a smaller share of both sides, from 0 to 1, are seldom asked for.
    least_share: f64,
    /// Whether there are negative values, so that those of several stacks may cancel out.
    has_negative: bool,
    /// How far from the root each function occurs at most.
    depth: OnceCell<Column<KeyId, u32>>,
    /// The stacks with all functions, with the heavy ones, and with those of rows that changed. Found on first use: in most
    /// comparisons there is no change to follow, and if there is, the first are hardly needed.
    all: OnceCell<ReducedStacks>,
    heavy: OnceCell<ReducedStacks>,
    changed: OnceCell<ReducedStacks>,
    /// Results by function: after large changes, each function is looked up once for every other one.
    known: RefCell<HashMap<usize, Rc<FunctionStacks>>>,
}

/// The callees of a function, and its full total.
struct FunctionStacks {
    total: Vec<f64>,
    /// For every key that the stacks keep, whether it occurs below the function's outermost occurrence on any stack with a
    /// value.
    below: Vec<bool>,
}

impl<'s, 'p> CountedStacks<'s, 'p> {
    pub(super) fn new(
        (subject, counted): (&'s Subject<'p>, &'s Flat),
        (old, profiles): (usize, usize),
        size: f64,
        least_share: f64,
    ) -> Self {
        let has_negative =
            subject.series[..profiles].iter().any(|series| series.iter().any(|&value| value < 0));
        CountedStacks {
            subject,
            counted,
            old,
            profiles,
            size,
            least_share,
            has_negative,
            depth: OnceCell::new(),
            all: OnceCell::new(),
            heavy: OnceCell::new(),
            changed: OnceCell::new(),
            known: RefCell::default(),
        }
    }

    /// How far from the root each function occurs at most.
    fn depth(&self) -> &Column<KeyId, u32> {
        self.depth.get_or_init(|| {
            let mut depth = Column::filled(0, self.subject.keys.len());
            for stack in self.subject.stacks() {
                for (at, key) in (1..).zip(self.subject.stack_keys(stack)) {
                    depth[key] = at.max(depth[key]);
                }
            }
            depth
        })
    }

    fn heavy(&self) -> &ReducedStacks {
        self.heavy.get_or_init(|| {
            let (old, new) = (0..self.old, self.old..self.profiles);
            let sum = |columns: &[Column<KeyId, i64>], key: KeyId| -> f64 {
                columns.iter().map(|column| column[key] as f64).sum()
            };
            let mut kept = Column::filled(false, self.subject.keys.len());
            for side in [old, new] {
                let (own, total) = (&self.counted.self_value[side.clone()], &self.counted.total[side]);
                let whole: f64 = self.subject.keys.ids().map(|key| sum(own, key)).sum();
                for key in self.subject.keys.ids() {
                    kept[key] |= sum(total, key).abs() >= self.least_share * whole;
                }
            }
            ReducedStacks::of_subject(self.subject, self.profiles, kept)
        })
    }

    /// The fewest stacks that keep these functions.
    fn stacks_with(&self, function: usize, others: &[usize]) -> &ReducedStacks {
        let keeps_all = |stacks: &&ReducedStacks| {
            stacks.keeps(function) && others.iter().all(|&other| stacks.keeps(other))
        };
        let changed = self.changed.get().filter(keeps_all);
        changed.unwrap_or_else(|| self.stacks_with_callers(function, others))
    }

    /// The same, with all callers that are heavy enough to matter.
    fn stacks_with_callers(&self, function: usize, others: &[usize]) -> &ReducedStacks {
        let heavy = self.heavy();
        if heavy.keeps(function) && others.iter().all(|&other| heavy.keeps(other)) {
            return heavy;
        }
        self.all.get_or_init(|| {
            let kept = Column::filled(true, self.subject.keys.len());
            ReducedStacks::of_subject(self.subject, self.profiles, kept)
        })
    }

    fn known(&self, function: usize) -> Rc<FunctionStacks> {
        if let Some(known) = self.known.borrow().get(&function) {
            return Rc::clone(known);
        }
        let mut below = vec![false; self.subject.keys.len()];
        let stacks = self.stacks_with(function, &[]);
        let has_value = |stack: &ReducedStack<'_>| stacks.values(*stack).any(|value| value != 0);
        for stack in stacks.through(function).filter(has_value) {
            stack.below(KeyId::new(function)).iter().for_each(|callee| below[callee.index()] = true);
        }
        let total = self.sums(function, CountKind::Total, ExcludedStacks::default());
        let known = Rc::new(FunctionStacks { total, below });
        self.known.borrow_mut().insert(function, Rc::clone(&known));
        known
    }

    /// Whether `callee` is below `function` on any stack with a value.
    fn is_below(&self, function: usize, callee: usize) -> bool {
        if self.stacks_with(function, &[]).keeps(callee) {
            return self.known(function).below[callee];
        }
        let stacks = self.stacks_with(function, &[callee]);
        stacks.through(function).any(|stack| {
            stack.below(KeyId::new(function)).contains(&KeyId::new(callee))
                && stacks.values(stack).any(|value| value != 0)
        })
    }

    fn sums(&self, function: usize, measure: CountKind, cut: ExcludedStacks<'_>) -> Vec<f64> {
        let stacks = self.stacks_with(function, cut.through);
        let mut sums = vec![0; self.profiles];
        let mut is_cut = vec![false; if cut.through.is_empty() { 0 } else { self.subject.keys.len() }];
        cut.through.iter().for_each(|&callee| is_cut[callee] = true);
        let key = KeyId::new(function);
        let is_left = |stack: &ReducedStack<'_>| {
            let ends = stack.ends_with(key);
            (measure == CountKind::Total || ends)
                && !(cut.ending && ends)
                && (is_cut.is_empty() || !stack.below(key).iter().any(|callee| is_cut[callee.index()]))
        };
        for stack in stacks.through(function).filter(is_left) {
            for (sum, value) in sums.iter_mut().zip(stacks.values(stack)) {
                *sum += value;
            }
        }
        sums.into_iter().map(|sum| sum as f64 / self.size).collect()
    }
}

impl StackSource for CountedStacks<'_, '_> {
    fn expect(&self, functions: &[usize]) {
        let kept =
            Column::marking(functions.iter().map(|&function| KeyId::new(function)), self.subject.keys.len());
        self.changed.get_or_init(|| {
            let Some((&first, others)) = functions.split_first() else {
                return ReducedStacks::of_subject(self.subject, self.profiles, kept);
            };
            self.stacks_with_callers(first, others).with(kept)
        });
    }

    fn counts(&self, function: usize, measure: CountKind, cut: ExcludedStacks<'_>) -> Vec<f64> {
        if measure == CountKind::Total
            && !cut.ending
            && !cut.through.iter().any(|&callee| self.is_below(function, callee))
        {
            return self.known(function).total.clone();
        }
        self.sums(function, measure, cut)
    }

    fn includes(&self, function: usize, callee: usize) -> bool {
        let without = ExcludedStacks { through: &[callee], ending: false };
        // Finding one stack is enough, unless others cancel it out.
        self.is_below(function, callee)
            && (!self.has_negative
                || self.sums(function, CountKind::Total, without) != self.known(function).total)
    }

    fn callers(&self, function: usize, measure: CountKind, side: Side) -> Vec<Caller> {
        let stacks = self.stacks_with_callers(function, &[]);
        let (skipped, taken) = match side {
            Side::Old => (0, self.old),
            Side::New => (self.old, self.profiles - self.old),
        };
        // The count of each caller, and the count times its distance.
        let mut found: Column<KeyId, (i64, f64)> = Column::filled((0, 0.0), self.subject.keys.len());
        let mut seen = SeenKeys::new(self.subject.keys.len());
        let mut callers = Vec::new();
        let key = KeyId::new(function);
        for stack in stacks.through(function) {
            let count: i64 = stacks.values(stack).skip(skipped).take(taken).sum();
            let Some(at) = stack.functions.iter().rposition(|&other| other == key) else { continue };
            if count == 0 || (measure == CountKind::SelfCount && !stack.ends_with(key)) {
                continue;
            }
            seen.next();
            for (distance, &caller) in stack.functions[..at].iter().rev().enumerate() {
                if caller != key && seen.first(caller) {
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
        let deepest = |&function: &usize| self.depth()[KeyId::new(function)];
        functions.iter().copied().max_by_key(deepest).unwrap_or_default()
    }
}
