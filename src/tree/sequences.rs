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

use crate::profile::Column;
use crate::tree::prefixes::{PrefixId, Prefixes};
use crate::tree::{KeyId, Seen, Subject, whole};

/// A share of something, in millionths, so that comparing is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share(u32);

impl Share {
    const WHOLE: u32 = 1_000_000;

    /// A share given in percent, rounded to the millionth.
    pub fn percent(percent: f64) -> Self {
        Share((percent.clamp(0.0, 100.0) * 10_000.0).round() as u32)
    }

    /// The rest of the whole.
    #[must_use]
    pub fn rest(self) -> Self {
        Share(Self::WHOLE - self.0)
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
    pub context_share: Share,
    /// A chain is left out if one a key longer has all of its total but this share.
    pub tolerance: Share,
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
    let mass = mass_of_keys(subject);
    // A chain with less can neither be found nor keep a shorter one from being found.
    let least = search.tolerance.rest().least_part(search.min_total).max(1);
    let wanted = mass.map(|&mass| mass.unsigned_abs() >= least);
    let prefixes = Prefixes::new(subject, &wanted);
    let mut found = Miner::new(subject, &prefixes, search).run(&mass);
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
    /// The prefix up to its first key.
    top: PrefixId,
}

/// A chain: where its places are among the members, in preorder.
struct Chain {
    start: usize,
    end: usize,
    length: usize,
    total: i64,
}

struct Miner<'s> {
    subject: &'s Subject<'s>,
    prefixes: &'s Prefixes,
    search: SequenceSearch,
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
    fn new(subject: &'s Subject<'s>, prefixes: &'s Prefixes, search: SequenceSearch) -> Self {
        let [front, back] = [(); 2].map(|()| LongerChains::new(subject.keys.len()));
        let (members, work, split, found) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Miner { subject, prefixes, search, members, work, front, back, split, found }
    }

    fn run(mut self, mass: &Column<KeyId, i64>) -> Vec<Sequence> {
        self.start(mass);
        while let Some(chain) = self.work.pop() {
            self.visit(&chain);
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
                self.split.push((number, Member { end: node, top: node }));
            }
        }
        self.members = vec![Member::default(); self.split.len()];
        self.descend(0, 1);
    }

    /// Looks at a chain: splits its places by the key in front, and keeps it if it is one to show.
    fn visit(&mut self, chain: &Chain) {
        let prefixes = self.prefixes;
        self.front.clear();
        self.split.clear();
        let mut nested = false;
        let mut covered = PrefixId::default();
        for &Member { end, top } in &self.members[chain.start..chain.end] {
            nested |= end < covered;
            covered = covered.max(prefixes.end[end]);
            let top = prefixes.parent[top];
            let number = self.front.count(prefixes, prefixes.key[top], end);
            self.split.push((number, Member { end, top }));
        }
        if self.is_one_to_show(chain, nested) {
            let sequence = self.sequence(chain);
            self.found.push(sequence);
        }
        if chain.length < self.search.max_length {
            self.descend(chain.start, chain.length + 1);
        }
    }

    /// Makes work of the longer chains that are heavy enough and recur. Their places stand where
    /// those of the chain stood.
    fn descend(&mut self, start: usize, length: usize) {
        let mut next = start;
        for longer in &mut self.front.found {
            let is_heavy = longer.mass.unsigned_abs() >= self.search.min_total;
            longer.next = None;
            if is_heavy && longer.places >= self.search.contexts && longer.key != whole() {
                let end = next + longer.places;
                self.work.push(Chain { start: next, end, length, total: longer.total });
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
    fn has_rival(&self, total: i64, tolerance: Share) -> bool {
        let is_rival =
            |longer: &Longer| longer.key != whole() && tolerance.rest().is_reached_by(longer.total, total);
        self.found.iter().any(is_rival)
    }
}

#[cfg(test)]
#[path = "sequences_tests.rs"]
mod tests;
