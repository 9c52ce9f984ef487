//! `tree`: the call tree, top-down and bottom-up.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::profile::{Budget, Column, Id, Profile, TooLarge};
use crate::report::{Direction, HiddenBy, Name, Pair, Tree, TreeRow};
use crate::tree::{
    CallTree, KeyId, NodeId, Shape, Subject, TreeNode, call_tree, caller_tree, occurrences, whole,
};
use crate::view::values::{CountedKeys, MinTotals, RowValues};
use crate::view::{Scope, Sort, SortKey, SortRow, approximate};

/// Options for `tree`.
#[derive(Clone, Debug)]
pub struct TreeOptions {
    /// Metrics and nodes.
    pub scope: Scope,
    /// The order of siblings. In the bottom-up tree it applies to the functions at the outermost level; their
    /// callers are sorted by total.
    pub sort: Sort,
    /// The maximum number of rows, heaviest first; in the bottom-up tree the number of functions. `None` for all.
    pub limit: Option<usize>,
    /// Rows with a smaller share are left out, in percent: of the shown total, or in the bottom-up tree of the
    /// function at the outermost level.
    pub min_share: f64,
    /// The maximum number of levels; `None` for all.
    pub depth: Option<usize>,
    /// Whether rows with the same numbers share a line and so count once towards the limit.
    pub join: bool,
    /// The memory limit for the rows. A bottom-up tree can have far more rows than the profile has frames: each
    /// function of a stack of 20,000 has up to 20,000 callers.
    pub budget: Budget,
}

impl TreeOptions {
    /// All rows, by total.
    pub fn new(scope: Scope) -> Self {
        TreeOptions {
            scope,
            sort: Sort::by(SortKey::Total),
            limit: None,
            min_share: 0.0,
            depth: None,
            join: false,
            budget: Budget::UNLIMITED,
        }
    }
}

/// The top-down call tree.
pub fn tree(profile: &Profile, options: &TreeOptions) -> Tree {
    let (subject, mut header) = options.scope.open(profile, "prof.tree.v1");
    approximate(&mut header, profile);
    let min_totals = MinTotals::of_shown(&header, options.min_share);
    let row_values = RowValues::new(&header);
    let is_below_share = AtomicBool::new(false);
    let tree = call_tree(
        &subject,
        &Shape {
            keep: &|node| {
                let keeps = min_totals.keep(node.total.iter().copied());
                if !keeps {
                    is_below_share.store(true, Ordering::Relaxed);
                }
                keeps
            },
            order: &|a, b| {
                options.sort.compare(sort_row(&subject, &row_values, a), sort_row(&subject, &row_values, b))
            },
            max_depth: options.depth.unwrap_or(usize::MAX),
        },
    );
    let joined = if options.join { joined_nodes(&tree) } else { Column::filled(false, tree.len()) };
    let limit = options.limit.unwrap_or(usize::MAX);
    let shown = heaviest(&tree, &joined, limit, row_values.weighed_series());

    let root = NodeId::default();
    let no_stack: Vec<i64> = tree.self_value.iter().map(|own| own[root]).collect();
    header.set_no_stack(&no_stack);
    header.elided = tree.total[0][root] - tree.self_value[0][root];
    for (series, metric) in header.metrics.iter_mut().enumerate() {
        metric.elided = tree.total[series][root] - tree.self_value[series][root];
    }
    let mut rows: Vec<TreeRow> = Vec::new();
    let mut cut_at_root = tree.cut[root];
    let mut row_of = Column::<NodeId, u32>::filled(0, tree.len());
    let depths = tree.depths();
    for node in tree.parent.ids().skip(1) {
        let parent = tree.parent[node];
        if !shown[node] {
            if parent == root {
                cut_at_root += 1;
            } else if shown[parent] {
                rows[row_of[parent] as usize].cut += 1;
            }
            continue;
        }
        row_of[node] = rows.len() as u32;
        header.elided -= tree.self_value[0][node];
        for (series, metric) in header.metrics.iter_mut().enumerate() {
            metric.elided -= tree.self_value[series][node];
        }
        rows.push(TreeRow {
            depth: depths[node] - 1,
            parent: (parent != root).then(|| row_of[parent]),
            cut: tree.cut[node],
            ..tree_row(&subject, &row_values, tree.key[node], [&tree.self_value, &tree.total], node)
        });
    }
    header.elided_rows = u64::from(cut_at_root) + rows.iter().map(|row| u64::from(row.cut)).sum::<u64>();
    let too_deep = |node: NodeId| options.depth.is_some_and(|most| depths[node] as usize >= most);
    let hidden_by = HiddenBy {
        limit: shown.ids().skip(1).any(|node| !shown[node]),
        min_share: is_below_share.into_inner(),
        depth: tree.cut.enumerate().any(|(node, &cut)| cut > 0 && too_deep(node)),
    };
    let (cut, min_share) = (u64::from(cut_at_root), options.min_share);
    Tree { header, direction: Direction::TopDown, rows, cut, min_share, hidden_by }
}

/// The functions and, below each, its callers. Fails if the rows exceed the memory limit.
pub fn bottom_up(profile: &Profile, options: &TreeOptions) -> Result<Tree, TooLarge> {
    let (subject, mut header) = options.scope.open(profile, "prof.tree.v1");
    approximate(&mut header, profile);
    let row_values = RowValues::new(&header);
    let counted = CountedKeys::new(&subject, &row_values);
    let has_value = |key: &KeyId| counted.flat.total.iter().any(|column| column[*key] != 0);
    let mut tops: Vec<KeyId> = subject.keys.ids().filter(has_value).collect();
    if let Some(focus) = &options.scope.focus {
        let frames = profile.symbols.frames.ids().filter(|&frame| focus.contain(frame));
        let matches = frames.map(|frame| subject.keys.of_frame(frame));
        let is_match = Column::marking(matches, subject.keys.len());
        tops.retain(|&key| is_match[key]);
    }
    tops.sort_by(|&a, &b| options.sort.compare(counted.sort_row(a), counted.sort_row(b)));
    let cut = tops.split_off(tops.len().min(options.limit.unwrap_or(usize::MAX)));
    for &key in &cut {
        header.elide(counted.flat.self_value.iter().map(|own| own[key]));
    }

    let callers_by = Sort::by(if row_values.compares() { SortKey::Delta } else { SortKey::Total });
    let mut places = occurrences(&subject, &tops);
    let mut rows = Vec::new();
    let mut reservation = options.budget.reservation();
    for top in tops {
        let places = places.remove(&top).unwrap_or_default();
        let wholes: Vec<i64> = if row_values.compares() {
            vec![
                counted
                    .new_pair(top)
                    .total
                    .saturating_abs()
                    .max(counted.old_pair(top).total.saturating_abs()),
            ]
        } else {
            counted.flat.total.iter().map(|total| total[top]).collect()
        };
        let min_totals = MinTotals::of(wholes.into_iter(), options.min_share);
        let shape = Shape {
            keep: &|node| {
                let totals = node.total.iter().take(subject.series.len()).copied();
                node.total.iter().any(|value| *value != 0) && min_totals.keep(totals)
            },
            order: &|a, b| {
                callers_by.compare(caller_row(&subject, &row_values, a), caller_row(&subject, &row_values, b))
            },
            max_depth: options.depth.unwrap_or(usize::MAX),
        };
        let tree = caller_tree(&subject, top, &places, &shape);
        append_callers(&mut rows, &subject, &row_values, &tree);
        reservation.set((rows.capacity() * size_of::<TreeRow>()) as u64)?;
    }
    let min_share = options.min_share;
    let cut = cut.len() as u64;
    let hidden_by = HiddenBy::default();
    Ok(Tree { header, direction: Direction::BottomUp, rows, cut, min_share, hidden_by })
}

fn append_callers(
    rows: &mut Vec<TreeRow>,
    subject: &Subject<'_>,
    row_values: &RowValues,
    tree: &crate::tree::CallerTree,
) {
    let start = rows.len() as u32;
    let mut depth: Column<NodeId, u32> = Column::new();
    for (node, &parent) in tree.parent.enumerate() {
        let is_top = node.index() == 0;
        depth.push(if is_top { 0 } else { depth[parent] + 1 });
        let row = tree_row(subject, row_values, tree.key[node], [&tree.self_value, &tree.total], node);
        let is_root = !is_top && tree.key[node] == whole();
        rows.push(TreeRow {
            depth: depth[node],
            parent: (!is_top).then(|| start + parent.index() as u32),
            name: if is_root { Name::from("(root)") } else { row.name.clone() },
            cut: tree.cut[node],
            ..row
        });
    }
}

/// A row of either tree with the self and total of a node, one column per series, but without its place.
fn tree_row(
    subject: &Subject<'_>,
    row_values: &RowValues,
    key: KeyId,
    [self_value, total]: [&[Column<NodeId, i64>]; 2],
    node: NodeId,
) -> TreeRow {
    let key = subject.keys.get(key);
    TreeRow {
        depth: 0,
        parent: None,
        name: key.name.clone(),
        file: key.file.clone(),
        values: row_values
            .values(self_value.iter().map(|column| column[node]), total.iter().map(|column| column[node])),
        artefact: row_values.is_artefact(&key.name),
        events: None,
        cut: 0,
    }
}

fn sort_row<'s>(subject: &'s Subject<'_>, row_values: &RowValues, node: TreeNode<'_>) -> SortRow<'s> {
    let new = Pair { self_value: node.ended[0], total: node.total[0] };
    let old = row_values.old(node.ended.last().copied(), node.total.last().copied());
    SortRow { new, old, name: subject.keys.name(node.key) }
}

/// The weight of a caller: the function's total and self are the two halves of its values.
fn caller_row<'s>(subject: &'s Subject<'_>, row_values: &RowValues, node: TreeNode<'_>) -> SortRow<'s> {
    let series = subject.series.len();
    let new = Pair { self_value: node.total[series], total: node.total[0] };
    let old = row_values.old(node.total.last().copied(), node.total.get(series - 1).copied());
    SortRow { new, old, name: subject.keys.name(node.key) }
}

/// The nodes that only pass through: no self, and a single callee with the same total.
fn joined_nodes(tree: &CallTree) -> Column<NodeId, bool> {
    let mut joined = Column::filled(false, tree.len());
    for node in tree.parent.ids().skip(1) {
        let next = NodeId::new(node.index() + 1);
        if next.index() == tree.len() || tree.parent[next] != node || tree.cut[node] > 0 {
            continue;
        }
        let passes_on = tree.self_value.iter().all(|own| own[node] == 0)
            && tree.total.iter().all(|total| total[next] == total[node]);
        joined[node] = passes_on;
    }
    joined
}

/// Marks the heaviest rows, at most `limit`, and the callers that connect them to the root.
/// The first `weighed_series` series determine the weight of a row.
fn heaviest(
    tree: &CallTree,
    joined: &Column<NodeId, bool>,
    limit: usize,
    weighed_series: usize,
) -> Column<NodeId, bool> {
    let weight = |node: NodeId| {
        let totals = tree.total.iter().take(weighed_series).map(|total| total[node].unsigned_abs());
        totals.max().unwrap_or(0)
    };
    let mut rows: Vec<NodeId> = tree.parent.ids().skip(1).filter(|&node| !joined[node]).collect();
    if rows.len() > limit {
        // A caller is never lighter than its callees and comes before them, so a stable sort keeps
        // the rows connected. (Values of both signs are the exception; see below.)
        rows.sort_by_key(|&node| std::cmp::Reverse(weight(node)));
        rows.truncate(limit);
    }
    let mut shown = Column::filled(false, tree.len());
    for mut node in rows {
        while !shown[node] {
            shown[node] = true;
            node = tree.parent[node];
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::from_notation;

    const FIRST: &str = "main 4\nmain;foo1 3\nmain;foo1;bar 5\nmain;foo2 1\nmain;foo2;bar 5";
    const SECOND: &str =
        "main;report;top5;qsort;cmp 60\nmain;report;top5;qsort 30\nmain;report;top5 2\nmain;render 8";
    const THIRD: &str = "main;a;a;a 4\nmain;a;b;a 3\nmain;a;b 2\nmain;b 1";

    /// Each row as its name under its depth, with self + children.
    fn drawn(tree: &Tree) -> Vec<String> {
        let row = |row: &TreeRow| {
            let indent = " ".repeat(row.depth as usize);
            format!("{indent}{} {}+{}", row.name, row.values.self_value, row.values.children)
        };
        tree.rows.iter().map(row).collect()
    }

    fn top_down(picture: &str) -> Vec<String> {
        drawn(&tree(&from_notation(picture), &TreeOptions::new(Scope::metric(0))))
    }

    fn bottom_up_of(picture: &str, name: &str) -> Vec<String> {
        let drawn = drawn(&bottom_up(&from_notation(picture), &TreeOptions::new(Scope::metric(0))).unwrap());
        let start = drawn.iter().position(|row| row.starts_with(&format!("{name} "))).unwrap();
        let length = drawn[start + 1..].iter().take_while(|row| row.starts_with(' ')).count();
        drawn[start..=start + length].to_vec()
    }

    #[test]
    fn worked_examples_top_down() {
        let first = ["main 4+14", " foo1 3+5", "  bar 5+0", " foo2 1+5", "  bar 5+0"];
        assert_eq!(top_down(FIRST), first);
        let second =
            ["main 0+100", " report 0+92", "  top5 2+90", "   qsort 30+60", "    cmp 60+0", " render 8+0"];
        assert_eq!(top_down(SECOND), second);
        let third = ["main 0+10", " a 0+9", "  b 2+3", "   a 3+0", "  a 0+4", "   a 4+0", " b 1+0"];
        assert_eq!(top_down(THIRD), third);
    }

    #[test]
    fn worked_examples_bottom_up() {
        let bar = [
            "bar 10+0",
            " foo1 5+0",
            "  main 5+0",
            "   (root) 5+0",
            " foo2 5+0",
            "  main 5+0",
            "   (root) 5+0",
        ];
        assert_eq!(bottom_up_of(FIRST, "bar"), bar);
        assert_eq!(bottom_up_of(FIRST, "foo1"), ["foo1 3+5", " main 3+5", "  (root) 3+5"]);
        let qsort = ["qsort 30+60", " top5 30+60", "  report 30+60", "   main 30+60", "    (root) 30+60"];
        assert_eq!(bottom_up_of(SECOND, "qsort"), qsort);
        let a = bottom_up_of(THIRD, "a");
        let callers: Vec<&String> = a.iter().filter(|row| !row.starts_with("  ")).collect();
        assert_eq!(callers, ["a 7+2", " a 4+0", " b 3+0", " main 0+2"]);
        let b = bottom_up_of(THIRD, "b");
        let callers: Vec<&String> = b.iter().filter(|row| !row.starts_with("  ")).collect();
        assert_eq!(callers, ["b 3+3", " a 2+3", " main 1+0"]);
    }

    #[test]
    fn a_limited_tree_is_connected_and_adds_up() {
        let options = TreeOptions { limit: Some(2), ..TreeOptions::new(Scope::metric(0)) };
        let tree = tree(&from_notation(FIRST), &options);
        assert_eq!(drawn(&tree), ["main 4+14", " foo1 3+5"]);
        assert_eq!(
            (tree.header.elided, tree.header.elided_rows, tree.rows[0].cut, tree.rows[1].cut),
            (11, 2, 1, 1)
        );
    }

    #[test]
    fn a_limit_weighs_by_the_first_metric_and_a_share_by_any() {
        let profile = from_notation("main;a 60 1\nmain;b 30 9000\nmain;c 10 500");
        let scope = Scope { metrics: vec![0, 1], ..Scope::metric(0) };
        let limited = TreeOptions { limit: Some(2), ..TreeOptions::new(scope.clone()) };
        let names = |tree: Tree| tree.rows.iter().map(|row| row.name.to_string()).collect::<Vec<_>>();
        assert_eq!(names(tree(&profile, &limited)), ["main", "a"]);
        let shared = TreeOptions { min_share: 40.0, ..TreeOptions::new(scope.clone()) };
        assert_eq!(names(tree(&profile, &shared)), ["main", "a", "b"]);
        // `c` has none of the first metric, and 19 of 20 of the second.
        let profile = from_notation("main;a 60 1\nmain;c 0 19");
        let shared = TreeOptions { min_share: 50.0, ..TreeOptions::new(scope.clone()) };
        assert_eq!(names(tree(&profile, &shared)), ["main", "a", "c"]);
        let options = TreeOptions { min_share: 50.0, ..TreeOptions::new(scope) };
        assert_eq!(names(bottom_up(&profile, &options).unwrap())[..2], ["a", "main"]);
        let main = bottom_up(&from_notation("a;main 60 1\nc;main 0 19"), &options).unwrap();
        let callers: Vec<String> =
            main.rows.iter().filter(|row| row.depth == 1).map(|row| row.name.to_string()).collect();
        assert_eq!(callers, ["a", "c", "(root)", "(root)"]);
    }

    #[test]
    fn a_tree_tells_which_options_hide_rows() {
        let profile = from_notation("main;a;b 60\nmain;c 39\nmain;d 1");
        let hidden_by = |options: TreeOptions| {
            let HiddenBy { limit, min_share, depth } = tree(&profile, &options).hidden_by;
            [limit, min_share, depth]
        };
        let all = || TreeOptions::new(Scope::metric(0));
        assert_eq!(hidden_by(all()), [false; 3]);
        assert_eq!(hidden_by(TreeOptions { limit: Some(2), ..all() }), [true, false, false]);
        assert_eq!(hidden_by(TreeOptions { min_share: 2.0, ..all() }), [false, true, false]);
        assert_eq!(hidden_by(TreeOptions { depth: Some(2), ..all() }), [false, false, true]);
        assert_eq!(hidden_by(TreeOptions { depth: Some(3), ..all() }), [false; 3]);
    }

    #[test]
    fn rows_with_the_same_numbers_count_once_towards_the_limit() {
        let profile = from_notation("main;run;work 3\nmain;run;work;step 1");
        let rows = |join| {
            let options = TreeOptions { limit: Some(2), join, ..TreeOptions::new(Scope::metric(0)) };
            tree(&profile, &options).rows.len()
        };
        assert_eq!((rows(false), rows(true)), (2, 4));
    }
}
