//! `flame`: the call tree as it will be drawn.

use crate::profile::Profile;
use crate::report::{Flame, FlameNode};
use crate::tree::{NodeId, Shape, call_tree};
use crate::view::{Scope, threshold};

/// What `flame` is told.
#[derive(Clone, Debug)]
pub struct FlameOptions {
    /// Metric and nodes.
    pub scope: Scope,
    /// Title of the picture.
    pub title: String,
    /// Frames under this share of what is shown are left out, in percent.
    pub min_share: f64,
}

/// The call tree, siblings in alphabetical order, without what is too small to be drawn.
pub fn flame(profile: &Profile, options: &FlameOptions) -> Flame {
    let subject = options.scope.subject(profile);
    let mut header = options.scope.header(profile, "prof.flame.v1");
    let smallest = threshold(header.shown, options.min_share).max(1);
    let tree = call_tree(
        &subject,
        &Shape {
            keep: &|node| node.total[0].unsigned_abs() >= smallest,
            order: &|a, b| subject.keys.name(a.key).cmp(subject.keys.name(b.key)),
            max_depth: usize::MAX,
        },
    );
    let root = NodeId::default();
    header.no_stack = tree.self_value[0][root];
    let node = |node: NodeId| {
        let key = subject.keys.get(tree.key[node]);
        FlameNode {
            parent: crate::profile::Id::index(tree.parent[node]) as u32,
            name: key.name.clone(),
            file: key.file.clone(),
            total: tree.total[0][node],
            self_value: tree.self_value[0][node],
        }
    };
    let nodes: Vec<FlameNode> = tree.parent.ids().map(node).collect();
    let drawn_self: i64 = nodes.iter().map(|node| node.self_value).sum();
    Flame {
        dropped: tree.cut.iter().map(|&cut| u64::from(cut)).sum(),
        dropped_total: nodes[0].total - drawn_self,
        header,
        nodes,
        title: options.title.clone(),
    }
}
