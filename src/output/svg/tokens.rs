//! Writes the call tree as lines of tokens, which inferno cannot misread.

use crate::report::FlameNode;

/// The token for the part of a node that no child covers: its self, samples without a stack, and
/// children too narrow to draw. It is not drawn, and lies to the right of the other children.
const BLANK: &str = "x";

/// Lines of tokens, each a path from the root to a leaf or to a blank, followed by the width. They are in
/// preorder, so that paths with a common prefix are adjacent.
pub(super) fn lines(nodes: &[FlameNode]) -> Vec<String> {
    let mut own: Vec<i64> = nodes.iter().map(|node| node.width).collect();
    for node in nodes.iter().skip(1) {
        own[node.parent as usize] -= node.width;
    }
    let mut lines = Lines::new(nodes, own);
    for (index, node) in nodes.iter().enumerate().skip(1) {
        lines.close_above(node.parent as usize);
        lines.open(index);
    }
    lines.finish()
}

/// Builds the lines.
struct Lines {
    done: Vec<String>,
    scale: Scale,
    /// For each node, the width that no child covers.
    own: Vec<i64>,
    digits: usize,
    path: String,
    /// The open nodes, each a child of the previous one: index, end of its token in `path`, and whether
    /// it has children.
    open: Vec<(usize, usize, bool)>,
    reached: i64,
}

impl Lines {
    fn new(nodes: &[FlameNode], own: Vec<i64>) -> Self {
        Lines {
            done: Vec::new(),
            scale: Scale::new(nodes),
            own,
            digits: nodes.len().to_string().len(),
            path: String::new(),
            open: vec![(0, 0, false)],
            reached: 0,
        }
    }

    fn open(&mut self, node: usize) {
        if let Some(below) = self.open.last_mut() {
            below.2 = true;
        }
        self.push_token(&token(node, self.digits));
        self.open.push((node, self.path.len(), false));
    }

    /// Closes the open nodes below `parent` in the tree.
    fn close_above(&mut self, parent: usize) {
        while self.open.last().is_some_and(|&(node, ..)| node != parent) {
            self.close();
        }
    }

    fn close(&mut self) {
        let Some((node, end, carries)) = self.open.pop() else { return };
        self.path.truncate(end);
        if carries || node == 0 {
            self.push_token(BLANK);
        }
        let start = self.scale.position(self.reached);
        self.reached = self.reached.saturating_add(self.own[node]);
        let width = self.scale.position(self.reached) - start;
        if width > 0 {
            self.done.push(format!("{} {width}", self.path));
        }
        self.path.truncate(self.open.last().map_or(0, |&(_, end, _)| end));
    }

    fn push_token(&mut self, token: &str) {
        if !self.path.is_empty() {
            self.path.push(';');
        }
        self.path.push_str(token);
    }

    fn finish(mut self) -> Vec<String> {
        while !self.open.is_empty() {
            self.close();
        }
        if self.done.is_empty() {
            // An empty picture still has a root.
            self.done.push(format!("{BLANK} 1"));
        }
        self.done
    }
}

/// The token of a node. inferno requires lines in alphabetical order; with the same number of digits in
/// every token, preorder is alphabetical.
fn token(node: usize, digits: usize) -> String {
    format!("n{node:0digits$}")
}

/// The node that a token stands for; `None` for a blank, which sorts after all nodes.
pub(super) fn node(token: &str) -> Option<usize> {
    token.strip_prefix('n').and_then(|number| number.parse().ok())
}

/// Reduces widths to 52 bits, because the script in the picture computes with doubles.
struct Scale {
    shift: u32,
}

impl Scale {
    fn new(nodes: &[FlameNode]) -> Self {
        let bits = u64::BITS - nodes[0].width.unsigned_abs().leading_zeros();
        Scale { shift: bits.saturating_sub(52) }
    }

    /// The position of a sum of widths in the picture. Scaling the ends of blocks instead of their widths
    /// keeps rounding errors from adding up.
    fn position(&self, sum: i64) -> i64 {
        sum >> self.shift
    }
}
