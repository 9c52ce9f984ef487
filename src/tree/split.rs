//! Splitting groups of paths by their next key; large groups are split by several threads.

use std::ops::Range;

use crate::parallel;
use crate::profile::{Column, Id};
use crate::tree::KeyId;
use crate::tree::granularity::whole;
use crate::tree::paths::{NodeId, PathTail, Paths, TreeNode};

/// A group of paths that share their first `depth` keys.
pub(super) struct PathGroup {
    pub(super) parent: NodeId,
    pub(super) key: KeyId,
    pub(super) depth: usize,
    pub(super) inlined: bool,
    /// Where its paths are.
    pub(super) paths: Range<usize>,
    total: Vec<i64>,
    ended: Vec<i64>,
}

impl PathGroup {
    pub(super) fn node(&self) -> TreeNode<'_> {
        TreeNode { key: self.key, total: &self.total, ended: &self.ended }
    }
}

/// A group whose paths have been counted by their next key.
pub(super) struct Split {
    /// The resulting groups, in the order of their first paths. The positions of their paths are set
    /// later.
    pub(super) children: Vec<PathGroup>,
    is_left_out: Vec<bool>,
    /// The counts of each thread.
    parts: Vec<CountedPart>,
}

/// A slice of a group's paths, counted by their next key.
struct CountedPart {
    paths: Range<usize>,
    /// The child number of each path, or `NONE` if it ends.
    child_of: Vec<u32>,
    children: Vec<Child>,
}

/// What one slice of a group's paths contributes to a child.
struct Child {
    key: KeyId,
    /// Its number among all children of the group.
    number: usize,
    paths: usize,
    inlined: bool,
    total: Vec<i64>,
    ended: Vec<i64>,
}

/// No child.
const NONE: u32 = u32::MAX;

/// The fewest paths that are worth a thread: splitting them takes several times as long as starting one.
const SHARED: usize = 25_000;

/// Groups with at least so many paths are split by several threads.
pub(super) const LARGE: usize = 2 * SHARED;

impl Split {
    /// Removes the children that `keep` rejects.
    pub(super) fn leave_out(&mut self, keep: impl Fn(&PathGroup) -> bool) {
        for (child, left_out) in self.children.iter().zip(&mut self.is_left_out) {
            *left_out = *left_out || !keep(child);
        }
    }

    /// The number of remaining children.
    pub(super) fn kept(&self) -> usize {
        self.is_left_out.iter().filter(|&&left_out| !left_out).count()
    }
}

impl PathTail {
    /// The path after its next key.
    #[inline]
    fn rest(self, go_up: bool) -> PathTail {
        let next = if go_up { self.next.wrapping_sub(1) } else { self.next.wrapping_add(1) };
        PathTail { next, left: self.left - 1, ..self }
    }
}

impl Child {
    fn new(key: KeyId, number: usize, series: usize) -> Self {
        Child { key, number, paths: 0, inlined: true, total: vec![0; series], ended: vec![0; series] }
    }

    #[inline]
    fn add<P: Paths>(&mut self, paths: &P, path: &PathTail, ends: bool) {
        self.paths += 1;
        // Zipped iterators would be calls here, for each frame of each stack.
        for (series, total) in self.total.iter_mut().enumerate() {
            let value = if series == 0 { path.value } else { paths.value(path, series) };
            *total += value;
            if ends {
                self.ended[series] += value;
            }
        }
    }

    fn into_group(self, parent: NodeId, depth: usize) -> PathGroup {
        let Child { key, inlined, total, ended, .. } = self;
        PathGroup { parent, key, depth, inlined, paths: 0..self.paths, total, ended }
    }
}

impl PathGroup {
    fn add(&mut self, child: &Child) {
        self.paths.end += child.paths;
        self.inlined = self.inlined && child.inlined;
        for (sum, value) in
            self.total.iter_mut().zip(&child.total).chain(self.ended.iter_mut().zip(&child.ended))
        {
            *sum += value;
        }
    }
}

/// Splits groups of paths, those of a group being adjacent in the order that its methods take.
pub(super) struct PathSplitter<'p, P> {
    paths: &'p P,
    /// A copy of the paths of a group before it was split.
    before: Vec<PathTail>,
    /// Scratch space for counting: the child number of each key.
    child_of: Column<KeyId, u32>,
}

impl<'p, P: Paths> PathSplitter<'p, P> {
    /// A splitter of paths with this number of distinct keys.
    pub(super) fn new(paths: &'p P, keys: usize) -> Self {
        PathSplitter { paths, before: Vec::new(), child_of: Column::filled(NONE, keys) }
    }

    /// The group of all paths.
    pub(super) fn whole(&self, order: &[PathTail]) -> PathGroup {
        let mut all = Child::new(whole(), 0, self.paths.series());
        for path in order {
            all.add(self.paths, path, path.left == 0);
        }
        all.into_group(NodeId::new(0), 0)
    }

    /// Counts the paths of a group, which belongs to `node`, by their next key.
    pub(super) fn count(&mut self, order: &[PathTail], group: &PathGroup, node: NodeId) -> Split {
        let PathSplitter { paths, child_of, .. } = self;
        let order = &order[group.paths.clone()];
        let mut parts = if order.len() < LARGE {
            vec![count(*paths, order, 0..order.len(), child_of)]
        } else {
            let keys = child_of.len();
            parallel::ranges(order.len(), SHARED, |range| {
                count(*paths, order, range, &mut Column::filled(NONE, keys))
            })
        };
        let mut children: Vec<PathGroup> = Vec::new();
        let first =
            |child: &Child| Child { total: child.total.clone(), ended: child.ended.clone(), ..*child };
        for child in parts.iter_mut().flat_map(|part| &mut part.children) {
            let number = child_of[child.key] as usize;
            if let Some(known) = children.get_mut(number) {
                known.add(child);
                child.number = number;
            } else {
                child.number = children.len();
                child_of[child.key] = child.number as u32;
                children.push(first(child).into_group(node, group.depth + 1));
            }
        }
        for child in &children {
            child_of[child.key] = NONE;
        }
        Split { is_left_out: vec![false; children.len()], children, parts }
    }

    /// Moves the paths of each child next to each other, keeping their order within `group`, and returns
    /// the children that were not removed.
    pub(super) fn part(&mut self, order: &mut [PathTail], group: &PathGroup, split: Split) -> Vec<PathGroup> {
        let PathSplitter { paths, before, .. } = self;
        let Split { mut children, is_left_out, parts } = split;
        let go_up = paths.go_up();
        let order = &mut order[group.paths.clone()];
        before.clear();
        before.extend_from_slice(order);
        // Each thread has its own range among the paths of a child.
        let mut counts = vec![0; parts.len() * children.len()];
        for (part, counted) in parts.iter().enumerate() {
            for child in &counted.children {
                counts[child.number * parts.len() + part] = child.paths;
            }
        }
        let mut places: Vec<Vec<std::slice::IterMut<'_, PathTail>>> =
            parts.iter().map(|_| Vec::new()).collect();
        let (mut free, mut start) = (order, group.paths.start);
        for (number, child) in children.iter_mut().enumerate() {
            for (part, places) in places.iter_mut().enumerate() {
                let count = if is_left_out[number] { 0 } else { counts[number * parts.len() + part] };
                let (own, others) = std::mem::take(&mut free).split_at_mut(count);
                places.push(own.iter_mut());
                free = others;
            }
            let length = child.paths.len();
            child.paths = start..start + length;
            start += if is_left_out[number] { 0 } else { length };
        }
        parallel::each(parts.into_iter().zip(places).collect(), |(counted, mut places)| {
            let number_of: Vec<usize> = counted.children.iter().map(|child| child.number).collect();
            for (path, &child) in before[counted.paths].iter().zip(&counted.child_of) {
                // Paths that end here have no child, and removed children have no range.
                let place = number_of.get(child as usize).and_then(|&number| places[number].next());
                if let Some(place) = place {
                    *place = path.rest(go_up);
                }
            }
        });
        let mut left_out = is_left_out.into_iter();
        children.retain(|_| left_out.next() == Some(false));
        children
    }
}

/// Counts a slice of a group's paths by their next key.
fn count<P: Paths>(
    paths: &P,
    order: &[PathTail],
    range: Range<usize>,
    child_of: &mut Column<KeyId, u32>,
) -> CountedPart {
    let (frames, series) = (paths.frames(), paths.series());
    let mut counted =
        CountedPart { paths: range.clone(), child_of: Vec::with_capacity(range.len()), children: Vec::new() };
    for path in &order[range] {
        if path.left == 0 {
            counted.child_of.push(NONE);
            continue;
        }
        let (key, inlined) = if path.left == 1 && paths.end_with_root() {
            (whole(), false)
        } else {
            paths.key(frames[path.next as usize])
        };
        let mut number = child_of[key];
        if number == NONE {
            number = counted.children.len() as u32;
            child_of[key] = number;
            counted.children.push(Child::new(key, number as usize, series));
        }
        let child = &mut counted.children[number as usize];
        child.inlined = child.inlined && inlined;
        child.add(paths, path, path.left == 1);
        counted.child_of.push(number);
    }
    for child in &counted.children {
        child_of[child.key] = NONE;
    }
    counted
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use crate::parallel::within;
    use crate::profile::{Id, LabelSetId, LoadOptions, ProfileBuilder};
    use crate::tree::{By, KeyId, Shape, Subject, call_tree};

    /// Enough stacks for groups to be split by several threads.
    #[test]
    fn large_groups_are_split_like_small_ones() {
        let mut builder = ProfileBuilder::new("test", LoadOptions::default());
        builder.metric("a", "count");
        builder.metric("b", "count");
        let frames: Vec<_> = (0..200).map(|number| builder.named_frame(&format!("f{number}"))).collect();
        for number in 0..200_000 {
            let picks = [number / 100_000, number % 7, number * 7 % 191, number * 31 % 199, number % 23];
            let depth = 1 + number % 5;
            let stack = builder.stack(&picks[..depth].iter().map(|&pick| frames[pick]).collect::<Vec<_>>());
            builder.sample(stack, LabelSetId::default(), None, &[1, number as i64]);
        }
        let profile = builder.finish().unwrap();
        assert!(profile.stacks.len() > 60_000);
        let subject = Subject::new(&profile, &By::Function, &[0, 1]);
        let mut sums = HashMap::<Vec<KeyId>, [i64; 4]>::new();
        for stack in subject.stacks() {
            let keys: Vec<KeyId> = subject.stack_keys(stack).collect();
            let values: Vec<i64> = subject.values(stack).collect();
            for depth in 0..=keys.len() {
                let sum = sums.entry(keys[..depth].to_vec()).or_default();
                let ends = i64::from(depth == keys.len());
                for (series, value) in values.iter().enumerate() {
                    sum[series] += value;
                    sum[2 + series] += ends * value;
                }
            }
        }
        let order =
            |a: crate::tree::TreeNode<'_>, b: crate::tree::TreeNode<'_>| a.key.index().cmp(&b.key.index());
        let shape = Shape { keep: &|node| node.total[0] > 2, order: &order, max_depth: 4 };
        let [tree, other] = [1, 5].map(|processors| within(processors, || call_tree(&subject, &shape)));
        assert_eq!((&tree.parent, &tree.key, &tree.cut), (&other.parent, &other.key, &other.cut));
        assert_eq!((&tree.total, &tree.self_value), (&other.total, &other.self_value));
        sums.retain(|keys, sum| keys.is_empty() || (sum[0] > 2 && keys.len() <= 4));
        assert_eq!(tree.len(), sums.len());
        let mut paths: Vec<Vec<KeyId>> = Vec::new();
        for node in tree.parent.ids() {
            let mut path = Vec::new();
            if node.index() > 0 {
                path.clone_from(&paths[tree.parent[node].index()]);
                path.push(tree.key[node]);
            }
            let [total, ended] = [&tree.total, &tree.self_value];
            let found = [total[0][node], total[1][node], ended[0][node], ended[1][node]];
            assert_eq!(Some(&found), sums.get(&path), "{path:?}");
            paths.push(path);
        }
    }
}
