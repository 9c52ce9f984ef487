//! The call graph: which key calls which.

use std::ops::Range;

use hashbrown::HashMap;

use crate::parallel;
use crate::profile::{Column, FrameId, Id, StackId};
use crate::tree::{KeyId, Subject};

/// An edge of the call graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallEdge {
    /// The caller.
    pub caller: KeyId,
    /// The callee.
    pub callee: KeyId,
    /// For each series, the value of the stacks on which `caller` is above `callee`; each stack counts once.
    pub values: Vec<i64>,
    /// Whether omitted keys lie between caller and callee on all of these stacks.
    pub bridged: bool,
}

/// The edges between kept keys, in all series, in the order in which they first occur. An edge
/// bridges any omitted keys between two kept ones. A key that calls itself has no edge.
///
/// ```
/// use prof::profile::{Column, from_notation};
/// use prof::tree::{By, Subject, call_edges};
///
/// let profile = from_notation("main;a;b;a;b 4");
/// let subject = Subject::new(&profile, &By::Function, &[0]);
/// let all = Column::filled(true, subject.keys.len());
/// let values: Vec<i64> = call_edges(&subject, &all).iter().map(|edge| edge.values[0]).collect();
/// assert_eq!(values, [4, 4, 4], "main → a, a → b once, b → a");
/// ```
pub fn call_edges(subject: &Subject<'_>, kept: &Column<KeyId, bool>) -> Vec<CallEdge> {
    if let Some(calls) = &subject.calls {
        return calls.call_edges(kept);
    }
    let frames = subject.profile.symbols.frames.ids();
    let kept: Column<FrameId, Option<KeyId>> =
        frames.map(|frame| Some(subject.keys.of_frame(frame)).filter(|&key| kept[key])).collect();
    let parts =
        parallel::ranges(subject.profile.stacks.len(), 20_000, |stacks| count(subject, &kept, stacks));
    let edges = parts.into_iter().reduce(|edges, later| edges.add(&later));
    edges.map_or_else(Vec::new, |edges| edges.finish())
}

/// Counts the edges of a slice of the stacks. Frames of omitted keys have no key here.
fn count(subject: &Subject<'_>, kept: &Column<FrameId, Option<KeyId>>, stacks: Range<usize>) -> EdgeTable {
    let mut edges = EdgeTable::new(subject.series.len());
    // Stacks that follow each other often begin with the same frames, whose edges need not be looked up again.
    let (mut previous, mut steps): (&[FrameId], Vec<Step>) = (&[], Vec::new());
    // Of a hundred runs, few have a stack.
    let mut values: Vec<(usize, i64)> = Vec::new();
    // There are at most 2³² stacks; numbering starts at 1.
    for (number, stack) in (1..).zip(stacks.map(StackId::new)) {
        values.clear();
        values.extend(subject.values(stack).enumerate().filter(|(_, value)| *value != 0));
        if values.is_empty() {
            continue;
        }
        let frames = subject.frames(stack);
        steps.truncate(previous.iter().zip(frames).take_while(|(one, other)| one == other).count());
        for &frame in &frames[steps.len()..] {
            let Step { caller, bridged, .. } = steps.last().copied().unwrap_or_default();
            let Some(key) = kept[frame] else {
                steps.push(Step { caller, bridged: true, edge: None });
                continue;
            };
            let edge = caller.filter(|&caller| caller != key);
            let edge = edge.map(|caller| edges.number((caller, key), bridged));
            steps.push(Step { caller: Some(key), bridged: false, edge });
        }
        previous = frames;
        for edge in steps.iter().filter_map(|step| step.edge) {
            edges.count(edge, number, &values);
        }
    }
    edges
}

/// The edges that were found so far, by their numbers.
struct EdgeTable {
    series: usize,
    pairs: Vec<(KeyId, KeyId)>,
    bridged: Vec<bool>,
    /// The values of each edge, one per series.
    sums: Vec<i64>,
    /// For each edge, the last stack that was counted for it.
    counted_for: Vec<u32>,
    numbers: HashMap<(KeyId, KeyId), u32>,
    /// The same few follow each other a million times, so those used last are found without hashing.
    last: Vec<((KeyId, KeyId), u32)>,
}

impl EdgeTable {
    /// A power of two.
    const LAST: usize = 1 << 13;

    fn new(series: usize) -> Self {
        // No key calls itself, so this is no edge.
        let none = ((KeyId::new(0), KeyId::new(0)), 0);
        EdgeTable {
            series,
            pairs: Vec::new(),
            bridged: Vec::new(),
            sums: Vec::new(),
            counted_for: Vec::new(),
            numbers: HashMap::new(),
            last: vec![none; Self::LAST],
        }
    }

    /// The number of an edge, which is added if it is new.
    fn number(&mut self, edge: (KeyId, KeyId), bridged: bool) -> u32 {
        let mixed = edge.0.index().wrapping_mul(SPREAD) ^ edge.1.index();
        let last = &mut self.last[mixed % Self::LAST];
        if last.0 != edge {
            let new = self.pairs.len() as u32;
            let number = *self.numbers.entry(edge).or_insert(new);
            if number == new {
                self.pairs.push(edge);
                self.bridged.push(true);
                self.counted_for.push(0);
                self.sums.resize(self.sums.len() + self.series, 0);
            }
            *last = (edge, number);
        }
        let number = last.1;
        if !bridged {
            self.bridged[number as usize] = false;
        }
        number
    }

    /// Counts the values of a stack for an edge, unless that was done before.
    fn count(&mut self, edge: u32, stack: u32, values: &[(usize, i64)]) {
        let edge = edge as usize;
        if std::mem::replace(&mut self.counted_for[edge], stack) != stack {
            let sums = &mut self.sums[edge * self.series..][..self.series];
            for &(series, value) in values {
                sums[series] += value;
            }
        }
    }

    /// Adds the edges of later stacks.
    fn add(mut self, later: &EdgeTable) -> EdgeTable {
        for (number, &edge) in later.pairs.iter().enumerate() {
            let sum = self.number(edge, later.bridged[number]) as usize;
            let sums = self.sums[sum * self.series..][..self.series].iter_mut();
            sums.zip(&later.sums[number * self.series..]).for_each(|(sum, value)| *sum += value);
        }
        self
    }

    fn finish(&self) -> Vec<CallEdge> {
        let edge = |(number, &(caller, callee)): (usize, &(KeyId, KeyId))| {
            let values = self.sums[number * self.series..][..self.series].to_vec();
            CallEdge { caller, callee, values, bridged: self.bridged[number] }
        };
        self.pairs.iter().enumerate().map(edge).collect()
    }
}

/// A prime, so that the edges of neighbouring callers differ.
const SPREAD: usize = 0x9E37_79B1;

/// A frame of a stack.
#[derive(Clone, Copy, Default)]
struct Step {
    /// The kept key nearest to it, itself included; the next kept key is called by it.
    caller: Option<KeyId>,
    /// Whether omitted keys follow that key.
    bridged: bool,
    /// The number of the edge that ends at the frame.
    edge: Option<u32>,
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;
    use crate::profile::{Id, from_notation};
    use crate::tree::By;

    type Drawn = BTreeMap<(String, String), (i64, bool)>;

    fn edges(picture: &str, cut: &[&str]) -> Drawn {
        let profile = from_notation(picture);
        let subject = Subject::new(&profile, &By::Function, &[0]);
        let name = |key: KeyId| subject.keys.name(key).to_string();
        let kept = (0..subject.keys.len()).map(|key| !cut.contains(&&*name(KeyId::new(key)))).collect();
        let edges = call_edges(&subject, &kept);
        edges
            .iter()
            .map(|edge| ((name(edge.caller), name(edge.callee)), (edge.values[0], edge.bridged)))
            .collect()
    }

    #[test]
    fn drawn_stacks() {
        let table: [(&str, &[&str], &str); 6] = [
            ("main;a 1\nmain;a;b 2\nmain;b 4", &[], "a>b 2, main>a 3, main>b 4"),
            // Each stack counts once, however often the edge recurs; no edges from a key to itself.
            ("a;b;a;b 5\na;a 1", &[], "a>b 5, b>a 5"),
            ("main;x;a 1\nmain;y;a 2", &["x", "y"], "main>a 3~"),
            ("main;x;a 1\nmain;a 2", &["x"], "main>a 3"),
            ("a;x;a;b 1", &["x"], "a>b 1"),
            ("x;y 1", &["x", "y"], ""),
        ];
        for (picture, cut, expected) in table {
            let drawn: Vec<String> = edges(picture, cut)
                .into_iter()
                .map(|((a, b), (value, bridged))| {
                    format!("{a}>{b} {value}{}", if bridged { "~" } else { "" })
                })
                .collect();
            assert_eq!(drawn.join(", "), expected, "{picture}");
        }
    }

    proptest! {
        #[test]
        fn equals_a_count_by_hand(
            stacks in proptest::collection::vec((proptest::collection::vec(0..5_usize, 0..8), 1..9_i64), 1..12),
            cut in proptest::collection::btree_set(0..5_usize, 0..3),
        ) {
            let names = ["f0", "f1", "f2", "f3", "f4"];
            let mut expected: Drawn = BTreeMap::new();
            for (stack, value) in &stacks {
                let shown: Vec<usize> = (0..stack.len()).filter(|&at| !cut.contains(&stack[at])).collect();
                let mut pairs = BTreeSet::new();
                for pair in shown.windows(2) {
                    let (caller, callee) = (stack[pair[0]], stack[pair[1]]);
                    if caller != callee {
                        pairs.insert((caller, callee));
                        let key = (names[caller].to_string(), names[callee].to_string());
                        expected.entry(key).or_insert((0, true)).1 &= pair[0] + 1 != pair[1];
                    }
                }
                for (caller, callee) in pairs {
                    let key = (names[caller].to_string(), names[callee].to_string());
                    expected.entry(key).or_insert((0, true)).0 += value;
                }
            }
            let text = |stack: &[usize]| stack.iter().map(|&f| names[f]).collect::<Vec<_>>().join(";");
            let picture: Vec<String> = stacks.iter().map(|(s, v)| format!("{} {v}", text(s))).collect();
            let cut: Vec<&str> = cut.iter().map(|&key| names[key]).collect();
            prop_assert_eq!(edges(&picture.join("\n"), &cut), expected);
            let profile = from_notation(&picture.join("\n"));
            let subject = Subject::new(&profile, &By::Function, &[0]);
            let kept = profile.symbols.frames.ids().map(|frame| Some(subject.keys.of_frame(frame)));
            let kept: Column<FrameId, Option<KeyId>> =
                kept.map(|key| key.filter(|&key| !cut.contains(&&**subject.keys.name(key)))).collect();
            let all = profile.stacks.len();
            let slices = [0..all / 2, all / 2..all].map(|slice| count(&subject, &kept, slice));
            let [first, second] = slices;
            prop_assert_eq!(first.add(&second).finish(), count(&subject, &kept, 0..all).finish());
        }
    }
}
