//! The call tree to be drawn.

use crate::report::{Direction, Header, Name, Pair};

/// The call tree to be drawn.
#[derive(Clone, Debug)]
pub struct Flame {
    /// What it is about.
    pub header: Header,
    /// The nodes in preorder; node 0 is the whole profile.
    pub nodes: Vec<FlameNode>,
    /// Where one function is in focus, its callers in preorder, each on what it calls; node 0 is the
    /// whole again. Otherwise empty. `nodes` then starts at the function, and is drawn below them.
    pub callers: Vec<FlameNode>,
    /// Callees on their callers, or callers on the functions they call.
    pub direction: Direction,
    /// Title of the picture.
    pub title: String,
    /// The self of every package, narrow nodes included, the heaviest first.
    pub packages: Vec<(Name, i64)>,
    /// The self of every source file, the same way.
    pub files: Vec<(Name, i64)>,
    /// What a comparison's old side has and its new side has not, with its old total, the heaviest
    /// first.
    pub removed: Vec<(Name, i64)>,
    /// The depth at which the tree was cut off, where it is deeper than any picture can be.
    pub deepest: Option<u32>,
    /// How many nodes were too small to be drawn; what stood on them is not counted.
    pub dropped: u64,
}

/// A node to be drawn.
#[derive(Clone, Debug)]
pub struct FlameNode {
    /// The node it stands on; node 0 is its own.
    pub parent: u32,
    /// The unique name.
    pub name: Name,
    /// The function's name alone; equal to `name` where that says it all.
    pub function: Name,
    /// The source file, where there is one and only one.
    pub file: Option<Name>,
    /// The line, where there is one and only one.
    pub line: Option<u32>,
    /// What it belongs to: the package, else the binary, else the folder of the file; empty where none is known.
    pub package: Name,
    /// Whether the compiler inlined the function in all stacks through the node.
    pub inlined: bool,
    /// How wide it is drawn: Σ |value| of the samples through it. Never less than the widths of the
    /// nodes on it taken together, even where values have both signs.
    pub width: i64,
    /// Total.
    pub total: i64,
    /// Self.
    pub self_value: i64,
    /// The old side of a comparison.
    pub old: Option<Pair>,
}
