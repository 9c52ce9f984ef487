//! Paths of keys, and the nodes of trees that are built from them.

use crate::profile::{FrameId, ids};
use crate::tree::KeyId;

ids! {
    /// A node of a tree, in preorder; node 0 is the root.
    NodeId;
}

/// Paths of keys with their values. The frames of a path are adjacent in memory.
pub(super) trait Paths: Sync {
    /// Whether paths lead towards the root.
    fn go_up(&self) -> bool;
    /// Whether a path ends with the key of the whole profile, after its last frame.
    fn end_with_root(&self) -> bool {
        false
    }
    /// All paths.
    fn all(&self) -> Vec<PathTail>;
    /// The frames that paths lead through.
    fn frames(&self) -> &[FrameId];
    /// The key of a frame, and whether the compiler inlined it.
    fn key(&self, frame: FrameId) -> (KeyId, bool);
    /// Number of series of values.
    fn series(&self) -> usize;
    /// The value of a path in a series other than the first; the first is stored in the path itself.
    fn value(&self, path: &PathTail, series: usize) -> i64;
}

/// The rest of a path, and its value. Paths of a group are adjacent and carry everything that splitting
/// needs: looking it up by number, in tables that are in no cache, took twice as long.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathTail {
    /// The next frame, as an index into [`Paths::frames`].
    pub(super) next: u32,
    /// How many keys remain.
    pub(super) left: u32,
    /// The number by which its values are looked up.
    pub(super) number: u32,
    /// The value in the first series.
    pub(super) value: i64,
}

/// A node as `Shape` sees it while the tree is built.
#[derive(Clone, Copy, Debug)]
pub struct TreeNode<'t> {
    /// Its key.
    pub key: KeyId,
    /// The values of the paths through it, one per series.
    pub total: &'t [i64],
    /// The values of the paths that end at it.
    pub ended: &'t [i64],
}
