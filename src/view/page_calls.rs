//! The page of a profile that records calls: its stacks are the paths of the approximated call tree, and the numbers of
//! functions and calls are those of the file.

use hashbrown::HashMap;

use crate::profile::{FrameId, Id, Profile};
use crate::report::{PageCalls, PageName};
use crate::tree::{CallTree, KeyCalls, KeyId, NodeId, Shape, Subject, TreeNode, call_tree};

/// Stands for the calls that are too cheap to follow.
pub(super) const SMALL: &str = "(small calls)";

/// Deeper paths are cut, as in a picture.
const MAX_DEPTH: usize = 2_000;

/// The frames that a profile shows: those on its stacks, or those of its functions.
pub(super) fn frames(profile: &Profile) -> Vec<FrameId> {
    match &profile.calls {
        Some(calls) => calls.functions().map(|(_, frame)| frame).collect(),
        None => profile.stacks.all_frames().to_vec(),
    }
}

/// The distinct stacks with their labels.
#[derive(Default)]
pub(super) struct PageStacks {
    pub(super) frames: Vec<u32>,
    pub(super) ends: Vec<u32>,
    pub(super) labels: Vec<u32>,
}

/// The approximated paths of a profile of calls.
pub(super) struct CallPaths {
    tree: CallTree,
    /// For each node, what its callees cost that are not in the tree.
    small: Vec<i64>,
}

impl CallPaths {
    /// The paths of the first series.
    pub(super) fn of(subject: &Subject<'_>) -> Self {
        let by_name =
            |a: TreeNode<'_>, b: TreeNode<'_>| subject.keys.name(a.key).cmp(subject.keys.name(b.key));
        let tree = call_tree(subject, &Shape { keep: &|_| true, order: &by_name, max_depth: MAX_DEPTH });
        let (total, own) = (&tree.total[0], &tree.self_value[0]);
        let mut small: Vec<i64> = total.iter().zip(own).map(|(total, own)| total - own).collect();
        for node in tree.parent.ids().skip(1) {
            small[tree.parent[node].index()] -= total[node];
        }
        CallPaths { tree, small }
    }

    /// Whether some calls are too cheap to follow.
    pub(super) fn has_small(&self) -> bool {
        self.small.iter().any(|&value| value > 0)
    }

    /// The paths as stacks with their values; `place` numbers the functions, `small` is the number of [`SMALL`].
    pub(super) fn stacks(&self, place: impl Fn(KeyId) -> u32, small: u32) -> (PageStacks, Vec<i64>) {
        let CallTree { parent, key, self_value, .. } = &self.tree;
        let (mut stacks, mut values) = (PageStacks::default(), Vec::new());
        let mut path: Vec<u32> = Vec::new();
        let mut depth = vec![0; parent.len()];
        for node in parent.ids() {
            if node != NodeId::default() {
                depth[node.index()] = depth[parent[node].index()] + 1;
                path.truncate(depth[node.index()] - 1);
                path.push(place(key[node]));
            }
            let ends = [(self_value[0][node], None), (self.small[node.index()], Some(small))];
            for (value, last) in ends.into_iter().filter(|(value, _)| *value > 0) {
                stacks.frames.extend(path.iter().copied().chain(last));
                stacks.ends.push(stacks.frames.len() as u32);
                stacks.labels.push(0);
                values.push(value);
            }
        }
        (stacks, values)
    }
}

/// The numbers of the file, by name.
pub(super) fn exact(subject: &Subject<'_>, calls: &KeyCalls, names: &[PageName]) -> PageCalls {
    let ids: HashMap<&str, u32> = names.iter().zip(0..).map(|(row, id)| (&*row.name, id)).collect();
    let id = |key: KeyId| ids.get(&**subject.keys.name(key)).copied();
    let mut found =
        PageCalls { self_value: vec![0; names.len()], total: vec![0; names.len()], edges: Vec::new() };
    for key in subject.keys.ids() {
        if let Some(id) = id(key) {
            found.self_value[id as usize] = calls.self_value(key);
            found.total[id as usize] = calls.total(key);
        }
    }
    let edges = calls.edges().filter(|(.., value)| *value != 0);
    found.edges =
        edges.filter_map(|(caller, callee, value)| Some((id(caller)?, id(callee)?, value))).collect();
    found
}

#[cfg(test)]
mod tests {
    use crate::format::Source;
    use crate::format::load;
    use crate::profile::LoadOptions;
    use crate::view::{PageOptions, Scope, page};

    const CALLS: &str = "events: Ir\n\nfn=main\n1 10\ncfn=a\ncalls=1 1\n2 60\ncfn=b\ncalls=1 1\n3 30\n\nfn=a\n1 40\ncfn=b\ncalls=1 1\n2 20\n\nfn=b\n1 50\n";

    #[test]
    fn paths_are_approximated_and_functions_are_exact() {
        let profile = load(&mut Source::from_bytes(CALLS.into()), LoadOptions::default(), None).unwrap();
        let options = PageOptions { scope: Scope::metric(0), ..PageOptions::default() };
        let page = page(&profile, &options);
        let names: Vec<&str> = page.names.iter().map(|row| &*row.name).collect();
        assert_eq!(names, ["a", "b", "main"]);
        let calls = page.calls.unwrap();
        assert_eq!((calls.self_value, calls.total), (vec![40, 50, 10], vec![60, 50, 100]));
        let mut edges = calls.edges;
        edges.sort_unstable();
        assert_eq!(edges, [(0, 1, 20), (2, 0, 60), (2, 1, 30)]);
        let mut start = 0;
        let stacks = page.ends.iter().zip(&page.values[0]).map(|(&end, value)| {
            let names =
                page.frames[start..end as usize].iter().map(|&place| &*page.places[place as usize].function);
            start = end as usize;
            format!("{} {value}", names.collect::<Vec<_>>().join(";"))
        });
        assert_eq!(stacks.collect::<Vec<_>>(), ["main 10", "main;a 40", "main;a;b 20", "main;b 30"]);
    }
}
