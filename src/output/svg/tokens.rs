//! The call tree as lines that inferno cannot misread.

use crate::report::Flame;

/// Stands where the root is wider than what stands on it: samples without a stack, and what was too
/// narrow to be drawn.
pub(super) const BLANK: &str = "x";

/// One line for each node that is wider than the nodes on it: the tokens from the outermost node to
/// this one, and the difference. In preorder, so that equal beginnings are neighbours.
pub(super) fn lines(flame: &Flame) -> Vec<String> {
    let scale = Scale::new(flame);
    let mut own: Vec<i64> = flame.nodes.iter().map(|node| node.width).collect();
    for node in flame.nodes.iter().skip(1) {
        own[node.parent as usize] -= node.width;
    }
    let mut lines = Vec::new();
    let mut path = String::new();
    let mut ends = vec![0];
    let mut depths = vec![0_usize];
    let mut reached = 0;
    let digits = flame.nodes.len().to_string().len();
    for (index, node) in flame.nodes.iter().enumerate().skip(1) {
        let depth = depths[node.parent as usize] + 1;
        depths.push(depth);
        path.truncate(ends[depth - 1]);
        ends.truncate(depth);
        if depth > 1 {
            path.push(';');
        }
        path.push_str(&token(index, digits));
        ends.push(path.len());
        scale.push_line(&mut lines, &path, &mut reached, own[index]);
    }
    scale.push_line(&mut lines, BLANK, &mut reached, own[0]);
    if lines.is_empty() {
        // A picture of nothing still has its root.
        lines.push(format!("{BLANK} 1"));
    }
    lines
}

/// inferno insists on lines in alphabetical order: with as many digits in every token preorder is one.
fn token(node: usize, digits: usize) -> String {
    format!("n{node:0digits$}")
}

/// The node that a token stands for; `None` for the blank.
pub(super) fn node(token: &str) -> Option<usize> {
    token.strip_prefix('n').and_then(|number| number.parse().ok())
}

/// The picture's script computes with doubles: what has more than 52 bits loses its last ones.
struct Scale {
    shift: u32,
}

impl Scale {
    fn new(flame: &Flame) -> Self {
        let bits = u64::BITS - flame.nodes[0].width.unsigned_abs().leading_zeros();
        Scale { shift: bits.saturating_sub(52) }
    }

    /// Goes on by `own` from what was reached so far. Scaling the ends rather than the lengths keeps
    /// blocks side by side from drifting apart.
    fn push_line(&self, lines: &mut Vec<String>, path: &str, reached: &mut i64, own: i64) {
        let start = *reached >> self.shift;
        *reached = reached.saturating_add(own);
        let width = (*reached >> self.shift) - start;
        if width > 0 {
            lines.push(format!("{path} {width}"));
        }
    }
}
