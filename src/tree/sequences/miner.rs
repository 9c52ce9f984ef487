//! The search itself: extends chains at the front, and drops those that are too light or have too few
//! contexts.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;
use std::ops::Range;

use hashbrown::HashMap;

use crate::parallel::{self, checkpoint};
use crate::profile::Column;
use crate::tree::key_runs::KeyRuns;
use crate::tree::prefixes::{PrefixId, Prefixes};
use crate::tree::sequences::extensions::Extensions;
use crate::tree::sequences::search::{Sequence, SequenceSearch, Strides};
use crate::tree::{KeyId, Subject, whole};

/// One occurrence of a chain.
#[derive(Clone, Copy, Debug, Default)]
struct ChainOccurrence {
    /// The node where it ends.
    end: PrefixId,
    /// The prefix before it.
    above: PrefixId,
}

/// Fewer occurrences are not worth a second thread. Tests compare small searches with the definition, of which some should be divided.
const FEWEST_DIVIDED: usize = if cfg!(test) { 20 } else { 20_000 };

/// A chain: the range of its occurrences among the occurrences, in preorder.
struct OpenChain {
    start: usize,
    end: usize,
    length: usize,
    total: i64,
    /// The step to try first: 2^`stride` keys.
    stride: u32,
}

/// The state of the search: the chains still to examine, and the sequences found.
pub(super) struct Miner<'s> {
    subject: &'s Subject<'s>,
    prefixes: &'s Prefixes,
    search: SequenceSearch,
    strides: Strides,
    key_runs: KeyRuns<'s>,
    /// Whether to extend chains by many keys at once: only for deep stacks, and only if all values have
    /// the same sign, since otherwise it could change the result.
    may_stride: bool,
    /// The occurrences of all open chains, with those of a chain adjacent.
    occurrences: Vec<ChainOccurrence>,
    work: Vec<OpenChain>,
    /// The extensions by one key, at the front and at the back.
    front: Extensions,
    back: Extensions,
    /// The occurrences of the current chain, each with the number of its extension.
    split: Vec<(u32, ChainOccurrence)>,
    found: Vec<Sequence>,
}

impl<'s> Miner<'s> {
    pub(super) fn new(
        subject: &'s Subject<'s>,
        prefixes: &'s Prefixes,
        search: SequenceSearch,
        strides: Strides,
    ) -> Self {
        let deepest = prefixes.depth.iter().max().copied().unwrap_or(0);
        Miner {
            subject,
            prefixes,
            search,
            strides,
            key_runs: KeyRuns::new(prefixes),
            may_stride: deepest >= strides.depth && !prefixes.is_signed(),
            occurrences: Vec::new(),
            work: Vec::new(),
            front: Extensions::new(subject.keys.len()),
            back: Extensions::new(subject.keys.len()),
            split: Vec::new(),
            found: Vec::new(),
        }
    }

    pub(super) fn run(mut self, weight: &Column<KeyId, i64>) -> Vec<Sequence> {
        self.start(weight);
        parallel::each(self.divided(), Miner::mine).into_iter().flatten().collect()
    }

    /// A miner per processor, each with some of the chains: what they are extended to does not depend on others.
    fn divided(self) -> Vec<Self> {
        let sizes: Vec<u64> = self.work.iter().map(|chain| (chain.end - chain.start) as u64).collect();
        let slices = parallel::balanced(&sizes);
        if slices.len() < 2 || self.occurrences.len() < FEWEST_DIVIDED {
            return vec![self];
        }
        let slice = |slice: Range<usize>| {
            let (chains, mut miner) =
                (&self.work[slice], Miner::new(self.subject, self.prefixes, self.search, self.strides));
            let start = chains[0].start;
            miner.occurrences = self.occurrences[start..chains[chains.len() - 1].end].to_vec();
            let moved = |chain: &OpenChain| OpenChain {
                start: chain.start - start,
                end: chain.end - start,
                ..*chain
            };
            miner.work = chains.iter().map(moved).collect();
            miner
        };
        slices.into_iter().map(slice).collect()
    }

    /// Examines all open chains.
    fn mine(mut self) -> Vec<Sequence> {
        while let Some(chain) = self.work.pop() {
            checkpoint();
            if !self.stride(&chain) {
                self.visit(&chain);
            }
        }
        self.found
    }

    /// Starts with the single keys that are heavy enough.
    fn start(&mut self, weight: &Column<KeyId, i64>) {
        let prefixes = self.prefixes;
        for node in prefixes.parent.ids().skip(1) {
            let key = prefixes.key[node];
            if weight[key].unsigned_abs() >= self.search.min_total {
                let number = self.front.count(prefixes, key, node);
                self.split.push((number, ChainOccurrence { end: node, above: prefixes.parent[node] }));
            }
        }
        self.occurrences = vec![ChainOccurrence::default(); self.split.len()];
        self.descend(0, 1, self.strides.least);
    }

    /// Examines a chain: splits its occurrences by the preceding key, and keeps the chain if it should
    /// be shown.
    fn visit(&mut self, chain: &OpenChain) {
        let prefixes = self.prefixes;
        self.front.clear();
        self.split.clear();
        let mut nested = false;
        let mut covered = PrefixId::default();
        for &ChainOccurrence { end, above } in &self.occurrences[chain.start..chain.end] {
            nested |= end < covered;
            covered = covered.max(prefixes.end[end]);
            let number = self.front.count(prefixes, prefixes.key[above], end);
            self.split.push((number, ChainOccurrence { end, above: prefixes.parent[above] }));
        }
        if self.is_shown(chain, nested) {
            let sequence = self.sequence(chain);
            self.found.push(sequence);
        }
        if chain.length < self.search.max_length {
            self.descend(chain.start, chain.length + 1, self.strides.least);
        }
    }

    /// Opens the extensions that are heavy enough and recur. Their occurrences take the place of the
    /// chain's own.
    fn descend(&mut self, start: usize, length: usize, stride: u32) {
        let mut next = start;
        for extension in &mut self.front.found {
            let is_heavy = extension.weight.unsigned_abs() >= self.search.min_total;
            extension.next = None;
            if is_heavy && extension.places >= self.search.contexts && extension.key != whole() {
                let end = next + extension.places;
                self.work.push(OpenChain { start: next, end, length, total: extension.total, stride });
                extension.next = Some(next);
                next = end;
            }
        }
        for &(number, occurrence) in &self.split {
            if let Some(next) = &mut self.front.found[number as usize].next {
                self.occurrences[*next] = occurrence;
                *next += 1;
            }
        }
    }

    /// Extends a chain by many keys at once, where deep recursion would take as many steps.
    ///
    /// If the chain extended by `2ⁿ` keys has the same total within the tolerance, then so has each
    /// chain in between compared to the one before it, and none of them should be shown. Chains that
    /// differ within the run are opened as they would be step by step.
    fn stride(&mut self, chain: &OpenChain) -> bool {
        let least = self.strides.least;
        if !self.may_stride || !chain.length.is_multiple_of(1 << least) {
            return false;
        }
        for level in (least..=chain.stride).rev() {
            self.key_runs.build_to(level);
            if let Some((name, total)) = self.heaviest_run(chain, level)
                && self.search.tolerance.rest().is_reached_by(total, chain.total)
            {
                self.open_run_and_branches(chain, level, name);
                return true;
            }
        }
        false
    }

    /// The run of 2^`level` keys before the chain with the greatest total, and among equal ones the one
    /// with the most occurrences: `f → f → f` rather than `main → f → f`, which occurs only once.
    fn heaviest_run(&self, chain: &OpenChain, level: u32) -> Option<(u32, i64)> {
        let mut runs: HashMap<u32, Run> = HashMap::new();
        for occurrence in &self.occurrences[chain.start..chain.end] {
            if let Some((name, _)) = self.key_runs.step(level, occurrence.above) {
                let run = runs.entry(name).or_default();
                run.places += 1;
                if occurrence.end >= run.covered {
                    run.total += self.prefixes.total[occurrence.end];
                    run.covered = self.prefixes.end[occurrence.end];
                }
            }
        }
        let heaviest = runs.into_iter().max_by_key(|(name, run)| (run.total, run.places, Reverse(*name)));
        heaviest.map(|(name, run)| (name, run.total))
    }

    /// Opens the chain extended by the run called `name`, and all chains that differ from it within the
    /// run. The other occurrences reach the start of the stack within the run, so they contain only
    /// chains in between.
    fn open_run_and_branches(&mut self, chain: &OpenChain, level: u32, name: u32) {
        let (prefixes, search) = (self.prefixes, self.search);
        let occurrences = self.occurrences[chain.start..chain.end].to_vec();
        let through_run = |occurrence: &ChainOccurrence| match self.key_runs.step(level, occurrence.above) {
            Some((other, above)) if other == name => Some(ChainOccurrence { above, ..*occurrence }),
            _ => None,
        };
        let run = occurrences
            .iter()
            .find(|occurrence| through_run(occurrence).is_some())
            .map(|occurrence| occurrence.above);
        let stay: Vec<ChainOccurrence> = occurrences.iter().filter_map(through_run).collect();
        // Sorted by the number of keys shared with the run, and the first key that differs.
        let mut leave: BTreeMap<(usize, KeyId), Vec<ChainOccurrence>> = BTreeMap::new();
        for occurrence in occurrences.iter().filter(|occurrence| through_run(occurrence).is_none()) {
            let Some(run) = run else { continue };
            let (shared, above) = self.key_runs.shared(level, occurrence.above, run);
            if above != PrefixId::default() {
                let occurrence = ChainOccurrence { above: prefixes.parent[above], ..*occurrence };
                leave.entry((shared, prefixes.key[above])).or_default().push(occurrence);
            }
        }
        let chains =
            leave.into_iter().map(|((shared, _), occurrences)| (shared + 1, occurrences, self.strides.least));
        let all = std::iter::once((1 << level, stay, level + 1)).chain(chains).collect::<Vec<_>>();
        let mut start = chain.start;
        for (keys, occurrences, stride) in all {
            let weight = self.weight_of(&occurrences);
            let length = chain.length + keys;
            let is_heavy = weight.unsigned_abs() >= search.min_total;
            if is_heavy && occurrences.len() >= search.contexts && length <= search.max_length {
                let end = start + occurrences.len();
                self.occurrences[start..end].copy_from_slice(&occurrences);
                // Without negative values, the total is the weight.
                self.work.push(OpenChain { start, end, length, total: weight, stride });
                start = end;
            }
        }
    }

    /// The value of the stacks through any of these occurrences.
    fn weight_of(&self, occurrences: &[ChainOccurrence]) -> i64 {
        let mut covered = PrefixId::default();
        let mut weight = 0;
        for occurrence in occurrences {
            if occurrence.end >= covered {
                weight += self.prefixes.weight(occurrence.end);
                covered = self.prefixes.end[occurrence.end];
            }
        }
        weight
    }

    /// The tests, cheapest first. That the chain recurs often enough was checked before it was opened.
    fn is_shown(&mut self, chain: &OpenChain, nested: bool) -> bool {
        chain.length >= self.search.min_length.max(2)
            && chain.total.unsigned_abs() >= self.search.min_total
            && !self.front.has_close_rival(chain.total, self.search.tolerance)
            && self.is_spread(chain, nested)
            && !self.has_rival_at_end(chain, nested)
    }

    /// Whether enough of the total lies outside the heaviest contexts. If occurrences are nested, a
    /// stack in one of these contexts may also have an occurrence outside.
    fn is_spread(&self, chain: &OpenChain, nested: bool) -> bool {
        let prefixes = self.prefixes;
        let heaviest = self.search.contexts - 1;
        let mut places: Vec<PrefixId> =
            self.occurrences[chain.start..chain.end].iter().map(|occurrence| occurrence.end).collect();
        if heaviest > 0 {
            places.select_nth_unstable_by(heaviest - 1, |&a, &b| self.by_weight(a, b));
        }
        let outside = &mut places[heaviest..];
        outside.sort_unstable();
        let mut covered = PrefixId::default();
        let mut total = 0;
        for &place in outside.iter() {
            if !nested || place >= covered {
                total += prefixes.total[place];
                covered = prefixes.end[place];
            }
        }
        self.search.context_share.is_reached_by(total, chain.total)
    }

    /// Heaviest first; among equal ones by the length of the prefix, then by its names.
    fn by_weight(&self, a: PrefixId, b: PrefixId) -> Ordering {
        let prefixes = self.prefixes;
        let weight = |place: PrefixId| (Reverse(prefixes.total[place].unsigned_abs()), prefixes.depth[place]);
        weight(a).cmp(&weight(b)).then_with(|| self.by_names(a, b))
    }

    /// The order of two prefixes of equal length: by the first names that differ.
    fn by_names(&self, mut a: PrefixId, mut b: PrefixId) -> Ordering {
        let prefixes = self.prefixes;
        let mut order = Ordering::Equal;
        while a != b {
            let name = |node: PrefixId| self.subject.keys.name(prefixes.key[node]);
            order = name(a).cmp(name(b)).then(order);
            (a, b) = (prefixes.parent[a], prefixes.parent[b]);
        }
        order
    }

    /// Whether a chain with one more key at the end has nearly the same total.
    fn has_rival_at_end(&mut self, chain: &OpenChain, nested: bool) -> bool {
        let prefixes = self.prefixes;
        self.back.clear();
        let places = self.occurrences[chain.start..chain.end].iter().map(|occurrence| occurrence.end);
        let callees = places.flat_map(|place| prefixes.children(place));
        if nested {
            // Below nested occurrences, callees do not come in preorder, which counting them once relies
            // on.
            let mut callees: Vec<PrefixId> = callees.collect();
            callees.sort_unstable();
            for callee in callees {
                self.back.count(prefixes, prefixes.key[callee], callee);
            }
        } else {
            for callee in callees {
                self.back.count(prefixes, prefixes.key[callee], callee);
            }
        }
        self.back.has_close_rival(chain.total, self.search.tolerance)
    }

    /// Converts the chain to a sequence.
    fn sequence(&self, chain: &OpenChain) -> Sequence {
        let occurrences = &self.occurrences[chain.start..chain.end];
        let mut callers: Vec<(KeyId, i64)> =
            self.front.found.iter().map(|extension| (extension.key, extension.total)).collect();
        let name = |key: KeyId| self.subject.keys.name(key);
        callers.sort_by(|a, b| {
            b.1.unsigned_abs().cmp(&a.1.unsigned_abs()).then_with(|| name(a.0).cmp(name(b.0)))
        });
        Sequence {
            total: chain.total,
            self_value: occurrences.iter().map(|occurrence| self.prefixes.self_value[occurrence.end]).sum(),
            contexts: occurrences.len() as u64,
            callers,
            length: chain.length,
            place: occurrences[0].end,
        }
    }
}

/// A run of keys before a chain.
#[derive(Default)]
struct Run {
    places: usize,
    total: i64,
    /// Nodes before this one are descendants of an occurrence that was counted.
    covered: PrefixId,
}
