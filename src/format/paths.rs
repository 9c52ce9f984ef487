//! The paths of calls, for formats that record when functions are entered and left: each that was entered, below the one that called it.
//!
//! A stack is made only for a path in which something was measured, and then once: a program that recurses ten thousand times
//! deep enters as many methods, and the stacks of all of them together have fifty million frames.

use hashbrown::HashMap;

use crate::format::group::{GroupedStack, SampleGroup};
use crate::profile::{FrameId, HashIndex, ProfileBuilder};

/// Frames that stacks may have together, whatever the size of the input, and per byte of it.
const FRAMES: usize = 8 << 20;
const FRAMES_PER_BYTE: usize = 64;

/// A path; the first one is empty.
pub(super) type PathId = u32;

/// No method has been entered.
pub(super) const EMPTY: PathId = 0;

struct Path {
    method: u64,
    parent: PathId,
    depth: u32,
    stack: Option<GroupedStack>,
    /// The path that was entered from here last, which begins a list.
    last: PathId,
    /// The one that was entered from the same parent before.
    next: PathId,
}

pub(super) struct Paths {
    all: Vec<Path>,
    /// The paths whose parents had many when they were entered first.
    by_call: HashIndex<PathId>,
    /// How many more frames stacks may have.
    left: usize,
    /// The depth of the first stack that was cut.
    pub(super) cut: Option<usize>,
    /// A buffer for the frames of a stack.
    frames: Vec<FrameId>,
}

/// The length of lists. Most methods call few others from one place, and programs call the same ones again and again: following a list
/// takes the time of fetching a path, a hash table that of fetching its entry as well.
const LISTED: usize = 4;

impl Paths {
    /// No paths yet, of an input of `bytes`.
    pub(super) fn new(bytes: usize) -> Paths {
        let empty = Path { method: 0, parent: EMPTY, depth: 0, stack: None, last: EMPTY, next: EMPTY };
        let left = FRAMES.saturating_add(bytes.saturating_mul(FRAMES_PER_BYTE));
        Paths { all: vec![empty], by_call: HashIndex::default(), left, cut: None, frames: Vec::new() }
    }

    /// Number of paths, the empty one included.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// The path on which `method` was called from the end of `parent`.
    pub(super) fn enter(&mut self, parent: PathId, method: u64) -> PathId {
        let last = self.all[parent as usize].last;
        let (mut before, mut at, mut count) = (EMPTY, last, 0);
        while at != EMPTY {
            let path = &mut self.all[at as usize];
            if path.method == method {
                if before != EMPTY {
                    let next = std::mem::replace(&mut path.next, last);
                    self.all[before as usize].next = next;
                    self.all[parent as usize].last = at;
                }
                return at;
            }
            (before, at, count) = (at, path.next, count + 1);
        }
        if count < LISTED {
            let path = self.push(parent, method, last);
            self.all[parent as usize].last = path;
            return path;
        }
        let hash = self.by_call.hash(&(parent, method));
        let is_it = |path: PathId| {
            let path = &self.all[path as usize];
            path.parent == parent && path.method == method
        };
        self.by_call.find(hash, is_it).unwrap_or_else(|| {
            let path = self.push(parent, method, EMPTY);
            self.by_call.insert(hash, path);
            path
        })
    }

    fn push(&mut self, parent: PathId, method: u64, next: PathId) -> PathId {
        let depth = self.all[parent as usize].depth + 1;
        self.all.push(Path { method, parent, depth, stack: None, last: EMPTY, next });
        (self.all.len() - 1) as PathId
    }

    pub(super) fn method(&self, path: PathId) -> u64 {
        self.all[path as usize].method
    }

    /// How often each method is on a path.
    pub(super) fn calls(&self, mut path: PathId) -> HashMap<u64, u32> {
        let mut calls = HashMap::new();
        while path != EMPTY {
            *calls.entry(self.method(path)).or_default() += 1;
            path = self.parent(path);
        }
        calls
    }

    pub(super) fn parent(&self, path: PathId) -> PathId {
        self.all[path as usize].parent
    }

    /// The stack of a path, where `add` adds the frames of a method, innermost first. Where stacks would have too many frames together,
    /// it is that of a caller.
    pub(super) fn stack(
        &mut self,
        path: PathId,
        group: &mut SampleGroup,
        builder: &mut ProfileBuilder,
        mut add: impl FnMut(&mut ProfileBuilder, u64, &mut Vec<FrameId>),
    ) -> GroupedStack {
        if let Some(known) = self.all[path as usize].stack {
            return known;
        }
        let depth = self.all[path as usize].depth as usize;
        let is_cut = depth > self.left;
        self.frames.clear();
        let mut at = path;
        while at != EMPTY {
            let Path { parent, method, stack, .. } = self.all[at as usize];
            if let (Some(stack), true) = (stack, is_cut) {
                self.cut = Some(self.cut.map_or(depth, |cut| cut.min(depth)));
                self.all[path as usize].stack = Some(stack);
                return stack;
            }
            if !is_cut {
                add(builder, method, &mut self.frames);
            }
            at = parent;
        }
        self.frames.reverse();
        self.left = self.left.saturating_sub(self.frames.len());
        let stack = group.stack(&self.frames, builder);
        self.all[path as usize].stack = Some(stack);
        stack
    }
}

#[cfg(test)]
mod tests {
    use hashbrown::HashSet;

    use super::*;
    use crate::profile::{LabelSetId, LoadOptions};

    #[test]
    fn stacks_are_cut_where_they_would_have_too_many_frames() {
        let mut builder = ProfileBuilder::new("test", LoadOptions::ALL);
        let (mut paths, mut group) = (Paths::new(0), SampleGroup::default());
        builder.metric("time", "count");
        paths.left = 10;
        let mut path = EMPTY;
        for method in 1..=5 {
            path = paths.enter(path, method);
            let stack = paths.stack(path, &mut group, &mut builder, |builder, method, frames| {
                frames.push(builder.named_frame(&method.to_string()));
            });
            group.sample(stack, LabelSetId::default(), Some(0), &[1], &mut builder);
        }
        group.write(&mut builder);
        let profile = builder.finish().unwrap();
        let depths: Vec<usize> =
            profile.samples.stack.iter().map(|&stack| profile.stacks.frames(stack).len()).collect();
        // 1 + 2 + 3 + 4 frames are allowed.
        assert_eq!((depths, paths.cut), (vec![1, 2, 3, 4, 4], Some(5)));
        assert_eq!(paths.enter(EMPTY, 1), 1);
        assert_eq!((paths.parent(5), paths.method(5)), (4, 5));
    }

    #[test]
    fn paths_are_found_again_whatever_their_number() {
        let mut paths = Paths::new(0);
        let calls = (0..40_u32).map(|number| (number * number % 7, u64::from(number * 5 % 9)));
        let mut known = HashMap::new();
        for (caller, method) in calls.clone().chain(calls) {
            let parent = paths.enter(EMPTY, caller.into());
            let path = paths.enter(parent, method);
            assert_eq!((paths.parent(path), paths.method(path)), (parent, method));
            assert_eq!(*known.entry((parent, method)).or_insert(path), path);
        }
        let parents: HashSet<PathId> = known.keys().map(|(parent, _)| *parent).collect();
        assert_eq!(paths.len(), 1 + parents.len() + known.len());
    }
}
