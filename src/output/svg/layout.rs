//! Where the blocks of a flame graph are: one row per depth, and in a row the blocks from left to right.

use crate::report::FlameNode;

/// A block of the picture.
pub(super) struct Block {
    /// The index of the node.
    pub(super) node: usize,
    /// The distance from the left end of the root, in pixels.
    pub(super) left: f64,
    /// The width in pixels.
    pub(super) width: f64,
}

/// The blocks of a tree by depth, the root first. The root is `width` pixels wide. What the children of a node do not
/// cover, its self for example, is to the right of them.
pub(super) fn rows(nodes: &[FlameNode], width: f64) -> Vec<Vec<Block>> {
    let whole = nodes[0].width.max(1) as f64;
    let mut rows: Vec<Vec<Block>> = Vec::new();
    // Sums of values instead of sums of pixels, so that rounding errors do not add up.
    let mut depth = vec![0; nodes.len()];
    let mut next_left = vec![0_i64; nodes.len()];
    for (index, node) in nodes.iter().enumerate() {
        let parent = node.parent as usize;
        let mut left = 0;
        if index > 0 {
            depth[index] = depth[parent] + 1;
            left = next_left[parent];
            next_left[parent] = left.saturating_add(node.width);
        }
        next_left[index] = left;
        if rows.len() == depth[index] {
            rows.push(Vec::new());
        }
        let pixels = |value: i64| value as f64 / whole * width;
        // An empty profile has a root too.
        let own_width = if index == 0 { width } else { pixels(node.width) };
        rows[depth[index]].push(Block { node: index, left: pixels(left), width: own_width });
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::from_notation;
    use crate::view::{FlameOptions, Scope, flame};

    #[test]
    fn children_are_side_by_side_on_their_parent() {
        let profile = from_notation("main;a;x 1\nmain;b 2\nmain 3\nrest 2");
        let flame = flame(&profile, &FlameOptions::new(Scope::metric(0)));
        let row = |row: &Vec<Block>| {
            let place = |block: &Block| {
                let name = &flame.nodes[block.node].name;
                format!("{name} {}+{}", block.left, block.width)
            };
            row.iter().map(place).collect::<Vec<_>>().join(", ")
        };
        let rows: Vec<String> = rows(&flame.nodes, 800.0).iter().map(row).collect();
        assert_eq!(rows, ["(all) 0+800", "main 0+600, rest 600+200", "a 0+100, b 100+200", "x 0+100"]);
    }
}
