//! The stacks that the counts were made from, which show where a change began.

use std::cell::{OnceCell, RefCell};
use std::ops::Range;
use std::rc::Rc;

use hashbrown::{HashMap, HashSet};

use crate::name::{base_name, enclosing, is_library, split_shown};
use crate::parallel;
use crate::profile::{Column, Id, StackId};
use crate::stats::CountKind;
use crate::stats::attribution::{Caller, ExcludedStacks, Side, StackSource};
use crate::tree::{Flat, Key, KeyId, SeenKeys, Subject};
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
    /// Functions with a smaller share of both sides, from 0 to 1, are not listed as callers, unless of one that is as small.
    least_share: f64,
    /// Whether there are negative values, so that those of several stacks may cancel out.
    has_negative: bool,
    /// How far from the root each function occurs at most.
    depth: OnceCell<Column<KeyId, u32>>,
    /// The functions with at least that share.
    heavy: OnceCell<Column<KeyId, bool>>,
    /// The functions of which addresses of instructions are known.
    compiled: OnceCell<Column<KeyId, bool>>,
    /// The name of the binary that each function is in; empty if it is unknown.
    binary: OnceCell<Column<KeyId, &'p str>>,
    /// The functions by name.
    by_name: OnceCell<HashMap<&'s str, KeyId>>,
    /// The stacks with the functions that are asked for most: those that changed.
    expected: OnceCell<Expected>,
    /// The stacks with other functions, each found when asked for.
    others: RefCell<HashMap<Vec<usize>, Rc<ReducedStacks>>>,
    /// Results: after large changes, each function is looked up once for every other one.
    below: RefCell<HashMap<usize, HashSet<KeyId>>>,
    callers: RefCell<HashMap<(usize, CountKind, Side), Vec<Caller>>>,
}

/// The stacks with the functions that changed, and which of them each stack has become.
struct Expected {
    stacks: ReducedStacks,
    of_stack: Column<StackId, Option<u32>>,
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
            heavy: OnceCell::new(),
            compiled: OnceCell::new(),
            binary: OnceCell::new(),
            by_name: OnceCell::new(),
            expected: OnceCell::new(),
            others: RefCell::default(),
            below: RefCell::default(),
            callers: RefCell::default(),
        }
    }

    /// How far from the root each function occurs at most.
    fn depth(&self) -> &Column<KeyId, u32> {
        self.depth.get_or_init(|| {
            let keys = self.subject.keys.len();
            let parts = parallel::ranges(self.subject.profile.stacks.len(), 20_000, |stacks| {
                let mut depth = Column::filled(0, keys);
                for stack in stacks.map(StackId::new).filter(|&stack| self.subject.has_value(stack)) {
                    for (at, key) in (1..).zip(self.subject.stack_keys(stack)) {
                        depth[key] = at.max(depth[key]);
                    }
                }
                depth
            });
            let deepest = parts.into_iter().reduce(|mut deepest, part| {
                part.enumerate().for_each(|(key, &depth)| deepest[key] = depth.max(deepest[key]));
                deepest
            });
            deepest.unwrap_or_else(|| Column::filled(0, keys))
        })
    }

    fn binary(&self) -> &Column<KeyId, &'p str> {
        self.binary.get_or_init(|| {
            let symbols = &self.subject.profile.symbols;
            let mut binary = Column::filled("", self.subject.keys.len());
            for (frame, of_frame) in symbols.frames.enumerate() {
                let path = symbols.strings.get(symbols.mappings[of_frame.mapping].file);
                binary[self.subject.keys.of_frame(frame)] = base_name(path);
            }
            binary
        })
    }

    fn heavy(&self) -> &Column<KeyId, bool> {
        self.heavy.get_or_init(|| {
            let (old, new) = (0..self.old, self.old..self.profiles);
            let sum = |columns: &[Column<KeyId, i64>], key: KeyId| -> f64 {
                columns.iter().map(|column| column[key] as f64).sum()
            };
            let mut heavy = Column::filled(false, self.subject.keys.len());
            for side in [old, new] {
                let (own, total) = (&self.counted.self_value[side.clone()], &self.counted.total[side]);
                let whole: f64 = self.subject.keys.ids().map(|key| sum(own, key)).sum();
                for key in self.subject.keys.ids() {
                    heavy[key] |= sum(total, key).abs() >= self.least_share * whole;
                }
            }
            heavy
        })
    }

    /// The stacks with the functions that changed, if all of these are among them.
    fn expected(&self, functions: &[usize]) -> Option<&Expected> {
        self.expected.get().filter(|found| functions.iter().all(|&function| found.stacks.keeps(function)))
    }

    /// The stacks with these functions, and perhaps others.
    fn with<T>(&self, functions: &[usize], use_stacks: impl FnOnce(&ReducedStacks) -> T) -> T {
        if let Some(expected) = self.expected(functions) {
            return use_stacks(&expected.stacks);
        }
        let known = self.others.borrow().get(functions).cloned();
        let stacks = known.unwrap_or_else(|| {
            let stacks = Rc::new(self.reduced(functions).0);
            self.others.borrow_mut().insert(functions.to_vec(), Rc::clone(&stacks));
            stacks
        });
        use_stacks(&stacks)
    }

    fn reduced(&self, functions: &[usize]) -> (ReducedStacks, Column<StackId, Option<u32>>) {
        let keys = functions.iter().map(|&function| KeyId::new(function));
        let kept = Column::marking(keys, self.subject.keys.len());
        ReducedStacks::of_subject(self.subject, self.profiles, kept)
    }

    /// Whether `callee` is below the outermost occurrence of `function` on any stack with a value.
    fn is_below(&self, function: usize, callee: usize) -> bool {
        let below = |stacks: &ReducedStacks| {
            let has_value = |stack: &ReducedStack<'_>| stacks.values(*stack).any(|value| value != 0);
            let mut found = HashSet::new();
            for stack in stacks.through(function).filter(has_value) {
                found.extend(stack.below(KeyId::new(function)));
            }
            found
        };
        let callee_key = KeyId::new(callee);
        let Some(expected) = self.expected(&[function, callee]) else {
            return self.with(&[function, callee], |stacks| below(stacks).contains(&callee_key));
        };
        let mut known = self.below.borrow_mut();
        known.entry(function).or_insert_with(|| below(&expected.stacks)).contains(&callee_key)
    }

    /// The count of a function in every profile.
    fn whole(&self, function: usize, measure: CountKind) -> Vec<f64> {
        let columns = match measure {
            CountKind::SelfCount => &self.counted.self_value,
            CountKind::Total => &self.counted.total,
        };
        let values = columns[..self.profiles].iter().map(|column| column[KeyId::new(function)]);
        values.map(|value| value as f64 / self.size).collect()
    }

    fn sums(&self, function: usize, measure: CountKind, cut: ExcludedStacks<'_>) -> Vec<f64> {
        let functions: Vec<usize> = std::iter::once(function).chain(cut.through.iter().copied()).collect();
        let mut is_cut = vec![false; if cut.through.is_empty() { 0 } else { self.subject.keys.len() }];
        cut.through.iter().for_each(|&callee| is_cut[callee] = true);
        let key = KeyId::new(function);
        let is_left = |stack: &ReducedStack<'_>| {
            let ends = stack.ends_with(key);
            (measure == CountKind::Total || ends)
                && !(cut.ending && ends)
                && (is_cut.is_empty() || !stack.below(key).iter().any(|callee| is_cut[callee.index()]))
        };
        let mut sums = vec![0; self.profiles];
        self.with(&functions, |stacks| {
            for stack in stacks.through(function).filter(is_left) {
                sums.iter_mut().zip(stacks.values(stack)).for_each(|(sum, value)| *sum += value);
            }
        });
        sums.into_iter().map(|sum| sum as f64 / self.size).collect()
    }

    /// The stacks that count for a function.
    fn stacks_of(&self, function: usize, measure: CountKind) -> Vec<StackId> {
        let key = KeyId::new(function);
        let is_wanted = |stack: &StackId| {
            let mut keys = self.subject.stack_keys(*stack).rev();
            match measure {
                CountKind::SelfCount => keys.next() == Some(key),
                CountKind::Total => keys.any(|other| other == key),
            }
        };
        let Some(Expected { stacks, of_stack }) = self.expected(&[function]) else {
            let all = self.subject.profile.stacks.len();
            let find =
                |slice: Range<usize>| slice.map(StackId::new).filter(is_wanted).collect::<Vec<StackId>>();
            return parallel::ranges(all, 20_000, find).concat();
        };
        let mut wanted = vec![false; stacks.count()];
        for stack in stacks.through(function) {
            wanted[stack.number] = measure == CountKind::Total || stack.ends_with(key);
        }
        let is_wanted = |number: &Option<u32>| number.is_some_and(|number| wanted[number as usize]);
        of_stack.enumerate().filter(|(_, number)| is_wanted(number)).map(|(stack, _)| stack).collect()
    }

    fn find_callers(&self, function: usize, measure: CountKind, side: Side) -> Vec<Caller> {
        let series = match side {
            Side::Old => &self.subject.series[..self.old],
            Side::New => &self.subject.series[self.old..self.profiles],
        };
        let key = KeyId::new(function);
        let heavy = self.heavy();
        let stacks = self.stacks_of(function, measure);
        let keys = self.subject.keys.len();
        // The count of each caller, and the count times its distance.
        let parts = parallel::ranges(stacks.len(), 20_000, |range| {
            let mut found: Column<KeyId, (i64, i128)> = Column::filled((0, 0), keys);
            let mut seen = SeenKeys::new(keys);
            for &stack in &stacks[range] {
                let count: i64 = series.iter().map(|values| values[stack]).sum();
                if count == 0 {
                    continue;
                }
                seen.next();
                let above = self.subject.stack_keys(stack).rev().skip_while(|&other| other != key).skip(1);
                // The callers of a light function are as light.
                let above = above.filter(|&caller| caller == key || heavy[caller] || !heavy[key]);
                for (distance, caller) in above.enumerate() {
                    if caller != key && seen.first(caller) {
                        found[caller].0 += count;
                        found[caller].1 += i128::from(count) * distance as i128;
                    }
                }
            }
            found
        });
        let found = parts.into_iter().reduce(|mut sum, part| {
            for (key, &(count, far)) in part.enumerate() {
                sum[key].0 += count;
                sum[key].1 += far;
            }
            sum
        });
        let found = found.unwrap_or_else(|| Column::filled((0, 0), keys));
        let distance = |caller: &KeyId| found[*caller].1 as f64 / found[*caller].0 as f64;
        let mut callers: Vec<KeyId> = found.ids().filter(|&caller| found[caller].0 != 0).collect();
        callers.sort_by(|a, b| distance(a).total_cmp(&distance(b)).then(a.cmp(b)));
        let caller = |key: KeyId| Caller { function: key.index(), count: found[key].0 as f64 / self.size };
        callers.into_iter().map(caller).collect()
    }
}

impl StackSource for CountedStacks<'_, '_> {
    fn expect(&self, functions: &[usize]) {
        self.expected.get_or_init(|| {
            let (stacks, of_stack) = self.reduced(functions);
            Expected { stacks, of_stack }
        });
    }

    fn counts(&self, function: usize, measure: CountKind, cut: ExcludedStacks<'_>) -> Vec<f64> {
        if !cut.ending && !cut.through.iter().any(|&callee| self.is_below(function, callee)) {
            return self.whole(function, measure);
        }
        self.sums(function, measure, cut)
    }

    fn totals_without_each(&self, function: usize, callees: &[usize]) -> Vec<Vec<f64>> {
        let all = [callees, &[function]].concat();
        self.with(&all, |stacks| {
            let mut without =
                spent_outside(stacks, function, callees, (self.subject.keys.len(), self.profiles));
            let in_samples = |sum: i64| sum as f64 / self.size;
            without.drain(..).map(|sums| sums.into_iter().map(in_samples).collect()).collect()
        })
    }

    fn includes(&self, function: usize, callee: usize) -> bool {
        let without = ExcludedStacks { through: &[callee], ending: false };
        // Finding one stack is enough, unless others cancel it out.
        self.is_below(function, callee)
            && (!self.has_negative
                || self.sums(function, CountKind::Total, without) != self.whole(function, CountKind::Total))
    }

    fn callers(&self, function: usize, measure: CountKind, side: Side) -> Vec<Caller> {
        if let Some(known) = self.callers.borrow().get(&(function, measure, side)) {
            return known.clone();
        }
        let found = self.find_callers(function, measure, side);
        self.callers.borrow_mut().insert((function, measure, side), found.clone());
        found
    }

    fn is_library(&self, function: usize) -> bool {
        is_of_library(self.subject, function)
    }

    fn may_lack_callers(&self, function: usize) -> bool {
        let compiled = self.compiled.get_or_init(|| with_addresses(self.subject));
        let key = KeyId::new(function);
        may_lack_callers(self.subject.keys.get(key), compiled[key])
    }

    fn may_be_of_one_binary(&self, one: usize, other: usize) -> bool {
        let [one, other] = [one, other].map(|function| self.binary()[KeyId::new(function)]);
        one.is_empty() || other.is_empty() || one == other
    }

    fn enclosing(&self, function: usize) -> Option<usize> {
        let keys = &self.subject.keys;
        let by_name = self.by_name.get_or_init(|| keys.ids().map(|key| (&**keys.name(key), key)).collect());
        let outer = enclosing(&keys.get(KeyId::new(function)).function)?;
        by_name.get(outer).map(|key| key.index())
    }

    fn leafmost(&self, functions: &[usize]) -> usize {
        let deepest = |&function: &usize| self.depth()[KeyId::new(function)];
        functions.iter().copied().max_by_key(deepest).unwrap_or_default()
    }
}

/// The sums of the stacks through a function in every profile, without those on which each of `callees` is below it.
fn spent_outside(
    stacks: &ReducedStacks,
    function: usize,
    callees: &[usize],
    (keys, profiles): (usize, usize),
) -> Vec<Vec<i64>> {
    let mut place: Column<KeyId, Option<usize>> = Column::filled(None, keys);
    let mut below: Vec<Vec<i64>> = Vec::new();
    for &callee in callees {
        let sums = *place[KeyId::new(callee)].get_or_insert(below.len());
        if sums == below.len() {
            below.push(vec![0; profiles]);
        }
    }
    let mut whole = vec![0; profiles];
    let mut seen = SeenKeys::new(keys);
    for stack in stacks.through(function) {
        let values: Vec<i64> = stacks.values(stack).collect();
        let add = |sums: &mut Vec<i64>| sums.iter_mut().zip(&values).for_each(|(sum, value)| *sum += value);
        add(&mut whole);
        seen.next();
        for &key in stack.below(KeyId::new(function)) {
            if let Some(sums) = place[key].filter(|_| seen.first(key)) {
                add(&mut below[sums]);
            }
        }
    }
    let rest = |sums: &Vec<i64>| whole.iter().zip(sums).map(|(whole, sum)| whole - sum).collect();
    callees.iter().filter_map(|&callee| place[KeyId::new(callee)].map(|sums| rest(&below[sums]))).collect()
}

/// Whether a function is one of a library, which is no part of the program that calls it.
pub(super) fn is_of_library(subject: &Subject<'_>, function: usize) -> bool {
    let key = subject.keys.get(KeyId::new(function));
    is_library(&key.function, key.file.as_deref().unwrap_or_default())
}

/// The functions of which addresses of instructions are known, as those of compiled code are.
pub(super) fn with_addresses(subject: &Subject<'_>) -> Column<KeyId, bool> {
    subject.keys.of_frames(&subject.profile.symbols, |frame| frame.address != 0)
}

/// Whether stacks of a function may lack its caller, as those of compiled code may that were followed by frame pointers, and whose
/// callers may be inlined.
pub(super) fn may_lack_callers(key: &Key, has_address: bool) -> bool {
    match &key.file {
        // Go knows the callers of all of its functions.
        Some(file) => has_address && !file.ends_with(".go"),
        // Interpreters know their places and their callers.
        None => split_shown(&key.name).is_none(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::profile::{LoadOptions, from_notation};
    use crate::transform::{ProfileMetric, align};
    use crate::tree::{By, flat};

    /// Stacks of functions, with their old and new values.
    type Drawn = Vec<(Vec<usize>, [i64; 2])>;

    fn drawn() -> impl Strategy<Value = Drawn> {
        let stack = proptest::collection::vec(0..6_usize, 1..7);
        proptest::collection::vec((stack, [0..9_i64, 0..9_i64]), 1..12)
    }

    /// How often a function is counted on both sides.
    fn count(stacks: &Drawn, function: usize, measure: CountKind, cut: ExcludedStacks<'_>) -> Vec<f64> {
        let is_counted = |stack: &[usize]| {
            let Some(outermost) = stack.iter().position(|other| *other == function) else { return false };
            let ends = stack.last() == Some(&function);
            let is_cut = stack[outermost + 1..].iter().any(|callee| cut.through.contains(callee));
            (measure == CountKind::Total || ends) && !(cut.ending && ends) && !is_cut
        };
        let counted = |side: usize| -> i64 {
            stacks.iter().filter(|(stack, _)| is_counted(stack)).map(|(_, values)| values[side]).sum()
        };
        vec![counted(0) as f64, counted(1) as f64]
    }

    proptest! {
        #[test]
        fn counts_are_those_by_hand_whatever_is_expected(
            stacks in drawn(),
            expected in proptest::collection::btree_set(0..6_usize, 0..6),
            through in proptest::collection::vec(0..6_usize, 0..3),
            ending: bool,
        ) {
            let side = |side: usize| {
                let lines = stacks.iter().map(|(stack, values)| {
                    let names: Vec<String> = stack.iter().map(|function| format!("f{function}")).collect();
                    format!("{} {}", names.join(";"), values[side])
                });
                // All functions are known, if only from stacks without a value.
                let known = (0..6).map(|function| format!("f{function} 0"));
                from_notation(&known.chain(lines).collect::<Vec<String>>().join("\n"))
            };
            let sides = [side(0), side(1)];
            let parts = [0, 1].map(|side| ProfileMetric { profile: &sides[side], metric: 0, extra: None });
            let whole = align(&parts, LoadOptions::default()).unwrap();
            let subject = Subject::new(&whole, &By::Function, &[0, 1]);
            let counted = flat(&subject);
            let name = |key: KeyId| subject.keys.name(key)[1..].parse::<usize>().ok();
            let number: HashMap<usize, usize> =
                subject.keys.ids().filter_map(|key| Some((name(key)?, key.index()))).collect();
            let numbers = |functions: &mut dyn Iterator<Item = usize>| -> Vec<usize> {
                functions.filter_map(|function| number.get(&function).copied()).collect()
            };
            let asked = CountedStacks::new((&subject, &counted), (1, 2), 1.0, 0.1);
            let told = CountedStacks::new((&subject, &counted), (1, 2), 1.0, 0.1);
            told.expect(&numbers(&mut expected.into_iter()));
            let keys = numbers(&mut through.iter().copied().filter(|function| number.contains_key(function)));
            let through: Vec<usize> = through.into_iter().filter(|function| number.contains_key(function)).collect();
            for (&function, &key) in &number {
                for measure in [CountKind::SelfCount, CountKind::Total] {
                    let by_hand = count(&stacks, function, measure, ExcludedStacks { through: &through, ending });
                    let cut = ExcludedStacks { through: &keys, ending };
                    prop_assert_eq!(&told.counts(key, measure, cut), &by_hand);
                    prop_assert_eq!(&asked.counts(key, measure, cut), &by_hand);
                    let without: Vec<Vec<f64>> = through.iter().map(|callee| count(&stacks, function, CountKind::Total, ExcludedStacks { through: &[*callee], ending: false })).collect();
                    prop_assert_eq!(told.totals_without_each(key, &keys), without);
                    for side in [Side::Old, Side::New] {
                        prop_assert_eq!(told.callers(key, measure, side), asked.callers(key, measure, side));
                    }
                }
                for (&callee, &below) in &number {
                    let without = ExcludedStacks { through: &[callee], ending: false };
                    let all = count(&stacks, function, CountKind::Total, ExcludedStacks::default());
                    let includes = count(&stacks, function, CountKind::Total, without) != all;
                    prop_assert_eq!((told.includes(key, below), asked.includes(key, below)), (includes, includes));
                }
            }
        }
    }
}
