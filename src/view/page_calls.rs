//! The page of a profile that records calls: its stacks are the paths of the approximated call tree, and the numbers of
//! functions and calls are those of the file.

use hashbrown::HashMap;

use crate::parallel;
use crate::profile::{Column, FrameId, Id, Profile};
use crate::report::{PageCallSide, PageCalls, PageName};
use crate::tree::{CallTree, KeyCalls, KeyId, NodeId, Shape, Subject, TreeNode, call_tree};

/// Stands for the calls that are too cheap to follow.
pub(super) const SMALL: &str = "(small calls)";

/// Deeper paths are cut, as in a picture.
const MAX_DEPTH: usize = 2_000;

/// The frames that a profile shows: those on its stacks, or those of its functions.
pub(super) fn used(profile: &Profile) -> Column<FrameId, bool> {
    let marking = |frames: &[FrameId]| Column::marking(frames.iter().copied(), profile.symbols.frames.len());
    match &profile.calls {
        Some(calls) => marking(&calls.functions().map(|(_, frame)| frame).collect::<Vec<_>>()),
        None => {
            let all = profile.stacks.all_frames();
            let parts = parallel::ranges(all.len(), 1 << 20, |range| marking(&all[range]));
            let either = |one: Column<FrameId, bool>, other: Column<FrameId, bool>| {
                one.iter().zip(&other).map(|(one, other)| one | other).collect()
            };
            parts.into_iter().reduce(either).unwrap_or_default()
        }
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
    /// For each side and node, what its callees cost that are not in the tree.
    small: Vec<Vec<i64>>,
}

impl CallPaths {
    /// The paths of all series: those of one side, or of both.
    pub(super) fn of(subject: &Subject<'_>) -> Self {
        let by_name =
            |a: TreeNode<'_>, b: TreeNode<'_>| subject.keys.name(a.key).cmp(subject.keys.name(b.key));
        let tree = call_tree(subject, &Shape { keep: &|_| true, order: &by_name, max_depth: MAX_DEPTH });
        let small_of = |(total, own): (&Column<NodeId, i64>, &Column<NodeId, i64>)| {
            let mut small: Vec<i64> = total.iter().zip(own).map(|(total, own)| total - own).collect();
            for node in tree.parent.ids().skip(1) {
                small[tree.parent[node].index()] -= total[node];
            }
            small
        };
        let small = tree.total.iter().zip(&tree.self_value).map(small_of).collect();
        CallPaths { tree, small }
    }

    /// Whether some calls are too cheap to follow.
    pub(super) fn has_small(&self) -> bool {
        self.small.iter().flatten().any(|&value| value > 0)
    }

    /// The paths as stacks with their values, one column per side; `place` numbers the functions, `small` is the number of [`SMALL`].
    pub(super) fn stacks(&self, place: impl Fn(KeyId) -> u32, small: u32) -> (PageStacks, Vec<Vec<i64>>) {
        let CallTree { parent, key, self_value, .. } = &self.tree;
        let (mut stacks, mut columns) = (PageStacks::default(), vec![Vec::new(); self_value.len()]);
        let mut path: Vec<u32> = Vec::new();
        let mut depth = vec![0; parent.len()];
        for node in parent.ids() {
            if node != NodeId::default() {
                depth[node.index()] = depth[parent[node].index()] + 1;
                path.truncate(depth[node.index()] - 1);
                path.push(place(key[node]));
            }
            let own: Vec<i64> = self_value.iter().map(|own| own[node].max(0)).collect();
            let rest: Vec<i64> = self.small.iter().map(|rest| rest[node.index()].max(0)).collect();
            for (values, last) in [(own, None), (rest, Some(small))] {
                if values.iter().all(|&value| value == 0) {
                    continue;
                }
                stacks.frames.extend(path.iter().copied().chain(last));
                stacks.ends.push(stacks.frames.len() as u32);
                stacks.labels.push(0);
                columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
            }
        }
        (stacks, columns)
    }
}

/// The numbers of the file, by name.
pub(super) fn exact(subject: &Subject<'_>, calls: &KeyCalls, names: &[PageName]) -> PageCalls {
    let ids: HashMap<&str, u32> = names.iter().zip(0..).map(|(row, id)| (&*row.name, id)).collect();
    let id = |key: KeyId| ids.get(&**subject.keys.name(key)).copied();
    let zeros = || vec![0; names.len()];
    let empty = || PageCallSide { self_value: zeros(), total: zeros(), edges: Vec::new() };
    let mut sides: Vec<PageCallSide> = (0..calls.series()).map(|_| empty()).collect();
    for key in subject.keys.ids() {
        let Some(id) = id(key) else { continue };
        for (series, side) in sides.iter_mut().enumerate() {
            side.self_value[id as usize] = calls.self_of(key, series);
            side.total[id as usize] = calls.total_of(key, series);
        }
    }
    let mut edges = Vec::new();
    for (caller, callee, values) in calls.all_edges() {
        let (Some(caller), Some(callee)) = (id(caller), id(callee)) else { continue };
        if values.iter().any(|&value| value != 0) {
            edges.push((caller, callee));
            sides.iter_mut().zip(values).for_each(|(side, value)| side.edges.push(value));
        }
    }
    PageCalls { sides, edges }
}

#[cfg(test)]
mod tests {
    use crate::format::Source;
    use crate::format::load;
    use crate::profile::LoadOptions;
    use crate::report::Page;
    use crate::view::{PageOptions, Scope, page};

    const CALLS: &str = "events: Ir\n\nfn=main\n1 10\ncfn=a\ncalls=1 1\n2 60\ncfn=b\ncalls=1 1\n3 30\n\nfn=a\n1 40\ncfn=b\ncalls=1 1\n2 20\n\nfn=b\n1 50\n";

    #[test]
    fn paths_are_approximated_and_functions_are_exact() {
        let profile = load(&mut Source::from_bytes(CALLS.into()), LoadOptions::default(), None).unwrap();
        let options = PageOptions { scope: Scope::metric(0), ..PageOptions::default() };
        let page = page(&profile, &options);
        let names: Vec<&str> = page.names.iter().map(|row| &*row.name).collect();
        assert_eq!(names, ["a", "b", "main"]);
        let calls = page.calls.as_ref().unwrap();
        let [side] = &calls.sides[..] else { panic!("one side") };
        assert_eq!((&side.self_value, &side.total), (&vec![40, 50, 10], &vec![60, 50, 100]));
        let edges = calls.edges.iter().zip(&side.edges);
        let mut edges: Vec<_> = edges.map(|(&(caller, callee), &value)| (caller, callee, value)).collect();
        edges.sort_unstable();
        assert_eq!(edges, [(0, 1, 20), (2, 0, 60), (2, 1, 30)]);
        assert_eq!(stacks(&page), ["main 10", "main;a 40", "main;a;b 20", "main;b 30"]);
    }

    /// The lines of a function have frames of their own, without its binary.
    #[test]
    fn functions_of_several_binaries_keep_their_names() {
        let calls = "events: Ir\n\nob=/bin/a\nfn=main\n0 5\ncob=/lib/b.so\ncfn=sin\ncalls=1 0\n0 9\n\nob=/lib/b.so\nfn=sin\n0 9\n";
        let profile = load(&mut Source::from_bytes(calls.into()), LoadOptions::default(), None).unwrap();
        let page = page(&profile, &PageOptions { scope: Scope::metric(0), ..PageOptions::default() });
        assert_eq!(stacks(&page), ["main 5", "main;sin 9"]);
    }

    /// The stacks of a page with their values.
    fn stacks(page: &Page) -> Vec<String> {
        let mut start = 0;
        let stacks = page.ends.iter().zip(&page.values[0]).map(|(&end, value)| {
            let names =
                page.frames[start..end as usize].iter().map(|&place| &*page.places[place as usize].function);
            start = end as usize;
            format!("{} {value}", names.collect::<Vec<_>>().join(";"))
        });
        stacks.collect()
    }
}
