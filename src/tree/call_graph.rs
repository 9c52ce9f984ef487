//! The call graph: which key calls which.

use hashbrown::HashMap;

use crate::profile::{Column, FrameId, Id};
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
    let mut edges: Vec<CallEdge> = Vec::new();
    let mut known = KnownEdges::new();
    // For each edge, the last stack that was counted for it. There are at most 2³² stacks; numbering starts at 1.
    let mut counted_for: Vec<u32> = Vec::new();
    // Stacks that follow each other often begin with the same frames, whose edges need not be looked up again.
    let (mut previous, mut steps): (&[FrameId], Vec<Step>) = (&[], Vec::new());
    for (number, stack) in (1..).zip(subject.stacks()) {
        let frames = subject.frames(stack);
        steps.truncate(previous.iter().zip(frames).take_while(|(one, other)| one == other).count());
        for &frame in &frames[steps.len()..] {
            let key = subject.keys.of_frame(frame);
            let Step { caller, bridged, .. } = steps.last().copied().unwrap_or_default();
            if !kept[key] {
                steps.push(Step { caller, bridged: true, edge: None });
                continue;
            }
            let edge = caller.filter(|&caller| caller != key).map(|caller| {
                let edge = known.number((caller, key), || {
                    let values = vec![0; subject.series.len()];
                    edges.push(CallEdge { caller, callee: key, values, bridged: true });
                    counted_for.push(0);
                    edges.len() - 1
                });
                edges[edge].bridged &= bridged;
                edge
            });
            steps.push(Step { caller: Some(key), bridged: false, edge });
        }
        previous = frames;
        for edge in steps.iter().filter_map(|step| step.edge) {
            if std::mem::replace(&mut counted_for[edge], number) != number {
                for (sum, value) in edges[edge].values.iter_mut().zip(subject.values(stack)) {
                    *sum += value;
                }
            }
        }
    }
    edges
}

/// The numbers of edges. The same few follow each other a million times, so those used last are found without hashing.
struct KnownEdges {
    all: HashMap<(KeyId, KeyId), usize>,
    last: Vec<Option<((KeyId, KeyId), usize)>>,
}

impl KnownEdges {
    /// A power of two.
    const LAST: usize = 1 << 13;

    fn new() -> Self {
        KnownEdges { all: HashMap::new(), last: vec![None; Self::LAST] }
    }

    /// The number of an edge, which `add` adds if it is new.
    fn number(&mut self, edge: (KeyId, KeyId), add: impl FnOnce() -> usize) -> usize {
        let mixed = edge.0.index().wrapping_mul(SPREAD) ^ edge.1.index();
        let last = &mut self.last[mixed % Self::LAST];
        match last {
            Some((known, number)) if *known == edge => *number,
            _ => {
                let number = *self.all.entry(edge).or_insert_with(add);
                *last = Some((edge, number));
                number
            }
        }
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
    /// The edge that ends at the frame.
    edge: Option<usize>,
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
        }
    }
}
