//! The call tree as lines that inferno cannot misread.

use crate::report::FlameNode;

/// Stands where a node is wider than what stands on it: its self, samples without a stack, and what
/// was too narrow to be drawn. It is nothing to be drawn, and lies right of the nodes beside it.
const BLANK: &str = "x";

/// Lines of tokens: from the outermost node to a node without others on it, or to the blank behind
/// those; and the width. In preorder, so that equal beginnings are neighbours.
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

/// The lines so far, and the nodes that are open.
struct Lines {
    done: Vec<String>,
    scale: Scale,
    /// The width of each node that nothing on it takes.
    own: Vec<i64>,
    digits: usize,
    path: String,
    /// The open nodes, each on the one before: index, end of its token in `path`, and whether
    /// anything stands on it.
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

    /// Ends the nodes that stand above `parent`.
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
            // A picture of nothing still has its root.
            self.done.push(format!("{BLANK} 1"));
        }
        self.done
    }
}

/// inferno insists on lines in alphabetical order: with as many digits in every token preorder is one.
fn token(node: usize, digits: usize) -> String {
    format!("n{node:0digits$}")
}

/// The node that a token stands for; `None` for the blank. `x` sorts after every `n…`.
pub(super) fn node(token: &str) -> Option<usize> {
    token.strip_prefix('n').and_then(|number| number.parse().ok())
}

/// The picture's script computes with doubles: what has more than 52 bits loses its last ones.
struct Scale {
    shift: u32,
}

impl Scale {
    fn new(nodes: &[FlameNode]) -> Self {
        let bits = u64::BITS - nodes[0].width.unsigned_abs().leading_zeros();
        Scale { shift: bits.saturating_sub(52) }
    }

    /// Where a sum of widths lies in the picture. Scaling the ends of blocks rather than their widths
    /// keeps blocks side by side from drifting apart.
    fn position(&self, sum: i64) -> i64 {
        sum >> self.shift
    }
}
