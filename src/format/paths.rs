//! The paths of calls, for formats that record when functions are entered and left: each that was entered, below the one that called it.
//!
//! A stack is made only for a path in which something was measured, and then once: a program that recurses ten thousand times
//! deep enters as many methods, and the stacks of all of them together have fifty million frames.

use hashbrown::HashMap;

use crate::profile::{FrameId, HashIndex, ProfileBuilder, StackId};

/// Frames that stacks may have together, whatever the size of the input, and per byte of it.
const FRAMES: usize = 8 << 20;
const FRAMES_PER_BYTE: usize = 64;

/// A path; the first one is empty.
pub(super) type PathId = u32;

/// No method has been entered.
pub(super) const EMPTY: PathId = 0;

struct Path {
    parent: PathId,
    method: u64,
    depth: u32,
    stack: Option<StackId>,
    /// The path that was entered from here last, and its method: loops call the same one again and again.
    last: PathId,
    last_method: u64,
}

pub(super) struct Paths {
    all: Vec<Path>,
    by_call: HashIndex<PathId>,
    /// How many more frames stacks may have.
    left: usize,
    /// The depth of the first stack that was cut.
    pub(super) cut: Option<usize>,
}

impl Paths {
    /// No paths yet, of an input of `bytes`.
    pub(super) fn new(bytes: usize) -> Paths {
        let empty = Path { parent: EMPTY, method: 0, depth: 0, stack: None, last: EMPTY, last_method: 0 };
        let left = FRAMES.saturating_add(bytes.saturating_mul(FRAMES_PER_BYTE));
        Paths { all: vec![empty], by_call: HashIndex::default(), left, cut: None }
    }

    /// Number of paths, the empty one included.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// The path on which `method` was called from the end of `parent`.
    pub(super) fn enter(&mut self, parent: PathId, method: u64) -> PathId {
        let Path { depth, last, last_method, .. } = self.all[parent as usize];
        if last != EMPTY && last_method == method {
            return last;
        }
        let hash = self.by_call.hash(&(parent, method));
        let is_it = |path: PathId| {
            let path = &self.all[path as usize];
            path.parent == parent && path.method == method
        };
        let path = self.by_call.find(hash, is_it).unwrap_or_else(|| {
            let path = self.all.len() as PathId;
            let depth = depth + 1;
            self.all.push(Path { parent, method, depth, stack: None, last: EMPTY, last_method: 0 });
            self.by_call.insert(hash, path);
            path
        });
        let from = &mut self.all[parent as usize];
        (from.last, from.last_method) = (path, method);
        path
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
        builder: &mut ProfileBuilder,
        mut add: impl FnMut(&mut ProfileBuilder, u64, &mut Vec<FrameId>),
    ) -> StackId {
        if let Some(known) = self.all[path as usize].stack {
            return known;
        }
        let depth = self.all[path as usize].depth as usize;
        let is_cut = depth > self.left;
        let mut frames = Vec::new();
        let mut at = path;
        while at != EMPTY {
            let Path { parent, method, stack, .. } = self.all[at as usize];
            if let (Some(stack), true) = (stack, is_cut) {
                self.cut = Some(self.cut.map_or(depth, |cut| cut.min(depth)));
                self.all[path as usize].stack = Some(stack);
                return stack;
            }
            if !is_cut {
                add(builder, method, &mut frames);
            }
            at = parent;
        }
        frames.reverse();
        self.left = self.left.saturating_sub(frames.len());
        let stack = builder.stack(&frames);
        self.all[path as usize].stack = Some(stack);
        stack
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::LoadOptions;

    #[test]
    fn stacks_are_cut_where_they_would_have_too_many_frames() {
        let mut builder = ProfileBuilder::new("test", LoadOptions::default());
        let mut paths = Paths::new(0);
        paths.left = 10;
        let mut path = EMPTY;
        let mut depths = Vec::new();
        for method in 1..=5 {
            path = paths.enter(path, method);
            let stack = paths.stack(path, &mut builder, |builder, method, frames| {
                frames.push(builder.named_frame(&method.to_string()));
            });
            depths.push(builder.stack_frames(stack).len());
        }
        // 1 + 2 + 3 + 4 frames are allowed.
        assert_eq!((depths, paths.cut), (vec![1, 2, 3, 4, 4], Some(5)));
        assert_eq!(paths.enter(EMPTY, 1), 1);
        assert_eq!((paths.parent(5), paths.method(5)), (4, 5));
    }
}
