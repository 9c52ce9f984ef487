//! All stacks as one tree of their prefixes, with a node for every distinct prefix.
//!
//! Other trees are built only as far as they are shown. This one is built completely for the search for
//! call sequences, because a sequence may be anywhere. An occurrence of a sequence ends at a node, and
//! two occurrences have the same context exactly if they end at the same node.

use crate::profile::{Column, Id, ids};
use crate::tree::{KeyId, Subject, whole};

ids! {
    #[allow(unreachable_pub, reason = "all ids are made public, but this one is used only here")]
    /// A node of [`Prefixes`], in preorder; node 0 is the empty prefix.
    PrefixId;
}

/// The prefixes of all stacks in preorder.
#[derive(Debug, Default)]
pub(super) struct Prefixes {
    /// The prefix one key shorter; the root's is itself.
    pub(super) parent: Column<PrefixId, PrefixId>,
    /// The last key; the root has that of the whole profile.
    pub(super) key: Column<PrefixId, KeyId>,
    /// The number of keys.
    pub(super) depth: Column<PrefixId, u32>,
    /// The first node after all descendants.
    pub(super) end: Column<PrefixId, PrefixId>,
    /// The value of the stacks that start with this prefix.
    pub(super) total: Column<PrefixId, i64>,
    /// The value of the stacks that equal this prefix.
    pub(super) self_value: Column<PrefixId, i64>,
    /// Σ |value| of the stacks that start with this prefix; empty if no value is negative, since it then
    /// equals `total`.
    weight: Column<PrefixId, i64>,
}

impl Prefixes {
    /// The prefixes of the stacks of the first series. Everything after the last `wanted` key of a stack
    /// is left out.
    pub(super) fn new(subject: &Subject<'_>, wanted: &Column<KeyId, bool>) -> Self {
        let texts = KeyStrings::new(subject, wanted);
        let mut tree = Prefixes::default();
        let mut splitter = PrefixSplitter::new(&texts, subject.keys.len());
        let mut work = vec![StackGroup {
            start: 0,
            end: texts.rows.len(),
            depth: 0,
            parent: PrefixId::default(),
            key: whole(),
        }];
        while let Some(group) = work.pop() {
            let node = tree.push(group.parent, group.key, group.depth);
            match splitter.order[group.start..group.end] {
                [one] => tree.append(&texts, one, node),
                _ => splitter.split(&mut tree, &group, node, &mut work),
            }
        }
        tree.add_up(texts.rows.iter().any(|text| text.value < 0));
        tree
    }

    /// Number of nodes.
    pub(super) fn len(&self) -> usize {
        self.parent.len()
    }

    /// Σ |value| of the stacks that start with this prefix. Unlike a total, it never exceeds that of a
    /// shorter prefix.
    #[inline]
    pub(super) fn weight(&self, node: PrefixId) -> i64 {
        if self.weight.is_empty() { self.total[node] } else { self.weight[node] }
    }

    /// Whether the stacks may have values of both signs.
    pub(super) fn is_signed(&self) -> bool {
        !self.weight.is_empty()
    }

    /// The children: prefixes that are one key longer.
    pub(super) fn children(&self, node: PrefixId) -> impl Iterator<Item = PrefixId> + '_ {
        let end = self.end[node];
        let within = move |child: PrefixId| (child < end).then_some(child);
        let first = within(PrefixId::new(node.index() + 1));
        std::iter::successors(first, move |&child| within(self.end[child]))
    }

    fn push(&mut self, parent: PrefixId, key: KeyId, depth: u32) -> PrefixId {
        self.key.push(key);
        self.depth.push(depth);
        self.self_value.push(0);
        // Until the tree is complete, `total` holds the value of the stacks that end or are cut here.
        self.total.push(0);
        self.weight.push(0);
        self.parent.push(parent)
    }

    /// Adds the prefixes of a stack that shares none longer than `node` with any other stack.
    fn append(&mut self, texts: &KeyStrings, row: u32, mut node: PrefixId) {
        let text = texts.rows[row as usize];
        for depth in self.depth[node]..text.length {
            let key = texts.keys[text.start + depth as usize];
            node = self.push(node, key, depth + 1);
        }
        self.add(node, text);
    }

    fn add(&mut self, node: PrefixId, text: KeyString) {
        self.total[node] += text.value;
        self.weight[node] += text.value.abs();
        if !text.cut {
            self.self_value[node] += text.value;
        }
    }

    /// Adds the values of descendants to each node, from the last node to the first, since parents come
    /// first.
    fn add_up(&mut self, signed: bool) {
        if !signed {
            self.weight = Column::new();
        }
        self.end = (1..=self.len()).map(PrefixId::new).collect();
        for node in (1..self.len()).rev().map(PrefixId::new) {
            let parent = self.parent[node];
            let total = self.total[node];
            self.total[parent] += total;
            if signed {
                let weight = self.weight[node];
                self.weight[parent] += weight;
            }
            self.end[parent] = self.end[parent].max(self.end[node]);
        }
    }
}

/// The keys of the stacks that have a value, each stack cut after its last wanted key.
struct KeyStrings {
    keys: Vec<KeyId>,
    rows: Vec<KeyString>,
}

#[derive(Clone, Copy)]
struct KeyString {
    start: usize,
    length: u32,
    /// Whether keys were cut, so that the stack does not really end here.
    cut: bool,
    value: i64,
}

impl KeyStrings {
    fn new(subject: &Subject<'_>, wanted: &Column<KeyId, bool>) -> Self {
        let mut texts = KeyStrings { keys: Vec::new(), rows: Vec::new() };
        for (stack, &value) in subject.series[0].enumerate() {
            if value == 0 {
                continue;
            }
            let start = texts.keys.len();
            texts.keys.extend(subject.stack_keys(stack));
            let all = texts.keys.len() - start;
            let length = texts.keys[start..].iter().rposition(|&key| wanted[key]).map_or(0, |last| last + 1);
            texts.keys.truncate(start + length);
            if length > 0 {
                texts.rows.push(KeyString { start, length: length as u32, cut: length < all, value });
            }
        }
        texts
    }
}

/// Stacks that share their first `depth` keys, the last of which is `key`.
struct StackGroup {
    start: usize,
    end: usize,
    depth: u32,
    parent: PrefixId,
    key: KeyId,
}

const NO_GROUP: u32 = u32::MAX;

struct PrefixSplitter<'t> {
    texts: &'t KeyStrings,
    /// The stacks, with those of a group adjacent.
    order: Vec<u32>,
    scratch: Vec<(u32, u32)>,
    /// Scratch space for splitting: the next keys, and the number of stacks with each.
    found: Vec<(KeyId, usize)>,
    group_of: Column<KeyId, u32>,
}

impl<'t> PrefixSplitter<'t> {
    fn new(texts: &'t KeyStrings, keys: usize) -> Self {
        let order = (0..texts.rows.len() as u32).collect();
        let group_of = Column::filled(NO_GROUP, keys);
        PrefixSplitter { texts, order, scratch: Vec::new(), found: Vec::new(), group_of }
    }

    /// Splits a group by the next key. Stacks without one are added to the group's node.
    fn split(&mut self, tree: &mut Prefixes, group: &StackGroup, node: PrefixId, work: &mut Vec<StackGroup>) {
        self.found.clear();
        self.scratch.clear();
        for index in group.start..group.end {
            let row = self.order[index];
            let text = self.texts.rows[row as usize];
            if text.length == group.depth {
                tree.add(node, text);
                continue;
            }
            let key = self.texts.keys[text.start + group.depth as usize];
            let mut number = self.group_of[key];
            if number == NO_GROUP {
                number = self.found.len() as u32;
                self.group_of[key] = number;
                self.found.push((key, 0));
            }
            self.found[number as usize].1 += 1;
            self.scratch.push((number, row));
        }
        let first = work.len();
        let mut start = group.start;
        for &(key, count) in &self.found {
            self.group_of[key] = NO_GROUP;
            work.push(StackGroup { start, end: start, depth: group.depth + 1, parent: node, key });
            start += count;
        }
        for &(number, row) in &self.scratch {
            let child = &mut work[first + number as usize];
            self.order[child.end] = row;
            child.end += 1;
        }
        // Pushed in reverse, since the last one pushed is popped first.
        work[first..].reverse();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::from_notation;
    use crate::tree::By;

    #[test]
    fn prefixes_in_preorder_with_their_values() {
        let profile = from_notation("main;a;b 4\nmain;c 2\nmain;a 1\nmain;a;rare 3\n 7");
        let subject = Subject::new(&profile, &By::Function, &[0]);
        let wanted =
            (0..subject.keys.len()).map(|key| &**subject.keys.name(KeyId::new(key)) != "rare").collect();
        let tree = Prefixes::new(&subject, &wanted);
        let row = |node: PrefixId| {
            let name = subject.keys.name(tree.key[node]);
            let (end, own, total) = (tree.end[node].index(), tree.self_value[node], tree.total[node]);
            format!("{}{name} {own}/{total} ..{end}", " ".repeat(tree.depth[node] as usize))
        };
        let drawn: Vec<String> = tree.parent.ids().map(row).collect();
        // The three that end in `rare` are cut after `a`: they count in its total, not in its self.
        let expected = ["(all) 0/10 ..5", " main 0/10 ..5", "  a 1/8 ..4", "   b 4/4 ..4", "  c 2/2 ..5"];
        assert_eq!(drawn, expected);
        let children: Vec<usize> = tree.children(PrefixId::new(1)).map(Id::index).collect();
        assert_eq!(children, [2, 4]);
    }
}
