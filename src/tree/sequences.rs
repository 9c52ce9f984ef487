//! The search for call sequences that recur in several contexts.
//!
//! A sequence is a chain of keys `f1 → … → fk` that stand below each other on some stack. On the
//! tree of all prefixes it ends at some nodes, and that is all there is to know about it: each of
//! these nodes is one context, their subtrees together are its total, and what ends at them is its
//! self. The search starts with the nodes of every single key and makes chains longer at the front,
//! which splits their nodes by the key above: `b` → (`a → b`, `c → b`). A part has no more weight and
//! no more contexts than the whole, so whatever has too little of either is dropped with all that is
//! longer. Nothing is enumerated twice, and chains that are too light are never looked at.
//!
//! Whether a longer chain has nearly the same total is seen at the front in the same step, and at the
//! back by looking at the callees, but only for chains that pass all other tests.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;

use hashbrown::HashMap;

use crate::profile::Column;
use crate::tree::ladder::Ladder;
use crate::tree::prefixes::{PrefixId, Prefixes};
use crate::tree::{KeyId, Seen, Subject, whole};

/// A share of something, in millionths, so that comparing is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fraction(u32);

impl Fraction {
    const WHOLE: u32 = 1_000_000;

    /// A share given in percent, rounded to the millionth.
    pub fn percent(percent: f64) -> Self {
        Fraction((percent.clamp(0.0, 100.0) * 10_000.0).round() as u32)
    }

    /// The rest of the whole.
    #[must_use]
    pub fn rest(self) -> Self {
        Fraction(Self::WHOLE - self.0)
    }

    /// The least value that has this share of `whole`.
    fn least_part(self, whole: u64) -> u64 {
        (u128::from(whole) * u128::from(self.0)).div_ceil(u128::from(Self::WHOLE)) as u64
    }

    /// Whether `part` has at least this share of `whole`, signs aside.
    pub fn is_reached_by(self, part: i64, whole: i64) -> bool {
        let [part, whole] = [part, whole].map(|value| u128::from(value.unsigned_abs()));
        part * u128::from(Self::WHOLE) >= whole * u128::from(self.0)
    }
}

/// Which sequences are looked for.
#[derive(Clone, Copy, Debug)]
pub struct SequenceSearch {
    /// The least total, without its sign; at least 1.
    pub min_total: u64,
    /// The fewest keys; at least 2.
    pub min_length: usize,
    /// The most keys.
    pub max_length: usize,
    /// The fewest contexts; at least 1.
    pub contexts: usize,
    /// The least share of the total that lies outside the `contexts` − 1 heaviest contexts.
    pub context_share: Fraction,
    /// A chain is left out if one a key longer has all of its total but this share.
    pub tolerance: Fraction,
}

/// A sequence that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequence {
    /// The value of the stacks that contain it, each once.
    pub total: i64,
    /// The part of it where the last key is the leaf.
    pub self_value: i64,
    /// The number of distinct prefixes in front of it.
    pub contexts: u64,
    /// Who calls the first key, and the value of the stacks in which it does; the key of the whole
    /// profile where the sequence starts the stack. The heaviest first.
    pub callers: Vec<(KeyId, i64)>,
    /// How many keys.
    pub length: usize,
    /// A place where it ends.
    place: PrefixId,
}

/// The sequences of a profile, the heaviest first.
#[derive(Debug)]
pub struct Sequences {
    prefixes: Prefixes,
    /// By total, then length, then names.
    pub found: Vec<Sequence>,
}

impl Sequences {
    /// The keys of a sequence, the leaf-most first.
    pub fn keys_from_leaf(&self, sequence: &Sequence) -> impl Iterator<Item = KeyId> + '_ {
        let up = |&node: &PrefixId| Some(self.prefixes.parent[node]);
        let nodes = std::iter::successors(Some(sequence.place), up);
        nodes.take(sequence.length).map(|node| self.prefixes.key[node])
    }

    /// The keys of a sequence, the root-most first.
    pub fn keys(&self, sequence: &Sequence) -> Vec<KeyId> {
        let mut keys: Vec<KeyId> = self.keys_from_leaf(sequence).collect();
        keys.reverse();
        keys
    }
}

/// Finds the sequences of the first series.
pub fn sequences(subject: &Subject<'_>, search: SequenceSearch) -> Sequences {
    sequences_with(subject, search, Leaps::USUAL)
}

/// When chains are made longer by leaps.
#[derive(Clone, Copy, Debug)]
struct Leaps {
    /// The shortest leap is 2^`least` keys, and is tried at lengths that are a multiple of that.
    least: u32,
    /// Stacks without so many keys are searched step by step.
    depth: u32,
}

impl Leaps {
    const USUAL: Leaps = Leaps { least: 5, depth: 512 };
}

fn sequences_with(subject: &Subject<'_>, search: SequenceSearch, leaps: Leaps) -> Sequences {
    let mass = mass_of_keys(subject);
    // A chain with less can neither be found nor keep a shorter one from being found.
    let least = search.tolerance.rest().least_part(search.min_total).max(1);
    let wanted = mass.map(|&mass| mass.unsigned_abs() >= least);
    let prefixes = Prefixes::new(subject, &wanted);
    let mut found = Miner::new(subject, &prefixes, search, leaps).run(&mass);
    let sequences = Sequences { prefixes, found: Vec::new() };
    let names = |sequence: &Sequence| sequences.keys(sequence).into_iter().map(|key| subject.keys.name(key));
    found.sort_by(|a, b| {
        let weight = |sequence: &Sequence| Reverse((sequence.total.unsigned_abs(), sequence.length));
        weight(a).cmp(&weight(b)).then_with(|| names(a).cmp(names(b)))
    });
    Sequences { found, ..sequences }
}

/// Σ |value| of the stacks that hold each key.
fn mass_of_keys(subject: &Subject<'_>) -> Column<KeyId, i64> {
    let mut mass = Column::filled(0, subject.keys.len());
    let mut seen = Seen::new(subject.keys.len());
    for (stack, &value) in subject.series[0].enumerate() {
        if value != 0 {
            seen.next();
            subject.stack_keys(stack).filter(|&key| seen.first(key)).for_each(|key| mass[key] += value.abs());
        }
    }
    mass
}

/// One place where a chain stands.
#[derive(Clone, Copy, Debug, Default)]
struct Member {
    /// Where it ends.
    end: PrefixId,
    /// The prefix in front of it.
    above: PrefixId,
}

/// A chain: where its places are among the members, in preorder.
struct Chain {
    start: usize,
    end: usize,
    length: usize,
    total: i64,
    /// The leap to try first: 2^`leap` keys.
    leap: u32,
}

struct Miner<'s> {
    subject: &'s Subject<'s>,
    prefixes: &'s Prefixes,
    search: SequenceSearch,
    leaps: Leaps,
    ladder: Ladder<'s>,
    /// Whether stacks are so deep that leaps are worth it, and values all of one sign, without which
    /// they could not be told to be safe.
    may_leap: bool,
    /// The places of all chains in work, those of a chain side by side.
    members: Vec<Member>,
    work: Vec<Chain>,
    /// The chains that are one key longer at the front, and at the back.
    front: LongerChains,
    back: LongerChains,
    /// The places of the chain that is looked at, each with the number of its longer chain.
    split: Vec<(u32, Member)>,
    found: Vec<Sequence>,
}

impl<'s> Miner<'s> {
    fn new(subject: &'s Subject<'s>, prefixes: &'s Prefixes, search: SequenceSearch, leaps: Leaps) -> Self {
        let deepest = prefixes.depth.iter().max().copied().unwrap_or(0);
        Miner {
            subject,
            prefixes,
            search,
            leaps,
            ladder: Ladder::new(prefixes),
            may_leap: deepest >= leaps.depth && !prefixes.is_signed(),
            members: Vec::new(),
            work: Vec::new(),
            front: LongerChains::new(subject.keys.len()),
            back: LongerChains::new(subject.keys.len()),
            split: Vec::new(),
            found: Vec::new(),
        }
    }

    fn run(mut self, mass: &Column<KeyId, i64>) -> Vec<Sequence> {
        self.start(mass);
        while let Some(chain) = self.work.pop() {
            if !self.leap(&chain) {
                self.visit(&chain);
            }
        }
        self.found
    }

    /// Begins with the chains of one key that are heavy enough.
    fn start(&mut self, mass: &Column<KeyId, i64>) {
        let prefixes = self.prefixes;
        for node in prefixes.parent.ids().skip(1) {
            let key = prefixes.key[node];
            if mass[key].unsigned_abs() >= self.search.min_total {
                let number = self.front.count(prefixes, key, node);
                self.split.push((number, Member { end: node, above: prefixes.parent[node] }));
            }
        }
        self.members = vec![Member::default(); self.split.len()];
        self.descend(0, 1, self.leaps.least);
    }

    /// Looks at a chain: splits its places by the key in front, and keeps it if it is one to show.
    fn visit(&mut self, chain: &Chain) {
        let prefixes = self.prefixes;
        self.front.clear();
        self.split.clear();
        let mut nested = false;
        let mut covered = PrefixId::default();
        for &Member { end, above } in &self.members[chain.start..chain.end] {
            nested |= end < covered;
            covered = covered.max(prefixes.end[end]);
            let number = self.front.count(prefixes, prefixes.key[above], end);
            self.split.push((number, Member { end, above: prefixes.parent[above] }));
        }
        if self.is_one_to_show(chain, nested) {
            let sequence = self.sequence(chain);
            self.found.push(sequence);
        }
        if chain.length < self.search.max_length {
            self.descend(chain.start, chain.length + 1, self.leaps.least);
        }
    }

    /// Makes work of the longer chains that are heavy enough and recur. Their places stand where
    /// those of the chain stood.
    fn descend(&mut self, start: usize, length: usize, leap: u32) {
        let mut next = start;
        for longer in &mut self.front.found {
            let is_heavy = longer.mass.unsigned_abs() >= self.search.min_total;
            longer.next = None;
            if is_heavy && longer.places >= self.search.contexts && longer.key != whole() {
                let end = next + longer.places;
                self.work.push(Chain { start: next, end, length, total: longer.total, leap });
                longer.next = Some(next);
                next = end;
            }
        }
        for &(number, member) in &self.split {
            if let Some(next) = &mut self.front.found[number as usize].next {
                self.members[*next] = member;
                *next += 1;
            }
        }
    }

    /// Makes a chain longer by many keys at once, where deep recursion would take as many steps.
    ///
    /// If the chain made longer by `2ⁿ` keys keeps all of its total but the tolerance, then so does
    /// each chain on the way compared to the one before, and none of them is one to show. What leaves
    /// the way goes to work as it would have step by step.
    fn leap(&mut self, chain: &Chain) -> bool {
        let least = self.leaps.least;
        if !self.may_leap || !chain.length.is_multiple_of(1 << least) {
            return false;
        }
        for level in (least..=chain.leap).rev() {
            self.ladder.climb(level);
            if let Some((name, total)) = self.heaviest_run(chain, level)
                && self.search.tolerance.rest().is_reached_by(total, chain.total)
            {
                self.leave_the_way(chain, level, name);
                return true;
            }
        }
        false
    }

    /// The run of 2^`level` keys in front of the chain with the greatest total, and of these the one
    /// with the most places: `f → f → f` rather than `main → f → f`, of which there is but one.
    fn heaviest_run(&self, chain: &Chain, level: u32) -> Option<(u32, i64)> {
        let mut runs: HashMap<u32, Run> = HashMap::new();
        for member in &self.members[chain.start..chain.end] {
            if let Some((name, _)) = self.ladder.step(level, member.above) {
                let run = runs.entry(name).or_default();
                run.places += 1;
                if member.end >= run.covered {
                    run.total += self.prefixes.total[member.end];
                    run.covered = self.prefixes.end[member.end];
                }
            }
        }
        let heaviest = runs.into_iter().max_by_key(|(name, run)| (run.total, run.places, Reverse(*name)));
        heaviest.map(|(name, run)| (name, run.total))
    }

    /// Makes work of the chain that is longer by the run called `name`, and of all chains that differ
    /// from it somewhere in the run. The rest of the places have the start of the stack in the run:
    /// they hold nothing but chains on the way.
    fn leave_the_way(&mut self, chain: &Chain, level: u32, name: u32) {
        let (prefixes, search) = (self.prefixes, self.search);
        let members = self.members[chain.start..chain.end].to_vec();
        let on_the_way = |member: &Member| match self.ladder.step(level, member.above) {
            Some((other, above)) if other == name => Some(Member { above, ..*member }),
            _ => None,
        };
        let way = members.iter().find(|member| on_the_way(member).is_some()).map(|member| member.above);
        let stay: Vec<Member> = members.iter().filter_map(on_the_way).collect();
        // By how many keys they share with the way, and the first that differs.
        let mut leave: BTreeMap<(usize, KeyId), Vec<Member>> = BTreeMap::new();
        for member in members.iter().filter(|member| on_the_way(member).is_none()) {
            let Some(way) = way else { continue };
            let (shared, above) = self.ladder.shared(level, member.above, way);
            if above != PrefixId::default() {
                let member = Member { above: prefixes.parent[above], ..*member };
                leave.entry((shared, prefixes.key[above])).or_default().push(member);
            }
        }
        let chains = leave.into_iter().map(|((shared, _), members)| (shared + 1, members, self.leaps.least));
        let all = std::iter::once((1 << level, stay, level + 1)).chain(chains).collect::<Vec<_>>();
        let mut start = chain.start;
        for (keys, members, leap) in all {
            let mass = self.mass_of(&members);
            let length = chain.length + keys;
            let is_heavy = mass.unsigned_abs() >= search.min_total;
            if is_heavy && members.len() >= search.contexts && length <= search.max_length {
                let end = start + members.len();
                self.members[start..end].copy_from_slice(&members);
                // Without negative values the total is the mass.
                self.work.push(Chain { start, end, length, total: mass, leap });
                start = end;
            }
        }
    }

    /// The value of the stacks through any of these places.
    fn mass_of(&self, members: &[Member]) -> i64 {
        let mut covered = PrefixId::default();
        let mut mass = 0;
        for member in members {
            if member.end >= covered {
                mass += self.prefixes.mass(member.end);
                covered = self.prefixes.end[member.end];
            }
        }
        mass
    }

    /// The tests in the order of what they cost. That the chain recurs often enough was seen before
    /// it came to work.
    fn is_one_to_show(&mut self, chain: &Chain, nested: bool) -> bool {
        chain.length >= self.search.min_length.max(2)
            && chain.total.unsigned_abs() >= self.search.min_total
            && !self.front.has_rival(chain.total, self.search.tolerance)
            && self.is_spread(chain, nested)
            && !self.has_rival_at_end(chain, nested)
    }

    /// Whether enough of the total lies outside the heaviest contexts. With `nested` places, a stack
    /// in one of these may have another place outside.
    fn is_spread(&self, chain: &Chain, nested: bool) -> bool {
        let prefixes = self.prefixes;
        let heaviest = self.search.contexts - 1;
        let mut places: Vec<PrefixId> =
            self.members[chain.start..chain.end].iter().map(|member| member.end).collect();
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

    /// Heavier places first; among equal ones those with the shorter prefix, then by its names.
    fn by_weight(&self, a: PrefixId, b: PrefixId) -> Ordering {
        let prefixes = self.prefixes;
        let weight = |place: PrefixId| (Reverse(prefixes.total[place].unsigned_abs()), prefixes.depth[place]);
        weight(a).cmp(&weight(b)).then_with(|| self.by_names(a, b))
    }

    /// The order of two prefixes of the same length: by their first names that differ.
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

    /// Whether a chain with one key more at the end has nearly the same total.
    fn has_rival_at_end(&mut self, chain: &Chain, nested: bool) -> bool {
        let prefixes = self.prefixes;
        self.back.clear();
        let places = self.members[chain.start..chain.end].iter().map(|member| member.end);
        let callees = places.flat_map(|place| prefixes.children(place));
        if nested {
            // Below nested places callees do not come in preorder, by which they are counted once.
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
        self.back.has_rival(chain.total, self.search.tolerance)
    }

    /// The chain as a sequence.
    fn sequence(&self, chain: &Chain) -> Sequence {
        let members = &self.members[chain.start..chain.end];
        let mut callers: Vec<(KeyId, i64)> =
            self.front.found.iter().map(|longer| (longer.key, longer.total)).collect();
        let name = |key: KeyId| self.subject.keys.name(key);
        callers.sort_by(|a, b| {
            b.1.unsigned_abs().cmp(&a.1.unsigned_abs()).then_with(|| name(a.0).cmp(name(b.0)))
        });
        Sequence {
            total: chain.total,
            self_value: members.iter().map(|member| self.prefixes.self_value[member.end]).sum(),
            contexts: members.len() as u64,
            callers,
            length: chain.length,
            place: members[0].end,
        }
    }
}

/// A run of keys in front of a chain.
#[derive(Default)]
struct Run {
    places: usize,
    total: i64,
    /// Nodes before this one lie below a place that was counted.
    covered: PrefixId,
}

/// One of the chains that are a given chain and one key more.
#[derive(Clone, Copy, Debug)]
struct Longer {
    /// That key; the key of the whole profile where the chain starts the stack.
    key: KeyId,
    places: usize,
    total: i64,
    mass: i64,
    /// Nodes before this one lie below a place that was counted.
    covered: PrefixId,
    /// Where its next place is to be put.
    next: Option<usize>,
}

const NO_NUMBER: u32 = u32::MAX;

/// The chains that are a given chain and one key more.
struct LongerChains {
    found: Vec<Longer>,
    number_of: Column<KeyId, u32>,
}

impl LongerChains {
    fn new(keys: usize) -> Self {
        LongerChains { found: Vec::new(), number_of: Column::filled(NO_NUMBER, keys) }
    }

    fn clear(&mut self) {
        for longer in self.found.drain(..) {
            self.number_of[longer.key] = NO_NUMBER;
        }
    }

    /// Counts a place of the chain with `key`, and returns the chain's number. The places of a chain
    /// come in preorder: a place below another adds nothing to the total.
    #[inline]
    fn count(&mut self, prefixes: &Prefixes, key: KeyId, place: PrefixId) -> u32 {
        let mut number = self.number_of[key];
        if number == NO_NUMBER {
            number = self.found.len() as u32;
            self.number_of[key] = number;
            let covered = PrefixId::default();
            self.found.push(Longer { key, places: 0, total: 0, mass: 0, covered, next: None });
        }
        let longer = &mut self.found[number as usize];
        longer.places += 1;
        if place >= longer.covered {
            longer.total += prefixes.total[place];
            longer.mass += prefixes.mass(place);
            longer.covered = prefixes.end[place];
        }
        number
    }

    /// Whether one of them has all of `total` but the tolerance.
    fn has_rival(&self, total: i64, tolerance: Fraction) -> bool {
        let is_rival =
            |longer: &Longer| longer.key != whole() && tolerance.rest().is_reached_by(longer.total, total);
        self.found.iter().any(is_rival)
    }
}

#[cfg(test)]
#[path = "sequences_tests.rs"]
mod tests;
